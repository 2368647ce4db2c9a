"""Displacement of a CPU's caches by another core, beside a plain C program that does the same (bench/plain), in turn."""
import random

from common import ratio_interval, row
from upm import build, plain

SIZE = 16 << 20
CASES = ((0, 1), (16 << 20, 1), (64 << 20, 1), (64 << 20, 2))
SECONDS = "4"
SHARE = 0.05


def ours(assay, touched, number):
    axes = dict(op="read", touched=touched, size=SIZE, pattern="linear", delay=0, allocator="thp")
    axes["pass"] = number
    sets = [word for name, value in axes.items() for word in ("--set", f"{name}={value}")]
    assay.command("run", "probe:residual", "--device", "cpu", "--quiet", "--budget", "5s", "--trials", "5", *sets)
    return next(c["median"] for c in assay.cells() if c["probe"] == "residual" and c["n"])


def measure(assay, rounds):
    program = build(assay.folder, "displace")
    mine, theirs = {c: [] for c in CASES}, {c: [] for c in CASES}
    for _ in range(rounds):
        turns = [(case, tool) for case in CASES for tool in (0, 1)]
        random.shuffle(turns)
        for (touched, number), tool in turns:
            if tool:
                theirs[touched, number].append(plain(program, str(SIZE), str(touched), str(number), SECONDS)[0])
            else:
                mine[touched, number].append(ours(assay, touched, number))
    rows = []
    for touched, number in CASES:
        middle, low, high = ratio_interval(mine[touched, number], theirs[touched, number])
        rows.append(row(f"pass {number} after {touched >> 20} MiB: assay / plain C", f"{middle:.3f} ({low:.3f} to {high:.3f})",
                        "1 within 5% or the interval", abs(middle - 1) <= SHARE or low <= 1 <= high))
    return rows
