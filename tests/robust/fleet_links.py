"""assay fleet links: two ranks under each MPI that is installed measure their link. No number is judged, only that it is there, sound and
stored as every other."""
import os
import shutil
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import FAILED, NOTHING, OK, USAGE, Skip, expect  # noqa: E402

LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "MPICH": ["mpirun.mpich"]}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SHORT = ["--trials", "2", "--set", "size=8,4KiB"]
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
    fleet = assay.run("fleet", "show", "fleet")
    expect(fleet.code == OK, "the fleet is shown", fleet)


def test_open_mpi(assay):
    link(assay, "Open MPI")


def test_mpich(assay):
    link(assay, "MPICH")


def test_three_ranks(assay):
    """With three ranks, one takes no part in the bisection."""
    done = launch(assay, "MPICH", 3, "--folder", "fleet", "--trials", "1", "--set", "size=8", "--quiet")
    expect(done.code == OK and done.out.count("latency") == 3 and done.out.count("bisection") == 1, "all pairs", done)


def test_wrong_use(assay):
    for words in (("links",), ("links", "--folder", "f"), ("links", "--folder", "f", "--page", "x")):
        done = assay.run("fleet", *words)
        expect(done.code == USAGE and done.err.startswith("assay: "), " ".join(words), done)
    expect(not os.path.exists(assay.path("f")), "what is refused makes no folder")
    ranked = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}
    for library, words in (("/nonexistent/libmpi.so", "cannot find an MPI library"), ("libm.so.6", "neither Open MPI nor MPICH")):
        done = assay.run("fleet", "links", "--folder", "f", env=dict(ranked, ASSAY_MPI=library))
        expect(done.code == NOTHING and words in done.err, library, done)
    wrong = assay.run("run", "node_link", "--device", "null")
    expect(wrong.code in (USAGE, FAILED, NOTHING) and "fleet links" in wrong.err + wrong.out, "no single machine measures it", wrong)


def test_nothing_to_measure(assay):
    """Rank 0 refuses; the others end as well."""
    done = launch(assay, "MPICH", 2, "--folder", "fleet", "--set", "what=allreduce", "--set", "size=4")
    expect(done.code != OK and "nothing to measure" in done.err, "refused", done)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
