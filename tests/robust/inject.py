"""Every allocation and every system call that can fail fails once, one after the other, as in the torture tests of
curl and the anomaly tests of SQLite: the exit code is right, there are words on stderr, the store is sound, resume
completes.

The library that is preloaded (inject/fail.c) tells which calls a command makes; each is then failed in a command of its
own. ASSAY_INJECT says how many of them:
  sample  (default) a seeded choice of the distinct call stacks; ASSAY_INJECT_SEED is the seed, ASSAY_INJECT_POINTS how
          many of each command
  all     each distinct call stack; of 'doctor', in which libraries look at the machine by 10,000 of them, a choice
  every   every call: hours
With a program that was built with gcc's -fsanitize=leak, what is left over after a failure is an error as well."""
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess

import harness
from harness import FAILED, FAST, MEASURED, OK, PARTLY, Skip, expect, identity

SHIM = os.environ.get("ASSAY_FAIL_SHIM", "")
MODE = os.environ.get("ASSAY_INJECT", "sample")
SEED = int(os.environ.get("ASSAY_INJECT_SEED", "1"))
POINTS = int(os.environ.get("ASSAY_INJECT_POINTS", "6" if harness.BRIEF else "24"))
LOOKS = 1000  # calls that fail in 'doctor', which takes 0.3 s, where all do
ONLY = os.environ.get("ASSAY_INJECT_ONLY", "")  # "parent memory 17": this one point
SCRIPT = dict(FAST, seed=1)
CELLS = ["latency", "--set", "size=1KiB,2KiB", "--trials", "2", "--device", "null", "--seed", "1"]
LEAK = 23  # exit code that the sanitizer gives
HARMLESS = ("interrupt", "short")  # failures that a program must survive without a message

PART = [int(n) for n in os.environ.get("ASSAY_INJECT_PART", "1/1").split("/")]  # "2/8": the second of eight parts

Point = collections.namedtuple("Point", "role set number name on")


class Command:
    """A command line, the store that it starts from, and what it may leave behind. moment: it tells of the machine at
    this moment, so that only its store is compared."""

    def __init__(self, args, start=None, writes=False, file=None, moment=False):
        self.args, self.start, self.writes, self.file, self.moment = args, start, writes, file, moment
        self.clean = self.output = None


def spelled(point):
    return f"{point.role} {point.set} {point.number}{' on' if point.on else ''}"


