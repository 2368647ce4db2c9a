"""assay fleet links: two ranks under each MPI that is installed measure their link. No number is judged, only that it is there, sound and
stored as every other."""
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import ledger  # noqa: E402
from harness import FAILED, NOTHING, OK, USAGE, Skip, expect  # noqa: E402

LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "MPICH": ["mpirun.mpich"]}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SHORT = ["--trials", "2", "--set", "size=8,4KiB"]
TRIALS = 20  # of a run that is killed
HOST = socket.gethostname().replace("/", "_")


def launch(assay, mpi, ranks, *args, env=None):
    found = shutil.which(LAUNCHERS[mpi][0])
    if not found:
        raise Skip(f"{mpi} is not installed")
    program, assay.program = assay.program, found
    try:
        return assay.run(*LAUNCHERS[mpi][1:], "-n", str(ranks), program, "fleet", "links", *args, env={**ROOT, **(env or {})})
    finally:
        assay.program = program


def link(assay, mpi):
    done = launch(assay, mpi, 2, "--folder", "fleet", *SHORT)
    expect(done.code == OK and mpi in done.out and f"rank 0 ({HOST}) and 1 ({HOST})" in done.out, "measured", done)
    assay.store = assay.path(f"fleet/{HOST}.db")
    assay.env["ASSAY_STORE"] = assay.store
    cells = assay.cells()
    expect({c["axes"]["what"] for c in cells} == {"latency", "bandwidth", "both", "bisection", "allreduce"}, "all kinds", done)
    expect(len(cells) == 10 and all(c["status"] in ("ok", "wide") and c["trials_done"] == 2 for c in cells), "each has its trials", done)
    expect(all(c["gates"]["checksum"]["state"] == "pass" for c in cells), "what arrived is what was sent", done)
    sound = assay.run("doctor")
    expect("is sound" in sound.out, "the store is sound", sound)
    shown = assay.run("show", "last", "node_link")
    expect(shown.code == OK and "allreduce" in shown.out, "shown as other probes", shown)
    page = assay.run("report", "last", "-o", assay.path("page.html"))
    expect(page.code == OK, "and on a page", page)
    pages = assay.path("fleet.html")
    fleet = assay.run("fleet", "show", "fleet", "--page", pages)
    expect(fleet.code == OK and "Links between nodes" in fleet.out and "all-reduce, 8 B, all ranks" in fleet.out, "the fleet is shown", fleet)
    with open(pages, encoding="utf-8") as f:
        expect('"links":{"hosts":' in f.read(), "with its pairs on the page", fleet)
    expect(words_of(links_of(fleet)).removeprefix("Links between nodes ") in words_of(done.out), "what was printed is what is stored", fleet)
    first, merged = assay.path("first.json"), assay.path("all.json")
    made = assay.run("fleet", "merge", "fleet", "-o", first)
    again = assay.run("fleet", "merge", first, first, "-o", merged)
    expect(made.code == OK and again.code == OK, "merged, and once more", again)
    again = assay.run("fleet", "show", merged)
    expect(links_of(again) == links_of(fleet), "a merged file has the same links", again)


def words_of(text):
    """Open MPI's stdout is a terminal, with lines of another width."""
    return " ".join(text.replace("µ", "u").split())


def links_of(done):
    return done.out[done.out.index("Links between nodes"):]


def test_open_mpi(assay):
    link(assay, "Open MPI")


def test_mpich(assay):
    link(assay, "MPICH")


def test_sizes(assay):
    """By default also messages whose time is that of their bytes, where there is memory for them."""
    done = launch(assay, "Open MPI", 2, "--folder", "fleet", "--trials", "1")
    cells = cells_of(assay, f"fleet/{HOST}.db")
    sizes = {what: {c["axes"]["size"] for c in cells if c["axes"]["what"] == what} for what in ("bandwidth", "both", "allreduce")}
    expect(done.code == OK and sizes["bandwidth"] == sizes["both"] == {256 << 10, 4 << 20}, "of pairs", sizes)
    expect(sizes["allreduce"] - {64 << 20} == {8, 256 << 10}, "of all ranks", sizes)


