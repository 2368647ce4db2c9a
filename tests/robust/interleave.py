"""Several commands at once on one run and one store, at random moments and with kills: no result lost, none twice.

ASSAY_FUZZ says how many scenarios are played (default 8), ASSAY_SEED where the random choices start (default 1)."""
import json
import os
import random
import signal
import sqlite3
import time

import harness
import ledger
from harness import FAILED, MEASURED, NOTHING, OK, SLOW, USAGE, expect, expect_refused, kill

TRIALS = 3
# Only the number of trials ends a cell, so each has exactly that many.
CELLS = ["latency", "--set", "size=1KiB..8KiB", "--precision", "100%", "--budget", "0", "--trials"]
RUN = ["run", "--device", "null", "--json", *CELLS]
SCENARIOS = int(os.environ.get("ASSAY_FUZZ", "8"))
SEED = int(os.environ.get("ASSAY_SEED", "1"))
LENGTH = 0.6  # approximate seconds of a run
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
WORKERS = "workers"  # instead of a signal: kills the command's workers
BUSY = "is being measured by another process"

# How each command that is not killed may end: exit codes, and text on stderr. None: any text.
ENDS = {
    "run": {0: None, 4: None},
    "resume": {0: None, 4: None, FAILED: BUSY, USAGE: ("is complete", "no unfinished run", "is not in the store",
                                                       "holds no run")},
    "show": {OK: None, USAGE: ("is not in the store", "holds no run")},
    "export": {OK: None, USAGE: ("is not in the store", "holds no run")},
    "report": {OK: None, USAGE: ("is not in the store", "holds no run")},
    "import": {OK: None, USAGE: "is already in the store"},
    "doctor": {OK: None},
    "delete": {OK: None, FAILED: BUSY, USAGE: ("is not in the store", "holds no run")},
}
KINDS = ("resume",) * 6 + ("run",) * 2 + ("repair",) * 2 + ("show", "export", "report", "import", "doctor", "delete")


class Command:
    """One process of a scenario."""

    def __init__(self, assay, args):
        self.args = args
        self.process = assay.start(*args, env=assay.script(SLOW))
        self.signal = None

    def kill(self, number):
        if self.process.poll() is not None:
            return
        self.signal = number
        for pid in harness.children(self.process.pid) if number == WORKERS else [self.process.pid]:
            kill(pid, signal.SIGKILL if number == WORKERS else number)

    def end(self, assay):
        self.done = assay.finish(self.process)
        code, err = self.done.code, self.done.err
        told = f"{self}: it ends with {code}"
        if self.signal == WORKERS and code == NOTHING and "killed by signal 9" in err:
            return  # it was opening the only device for the first time
        if self.signal in SIGNALS and code == -self.signal:
            return
        if self.signal in SIGNALS and self.args[0] in ("run", "resume") and code == FAILED:
            words = ("assay resume", "interrupted before anything was measured", BUSY)
            expect(any(word in err for word in words), f"{told}, and does not say how to resume", self.done)
            return
        expect(code in ENDS[self.args[0]], told, self.done)
        words = ENDS[self.args[0]][code]
        words = (words,) if isinstance(words, str) else words
        expect(not words or any(word in err for word in words), f"{told} and none of {words}", self.done)

    def took(self):
        """The uuid of the run that it measured; None when it measured none."""
        for line in self.done.out.splitlines():
            if line.startswith('{"event":"run_start"'):
                return json.loads(line)["run"]["uuid"]
        return None

    def __str__(self):
        killed = f" (killed: {self.signal})" if self.signal else ""
        return " ".join(self.args) + killed


def start_run(assay, book, trials=TRIALS):
    """A run that is being measured, with its first trials committed, and its uuid."""
    before = set(book.states())
    command = Command(assay, [*RUN, str(trials)])

    def begun():
        return {u for u, t in book.look().items() if u not in before and len(t) > 2}
    (uuid,) = harness.wait_for(begun, "the first trials of a run", command.process)
    return command, uuid


