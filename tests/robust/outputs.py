"""Output that cannot be written: full disks, /dev/full, read-only places, no terminal, closed streams."""
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import unicodedata

import harness
from harness import MEASURED, OK, Skip, expect, expect_refused

CELLS = ["latency", "--set", "size=1KiB..64KiB"]


def measured(assay):
    done = assay.null(harness.FAST, *CELLS)
    expect(done.code in MEASURED, "a run to look at", done)
    return done


def test_dev_full_as_stdout(assay):
    """Every command that prints notices that its output was lost."""
    measured(assay)
    commands = (["show"], ["show", "latency"], ["export", "--format", "json"], ["export", "--format", "csv"],
                ["list", "probes"], ["list", "runs"], ["devices"], ["doctor"], ["explain", "latency"], ["help"],
                ["version"], ["facts"], ["run", *CELLS, "--device", "null"], ["run", *CELLS, "--device", "null", "--json"])
    for command in commands:
        with open("/dev/full", "wb") as full:
            done = assay.run(*command, stdout=full)
        expect(done.code == harness.FAILED, f"'{' '.join(command)}' does not notice a full stdout", done)
        expect("No space left" in done.err, f"'{' '.join(command)}' does not say why", done)


def test_dry_run_writes_nothing(assay):
    """What would be measured is told without a store, and is what a run then measures."""
    before = sorted(n for n in os.listdir(assay.folder) if not n.startswith("script"))
    command = [*CELLS, "--device", "null", "--json"]
    for done in (assay.run("plan", *command), assay.run("run", *command, "--dry-run")):
        plan, *cells = [json.loads(line) for line in done.out.splitlines()]
        expect(done.code == harness.OK and plan["cells"] == len(cells) > 0, "a plan", done)
    after = sorted(n for n in os.listdir(assay.folder) if not n.startswith("script") and not n.startswith("tmp"))
    expect(after == before, f"nothing is written: {after}, {before} before")
    measured(assay)
    expect([c["axes"] for c in cells] == [c["axes"] for c in assay.cells()], "the cells of a run")


# A wrong value for each option with one, save those that name what is measured or read.
WRONG = {"precision": "x", "budget": "x", "trials": "0", "seed": "x", "report": "-", "page": "-", "junit": "-", "summary": "-", "prometheus": "-",
         "colour": "purple", "tolerance": "x", "min-deviation": "x", "fdr": "900%"}
NAMES = {"device", "set", "store", "folder", "against", "policy", "output"}


def test_options_are_checked_before_measuring(assay):
    """An option of what comes after measuring, too: otherwise hours are lost."""
    first = measured(assay)
    cell = str(assay.cells()[0]["id"])
    fleet = assay.run("fleet", "run", *CELLS, "--device", "null", "--folder", "fleet", env=assay.script(harness.FAST))
    expect(fleet.code in MEASURED, "a fleet to resume", fleet)
    stores = [assay.store, *glob.glob(assay.path("fleet/*.db"))]
    before = [trials_of(s) for s in stores]
    expect(len(before) == 2 and all(before), "trials in both", fleet)
    commands = {"run": [*CELLS, "--device", "null"], "resume": [], "replay": [cell], "check": ["--against", "last"],
                "fleet": ["run", *CELLS, "--device", "null", "--folder", "fleet"]}
    more = {"fleet": [["resume", "fleet"], ["links", "--folder", "fleet"]]}
    for command, words in commands.items():
        options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+) [A-Z]", assay.run("help", command).out, re.M)) - NAMES
        expect(options <= WRONG.keys(), f"say what is a wrong value: {options - WRONG.keys()}")
        for option in sorted(options):
            for line in [words, *more.get(command, [])]:
                done = assay.run(command, *line, f"--{option}={WRONG[option]}", env=assay.script(harness.FAST))
                expect(done.code == harness.USAGE, f"{command} {line} --{option}={WRONG[option]}", done)
    expect([trials_of(s) for s in stores] == before, "nothing is measured", first)


def trials_of(store):
    with contextlib.closing(sqlite3.connect(store)) as db:
        return db.execute("SELECT count(*) FROM trials").fetchone()[0]


def test_completion(assay):
    """In a shell, subcommands, options and probes are completed."""
    if not shutil.which("bash"):
        raise Skip("bash is not here")
    with open(assay.path("completion"), "w", encoding="utf-8") as f:
        f.write(assay.run("help", "--completion", "bash").out)
    for words, wanted in (("assay ru", "run"), ("assay run loaded_l", "loaded_latency"), ("assay export --f", "--format")):
        script = f"source {assay.path('completion')}; COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _assay; " \
                 "echo ${COMPREPLY[*]}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        expect(done.stdout == wanted + "\n", f"'{words}' is completed", done.stdout + done.stderr)


def test_closed_stdout(assay):
    measured(assay)
    for command in (["show"], ["export"], ["list", "probes"]):
        done = assay.run(*command, preexec_fn=lambda: os.close(1))
        expect(done.code == harness.FAILED, f"'{' '.join(command)}' does not notice a closed stdout", done)


