"""The OpenCL backend on a device that looks like a GPU with memory of its own: a layer of the ICD loader shows PoCL's CPU so
(tests/device/opencl/layer). Every probe of every suite builds there what it builds on GPUs, and what a driver may keep in
the device claims to be no memory of the host.

ASSAY_LAYER_PATH is the layer's file; without a loader that knows layers, or without a driver, all is skipped."""
import configparser
import glob
import json
import os

import harness
from harness import MEASURED, expect, measured

SUITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites", "*.ini")
MOVES = "the driver may keep its data in the device's memory"
# Axes of each probe that suites use, made small for kernels that run on a host. "": as they are by default; a probe
# that is not here only has a small size.
SMALL = {
    "accounting": "size=1MiB counter=VmRSS step=device-touched allocator=device",
    "alloc": "op=alloc size=32 allocator=device,pinned", "alu": "op=fadd32,imad32 ilp=1 warps=1", "alu_latency": "op=fadd32,fadd64",
    "atomics": "agent=device elements=1024 type=u32,f32 cpu_threads=0 device_threads=64 scope=device allocator=first",
    "atomics_lost": "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=64 scope=device op=add allocator=first",
    "app": "version=explicit,unified strategy=none size=1MiB allocator=device", "async_copy": "", "attention": "path=scalar length=128 heads=1", "bandwidth": "op=read,dot,triad level=sweep size=1MiB threads=0 allocator=first", "c2c": "peer=device,compute_unit",
    "cluster_memory": "",
    "codegen": "op=atomic_add type=u32", "concurrency": "what=all queues=4 priority=same", "conversion": "", "copy": "from=host,device to=device,pinned how=all size=1MiB",
    "emulated": "op=f32_add,e8m48_mul,fp59_fma,i128_mul", "emulated_gemm": "op=f64_gemm,s8_gemm slices=0,4 size=128",
    "fault": "scenario=device-major pages=16 allocator=device", "fusion": "path=tiled type=f32 size=128 operation=bias_gelu",
    "interference": "victim=device op=read,chase aggressor=none,read size=64KiB allocator=device", "l2_latency": "",
    "latency": "size=64KiB pattern=random allocator=first", "launch": "", "layout": "", "link": "peer=host how=all size=1MiB allocator=pinned",
    "link_latency": "peer=host what=load allocator=pinned", "loaded_latency": "op=none,read size=4MiB delay=0 threads=0 allocator=first",
    "migration": "allocator=first touch=all agent=all pass=1,2 size=1MiB", "matmul": "path=dot,tiled,naive type=f32,s8 size=64", "mix": "mix=ffma32,ffma32+iadd32", "numerics": "", "occupancy": "threads=256 values=16,240 shared=0", "onchip": "size=16KiB stride=64 shared=0", "onchip_bandwidth": "what=shared,shared_stores width=128,32 stride=1",
    "onchip_lines": "", "page_events": "what=faults pages=16 allocator=device", "power": "",
    "residual": "side=device op=read touched=1MiB size=64KiB pass=1 allocator=device", "roofline": "type=f64 width=best",
    "sharing": "",
    "sync": "op=max path=native memory=global elements=1024 threads=64",
    "tlb": "pages=16 stride=page allocator=device", "topology": "place=memory",
}
# What needs a CPU's or another API's instructions or limits, or measures one for minutes: no OpenCL kernel of its own.
ELSEWHERE = {"calibrate", "clockstate", "collective", "cpu_operands", "matmul_peak", "matmul_rate", "near_limit",
             "oversubscription", "refill"}


def gpu(assay, words=""):
    """The environment in which PoCL is a GPU, as the words say."""
    return {"OPENCL_LAYERS": os.environ["ASSAY_LAYER_PATH"], "ASSAY_LAYER": words, "XDG_CACHE_HOME": assay.path("cache"),
            "POCL_CACHE_DIR": assay.path("pocl")}


