"""A GPU that shares the host's memory, as the study of the MI300A found it: what the stand-in for HIP plants comes back as
numbers and as facts, and so do the memory nodes of a host that has several.

ASSAY_FAKE_HIP is the stand-in's folder, ASSAY_NODES_SHIM the library that plays the host's nodes."""
import json
import os

import harness
from harness import MEASURED, NOTHING, expect

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


def run(assay, suite, env, codes=MEASURED):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(suite)
    done = assay.run("run", path, *DEVICE, env=env)
    expect(done.code in codes, "it measures", done)
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
    fast, slow = (median(cells, "bandwidth", allocator=a) for a in ("hipMalloc", "__managed__"))
    expect(fast > 2 * slow, "statics are slow", (slow, fast))
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
trials = 3
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
    footprints = [c["gates"]["footprint"] for c in assay.cells()]
    if any(f["state"] != "pass" for f in footprints):
        raise harness.Skip(f"this host's caches: {footprints[0]['text']}")
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


PAGE = 2 << 20
POOL = """[suite]
title = Reserved huge pages
budget = 0
trials = 1
precision = 100%
[fault]
scenario = device-major,cpu-one
allocator = pageable_hugetlb
pages = 1,1500
node = near,0,1
[fault.beyond]
scenario = device-major
allocator = pageable_hugetlb
pages = 1000000
[latency]
size = 1000000
allocator = pageable_hugetlb
instrument = timed
pattern = random
[alloc]
op = alloc
allocator = pageable_hugetlb
size = 32
"""


def pool(assay, pages):
    """A host whose node 0 has so many reserved huge pages, and whose node 1, without CPUs, has none."""
    env = apu(assay, **harness.host_of_nodes(assay, CPUS, BUSES, other=1), ASSAY_HOST_POOL="yes")
    with open("/proc/meminfo", encoding="ascii") as f:
        lines = [line for line in f if not line.startswith("Huge")]
    files = {"proc/meminfo": "".join(lines) + f"HugePages_Free: {pages}\nHugePages_Rsvd: 0\nHugepagesize: {PAGE >> 10} kB\n"}
    for node, of_node in ((0, pages), (1, 0)):
        files[f"sys/devices/system/node/node{node}/hugepages/hugepages-{PAGE >> 10}kB/free_hugepages"] = f"{of_node}\n"
    for name, text in files.items():
        path = os.path.join(env["ASSAY_HOST_ROOT"], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    return env


def test_reserved_huge_pages(assay):
    """Devices touch them where the pool has some, on the node where it has some, and say why not elsewhere."""
    cells = run(assay, POOL, pool(assay, 64))
    expect({c["axes"]["allocator"] for c in cells} == {"hugetlb"}, "the allocator of that role", cells)
    for cell in cells:
        node = cell["axes"].get("node", "near")
        if cell["axes"].get("pages") == 1000000:
            expect(cell["status"] == "unsupported" and "at most 128 MiB" in cell["reason"], "more than the pool has", cell)
        elif node == "1":
            expect(cell["status"] == "unsupported" and "NUMA node 1 has 0 B of reserved huge pages free" in cell["reason"], "none there", cell)
        else:
            expect(cell["status"] in ("ok", "wide"), "measured", cell)
            expect(cell["probe"] == "alloc" or cell["detail"]["page_size"] == PAGE, "on huge pages", cell)
            expect(cell["probe"] != "fault" or cell["detail"]["node"] == 0, "near the device", cell)
    expect([c["detail"]["count"] for c in cells if c["probe"] == "alloc"] == [30], "no more blocks than the pool has", cells)


def test_no_reserved_huge_pages(assay):
    cells = run(assay, POOL, pool(assay, 0), [NOTHING])
    expect(cells and all(c["status"] == "unsupported" for c in cells), "unsupported", cells)
    expect(all("no huge page is free in the reserved pool" in c["reason"] for c in cells), "with the reason", cells)


if __name__ == "__main__":
    harness.main(globals())