def unfinished_run(assay, book, rng):
    """Its uuid: a run that was killed or interrupted in the middle."""
    while True:
        command, uuid = start_run(assay, book)
        time.sleep(rng.uniform(0, LENGTH / 2))
        command.kill(rng.choice(SIGNALS))
        command.end(assay)
        if uuid in book.unfinished():
            return uuid


def settle(assay, book, statuses):
    """Each run can be resumed at once and to its end; then all is sound."""
    for uuid in book.unfinished():
        command = Command(assay, ["resume", uuid, "--json"])
        command.end(assay)
        expect(command.done.code in MEASURED, f"run {uuid} is resumed", command.done)
        book.check()
    for uuid in book.states():
        book.check_complete(uuid, TRIALS, statuses)
    done = assay.run("doctor")
    expect(done.code == OK and "is sound" in done.out, "assay doctor finds the store sound", done)


def choose(assay, rng, uuids, exports):
    kind, uuid = rng.choice(KINDS), rng.choice(uuids)
    if kind == "run":
        return [*RUN, str(TRIALS), *(["--isolate"] if rng.random() < 0.3 else [])]
    if kind == "resume":
        return ["resume", *([uuid] if rng.random() < 0.7 else []), "--json"]
    if kind == "repair":
        return ["doctor", "--repair"]
    if kind == "doctor":
        return ["doctor"]
    if kind == "import":
        return ["import", rng.choice(exports)]
    if kind == "report":
        return ["report", uuid, "-o", assay.path(f"page{rng.randrange(1 << 30)}.html")]
    if kind == "export":
        return ["export", uuid, "--format", "json"]
    return [kind, uuid]


def play(assay, book, rng, exports, signals, commands):
    """Several commands beside each other, the store looked at meanwhile; commands are added to the list."""
    uuids = list(book.states()) or ["last"]
    plans = sorted((rng.uniform(0, LENGTH), choose(assay, rng, uuids, exports)) for _ in range(rng.randint(2, 5)))
    kills = []
    began = time.monotonic()
    for at, args in plans:
        while time.monotonic() - began < at:
            book.look()
            strike(kills)
            time.sleep(0.01)
        if args[0] == "delete":
            book.may_go.add(args[1])
        commands.append(Command(assay, args))
        if rng.random() < 0.35:
            kills.append((time.monotonic() + rng.uniform(0, LENGTH), commands[-1], rng.choice(signals)))
    while kills and any(c.process.poll() is None for c in commands):
        book.check(live=True)
        strike(kills)
        time.sleep(0.01)
    for command in commands:
        command.end(assay)


def strike(kills):
    for due in [k for k in kills if k[0] <= time.monotonic()]:
        due[1].kill(due[2])
        kills.remove(due)


def check_takers(commands, unfinished):
    """Of processes that wanted one run, one measured it to its end and the others were refused: no more, and no less
    where nobody was killed."""
    ended = [c.took() for c in commands if c.args[0] == "resume" and c.done.code in MEASURED]
    expect(len(ended) == len(set(ended)), "two processes have measured one run to its end", ended)
    troubled = any(c.signal or c.args[0] in ("delete", "doctor", "import") for c in commands)
    for uuid in unfinished:
        wanted = [c for c in commands if c.args[:2] == ["resume", uuid]]
        if wanted and not troubled:
            expect(uuid in ended, f"run {uuid} was wanted and nobody has measured it", "\n".join(map(str, wanted)))