def test_waits_for_a_run(assay):
    """No other run measures on its hosts meanwhile: it waits for those that do."""
    folder = assay.path("cache")
    os.mkdir(folder)
    with open(os.path.join(folder, f"assay-{os.geteuid()}-node1.lock"), "w", encoding="utf-8") as held, \
            tempfile.TemporaryFile("w+", dir=assay.folder) as err:
        os.chmod(held.name, 0o600)
        fcntl.lockf(held, fcntl.LOCK_EX)
        assay.env["XDG_CACHE_HOME"] = folder
        ranks = host_of_each(assay, 2, "--folder", "fleet", *SHORT, start=True, stderr=err)
        harness.wait_for(lambda: os.pread(err.fileno(), 1 << 16, 0).count(b"waiting for another run on node1"), "a note", ranks)
        expect(not os.path.exists(assay.path("fleet/node0.db")), "nothing is measured before")
        fcntl.lockf(held, fcntl.LOCK_UN)
        expect(ranks.wait() == OK, "then it measures")
    expect(len(cells_of(assay, "fleet/node0.db")) == 10, "all of it")


def test_three_ranks(assay):
    """With three ranks, one takes no part in the bisection."""
    done = launch(assay, "Open MPI", 3, "--folder", "fleet", "--trials", "1", "--set", "size=8", "--quiet")
    expect(done.code == OK and done.out.count("latency") == 3 and done.out.count("bisection") == 1, "all pairs", done)


def host_of_each(assay, ranks, *args, mpi="Open MPI", start=False, **more):
    """Ranks under host names of their own."""
    found = shutil.which(LAUNCHERS[mpi][0])
    if not found or os.system("unshare -u true 2>/dev/null"):
        raise Skip(f"{mpi} is not installed, or no host names of its own can be given to a process")
    own = 'hostname "node${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"; exec "$@"'
    program, assay.program = assay.program, found
    try:
        call = assay.start if start else assay.run
        return call(*LAUNCHERS[mpi][1:], "-n", str(ranks), "unshare", "-u", "sh", "-c", own, "sh", program, "fleet", "links", *args, env=ROOT, **more)
    finally:
        assay.program = program


def cells_of(assay, store):
    assay.store = assay.path(store)
    assay.env["ASSAY_STORE"] = assay.store
    return assay.cells()


def test_pairs_at_once(assay):
    """Pairs that share no host run at once, and each has its numbers."""
    done = host_of_each(assay, 4, "--folder", "fleet", *SHORT, "--set", "pairs=together")
    expect(done.code == OK and "6 of 6 pairs, up to 2 at once" in done.out and "(node1) and 3 (node3)" in done.out, "two at once", done)
    cells = cells_of(assay, "fleet/node0.db")
    of_pairs = [c for c in cells if c["axes"]["pairs"] == "together"]
    expect(len(of_pairs) == 6 * 3 * 2 and len(cells) == len(of_pairs) + 4, "all pairs, and all ranks together", done)
    expect(all(c["trials_done"] == 2 and c["gates"]["checksum"]["state"] == "pass" for c in cells), "each with what was sent", done)


def test_sampled_pairs(assay):
    """Of more ranks than 16 a sample, as the output says."""
    done = launch(assay, "Open MPI", 18, "--folder", "fleet", "--trials", "1", "--set", "size=8", "--set", "what=allreduce")
    expect(done.code == OK and "18 ranks" in done.out and "all-reduce" in done.out and "pairs" not in done.out, "what all ranks do", done)


