"""Conditions of machine and user: two concurrent runs, one CPU, little memory."""
import json
import os
import resource
import shutil
import subprocess
import time

import harness
from harness import FAILED, MEASURED, USAGE, Skip, expect, expect_refused, identity

CELLS = ["latency", "--set", "size=1KiB..4MiB x2", "--device", "null"]

REAL = ["latency", "--device", "cpu", "--set", "size=4KiB,64KiB,1MiB", "--set", "allocator=malloc"]
# Short, and each cell is measured: a budget of seconds may end before that on a busy machine.
BRIEF = ["--budget", "0", *harness.SHORT]


def measuring(assay):
    """A run that measures until it is interrupted, and already does."""
    process = assay.start("run", *REAL, "--budget", "0", "--trials", "100", "--precision", "0.01%", "--json", start_new_session=True)
    harness.wait_for(lambda: harness.lines(process) > 2, "the first run to measure", process)
    return process


def test_two_runs_at_once(assay):
    """The second says that it waits, and measures when the first is done; both are whole."""
    first = measuring(assay)
    second = assay.start("run", *REAL, *BRIEF)
    harness.wait_for(lambda: b"waiting" in harness.written(second.files[1]), "the second to say that it waits", second)
    harness.interrupt(assay, first)
    done = assay.finish(second)
    expect(done.code in MEASURED, "the second", done)
    a, b = assay.cells(1), assay.cells(2)
    expect({identity(c) for c in a} == {identity(c) for c in b}, "the same cells in both")
    ended = assay.export(1)["run"]["ended_at"]
    expect(min(c["started_at"] for c in b if c["n"]) >= ended, "the second began when the first was over")


def test_two_stores_one_machine(assay):
    """It is the machine that is measured by one run at a time, not the store; --no-wait refuses."""
    first = measuring(assay)
    done = assay.run("run", *REAL, "--no-wait", "--store", assay.path("other.db"))
    expect_refused(done, FAILED, "another run")
    harness.interrupt(assay, first)


def test_export_beside_a_run(assay):
    """Without a name it is of the run before, not of the one that is measured; who waits learns for whom."""
    assay.run("run", *REAL, *BRIEF)
    first = measuring(assay)
    expect(assay.export()["run"]["state"] == "complete", "the run before")
    done = assay.run("run", *REAL, "--no-wait", "--store", assay.path("other.db"))
    expect(f"process {first.pid}, assay run latency" in done.err, "names the process and its command", done)
    harness.interrupt(assay, first)


def test_wrong_axis_beside_a_run(assay):
    """Arguments are checked before the end of another run is waited for."""
    first = measuring(assay)
    expect_refused(assay.run("run", "latency", "--device", "cpu", "--set", "sise=4KiB"), USAGE, "axis 'sise'")
    harness.interrupt(assay, first)


