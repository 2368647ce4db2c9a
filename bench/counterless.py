"""Cycles without a cycle counter: an NVIDIA card through OpenCL, its counter unread, beside the CUDA backend, which reads
it. The same operations in the same instructions: latencies and rates should agree."""
import gpu
from common import row

OPERATIONS = "iadd32,imul32,imad32,xor32,shl32,fadd32,fmul32,ffma32,ffma64,recip32"
TARGET = 0.02
NO_COUNTER = "ASSAY_OPENCL_COUNTER=0"


def cells(card, probe, budget, **axes):
    found = card.cells(probe, budget, op=OPERATIONS, width="scalar", **axes)
    return {c["axes"]["op"]: c for c in found if c["probe"] == probe and c["status"] in ("ok", "wide")}


def differences(probe, cuda, opencl):
    for op in OPERATIONS.split(","):
        if op not in cuda or op not in opencl:
            yield row(f"{probe} {op}", "no number from " + ("CUDA" if op not in cuda else "OpenCL"), "both", False)
            continue
        with_counter, without = cuda[op], opencl[op]
        ratio = without["median"] / with_counter["median"]
        interval = f"{without['ci_low']:.4g} to {without['ci_high']:.4g}"
        yield row(f"{probe} {op}", f"{without['median']:.5g} ({interval}) / {with_counter['median']:.5g} = {ratio:.4f}",
                  f"within {100 * TARGET:.0f}%", abs(ratio - 1) <= TARGET)


def measure(assay, budget):
    cuda, opencl = gpu.Card(assay, "cuda:0"), gpu.Card(assay, "opencl:0")
    rows = []
    for probe, axes in (("alu_latency", {}), ("alu", {"ilp": 4})):
        rows += differences(probe, cells(cuda, probe, budget, **axes), cells(opencl, probe, budget, state=NO_COUNTER, **axes))
    return rows
