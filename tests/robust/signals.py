"""Signals that a user or a system sends to a run: it ends soon or continues, and measurements are kept."""
import json
import os
import signal
import sqlite3
import time

import harness
from harness import LONG, MEASURED, OK, SLOW, expect, identity

CELLS = ["latency", "--set", "size=1KiB..4MiB x2", "--device", "null"]


def interrupt(assay, number, to_group=False):
    """Starts a long run, signals it once cells are there, and gives its end."""
    process = assay.start("run", *CELLS, "--json", env=assay.script(LONG), start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 6, "the first cells", process)
    (os.killpg if to_group else os.kill)(process.pid, number)
    return assay.finish(process)


def check_interrupted(assay, done):
    expect(done.code == harness.FAILED, "ends by itself, not by the signal, nor is the run complete", done)
    expect("resume" in done.err + done.out, "says how to go on", done)
    before = [c for c in assay.cells() if c["n"]]
    expect(before, "what was measured is kept")
    resumed = assay.run("resume")
    expect(resumed.code in MEASURED, "resumed", resumed)
    cells = assay.cells()
    expect(all(c["status"] != "planned" for c in cells), "every cell has its end")
    expect(len({identity(c) for c in cells}) == len(cells), "none twice")


def test_control_c(assay):
    check_interrupted(assay, interrupt(assay, signal.SIGINT, to_group=True))


def test_pause(assay):
    """A run that is resumed later is as long as it was worked on."""
    interrupt(assay, signal.SIGINT)
    time.sleep(2)
    expect(assay.run("resume").code in MEASURED, "resumed")
    run = json.loads(assay.run("export", "--format", "json").out)["run"]
    pause = sum(p["seconds"] for p in run["provenance"]["pauses"])
    expect(2 <= pause < run["ended_at"] - run["started_at"], f"a pause of {pause} s")


def test_terminate(assay):
    check_interrupted(assay, interrupt(assay, signal.SIGTERM))


def test_hang_up(assay):
    check_interrupted(assay, interrupt(assay, signal.SIGHUP))


def test_control_c_twice(assay):
    """A key that is held down is one wish: the run ends as it does by one of them."""
    process = assay.start("run", *CELLS, "--json", env=assay.script(LONG), start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 6, "the first cells", process)
    for _ in range(5):
        harness.kill(process.pid, signal.SIGINT)
        time.sleep(0.002)
    check_interrupted(assay, assay.finish(process))


def test_control_c_again_later(assay):
    """A person in a hurry: a later one ends what does not end by itself, and the store is whole."""
    process = assay.start("run", *CELLS, env=assay.script(LONG), start_new_session=True)
    harness.wait_for(lambda: assay.run("list", "runs", "--json").out.strip(), "a run in the store", process)
    store = sqlite3.connect(assay.store, timeout=harness.PATIENCE)
    store.execute("BEGIN EXCLUSIVE")  # its measurements cannot be stored in the meantime
    harness.kill(process.pid, signal.SIGINT)
    time.sleep(3.2)
    harness.kill(process.pid, signal.SIGINT)
    done = assay.finish(process)
    store.close()
    expect(done.code == -signal.SIGINT, "ended by the signal", done)
    expect("resume" in done.err, "says how to go on", done)
    shown = assay.run("show")
    expect("interrupted" in shown.out and "resume" in shown.out, "and so does what is left of it", shown)
    expect(assay.run("resume").code in MEASURED, "resumed")


def test_control_c_while_devices_are_searched_for(assay):
    """A driver that hangs while it is loaded holds nobody: its own time limit is a minute."""
    worker = harness.stand_in_worker(assay, "exec sleep 300")
    for command, code in ((["run", "latency"], harness.FAILED), (["devices"], -signal.SIGINT)):
        process = assay.start(*command, env=worker, start_new_session=True)
        loading = harness.wait_for(lambda: [c for c in harness.children(process.pid)
                                            if b"sleep" in harness.command_of(c)], "a driver that hangs")
        os.kill(process.pid, signal.SIGINT)
        done = assay.finish(process, 40)
        for child in loading:
            harness.kill(child)
        expect(done.code == code, f"'{' '.join(command)}' ends", done)
        expect(code < 0 or "interrupted before anything was measured" in done.err, "says so", done)


def state_of(assay):
    return json.loads(assay.run("list", "runs", "--json").out)["state"]


def test_killed_is_interrupted(assay):
    """A run is running as long as its process is there, and can be resumed once that is gone."""
    process = assay.start("run", *CELLS, "--json", env=assay.script(LONG), start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 6, "the first cells", process)
    expect(state_of(assay) == "running", "its process is there")
    os.killpg(process.pid, signal.SIGKILL)
    assay.finish(process)
    expect(state_of(assay) == "interrupted", "killed")
    shown = assay.run("show")
    expect("interrupted" in shown.out and "assay resume 1" in shown.out, "says how to go on", shown)


def test_views_of_a_run_in_progress(assay):
    """They show what it has measured so far; exports say that it is not complete."""
    process = assay.start("run", *CELLS, "--json", env=assay.script(LONG), start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 6, "the first cells", process)
    for form in ("json", "csv", "sheet", "header", "layout"):
        done = assay.run("export", "last", "--format", form)
        expect(done.code == OK and done.out, form, done)
        expect("run 1 is still being measured" in done.err, f"{form} says so", done)
    for command in (["show"], ["show", "last"], ["show", "last", "latency"], ["facts"], ["advise"], ["explain", "1"],
                    ["compare", "last", "last"], ["report", "-o", assay.path("page.html")]):
        done = assay.run(*command)
        expect(done.code == OK, f"'{' '.join(command)}'", done)
    expect(state_of(assay) == "running", "it goes on meanwhile")
    harness.interrupt(assay, process)


def test_stopped_and_continued(assay):
    """Ctrl-Z and fg."""
    process = assay.start("run", *CELLS, env=assay.script(harness.SLOW))
    harness.wait_for(lambda: harness.children(process.pid), "a worker", process)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGCONT)
    expect(assay.finish(process).code in MEASURED, "goes on")


if __name__ == "__main__":
    harness.main(globals())