def test_closed_pipe(assay):
    """`assay export | head -1` ends without a signal or a hang."""
    measured(assay)
    reader, writer = os.pipe()
    os.close(reader)
    done = assay.run("export", stdout=writer)
    os.close(writer)
    expect(done.code == harness.FAILED, "a reader that went away", done)


def test_all_streams_closed(assay):
    """The store's file must not get the number of a standard stream and be written over."""
    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)
    assay.run("run", *CELLS, "--device", "null", preexec_fn=close_all)
    expect(assay.cells(), "the run is in the store")


def test_no_terminal(assay):
    """Quiet on stderr, no escape sequences, no progress lines that rewrite themselves."""
    done = measured(assay)
    expect("\x1b" not in done.out + done.err and "\r" not in done.out + done.err, "plain text", done)


STEERING = "\x1b[31m\x07\x7f\u009b31m\u202e"


def on_terminal(assay, *command, **more):
    """What a terminal gets to see of a command."""
    import pty
    master, slave = pty.openpty()
    process = assay.start(*[os.ttyname(slave) if word == "TTY" else word for word in command], stdin=slave,
                          stdout=slave, stderr=slave, **more)
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):  # EIO: no process has it open any more
        while part := os.read(master, 65536):
            seen += part
    os.close(master)
    return assay.finish(process), seen.decode("utf-8", "surrogateescape")


