"""assay fleet run, resume: ranks that measure scripted devices into one folder. A planted slow one is named, and whatever is
killed, resume loses nothing and measures nothing twice.

Ranks are started with the environment of Open MPI's mpirun, which decides all that assay takes from it; a launcher that is installed is
tried as well."""
import json
import os
import shutil
import signal
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import ledger  # noqa: E402
from harness import FAILED, MEASURED, OK, PARTLY, REGRESSION, USAGE, Skip, expect, kill, wait_for  # noqa: E402

RANKS = 4
HOST = socket.gethostname().replace("/", "_")
TRIALS = 12


def device(ns=90, **more):
    return {**harness.memory_device(ns), **more}


RUN = ("run", "--seed", "7")


def judged(rank, ns=90):
    """A device on simulated time, whose noise follows from its seed: the verdict does not depend on what else the machine does."""
    return device(ns, seed=rank + 1, machine={"clocks": [3e9], "reading_sd": 0})


def names():
    return [HOST + (f"-{i}" if i else "") for i in range(RANKS)]


def suite(assay):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(harness.MEMORY_SUITE)
    return path


def start_rank(assay, rank, launch, *args, script=None):
    env = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": RANKS, "OMPI_COMM_WORLD_LOCAL_RANK": rank, "PMIX_NAMESPACE": launch}
    return assay.start("fleet", *args, env={**{k: str(v) for k, v in env.items()}, **assay.script(script or device())})


def run_ranks(assay, launch, *args, slow=None):
    """All ranks to their ends; rank 0's result."""
    ranks = [start_rank(assay, r, launch, *args, script=judged(r, 99 if r == slow else 90)) for r in range(RANKS)]
    done = [assay.finish(p) for p in ranks]
    for result in done[1:]:
        expect(result.code == OK and not result.out, "other ranks say nothing and do not end the launch", result)
    return done[0]