def scenario(assay, number):
    """On a store of its own, in a folder of its own."""
    assay.store = assay.env["ASSAY_STORE"] = assay.path(f"store{number}.db")
    rng = random.Random(SEED * 1000003 + number)
    book = ledger.Ledger(assay)
    log = []
    # A killed worker costs the cell that it is at: such scenarios say less, and are fewer.
    signals, statuses = SIGNALS, ("ok", "wide", "rejected")
    if rng.random() < 0.25:
        signals, statuses = (*SIGNALS, *[WORKERS] * 3), (*statuses, "crashed")
    try:
        uuids = [unfinished_run(assay, book, rng) for _ in range(rng.randint(1, 2))]
        book.check()
        exported = assay.path(f"export{number}.json")
        done = assay.run("export", uuids[0], "--format", "json", "-o", exported)
        expect(done.code == OK, "an export", done)
        for _ in range(2):
            commands, unfinished = [], book.unfinished()
            log.append(commands)
            play(assay, book, rng, [exported, assay.whole], signals, commands)
            book.check()
            check_takers(commands, unfinished)
        settle(assay, book, statuses)
    except AssertionError as why:
        told = "\n".join(f"  {c}" for commands in log for c in [*commands, "--"])
        raise AssertionError(f"scenario {number} with ASSAY_SEED={SEED}: {why}\ncommands:\n{told}") from why


def test_interleavings(assay):
    print(f"# {SCENARIOS} scenarios, ASSAY_SEED={SEED}", flush=True)
    done = assay.null(harness.FAST, *CELLS, str(TRIALS))
    expect(done.code in MEASURED, "a run to export", done)
    assay.whole = assay.path("whole.json")
    expect(assay.run("export", "--format", "json", "-o", assay.whole).code == OK, "an export")
    for number in range(SCENARIOS):
        scenario(assay, number)


