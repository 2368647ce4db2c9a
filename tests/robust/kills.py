"""Parent, workers or both killed at random: resume completes each run, no result lost, none twice.

ASSAY_KILLS says how many kills (default 40), ASSAY_SEED where the random choices start (default 1)."""
import os
import random
import signal
import time

import harness
import ledger
from harness import MEASURED, NOTHING, OK, SLOW, expect, kill

TRIALS = 2
# Only the number of trials ends a cell, so each has exactly that many.
CELLS = ["latency", "bandwidth", "--set", "latency.size=1KiB..8KiB", "--set", "bandwidth.size=64KiB", "--set",
         "bandwidth.level=sweep", "--set", "bandwidth.op=triad", "--set", "bandwidth.threads=1", "--set", "allocator=malloc",
         "--trials", str(TRIALS), "--precision", "100%", "--budget", "0"]
KILLS = int(os.environ.get("ASSAY_KILLS", "40"))
SEED = int(os.environ.get("ASSAY_SEED", "1"))
VICTIMS = ("parent", "workers", "both")


def strike(process, rng, victims):
    """In any order where both are meant."""
    pids = harness.children(process.pid) if victims != "parent" else []
    pids += [process.pid] if victims != "workers" else []
    rng.shuffle(pids)
    for pid in pids:
        kill(pid)


def killed_once(assay, arguments, rng, seconds, victims):
    """Starts a command and kills its victims after a random time."""
    process = assay.start(*arguments, env=assay.script(SLOW))
    time.sleep(rng.uniform(0, seconds))
    strike(process, rng, victims)
    done = assay.finish(process)
    # A worker killed while it first opens the only device leaves nothing to measure on, and the message says so.
    before_all = victims == "workers" and done.code == NOTHING and "killed by signal 9" in done.err
    killed = victims != "workers" and done.code == -signal.SIGKILL
    expect(before_all or killed or done.code in MEASURED, "killed, or ended well", done)


def cells_of(book, uuid):
    return sorted(book.rows("SELECT c.position, c.probe, c.axes FROM cells c JOIN runs r ON r.id = c.run_id "
                            "WHERE r.uuid = ?", uuid))


def check_ended(book, uuid, plan, victims):
    """A killed worker costs the cell that it was at, which says so; all others have the trials that were asked for."""
    expect(cells_of(book, uuid) == plan, f"run {uuid}: cells lost or new")
    if victims != "workers":
        book.check_complete(uuid, TRIALS)
        return
    book.check_complete(uuid, TRIALS, ("ok", "wide", "rejected", "crashed"))
    for (reason,) in book.rows("SELECT reason FROM cells WHERE status = 'crashed'"):
        expect("signal 9" in reason, "the signal is named", reason)


def kill_runs(assay, victims):
    kills = KILLS // len(VICTIMS) + (VICTIMS.index(victims) < KILLS % len(VICTIMS))
    print(f"# {kills} kills of {victims}, ASSAY_SEED={SEED}", flush=True)
    rng = random.Random(f"{SEED} {victims}")
    book = ledger.Ledger(assay)
    began = time.monotonic()
    whole = assay.null(SLOW, *CELLS)
    seconds = time.monotonic() - began
    expect(whole.code in MEASURED, "an undisturbed run", whole)
    (first,) = book.states()
    plan = cells_of(book, first)
    while kills > 0:
        known = set(book.states())
        command = ["run", *CELLS, "--device", "null"]
        while kills > 0 and (command[0] == "run" or book.unfinished() and rng.random() < 0.7):
            killed_once(assay, command, rng, seconds, victims)
            kills -= 1
            book.check()
            new = set(book.states()) - known
            if not new:  # it was killed before it had stored its plan
                continue
            command = ["resume"]
        for uuid in set(book.unfinished()):
            done = assay.run("resume", uuid, env=assay.script(SLOW))
            expect(done.code in MEASURED, f"run {uuid} is resumed", done)
        book.check()
        for uuid in set(book.states()) - known:
            check_ended(book, uuid, plan, victims)
    done = assay.run("doctor")
    expect(done.code == OK and "is sound" in done.out, "assay doctor finds the store sound", done)


def test_parent_killed_at_random(assay):
    kill_runs(assay, "parent")


def test_workers_killed_at_random(assay):
    kill_runs(assay, "workers")


def test_both_killed_at_random(assay):
    kill_runs(assay, "both")


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
