"""Generates path tiled in SVE's vectors, whose length the implementation chooses: tiled_sve.py OUT.S

as_native_tiled_sve_4 (f32), _8 (f64): four rows of a by four of b at once, along elements of K; a predicate ends them. The 16
sums keep two pipes of A64FX, whose multiply-adds take nine cycles, nearly busy. struct as_tiled_block says what is where."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import assembly  # noqa: E402  (lib/)

A, B = ["x1", "x8", "x9", "x10"], ["x2", "x11", "x12", "x13"]  # rows


def block(word):
    """x0: block; x3 d, x4 elements, x5 bytes of a row of a and b, x6 bytes of a row of d, x7 whether to add to d; x14 the
    element. z8 to z15 hold the callee-saved d8 to d15 and are not used."""
    kind, size, shift = ("s", "w", 2) if word == 4 else ("d", "d", 3)
    lines = ["ldp x1, x2, [x0]", "ldp x3, x4, [x0, #16]", "ldp x5, x6, [x0, #32]", "ldr x7, [x0, #48]"]
    for rows in (A, B):
        lines += [f"add {rows[i]}, {rows[i - 1]}, x5" for i in range(1, 4)]
    lines += [f"mov z{16 + i}.{kind}, #0" for i in range(16)]
    lines += ["ptrue p1.b", "mov x14, #0", f"whilelt p0.{kind}, x14, x4", "b.none 2f", ".p2align 5", "1:"]
    lines += [f"ld1{size} {{z{i}.{kind}}}, p0/z, [{row}, x14, lsl #{shift}]" for i, row in enumerate(A + B)]
    lines += [f"fmla z{16 + 4 * i + j}.{kind}, p0/m, z{i}.{kind}, z{4 + j}.{kind}" for i in range(4) for j in range(4)]
    lines += [f"inc{size} x14", f"whilelt p0.{kind}, x14, x4", "b.first 1b", "2:"]
    for i in range(4):
        lines += [f"faddv {kind}{j}, p1, z{16 + 4 * i + j}.{kind}" for j in range(4)]
        lines += ["cbz x7, 3f"]
        for j in range(4):
            lines += [f"ldr {kind}4, [x3, #{j * word}]", f"fadd {kind}{j}, {kind}{j}, {kind}4"]
        lines += ["3:"] + [f"str {kind}{j}, [x3, #{j * word}]" for j in range(4)] + ["add x3, x3, x6"]
    name = f"as_native_tiled_sve_{word}"
    return "\n".join(["    .p2align 6", f"    begin_function {name}"]
                     + [line if line.endswith(":") else "    " + line for line in lines + ["ret"]]
                     + [f"    end_function {name}"]) + "\n"


def main():
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(assembly.FORMATS + "#if (defined(__ELF__) || defined(__APPLE__)) && defined(__aarch64__)\n"
                "    .arch armv8.2-a\n    .arch_extension sve\n    .text\n" + block(4) + block(8)
                + '#endif\n#ifdef __ELF__\n    .section .note.GNU-stack, "", %progbits\n#endif\n')


if __name__ == "__main__":
    main()
