"""A coherent machine: the GPU's memory is a memory node of the host, beside nodes without memory that the driver keeps for
partitions of the GPU (GH200 has seven). The driver is the stand-in for CUDA with the word "grace".

ASSAY_FAKE_CUDA and ASSAY_FAKE_NVRTC are the stand-ins' folders, ASSAY_NODES_SHIM the library that plays the host's nodes."""
import json
import os

import harness
from harness import OK, expect

LIBRARIES = os.environ["ASSAY_FAKE_CUDA"] + ":" + os.environ["ASSAY_FAKE_NVRTC"]
CPU_NODE, GPU_NODE, EMPTY = 0, 1, range(2, 9)
CPUS = {CPU_NODE: "0-1023", GPU_NODE: "", **{node: "" for node in EMPTY}}


def grace(assay):
    """Memory that nobody binds lands on the GPU's node: what the GPU touches first."""
    return {"LD_LIBRARY_PATH": LIBRARIES, "FAKE_CUDA": "runs grace", "XDG_CACHE_HOME": assay.path("cache"),
            **harness.host_of_nodes(assay, CPUS, ["0000:0a:03.0"], other=GPU_NODE, memory=f"{CPU_NODE}-{GPU_NODE}")}


def planned(assay, *args):
    done = assay.run("plan", *args, "--json", env=grace(assay))
    expect(done.code == OK, "there is a plan", done)
    return [cell for cell in map(json.loads, done.out.splitlines()) if cell["event"] == "cell"]


def nodes_of(cells, device, probe):
    return {str(c["axes"]["node"]) for c in cells if (c["device"], c["probe"]) == (device, probe)}


def test_nodes_without_memory_have_no_cells(assay):
    cells = planned(assay, "host_latency", "fault", "--set", "fault.node=all", "--set", "fault.allocator=malloc")
    expect(nodes_of(cells, "cpu", "host_latency") == {"0", "1"}, "of the CPU", cells)
    expect(nodes_of(cells, "cuda:0", "fault") == {"near", "0", "1"}, "of the GPU", cells)


if __name__ == "__main__":
    harness.main(globals())
