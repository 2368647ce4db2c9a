"""The Metal backend from the command line to the runtime: that is a stand-in on Linux, which compiles kernels in the Metal
Shading Language strictly and runs them on threads of the host. Probes go through, and what goes wrong costs no more than
it must.

ASSAY_FAKE_METAL is the stand-in's folder."""
import os

import harness
from harness import LAUNCH, MEASURED, NOTHING, SHORT, expect, expect_refused, measured, once

RUNTIME = os.environ["ASSAY_FAKE_METAL"]
COMPILER = {name: value for name, value in os.environ.items() if name.startswith("ASSAY_MSL_")}
METAL_ONLY = [*SHORT, "--device", "metal:0"]
METAL = [*LAUNCH, *METAL_ONLY]
# Every probe with Metal kernels, with small axes. Those that take seconds on a host are at the end.
PROBES = """[suite]
title = Probes on a stand-in
budget = 0
trials = 1
precision = 100%
[latency]
size = 64KiB
allocator = all
[launch]
what = all
threads = 64
[concurrency]
queues = 2
[alloc]
op = alloc,free
size = 64KiB
allocator = all
[copy]
size = 1MiB
from = all
to = first
direction = one
[tlb]
pages = 16
[onchip]
what = global,shared
size = 4KiB
[matmul]
path = library,mma,tiled,naive
type = f16
size = 128
[layout]
instruction = simdgroup_m8n8k8_f16_f32
n = 0
operand = all
[conversion]
op = f32_bf16
property = rounding
[sync]
op = max
path = native
result = dropped
memory = global
elements = 16
threads = 32
compute_units = one
[residual]
size = 64KiB
"""
TENSORS = """[matmul]
path = tensor
type = f16,e4m3,s8
size = 64
[fusion]
path = tensor
type = bf16
size = 64
operation = bias_gelu
[numerics]
instruction = matmul2d_m16n32k16_e4m3_f32
property = accumulator
[layout]
instruction = matmul2d_m16n32k16_f16_f32,matmul2d_m16n32k16_s8_s32
operand = all
[conversion]
op = f32_e4m3
property = overflow
"""
# Those that count cycles: by calibration, since kernels have no counter.
CYCLES = """[alu]
op = ffma32
ilp = 4
[alu_latency]
op = recip32
[onchip_bandwidth]
what = own
size = 16KiB
[latency]
size = 64KiB
allocator = device
[async_copy]
what = latency
tile = 1KiB
path = load
stages = 1
"""
MORE_CYCLES = """[occupancy]
threads = 64
values = 8
shared = 0,1KiB
[alu]
op = imul32,rsqrt32
ilp = 1,4
warps = 0,1
[mix]
mix = ffma32+iadd32
[onchip_bandwidth]
what = shared,common
size = 0,1MiB
compute_units = every
[onchip_lines]
what = fetch,ways
level = L1
distance = 32,1KiB
lines = 0,4
[clockstate]
path = tiled
type = f16
size = 128
[matmul_peak]
instruction = simdgroup_m8n8k8_f16_f32,simdgroup_m8n8k8_f32
"""
# Over f32, since the device has no f64.
STREAMS = """[bandwidth]
op = all
size = 64KiB
level = sweep
touch = all
[calibrate]
rule = babelstream
op = all
size = 3MiB
"""
MORE = """[matmul_rate]
instruction = simdgroup_m8n8k8_f16
operands = random
hold = burst
[matmul_peak]
instruction = simdgroup_m8n8k8_f32
[numerics]
instruction = simdgroup_m8n8k8_bf16_f32
n = 0
property = accumulator,rounding,explained
[fusion]
path = mma
type = f16
size = 128
operation = bias_gelu
[attention]
path = decomposed,flash,split
length = 128
heads = 1
[topology]
what = all
[c2c]
peer = device
allocator = MTLStorageModeShared
[roofline]
type = f32
[atomics]
agent = device
elements = 1024
allocator = pinned
type = u32,f32
cpu_threads = 0
device_threads = 64
scope = device
order = relaxed
[atomics_lost]
agent = device
elements = 1024
allocator = pinned
type = u32
cpu_threads = 0
device_threads = 64
scope = device
order = relaxed
"""
# Why a cell has no number here: a part of the reason.
TRUE_REASONS = ("cannot record launches as a graph", "has unified memory, without a second copy",
                "not co-resident", "relaxed, at device scope")
