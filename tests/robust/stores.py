"""Stores that are read-only, damaged, foreign, newer, or no files at all."""
import contextlib
import json
import os
import random
import shlex
import shutil
import sqlite3
import stat
import subprocess

import harness
from harness import FAILED, MEASURED, OK, Skip, expect, expect_refused

CELLS = ["latency", "--set", "size=1KiB..16KiB", "--device", "null"]
READERS = (["show"], ["show", "last"], ["show", "latency"], ["export"], ["list", "runs"], ["facts"], ["compare", "1", "1"],
           ["explain", "1"])


def measured(assay):
    done = assay.run("run", *CELLS)
    expect(done.code in MEASURED, "a run to look at", done)


def each_command(assay, check, readers=READERS):
    for command in (*readers, ["report", "-o", assay.path("page.html")], ["run", *CELLS], ["resume"]):
        check(" ".join(command[:2]), assay.run(*command))


def refuses(*words):
    def check(command, done):
        expect(done.code == FAILED, f"'{command}' should end with 1", done)
        for word in words:
            expect(word in done.err, f"'{command}' should say '{word}'", done)
    return check


def test_advice_names_the_store(assay):
    """What a run says to type next works where it is typed, also when the store's name needs quotes."""
    store = assay.path("a 'b' store.db")
    done = assay.run("run", *CELLS, "--store", store)
    expect(done.code in MEASURED, "a run", done)
    said = [line.split(":  ", 1)[1].strip() for line in done.out.splitlines() if ":  " in line and " assay " in line]
    expect(len(said) >= 2 and said[0].startswith("assay show 1 latency "), "a command with the run's only probe", done)
    for words in (s.removeprefix("assay ") for s in said[:2]):
        typed = shlex.split(words)
        expect(typed[-2:] == ["--store", store], "the store as it is", words)
        again = assay.run(*typed)
        expect(again.code in (OK, *MEASURED), f"'{words}' works", again)


def fed(assay, content, *command, name="/dev/stdin"):
    """A command whose standard input is a pipe with this content."""
    reader, writer = os.pipe()
    process = assay.start(*command, name, *(["last"] if command[0] == "compare" else []), stdin=reader)
    os.close(reader)
    with contextlib.suppress(BrokenPipeError), open(writer, "wb") as f:
        f.write(content)
    return assay.finish(process)


def test_exports_through_pipes(assay):
    """What comes through a pipe can be read only once."""
    measured(assay)
    export = assay.run("export").out.encode()
    expect(len(export) > 8192, "more than what is read at a time")
    for name in ("/dev/stdin", "/dev/fd/0"):
        done = fed(assay, export, "compare", name=name)
        expect(done.code == OK and "cannot be" not in done.err, f"compare {name}", done)
    for i, name in enumerate(("-", "/dev/stdin")):
        done = fed(assay, export, "import", "--store", assay.path(f"other{i}.db"), name=name)
        expect(done.code == OK and "imported as run" in done.out, f"import {name}", done)
    fifo = assay.path("fifo")
    os.mkfifo(fifo)
    process = assay.start("compare", fifo, "last")
    with open(fifo, "wb") as f:
        f.write(export)
    done = assay.finish(process)
    expect(done.code == OK, "a FIFO", done)
    with open(assay.path("run.json"), "wb") as f:
        f.write(export)
    with open(assay.path("run.json"), "rb") as f:
        expect(assay.run("compare", "/dev/stdin", "last", stdin=f).code == OK, "a file as standard input")


def test_store_through_a_pipe(assay):
    """SQLite reads here and there in a file, so only a file can be a store."""
    measured(assay)
    with open(assay.store, "rb") as f:
        store = f.read()
    for command in ("compare", "import"):
        expect_refused(fed(assay, store, command), harness.USAGE, "store", "assay export")
    expect_refused(assay.run("import", assay.store), harness.USAGE, "store", "assay export")
    done = assay.run("compare", assay.store, "last")
    expect(done.code == OK, "by its name it can be compared", done)


TOO_MANY = 3000  # more than any run may have (AS_RUN_DEVICES_MAX, AS_RUN_PROBES_MAX)


def multiply(path, devices, of_cells, probes):
    """Makes the run in the store one of so many devices in its description and in its cells, or so many probes."""
    store = sqlite3.connect(path)
    store.row_factory = sqlite3.Row
    cell = dict(store.execute("SELECT * FROM cells ORDER BY position").fetchone())
    (described, *_) = json.loads(store.execute("SELECT devices FROM runs").fetchone()[0])
    store.execute("DELETE FROM cells")
    rows = [dict(cell, id=i + 1, position=i, n=0, trials=0, trials_done=0, device=f"null:{i % of_cells}",
                 probe=cell["probe"] if probes == 1 else f"p{i}") for i in range(max(of_cells, probes))]
    store.executemany(f"INSERT INTO cells({','.join(cell)}) VALUES({','.join(':' + name for name in cell)})", rows)
    store.execute("UPDATE runs SET cells = ?, devices = ?",
                  (len(rows), json.dumps([dict(described, id=f"null:{i}") for i in range(devices)])))
    store.commit()
    store.close()