def pause(command, assay):
    """Stops a process where it holds no lock of SQLite's, which readers would wait for."""
    while command.process.poll() is None:
        kill(command.process.pid, signal.SIGSTOP)
        db = sqlite3.connect(assay.store, timeout=0, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError:
            kill(command.process.pid, signal.SIGCONT)
            time.sleep(0.01)
        finally:
            db.close()


def check_refused(assay, book, command, uuid):
    """Nobody else gets the run, as long as its process is there."""
    for words in (["resume"], ["resume", uuid], ["delete", uuid]):
        if words[0] == "delete" and command.process.poll() is not None:
            return
        done = assay.run(*words, timeout=30)
        if command.process.poll() is None:
            expect_refused(done, FAILED, f"run {book.number(uuid)} {BUSY}")


def test_live_run_belongs_to_its_process(assay):
    """Whoever else wants it is refused at once, also while its process is stopped, and it comes to its end unharmed."""
    book, trials = ledger.Ledger(assay), 30
    command, uuid = start_run(assay, book, trials)
    pause(command, assay)
    check_refused(assay, book, command, uuid)
    done = assay.run("doctor", "--repair")
    expect(done.code == OK, "a run that is being measured needs no repair", done)
    book.check(live=True)
    kill(command.process.pid, signal.SIGCONT)
    book.may_go.add(uuid)  # where it ends just before it would be deleted
    check_refused(assay, book, command, uuid)
    book.check(live=True)
    command.end(assay)
    expect(command.done.code in MEASURED, "measured to its end", command.done)
    book.check()
    if book.states():
        book.check_complete(uuid, trials)
    for words in (["resume", uuid], ["resume"]):
        expect_refused(assay.run(*words), USAGE)


def test_killed_run_is_free_at_once(assay):
    """The kernel gives back what a killed process held."""
    book = ledger.Ledger(assay)
    command, uuid = start_run(assay, book)
    for _ in range(5):
        command.kill(signal.SIGKILL)
        command.process.wait()
        before = len(book.look()[uuid])
        command = Command(assay, ["resume", uuid, "--json"])
        if book.rows("SELECT 1 FROM runs WHERE state = 'running'"):
            harness.wait_for(lambda: len(book.look()[uuid]) > before or command.process.poll() is not None,
                             "more trials")
    command.end(assay)
    expect(command.done.code in (*MEASURED, USAGE), "resumed", command.done)
    book.check()
    book.check_complete(uuid, TRIALS)


def test_two_resumes_at_once(assay):
    """One of them measures, the other is refused; it does not matter which."""
    book = ledger.Ledger(assay)
    for number in range(4):
        uuid = unfinished_run(assay, book, random.Random(number))
        commands = [Command(assay, ["resume", *words, "--json"]) for words in ([uuid], [uuid], [])]
        while any(c.process.poll() is None for c in commands):
            book.check(live=True)
            time.sleep(0.005)
        for command in commands:
            command.end(assay)
        ended = sum(c.done.code in MEASURED for c in commands)
        told = "\n".join(str(c.done) for c in commands)
        expect(ended == 1, f"{ended} of three processes have measured one run", told)
        book.check()
        book.check_complete(uuid, TRIALS)


def test_delete_is_whole_or_not_at_all(assay):
    """Killed at any moment, what is left is the run as it was, or nothing of it."""
    rng = random.Random(SEED)
    book = ledger.Ledger(assay)
    done = assay.null(harness.FAST, *CELLS, str(TRIALS))
    expect(done.code in MEASURED, "a run", done)
    exported = assay.path("run.json")
    expect(assay.run("export", "--format", "json", "-o", exported).code == OK, "an export")
    (uuid,) = book.look()
    for _ in range(12):
        command = Command(assay, ["delete", uuid])
        book.may_go.add(uuid)
        time.sleep(rng.uniform(0, 0.012))
        command.kill(signal.SIGKILL)
        command.end(assay)
        book.check()
        if uuid not in book.states():
            done = assay.run("import", exported)
            expect(done.code == OK, "what was deleted can be imported again", done)
        book.check_complete(uuid, TRIALS)


def lose_numbers(assay, uuid):
    """What two processes at once did to a store before runs had locks: cells without numbers whose trials are there."""
    db = sqlite3.connect(assay.store)
    columns = ("id, status, reason, n, trials, median, ci_low, ci_high, mad, min, max, trials_done, gate_checksum, "
               "gate_limit, gate_code, gate_footprint")
    which = f"run_id = (SELECT id FROM runs WHERE uuid = '{uuid}') AND probe <> 'sentinel' AND position % 2 = 0"
    before = db.execute(f"SELECT {columns} FROM cells WHERE {which} ORDER BY id").fetchall()
    db.execute("UPDATE cells SET status = 'skipped', reason = 'the time budget ended before it', n = 0, trials = 0, "
               "trials_done = 0, median = NULL, ci_low = NULL, ci_high = NULL, mad = NULL, min = NULL, max = NULL, "
               f"modes = 0 WHERE {which}")
    db.execute("UPDATE runs SET cells_ok = NULL WHERE uuid = ?", (uuid,))
    db.commit()
    db.close()
    expect(before, "cells that lose their numbers")
    return before, f"SELECT {columns} FROM cells WHERE {which} ORDER BY id"


def test_repair_gives_lost_numbers_back(assay):
    """From the trials, which are as they were; a run that is being measured meanwhile is left alone."""
    book = ledger.Ledger(assay)
    done = assay.null(harness.FAST, *CELLS, str(TRIALS))
    expect(done.code in MEASURED, "a run", done)
    (uuid,) = book.look()
    before, again = lose_numbers(assay, uuid)
    live, other = start_run(assay, book)
    expect(assay.run("doctor").code == FAILED, "assay doctor finds them")
    done = assay.run("doctor", "--repair")
    expect(done.code == OK, "repaired", done)
    expect(book.rows(again) == before, "the numbers are what they were", (book.rows(again), before))
    live.end(assay)
    expect(live.done.code in MEASURED, "the other run was not disturbed", live.done)
    book.check()
    book.check_complete(uuid, TRIALS)
    book.check_complete(other, TRIALS)
    done = assay.run("doctor")
    expect(done.code == OK and "is sound" in done.out, "and all is sound", done)


if __name__ == "__main__":
    harness.main(globals())
