"""Does the data sheet of a machine hold for its next run? Each run of a series is left out in turn; the lines of the
others, joined, predict its lines: with its own error and what varies between runs, the ratio may be 1."""
import itertools
import json
import random

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


def left_out(runs):
    return [([r for r in runs if r != number], number) for number in runs]


def few(runs, k, rng):
    """Each run against k others, drawn."""
    return [(sorted(rng.sample([r for r in runs if r != number], k)), number) for number in runs]


def coverage_row(what, measured, judged):
    part, whole, half = measured
    share = part / whole if whole else 0
    return row(what, f"{100 * share:.1f}% of {whole} (half width {100 * half:.2g}%)",
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
        rows += [coverage_row(f"{name}: the same from {k} run{'s' if k > 1 else ''}", coverage(assay, few(runs, k, rng)), False)
                 for k in FEW if k < len(runs) - 1]
    return rows
