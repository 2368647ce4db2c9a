"""assay's best rates by the rules of STREAM and BabelStream (probe calibrate) beside those tools, in turn."""
import os
import random
import re
import statistics
import sys

from common import ratio_interval, row
from peers import run, stream_elements

SHARE = 0.05
NAMES = {"stream": ("STREAM", ("Copy", "Scale", "Add", "Triad")),
         "babelstream": ("BabelStream", ("Copy", "Mul", "Add", "Triad", "Dot"))}
BABELSTREAM_BYTES = 8 << 25


def theirs(path, rule):
    threads = str(len(os.sched_getaffinity(0)))
    text = run([path], OMP_NUM_THREADS=threads, OMP_PROC_BIND="true")
    return {name: float(re.search(rf"^{name}:?\s+([0-9.]+)", text, re.M).group(1)) / 1000 for name in NAMES[rule][1]}


def ours(assay, rule, size):
    """The best rate of each function; of STREAM's copy also with non-temporal stores."""
    found = {}
    for store in ("regular", "nt") if rule == "stream" else ("regular",):
        sets = (f"rule={rule}", "op=" + ("all" if store == "regular" else "copy"), f"size={size}", f"store={store}",
                "threads=max")
        assay.command("run", "probe:calibrate", "--device", "cpu", "--quiet", "--budget", "0", "--trials", "1",
                      *(word for text in sets for word in ("--set", text)))
        for cell in assay.cells():
            if cell["probe"] == "calibrate" and cell["n"]:
                best = next(m["value"] for m in cell["metrics"] if m["name"] == "best_rate")
                found[cell["axes"]["op"].capitalize() + (", non-temporal" if store == "nt" else "")] = best
    return found


def measure(assay, paths, rounds):
    sizes = {"stream": 8 * stream_elements(paths["stream"]) if "stream" in paths else 0,
             "babelstream": BABELSTREAM_BYTES}
    results = {(rule, tool): [] for rule in NAMES if rule in paths for tool in (0, 1)}
    for number in range(rounds):
        for rule, tool in random.sample(list(results), len(results)):
            results[rule, tool].append(theirs(paths[rule], rule) if tool else ours(assay, rule, sizes[rule]))
            who = NAMES[rule][0] if tool else "assay by the rules of " + NAMES[rule][0]
            rates = ", ".join(f"{name} {rate:.4g}" for name, rate in results[rule, tool][-1].items())
            print(f"round {number + 1} of {rounds}: {who}: {rates}", file=sys.stderr, flush=True)
    rows = []
    for rule in {rule for rule, _ in results}:
        for name in results[rule, 0][0]:
            mine = [r[name] for r in results[rule, 0]]
            other = [r[name.split(",")[0]] for r in results[rule, 1]]
            middle, low, high = ratio_interval(mine, other)
            rows.append(row(f"{name}: assay {statistics.median(mine):.4g}, {NAMES[rule][0]} {statistics.median(other):.4g} GB/s",
                            f"{middle:.3f} ({low:.3f} to {high:.3f})", "1 within 5% or the interval",
                            abs(middle - 1) <= SHARE or low <= 1 <= high))
    return rows or [row("neither --stream nor --babelstream given", "", "", None)]
