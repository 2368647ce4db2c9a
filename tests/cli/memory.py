"""'assay memory': a program that takes known memory, its exit status, and signals. Argument: the program."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
MIB = 1 << 20

# Starts a child, touches half of 64 MiB, 8 MiB of a mapped file and 4 MiB of shared memory, and waits for more readings.
KNOWN = """
import mmap, os, subprocess, sys
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
def rows():
    with open("series", encoding="utf-8") as f:
        return len(f.read().splitlines())
def touch(memory, n, write):
    for at in range(0, n, 4096):
        if write:
            memory[at] = 1
        else:
            memory[at]
private = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
touch(private, 32 << 20, True)
shared = mmap.mmap(-1, 4 << 20)
touch(shared, 4 << 20, True)
with open("data", "wb") as f:
    f.write(b"x" * (8 << 20))
with open("data", "rb") as f:
    data = mmap.mmap(f.fileno(), 8 << 20, prot=mmap.PROT_READ)
touch(data, 8 << 20, False)
before = rows()
while rows() < before + 3:
    os.sched_yield()
print("done")
child.kill()
child.wait()
sys.exit(7)
"""
# Says that it is ready, and ends with 5 on the signal.
LISTENING = """
import signal, sys
signal.signal(int(sys.argv[1]), lambda *_: sys.exit(5))
print("ready", flush=True)
while True:
    signal.pause()
"""


def start(folder, *args):
    env = dict({k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}, LC_ALL="C", HOME=folder)
    return subprocess.Popen([PROGRAM, "memory", *args], cwd=folder, env=env, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, code):
    try:
        out, err = process.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == code, f"exit {process.returncode}, not {code}: {err}"
    return out, err


def run(folder, *args, code=0):
    return finish(start(folder, *args), code)


def check_known(folder, summary):
    peak = {c["counter"]: c["peak"] for c in summary["counters"]}
    assert 32 * MIB <= peak["anonymous"] < 64 * MIB, peak
    assert peak["shared memory"] >= 4 * MIB and peak["files"] + peak["shared memory"] >= 12 * MIB, peak  # tmpfs is shared
    assert peak["RSS"] >= 44 * MIB and peak["PSS"] <= peak["RSS"], peak
    assert summary["processes"] >= 2 and summary["readings"] >= 3, summary
    before = {c["counter"]: c["before"] for c in summary["counters"]}
    assert before["RSS"] is None and before["in use"] > 0 and before["page cache"] > 0, before
    assert all(c["rise"] == c["peak"] - c["before"] for c in summary["counters"] if c["before"] is not None)


def test_known_program(folder):
    """A program that takes known memory: every counter sees its part, and the program's output and status are its own."""
    out, err = run(folder, "--period", "1ms", "-f", "json", "-o", "series", "--", sys.executable, "-c", KNOWN, code=7)
    assert out == "done\n", out
    assert "exit status 7" in err and "anonymous" in err and "rise" in err, err
    with open(os.path.join(folder, "series"), encoding="utf-8") as f:
        *readings, last = map(json.loads, f)
    check_known(folder, last["summary"])
    assert len(readings) >= last["summary"]["readings"]
    assert max(r["anonymous"] or 0 for r in readings) == \
        next(c["peak"] for c in last["summary"]["counters"] if c["counter"] == "anonymous")


def test_csv(folder):
    """Readings as CSV: a column per counter, a row per reading, in the order of time."""
    run(folder, "--period", "1ms", "-o", "series", sys.executable, "-c", KNOWN, code=7)
    with open(os.path.join(folder, "series"), encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) >= 3 and None not in rows[0]
    times = [float(r["seconds"]) for r in rows]
    assert times == sorted(times)
    assert max(int(r["RSS"] or 0) for r in rows) >= 44 * MIB
    assert any(r["PSS"] for r in rows) and all(int(r["in use"]) > 0 for r in rows)


def test_exit_status(folder):
    """Arguments after the program are its own, empty ones too; assay ends with its status, or by the signal that ended it."""
    run(folder, "sh", "-c", "exit 3", code=3)
    run(folder, "sh", "-c", "exit $(($# + 3))", "sh", "", "--help", code=5)
    run(folder, "sh", "-c", "exit ${#ASSAY_WORKER}")  # a program with libassay is not its own worker
    run(folder, "--", "true")
    _, err = run(folder, "sh", "-c", "kill -TERM $$", code=-signal.SIGTERM)
    assert "ended by signal 15" in err, err


def test_signals(folder):
    """Signals to assay reach the program, which decides what they do."""
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = start(folder, sys.executable, "-c", LISTENING, str(int(number)))
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        finish(process, 5)


def test_ignored_signals(folder):
    """A program starts with the signals that assay was started with, not with those that assay ignores."""
    show = "import signal; print(*[int(signal.getsignal(s) == signal.SIG_IGN) for s in (signal.SIGXFSZ, signal.SIGHUP)])"
    out, _ = run(folder, "sh", "-c", "grep SigIgn /proc/self/status")
    ignored = int(out.split()[1], 16)
    assert not ignored & (1 << (signal.SIGXFSZ - 1) | 1 << (signal.SIGPIPE - 1)), out
    nohup = f"trap '' HUP; exec '{PROGRAM}' memory {sys.executable} -c '{show}'"
    out = subprocess.run(["sh", "-c", nohup], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert out.split()[1] == "1", out


def test_not_started(folder):
    """A program that cannot be started gives the exit codes of a shell, and a message."""
    _, err = run(folder, "./no-such-program", code=127)
    assert "'./no-such-program' cannot be started: No such file" in err and "RSS" not in err, err
    with open(os.path.join(folder, "plain"), "w", encoding="utf-8") as f:
        f.write("text")
    _, err = run(folder, "./plain", code=126)
    assert "'./plain' cannot be started: Permission denied" in err, err


def test_wrong_usage(folder):
    """Wrong usage is refused before the program starts."""
    for args, words in ((["--format", "xml", "-o", "x", "touch", "started"], "csv or json"),
                        (["--format", "csv", "touch", "started"], "-o FILE"),
                        (["--period", "2h", "touch", "started"], "1ms to 1h"), ([], "needs [--] PROGRAM")):
        _, err = run(folder, *args, code=2)
        assert words in err, err
    _, err = run(folder, "-o", "/no/such/folder/x", "touch", "started", code=1)
    assert "/no/such/folder/x" in err, err
    assert not os.path.exists(os.path.join(folder, "started"))


def test_full_disk(folder):
    """Readings that cannot be written do not stop a program that runs; its status counts if it is not 0."""
    _, err = run(folder, "-f", "json", "-o", "/dev/full", "true", code=1)
    assert "/dev/full" in err and "exit status 0" in err, err
    run(folder, "-f", "json", "-o", "/dev/full", "sh", "-c", "exit 3", code=3)
    _, err = run(folder, "-o", "/dev/full", "touch", "started", code=1)
    assert "/dev/full" in err and not os.path.exists(os.path.join(folder, "started")), err


TESTS = (test_known_program, test_csv, test_exit_status, test_signals, test_ignored_signals, test_not_started,
         test_wrong_usage, test_full_disk)


def main():
    failed = 0
    for number in (signal.SIGINT, signal.SIGHUP):  # which shells ignore behind '&' and nohup, and assay then does
        signal.signal(number, signal.SIG_DFL)
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory(prefix="assay-memory-") as folder:
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}")
            except (AssertionError, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"not ok {number} - {test.__doc__}\n# {problem}")
    sys.exit(1 if failed else 0)


main()