def test_absurdly_many_devices_and_probes(assay):
    """What compares each with all others says at once that no run can be of so many."""
    measured(assay)
    for name, sizes in (("devices", (TOO_MANY, 1, 1)), ("of_cells", (1, TOO_MANY, 1)), ("probes", (1, 1, TOO_MANY))):
        store = assay.path(name + ".db")
        shutil.copy(assay.store, store)
        multiply(store, *sizes)
        for command in (["show"], ["facts"], ["advise"], ["report", "-o", assay.path("page.html")],
                        ["compare", store, store]):
            done = assay.run(*command, "--store", store)
            if command == ["show"] and done.code == OK:  # a comparison without pairs
                continue
            expect_refused(done, FAILED, store, f"{TOO_MANY} " + ("probes" if name == "probes" else "devices"))
    export = assay.export()
    export["run"]["devices"] *= TOO_MANY
    with open(assay.path("run.json"), "w", encoding="ascii") as f:
        json.dump(export, f)
    done = assay.run("import", assay.path("run.json"), "--store", assay.path("new.db"))
    expect_refused(done, FAILED, f"{TOO_MANY} devices")
    expect(not assay.run("list", "runs", "--store", assay.path("new.db")).out.strip(), "it is refused whole", done)
    multiply(assay.store, 100, 100, 1)
    expect(assay.run("show").code == OK, "what can be is shown")


def test_no_store_yet(assay):
    """Reading what is not there yet says how to make it, and makes nothing."""
    for command in (["show"], ["export"], ["report", "-o", "x.html"]):
        done = assay.run(*command)
        expect(done.code not in (OK, *MEASURED) and "assay run" in done.err, f"'{command[0]}' says what to do", done)
    expect(not os.path.exists(assay.store), "no store is made by reading")


def test_read_only_file(assay):
    measured(assay)
    os.chmod(assay.store, stat.S_IRUSR)
    as_someone_else(assay)
    for command in READERS:
        done = assay.run(*command)
        expect(done.code == OK, f"'{' '.join(command)}' reads a read-only store", done)
    done = assay.run("run", *CELLS)
    expect_refused(done, FAILED, assay.store)


def test_read_only_folder(assay):
    """No journal can be made there; reading works all the same."""
    measured(assay)
    os.chmod(assay.store, stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    os.chmod(assay.folder, 0o555)
    as_someone_else(assay)
    try:
        done = assay.run("export", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        expect(done.code == OK, "a store in a read-only folder is read", done)
    finally:
        os.chmod(assay.folder, 0o700)


def as_someone_else(assay):
    """Root may write everywhere, so the program is run as another process who may not."""
    if os.geteuid() != 0:
        return
    setpriv = shutil.which("setpriv")
    if not setpriv:
        raise Skip("root may write everywhere and there is no setpriv")
    os.chown(assay.folder, 65534, 65534)
    os.chown(assay.store, 65534, 65534)
    plain = assay.start

    def start(*args, **more):
        program, assay.program = assay.program, setpriv
        try:
            return plain("--reuid=65534", "--regid=65534", "--clear-groups", program, *args, **more)
        finally:
            assay.program = program
    assay.start = start
    done = assay.run("version")
    if done.code != OK:
        raise Skip("the program's folder is closed to other users")


def test_foreign_files(assay):
    """What is no store is refused and left as it was."""
    for content in (b"", b"not a database at all\n", b"SQLite format 3\0", random.Random(3).randbytes(8192)):
        with open(assay.store, "wb") as f:
            f.write(content)
        if content:
            each_command(assay, refuses(assay.store))
            with open(assay.store, "rb") as f:
                expect(f.read() == content, "the file is as it was")


def test_foreign_database(assay):
    with sqlite3.connect(assay.store) as db:
        db.execute("CREATE TABLE addresses(name TEXT)")
        db.execute("INSERT INTO addresses VALUES('someone')")
    db.close()
    each_command(assay, refuses(assay.store))
    db = sqlite3.connect(assay.store)
    expect(db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,), "nothing was added to it")


def test_newer_store(assay):
    measured(assay)
    db = sqlite3.connect(assay.store)
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {version + 1000}")
    db.close()
    each_command(assay, refuses(assay.store, "which this assay does not read"))


def test_a_run_that_cannot_be_read(assay):
    """The machine's data sheet names it, rather than to be of fewer runs without a word."""
    measured(assay)
    measured(assay)
    db = sqlite3.connect(assay.store)
    db.execute("UPDATE runs SET devices = '[' WHERE id = 1")
    db.commit()
    db.close()
    done = assay.run("show")
    expect(done.code == OK and "1 earlier run cannot be read, and is left out: " in " ".join(done.out.split()), "the sheet says so", done)


def test_damaged_store(assay):
    """Bytes overwritten at random: refused or read, never a crash, a hang, or a number made up."""
    measured(assay)
    with open(assay.store, "rb") as f:
        whole = f.read()
    rng = random.Random(7)
    for _ in range(2 if harness.BRIEF else 12):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 8, 200))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        with open(assay.store, "wb") as f:
            f.write(damaged)
        for command in (*READERS, ["report", "-o", assay.path("page.html")]):
            done = assay.run(*command)
            expect(done.code in (OK, FAILED, harness.USAGE), f"'{command[0]}' on a damaged store", done)