def state(assay, name):
    try:
        with open(assay.path(f"fleet/status/{name}.json"), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {"state": "", "run": ""}


def verdicts(done):
    return {v["node"]: v["verdict"] for v in map(json.loads, done.out.splitlines())}


def test_a_slow_rank(assay):
    done = run_ranks(assay, "1", *RUN, suite(assay), "--folder", "fleet", "--json", slow=2)
    expect(done.code == REGRESSION, "a slow node gives exit code 3", done)
    expect(verdicts(done) == {n: "slow" if n.endswith("-2") else "ok" for n in names()}, "it alone is named", done)
    shown = assay.run("fleet", "show", "fleet")
    expect(shown.code == REGRESSION and f"{HOST}-2: Memory latency" in shown.out and "(" in shown.out, "with its interval", shown)
    again = run_ranks(assay, "2", *RUN, suite(assay), "--folder", "fleet", slow=2)
    expect(again.code == REGRESSION, "a second run into the folder joins the first", again)
    expect({len(runs(assay, n)) for n in names()} == {2}, "in each store", again)


def test_none_slow(assay):
    for launch in range(3):
        done = run_ranks(assay, str(launch), *RUN, suite(assay), "--folder", f"fleet{launch}")
        expect(done.code == OK and "nothing slower than the others" in done.out, "none planted, none found", done)
        expect(all(f"{n}: complete" in done.err for n in names()), "each node's end is told", done)


def book_of(assay, name):
    assay.store = assay.path(f"fleet/{name}.db")
    return ledger.Ledger(assay)


def runs(assay, name):
    return book_of(assay, name).states()


def killed(assay, victims, signal_number=signal.SIGKILL):
    """Ranks that measure for long, some of which are killed when they have trials; those that end by themselves are waited for."""
    args = ["run", suite(assay), "--trials", str(TRIALS), "--folder", "fleet"]
    ranks = [start_rank(assay, r, "1", *args, script=harness.slow_memory_device()) for r in range(RANKS)]
    books = {}
    for rank in victims:
        name = names()[rank]
        wait_for(lambda n=name: state(assay, n)["run"], f"a run of {name}", ranks[rank])
        books[name] = book_of(assay, name)
        wait_for(lambda b=books[name]: b.rows("SELECT 1 FROM trials"), f"trials of {name}", ranks[rank])
        kill(ranks[rank].pid, signal_number)
        ranks[rank].wait()
        books[name].check()
    return [assay.finish(p) for p in ranks], books


def resume_all(assay, books):
    done = run_ranks(assay, "2", "resume", "fleet")
    expect(done.code == OK, "resume completes the fleet", done)
    for name in names():
        book = books.get(name) or book_of(assay, name)
        book.check()
        (uuid,) = book.states()
        expect(book.states()[uuid] == "complete", f"{name} has one run, and it is complete", done)
        book.check_complete(uuid, TRIALS)
    return done


def test_a_rank_is_killed(assay):
    done, books = killed(assay, [2])
    expect(done[0].code == PARTLY and f"{names()[2]}: its process has died" in done[0].err, "rank 0 goes on, and says so", done[0])
    expect("No data" in done[0].out and "fleet resume" in done[0].out, "the node is listed as without data", done[0])
    again = resume_all(assay, books)
    expect(again.err.count("measured before") == RANKS - 1, "what was complete is not measured again", again)


def test_rank_0_is_killed(assay):
    done, books = killed(assay, [0])
    expect([d.code for d in done[1:]] == [OK] * (RANKS - 1), "the others complete", "\n".join(map(str, done)))
    resume_all(assay, books)


def test_all_are_ended(assay):
    """As a launcher does after a death."""
    done, books = killed(assay, range(RANKS), signal.SIGTERM)
    expect({d.code for d in done} == {FAILED} and "fleet resume" in done[0].err, "interrupted", done[0])
    expect({state(assay, n)["state"] for n in names()} == {"interrupted"}, "and all say so")
    by_hand = assay.run("fleet", "resume", "fleet", env=assay.script(device()))
    expect(by_hand.code == OK, "a person on the host continues all of its ranks", by_hand)
    resume_all(assay, books)


def test_by_hand(assay):
    done = assay.run("fleet", "run", suite(assay), "--folder", "fleet", env=assay.script(device()))
    expect(done.code == OK and done.out.startswith("1 node"), "without a launcher, the own host", done)
    failed = assay.run("fleet", "run", suite(assay), "--folder", "none", env=assay.script({"why_not": "planted"}))
    expect(failed.code == FAILED and "planted" in failed.out, "a node that cannot measure says why", failed)


def test_a_complete_run_without_numbers(assay):
    """What has failed as a whole is not complete when it is resumed: it is measured again."""
    refused = device()
    refused["info"] = dict(refused["info"], allocators=[dict(a, why_not="planted") for a in harness.ALLOCATORS])
    for verb, code in ((("run", suite(assay), "--folder", "fleet"), FAILED), (("resume", "fleet"), FAILED)):
        done = assay.run("fleet", *verb, env=assay.script(refused))
        expect(done.code == code and state(assay, HOST)["state"] == "failed" and "measured before" not in done.err, verb[0], done)
    mended = assay.run("fleet", "resume", "fleet", env=assay.script(device()))
    expect(mended.code == OK and state(assay, HOST)["state"] == "complete", "once the reason is gone, it has numbers", mended)


def test_launchers(assay):
    """Ranks of the launchers that are installed are the same as those by the environment."""
    tried = 0
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for launcher in ("mpirun.openmpi", "mpirun.mpich"):
        if not shutil.which(launcher):
            continue
        tried += 1
        more = ["--oversubscribe", "--bind-to", "none"] if "openmpi" in launcher else []
        program, assay.program = assay.program, shutil.which(launcher)
        done = assay.run(*more, "-n", str(RANKS), program, "fleet", "run", suite(assay), "--folder", launcher, "--json",
                         env={**root, **assay.script(device())})
        assay.program = program
        expect(done.code == OK and verdicts(done) == {n: "ok" for n in names()}, launcher, done)
    if not tried:
        raise Skip("neither Open MPI nor MPICH is installed")


def test_names(assay):
    """Two living processes of one name would write one store."""
    args = ["run", suite(assay), "--trials", str(TRIALS), "--folder", "fleet"]
    first = start_rank(assay, 1, "1", *args, script=harness.slow_memory_device())
    wait_for(lambda: state(assay, names()[1])["run"], "a run", first)
    second = assay.finish(start_rank(assay, 1, "1", *args))
    expect(second.code == FAILED and "another process" in second.err, "the second is refused", second)
    expect(assay.finish(first).code == OK, "the first completes")


def test_wrong_use(assay):
    os.mkdir(assay.path("empty"))
    os.makedirs(assay.path("old/status"))
    for words in (("run", "latency"), ("run", "latnecy", "--folder", "f"), ("run", "latency", "--folder", "f", "-o", "x"),
                  ("run", "latency", "--folder", "f", "--budget", "x"), ("run", "latency", "--folder", "f", "--fdr", "900%"),
                  ("resume", "old", "--min-deviation", "x"), ("resume",), ("resume", "a", "b"), ("resume", "old", "--trials", "2"),
                  ("show", "old", "--folder", "f"), ("merge", "old", "-o", "x", "--quiet")):
        done = assay.run("fleet", *words)
        expect(done.code == USAGE and done.err.startswith("assay: "), " ".join(words), done)
    for words in (("resume", "none"), ("resume", "empty"), ("resume", "old"), ("run", "latency", "--folder", "none/f")):
        done = assay.run("fleet", *words)
        expect(done.code not in MEASURED and done.err.startswith("assay: "), " ".join(words), done)
    expect(not os.path.exists(assay.path("f")), "what is refused makes no folder")


def test_foreign_states(assay):
    """States of other versions and damaged ones are nodes without data, and hostile names no danger to a terminal."""
    done = assay.run("fleet", "run", suite(assay), "--folder", "fleet", env=assay.script(device()))
    expect(done.code == OK, "a node", done)
    good = state(assay, HOST)
    for name, text in (("torn", '{"status_version": 1, "sta'), ("new", json.dumps(dict(good, status_version=99))),
                       ("odd", json.dumps(dict(good, state="dancing"))), ("list", "[]"), ("many", json.dumps(dict(good, request={"a": 1})))):
        with open(assay.path(f"fleet/status/{name}.json"), "w", encoding="utf-8") as f:
            f.write(text)
    hostile = dict(good, state="failed", reason="\x1b[31mred", request=["--worker", "7"])
    with open(assay.path("fleet/status/\x1b[2Jx.json"), "w", encoding="utf-8") as f:
        json.dump(hostile, f)
    shown = assay.run("fleet", "show", "fleet")
    expect(shown.code == PARTLY and "\x1b" not in shown.out and "red" in shown.out, "one node failed", shown)
    expect("torn: " in shown.out and "not the state of a node" in shown.out and "dancing" not in shown.out, "what cannot be read is listed", shown)
    resumed = assay.run("fleet", "resume", "fleet", env=assay.script(device()))
    expect(resumed.code == PARTLY and "\x1b" not in resumed.err, "a request that is none is refused", resumed)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
