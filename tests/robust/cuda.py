"""What goes wrong with CUDA, from the command line to the driver: the driver and NVRTC are stand-ins that need no GPU, and
whose kernel "count" counts. What is said, the exit code, and that nothing else is lost.

ASSAY_FAKE_CUDA, ASSAY_FAKE_NVRTC, ASSAY_FAKE_NVML and ASSAY_FAKE_NCCL are the stand-ins' folders."""
import collections
import configparser
import json
import os
import re

import harness
from harness import LAUNCH, MEASURED, NOTHING, SHORT, USAGE, expect, expect_refused, measured, once

DRIVER, COMPILER = os.environ["ASSAY_FAKE_CUDA"], os.environ["ASSAY_FAKE_NVRTC"]
SENSOR, COLLECTIVES = os.environ["ASSAY_FAKE_NVML"], os.environ["ASSAY_FAKE_NCCL"]
NO_COLLECTIVES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device", "nccl", "damaged")
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CUDA = [*LAUNCH, *SHORT, "--device", "cuda:0"]


def cuda(assay, words="runs", **more):
    """The environment in which the driver behaves so; **more is added to it."""
    return {"LD_LIBRARY_PATH": f"{DRIVER}:{COMPILER}", "FAKE_CUDA": words, "XDG_CACHE_HOME": assay.path("cache"), **more}


def run(assay, words, *args, **more):
    return assay.run("run", *args, env=cuda(assay, words, **more))


def test_all_is_well(assay):
    done = run(assay, "runs", *CUDA)
    expect(done.code in MEASURED and len(measured(assay.cells())) == 3, "every cell is measured", done)


def sensed(assay, folder):
    """The device, its cells and what devices prints, with NVML from this folder."""
    env = cuda(assay, LD_LIBRARY_PATH=f"{DRIVER}:{COMPILER}:{folder}", FAKE_NVML="self")
    done = assay.run("run", *CUDA, env=env)
    expect(done.code in MEASURED, "it measures", done)
    return assay.export()["run"]["devices"][0], assay.cells(), assay.run("devices", env=env)


def test_sensor_is_there_or_missing(assay):
    """Without NVML every cell is measured all the same, the clock is known by the device itself, and the loss has a reason."""
    wrong = assay.path("no-nvml")
    os.mkdir(wrong)
    os.symlink(os.path.join(DRIVER, "libcuda.so.1"), os.path.join(wrong, "libnvidia-ml.so.1"))
    device, cells, listed = sensed(assay, SENSOR)
    expect(device["sensor"] == "nvml" and not device["sensor_why"], "the control has a sensor", device)
    expect("cuda:0: no sensor" not in listed.out, "and devices does not say that it has none", listed)
    seen = [v["readings"] for c in cells for v in c["trials"] if v["n"]]
    expect(all(r and r["sensor"] == "nvml" and r["throttle"] == "none" for r in seen), "its readings stand in the trials",
           seen)
    device, cells, listed = sensed(assay, wrong)
    expect(not device["sensor"] and device["sensor_why"].startswith("nvml: "), "no sensor, and why", device)
    expect("libnvidia-ml.so.1" in device["sensor_why"] or "nvmlInit_v2" in device["sensor_why"], "what is wrong", device)
    expect("cuda:0: no sensor: nvml: " in listed.out, "devices says it too", listed)
    expect(len(measured(cells)) == len(cells) == 3, "every cell is measured", cells)
    for cell in cells:
        expect(cell["clock_hz"] > 0, "the clock is still known", cell)
        expect(all(v["readings"] is None for v in cell["trials"]), "and nothing is said that only the sensor knows", cell)


def test_no_driver_starts(assay):
    for words, visible, part in (
            ("none", None, "/dev/nvidia0"), ("mismatch", None, "different versions"),
            ("runs", "", "CUDA_VISIBLE_DEVICES is set and empty"), ("runs", "7", "CUDA_VISIBLE_DEVICES is '7'")):
        more = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        expect_refused(run(assay, words, *CUDA, **more), NOTHING, part)
        listed = assay.run("devices", env=cuda(assay, words, **more))
        expect(part in " ".join(listed.out.split()), "devices says it too", listed)


