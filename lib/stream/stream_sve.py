"""Generates the streams in SVE's vectors, whose length the implementation chooses: stream_sve.py OUT.S

Every kernel is an as_stream_fn (stream.h): out, x, y, n in x0 to x3, the scalar in d0, repetitions in x4; it returns the sum, or
the elements done, which it counts. A turn of the loop takes UNROLL whole vectors of each array, the tail one after another with
as many lanes as are left. Assembly, since compilers that do not know SVE's types build it too.

x5: elements of a turn, x7: next element, x8: last start of a turn, x9 to x11: next of out, x and y, x12: elements done;
z31: the scalar; p0 enables all lanes, p1 those of the tail."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import assembly  # noqa: E402  (lib/)

UNROLL = 8
POINTERS = {"out": ("x9", "x0"), "x": ("x10", "x1"), "y": ("x11", "x2")}  # in the loop, and of the first element
X, OTHER, SUM = 0, 16, 24  # the first of their vectors; z8 to z15 hold callee-saved registers


def load(array, register, k, lanes):
    """Vector k of a turn, or the tail's (k None)."""
    moving, first = POINTERS[array]
    at = f"{first}, x7, lsl #3" if k is None else f"{moving}, #{k}, mul vl"
    return f"ld1d {{z{register}.d}}, {lanes}/z, [{at}]"


def store(register, k, lanes, instruction):
    at = "x0, x7, lsl #3" if k is None else f"x9, #{k}, mul vl"
    return f"{instruction} {{z{register}.d}}, {lanes}, [{at}]"


# For one result: the arrays loaded first, and the instructions that make it in x; out is loaded right before its use.
WRITERS = {
    "copy": (["x"], []),
    "mul": (["x"], ["fmul {x}, {x}, {s}"]),
    "add": (["x", "y"], ["fadd {x}, {x}, {y}"]),
    "triad": (["x", "y"], ["fmla {x}, {lanes}/m, {y}, {s}"]),
    "nstream": (["x", "y"], ["fmla {x}, {lanes}/m, {y}, {s}", "out", "fadd {x}, {x}, {other}"]),
    "write": ([], []),
}


def write_all(op, ks, lanes, instruction):
    """The vectors of a turn."""
    arrays, steps = WRITERS[op]
    loads, results, stores = [], [], []
    for k in ks:
        x, other = X + (k or 0), OTHER + (k or 0)
        words = {"x": f"z{x}.d", "y": f"z{other}.d", "other": f"z{other}.d", "s": "z31.d", "lanes": lanes}
        loads += [load(a, {"x": x, "y": other}[a], k, lanes) for a in arrays]
        results += [load("out", other, k, lanes) if s == "out" else s.format(**words) for s in steps]
        stores.append(store(x if arrays else 31, k, lanes, instruction))
    return loads + results + stores


def add_up(op, ks, lanes):
    """Of dot and read: each vector of a turn into its own sum."""
    loads, steps = [], []
    for k in ks:
        x, y, total = (first + (k or 0) for first in (X, OTHER, SUM))
        loads += [load("x", x, k, lanes)] + ([load("y", y, k, lanes)] if op == "dot" else [])
        steps.append(f"fmla z{total}.d, {lanes}/m, z{x}.d, z{y}.d" if op == "dot" else f"add z{total}.d, z{total}.d, z{x}.d")
    return loads + steps


def total(op):
    add = "fadd" if op == "dot" else "add"
    lines = [f"{add} z{SUM}.d, z{SUM}.d, z{SUM + k}.d" for k in range(1, UNROLL)]
    return lines + [f"{'faddv' if op == 'dot' else 'uaddv'} d0, p0, z{SUM}.d", "fmov x0, d0"]


def kernel(name, arrays, begin, turn, rest, end):
    """The loops around a turn and a vector of the tail."""
    moving = [POINTERS[a] for a in arrays]
    lines = ["ptrue p0.d", "mov x12, #0", f"cntd x5, all, mul #{UNROLL}", *begin, "cbz x4, 5f",
             "1:", "mov x7, #0", *[f"mov {now}, {first}" for now, first in moving],
             "subs x8, x3, x5", "b.lo 3f",
             ".p2align 5", "2:", *turn, *[f"incb {now}, all, mul #{UNROLL}" for now, _ in moving],
             "add x7, x7, x5", "cmp x7, x8", "b.ls 2b",
             "3:", "add x12, x12, x7", "whilelo p1.d, x7, x3", "b.eq 4f",
             "6:", *rest, "incp x12, p1.d", "incd x7", "whilelo p1.d, x7, x3", "b.ne 6b",
             "4:", "subs x4, x4, #1", "b.ne 1b",
             "5:", *end, "ret"]
    body = "\n".join(line if line.endswith(":") else "    " + line for line in lines)
    return f"    begin_function as_stream_sve_{name}\n{body}\n    end_function as_stream_sve_{name}\n"


def writer(op, suffix, instruction):
    begin = ["mov z31.d, d0"]
    end = ["dmb ishst"] if suffix == "_nt" else []
    return kernel(op + suffix, ["out"] + WRITERS[op][0], begin, write_all(op, range(UNROLL), "p0", instruction),
                  write_all(op, [None], "p1", "st1d"), [*end, "mov x0, x12"])


def reader(op):
    arrays = ["x", "y"] if op == "dot" else ["x"]
    begin = [f"mov z{SUM + k}.d, #0" for k in range(UNROLL)]
    return kernel(op, arrays, begin, add_up(op, range(UNROLL), "p0"), add_up(op, [None], "p1"), total(op))


def kernels():
    """The text of each by name."""
    found = {op + suffix: writer(op, suffix, instruction) for op in WRITERS
             for suffix, instruction in (("_regular", "st1d"), ("_nt", "stnt1d"))}
    return found | {op: reader(op) for op in ("dot", "read")}


def main():
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(assembly.FORMATS + "#if (defined(__ELF__) || defined(__APPLE__)) && defined(__aarch64__)\n    .text\n"
                "    .arch_extension sve\n" + "".join(kernels().values()) +
                '#endif\n#ifdef __ELF__\n    .section .note.GNU-stack, "", %progbits\n#endif\n')


if __name__ == "__main__":
    main()
