"""Do the intervals hold? Runs of quick on a quiet machine and beside a planted neighbour, in turn.

Of every cell that is no count: the difference of two quiet runs against their joint interval; each interval against the
median of the other quiet runs, which stands for the truth; and the intervals beside the neighbour, a process that is
busy for 30% of the time in bursts of 0.2 s, against the median of the quiet runs. Of the lines of the data sheet: a run
against the sheet of the others (living.py)."""
import collections
import contextlib
import itertools
import json
import math
import statistics
import subprocess
import sys

import living
from common import row

COVERED = 0.93
MEASURED = 0.95
SAMPLING = 0.6
EPISODE = 0.2  # a run whose memory sentinel is further off the median of all runs was in a slow episode
NEIGHBOUR = """
import time
while True:
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    time.sleep(0.2 * 0.7 / 0.3)
"""
# widest median interval: what lives in a core, main memory, what a core of the host does for a device or the system
WIDTHS = {"core": 0.05, "DRAM": 0.10, "launch and allocation": 0.20}


@contextlib.contextmanager
def neighbour():
    with subprocess.Popen([sys.executable, "-c", NEIGHBOUR]) as process:
        try:
            yield
        finally:
            process.kill()


def agree(a, b):
    """Whether 0 lies in the interval of the difference (Zou and Donner 2008), on logarithms where those can be taken."""
    numbers = [cell[k] for cell in (a, b) for k in ("median", "ci_low", "ci_high")]
    x, x_low, x_high, y, y_low, y_high = [math.log(x) for x in numbers] if min(numbers) > 0 else numbers
    if x > y:
        return x - y <= math.hypot(x - x_low, y_high - y)
    return y - x <= math.hypot(y - y_low, x_high - x)


def width(cell):
    return (cell["ci_high"] - cell["ci_low"]) / abs(cell["median"]) if cell["median"] else 0


def kind(cell):
    if cell["probe"] in ("launch", "alloc"):
        return "launch and allocation"
    if any(v["claims_memory"] for v in cell["trials"]):
        return "DRAM"
    return "core" if cell["clock_exponent"] == 1 else "other"


def is_valid(cell):
    return cell["n"] and cell["status"] in ("ok", "wide")


def identity(cell):
    return cell["device"], cell["probe"], cell["key"]


class Run:
    def __init__(self, assay, number):
        text, _ = assay.command("export", str(number), "--format", "json")
        export = json.loads(text)
        self.share = export["run"]["sampling_share"]
        cells = [c for c in export["cells"] if c["status"] != "unsupported"]
        self.possible = len(cells)
        self.numbers = sum(is_valid(c) for c in cells)
        self.cells = {identity(c): c for c in cells if is_valid(c) and c["ci_low"] < c["ci_high"]}  # counts are exact
        self.sentinels = {identity(c): c["median"] for c in export["sentinels"]
                          if is_valid(c) and c["axes"]["what"] == "memory"}


def percent(part, whole):
    return f"{100 * part / whole:.1f}% of {whole}" if whole else "none"


def at_least(what, part, whole, floor):
    return row(what, percent(part, whole), f"at least {100 * floor:.0f}%", whole > 0 and part >= floor * whole)


def in_episode(run, runs):
    """Whether a sentinel of memory is far from what it is in the other runs."""
    for key, value in run.sentinels.items():
        usual = statistics.median(r.sentinels[key] for r in runs if key in r.sentinels)
        if abs(math.log(value / usual)) > EPISODE:
            return True
    return False


def pairs(runs):
    """(agreeing, all) cells over all pairs of runs; pairs with a run in a slow episode are counted apart."""
    steady, apart = [0, 0], [0, 0]
    for a, b in itertools.combinations(runs, 2):
        counts = apart if in_episode(a, runs) or in_episode(b, runs) else steady
        for key in a.cells.keys() & b.cells.keys():
            counts[0] += agree(a.cells[key], b.cells[key])
            counts[1] += 1
    return steady, apart


def covered(runs, quiet):
    """How many intervals cover the median of the quiet runs, their own run left out."""
    hits = []
    for run in runs:
        for key, cell in run.cells.items():
            truth = [r.cells[key]["median"] for r in quiet if r is not run and key in r.cells]
            if truth:
                hits.append(cell["ci_low"] <= statistics.median(truth) <= cell["ci_high"])
    return sum(hits), len(hits)


def widths(name, runs):
    found = collections.defaultdict(list)
    for r in runs:
        for cell in r.cells.values():
            found[kind(cell)].append(width(cell))
    quiet = name == "quiet"
    return [row(f"{name}: median width, {k}", f"{100 * statistics.median(found[k]):.2g}%",
                f"at most {100 * WIDTHS[k]:.0f}%" if quiet and k in WIDTHS else "",
                statistics.median(found[k]) <= WIDTHS[k] if quiet and k in WIDTHS else None)
            for k in (*WIDTHS, "other") if found[k]]


def measure(assay, count, budget, suite="quick"):
    options = ["run", suite, "--quiet", *(["--budget", budget] if budget else [])]
    quiet, beside = [], []
    for number in range(count):
        print(f"pair of runs {number + 1} of {count}", file=sys.stderr, flush=True)
        assay.command(*options)
        quiet.append(Run(assay, 2 * number + 1))
        with neighbour():
            assay.command(*options)
        beside.append(Run(assay, 2 * number + 2))
    return table(quiet, beside) + living.table(assay, {"quiet": list(range(1, 2 * count, 2)),
                                                       "neighbour": list(range(2, 2 * count + 1, 2))})


def table(quiet, beside):
    steady, apart = pairs(quiet)
    rows = [at_least("quiet: cells that agree between two runs", *steady, COVERED)]
    if apart[1]:
        rows.append(row("quiet: the same, one run in a slow episode", percent(*apart), "", None))
    rows += [at_least("quiet: intervals that cover the median of the other runs", *covered(quiet, quiet), COVERED),
             at_least("neighbour: intervals that cover the median of the quiet runs", *covered(beside, quiet), COVERED)]
    for name, runs in (("quiet", quiet), ("neighbour", beside)):
        rows.append(at_least(f"{name}: possible cells with a number", sum(r.numbers for r in runs),
                             sum(r.possible for r in runs), MEASURED))
        share = statistics.median(r.share or 0 for r in runs)
        rows.append(row(f"{name}: sampling, of the measuring time", f"{100 * share:.0f}%",
                        f"at least {100 * SAMPLING:.0f}%" if name == "quiet" else "",
                        share >= SAMPLING if name == "quiet" else None))
        rows += widths(name, runs)
    return rows
