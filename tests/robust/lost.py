"""Workers that cannot be started again, and devices that hang or fail when they are opened again.

This is tried again, and what is missing in the end is what resume takes up. Of a device that does not open again
tests/run has more."""
import os
import stat

import harness
import ledger
from harness import FAILED, FAST, MEASURED, NOTHING, PARTLY, expect

TRIALS = 3
CELLS = ["latency", "--set", "size=1KiB..1MiB", "--trials", str(TRIALS), "--precision", "100%"]
FREE = ["--budget", "0"]
LAUNCHES = 40  # after this many, some cells have their first trial and others do not
EVER = 1000000
NOT_STARTED, DIES, GIVES_UP = "exit 127", "kill -KILL $$", "exit 1"


def opens(how):
    return f'ASSAY_NULL="$here/{how}.json"'


def worker(assay, what, last, launches=LAUNCHES):
    """A program in the worker's place. The first one dies in a launch; those from the second to the last that is given
    do what is asked for; all others measure. A sanitizer would turn the crash into an exit code of its own."""
    for name, members in [("first", dict(FAST, faults=[{"do": "crash", "count": "worker", "launch": launches}]))] + [
            (how, dict(FAST, open=how)) for how in ("hang", "crash", "fail")]:
        os.replace(assay.script(members)["ASSAY_NULL"], assay.path(name + ".json"))
    path = assay.path("worker")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"""#!/bin/sh
here='{assay.folder}'
echo >>"$here/starts"
start=$(wc -l <"$here/starts")
if [ $start = 1 ]; then
    ASSAY_NULL="$here/first.json"
elif [ $start -le {last} ]; then
    {what}
fi
exec '{assay.program}' "$@"
""")
    os.chmod(path, stat.S_IRWXU)
    open(assay.path("starts"), "w", encoding="ascii").close()
    return {"ASSAY_WORKER": path, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}


def starts(assay):
    return os.path.getsize(assay.path("starts"))


def measure(assay, env, more=FREE, timeout=harness.PATIENCE):
    book = ledger.Ledger(assay)
    done = assay.run("run", *CELLS, "--device", "null", *more, env=env, timeout=timeout)
    book.check()
    (uuid,) = book.states()
    return book, uuid, done


def cells(book, status):
    """Reasons and numbers of samples, without the sentinels."""
    return book.rows("SELECT reason, n, trials_done FROM cells WHERE status = ? AND probe <> 'sentinel'", status)


def check_lost(assay, book, uuid, done, word):
    """The run is left unfinished, with what it has and with the reason for what it lacks."""
    expect(book.states()[uuid] == "interrupted", "the run is left unfinished", (book.states(), done))
    expect("assay resume" in done.err, "it says how to resume", done)
    skipped = cells(book, "skipped")
    expect(skipped, "cells without a number are skipped", done)
    expect(all(word in reason for reason, *_ in skipped), f"the reason says '{word}'", skipped)
    expect(len(cells(book, "crashed")) <= 1, "one cell was at the worker that died", done)
    expect(not cells(book, "planned"), "every cell has its end", done)
    expect(starts(assay) < 20, "the device is not opened once for each cell", starts(assay))


def check_resumed(assay, book, uuid, *more):
    done = assay.run("resume", *more)
    expect(done.code in MEASURED, "resumed", done)
    book.check()
    book.check_complete(uuid, TRIALS, ("ok", "wide", "rejected", "crashed"))
    expect(len(cells(book, "crashed")) <= 1, "all other cells have their numbers", done)


def test_tried_again(assay):
    """A worker that does not come up two times in a row: the run goes on as if nothing had been."""
    for what in (NOT_STARTED, DIES, GIVES_UP, opens("crash"), opens("fail")):
        book, uuid, done = measure(assay, worker(assay, what, 3))
        expect(done.code in MEASURED, f"{what}: the run comes to its end", done)
        book.check_complete(uuid, TRIALS, ("ok", "wide", "rejected", "crashed"))
        expect(len(cells(book, "crashed")) == 1, f"{what}: the cell of the worker that died, and no other", done)
        expect(starts(assay) >= 4, f"{what}: it was tried again", starts(assay))
        os.unlink(assay.store)


def test_never_again(assay):
    """A worker that does not come up any more: what is there is kept, the rest is what resume takes up."""
    for what, word in ((NOT_STARTED, "could not be started"), (DIES, "signal 9")):
        env = worker(assay, what, EVER)
        book, uuid, done = measure(assay, env)
        expect(done.code == PARTLY, f"{what}: there are numbers, and not all", done)
        check_lost(assay, book, uuid, done, word)
        done = assay.run("resume", env=env)  # its first worker dies too, and the others do not start
        expect(done.code in (FAILED, PARTLY, NOTHING), "still lost", done)
        book.check()
        check_resumed(assay, book, uuid)
        os.unlink(assay.store)


def test_no_number_yet(assay):
    """The first launch of all was the last: nothing is there, which is no result, and resume begins."""
    book, uuid, done = measure(assay, worker(assay, NOT_STARTED, EVER, 1))
    expect(done.code == FAILED, "no number", done)
    check_lost(assay, book, uuid, done, "could not be started")
    check_resumed(assay, book, uuid)


def test_hang_at_opening_within_a_budget(assay):
    """Three seconds are over long before what a driver may take to load, a minute, has passed several times; what the
    device did not give is taken up by resume."""
    for _ in range(5):
        book, uuid, done = measure(assay, worker(assay, opens("hang"), EVER), ["--budget", "3s"], 150)
        if starts(assay) > 1:  # else a busy machine would use up the budget before the device is reopened
            break
        os.unlink(assay.store)
    expect(done.code == PARTLY, "there are numbers, and not all", done)
    check_lost(assay, book, uuid, done, "")
    check_resumed(assay, book, uuid, "--budget", "0")


if __name__ == "__main__":
    harness.main(globals())
