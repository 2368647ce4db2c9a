"""Each cell is held to the precision that was asked of it: by its section of the suite, or on the command line by all."""
import contextlib
import csv
import io
import signal
import sqlite3
import time

import harness
from harness import MEASURED, OK, expect

# So much noise that no number of samples gives an interval of 0.01%, and any few one of 50%; memory so slow that a sample
# has few accesses, which then take no real time.
NOISY = {"execute": True, "noise": {"sd": 0.05}, "levels": [{"size": 0, "ns": 1000, "gbs": 1}],
         "info": harness.ONE_THREAD}
SUITE = """[suite]
budget = 2s
precision = 0.01%
trials = 4
devices = null
[latency]
size = 4KiB
[latency.wide]
size = 256KiB
precision = 50%
"""
NARROW, WIDE = 4096, 262144


def suite(assay, text=SUITE):
    path = assay.path("noisy.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def by_size(cells):
    return {c["axes"]["size"]: c for c in cells}


def asked(cells):
    return {size: c["precision"] for size, c in by_size(cells).items()}


def test_a_section_of_its_own(assay):
    done = assay.null(NOISY, suite(assay, SUITE.replace("budget = 2s\n", "")), "--isolate")
    expect(done.code == OK, "both have a number", done)
    export = assay.export()
    cells = by_size(export["cells"])
    expect(asked(export["cells"]) == {NARROW: 0.0001, WIDE: 0.5}, "what was asked of each", asked(export["cells"]))
    expect(export["run"]["precision"] == 0.0001, "and in general", export["run"]["precision"])
    expect(all(c["precision"] == 0.0001 for c in export["sentinels"]), "of the sentinels too", export["sentinels"])
    narrow, wide = cells[NARROW], cells[WIDE]
    expect(narrow["status"] == "wide" and "0.01% requested" in narrow["reason"], "what 0.01% was asked of", narrow)
    expect(wide["status"] == "ok", "what 50% was asked of", wide)
    most = {size: max(v["n"] + v["warmup"] for v in c["trials"]) for size, c in cells.items()}
    expect(most[WIDE] < 60 < most[NARROW], "samples are taken until it is reached, no longer", most)
    expect(wide["detail"]["isolated"].startswith("same"), "alone it differs by less than that", wide["detail"])


def test_a_launch_that_stalls(assay):
    """While the repetitions are found: it does not show that they suffice."""
    stalled = {"seed": 1, "execute": False, "machine": {"clocks": [3e9]}, "launch_ns": 500, "info": harness.ONE_THREAD,
               "levels": [{"size": 0, "ns": 1, "gbs": 10}],
               "faults": [{"do": "slow", "factor": 1e6, "launch": 3, "probe": "latency"}]}
    assay.null(stalled, "latency", "--set", "size=4KiB", "--budget", "5s")
    trials = [t for c in assay.cells() for t in c["trials"]]
    expect(trials and all(t["sample_s"] > 1e-3 for t in trials), "samples are long enough for the timer", trials)


def test_done_is_done(assay):
    """Cells that are as narrow as asked get no further trials, however much time is left."""
    text = SUITE.replace("[latency]\nsize = 4KiB\n", "").replace("256KiB", "64KiB..2MiB x2").replace("2s", "60s")
    done = assay.null(NOISY, suite(assay, text))
    cells = assay.export()["cells"]
    expect(done.code == OK and all(c["status"] == "ok" for c in cells), "as narrow as asked", cells)
    expect({len(c["trials"]) for c in cells} == {4}, "the trials that were asked for", [len(c["trials"]) for c in cells])


def test_where_it_is_shown(assay):
    assay.null(NOISY, suite(assay))
    wide = by_size(assay.cells())[WIDE]
    told = assay.run("explain", str(wide["id"]))
    expect("50% requested" in told.out, "'explain' shows it", told)
    done = assay.run("export", "--format", "csv")
    rows = {int(row["size"]): row["precision"] for row in csv.DictReader(io.StringIO(done.out))}
    expect(rows == {NARROW: "0.0001", WIDE: "0.5"}, "the table has it", rows)
    shown = assay.run("show", "--json")
    expect('"precision":0.5' in shown.out and '"precision":0.0001' in shown.out, "and the events", shown)


def test_the_command_line_overrides(assay):
    done = assay.null(NOISY, suite(assay), "--precision", "50%")
    expect(done.code == OK, "all are ok", done)
    expect(asked(assay.cells()) == {NARROW: 0.5, WIDE: 0.5}, "asked of all", asked(assay.cells()))
    done = assay.null(NOISY, suite(assay), "--precision", "0.01%")
    expect(done.code == OK, "none is", done)
    expect(asked(assay.cells()) == {NARROW: 0.0001, WIDE: 0.0001}, "asked of all", asked(assay.cells()))
    expect(all(c["status"] == "wide" for c in assay.cells()), "wide", assay.cells())


def test_replay_asks_the_same(assay):
    assay.null(NOISY, suite(assay))
    for size, wanted in ((WIDE, 0.5), (NARROW, 0.0001)):
        cell = by_size(assay.cells(1))[size]
        done = assay.run("replay", str(cell["id"]), env=assay.script(NOISY))
        export = assay.export()
        expect(asked(export["cells"]) == {size: wanted}, "as it was asked for", done)
        expect(export["run"]["precision"] == wanted, "of the whole run, which is this cell", export["run"])
        expect((export["cells"][0]["status"] == "ok") == (size == WIDE), "and judged by it", export["cells"][0]["gates"])


def both_tried(assay):
    """Does the store hold two trials of each cell?"""
    with contextlib.closing(sqlite3.connect(assay.store)) as db, contextlib.suppress(sqlite3.Error):
        return db.execute("SELECT count(*) FROM cells WHERE probe = 'latency' AND trials_done >= 2").fetchone() == (2,)
    return False


def test_resume_asks_the_same(assay):
    """Killed between its trials, the run resumes what the store knows of each cell."""
    process = assay.start("run", suite(assay, SUITE.replace("trials = 4", "trials = 20").replace("2s", "20s")), "--device", "null",
                          env=assay.script(dict(NOISY, sleep=True)))
    while process.poll() is None and not both_tried(assay):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    killed = assay.finish(process)
    expect(killed.code == -signal.SIGKILL, "killed on the way", killed)
    done = assay.run("resume", env=assay.script(NOISY))
    expect(done.code == OK, "resumed", done)
    cells = by_size(assay.cells())
    expect(asked(assay.cells()) == {NARROW: 0.0001, WIDE: 0.5}, "what was asked of each stays", asked(assay.cells()))
    expect(cells[WIDE]["status"] == "ok" and cells[NARROW]["status"] == "wide", "and holds", cells)


def test_suites_that_meet(assay):
    """Of a cell that two suites ask for, the narrower precision holds."""
    first, second = assay.path("first.ini"), assay.path("second.ini")
    for path, precision in ((first, "50%"), (second, "20%")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"[latency]\nsize = 4KiB\nprecision = {precision}\n[suite]\ntrials = 3\n")
    done = assay.null(NOISY, first, second)
    expect(done.code in MEASURED, "measured", done)
    expect(asked(assay.cells()) == {NARROW: 0.2}, "once, and narrow", asked(assay.cells()))


if __name__ == "__main__":
    harness.main(globals())