def test_budget(assay):
    """What a budget does not hold is said, and is no failure."""
    done = host_of_each(assay, 4, "--folder", "fleet", "--trials", "100", "--budget", "1s")
    expect(done.code == OK and "The budget covered" in done.out, "said", done)
    cells = cells_of(assay, "fleet/node0.db")
    expect(all(c["status"] in ("ok", "wide") or "budget" in c["reason"] for c in cells), "the others have a reason", done)
    again = host_of_each(assay, 4, "--folder", "fleet", "--resume")
    expect(again.code != OK and "no unfinished run" in again.err, "it is complete", again)


# Each message of 4 KiB or more takes longer than a repetition may, as 64 MiB do over a slow network.
SLOW_LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
typedef int send_fn(const void *, int, void *, int, int, void *, void *);
int MPI_Isend(const void *data, int n, void *type, int to, int tag, void *comm, void *request)
{
    send_fn *const send = (send_fn *)dlsym(dlopen("libmpi.so.40", RTLD_NOW), "MPI_Isend");
    if (n >= 4096)
        nanosleep(&(struct timespec){0, 300000000}, 0);
    return send(data, n, type, to, tag, comm, request);
}
"""


def library_of(assay, name, source):
    """A library beside MPI's, with functions in the place of its own."""
    found = re.search(r"(/\S*/libmpi\.so\.40)$", os.popen("ldconfig -p").read(), re.M)
    if not found or not shutil.which("cc"):
        raise Skip("no libmpi.so.40, or no compiler")
    path = assay.path(f"{name}.so")
    made = subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", path, "-xnone", "-Wl,--no-as-needed", found[1]], input=source, text=True, check=False)
    expect(made.returncode == 0, "the stand-in is built")
    return path


def slow_launch(assay, *args):
    env = {"ASSAY_MPI": library_of(assay, "slow", SLOW_LIBRARY)}
    return launch(assay, "Open MPI", 2, "--folder", "fleet", "--set", "what=bandwidth", "--set", "size=4KiB", *args, env=env)


def test_a_slow_link(assay):
    """One message after the other, and few of them; 64 in a row, in fourteen repetitions, would take five minutes."""
    done = slow_launch(assay, "--trials", "1")
    (cell,) = cells_of(assay, f"fleet/{HOST}.db")
    expect(done.code == OK and cell["detail"]["window"] == 1 and cell["n"] == 3, "a trial that fits the link", done)
    expect(cell["gates"]["checksum"]["state"] == "pass", "what arrived is what was sent", done)


def test_a_budget_within_a_trial(assay):
    done = slow_launch(assay, "--trials", "100", "--budget", "2s")
    expect(done.code == OK and "The budget covered" in done.out, "the budget ends a trial, and says so", done)
    (cell,) = cells_of(assay, f"fleet/{HOST}.db")
    expect(cell["trials_done"] < 100, "the rest is left out", done)


def test_interrupts(assay):
    """A signal to any rank ends the trial on all of them, and what is stored is resumed."""
    for victim in (0, 1):
        folder = f"fleet{victim}"
        ranks = host_of_each(assay, 2, "--folder", folder, "--trials", str(TRIALS), "--set", "size=8", "--set", "what=latency,allreduce", start=True)
        assay.store = assay.path(f"{folder}/node0.db")
        book = ledger.Ledger(assay)
        ((leader,),) = harness.wait_for(lambda b=book: b.rows("SELECT worker FROM trials LIMIT 1"), "trials", ranks)
        pids = {0: leader, 1: next(p for p in harness.children(ranks.pid) if p != leader)}
        harness.kill(pids[victim], signal.SIGTERM)
        done = assay.finish(ranks)
        expect(done.code != OK and "Interrupted" in done.out and "--resume" in done.out, f"rank {victim} is stopped", done)
        again = host_of_each(assay, 2, "--folder", folder, "--resume")
        expect(again.code == OK, "the rest is measured", again)
        book.check()
        (uuid,) = book.states()
        book.check_complete(uuid, TRIALS)


