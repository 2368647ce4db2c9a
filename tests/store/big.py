#!/usr/bin/env python3
"""Stores of many cells are looked at a cell at a time: the tables are right, and memory does not grow with the run.

big.py ASSAY MAKE_STORE"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

CELLS, SHOWN = 20_000, 2_000
MANY = 30_000 if os.environ.get("ASSAY_BRIEF") else 100_000
PEAK_KB = 40_000  # loaded whole, 30,000 cells of 4 KB are 120 MB


def run(folder, *words):
    """Output of a command that must succeed."""
    return subprocess.run(words, cwd=folder, check=True, text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, COLUMNS="110", LC_ALL="C")).stdout


def peak_of(folder, *words):
    """Its peak memory in KB; that of this script before it became another program counts too."""
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    expect(process.returncode == 0, f"{words}: {process.returncode}")
    return used.ru_maxrss


def is_sanitized(program):
    """Sanitizers keep freed memory."""
    with open(program, "rb") as f:
        return b"__asan_init" in (text := f.read()) or b"__tsan_init" in text


def expect(holds, what, text=""):
    if not holds:
        sys.exit(f"{what}\n{text[:4000]}")


def numbers(folder, assay, store):
    """By probe: cells with a number, and how many of them were rejected."""
    text = run(folder, assay, "show", "last", "--store", store)
    rows = re.findall(r"\b(latency|bandwidth) (\d+)(?: \((\d+) rejected\))?(?:,|$)", text, re.M)
    return text, {probe: (int(n), int(rejected or 0)) for probe, n, rejected in rows}


def test_counts(folder, assay, store):
    """What the short page counts is what SQL counts, also where cells are rejected, or not measured."""
    db = sqlite3.connect(store)
    db.execute("UPDATE cells SET status = 'rejected', gate_limit = 'fail', reason = 'limit' WHERE position % 10 = 3")
    db.execute("UPDATE cells SET status = 'failed', n = 0, median = NULL, reason = 'no page' WHERE position % 10 = 6")
    db.commit()
    want = db.execute("SELECT probe, count(median), sum(status = 'rejected') FROM cells GROUP BY 1").fetchall()
    text, found = numbers(folder, assay, store)
    expect(found == {probe: (n, rejected) for probe, n, rejected in want}, f"probes: {found} beside {want}", text)
    expect(f"{CELLS} measurements: {CELLS * 8 // 10} ok, {CELLS // 10} rejected, {CELLS // 10} failed" in text, "counts", text)
    expect(f"latency cpu: {CELLS // 10} failed: no page" in text, "why cells are missing", text)
    expect(f"bandwidth cpu: {CELLS // 10} rejected: for example limit" in text, "why cells are rejected", text)
    expect("from latency (10000 measurements)" not in text and "bandwidth (10000 measurements) are left out" in text,
           "facts rest on whole probes that fit", text)
    db.close()


def test_probe(folder, assay, store):
    """A table of a probe stops after so many rows and says so; --all shows every one."""
    text = run(folder, assay, "show", "latency", "--store", store)
    rows = re.findall(r"^ *\d+ +[\d.]+ [KMG]iB", text, re.M)
    expect(0 < len(rows) <= SHOWN, f"{len(rows)} rows", text)
    expect("... and 8000 more: 'assay show 1 latency --all'" in text, "how many rows are left out", text[-2000:])
    text = run(folder, assay, "show", "latency", "--all", "--store", store)
    rows = re.findall(r"^ *\d+ +[\d.]+ [KMG]iB", text, re.M)
    expect(len(rows) == CELLS // 2 - CELLS // 10, f"{len(rows)} rows with --all")
    expect(" more: " not in text, "nothing is left out with --all")


def test_lines(folder, assay, store):
    text = run(folder, assay, "show", "--json", "--store", store)
    expect([json.loads(line)["id"] for line in text.splitlines()] == list(range(1, CELLS + 1)), "one line a cell")


def test_memory(folder, assay, make_store):
    """Show, one probe of it, and exports of a run of that many cells take no more than a small run does."""
    run(folder, make_store, "many.db", "1", str(MANY), "2")
    for words in (["show"], ["show", "last"], ["show", "latency"], ["show", "--json"], ["export", "-f", "csv", "-o", "many.csv"],
                  ["export", "-o", "many.json"]):
        peak = peak_of(folder, assay, *words, "--store", "many.db")
        expect(peak < PEAK_KB, f"{' '.join(words)}: {peak} KB for {MANY} cells")
    with open(os.path.join(folder, "many.csv"), encoding="utf-8") as f:
        expect(sum(1 for _ in f) == MANY + 1, "every cell is in the CSV")


def main(assay, make_store):
    with tempfile.TemporaryDirectory() as folder:
        if not is_sanitized(assay):
            test_memory(folder, assay, make_store)  # first, while this script uses little memory
        store = os.path.join(folder, "big.db")
        run(folder, make_store, store, "1", str(CELLS), "2")
        test_counts(folder, assay, store)
        test_probe(folder, assay, store)
        test_lines(folder, assay, store)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
