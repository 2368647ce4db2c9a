"""Runs that are resumed while they are measured, repaired and deleted. tests/run has what one process shows."""
import json
import sqlite3

import harness
from harness import FAILED, LONG, MEASURED, USAGE, expect, expect_refused

CELLS = ["latency", "--set", "size=1KiB..1MiB x2", "--device", "null", "--budget", "0"]


def trials(assay, columns, where="1"):
    """Rows of trials; none while there is no store yet."""
    store = sqlite3.connect(assay.store)
    try:
        return store.execute(f"SELECT {columns} FROM trials WHERE {where} ORDER BY cell_id, number").fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        store.close()


def query(assay, sql):
    store = sqlite3.connect(assay.store)
    try:
        return store.execute(sql).fetchall()
    finally:
        store.close()


def numbers(assay):
    return query(assay, "SELECT position, status, n, median, ci_low, ci_high, trials_done FROM cells ORDER BY position")


def test_resume_of_a_live_run_is_refused(assay):
    """It must not wait and then write what it had read before."""
    process = assay.start("run", *CELLS, "--trials", "3", env=assay.script(LONG))
    harness.wait_for(lambda: len(trials(assay, "id")) > 3, "some trials", process)
    for arguments in (["resume"], ["resume", "1"], ["delete", "1"]):
        expect_refused(assay.run(*arguments), FAILED, "run 1 is being measured by another process")
    harness.interrupt(assay, process)
    done = assay.run("resume")
    expect(done.code in MEASURED, "the run ends well", done)
    stale = query(assay, "SELECT count(*) FROM cells c WHERE c.n <> (SELECT coalesce(sum(n), 0) FROM trials v WHERE "
                  "v.cell_id = c.id AND v.excluded = 0)")
    expect(stale == [(0,)], "each cell has the numbers of its trials", stale)
    expect_refused(assay.run("resume"), USAGE, "no unfinished run")
    expect_refused(assay.run("resume", "1"), USAGE, "nothing to resume")


def test_doctor_repairs_numbers_from_trials(assay):
    """A cell without its numbers gets them from its trials, and no other cell is touched."""
    done = assay.run("run", *CELLS, "--trials", "3")
    expect(done.code in MEASURED, "measured", done)
    before = numbers(assay)
    store = sqlite3.connect(assay.store)
    store.execute("UPDATE cells SET status = 'skipped', n = 0, median = NULL, ci_low = NULL, ci_high = NULL, mad = NULL, "
                  "min = NULL, max = NULL, trials_done = 0 WHERE position IN (1, 4)")
    store.commit()
    store.close()
    found = assay.run("doctor")
    expect(found.code == FAILED and "do not match its trials" in " ".join(found.out.split()), "doctor finds it", found)
    done = assay.run("doctor", "--repair")
    expect(done.code == harness.OK and "recomputed 2 cells" in " ".join(done.out.split()), "and repairs it", done)
    expect(numbers(assay) == before, "all as it was", numbers(assay))
    done = assay.run("doctor", "--repair")
    expect(done.code == harness.OK and "nothing to repair" in done.out, "a second time finds nothing", done)


def test_delete(assay):
    for _ in range(3):
        expect(assay.run("run", *CELLS, "--trials", "1").code in MEASURED, "measured")
    done = assay.run("delete", "last", "1", "3")
    expect(done.code == harness.OK and done.out == "deleted run 3\ndeleted run 1\n", "two of three runs", done)
    expect(query(assay, "SELECT id FROM runs") == [(2,)], "one is left")
    expect(query(assay, "SELECT DISTINCT run_id FROM cells") == [(2,)], "with its cells")
    expect(query(assay, "SELECT count(*) FROM trials WHERE cell_id NOT IN (SELECT id FROM cells)") == [(0,)],
           "and no trials of others")
    expect_refused(assay.run("delete", "1"), USAGE, "is not in the store")
    expect(assay.run("doctor").code == harness.OK, "the store is sound")


if __name__ == "__main__":
    harness.main(globals())
