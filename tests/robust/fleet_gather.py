"""assay fleet run, resume --gather: four ranks with host names and disks of their own, which see nothing of each other but by MPI. Rank 0
gets the others' stores; whatever is killed, each node keeps what it has, and resume brings all to rank 0."""
import contextlib
import filecmp
import json
import os
import shutil
import signal
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import ledger  # noqa: E402
from harness import OK, PARTLY, USAGE, Skip, expect, kill, thorough, wait_for  # noqa: E402

RANKS, TRIALS = 4, 12
LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "MPICH": ["mpirun.mpich"]}
GOES_ON = {"Open MPI": ["--enable-recovery"], "MPICH": ["-disable-auto-cleanup"]}  # where a rank dies
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NULL = harness.memory_device()
SLOW = harness.slow_memory_device()
# $SHARED: all have the disk of rank 0. $SAME: the host name of all. A rank of $SLOW measures for long.
OWN = r"""rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
hostname "${SAME:-node$rank}"
[ "$SAME" ] && export OMPI_COMM_WORLD_LOCAL_RANK=0
disk=disk$rank
[ "$SHARED" ] && disk=disk0
mkdir -p $disk
cd $disk
case $SLOW in *$rank*) ASSAY_NULL=$SLOW_NULL ;; esac
exec "$@"
"""


def name(rank):
    return f"node{rank}" + (f"-{rank}" if rank else "")


def start(assay, *args, mpi="Open MPI", options=(), env=None):
    found = shutil.which(LAUNCHERS[mpi][0])
    if not found or os.system("unshare -u true 2>/dev/null"):
        raise Skip(f"{mpi} is not installed, or no host names of its own can be given to a process")
    with open(assay.path("suite.ini"), "w", encoding="utf-8") as f:
        f.write(harness.MEMORY_SUITE)
    program, assay.program = assay.program, found
    slow = {"SLOW": "", "SLOW_NULL": assay.script(SLOW)["ASSAY_NULL"]}
    try:
        return assay.start(*LAUNCHERS[mpi][1:], *options, "-n", str(RANKS), "unshare", "-u", "sh", "-c", OWN, "sh", program, "fleet", *args,
                           env={**ROOT, **slow, **assay.script(NULL), **(env or {})})
    finally:
        assay.program = program


def run(assay, *args, **more):
    return assay.finish(start(assay, *args, **more))


RUN = ("run", "../suite.ini", "--folder", "fleet", "--gather", "--seed", "7")
LONG = (*RUN, "--trials", str(TRIALS))
RESUME = ("resume", "fleet", "--gather")


def store(assay, rank, at=None):
    """The path of a rank's store, on its own disk or on another's."""
    return assay.path(f"disk{rank if at is None else at}/fleet/{name(rank)}.db")


def state(assay, rank, at=None):
    with contextlib.suppress(FileNotFoundError, json.JSONDecodeError), \
            open(assay.path(f"disk{rank if at is None else at}/fleet/status/{name(rank)}.json"), encoding="utf-8") as f:
        return json.load(f)
    return {"state": "", "run": ""}


def book_of(assay, rank):
    assay.store = store(assay, rank)
    return ledger.Ledger(assay)


def all_here(assay, done):
    """Rank 0 has the others' stores as they are, complete, and with the trials that were asked for."""
    for rank in range(1, RANKS):
        expect(os.path.exists(store(assay, rank, 0)), f"rank 0 has the store of rank {rank}", done)
        expect(filecmp.cmp(store(assay, rank), store(assay, rank, 0), shallow=False), f"of rank {rank}, as it is", done)
        expect(state(assay, rank, 0)["state"] == "complete", f"and its state, {rank}", done)
    expect(not [n for n in os.listdir(assay.path("disk0/fleet/status")) if n.startswith(".")], "and nothing half done", done)


