"""A run must keep its time limit. The budget here is a small part of what the run would take without it, and the
harness's patience tells them apart."""
import contextlib
import sqlite3

import harness
from harness import LONG, MEASURED, SLOW, expect

CELLS = ["latency", "--set", "size=1KiB..4MiB x2", "--device", "null"]
# No number of samples is precise enough, so the whole budget is used.
NOISY = dict(SLOW, noise={"sd": 0.05})
PRECISE = ["--precision", "0.01%"]
LONGER_S = 4 * harness.PATIENCE


def test_budget_is_a_promise(assay):
    """Of trials that take an hour the budget has room for few, and yet every cell has a number or a reason."""
    done = assay.run("run", *CELLS, "--trials", "100", "--budget", "5s", env=assay.script(LONG))
    expect(done.code in MEASURED, "measured", done)
    cells = assay.cells()
    expect(all(c["n"] or c["reason"] for c in cells), "every cell has its number", done)
    expect(max(len(c["trials"]) for c in cells) < 100, "none has had all of its trials", done)


def test_budget_of_0_is_none(assay):
    """Whatever the suite says: every cell is tried as often as was asked for, however long it takes."""
    suite = assay.path("short.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write("[suite]\nbudget = 1s\ntrials = 3\nprecision = 50%\n[latency]\nsize = 1KiB..4MiB x4\n")
    for words, budget in ((["--budget", "0"], None), (["--budget", "0s"], None), ([], 1)):
        done = assay.null(SLOW, suite, *words)
        expect(done.code in MEASURED, "measured", done)
        export = assay.export()
        expect(export["run"]["budget_s"] == budget, f"{words}", export["run"]["budget_s"])
        least = min(len(c["trials"]) for c in export["cells"])
        expect(least >= 3 if budget is None else least < 3, f"{words}: the least tried cell has {least} trials", done)


def worked_on(assay, already):
    """Interrupts a run whose budget is this and a little more, and has it begin so much earlier. Seconds that it took."""
    process = assay.start("run", *CELLS, *PRECISE, "--budget", f"{already + 3}s", "--json", env=assay.script(NOISY),
                          start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 6, "the first cells", process)
    harness.interrupt(assay, process)
    with contextlib.closing(sqlite3.connect(assay.store)) as db, db:
        db.execute("UPDATE runs SET started_at = started_at - ?", (already,))
        return db.execute("SELECT ended_at - started_at FROM runs").fetchone()[0]


def test_resume_has_what_is_left(assay):
    """Of its budget: a run that had it anew would not end before the harness calls it hung."""
    worked_on(assay, LONGER_S)
    done = assay.run("resume", env=assay.script(NOISY))
    expect(done.code in MEASURED, "resumed", done)
    run = assay.export()["run"]
    expect(run["budget_s"] == LONGER_S + 3, "the budget is as it was", run["budget_s"])
    expect(run["state"] == "complete", "and used up", run["state"])


def test_resume_with_a_budget_of_its_own(assay):
    """Is for the rest of the run."""
    used = worked_on(assay, LONGER_S)
    done = assay.run("resume", "--budget", "2s", env=assay.script(NOISY))
    expect(done.code in MEASURED, "resumed", done)
    budget = assay.export()["run"]["budget_s"]
    expect(abs(budget - used - 2) < 0.01, f"{used} s and 2 s more are {budget} s")


def test_slow_device_leaves_others_their_share(assay):
    """One that would take hours costs the other none of its cells."""
    suite = assay.path("shared.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write("[suite]\nbudget = 30s\ntrials = 50\nprecision = 50%\ndevices = null,cpu\n"
                "[latency]\nsize = 64KiB,128KiB\nallocator = malloc\n")
    slow = [{"size": 32 << 10, "ns": 1, "gbs": 9}, {"size": 512 << 10, "ns": 6e6, "gbs": 9}, {"size": 0, "ns": 9, "gbs": 9}]
    script = dict(SLOW, info=harness.ONE_THREAD, levels=slow)  # but its sentinels are fast
    done = assay.run("run", suite, env=assay.script(script))
    expect(done.code in MEASURED, "measured", done)
    cells = {device: [c for c in assay.export()["cells"] if c["device"] == device] for device in ("null", "cpu")}
    expect(len(cells["cpu"]) == 2 and all(c["n"] for c in cells["cpu"]), "each cell of the CPU has its number", cells["cpu"])
    expect(max(len(c["trials"]) for c in cells["null"]) < 50, "the slow device did not get through", cells["null"])


if __name__ == "__main__":
    harness.main(globals())
