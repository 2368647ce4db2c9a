"""A coherent machine: the GPU's memory is a memory node of the host, beside nodes without memory that the driver keeps for
partitions of the GPU (GH200 has seven). The driver is the stand-in for CUDA with the word "grace".

ASSAY_FAKE_CUDA and ASSAY_FAKE_NVRTC are the stand-ins' folders, ASSAY_NODES_SHIM the library that plays the host's nodes."""
import json
import os

import harness
from harness import MEASURED, OK, expect

LIBRARIES = os.environ["ASSAY_FAKE_CUDA"] + ":" + os.environ["ASSAY_FAKE_NVRTC"]
CPU_NODE, GPU_NODE, OTHER_GPU = 0, 1, 34
EMPTY = range(2, 9)
CPUS = {CPU_NODE: "0-1023", **{node: "" for node in (GPU_NODE, *EMPTY, OTHER_GPU)}}


def grace(assay):
    """Memory that nobody binds lands on the GPU's node: what the GPU touches first."""
    return {"LD_LIBRARY_PATH": LIBRARIES, "FAKE_CUDA": "runs grace", "XDG_CACHE_HOME": assay.path("cache"),
            **harness.host_of_nodes(assay, CPUS, ["0000:0a:03.0"], other=GPU_NODE, memory=f"{CPU_NODE}-{GPU_NODE},{OTHER_GPU}")}


def planned(assay, *args):
    done = assay.run("plan", *args, "--json", env=grace(assay))
    expect(done.code == OK, "there is a plan", done)
    return [cell for cell in map(json.loads, done.out.splitlines()) if cell["event"] == "cell"]


def nodes_of(cells, device, probe):
    return {str(c["axes"]["node"]) for c in cells if (c["device"], c["probe"]) == (device, probe)}


def test_each_node_with_memory_has_cells(assay):
    """However it is numbered, and nodes without memory have none."""
    cells = planned(assay, "host_latency", "fault", "--set", "fault.node=all", "--set", "fault.allocator=malloc")
    expect(nodes_of(cells, "cpu", "host_latency") == {"0", "1", "34"}, "of the CPU", cells)
    expect(nodes_of(cells, "cuda:0", "fault") == {"near", "0", "1", "34"}, "of the GPU", cells)


FIRST_TOUCH = """[suite]
title = First touch
budget = 0
trials = 1
precision = 100%
[fault]
scenario = device-major,device-minor,cpu-one,cpu-after-device
allocator = pageable
pages = 100
[fault.nodes]
scenario = device-major,cpu-one
allocator = pageable
pages = 100
node = all
"""
GPU_FIRST = "device-major", "cpu-after-device"


def run(assay, suite):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(suite)
    done = assay.run("run", path, "--device", "cuda:0", env=grace(assay))
    expect(done.code in MEASURED, "it measures", done)
    return assay.cells()


def test_pages_come_from_the_node_of_the_first_touch(assay):
    """A GPU's first touch lands in its own memory, a CPU's in that of the CPUs, and where a cell requests a node, there."""
    cells = run(assay, FIRST_TOUCH)
    expect(len(cells) == 10, "each is planned", cells)
    for cell in cells:
        expect(cell["status"] in ("ok", "wide"), "measured", cell)
        axes = cell["axes"]
        near = GPU_NODE if axes["scenario"] in GPU_FIRST else CPU_NODE
        expect(cell["detail"]["node"] == (near if axes["node"] == "near" else int(axes["node"])), "there", cell)
    found = json.loads(assay.run("facts", "last", "--all", "--json").out)
    expect("memory.node.malloc" not in json.dumps(found), "nor is a GPU's own memory far from it", found)


PASSES = """[suite]
title = Passes
budget = 0
trials = 1
precision = 100%
[migration]
allocator = pageable
touch = all
agent = all
pass = 1
size = 4MiB
"""


def test_pages_in_the_memory_of_the_gpu_are_not_the_hosts(assay):
    cells = run(assay, PASSES)
    expect(len(cells) == 4, "each is planned", cells)
    for cell in cells:
        expect(cell["status"] in ("ok", "wide"), "measured", cell)
        share = 1 if cell["axes"]["touch"] == "cpu" else 0
        of = [cell["detail"][f"host_share_{when}"] for when in ("before", "after")]
        expect(of == [share, share], "where the first touch put them", cell)


REGISTERED = """[suite]
title = Registered memory
budget = 0
trials = 1
precision = 100%
[fault]
scenario = device-major
what = control
allocator = registered
pages = 100
node = all
"""


def test_registered_memory_is_on_its_node(assay):
    """Its pages are placed before the driver pins them."""
    cells = run(assay, REGISTERED)
    expect(len(cells) == 4, "each is planned", cells)
    for cell in cells:
        node = cell["axes"]["node"]
        expect(cell["status"] in ("ok", "wide"), "measured", cell)
        expect(cell["detail"]["node"] == (CPU_NODE if node == "near" else int(node)), "there", cell)
        expect(cell["detail"]["page_size"] == os.sysconf("SC_PAGE_SIZE"), "on base pages", cell)


if __name__ == "__main__":
    harness.main(globals())
