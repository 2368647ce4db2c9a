"""Does the data sheet of a machine hold for its next run? Each run of a series is left out in turn; the lines of the
others, joined, predict its lines: with its own error and what varies between runs, the ratio may be 1. As 'check' joins
them, all runs; and as 'show' and 'history' do, without odd runs and those from before a change."""
import itertools
import json
import math
import os
import random
import shutil

from common import row

COVERED = (0.93, 0.98)
FEW = (1, 2, 3)


def verdicts(assay, base, number):
    """The lines of run `number` against those of `base`, without capacities, which are ranges."""
    against = [word for run in base for word in ("--against", str(run))]
    text, _ = assay.command("check", *against, str(number), "--tolerance", "0%", "--no-measure", "--allow-missing", "--json",
                            allow=(0, 3))
    lines = [json.loads(line) for line in text.splitlines()]
    return [x for x in lines if x.get("ratio_ci", [None])[0] and x["unit"] != "B"]


def held(lines):
    return sum(x["ratio_ci"][0] <= 1 <= x["ratio_ci"][1] for x in lines)


def half_width(lines):
    """Median half width of the ratios, as a factor."""
    widths = sorted((x["ratio_ci"][1] / x["ratio_ci"][0]) ** 0.5 for x in lines)
    return widths[len(widths) // 2] - 1 if widths else 0


def coverage(assay, cases):
    """Of (base, run) pairs: lines held, all lines, and how wide they are."""
    lines = list(itertools.chain.from_iterable(verdicts(assay, *case) for case in cases))
    return held(lines), len(lines), half_width(lines)


# ---- as the sheet joins them ----

def history(assay, store):
    """({(device, name, run): line of the run}, {(device, name): level}) without capacities."""
    text, _ = assay.command("history", "--json", store=store)
    lines = [x for x in map(json.loads, text.splitlines()) if x["unit"] != "B"]
    return ({(x["device"], x["name"], x["run"]): x for x in lines if "run" in x},
            {(x["device"], x["name"]): x for x in lines if "run" not in x and x["another_run"][0]})


def is_predicted(level, line):
    """Does the level with its scatter, or a state of it, and the run's own error explain the run's value?"""
    return any(is_near(state["value"], state["another_run"], line)
               for state in level["states"] or [{"value": level["now"], "another_run": level["another_run"]}])


def is_near(value, another, line):
    scatter = math.log(another[1] / value)
    error = math.log(line["ci_high"] / line["ci_low"]) / 2 if line["ci_low"] else 0
    return abs(math.log(line["value"] / value)) <= math.hypot(scatter, error)


def sheet_coverage(assay, runs, others):
    """Lines of each run that the history of the other runs predicts, and all lines; others: runs that do not count."""
    whole, part = (os.path.join(assay.folder, name) for name in ("of-series.db", "left-out.db"))
    shutil.copy(assay.store, whole)
    for number in others:
        assay.command("delete", str(number), store=whole)
    lines, _ = history(assay, whole)
    hits = []
    for number in runs:
        shutil.copy(whole, part)
        assay.command("delete", str(number), store=part)
        _, levels = history(assay, part)
        hits += [is_predicted(levels[device, name], line) for (device, name, run), line in lines.items()
                 if run == number and (device, name) in levels]
    return sum(hits), len(hits)


def left_out(runs):
    return [([r for r in runs if r != number], number) for number in runs]


def few(runs, k, rng):
    """Each run against k others, drawn."""
    return [(sorted(rng.sample([r for r in runs if r != number], k)), number) for number in runs]


def coverage_row(what, measured, judged):
    part, whole, *half = measured
    share = part / whole if whole else 0
    width = f" (half width {100 * half[0]:.2g}%)" if half else ""
    return row(what, f"{100 * share:.1f}% of {whole}{width}",
               f"{100 * COVERED[0]:.0f} to {100 * COVERED[1]:.0f}%" if judged else "",
               COVERED[0] <= share <= COVERED[1] if judged else None)


def table(assay, series):
    """series: {"quiet": [1, 3, ...], "neighbour": [2, 4, ...]}, numbers of runs in the store."""
    rows = []
    for name, runs in series.items():
        rng = random.Random(1)
        if len(runs) < 3:
            continue
        rows.append(coverage_row(f"{name}: lines of a run that the sheet of the other {len(runs) - 1} predicts",
                                 coverage(assay, left_out(runs)), True))
        others = [r for numbers in series.values() for r in numbers if r not in runs]
        rows.append(coverage_row(f"{name}: the same without odd runs and those before a change",
                                 sheet_coverage(assay, runs, sorted(set(others))), True))
        rows += [coverage_row(f"{name}: the same from {k} run{'s' if k > 1 else ''}", coverage(assay, few(runs, k, rng)), False)
                 for k in FEW if k < len(runs) - 1]
    return rows