def test_of_all_ranks(assay):
    """What all ranks do together is measured once, not for each pair, and can be resumed."""
    what = ("--set", "what=bisection,allreduce", "--set", "size=8")
    done = host_of_each(assay, 3, "--folder", "fleet", "--trials", "2", *what)
    cells = cells_of(assay, "fleet/node0.db")
    expect(done.code == OK and sorted(c["axes"]["what"] for c in cells) == ["allreduce", "bisection"], "once each", done)
    expect({(c["axes"]["from"], c["axes"]["to"]) for c in cells} == {(0, 2)}, "of all ranks", cells)
    pairs = host_of_each(assay, 3, "--folder", "pairs", "--trials", "1", "--set", "what=latency", "--set", "size=8")
    expect(pairs.code == OK and len(cells_of(assay, "pairs/node0.db")) == 3, "and pairs alone", pairs)
    ranks = host_of_each(assay, 3, "--folder", "killed", "--trials", str(TRIALS), *what, start=True)
    assay.store = assay.path("killed/node0.db")
    book = ledger.Ledger(assay)
    ((leader,),) = harness.wait_for(lambda: book.rows("SELECT worker FROM trials LIMIT 1"), "trials", ranks)
    harness.kill(leader)
    ranks.wait()
    again = host_of_each(assay, 3, "--folder", "killed", "--resume")
    expect(again.code == OK, "resumed", again)
    (uuid,) = book.states()
    book.check_complete(uuid, TRIALS)


def test_a_killed_run_hides_no_other(assay):
    what = ("--set", "size=8", "--set", "what=latency")
    good = host_of_each(assay, 2, "--folder", "fleet", "--trials", "2", *what)
    expect(good.code == OK, "a complete run", good)
    shown = assay.run("fleet", "show", "fleet")
    ranks = host_of_each(assay, 2, "--folder", "fleet", "--trials", str(TRIALS), "--set", "size=8", "--set", "what=allreduce", start=True)
    assay.store = assay.path("fleet/node0.db")
    book = ledger.Ledger(assay)
    (_, (leader,)) = harness.wait_for(lambda: len(r := book.rows("SELECT DISTINCT worker FROM trials ORDER BY id")) == 2 and r, "trials", ranks)
    harness.kill(leader)
    ranks.wait()
    after = assay.run("fleet", "show", "fleet")
    expect(links_of(after) == links_of(shown), "the complete one is shown", after)
    again = host_of_each(assay, 2, "--folder", "fleet", "--resume")
    expect(again.code == OK, "resumed", again)
    last = assay.run("fleet", "show", "fleet")
    expect("all-reduce" in last.out and "latency" not in links_of(last), "then it is the last one", last)


def test_resume(assay):
    """A killed rank 0 loses no stored trial, and the same launch continues."""
    ranks = host_of_each(assay, 2, "--folder", "fleet", "--trials", str(TRIALS), "--set", "size=8", "--set", "what=latency,allreduce", start=True)
    assay.store = assay.path("fleet/node0.db")
    book = ledger.Ledger(assay)
    ((leader,),) = harness.wait_for(lambda: book.rows("SELECT worker FROM trials LIMIT 1"), "trials", ranks)
    harness.kill(leader)
    ranks.wait()
    book.check()
    other = assay.run("resume", "--store", assay.store)
    expect(other.code != OK and "no unfinished run" in other.err, "which no single machine can", other)
    named = assay.run("resume", "last", "--store", assay.store)
    expect(named.code != OK and "fleet links --resume" in named.err, "but by its own command", named)
    wrong = host_of_each(assay, 3, "--folder", "fleet", "--resume")
    expect(wrong.code != OK and "has 2 ranks" in wrong.err, "other ranks are refused", wrong)
    done = host_of_each(assay, 2, "--folder", "fleet", "--resume")
    expect(done.code == OK, "the rest is measured", done)
    book.check()
    (uuid,) = book.states()
    book.check_complete(uuid, TRIALS)


