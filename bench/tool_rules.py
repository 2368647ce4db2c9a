"""assay's best rates by the rules of STREAM and BabelStream (probe calibrate) beside those tools, in turn."""
import os
import random
import re
import statistics
import sys

from common import ratio_interval, row
from peers import run, stream_elements

SHARE = 0.05
BABELSTREAM = ("Copy", "Mul", "Add", "Triad", "Dot")
# option: tool, its rule, its functions, the device
TOOLS = {"stream": ("STREAM", "stream", ("Copy", "Scale", "Add", "Triad"), "cpu"),
         "babelstream": ("BabelStream", "babelstream", BABELSTREAM, "cpu"),
         "babelstream-cuda": ("BabelStream (CUDA)", "babelstream", BABELSTREAM, "cuda:0")}
BABELSTREAM_BYTES = 8 << 25


def theirs(path, option):
    threads = str(len(os.sched_getaffinity(0)))
    text = run([path], OMP_NUM_THREADS=threads, OMP_PROC_BIND="true")
    return {name: float(re.search(rf"^{name}:?\s+([0-9.]+)", text, re.M).group(1)) / 1000 for name in TOOLS[option][2]}


def ours(assay, option, size):
    """The best rate of each function; of STREAM's copy also with non-temporal stores."""
    found = {}
    _, rule, _, device = TOOLS[option]
    for store in ("regular", "nt") if rule == "stream" else ("regular",):
        sets = (f"rule={rule}", "op=" + ("all" if store == "regular" else "copy"), f"size={size}",
                *((f"store={store}", "threads=max") if device == "cpu" else ()))
        assay.command("run", "probe:calibrate", "--device", device, "--quiet", "--budget", "0", "--trials", "1",
                      *(word for text in sets for word in ("--set", text)))
        for cell in assay.cells():
            if cell["probe"] == "calibrate" and cell["n"]:
                best = next(m["value"] for m in cell["metrics"] if m["name"] == "best_rate")
                found[cell["axes"]["op"].capitalize() + (", non-temporal" if store == "nt" else "")] = best
    return found


def measure(assay, paths, rounds):
    sizes = {option: BABELSTREAM_BYTES for option in TOOLS}
    if "stream" in paths:
        sizes["stream"] = 8 * stream_elements(paths["stream"])
    results = {(option, tool): [] for option in TOOLS if option in paths for tool in (0, 1)}
    for number in range(rounds):
        for option, tool in random.sample(list(results), len(results)):
            rates = theirs(paths[option], option) if tool else ours(assay, option, sizes[option])
            results[option, tool].append(rates)
            who = TOOLS[option][0] if tool else "assay by the rules of " + TOOLS[option][0]
            text = ", ".join(f"{name} {rate:.4g}" for name, rate in rates.items())
            print(f"round {number + 1} of {rounds}: {who}: {text}", file=sys.stderr, flush=True)
    rows = []
    for option in [option for option in TOOLS if option in paths]:
        for name in results[option, 0][0]:
            mine = [r[name] for r in results[option, 0]]
            other = [r[name.split(",")[0]] for r in results[option, 1]]
            middle, low, high = ratio_interval(mine, other)
            rows.append(row(f"{name}: assay {statistics.median(mine):.4g}, {TOOLS[option][0]} {statistics.median(other):.4g} GB/s",
                            f"{middle:.3f} ({low:.3f} to {high:.3f})", "1 within 5% or the interval",
                            abs(middle - 1) <= SHARE or low <= 1 <= high))
    return rows or [row("neither --stream nor --babelstream nor --babelstream-cuda given", "", "", None)]
