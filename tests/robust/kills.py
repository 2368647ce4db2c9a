"""Parent and workers killed at random: resume completes each run, no cell lost, none twice.

ASSAY_KILLS says how many kills (default 16)."""
import json
import os
import random
import signal
import sqlite3
import time

import harness
from harness import MEASURED, NOTHING, OK, SLOW, expect, identity, kill

CELLS = ["latency", "bandwidth", "--set", "latency.size=1KiB..16KiB", "--set", "bandwidth.size=64KiB..256KiB", "--set",
         "bandwidth.op=triad", "--set", "bandwidth.threads=1", "--set", "allocator=malloc", "--visits", "2"]
KILLS = int(os.environ.get("ASSAY_KILLS", "16"))


def check_store(assay):
    db = sqlite3.connect(assay.store)
    expect(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the store passes its integrity check")
    expect(not db.execute("PRAGMA foreign_key_check").fetchall(), "every visit belongs to a cell")
    db.close()


def check_complete(assay, run, plan):
    export = assay.export(run)
    cells = export["cells"]
    expect(export["run"]["state"] == "complete", f"run {run} is complete", export["run"])
    ids = [identity(c) for c in cells]
    expect(len(set(ids)) == len(ids), f"run {run}: a cell is there twice")
    expect(set(ids) == plan, f"run {run}: cells lost {plan - set(ids)} or new {set(ids) - plan}")
    for cell in cells:
        expect(cell["status"] not in ("planned", "failed"), f"run {run}: {cell['id']} is {cell['status']}", cell)
        if cell["status"] in ("ok", "untrusted"):
            expect(cell["n"] > 0 and len(cell["samples"]) == cell["n"], f"run {run}: samples lost", cell["id"])


def killed_once(assay, arguments, rng, seconds, parent):
    """Starts a command and kills it, or its workers, after a random time."""
    process = assay.start(*arguments, env=assay.script(SLOW))
    time.sleep(rng.uniform(0, seconds))
    for victim in [process.pid] if parent else harness.children(process.pid):
        kill(victim)
    done = assay.finish(process)
    # A worker that is killed while it still opens the only device leaves nothing to measure on, and that is said.
    before_all = not parent and done.code == NOTHING and "killed by signal 9" in done.err
    expect(before_all or done.code in (-signal.SIGKILL, *MEASURED), "killed, or ended well", done)


def state_of(assay, run):
    """Of a run in the store; None when it was killed before it had stored its plan."""
    lines = assay.run("list", "runs", "--json").out.splitlines()
    return {r["id"]: r["state"] for r in map(json.loads, lines)}.get(run)


def kill_runs(assay, parent):
    rng = random.Random(20 + parent)
    began = time.monotonic()
    whole = assay.null(SLOW, *CELLS)
    seconds = time.monotonic() - began
    expect(whole.code in MEASURED, "an undisturbed run", whole)
    plan = {identity(c) for c in assay.cells(1)}
    kills, run = 0, 2
    while kills < KILLS // 2:
        killed_once(assay, ["run", *CELLS, "--device", "null"], rng, seconds, parent)
        kills += 1
        if not state_of(assay, run):
            continue
        while state_of(assay, run) != "complete" and kills < KILLS // 2 and rng.random() < 0.7:
            killed_once(assay, ["resume"], rng, seconds / 2, parent)
            kills += 1
        if state_of(assay, run) != "complete":
            done = assay.run("resume", env=assay.script(SLOW))
            expect(done.code in MEASURED, f"run {run} is resumed after {kills} kills", done)
        check_store(assay)
        (check_complete if parent else check_every_cell_has_an_end)(assay, run, plan)
        run += 1


def check_every_cell_has_an_end(assay, run, plan):
    """A killed worker costs the cell it was at, stored as crashed with the signal; all others are measured."""
    cells = assay.cells(run)
    expect({identity(c) for c in cells} == plan and len(cells) == len(plan), f"run {run}: cells lost or twice")
    for cell in cells:
        expect(cell["status"] in ("ok", "untrusted", "unsupported", "crashed"), f"run {run}", cell)
        if cell["status"] == "crashed":
            expect("signal 9" in cell["reason"] or "Killed" in cell["reason"], "the signal is named", cell)


def test_parent_killed_at_random(assay):
    kill_runs(assay, True)


def test_workers_killed_at_random(assay):
    kill_runs(assay, False)


def test_worker_does_not_outlive_the_parent(assay):
    process = assay.start("run", *CELLS, "--device", "null", env=assay.script(SLOW))
    workers = harness.wait_for(lambda: harness.children(process.pid), "a worker", process)
    kill(process.pid)
    process.wait()
    harness.wait_for(lambda: not any(os.path.exists(f"/proc/{w}") for w in workers), "the end of the workers")


def test_resume_with_nothing_to_resume(assay):
    done = assay.null(harness.FAST, "latency", "--set", "size=1KiB")
    expect(done.code in MEASURED, "a whole run", done)
    before = assay.run("export").out
    done = assay.run("resume")
    expect(done.code in (OK, harness.USAGE) and (done.err + done.out).strip(), "says that there is nothing to do", done)
    expect(assay.run("export").out == before, "and changes nothing")


if __name__ == "__main__":
    harness.main(globals())