def processes(assay, rank):
    """Of a rank: that which measures, and its relay."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(assay.path(f"disk{rank}")) and b"--gather" in harness.command_of(pid):
                with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                    found[int(pid)] = int(f.read().rsplit(")", 1)[1].split()[1])
    first = [pid for pid, parent in found.items() if parent not in found and parent != 1]
    return (first[0], [pid for pid, parent in found.items() if parent == first[0]]) if first else (None, [])


def gathers(assay, mpi):
    done = run(assay, *RUN, mpi=mpi)
    expect(done.code == OK and "4 nodes" in done.out and "not gathered" not in done.err, "all nodes are shown", done)
    all_here(assay, done)
    expect(not os.path.exists(store(assay, 1, 2)), "and nobody else has them", done)
    again = run(assay, *RUN, mpi=mpi)
    expect(again.code == OK, "a second run", again)
    all_here(assay, again)
    expect([len(book_of(assay, r).states()) for r in range(RANKS)] == [2] * RANKS, "joins the first", again)


def test_open_mpi(assay):
    gathers(assay, "Open MPI")


def test_mpich(assay):
    gathers(assay, "MPICH")


def resumed(assay, books, launch):
    """Whatever ended the launch: nothing is lost, and resume brings all to rank 0."""
    assay.finish(launch)
    for rank in range(RANKS):
        books.setdefault(rank, book_of(assay, rank)).check()
    done = run(assay, *RESUME)
    expect(done.code == OK, "resume completes the fleet", done)
    for rank, book in books.items():
        book.check()
        (uuid,) = book.states()
        book.check_complete(uuid, TRIALS)
    all_here(assay, done)


def has_trials(assay, rank):
    return bool(book_of(assay, rank).rows("SELECT 1 FROM trials LIMIT 1"))


def killed_while_measuring(assay, victim, options=()):
    """Killed with signal 9 when it has trials, like all others."""
    launch = start(assay, *LONG, options=options, env={"SLOW": "0123"})
    for rank in range(RANKS):
        wait_for(lambda r=rank: has_trials(assay, r), f"trials of rank {rank}", launch)
    books = {rank: book_of(assay, rank) for rank in range(RANKS)}
    for book in books.values():
        book.check()
    kill(processes(assay, victim)[0])
    return launch, books


def test_a_rank_is_killed(assay):
    launch, books = killed_while_measuring(assay, 2)
    resumed(assay, books, launch)


def test_rank_0_is_killed(assay):
    launch, books = killed_while_measuring(assay, 0)
    resumed(assay, books, launch)


def test_others_go_on(assay):
    """Where the launcher lets them, the other ranks complete, and rank 0 gets them and names the one that died."""
    launch, books = killed_while_measuring(assay, 2, GOES_ON["Open MPI"])
    wait_for(lambda: state(assay, 1, 0)["state"] == state(assay, 3, 0)["state"] == "complete", "the others", launch)
    expect(filecmp.cmp(store(assay, 1), store(assay, 1, 0), shallow=False), "are here")
    done = assay.finish(launch)
    expect(f"{name(2)}: its process has died" in done.err and "fleet resume" in done.out, "and the dead one is named", done)
    launch = start(assay, *RESUME)
    resumed(assay, books, launch)


def test_killed_after_its_end(assay):
    """A node that has measured, and waits for rank 0 which has not: its store is complete, and comes all the same."""
    launch = start(assay, *LONG, options=GOES_ON["Open MPI"], env={"SLOW": "0"})
    wait_for(lambda: state(assay, 3)["state"] == "complete" and has_trials(assay, 0), "an end before rank 0's", launch)
    wait_for(lambda: state(assay, 3, 0)["state"] == "measured", "rank 0 to know that it waits", launch)
    expect(not os.path.exists(store(assay, 3, 0)), "stores wait until rank 0 has measured")
    kill(processes(assay, 3)[0])
    wait_for(lambda: os.path.exists(store(assay, 3, 0)), "its store", launch)
    resumed(assay, {}, launch)


def test_a_relay_is_killed(assay):
    """MPI takes no node down that measures."""
    launch = start(assay, *LONG, options=GOES_ON["Open MPI"], env={"SLOW": "01"})
    wait_for(lambda: has_trials(assay, 0) and has_trials(assay, 1), "trials", launch)
    kill(processes(assay, 0)[1][0])
    said = "node0: results not sent to rank 0: MPI failed on this node"
    wait_for(lambda: said in harness.written(launch.files[1]).decode(), "what has not come", launch)
    wait_for(lambda: all(state(assay, r)["state"] == "complete" for r in range(RANKS)), "all nodes' ends", launch)
    kill(launch.pid, signal.SIGTERM)
    resumed(assay, {}, launch)


@thorough
def test_killed_at_any_moment(assay):
    """Each rank once, at moments that differ in how far rank 0 is."""
    for turn, victim in enumerate((1, 0, 3, 2)):
        launch = start(assay, *LONG, env={"SLOW": "01"})
        wait_for(lambda n=3 * turn: len(book_of(assay, 0).rows("SELECT 1 FROM trials")) >= n and processes(assay, victim)[0], "trials", launch)
        kill(processes(assay, victim)[0])
        resumed(assay, {}, launch)
        for rank in range(RANKS):
            shutil.rmtree(assay.path(f"disk{rank}"))


def test_a_node_that_never_began(assay):
    done = run(assay, *RUN)
    expect(done.code == OK, "a fleet", done)
    shutil.rmtree(assay.path("disk3"))
    shutil.rmtree(assay.path("disk0"))
    again = run(assay, *RESUME)
    expect(again.code == OK and again.err.count("measured before") == 2, "it is measured with the arguments of the others", again)
    all_here(assay, again)
    with contextlib.closing(sqlite3.connect(store(assay, 3))) as db:
        expect(db.execute("SELECT seed FROM runs").fetchall() == [(7,)], "the same")


def test_a_new_disk(assay):
    """What rank 0 has of a node that has lost it stays."""
    run(assay, *RUN)
    before = book_of(assay, 3).states()
    shutil.rmtree(assay.path("disk3"))
    done = run(assay, *RUN)
    expect(done.code == OK and "kept earlier runs" in done.err, "said", done)
    all_here(assay, done)
    assay.store = store(assay, 3, 0) + ".1"
    expect(ledger.Ledger(assay).states() == before, "beside the new store", done)


def test_a_shared_folder(assay):
    """Where the folder is shared after all, nothing is sent."""
    done = run(assay, *RUN, env={"SHARED": "1"})
    expect(done.code == OK and "4 nodes" in done.out and "not gathered" not in done.err, "as without", done)
    expect(not [n for n in os.listdir(assay.path("disk0/fleet")) if not n.endswith(".db") and n != "status"], "one file per node", done)
    expect(sorted(os.listdir(assay.folder)).count("disk1") == 0, "in one folder", done)
    resumed_all = run(assay, *RESUME, env={"SHARED": "1"})
    expect(resumed_all.code == OK, "and resumed", resumed_all)


def test_interrupted(assay):
    launch = start(assay, *LONG, env={"SLOW": "0123"})
    for rank in range(RANKS):
        wait_for(lambda r=rank: has_trials(assay, r), f"trials of rank {rank}", launch)
    kill(launch.pid, signal.SIGTERM)
    resumed(assay, {}, launch)


def test_refused(assay):
    same = run(assay, *RUN, env={"SAME": "localhost"})
    expect(same.code not in (OK, PARTLY) and "are both 'localhost'; give each node its own host name" in same.err, "two nodes of one name", same)
    alone = assay.run("fleet", "run", "latency", "--folder", "f", "--gather")
    expect(alone.code == USAGE and "two ranks or more" in alone.err, "no launcher", alone)
    none = run(assay, *RUN, env={"ASSAY_MPI": "/nonexistent/libmpi.so"})
    expect(none.code not in (OK, PARTLY) and "--gather: cannot find an MPI library" in none.err, "no MPI", none)
    empty = run(assay, "resume", "nothing", "--gather")
    expect(empty.code not in (OK, PARTLY) and "no fleet run has begun" in empty.err, "nothing to resume", empty)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