def need_gpu(assay):
    for line in assay.run("devices", "--json", env=gpu(assay)).out.splitlines():
        device = json.loads(line)
        if device["id"] == "opencl:0" and not device["info"]["is_host_memory"]:
            return
    raise harness.Skip("no OpenCL device, or a loader without layers")


def probes_of_suites():
    found = set()
    for path in glob.glob(SUITES):
        suite = configparser.ConfigParser(interpolation=None, strict=False)
        suite.read(path, encoding="utf-8")
        found |= {name.split(".")[0] for name in suite.sections() if name != "suite"}
    return found


def run(assay, sections, words=""):
    """One run of a suite that is these probes with these axes; its cells."""
    suite = configparser.ConfigParser(interpolation=None)
    suite["suite"] = {"title": "small", "budget": "0", "trials": "1", "precision": "100%"}
    for name, axes in sections.items():
        suite[name] = dict(axis.split("=") for axis in (axes or "grids=quick").split())
    with open(assay.path("small.ini"), "w", encoding="utf-8") as f:
        suite.write(f)
    done = assay.run("run", assay.path("small.ini"), "--device", "opencl:0", env=gpu(assay, words), timeout=2 * harness.PATIENCE)
    expect(done.code in MEASURED, "it measures", done)
    return assay.cells()


def test_every_probe_builds(assay):
    """A busy machine may end a trial; what is built and run must not fail."""
    need_gpu(assay)
    wanted = probes_of_suites()
    cells = run(assay, {probe: SMALL.get(probe, "size=64KiB") for probe in wanted - ELSEWHERE})
    for cell in cells:
        expect(cell["status"] not in ("failed", "crashed"), "no cell fails", cell)
    missing = wanted - ELSEWHERE - {c["probe"] for c in cells} - {"interference"}  # that needs two CPUs
    expect(not missing, "every probe has cells", missing)
    expect(len(measured(cells)) > len(cells) / 4, "and many are measured", [(c["probe"], c["reason"]) for c in cells])


def test_memory_that_may_move(assay):
    """A kernel on memory of the host may find it in the device: no cell says what that takes."""
    need_gpu(assay)
    asked = {"link": "peer=host how=all direction=to size=1MiB allocator=pinned", "link_latency": "peer=host what=all allocator=pinned",
             "copy": "from=pinned to=device,pinned how=all size=1MiB", "latency": "size=64KiB allocator=device,pinned,registered,shared_coarse",
             "bandwidth": "op=read level=sweep size=64KiB threads=0 width=scalar allocator=pinned",
             "interference": "victim=cpu op=chase aggressor=read,d2h size=64KiB allocator=pinned"}
    for cell in run(assay, asked, "coarse"):
        axes = cell["axes"]
        ends = [axes.get(axis) for axis in ("allocator", "from", "to")]
        by_engine = axes.get("how") == "engine" and "clCreateBuffer" in (*ends, "clCreateBuffer" if cell["probe"] == "link" else "")
        stays = by_engine or axes.get("aggressor") == "d2h" or "clCreateBuffer" in (axes.get("allocator"),)
        if not stays and cell["probe"] != "sentinel":
            expect(cell["status"] == "unsupported" and MOVES in cell["reason"], "it is not measured, with the reason", cell)
        else:
            expect(MOVES not in cell["reason"], "what stays is measured", cell)


def test_a_device_without_extensions(assay):
    """No f64, no 64-bit atomics, no shared memory: the paths of small GPUs."""
    need_gpu(assay)
    cells = run(assay, {"bandwidth": "op=read,dot level=sweep size=64KiB threads=0 width=best allocator=first",
                        "onchip": "what=global,atomic size=16KiB stride=64 shared=0", "roofline": "type=f32,f64 width=best",
                        "atomics": "agent=device elements=1 type=u32,u64,f32,f64 cpu_threads=0 device_threads=64 scope=device"}, "plain")
    for cell in cells:
        expect(cell["status"] not in ("failed", "crashed"), "no cell fails", cell)
    expect(any("no f64" in c["reason"] for c in cells), "what needs them says so", [c["reason"] for c in cells])


if __name__ == "__main__":
    harness.main(globals())
