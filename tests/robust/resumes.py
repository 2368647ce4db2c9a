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
    expect(done.code == harness.OK and "recomputed 2 measurements" in " ".join(done.out.split()), "and repairs it", done)
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


def unfinished(assay, run=1):
    process = assay.start("run", *CELLS, "--trials", "3", env=assay.script(LONG))
    own = f"cell_id IN (SELECT id FROM cells WHERE run_id = {run})"
    harness.wait_for(lambda: len(trials(assay, "id", own)) > 3, "some trials", process)
    harness.interrupt(assay, process)


def change(assay, sql, *values):
    store = sqlite3.connect(assay.store)
    store.execute(sql, values)
    store.commit()
    store.close()


def test_run_of_another_host(assay):
    """It is refused by its number, and passed over without one."""
    unfinished(assay)
    before = trials(assay, "cell_id, number, samples")
    change(assay, "UPDATE runs SET host = 'elsewhere', provenance = json_remove(provenance, '$.host.boot_id')")
    expect_refused(assay.run("resume", "1"), USAGE, "run 1 cannot be resumed here", "'elsewhere'", "start a new run")
    expect_refused(assay.run("resume"), USAGE, "no unfinished run of this machine", "run 1 was passed over", "'elsewhere'")
    expect(trials(assay, "cell_id, number, samples") == before, "nothing was measured")
    unfinished(assay, 2)
    change(assay, "UPDATE runs SET host = (SELECT host FROM runs WHERE id = 2) WHERE id = 1")
    change(assay, "UPDATE runs SET host = 'elsewhere', provenance = json_remove(provenance, '$.host.boot_id') WHERE id = 2")
    done = assay.run("resume")
    expect(done.code in MEASURED and "run 2 was passed over" in done.err, "the run of this host goes on", done)
    expect(query(assay, "SELECT state FROM runs ORDER BY id") == [("complete",), ("interrupted",)], "and ends", done)


def test_run_of_another_cpu(assay):
    """Virtual machines often have one name."""
    unfinished(assay)
    change(assay, "UPDATE runs SET provenance = json_remove(json_set(provenance, '$.cpu.model', 'Other CPU'), "
           "'$.host.boot_id')")
    if query(assay, "SELECT json_extract(provenance, '$.cpu.model') FROM runs") != [("Other CPU",)]:
        raise harness.Skip("no CPU model")
    expect_refused(assay.run("resume", "1"), USAGE, "'Other CPU'")


def test_container_of_another_name(assay):
    """The same start of the kernel is the same host, whatever it is called."""
    unfinished(assay)
    if not query(assay, "SELECT json_extract(provenance, '$.host.boot_id') FROM runs")[0][0]:
        raise harness.Skip("the kernel has no boot id")
    change(assay, "UPDATE runs SET host = 'f3a9c1'")
    expect(assay.run("resume").code in MEASURED, "it goes on")


def test_run_of_another_build(assay):
    """It goes on, and the run says so."""
    unfinished(assay)
    change(assay, "UPDATE runs SET tool_commit = '0123456'")
    done = assay.run("resume")
    expect(done.code in MEASURED and "resumed with another build: commit 0123456 started it" in " ".join(done.err.split()), "a note", done)
    stored = query(assay, "SELECT provenance FROM runs")[0][0]
    expect("resumed with another build" in stored, "which is stored", stored)


def test_only_its_device_is_skipped(assay):
    """Where one of two devices is another one now, the other's cells go on."""
    unfinished(assay)
    change(assay, "UPDATE runs SET devices = json_insert(devices, '$[#]', json_set(json_extract(devices, '$[0]'), '$.id', "
           "'cpu', '$.name', 'Other CPU'))")
    change(assay, "UPDATE cells SET device = 'cpu', backend = 'cpu', status = 'planned', n = 0, trials_done = 0 WHERE "
           "position = 1")
    change(assay, "DELETE FROM trials WHERE cell_id IN (SELECT id FROM cells WHERE device = 'cpu')")
    done = assay.run("resume")
    expect("'Other CPU'" in done.err and "its measurements are skipped" in done.err, "a note says so", done)
    skipped = query(assay, "SELECT device, status, reason FROM cells WHERE device = 'cpu'")
    expect(skipped[0][1] == "skipped" and "another one has its name" in skipped[0][2], "its cell says so", skipped)
    expect(query(assay, "SELECT count(*) FROM cells WHERE device = 'null' AND status = 'planned'") == [(0,)], "others are over")
    expect(query(assay, "SELECT state FROM runs") == [("interrupted",)], "the run can be resumed where the device is")


def test_replay_on_another_machine(assay):
    """It compares, and says that these are two machines."""
    measured = assay.run("run", *CELLS, "--trials", "2")
    expect(measured.code in MEASURED, "measured", measured)
    cell = str(query(assay, "SELECT id FROM cells WHERE n > 0")[0][0])
    done = assay.run("replay", cell)
    expect(done.code in MEASURED and "two machines" not in done.err, "the same machine", done)
    other = assay.script(dict(harness.FAST, info=dict(harness.ONE_THREAD, name="Beta")))
    done = assay.run("replay", cell, env=other)
    expect(done.code in MEASURED and "'Beta' now" in done.err and "two machines" in done.err, "another device", done)
    change(assay, "UPDATE runs SET host = 'elsewhere', provenance = json_remove(provenance, '$.host.boot_id')")
    done = assay.run("replay", cell)
    expect(done.code in MEASURED and "'elsewhere'" in done.err, "another host", done)


if __name__ == "__main__":
    harness.main(globals())