BUSY = " no longer than "  # a launch was preempted in each try, since the device's threads are host threads


def metal(assay, words="", **more):
    """The environment in which the runtime behaves so; **more is added to it."""
    return {"LD_LIBRARY_PATH": RUNTIME, "FAKE_METAL": words, "XDG_CACHE_HOME": assay.path("cache"), **COMPILER,
            **more}


def run(assay, words, *args, **more):
    return assay.run("run", *args, env=metal(assay, words, **more))


def check_probes(assay, text, words=""):
    with open(assay.path("probes.ini"), "w", encoding="utf-8") as f:
        f.write(text)
    done = run(assay, words, assay.path("probes.ini"), "--device", "metal:0")
    cells = assay.cells()
    expect(done.code in MEASURED, "it measures", done)
    for cell in cells:
        if cell["status"] == "unsupported":
            expect(any(part in cell["reason"] for part in (*TRUE_REASONS, BUSY)), "the reason is true", cell)
            continue
        expect(cell["status"] in ("ok", "wide", "rejected"), "no cell fails", cell)
        expect(cell["gates"]["checksum"]["state"] != "fail", "results are right", cell)
    for name in (line[1:-1] for line in text.splitlines() if line.startswith("[") and line != "[suite]"):
        of_probe = [c for c in cells if c["probe"] == name]
        expect(measured(of_probe) or any(BUSY in c["reason"] for c in of_probe), f"{name} has numbers", cells)
    return measured(cells)


def test_probes(assay):
    check_probes(assay, PROBES)


SUITE = PROBES.split("[latency]", maxsplit=1)[0]


@harness.thorough
def test_more_probes(assay):
    check_probes(assay, SUITE + MORE)


def check_cycles(assay, text, words=""):
    """Cells say how they count cycles, and have the clock and a time beside them."""
    for cell in check_probes(assay, SUITE + text, words):
        if cell["probe"] in ("alu", "alu_latency", "mix", "onchip_bandwidth", "matmul_peak", "latency", "async_copy"):
            expect(cell["detail"]["cycles"] == "by calibration: 128 ffma32 per GPU core and cycle", "a note", cell)
            expect(cell["clock_hz"] > 0, "a clock", cell)
        if cell["probe"] in ("alu", "alu_latency", "mix"):
            expect({m["name"] for m in cell["metrics"]} & {"time", "rate"}, "times", cell)


def test_cycles(assay):
    check_cycles(assay, CYCLES)


@harness.thorough
def test_more_cycles(assay):
    check_cycles(assay, MORE_CYCLES)


@harness.thorough
def test_cycles_with_few_threads(assay):
    """Registers allow no threadgroup of the device's size."""
    check_cycles(assay, CYCLES, "registers")


def test_no_known_rate(assay):
    """Chains of operations tell the clock, or say how far it may be off: on host threads they need not fit."""
    done = run(assay, "future", "probe:alu", *METAL_ONLY, "--set", "op=ffma32")
    if [cell["status"] for cell in assay.cells()] == ["timeout"]:
        raise harness.Skip("host threads that play a GPU gave no answer in time beside other work")
    expect(done.code in MEASURED, "it is measured", done)
    for cell in assay.cells():
        off = cell["detail"]["clock_off"]
        expect(off >= 1 and cell["detail"]["cycles"], "how cycles are known", cell["detail"])
        expect(off < 1.3 or cell["status"] == "wide" and "clock" in cell["causes"], "an uncertain clock widens", cell)


