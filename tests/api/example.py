"""Runs the example program on the scripted device, and looks at its run with assay. Arguments: example, the same with
the archive of the library, assay."""
import json
import os
import subprocess
import sys
import tempfile

example, archive_example, assay = sys.argv[1:4]
with tempfile.TemporaryDirectory(prefix="assay-example-") as folder:
    store = os.path.join(folder, "store.db")
    done = subprocess.run([example, store, "latency", "null", "size=4KiB,64KiB", "pattern=random"],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and lines[-1] == f"run 1 is in {store}", done.stdout
    assert all(line.startswith("null latency size=") and "95% interval" in line for line in lines[:2]), done.stdout
    shown = subprocess.run([assay, "show", "--json", "--store", store], capture_output=True, text=True, check=True)
    assert len([json.loads(line) for line in shown.stdout.splitlines()]) == 2, shown.stdout
    wrong = subprocess.run([example, store, "latncy", "null"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1 and "latency" in wrong.stderr, wrong.stderr
    for program in (example, archive_example):
        assert subprocess.run([program], capture_output=True, check=False).returncode == 2, program