def test_truncated_store(assay):
    measured(assay)
    size = os.path.getsize(assay.store)
    for part in (size // 2, 4096, 100):
        os.truncate(assay.store, part)
        each_command(assay, refuses(assay.store), readers=(["show"], ["export"]))


def test_doctor_checks_the_store(assay):
    """Says whether the store is sound and how large; damage that reading does not meet ends it with 1."""
    done = assay.run("doctor")
    expect(done.code == OK and "there is no store" in done.out, "no store yet is a note", done)
    expect(not os.path.exists(assay.store), "looking makes no store")
    measured(assay)
    done = assay.run("doctor")
    expect(done.code == OK and "is sound: 1 run, " in done.out, "a sound store", done)
    with open(assay.store, "rb") as f:
        whole = f.read()
    for damage in ("PRAGMA ignore_check_constraints = ON; UPDATE trials SET samples = x'00'",
                   "PRAGMA foreign_keys = OFF; DELETE FROM cells WHERE id = (SELECT min(id) FROM cells)",
                   "UPDATE trials SET detail = CAST(x'7b22ff7d' AS TEXT) WHERE id = (SELECT max(id) FROM trials)",
                   "UPDATE cells SET axes = '[1]' WHERE id = 1", "UPDATE runs SET provenance = '{'"):
        with open(assay.store, "wb") as f:
            f.write(whole)
        db = sqlite3.connect(assay.store)
        db.executescript(damage)
        db.close()
        done = assay.run("doctor", "--json")
        expect(done.code == FAILED, f"damage is found: {damage}", done)
        found = [json.loads(line) for line in done.out.splitlines()]
        store = [f for f in found if f["what"] == "store"]
        expect(len(found) > 5 and len(store) == 1, "all findings and the store", done)
        expect(store[0]["severity"] == "error" and "is damaged" in store[0]["text"], "an error", done)
    os.truncate(assay.store, len(whole) // 2)
    expect(assay.run("doctor").code == FAILED, "half a store")


def test_hostile_values_in_a_store(assay):
    """A store that is well formed but whose values lie."""
    measured(assay)
    with open(assay.store, "rb") as f:
        whole = f.read()
    db = sqlite3.connect(assay.store)
    tables = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    columns = [(t, c[1]) for t in tables for c in db.execute(f"PRAGMA table_info('{t}')") if not c[5]]
    db.close()
    lies = ("x" * 100000, -1, 1e308, "\x1b[31m<script>", b"\xff\xfe", None)
    for number, (table, column) in enumerate(columns):
        for value in harness.some(lies, 6, number):
            with open(assay.store, "wb") as f:
                f.write(whole)
            db = sqlite3.connect(assay.store)
            try:
                db.execute(f'UPDATE "{table}" SET "{column}" = ?', (value,))
                db.commit()
            except sqlite3.Error:
                continue  # the schema itself refuses it
            finally:
                db.close()
            for command in (["show"], ["export"]):
                done = assay.run(*command)
                expect(done.code in (OK, FAILED, harness.USAGE), f"{table}.{column} = {value!r:.40}, {command}", done)
                expect("\x1b" not in done.out + done.err, f"escapes from {table}.{column} reach the terminal", done)


def test_no_file_at_all(assay):
    os.mkdir(assay.store)
    each_command(assay, refuses(assay.store))
    os.rmdir(assay.store)
    expect_refused(assay.run("run", *CELLS, "--store", "/proc/no/store.db"), FAILED, "/proc/no")
    expect_refused(assay.run("run", *CELLS, "--store", ""), harness.USAGE)
    expect_refused(assay.run("run", *CELLS, "--store", "/dev/null"), FAILED, "/dev/null")


def test_one_writer_at_a_time(assay):
    """A store that another program holds for writing: said so, after a wait that ends."""
    measured(assay)
    db = sqlite3.connect(assay.store, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    done = assay.run("run", *CELLS)
    expect_refused(done, FAILED, assay.store)
    db.execute("ROLLBACK")
    db.close()
    expect(assay.run("run", *CELLS).code in MEASURED, "free again")


if __name__ == "__main__":
    harness.main(globals())
