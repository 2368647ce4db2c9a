"""What assay itself costs: time to the first sample, time a cell, reading large stores, memory of the parent."""
import json
import os
import statistics
import subprocess
import time

from common import row

SCRIPTED = ("--device", "null")


def first_sample(assay, times=9):
    """From the start of the program until the first sample of the cpu backend is over, by the trial's own clock."""
    took = []
    for _ in range(times):
        began = time.time()
        assay.command("run", "latency", "--device", "cpu", "--set", "size=4KiB", "--trials", "1", "--quiet")
        trials = [v for c in assay.cells() for v in c["trials"]]
        first = min(trials, key=lambda v: v["started_at"])
        took.append(first["started_at"] + first["prepare_s"] + first["sample_s"] - began)
    value = statistics.median(took)
    return row("first sample of the cpu backend", f"{1000 * value:.1f} ms", "50 ms", value <= 0.050)


def cost_of_a_cell(assay):
    """All that is not measuring, in a run of some thousand scripted cells of one trial."""
    _, seconds = assay.command("run", "latency", *SCRIPTED, "--set", "size=1KiB..64MiB x60", "--set", "allocator=malloc",
                               "--trials", "1", "--quiet", env=assay.script(execute=False, noise={"sd": 0.002}))
    cells = [c for c in assay.cells() if c["n"]]
    value = (seconds - sum(c["duration_s"] for c in cells)) / len(cells)
    return row(f"engine and store, a cell (of {len(cells)})", f"{1e3 * value:.2f} ms", "1 ms", value <= 1e-3)


def memory_of_parent(assay):
    """Its high-water mark, read while it runs."""
    process = subprocess.Popen([assay.program, "run", "quick", "--device", "cpu", "--budget", "20s", "--quiet"],
                               env=dict(os.environ, ASSAY_STORE=assay.store), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
            found = [int(line.split()[1]) for line in f if line.startswith("VmHWM")]
        peak = max(found + [peak])
        time.sleep(0.01)
    return row("resident memory of the parent", f"{peak / 1024:.1f} MiB", "64 MB", peak * 1024 <= 64e6)


def views(assay, store, what):
    """show and report of the last run of a store."""
    def median_time(*arguments):
        return statistics.median(assay.command(*arguments, store=store, env={"NO_COLOR": "1"})[1] for _ in range(5))
    page = os.path.join(assay.folder, "page.html")
    export = json.loads(assay.command("export", "last", "--format", "json", store=store)[0])
    show, report = median_time("show"), median_time("report", "-o", page)
    size = os.path.getsize(page)
    cells = len(export["cells"])
    return [row(f"show, {what}", f"{1e3 * show:.0f} ms", "100 ms", show <= 0.1),
            row(f"report of one run of {cells} cells, {what}", f"{1e3 * report:.0f} ms", "1 s", report <= 1),
            row("its page", f"{size / 1e6:.2f} MB", "3 MB", size <= 3e6)]


def measure(assay, big_store):
    rows = [first_sample(assay), cost_of_a_cell(assay), memory_of_parent(assay)]
    if big_store:
        rows += views(assay, os.path.abspath(big_store), f"store of {os.path.getsize(big_store) / 1e6:.0f} MB")
    else:
        rows += views(assay, assay.store, "store of this bench")
    return rows
