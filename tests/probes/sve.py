"""The streams in SVE's vectors, on any machine: their text is executed for vectors of six lengths (sve_machine.py). Each element
is loaded and stored as often as it has to be, by the instruction that it has to be; and faults planted in the text are seen."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib", "stream"))
import stream_sve  # noqa: E402
from sve_machine import Machine, Wrong  # noqa: E402

UNROLL = 8
BYTES = (16, 32, 48, 64, 128, 256)
SCALAR = 3
RESULTS = {"copy": lambda o, x, y: x, "mul": lambda o, x, y: SCALAR * x, "add": lambda o, x, y: x + y,
           "triad": lambda o, x, y: x + SCALAR * y, "nstream": lambda o, x, y: o + x + SCALAR * y,
           "write": lambda o, x, y: SCALAR}
SUMS = {"dot": lambda x, y: x * y, "read": lambda x, y: x}
LOADED = {"copy": ["x"], "mul": ["x"], "add": ["x", "y"], "triad": ["x", "y"], "nstream": ["out", "x", "y"], "write": [],
          "dot": ["x", "y"], "read": ["x"]}

# Kernel, text, what becomes of it; "*": everywhere.
FAULTS = [
    ("copy_regular", "b.eq 4f", "b.ne 4f"),  # a missed tail
    ("copy_regular", "b.ne 6b", "b.eq 6b"),
    ("triad_regular", "ld1d {z16.d}, p1/z, [x2, x7, lsl #3]", "ld1d {z16.d}, p0/z, [x2, x7, lsl #3]"),
    ("triad_nt", "st1d {z0.d}, p1, [x0, x7, lsl #3]", "st1d {z0.d}, p0, [x0, x7, lsl #3]"),
    ("add_regular", "[x10, #3, mul vl]", "[x10, #2, mul vl]"),  # a vector twice, another never
    ("add_regular", "st1d {z5.d}, p0, [x9, #5, mul vl]", "st1d {z4.d}, p0, [x9, #5, mul vl]"),
    ("add_nt", "fadd z6.d, z6.d, z22.d", "fadd z6.d, z6.d, z21.d"),
    ("mul_regular", "incb x10, all, mul #8", "incb x10, all, mul #7"),  # wrong numbers of bytes
    ("mul_regular", "incb x9, all, mul #8", "add x9, x9, #128"),
    ("write_regular", "cntd x5, all, mul #8", "cntd x5, all, mul #4"),
    ("write_nt", "cntd x5, all, mul #8", "mov x5, #16"),
    ("copy_nt", "incp x12, p1.d", "incd x12"),
    ("copy_nt", "add x12, x12, x7", "mov x12, x7"),
    ("nstream_nt", "stnt1d {z2.d}", "st1d {z2.d}"),
    ("nstream_nt", "dmb ishst", ""),
    ("nstream_regular", "fmla z3.d, p0/m, z19.d, z31.d", "fmla z3.d, p0/m, z18.d, z31.d"),
    ("nstream_regular", "ld1d {z20.d}, p0/z, [x9, #4, mul vl]", ""),
    ("write_regular", "mov z31.d, d0", "mov z31.d, #1"),
    ("dot", "fadd z24.d, z24.d, z27.d", ""),
    ("dot", "whilelo p1.d, x7, x3\n    b.ne 6b", "whilelo p1.d, x7, x5\n    b.ne 6b"),
    ("read", "add z29.d, z29.d, z5.d", "add z28.d, z29.d, z5.d"),
    ("read", "mov z25.d, #0", "mov z25.d, #1"),
    ("read", "cbz x4, 5f", ""),
    ("read", "b.ls 2b", "b.lo 2b"),  # right, and slower
    ("read", "z7.d*", "z9.d"),  # a register of the caller
]


def check(name, text, lanes, n, reps):
    op, _, kind = name.partition("_")
    arrays = {a: [(i * 37 + 11 * k + 5) % 101 - 50 for i in range(n)] for k, a in enumerate(("out", "x", "y"))}
    before = {a: list(v) for a, v in arrays.items()}
    want = list(before["out"])
    for _ in range(reps if op in RESULTS else 0):
        want = [RESULTS[op](*v) for v in zip(want, before["x"], before["y"])]
    m = Machine(text, lanes, arrays)
    result = m.call(n, SCALAR, reps)
    due = reps * (sum(map(SUMS[op], before["x"], before["y"])) if op in SUMS else n)
    if result != due:
        raise Wrong(f"it returns {result}, not {due}")
    if arrays["out"] != want or arrays["x"] != before["x"] or arrays["y"] != before["y"]:
        raise Wrong("arrays differ")
    for a in arrays:
        if m.loads[a] != [reps * (a in LOADED[op])] * n or m.stores[a] != [reps * (a == "out" and op in RESULTS)] * n:
            raise Wrong(f"not every element of {a} was loaded and stored as often as it had to be")
    turns = reps * (n // (UNROLL * lanes))
    whole = {"stnt1d" if kind == "nt" else "st1d": ["out"] if op in RESULTS else [], "load": LOADED[op]}
    for instruction in ("load", "st1d", "stnt1d"):
        for a in arrays:
            if m.by.get((instruction, a, "whole"), 0) != UNROLL * turns * (a in whole.get(instruction, ())):
                raise Wrong(f"{instruction} of {a}: not {UNROLL} vectors in each of {turns} turns")
    if ("fence" in m.by) != (kind == "nt"):
        raise Wrong("non-temporal stores have to end in a fence, and no others")


def fault_of(name, text):
    """What is wrong with a kernel; None."""
    for size in BYTES:
        lanes = size // 8
        turn = UNROLL * lanes
        for n in (0, 1, lanes - 1, lanes, turn - 1, turn, 2 * turn, 2 * turn + lanes + 1):
            for reps in (0, 1, 2):
                try:
                    check(name, text, lanes, n, reps)
                except (Wrong, KeyError) as e:
                    return f"{size} bytes, {n} elements, {reps} times: {e}"
    return None


def main():
    kernels = stream_sve.kernels()
    print(f"1..{len(kernels) + len(FAULTS)}")
    number, failed = 0, 0
    for name, text in kernels.items():
        number += 1
        why = fault_of(name, text)
        failed += why is not None
        print(f"{'not ok' if why else 'ok'} {number} - {name}{': ' + why if why else ''}")
    for name, old, new in FAULTS:
        number += 1
        text, everywhere = kernels[name], old.endswith("*")
        old = old.rstrip("*")
        planted = old in text and (everywhere or text.count(old) == 1)
        why = fault_of(name, text.replace(old, new)) if planted else None
        failed += why is None
        shown = old.replace("\n    ", "; ")
        print(f"{'ok' if why else 'not ok'} {number} - {name}: {shown} is seen{': ' + why if why else '' if planted else ' (not planted)'}")
    sys.exit(failed > 0)


main()