def test_sharing_is_tested(assay):
    """Beside what the driver announces stands what an access found: here that the host reaches the device's memory, and with
    "apart" that it does not, which ends no worker."""
    for words, answer in (("runs", "valid on both"), ("runs apart", "CPU access fails")):
        done = run(assay, words, "sharing", "--device", "cuda:0", "--trials", "1")
        expect(done.code in MEASURED and "worker" not in done.err, "no worker is lost", done)
        found = {c["axes"]["allocator"]: c for c in assay.cells() if c["probe"] == "sharing"}
        said = {name: c["answers"][int(c["median"]) - 1] for name, c in found.items() if c["status"] == "ok"}
        expect(said["cuMemAlloc"] == answer, "what was found", said)
        expect(said["cuMemAllocManaged"] == said["cuMemHostAlloc"] == said["malloc"] == "valid on both", "of other memory", said)
        facts = " ".join(assay.run("facts", "last", "--all").out.split())
        unannounced = "Kernel pointers to 'cuMemAlloc' memory are valid on the CPU, which the driver does not announce"
        expect((unannounced in facts) == (answer == "valid on both"), "announced", facts)


def suites(assay):
    names = [json.loads(line)["suite"] for line in assay.run("list", "suites", "--json").out.splitlines()]
    expect("node" in names and "quick" in names, "the suites", names)
    return names


def selectors():
    """What the data sheet takes of a GPU: for each probe the axes of its measurements, except those that are roles."""
    table = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation(), delimiters=("=",),
                                      comment_prefixes=(";",))
    table.read(os.path.join(TOP, "src", "quantity", "quantities.ini"))
    taken = collections.defaultdict(list)
    for section in table.sections():
        for key, value in table[section].items() if section != "words" else ():
            if re.fullmatch(r"(device|both)[0-9]*", key):
                probe, *axes = value.split()
                axes = dict(axis.split("=", 1) for axis in axes if "=" in axis)
                taken[probe].append({k: v for k, v in axes.items() if not v.startswith("@")})
    return taken


# The driver's stand-in has no peers, so that link has only what is beside the sheet's copies; code varies one operation.
BESIDE_THE_SHEET = {("full", "link"), ("link", "link"), ("code", "alu")}


def test_every_suite_measures_what_the_sheet_takes(assay):
    """A suite that runs a probe of the sheet measures a value that the sheet takes; else the sheet says it has none."""
    taken = selectors()
    for suite in suites(assay):
        planned = collections.defaultdict(list)
        for line in assay.run("plan", suite, "--device", "cuda:0", "--json", env=cuda(assay)).out.splitlines():
            cell = json.loads(line)
            if cell["event"] == "cell" and cell["status"] == "planned":
                planned[cell["probe"]].append({k: str(v) for k, v in cell["axes"].items()})
        for probe in sorted(set(planned) & set(taken)):
            fit = any(axes.items() <= cell.items() for axes in taken[probe] for cell in planned[probe])
            expect(fit or (suite, probe) in BESIDE_THE_SHEET, f"{suite}: the sheet takes a measurement of {probe}",
                   planned[probe][0])


def test_every_suite_runs_on_what_there_is(assay):
    """A machine has the GPUs of one vendor: a suite for several kinds of GPU runs on those that are present."""
    for suite in suites(assay):
        done = assay.run("plan", suite, env=cuda(assay))
        expect(done.code == 0 and "cuda:0" in done.out, f"{suite} is planned on the GPU that is there", done)
    without = os.path.join(DRIVER, os.pardir, "empty")  # hides the stand-in's folder, where the environment names it
    done = assay.run("plan", "node", env={"LD_LIBRARY_PATH": without})
    expect_refused(done, NOTHING, "can be used; devices here: cpu", "cuda: ", "hip: ", "metal: ")
    done = assay.run("plan", "node", "--device", "cuda,hip", env=cuda(assay))
    expect_refused(done, NOTHING, "no device 'hip' can be used")


def test_node_has_every_way_over_each_link(assay):
    """Copies with the host and with each GPU, by copy engine and copy kernel, in each direction and both."""
    done = assay.run("plan", "node", "--device", "cuda", "--json", env=cuda(assay))
    cells = [c["axes"] for c in map(json.loads, done.out.splitlines()) if c["event"] == "cell" and c["probe"] == "link"]
    ways = {(how, direction) for how in ("engine", "kernel") for direction in ("to", "from", "both")}
    for peer in ("host", "1"):
        expect({(c["how"], c["direction"]) for c in cells if c["peer"] == peer} == ways, f"all ways with {peer}", cells)


def test_fewer_devices_are_visible(assay):
    done = run(assay, "runs", *LAUNCH, "--device", "cuda:2", CUDA_VISIBLE_DEVICES="1,0")
    expect_refused(done, USAGE, "cuda:2", "has 2")


