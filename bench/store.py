"""Reading a run of a million cells: time and peak memory, beside a query of SQLite over the same rows."""
import os
import shutil
import subprocess
import sys
import time

from common import row

MILLION, MANY = 1_000_000, 10_000
QUERY = "SELECT probe, device, status, count(*), min(median), max(median) FROM cells WHERE run_id = 1 GROUP BY 1, 2, 3"
# of a million only what a person waits for; each of these reads every cell
BIG = {"show": ["show"], "show of one probe": ["show", "latency"],
       "export as CSV": ["export", "-f", "csv", "-o", "e.csv"]}
SMALL = {"show": ["show"], "facts": ["facts"], "report": ["report", "-o", "page.html"],
         "export as JSON": ["export", "-o", "e.json"], "compare with itself": ["compare", "last", "last"],
         "doctor": ["doctor"]}


def seen(folder, words, allow=(0,)):
    """Seconds, seconds of CPU time, and the high-water mark of memory in MB, read while it runs."""
    began, peak, ended = time.monotonic(), 0, 0
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not ended:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
            peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith("VmHWM")])
        time.sleep(0.002)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allow:
        sys.exit(f"{' '.join(words)}: exit {process.returncode}")
    return seconds, used.ru_utime + used.ru_stime, peak / 1024


def of_several(folder, words, times, allow=(0,)):
    found = [seen(folder, words, allow) for _ in range(times)]
    return min(f[0] for f in found), min(f[1] for f in found), max(f[2] for f in found)


def measure(assay, make_store, times=5):
    make_store = os.path.abspath(make_store or os.path.join(os.path.dirname(assay.program), "tests/store/make-store"))
    if not os.path.exists(make_store):
        sys.exit(f"{make_store} is missing: build it, or name it with --make-store")
    rows = []
    for cells, commands in ((MILLION, BIG), (MANY, SMALL)):
        store = os.path.join(assay.folder, f"{cells}.db")
        subprocess.run([make_store, store, "1", str(cells), "4"], check=True, stdout=subprocess.DEVNULL)
        reference = None
        if shutil.which("sqlite3"):
            seconds, reference, _ = of_several(assay.folder, ["sqlite3", store, QUERY], times)
            rows.append(row(f"sqlite3, counts and extremes, {cells:,} cells",
                            f"{seconds:.3f} s, CPU {reference:.3f} s", "", None))
        for name, words in commands.items():
            seconds, cpu, peak = of_several(assay.folder, [assay.program, *words, "--store", store], times, (0, 4))
            ratio = f", {cpu / reference:.2f} of sqlite3" if reference else ""
            bound = name in ("show", "show of one probe", "report")
            rows.append(row(f"{name}, {cells:,} cells", f"{seconds:.3f} s, CPU {cpu:.3f} s{ratio}, {peak:.0f} MB",
                            "1 s, 64 MB" if bound else "", seconds <= 1 and peak <= 64 if bound else None))
        os.unlink(store)
    return rows
