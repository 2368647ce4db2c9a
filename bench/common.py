"""Running assay, statistics of a few rounds, and the tables."""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

MEASURED = (0, 4)


class Assay:
    """The program with a store in a folder of its own."""

    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.store = os.path.join(folder, "store.db")

    def command(self, *arguments, store=None, env=None, allow=MEASURED):
        """Runs a command to completion: (stdout, seconds)."""
        full = dict(os.environ, ASSAY_STORE=store or self.store, **(env or {}))
        began = time.monotonic()
        done = subprocess.run([self.program, *arguments], env=full, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        seconds = time.monotonic() - began
        if done.returncode not in allow:
            sys.exit(f"assay {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace"), seconds

    def script(self, **members):
        """The environment that scripts the null device (src/device/null/null.h)."""
        path = os.path.join(self.folder, "script.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(members, f)
        return {"ASSAY_NULL": path}

    def cells(self, run="last"):
        return json.loads(self.command("export", str(run), "--format", "json")[0])["cells"]

    def cell(self, probe, **axes):
        """Measures one cell of the CPU, in a run of its own."""
        sets = [word for name, value in axes.items() for word in ("--set", f"{name}={value}")]
        self.command("run", probe, "--device", "cpu", "--quiet", *sets)
        cells = [c for c in self.cells() if c["n"]]
        if len(cells) != 1:
            sys.exit(f"assay run {probe} {' '.join(sets)}: {len(cells)} cells with numbers, 1 expected")
        return cells[0]


def cv(values):
    return statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else math.nan


def ratio_interval(a, b, rounds=2000):
    """Median of a[i]/b[i] with its 95% bootstrap interval; paired by round, so that slow episodes affect both."""
    ratios = [x / y for x, y in zip(a, b)]
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(rounds))
    return statistics.median(ratios), medians[int(0.025 * rounds)], medians[int(0.975 * rounds)]


def row(what, value, target, holds):
    """holds: True, False, or None: informative only."""
    return {"what": what, "value": value, "target": target,
            "verdict": "" if holds is None else "met" if holds else "not met"}


def print_table(title, rows):
    columns = ["what", "value", "target", "verdict"]
    widths = [max([len(c)] + [len(r[c]) for r in rows]) for c in columns]
    print(f"\n{title}")
    print("  ".join(c.ljust(w) for c, w in zip(columns, widths)).rstrip())
    print("  ".join("-" * w for w in widths))
    for r in rows:
        print("  ".join(r[c].ljust(w) for c, w in zip(columns, widths)).rstrip(), flush=True)