def test_streams(assay):
    for cell in check_probes(assay, SUITE + STREAMS):
        expect(cell["detail"]["element"] == "f32", "the type is noted", cell)


def test_near_the_limit(assay):
    """All that the system recommends to use can be measured, and no more."""
    done = run(assay, "small", "near_limit", *METAL_ONLY)
    cells = assay.cells()
    shares = [(c["axes"]["share"], c["status"] == "unsupported") for c in cells]
    expect(done.code in MEASURED and len(shares) == 8, "two allocators, four shares", done)
    for cell, (share, refused) in zip(cells, shares):
        expect(refused == (int(share) > 100), "only more than is recommended is refused", cell)
        if refused:
            expect("exceeds the recommended working set" in cell["reason"], "with the reason", cell)
        else:
            expect(cell["gates"]["checksum"]["state"] == "pass", "the words are right", cell)


def test_metal_4(assay):
    cells = check_probes(assay, PROBES.split("[latency]", maxsplit=1)[0] + TENSORS, "apple10 metal41")
    layouts = [c for c in cells if c["probe"] == "layout" and c["axes"]["instruction"].startswith("matmul2d")]
    expect(len(layouts) == 6 and not any(c["median"] for c in layouts), "products are as the tensors say", layouts)


def test_no_performance_shaders(assay):
    """The system's library is missing: only what asks for it has no number."""
    folder = assay.path("runtime")
    os.mkdir(folder)
    for name in os.listdir(RUNTIME):
        if name.endswith(".dylib") and not name.startswith("MetalPerformanceShaders"):
            os.symlink(os.path.join(RUNTIME, name), os.path.join(folder, name))
    done = run(assay, "", "matmul", "--set", "path=library,mma", "--set", "type=f16", "--set", "size=64", *SHORT, "--device",
               "metal:0", LD_LIBRARY_PATH=folder)
    cells = assay.cells()
    refused = [c for c in cells if c["status"] == "unsupported"]
    expect(done.code in MEASURED and len(refused) == 1 and len(measured(cells)) == 1, "one of two is measured", done)
    expect("no Metal Performance Shaders on this system" in refused[0]["reason"], "and the reason is said", refused)


def test_what_it_says_of_itself(assay):
    done = run(assay, "", *METAL)
    expect(done.code in MEASURED and len(measured(assay.cells())) == 3, "every cell is measured", done)
    device = assay.export()["run"]["devices"][0]
    expect(device["name"] == "Apple M4 Pro" and device["uuid"] == "0000000100000abc", "the device", device)


def test_hostile_name(assay):
    listed = assay.run("devices", env=metal(assay))
    expect("\x1b" not in listed.out and "\\x1b[31mred" in listed.out, "escapes are shown, not sent", listed)


def test_no_runtime_starts(assay):
    expect_refused(run(assay, "none", *METAL), NOTHING, "names no device")
    listed = assay.run("devices", env={"XDG_CACHE_HOME": assay.path("cache"), "LD_LIBRARY_PATH": ""})
    expect("no Metal on this system" in " ".join(listed.out.split()), "devices says why", listed)


def test_no_memory_left(assay):
    done = run(assay, "nomem", *METAL)
    expect(done.code == NOTHING and "metal: no buffer of" in done.out, "the reason is said", done)


def test_device_is_lost(assay):
    done = run(assay, "revoked", *METAL, FAKE_METAL_ONCE=once(assay))
    harness.expect_one_lost(assay, done, "failed", "prior/excessive GPU errors")


def test_command_buffer_never_ends(assay):
    """A worker that waits for one is ended like any that hangs."""
    flag = once(assay)
    process = assay.start("run", *METAL, env=metal(assay, "hang", FAKE_METAL_ONCE=flag))
    harness.kill_while_hanging(assay, process, flag)


if __name__ == "__main__":
    harness.main(globals())