def test_one_cpu(assay):
    """With one CPU to run on, parent, worker and every probe still work; what needs two says so."""
    one = min(os.sched_getaffinity(0))
    done = assay.run("run", "latency", "bandwidth", "c2c", "launch", "alloc", "--device", "cpu", "--set", "size=4KiB",
                     *BRIEF, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
    expect(done.code in MEASURED, "measured", done)
    cells = assay.cells()
    expect(not [c for c in cells if c["status"] in ("failed", "crashed", "timeout")], "no cell failed", done)
    expect(all(float(c["axes"].get("threads", 1)) <= 1 for c in cells), "no more threads than CPUs")
    expect(any(c["n"] for c in cells), "numbers are there")


def test_one_cpu_has_no_pairs(assay):
    """Nothing can be measured between cores where there is one: the reason is stored and shown, and the code is 5."""
    one = min(os.sched_getaffinity(0))
    done = assay.run("run", "c2c", "--device", "cpu", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
    expect(done.code == harness.NOTHING, "nothing to measure on", done)
    expect("is bound to one" in done.out, "says why", done)
    expect([c["status"] for c in assay.cells()] == ["unsupported"], "one cell, unsupported", done)


def test_little_address_space(assay):
    """An address-space limit: too large cells are refused with a reason, the others are measured."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    done = assay.run("run", "latency", "--device", "cpu", "--set", "size=4KiB,64KiB,2GiB", *BRIEF,
                     preexec_fn=limit)
    expect(done.code in (*MEASURED, FAILED), "ends with a contract's code", done)
    if done.code == FAILED:
        expect("memory" in done.err, "names the memory", done)
        return
    by_size = {c["axes"]["size"]: c for c in assay.cells()}
    expect(any(c["n"] for c in by_size.values()), "the small ones are measured", by_size)
    large = [c for c in by_size.values() if float(c["axes"]["size"]) >= 2**31]
    expect(all(not c["n"] and c["reason"] for c in large), "the large one says why not", large)


def test_few_descriptors_and_processes(assay):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))
    done = assay.run("run", *CELLS, preexec_fn=limit)
    expect(done.code in (FAILED, harness.NOTHING, *MEASURED) and (done.code in MEASURED or done.err.strip()),
           "a reason, no crash", done)


def memory_group():
    """A new memory cgroup of this test, or None."""
    for base in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        limit = "memory.limit_in_bytes" if base.endswith("memory") else "memory.max"
        path = os.path.join(base, f"assay-test-{os.getpid()}")
        try:
            os.mkdir(path)
            with open(os.path.join(path, limit), "w", encoding="ascii") as f:
                f.write(str(256 << 20))
            return path
        except OSError:
            if os.path.isdir(path):
                os.rmdir(path)
    return None


def remove_group(group):
    for _ in range(50):
        try:
            os.rmdir(group)
            break
        except OSError:
            time.sleep(0.05)


def test_memory_cgroup(assay):
    """A container's limit bounds what is asked for; the kernel's killer has no reason to come."""
    group = memory_group()
    if not group:
        raise Skip("no permission to make a memory cgroup")
    try:
        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write(str(os.getpid()))
        done = assay.run("run", "latency", "bandwidth", "--device", "cpu", "--set",
                         "latency.size=64KiB,64MiB,0.25free,4GiB", "--set", "bandwidth.size=64KiB,0.25free", *BRIEF,
                         preexec_fn=enter)
        expect(done.code in MEASURED, "measured inside the limit", done)
        cells = assay.cells()
        crashed = [c for c in cells if c["status"] in ("crashed", "failed", "timeout")]
        expect(not crashed, "nothing was killed", [(c["axes"], c["reason"]) for c in crashed])
        for cell in cells:
            if float(cell["axes"]["size"]) > 256 << 20:
                expect(cell["status"] == "unsupported" and cell["reason"], "too large for the limit", cell)
    finally:
        remove_group(group)


def test_blas_that_is_none(assay):
    """A library that only has the name of a BLAS: the reason says what it lacks."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        other = next((line.split()[-1] for line in f if "/libc." in line or "/libc-" in line), None)
    if not other:
        raise Skip("no library of another kind is to be seen in this process")
    for name in ("openblas.so.0", "openblas.so", "blis.so.4", "blis.so", "mkl_rt.so.2", "mkl_rt.so", "cblas.so.3",
                 "blas.so.3"):
        os.symlink(other, assay.path("lib" + name))
    done = assay.run("run", "probe:matmul", "--device", "cpu", "--trials", "1", "--set", "path=library", "--set", "type=f32",
                     "--set", "size=256", "--set", "operands=random", "--set", "hold=burst",
                     env={"LD_LIBRARY_PATH": assay.folder})
    reasons = [c["reason"] for c in assay.cells()]
    expect(len(reasons) == 1 and "libopenblas.so.0 has no function 'cblas_sgemm'" in reasons[0], f"{reasons}", done)


def test_worker_program_missing(assay):
    done = assay.run("run", *CELLS, env={"ASSAY_WORKER": "/no/such/assay"})
    expect(done.code not in (*MEASURED,) and "/no/such/assay" in done.err, "says what is missing", done)
    done = assay.run("run", *CELLS, env={"ASSAY_WORKER": "/bin/true"})
    expect(done.code not in (*MEASURED,) and done.err.strip(), "a program that is no worker", done)


def test_worker_started_by_hand(assay):
    """`assay --worker` without a parent's socket ends at once, and by itself."""
    for arguments in (["--worker", "3", "1"], ["--worker", "0", str(os.getpid())], ["--worker", "99999", "x"],
                      ["--worker"]):
        done = assay.run(*arguments)
        expect(0 <= done.code < 128 and not done.out, f"{arguments} does nothing", done)


def test_events_are_json_lines(assay):
    done = assay.run("run", *CELLS, "--json")
    expect(done.code in MEASURED, "measured", done)
    events = [json.loads(line) for line in done.out.splitlines()]
    expect(len(events) > 4, "events", done)


def test_leaves_nothing_behind(assay):
    """No process, no temporary file. Program and folder are this test's alone: what others leave behind is not seen."""
    program, temporary = assay.path("assay-alone"), assay.path("temporary")
    shutil.copy(assay.program, program)
    assay.program = program
    os.mkdir(temporary)
    expect(assay.run("run", *CELLS, env={"TMPDIR": temporary}).code in MEASURED, "a run")
    expect(not os.listdir(temporary), f"left behind: {os.listdir(temporary)}")
    left = [name for name in os.listdir(assay.folder) if not name.startswith(("script", "assay-alone", "temporary"))]
    expect(left == ["store.db"], f"in the folder: {left}")
    owners = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    expect(program not in owners, "no worker is left", owners)


if __name__ == "__main__":
    harness.main(globals())
