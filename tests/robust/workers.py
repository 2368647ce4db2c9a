"""Workers that crash, hang, are stopped or send invalid replies: each costs one cell, and the run continues."""
import os
import shutil
import signal
import socket
import sys

import harness
from harness import LONG, MEASURED, expect, expect_refused, identity

CELLS = ["latency", "--set", "size=1KiB..1MiB", "--device", "null"]


def disturbed(assay, number):
    """Sends a signal to the worker once, in the middle of the run."""
    expect(assay.run("run", *CELLS).code in MEASURED, "an undisturbed run")
    # A sanitizer would turn the signal into its own exit code.
    plain = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}
    process = assay.start("run", *CELLS, "--trials", "1", "--json", env=dict(plain, **assay.script(LONG)))

    def measuring():
        return harness.lines(process) > 4 and harness.children(process.pid)
    (worker, *_) = harness.wait_for(measuring, "a worker that measures", process)
    harness.kill(worker, number)
    done = assay.finish(process)
    expect(done.code in MEASURED, "the run goes on", done)
    cells = assay.cells()
    expect({identity(c) for c in cells} == {identity(c) for c in assay.cells(1)}, "no cell lost", done)
    return cells, done


def test_renamed_program(assay):
    """The program measures with itself, whatever it is called."""
    other = assay.path("assay-1.0")
    shutil.copy(assay.program, other)
    assay.program = other
    done = assay.run("run", *CELLS)
    expect(done.code in MEASURED and harness.measured(assay.cells()), "it measures", done)


def test_worker_segfaults(assay):
    cells, done = disturbed(assay, signal.SIGSEGV)
    hit = [c for c in cells if c["status"] == "crashed"]
    expect(len(hit) <= 1, "at most one cell is lost", hit)
    expect(not hit or "signal 11" in hit[0]["reason"], "the signal is named", done)
    expect(sum(c["n"] > 0 for c in cells) >= len(cells) - 1, "all others are measured", done)


def test_worker_is_killed(assay):
    cells, done = disturbed(assay, signal.SIGKILL)
    hit = [c for c in cells if c["status"] == "crashed"]
    expect(len(hit) <= 1, "at most one cell is lost", hit)
    expect(not hit or "signal 9" in hit[0]["reason"], "the signal is named", done)


def test_worker_hangs(assay):
    """Stopped for good: the parent gives up on it after the probe's patience, and kills it. One that was between two cells
    and not asked any more may cost none."""
    cells, done = disturbed(assay, signal.SIGSTOP)
    hit = [c for c in cells if c["status"] == "timeout"]
    expect(len(hit) <= 1, "at most one cell is lost", hit)
    expect(not hit or "no answer" in hit[0]["reason"], "and why", done)
    expect(sum(c["n"] > 0 for c in cells) >= len(cells) - 1, "all others are measured", done)


def test_worker_never_answers_well(assay):
    """Programs in the worker's place that exit, crash, or write nonsense into the socket."""
    for script in ("exit 0", "exit 7", "kill -SEGV $$", "echo noise >&3; sleep 1", "head -c 100000 /dev/zero >&3",
                   "echo '{\"ok\":true}' >&3; sleep 1", "printf '[[[[[[[[' >&3; exit", "exec 3>&-; sleep 0.2"):
        done = assay.run("run", *CELLS, env=harness.stand_in_worker(assay, script))
        expect(done.code in (harness.FAILED, harness.NOTHING) and done.err.strip(), f"worker: {script}", done)
        done = assay.run("devices", env=harness.stand_in_worker(assay, script))
        expect(done.code >= 0, f"devices with worker: {script}", done)


def test_worker_dies_and_its_helper_lives(assay):
    """A driver that has started a process of its own, which left the group and still holds the socket, crashes."""
    helpers = assay.path("helpers")
    worker = harness.stand_in_worker(assay, f"setsid sleep 300 &\necho $! >>'{helpers}'\nkill -SEGV $$\n")
    try:
        done = assay.run("devices", env=worker, timeout=40)
        expect("the process that loaded it died" in done.out, "its death is noticed", done)
        done = assay.run("run", *CELLS, env=worker, timeout=40)
        expect(done.code == harness.NOTHING and "signal 11" in done.err, "and told with its signal", done)
    finally:
        with open(helpers, encoding="ascii") as f:
            for pid in f.read().split():
                harness.kill(int(pid))


MANY_DEVICES = """
import json, socket
parent = socket.socket(fileno=3)
parent.recv(65536)
device = {"ok": True, "info": {"id": "x:0", "backend": "x", "name": "a device"}}
text = json.dumps({"ok": True, "devices": [device] * 20000}).encode()
for at in range(0, len(text), 30000):
    parent.send((b"m" if at + 30000 < len(text) else b"e") + text[at:at + 30000])
parent.recv(1)
"""


def test_driver_with_absurdly_many_devices(assay):
    with open(assay.path("many.py"), "w", encoding="ascii") as f:
        f.write(MANY_DEVICES)
    worker = harness.stand_in_worker(assay, f"exec '{sys.executable}' '{assay.path('many.py')}'")
    done = assay.run("devices", env=worker)
    expect(done.code == harness.OK and "20000 devices" in " ".join(done.out.split()), "it is not believed", done)
    done = assay.run("run", "latency", env=worker)
    expect_refused(done, harness.NOTHING, "no device")


def test_worker_started_by_hand(assay):
    """It is no command for people: it says so, and what is wrong."""
    for arguments in ([], ["3"], ["x", "1"], ["0", "1"], ["77", "1"], ["-1", "1"], ["4294967299", "1"], ["3", "1", "2"]):
        done = assay.run("--worker", *arguments)
        expect_refused(done, harness.USAGE, "--worker", "internal")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        done = assay.run("--worker", str(theirs.fileno()), "1", pass_fds=[theirs.fileno()])
    expect_refused(done, harness.FAILED, "parent")


if __name__ == "__main__":
    harness.main(globals())