def test_order_of_visible_devices(assay):
    """The same number is the same device, whatever order the driver gives them."""
    seen = set()
    for visible in ("0,1,2", "2,1,0", "1,2,0"):
        run(assay, "runs", *CUDA, "--set", "wait=block", CUDA_VISIBLE_DEVICES=visible)
        seen |= {d["bus_id"] for d in assay.export()["run"]["devices"]}
    expect(seen == {"0000:0a:03.0"}, "one bus id", seen)


def test_device_is_taken(assay):
    expect_refused(run(assay, "busy", *CUDA), NOTHING, "cuda:0", "another process")
    done = run(assay, "busy", *LAUNCH, "--device", "cuda:0,null")
    expect(done.code == NOTHING and "another process" in done.err, "also beside another one", done)
    listed = assay.run("devices", env=cuda(assay, "busy"))
    expect(listed.code == 0 and "another process" in " ".join(listed.out.split()), "devices says it", listed)


def test_no_compiler(assay):
    """A library of NVRTC's name that is something else stands for all ways in which it cannot be had."""
    wrong = assay.path("wrong")
    os.mkdir(wrong)
    os.symlink(os.path.join(DRIVER, "libcuda.so.1"), os.path.join(wrong, "libnvrtc.so.13"))
    done = run(assay, "runs", *CUDA, LD_LIBRARY_PATH=f"{DRIVER}:{wrong}")
    expect(done.code == NOTHING, "nothing can be measured", done)
    for cell in assay.cells():
        expect(cell["status"] == "unsupported" and "libnvrtc" in cell["reason"], "the reason is stored", cell)


AHEAD = ["alu_latency", "--device", "cuda:0", "--set", "op=iadd32,isub32,imul32,imad32,fadd32,fmul32,ffma32,fadd64",
         *SHORT]
CELLS_AHEAD, SENTINELS = 8, 2


def compiled(assay, *args, **more):
    """Processes that compiled something, one entry for each time."""
    log = assay.path("compiled")
    open(log, "w", encoding="ascii").close()
    done = run(assay, "runs", *args, FAKE_NVRTC_LOG=log, **more)
    with open(log, encoding="ascii") as f:
        return done, f.read().split()


def test_compiled_ahead(assay):
    """On all processors before anything is measured, each program once; the second time they are found in the cache."""
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    done, by = compiled(assay, *AHEAD)
    expect("compiling 10 kernels on" in done.err, "it says so", done)
    expect(len(by) == CELLS_AHEAD + SENTINELS, "each program once", by)
    expect(len(set(by) - measuring(assay)) == 2, "by two processes that do not measure", by)
    expect(len(late(assay, by)) <= 1, "all but what a sentinel builds after its first launch", by)
    done, by = compiled(assay, *AHEAD)
    expect(not by, "and never again", by)
    done, by = compiled(assay, *AHEAD, ASSAY_CACHE="off")
    expect("compiling " not in done.err and len(set(by)) == 1, "where nothing is kept the trials compile", by)


def measuring(assay):
    """The processes that measured, as the log of compilations names them."""
    return {str(trial["worker"]) for cell in assay.cells() for trial in cell["trials"]}


def late(assay, by):
    """What the trials compiled."""
    return [process for process in by if process in measuring(assay)]


# Where memory comes first and programs follow, several of them, and many sizes with one program.
WHOLE = """[suite]
trials = 1
[bandwidth]
op = read,copy,triad
level = sweep
size = 64KiB
allocator = device
touch = device
[latency]
size = 16KiB..256KiB
allocator = device
[onchip]
what = global
size = 8KiB..256KiB
[link_latency]
grids = quick
[launch]
what = roundtrip
"""


BOTH = """[suite]
trials = 1
precision = 100%
budget = 60s
[latency]
devices = cpu
size = 4KiB,16KiB
allocator = base_pages
[alu_latency]
devices = cuda:0
op = iadd32,isub32,imul32,imad32,fadd32,fmul32,ffma32,fadd64
"""


