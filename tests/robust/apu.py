"""A GPU that shares the host's memory, as the study of the MI300A found it: what the stand-in for HIP plants comes back as
numbers and as facts, and so do the memory nodes of a host that has several.

ASSAY_FAKE_HIP is the stand-in's folder, ASSAY_NODES_SHIM the library that plays the host's nodes."""
import json
import os

import harness
from harness import MEASURED, expect

DEVICE = ["--device", "hip:0"]
# What the stand-in's planted.c has; the times are the least that a launch takes.
LEVELS = {8 << 10: 57, 1 << 20: 104, 64 << 20: 210}  # ns per step of a chase, by bytes
MAJOR_NS = 20e3                                      # per page that the device touches first
LOST = 1024                                          # of so many additions one is lost
SUITE = """[suite]
title = What the study found
budget = 0
trials = 1
precision = 100%
[latency]
size = 8KiB,1MiB,64MiB
pattern = random
allocator = first
instrument = timed
[bandwidth]
op = triad
level = sweep
size = 1MiB
threads = 0
touch = cpu
allocator = device,pinned,pageable,__managed__
[fault]
scenario = device-major,cpu-one
allocator = pageable
pages = 1000
[atomics_lost]
agent = device
elements = 1024
type = u32,u64
cpu_threads = 0
device_threads = 128
scope = system
allocator = device,pinned
op = add
"""


def apu(assay, words="", **more):
    return {"LD_LIBRARY_PATH": os.environ["ASSAY_FAKE_HIP"], "XDG_CACHE_HOME": assay.path("cache"),
            "FAKE_HIP": f"apu mi300a xnack {words}", **more}


def run(assay, suite, env):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(suite)
    done = assay.run("run", path, *DEVICE, env=env)
    expect(done.code in MEASURED, "it measures", done)
    return assay.cells()


def facts(assay):
    found = json.loads(assay.run("facts", "last", "--all", "--json").out)
    return {f["id"]: f for f in (found["facts"] if isinstance(found, dict) else found)}


def median(cells, probe, **axes):
    found = [c for c in cells if c["probe"] == probe and all(c["axes"].get(a) == v for a, v in axes.items())]
    expect(len(found) == 1 and found[0]["median"] is not None, f"one {probe} with {axes}", found or cells)
    return found[0]["median"]


def test_what_is_planted_comes_back(assay):
    cells = run(assay, SUITE, apu(assay, "planted"))
    for size, ns in LEVELS.items():
        expect(median(cells, "latency", size=size) >= 0.99 * ns, f"a level of {ns} ns", cells)
    triad = {a: median(cells, "bandwidth", allocator=a) for a in ("hipMalloc", "hipHostMalloc", "malloc", "__managed__")}
    expect(max(triad, key=triad.get) == "hipMalloc" and min(triad, key=triad.get) == "__managed__", "statics are slow", triad)
    expect(median(cells, "fault", scenario="device-major") >= 0.5 * MAJOR_NS, "faults of the device cost", cells)
    of = facts(assay)
    major, own = (of[f"fault.throughput.{scenario}.malloc"] for scenario in ("device-major", "cpu-one"))
    expect(major["value"] <= 2e9 / MAJOR_NS and major["value"] < own["value"], "page faults of both sides", (major, own))
    lost = of["lost.device.hipHostMalloc.u64.system"]
    expect(lost["verdict"] == "refuted" and lost["value"] > 0 and lost["value"] % (LOST / 128) == 0, "lost updates", lost)
    kept = [of["lost.device.hipMalloc"], of["lost.device.hipHostMalloc"]]
    expect(all(f["verdict"] == "supported" and f["value"] == 0 for f in kept), "others lose none", kept)


IN_MEMORY = """[suite]
title = Main memory
budget = 0
trials = 1
precision = 100%
[bandwidth]
op = triad
level = memory
threads = 0
touch = cpu
allocator = device,__managed__
"""


@harness.thorough
def test_slow_statics_are_a_fact(assay):
    """At the size of the machine's main memory."""
    run(assay, IN_MEMORY, apu(assay, "planted"))
    cost = facts(assay)["bandwidth_cost.triad.__managed__.cpu"]
    expect(cost["value"] < 1, "against hipMalloc", cost)


NODES = """[suite]
title = Nodes
budget = 0
trials = 1
precision = 100%
[fault]
scenario = device-major
allocator = pageable
pages = 100
node = all
[atomics]
agent = device
elements = 1024
type = u64
cpu_threads = 0
device_threads = 64
scope = system
allocator = device
"""
# By node: its CPUs. The second is memory behind a link (CXL), the third that of another socket without CPUs here.
CPUS = {0: "0-1023", 1: "", 2: ""}
BUSES = "0000:c1:00.0", "0000:0a:03.0"


def test_nodes_of_memory(assay):
    """Those without CPUs too. Process memory is bound near the device, or where a cell wants it; the driver's is elsewhere."""
    cells = run(assay, NODES, apu(assay, **harness.host_of_nodes(assay, CPUS, BUSES, other=1)))
    at = {c["axes"]["node"]: c for c in cells if c["probe"] == "fault"}
    expect(set(at) == {"near", "0", "1", "2"}, "each node has its cells", at)
    for wanted, cell in at.items():
        expect(cell["status"] in ("ok", "wide"), "measured", cell)
        expect(cell["detail"]["node"] == (0 if wanted == "near" else int(wanted)), "there", cell)
    of = facts(assay)
    expect("memory.node.hipMalloc" in of, "the driver's memory is far from its device", sorted(of))
    expect("node 1, not on the device's nearest, node 0" in of["memory.node.hipMalloc"]["sentence"], "as a fact", of)
    expect("memory.node.malloc" not in of, "process memory is near", sorted(of))


if __name__ == "__main__":
    harness.main(globals())
