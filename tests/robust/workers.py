"""Workers that crash, hang, are stopped or talk nonsense: each costs one cell, and the run goes on."""
import os
import shutil
import signal
import stat

import harness
from harness import LONG, MEASURED, expect, identity

CELLS = ["latency", "--set", "size=1KiB..1MiB", "--device", "null"]


def disturbed(assay, number):
    """Sends a signal to the worker once, in the middle of the run."""
    expect(assay.run("run", *CELLS).code in MEASURED, "an undisturbed run")
    # A sanitizer would turn the signal into an exit code of its own.
    plain = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}
    process = assay.start("run", *CELLS, "--visits", "1", "--json", env=dict(plain, **assay.script(LONG)))

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


def fake_worker(assay, script):
    path = assay.path("fake")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(path, stat.S_IRWXU)
    return {"ASSAY_WORKER": path}


def test_worker_never_answers_well(assay):
    """Programs in the worker's place that exit, crash, or write nonsense into the socket."""
    for script in ("exit 0", "exit 7", "kill -SEGV $$", "echo noise >&3; sleep 1", "head -c 100000 /dev/zero >&3",
                   "echo '{\"ok\":true}' >&3; sleep 1", "printf '[[[[[[[[' >&3; exit", "exec 3>&-; sleep 0.2"):
        done = assay.run("run", *CELLS, env=fake_worker(assay, script))
        expect(done.code in (harness.FAILED, harness.NOTHING) and done.err.strip(), f"worker: {script}", done)
        done = assay.run("devices", env=fake_worker(assay, script))
        expect(done.code >= 0, f"devices with worker: {script}", done)


def test_scripted_crash_in_a_cell(assay):
    """The driver itself crashes in the middle of a launch."""
    for what, status, word in (("crash", "crashed", "signal 11"), ("exit", "crashed", "exit code 1"),
                               ("fail", "failed", "script"), ("oom", "unsupported", "memory")):
        fault = {"do": what, "min_footprint": 16384, "max_footprint": 16384, "launch": 3}
        done = assay.null(dict(harness.FAST, faults=[fault]), "latency", "--set", "size=1KiB..64KiB")
        expect(done.code in MEASURED, f"{what}: the run goes on", done)
        hit = {c["axes"]["size"]: c for c in assay.cells() if c["status"] == status}
        expect(list(hit) == [16384] and word in hit[16384]["reason"], f"{what} costs its cell, and no other", done)


def test_scripted_hang_in_a_cell(assay):
    """A launch that never comes back."""
    fault = {"do": "hang", "min_footprint": 16384, "max_footprint": 16384, "launch": 3}
    done = assay.null(dict(harness.FAST, faults=[fault]), "latency", "--set", "size=1KiB..64KiB")
    expect(done.code in MEASURED, "the run goes on", done)
    hit = [c["axes"]["size"] for c in assay.cells() if c["status"] == "timeout"]
    expect(hit == [16384], "it costs its cell, and no other", done)


if __name__ == "__main__":
    harness.main(globals())