def test_first_numbers_do_not_wait_for_compilers(assay):
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    suite = assay.path("both.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write(BOTH)
    done, _ = compiled(assay, suite, "--device", "cpu,cuda:0", "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    compiling = [i for i, e in enumerate(events) if e["event"] == "note" and e["text"].startswith("compiling ")]
    ends = [i for i, e in enumerate(events) if e["event"] == "cell_end" and e["cell"]["device"] == "cpu"]
    expect(len(compiling) == 1 and ends, "kernels are compiled, and the CPU is measured", done)
    expect(ends[0] < compiling[0], "the CPU first", [e["event"] for e in events])


def test_whole_plan_is_compiled_ahead(assay):
    """Whatever a probe does before it builds its programs, and each program once, however many cells share it."""
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    suite = assay.path("whole.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write(WHOLE)
    done, by = compiled(assay, suite, "--device", "cuda:0", "--budget", "0", "--precision", "100%")
    expect(done.code in MEASURED, "measured", done)
    expect(len(by) >= 10 and len(late(assay, by)) <= 2, "all but what trials build after a first launch", by)
    kept = [name for name in os.listdir(os.path.join(assay.path("cache"), "assay")) if name.endswith(".code")]
    expect(len(kept) == len(by), "each program once", (len(kept), by))


def test_code_of_others(assay):
    """Machine code that another process could have put into the cache is compiled anew, and never run."""
    _, by = compiled(assay, *AHEAD)
    kept = os.path.join(assay.path("cache"), "assay")
    expect(by and os.listdir(kept), "compiled and kept", by)
    for name in os.listdir(kept):
        os.chmod(os.path.join(kept, name), 0o666)
    again = compiled(assay, *AHEAD)[1]
    expect(len(again) == len(by), "what others may write to is not used", again)
    expect(not compiled(assay, *AHEAD)[1], "what took its place is")
    os.chmod(kept, 0o777)
    done, again = compiled(assay, *AHEAD)
    expect(again and "compiling " not in done.err, "nor is a folder that others may write to", again)
    os.rename(kept, kept + ".real")
    os.chmod(kept + ".real", 0o700)
    os.symlink(kept + ".real", kept)
    expect(compiled(assay, *AHEAD)[1], "nor one behind a link")


def test_compiler_dies_ahead(assay):
    """The cell that was to be compiled then is compiled by its trial, as without."""
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    done, by = compiled(assay, *AHEAD, FAKE_NVRTC_ONCE=once(assay))
    expect(len(by) == CELLS_AHEAD + SENTINELS, "every program is compiled all the same", by)
    expect(len(assay.cells()) == CELLS_AHEAD and not any(c["status"] == "crashed" for c in assay.cells()),
           "and no trial is lost", done)


def test_compiler_dies_ahead_and_its_helper_lives(assay):
    """A process that the compiler started holds the socket: its death is noticed, not only that nothing is said."""
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    helper = assay.path("helper")
    try:
        done, by = compiled(assay, *AHEAD, FAKE_NVRTC_ONCE=once(assay), FAKE_NVRTC_HELPER=helper)
    finally:
        with open(helper, encoding="ascii") as f:
            harness.kill(int(f.read()))
    expect(len(set(by[CELLS_AHEAD + SENTINELS - 1:])) == 1, "the rest is compiled by the worker that measures", by)
    expect("late" not in by and len(by) == CELLS_AHEAD + SENTINELS, "without a wait for what nobody says", by)
    expect(len(assay.cells()) == CELLS_AHEAD and not any(c["status"] == "crashed" for c in assay.cells()),
           "and no trial is lost", done)


def test_compiler_hangs_ahead(assay):
    """Also where there is no budget that ends it: whose turn it was is compiled by its trial."""
    if len(os.sched_getaffinity(0)) < 2:
        raise harness.Skip("one processor compiles nothing ahead")
    done, by = compiled(assay, *AHEAD, "--budget", "0", FAKE_NVRTC_ONCE=once(assay), FAKE_NVRTC_HANGS="1")
    expect(len(by) == CELLS_AHEAD + SENTINELS, "every program is compiled all the same", by)
    expect(len(assay.cells()) == CELLS_AHEAD and not any(c["status"] == "timeout" for c in assay.cells()),
           "and no trial is lost", done)


def test_several_queues(assay):
    done = run(assay, "runs", "concurrency", "--device", "cuda:0", "--set", "what=rate", "--set", "queues=1,16", *SHORT)
    expect(done.code in MEASURED and len(measured(assay.cells())) == 2, "every launch of every queue counts", done)
    done = run(assay, "runs equal", "concurrency", "--device", "cuda:0", "--set", "what=queued", "--set", "queues=1",
               "--set", "priority=high", *SHORT)
    expect(done.code == NOTHING and "has no priorities" in done.out, "nothing to gain where all are equal", done)


def test_idle_products(assay):
    """Kernels that did nothing leave a result without numbers; the tensors that they take are as the driver wants them."""
    axes = ["path=wgmma,wgmma_pair,mma", "type=f16,e4m3", "size=256", "operands=zero", "hold=burst"]
    done = run(assay, "runs", "probe:matmul", *SHORT, "--device", "cuda:0", *[w for a in axes for w in ("-s", a)])
    cells = assay.cells()
    expect(len(cells) == 6, "every path and type has a cell", done)
    for cell in cells:
        told = cell["gates"]["checksum"]
        expect(told["state"] == "fail" and "results are wrong, the first in row 0, column 0: nan" in told["text"],
               "that it did nothing is seen", cell)


def test_idle_attention(assay):
    axes = ["path=flash,split,flash_wgmma,split_wgmma", "length=256", "heads=2"]
    done = run(assay, "runs", "attention", *SHORT, "--device", "cuda:0", *[w for a in axes for w in ("-s", a)])
    cells = assay.cells()
    expect(len(cells) == 4, "every path has a cell", done)
    for cell in cells:
        told = cell["gates"]["checksum"]
        expect(told["state"] == "fail" and "is nan, not" in told["text"], "that it did nothing is seen", cell)


def test_more_memory_than_there_is(assay):
    done = run(assay, "runs", "bandwidth", "--device", "cuda:0", "--set", "size=200GiB", "--set", "op=triad")
    expect(done.code == USAGE and "200 GiB" in done.err, "refused with the size", done)


def test_no_memory_left(assay):
    done = run(assay, "runs nomem", *CUDA)
    expect(done.code == NOTHING and "OUT_OF_MEMORY" in done.out, "the driver's word for it", done)


def test_context_is_lost(assay):
    done = run(assay, "runs lose", *CUDA, FAKE_CUDA_ONCE=once(assay))
    harness.expect_one_lost(assay, done, "failed", "CUDA_ERROR_ILLEGAL_ADDRESS (700)")


def test_worker_killed_in_a_kernel(assay):
    flag = once(assay)
    process = assay.start("run", *CUDA, env=cuda(assay, "runs hang", FAKE_CUDA_ONCE=flag))
    harness.kill_while_hanging(assay, process, flag, lambda: run(assay, "runs", *CUDA, "--no-wait"))


def collectives(assay, words="", **more):
    """What runs two collectives with NCCL's stand-in, and the environment."""
    args = ["collective", "--set", "op=all_reduce,all_to_all", "--set", "size=1MiB", *SHORT, "--device", "cuda:0"]
    path = f"{DRIVER}:{COMPILER}:{COLLECTIVES}"
    return args, cuda(assay, **{"LD_LIBRARY_PATH": path, "FAKE_NCCL": words, **more})


def test_collectives(assay):
    """A wrong sum is rejected. Without a library, or with one device, nothing runs and the reason is said."""
    args, env = collectives(assay)
    done = assay.run("run", *args, env=env)
    cells = assay.cells()
    expect(done.code in MEASURED and len(measured(cells)) == 2, "both are measured", done)
    expect(all({"time", "algorithm_bandwidth"} <= {m["name"] for m in c["metrics"]} for c in cells), "time beside it", cells)
    args, env = collectives(assay, "wrong")
    done = assay.run("run", *args, env=env)
    rejected = [c for c in assay.cells(2) if c["status"] == "rejected"]
    expect([c["axes"]["op"] for c in rejected] == ["all_reduce"], "the wrong sum", done)
    for more, part in (({"CUDA_VISIBLE_DEVICES": "0"}, "has one"),
                       ({"LD_LIBRARY_PATH": f"{NO_COLLECTIVES}:{DRIVER}:{COMPILER}"}, "LD_LIBRARY_PATH")):
        args, env = collectives(assay, **more)
        expect_refused(assay.run("run", *args, env=env), USAGE, part)


def test_collective_hangs(assay):
    """It costs its cell, and the worker in which it hangs."""
    flag = once(assay)
    args, env = collectives(assay, "hang", FAKE_NCCL_ONCE=flag)
    process = assay.start("run", *args, env=env)
    harness.wait_for(lambda: not os.path.exists(flag), "a collective that hangs", process)
    for worker in harness.children(process.pid):
        harness.kill(worker)
    done = assay.finish(process)
    statuses = sorted(c["status"] for c in assay.cells(1))
    expect(done.code in MEASURED and "crashed" in statuses and len(measured(assay.cells(1))) == 1, "one is lost", statuses)


def test_no_time(assay):
    expect_refused(run(assay, "runs", *CUDA, "--budget", "1ms"), USAGE, "less than a second")
    done = run(assay, "runs", *LAUNCH, "--device", "cuda:0", "--trials", "1", "--budget", "1s")
    expect(done.code in MEASURED and len(assay.cells()) == 3, "a short run has every cell", done)
    expect(assay.export()["run"]["state"] == "complete", "and ends", done)


if __name__ == "__main__":
    harness.main(globals())