def plant(value):
    """The same tree with characters that steer a terminal behind every text of it."""
    if isinstance(value, dict):
        return {k: v if k in ("id", "backend", "uuid", "dialect") else plant(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plant(v) for v in value]
    return value + STEERING if isinstance(value, str) else value


def plant_in_store(path):
    """A stored run of another process's making."""
    store = sqlite3.connect(path)
    for table in ("runs", "cells", "trials"):
        for (name, kind) in store.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall():
            for (row, value) in store.execute(f"SELECT id, {name} FROM {table}").fetchall() if kind == "TEXT" else ():
                if name in ("provenance", "devices", "detail"):
                    value = json.dumps(plant(json.loads(value or "{}")), ensure_ascii=False)
                elif name in ("host", "command", "suite", "tool_version", "unit", "counts", "reason") or \
                        name.endswith("_text"):
                    value += STEERING
                store.execute(f"UPDATE {table} SET {name} = ? WHERE id = ?", (value, row))
    store.commit()
    store.close()


def test_nothing_steers_the_terminal(assay):
    """Whatever texts a store, a device or a file name hold, what a terminal gets is to be read."""
    measured(assay)
    plant_in_store(assay.store)
    odd = assay.path("odd" + STEERING)
    shutil.copy(assay.store, odd)
    device = assay.script(dict(harness.FAST, info=dict(harness.ONE_THREAD, name=STEERING, vendor=STEERING)))
    for command in (["export"], ["export", "--format", "csv"], ["export", "--format", "csv", "-o", "TTY"],
                    ["export", "-o", "TTY"], ["report", "-o", "-"], ["show"], ["show", "latency"], ["show", "--json"],
                    ["show", "latency", "--json"], ["list", "runs"], ["list", "runs", "--json"], ["facts"],
                    ["facts", "--json"], ["explain", "1"], ["compare", "1", odd], ["compare", "1", odd, "--json"],
                    ["advise"], ["doctor"], ["devices"], ["devices", "--json"], ["show", "--store", odd], ["resume"],
                    ["show", "--store", odd + "x"], ["import", odd], ["show", STEERING], ["run", STEERING], [STEERING],
                    ["run", "latency", "--device", STEERING], ["report", "-o", odd], ["replay", "1", "--quiet"]):
        done, seen = on_terminal(assay, *command, env=device)
        wrong = {c for c in seen if (unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\r\n\t")}
        expect(done.code >= 0 and seen.strip(), f"'{command}' says something")
        expect(not wrong, f"{command} lets {wrong} through", ascii(seen[:3000]))
    exact, csv = assay.run("export"), assay.run("export", "--format", "csv")
    expect(json.dumps(STEERING, ensure_ascii=False)[1:-1] in exact.out or json.dumps(STEERING)[1:-1] in exact.out,
           "a program gets the text whole, as JSON", exact)
    expect("\x1b" not in csv.out and "[31m" in csv.out, "a table of values has no control characters anywhere", csv)


def test_terminal_goes_away(assay):
    """A terminal that hangs up ends the run as an interrupt does; it can be resumed."""
    import pty
    master, slave = pty.openpty()
    process = assay.start("run", *CELLS, "--device", "null", env=assay.script(harness.SLOW), stdin=slave,
                          stdout=slave, stderr=slave, start_new_session=True,
                          preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
    os.close(slave)
    os.read(master, 1)
    os.close(master)
    code = process.wait(harness.PATIENCE)
    expect(code >= 0, f"died by signal {-code}")
    assay.run("resume")
    expect(all(c["status"] != "planned" for c in assay.cells()), "resumed to the end")


def test_report_into_full_device(assay):
    measured(assay)
    for command in (["report", "-o", "/dev/full"], ["export", "-o", "/dev/full"]):
        done = assay.run(*command)
        expect_refused(done, harness.FAILED, "/dev/full", "No space left")


def test_report_into_missing_folder(assay):
    measured(assay)
    expect_refused(assay.run("report", "-o", assay.path("no/such/folder/page.html")), harness.FAILED, "No such file")


def test_report_keeps_the_old_page(assay):
    """A page that cannot be written whole does not destroy the one that is there."""
    measured(assay)
    page = assay.path("page.html")
    with open(page, "w", encoding="ascii") as f:
        f.write("old")
    done = assay.run("report", "-o", page, preexec_fn=lambda: limit_files(4096))
    expect_refused(done, harness.FAILED, page, "file size limit", "ulimit -f")
    with open(page, encoding="ascii") as f:
        expect(f.read() == "old", "the old page is still there", done)
    leftovers = [n for n in os.listdir(assay.folder) if n.endswith(".tmp")]
    expect(not leftovers, f"no half page is left: {leftovers}")


def limit_files(size):
    """As 'ulimit -f' does: what writes beyond it gets a signal that ends it unless it is ignored."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_disk_fills_up_while_measuring(assay):
    """The run stops with a reason; what was stored before stays whole and the run can be resumed."""
    first = measured(assay)
    before = len(assay.cells())
    room = os.path.getsize(assay.store) + 40 * 1024
    args = ["run", "latency", "--set", "size=1KiB..64MiB x8", "--device", "null"]
    done = assay.run(*args, preexec_fn=lambda: limit_files(room))
    expect_refused(done, harness.FAILED, assay.store, "file size limit", "ulimit -f")
    check_store(assay.store)
    expect(len(assay.cells(1)) == before, "the earlier run is whole", first)
    runs = assay.run("list", "runs")
    expect(runs.code == OK, "the store can be read", runs)


def test_file_size_limit_on_stdout(assay):
    measured(assay)
    for command in (["export"], ["export", "--format", "csv"], ["show"]):
        with open(assay.path("out"), "wb") as out:
            done = assay.run(*command, stdout=out, preexec_fn=lambda: limit_files(512))
        expect_refused(done, harness.FAILED, "standard output", "file size limit")


def test_store_below_the_file_size_limit(assay):
    """Where not even an empty store fits, and where a run does not: a reason, and no damage."""
    for size in (1024, 8192, 65536):  # its text on stderr must fit
        path = assay.path(f"limited{size}.db")
        done = assay.run("run", *CELLS, "--device", "null", "--store", path, preexec_fn=lambda s=size: limit_files(s))
        if done.code not in MEASURED:
            expect_refused(done, harness.FAILED, path, "file size limit")
        if os.path.exists(path) and os.path.getsize(path):
            check_store(path)


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of its own, unmounted at the end."""
    os.makedirs(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        raise Skip("no permission to mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


def test_full_disk(assay):
    folder = assay.path("disk")
    with small_disk(folder, "256k"):
        store = os.path.join(folder, "store.db")
        args = ["run", "latency", "--set", "size=1KiB..64MiB x16", "--device", "null", "--store", store]
        done = assay.run(*args)
        if done.code in MEASURED:
            raise Skip("the run fits on the smallest disk")
        expect_refused(done, harness.FAILED, store)
        with contextlib.suppress(OSError):
            os.truncate(os.path.join(folder, "filler"), 0)
        check_store(store)


def fill(store, n):
    """So many further cells, with numbers."""
    db = sqlite3.connect(store)
    columns = [row[1] for row in db.execute("PRAGMA table_info(cells)")]
    cell = dict(zip(columns, db.execute("SELECT * FROM cells WHERE probe = 'latency' AND n > 0").fetchone()))
    last = db.execute("SELECT max(id), max(position) FROM cells").fetchone()
    for i in range(1, n + 1):
        axes = json.dumps(dict(json.loads(cell["axes"]), size=4096 + 64 * i))
        row = dict(cell, id=last[0] + i, position=last[1] + i, key=i, axes=axes, trials_done=0)
        db.execute(f"INSERT INTO cells VALUES ({','.join('?' * len(columns))})", [row[c] for c in columns])
    db.execute("UPDATE runs SET cells = (SELECT count(*) FROM cells), cells_ok = NULL")
    db.commit()
    db.close()


def test_memory_of_a_page_of_two_runs(assay):
    """A comparison with a page needs no more memory at once than the page of both runs."""
    measured(assay)
    fill(assay.store, 10000)
    page = harness.peak(assay, "report", "1", "1", "-o", "report.html")
    both = harness.peak(assay, "compare", "1", "1", "--report", "compare.html")
    expect(os.path.getsize(assay.path("compare.html")) > 0 and page > 40, f"pages of many cells: {page} MiB")
    expect(both < 1.3 * page, f"compare takes {both:.0f} MiB, report {page:.0f} MiB")


def check_store(store):
    check = subprocess.run([sys.executable, "-c", CHECK, store], capture_output=True, text=True, check=False)
    expect(check.returncode == 0, "the store is whole", check.stdout + check.stderr)


CHECK = """
import sqlite3, sys
state = sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0]
sys.exit(0 if state == "ok" else state)
"""

if __name__ == "__main__":
    harness.main(globals())