ALLOCATORS = [{"name": name} for name in ("malloc", "pinned", "device")]


def with_memory(assay, *args, **env):
    script = assay.script({"info": {"allocators": ALLOCATORS}})
    return launch(assay, "Open MPI", 2, "--folder", "fleet", "--trials", "1", "--set", "size=8", "--device", "null", *args, env={**script, **env})


def kinds_of(assay):
    return {c["axes"]["memory"] for c in cells_of(assay, f"fleet/{HOST}.db") if c["gates"]["checksum"]["state"] == "pass"}


def test_memory(assay):
    """Pinned memory of the device's API is measured, and that of the device where MPI is GPU-aware."""
    done = with_memory(assay, "--set", "what=latency")
    expect(done.code == OK and "pinned memory, rank 0" in done.out, "pinned memory", done)
    expect("Device memory not measured: rank 1" in done.out and "assay_query_null_support" in done.out, "and why no other", done)
    expect(kinds_of(assay) == {"pageable", "pinned"}, "each arrives as sent", done)
    refused = with_memory(assay, "--set", "memory=device")
    expect(refused.code == NOTHING and "device memory cannot be sent: rank 1" in refused.err, "what is asked for is refused", refused)
    absent = launch(assay, "Open MPI", 2, "--folder", "fleet", "--device", "nul")
    expect(absent.code == NOTHING and 'did you mean "null"' in absent.err, "a device that is none", absent)


def test_device_memory(assay):
    """A library beside MPI's stands in for GPU-aware MPI."""
    for answer, kinds in (("0", {"pageable", "pinned"}), ("1", {"pageable", "pinned", "device"})):
        library = library_of(assay, f"stand_in{answer}", f"int assay_query_null_support(void) {{ return {answer}; }}")
        done = with_memory(assay, ASSAY_MPI=library)
        expect(done.code == OK and ("is not GPU-aware, or GPU support is disabled" in " ".join(done.out.split())) == (answer == "0"), "measured", done)
        expect(kinds_of(assay) == kinds, "each arrives as sent", done)


def test_wrong_use(assay):
    for words in (("links",), ("links", "--folder", "f"), ("links", "--folder", "f", "--page", "x"),
                  ("links", "--folder", "f", "--resume", "--trials", "3"), ("links", "--folder", "f", "--budget", "x")):
        done = assay.run("fleet", *words)
        expect(done.code == USAGE and done.err.startswith("assay: "), " ".join(words), done)
    expect(not os.path.exists(assay.path("f")), "what is refused makes no folder")
    ranked = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}
    for library, words in (("/nonexistent/libmpi.so", "cannot find an MPI library"), ("libm.so.6", "neither Open MPI nor MPICH")):
        done = assay.run("fleet", "links", "--folder", "f", env=dict(ranked, ASSAY_MPI=library))
        expect(done.code == NOTHING and words in done.err, library, done)
    wrong = assay.run("run", "node_link", "--device", "null")
    expect(wrong.code in (USAGE, FAILED, NOTHING) and "fleet links" in wrong.err + wrong.out, "no single machine measures it", wrong)


def test_ranks_that_are_none(assay):
    """A rank that waits for itself would wait forever, and one beyond the last is none."""
    for wrong in ("to=1", "to=99"):
        done = launch(assay, "Open MPI", 3, "--folder", "fleet", "--trials", "1", "--set", "size=8", "--set", wrong)
        expect("'from' must be below 'to'" in done.err and done.code != OK, wrong, done)


def test_nothing_to_measure(assay):
    """Rank 0 refuses; the others end as well."""
    done = launch(assay, "MPICH", 2, "--folder", "fleet", "--set", "what=allreduce", "--set", "size=4")
    expect(done.code != OK and "nothing to measure" in done.err, "refused", done)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