def folder_for(assay, name, start):
    """A folder of its own with a copy of the store."""
    path = assay.path(name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    if start:
        shutil.copy(start, os.path.join(path, "store.db"))
    one = harness.Assay(assay.program, path)
    one.env.update(assay.script(SCRIPT), LSAN_OPTIONS=f"exitcode={LEAK}", XDG_CACHE_HOME=path)
    return one


def shimmed(one, command, **more):
    env = dict(LD_PRELOAD=SHIM, ASSAY_FAIL_LOG=one.path("calls"), **more)
    return one.run(*[a.replace("@", one.folder) for a in command.args], env=env, timeout=harness.PATIENCE)


def read_file(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def calls_of(one, command):
    """What the command calls, in order: (role, set, number, name, stack)."""
    done = shimmed(one, command)
    with open(one.path("calls"), encoding="ascii") as f:
        lines = [line.split() for line in f]
    os.unlink(one.path("calls"))
    return done, [(r, s, int(n), name, stack) for r, s, n, name, stack in lines]


def choose(calls, command, name):
    """The calls to fail. A process of a role that is started again counts from 1 again: the first one is meant."""
    points, stacks = [], set()
    for role, kind, number, call, stack in calls:
        if MODE == "every":
            key = (role, kind, number)
        else:
            key = (role, kind, call, stack)
        device_null = role == "child" and kind == "interrupt"  # all that it opens, and nothing interrupts that
        if key not in stacks and not device_null:
            stacks.add(key)
            points.append(Point(role, kind, number, call, False))
    rng = random.Random(f"{SEED} {name}")
    if MODE == "sample":
        points = sample(points, rng, POINTS / 4 if command.moment else POINTS)
    elif MODE == "all" and command.moment:
        points = sample(points, rng, LOOKS)
    lasting = [p._replace(on=True) for p in points if p.set not in HARMLESS and rng.random() < 0.25]
    first, parts = PART
    return (points + lasting)[first - 1::parts]


SHARE = {"memory": 0.5, "system": 0.3, "interrupt": 0.1, "short": 0.1}


def sample(points, rng, most):
    """Some of each set, and each call that a signal may interrupt: of open each place, since each retries by itself."""
    chosen, first = [], {}
    for kind, share in SHARE.items():
        of_set = [p for p in points if p.set == kind]
        chosen += rng.sample(of_set, min(len(of_set), max(1, round(most * share))))
    for p in points:
        if p.set == "interrupt" and most == POINTS:
            first.setdefault((p.role, p.name, p.number if p.name in ("open", "open64") else None), p)
    more = [p for p in first.values() if p not in chosen]
    return chosen + (rng.sample(more, min(len(more), most)) if harness.BRIEF else more)


def check_sound(one):
    if not os.path.exists(one.store) or os.path.getsize(one.store) == 0:
        return None
    db = sqlite3.connect(one.store)
    try:
        expect(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the store passes its integrity check")
        expect(not db.execute("PRAGMA foreign_key_check").fetchall(), "every trial belongs to a cell")
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return None
        return [s for (s,) in db.execute("SELECT state FROM runs ORDER BY id")]
    finally:
        db.close()


def members(value, path=""):
    """Which members a record has that are known, whatever their values: "run.provenance.cpu.model"."""
    if isinstance(value, dict):
        return {m for k, v in value.items() if v is not None for m in members(v, f"{path}.{k}")}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {m for v in value for m in members(v, path)}
    return {path}


def known(export):
    """Of a run; whether there are two modes and pauses is luck, and what others used is not known of a resumed one."""
    of_run = members({k: export["run"][k] for k in ("provenance", "devices", "command")})
    of_cells = members(export["cells"], "cell")
    return {m for m in of_run | of_cells if not any(luck in m for luck in ("mode_", "pauses", "numbers", "others_cpus"))}


def check_runs(one, plan, whole, point):
    """Every run can be completed, and then has each planned cell once."""
    states = check_sound(one)
    for number, state in enumerate(states or [], 1):
        if state != "complete":
            done = one.run("resume", str(number))
            expect(done.code in MEASURED or done.code == FAILED, f"run {number} is resumed", done)
        export = one.export(number)
        cells = export["cells"]
        lost = whole - known(export) if point.set == "memory" and point.role == "parent" else None
        expect(not lost, f"run {number}: what is known is in the store", lost)
        ids = [identity(c) for c in cells]
        expect(len(set(ids)) == len(ids) and set(ids) == plan, f"run {number}: cells lost, new or twice", ids)
        for cell in cells:
            struck = cell["status"] in ("failed", "crashed", "timeout") and cell["reason"]
            struck = struck or cell["status"] == "unsupported" and "out of memory" in cell["reason"]
            expect(cell["status"] in ("ok", "wide", "rejected") or (struck and point.role != "parent"),
                   f"run {number}: {cell['status']}: {cell['reason']}", cell["id"])
    check_sound(one)
    sound = one.run("doctor") if MODE != "sample" and states else None
    expect(not sound or (sound.code == OK and "is sound" in sound.out), "assay doctor", sound)
    return states or []


def check_words(command, point, done):
    expect(done.code >= 0, "no signal ends it", done)
    expect(done.code != LEAK and "LeakSanitizer" not in done.err, "nothing is left over", done)
    if point.set in HARMLESS:
        expect(done.code == command.clean.code, f"exit {command.clean.code} expected", done)
    expect(done.code in (OK, FAILED, PARTLY, command.clean.code), "the right exit code", done)
    if done.code == FAILED:
        found = command.moment and "error    store: " in done.out  # that it finds is what it was asked for
        expect(found or re.search(r"^assay: \S", done.err, re.M), "words on stderr", done)


def check_reader(one, command, point, done):
    """All or nothing: what ends with 0 says all that it has to."""
    wrote = read_file(one.path(command.file)) if command.file else None
    if done.code == command.clean.code:
        if command.moment:
            expect(done.out.splitlines()[-1].startswith("fine     store: "), "all of the output", done)
        else:
            expect(not command.clean.out or done.out == command.clean.out, "all of the output", done)
        expect(wrote == command.output, "all of the file", done)
    elif command.file:
        expect(wrote is None, "no half of a file", done)
    if command.file and not point.on:  # else taking it away fails as well
        left = [n for n in os.listdir(one.folder) if n.endswith(".tmp")]
        expect(not left, f"nothing is left beside it: {left}", done)


def strike(assay, number, command, plan, point):
    """Fails the point. None when all is well or the command never came to the call, else what is wrong."""
    one = folder_for(assay, f"point{number}", command.start)
    try:
        done = shimmed(one, command, ASSAY_FAIL=spelled(point))
        if read_file(one.path("calls")) is None:
            return "missed"
        check_words(command, point, done)
        if command.writes:
            states = check_runs(one, *plan, point)
            expect(done.code != OK or states, "a run that ends well is in the store", done)
        else:
            check_reader(one, command, point, done)
            if command.start:
                check_sound(one)
        return None
    except AssertionError as wrong:
        text = f"ASSAY_FAIL='{spelled(point)}' ({point.name}): {wrong}"
        print("".join(f"# {line}\n" for line in text.splitlines()), end="", flush=True)  # the sum of all is long
        return text
    finally:
        shutil.rmtree(one.folder, ignore_errors=True)


def torture(assay, name, command, plan):
    one = folder_for(assay, "clean", command.start)
    command.clean = one.run(*[a.replace("@", one.folder) for a in command.args])
    expect(command.clean.code in MEASURED, "the command works", command.clean)
    command.output = read_file(one.path(command.file)) if command.file else None
    one = folder_for(assay, "clean", command.start)
    counted, calls = calls_of(one, command)
    expect(counted.code == command.clean.code and calls, "its calls can be counted", counted)
    points = choose(calls, command, name)
    if ONLY:
        role, kind, number, *on = ONLY.split()
        points = [Point(role, kind, int(number), "?", bool(on))]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("ASSAY_INJECT_JOBS", "2"))) as pool:
        results = list(pool.map(lambda p: strike(assay, *p), [(i, command, plan, p) for i, p in enumerate(points)]))
    missed, wrong = results.count("missed"), [r for r in results if r and r != "missed"]
    kinds = collections.Counter(p.set for p in points)
    print(f"# {name}: {len(calls)} calls, {len(points)} points ({', '.join(f'{n} {k}' for k, n in kinds.items())}), "
          f"{missed} not reached, {len(wrong)} wrong, seed {SEED}", flush=True)
    expect(not wrong, f"{len(wrong)} of {len(points)} points")


def prepared(assay):
    """A store with one whole run, one with a run that was cut off, an export, and the cells of the plan."""
    if not SHIM:
        raise Skip("ASSAY_FAIL_SHIM does not name the library to preload")
    one = folder_for(assay, "whole", None)
    done = one.run("run", *CELLS)
    expect(done.code in MEASURED, "a whole run", done)
    with open(assay.path("export.json"), "w", encoding="utf-8") as f:
        json.dump(one.export(), f)
    plan = {identity(c) for c in one.cells()}, known(one.export())
    cut = folder_for(assay, "cut", None)
    _, calls = calls_of(cut, Command(["run", *CELLS]))
    syncs = [n for role, kind, n, name, _ in calls if role == "parent" and name == "fdatasync"]
    if not syncs:
        raise Skip("this build cannot be preloaded (a sanitizer comes first)")
    cut = folder_for(assay, "cut", None)
    shimmed(cut, Command(["run", *CELLS]), ASSAY_FAIL=f"parent system {syncs[len(syncs) // 2]} on")
    expect(check_sound(cut) == ["running"], "a run that was cut off")
    return one.store, cut.store, plan


def writing(assay, name):
    _, cut, plan = prepared(assay)
    commands = {
        "run": Command(["run", *CELLS], writes=True),
        "resume": Command(["resume"], start=cut, writes=True),
        "import": Command(["import", assay.path("export.json")], writes=True),
    }
    torture(assay, name, commands[name], plan)


def reading(assay, name, *args, **more):
    whole, _, plan = prepared(assay)
    torture(assay, name, Command([*args], start=whole, **more), plan)


def test_run(assay):
    writing(assay, "run")


def test_resume(assay):
    writing(assay, "resume")


def test_import(assay):
    writing(assay, "import")


def test_show(assay):
    reading(assay, "show", "show")


def test_history(assay):
    reading(assay, "history", "history")


def test_show_a_probe(assay):
    reading(assay, "show latency", "show", "latency")


def test_report(assay):
    reading(assay, "report", "report", "-o", "@/page.html", file="page.html")


def test_export(assay):
    reading(assay, "export", "export")


def test_export_csv(assay):
    reading(assay, "export csv", "export", "--format", "csv", "-o", "@/cells.csv", file="cells.csv")


def test_list_runs(assay):
    reading(assay, "list runs", "list", "runs")


def test_facts(assay):
    reading(assay, "facts", "facts")


def test_compare(assay):
    reading(assay, "compare", "compare", "1", "1")


def test_doctor(assay):
    reading(assay, "doctor", "doctor", moment=True)


if __name__ == "__main__":
    harness.main(globals())
