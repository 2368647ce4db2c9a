"""Output files that are the store, an input or a database: refused, and left as they are."""
import hashlib
import os
import re
import resource

import harness
from harness import MEASURED, OK, USAGE, expect, expect_refused

CELLS = ["latency", "--set", "size=1KiB,4KiB", "--trials", "1", "--device", "null"]
# Every command that writes a file, with its other arguments.
COMMANDS = {
    "run": [*CELLS], "resume": [], "report": ["1"], "export": ["1"], "compare": ["1", "1"],
    "check": ["--against", "1", "1"], "fleet": ["show", "nodes.json"], "memory": ["true"],
}


def writing(command, option, name):
    """The command with its output in this file; what follows a program belongs to the program."""
    output, others = [f"--{option}", name], COMMANDS[command]
    return [command, *output, *others] if command == "memory" else [command, *others, *output]


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def measured(assay):
    done = assay.run("run", *CELLS)
    expect(done.code in MEASURED, "a run to look at", done)


def output_options(assay):
    """(command, option) of every option that takes a FILE, but the store."""
    listed = re.findall(r"^  (\w+) ", assay.run("help").out, re.M)
    found = []
    for command in listed:
        for option in re.findall(r"--([\w-]+) FILE\b", assay.run("help", command).out):
            if option != "store":
                found.append((command, option))
    expect(len(found) >= 7 and {c for c, _ in found} == set(COMMANDS), f"the commands that write files: {found}")
    return found


def test_store(assay):
    """No output option of any command takes the store, by whatever name."""
    measured(assay)
    os.symlink("store.db", assay.path("soft"))
    os.link(assay.store, assay.path("hard"))
    os.mkdir(assay.path("folder"))
    before = digest(assay.store)
    for command, option in output_options(assay):
        for name in ("store.db", assay.store, "./folder/../store.db", "soft", "hard", "store.db-journal", "store.db-wal"):
            done = assay.run(*writing(command, option, name))
            expect_refused(done, USAGE, name)
            expect(digest(assay.store) == before, f"{command} --{option} {name} leaves the store alone", done)


def test_store_not_there_yet(assay):
    """Nor the store that the command would make."""
    for name in ("new.db", "./new.db", assay.path("new.db"), "new.db-journal"):
        expect_refused(assay.run("run", *CELLS, "--store", "new.db", "--report", name), USAGE, name)
    expect(not os.path.exists(assay.path("new.db")), "refused before it is made")


def test_other_database(assay):
    """A database that the command does not read is no place for output either."""
    measured(assay)
    os.rename(assay.store, assay.path("other"))
    measured(assay)
    before = digest(assay.path("other"))
    os.symlink("other", assay.path("soft"))
    os.link(assay.path("other"), assay.path("assay-report.html"))
    for command, option in output_options(assay):
        for name in ("other", "soft"):
            expect_refused(assay.run(*writing(command, option, name)), USAGE, "database")
    expect_refused(assay.run("report"), USAGE, "assay-report.html")  # its name when none is given
    expect(digest(assay.path("other")) == before, "it is left as it is")


def test_inputs(assay):
    """What the command reads stays as it is."""
    measured(assay)
    for name, form in (("run.json", "json"), ("sheet.json", "sheet")):
        expect(assay.run("export", "--format", form, "-o", name).code == OK, "an export")
    os.rename(assay.store, assay.path("away.db"))
    measured(assay)
    with open(assay.path("refs.csv"), "w", encoding="ascii") as f:
        f.write("no matter what")
    with open(assay.path("policy.ini"), "w", encoding="ascii") as f:
        f.write("[null]\nmemory.latency <= 700 ns\n")
    with open(assay.path("suite.ini"), "w", encoding="ascii") as f:
        f.write("[latency]\nsize = 4KiB\n")
    for command in (["report", "run.json", "-o", "run.json"], ["report", "1", "run.json", "-o", "run.json"],
                    ["report", "away.db:1", "-o", "away.db"], ["compare", "1", "run.json", "--report", "./run.json"],
                    ["report", "--refs", "refs.csv", "-o", "refs.csv"],
                    ["run", "./suite.ini", "--device", "null", "--report", "suite.ini"],
                    ["check", "--against", "sheet.json", "--junit", "sheet.json"],
                    ["check", "--against", "1", "--against", "sheet.json", "--summary", "sheet.json"],
                    ["check", "--against", "1", "run.json", "--summary", "run.json"],
                    ["check", "--policy", "policy.ini", "--junit", "./policy.ini"],
                    ["check", "--against", "1", "--junit", "same.xml", "--summary", "./same.xml"],
                    ["check", "--policy", "policy.ini", "--prometheus", "./policy.ini"],
                    ["fleet", "merge", "sheet.json", "-o", "sheet.json"], ["fleet", "show", "away.db", "--page", "./away.db"],
                    ["fleet", "show", "sheet.json", "--page", "same", "--prometheus", "./same"]):
        before = {n: digest(assay.path(n)) for n in os.listdir(assay.folder)}
        expect_refused(assay.run(*command), USAGE)
        expect(before == {n: digest(assay.path(n)) for n in os.listdir(assay.folder)}, f"{command} changes no file")


def test_stdout(assay):
    """Appended to, the store would be damaged as well."""
    measured(assay)
    before = digest(assay.store)
    with open(assay.store, "ab") as f:
        expect_refused(assay.run("export", stdout=f), USAGE, "stdout is the store")
    expect(digest(assay.store) == before, "the store is as it was")


def test_half_written(assay):
    """Files for CI are replaced whole or not at all."""
    measured(assay)
    for option in ("--junit", "--summary", "--prometheus"):
        with open(assay.path("ci"), "w", encoding="ascii") as f:
            f.write("old\n" * 2000)
        before = digest(assay.path("ci"))
        done = assay.run("check", "--against", "1", "1", option, "ci", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (128, resource.getrlimit(resource.RLIMIT_FSIZE)[1])))
        expect_refused(done, harness.FAILED, "cannot write")
        expect(digest(assay.path("ci")) == before, f"{option} leaves the old file whole", done)
    expect(not [n for n in os.listdir(assay.folder) if n.endswith(".tmp")], "and no half one beside it")


def test_special_files(assay):
    """Devices and pipes are written as they are."""
    measured(assay)
    for command, option in output_options(assay):
        if command in ("report", "export", "compare", "check", "memory"):
            done = assay.run(*writing(command, option, "/dev/null"))
            expect(done.code == OK, f"{command} --{option} /dev/null", done)


def test_longest_names(assay):
    """A name may be as long as the file system allows."""
    measured(assay)
    for n in (234, 240, 255):
        name = "r" * (n - 5) + ".json"
        expect(assay.run("export", "-o", name).code == OK and os.path.exists(assay.path(name)), f"{n} bytes")
        expect(assay.run("export", "-o", name).code == OK, f"{n} bytes, a second time")


harness.main(globals())
