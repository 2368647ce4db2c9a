"""Faults and allocation beside plain C programs that do the same (bench/plain), in turn."""
import os
import random
import shutil
import statistics
import subprocess
import sys

from common import ratio_interval, row

PLAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plain")
SHARE = 0.05
SECONDS = "2"
# name: axes of the cell, and what the plain program is asked for
FAULTS = {
    "first touch of 4 KiB pages, one thread": (dict(scenario="cpu-one", allocator="mmap", pages=10000),
                                               ("10000", "1", "base")),
    "first touch of 4 KiB pages, two threads": (dict(scenario="cpu-all", allocator="mmap", pages=10000),
                                                ("10000", "2", "base")),
    "first touch of 2 MiB pages": (dict(scenario="cpu-one", allocator="thp", pages=10240), ("10240", "1", "huge")),
    "a single 4 KiB page": (dict(scenario="cpu-one", allocator="mmap", pages=1), ("1", "1", "base")),
}
ALLOCS = {"32 B": "32", "1 GiB": str(1 << 30)}


def build(folder, name):
    compiler = shutil.which("cc") or sys.exit("there is no C compiler 'cc' for the plain programs")
    out = os.path.join(folder, "plain-" + name)
    subprocess.run([compiler, "-O2", "-pthread", os.path.join(PLAIN, name + ".c"), "-o", out], check=True)
    return out


def plain(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return [float(word) for word in done.stdout.split()]


def cell(assay, probe, **axes):
    """One cell of the CPU with as much time as the plain program takes."""
    sets = [word for name, value in axes.items() for word in ("--set", f"{name}={value}")]
    assay.command("run", "probe:" + probe, "--device", "cpu", "--quiet", "--budget", "4s", "--trials", "3", *sets)
    found = [c for c in assay.cells() if c["n"]]
    if len(found) != 1:
        sys.exit(f"assay run {probe} {' '.join(sets)}: {len(found)} cells with numbers, 1 expected")
    return found[0]["median"]


def measure(assay, rounds):
    fault, alloc = build(assay.folder, "fault"), build(assay.folder, "alloc")
    quantities = {}
    for name, (axes, asked) in FAULTS.items():
        if asked[1] == "2" and os.cpu_count() != 2:
            continue  # all threads are two on a machine of two
        quantities[name] = (lambda a=axes: cell(assay, "fault", what="fault", access="store", **a),
                            lambda w=asked: plain(fault, *w, SECONDS)[0])
    for size, asked in ALLOCS.items():
        for k, op in enumerate(("alloc", "free")):
            quantities[f"malloc: {op} of {size}"] = (
                lambda o=op, b=asked: cell(assay, "alloc", op=o, allocator="malloc", size=b),
                lambda b=asked, k=k: plain(alloc, b, SECONDS)[k])
    mine, theirs = {n: [] for n in quantities}, {n: [] for n in quantities}
    for _ in range(rounds):
        turns = [(n, into, ask) for n, both in quantities.items() for into, ask in zip((mine, theirs), both)]
        random.shuffle(turns)
        for name, into, ask in turns:
            into[name].append(ask())
    rows = []
    for name in quantities:
        ratio, low, high = ratio_interval(mine[name], theirs[name])
        rows.append(row(name, f"{statistics.median(mine[name]):.4g} ns / {statistics.median(theirs[name]):.4g} = "
                        f"{ratio:.3f} ({low:.3f} to {high:.3f})", f"1 within {100 * SHARE:.0f}%",
                        abs(ratio - 1) <= SHARE))
    return rows
