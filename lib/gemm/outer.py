"""Generates GEMM kernels by SME's outer products, and their table: outer.py OUT.S OUT.c

They are written for any length of vectors. All words are those of the accumulators, of 4 or 8 bytes: an outer product takes one
of each line. Both operands are packed step by step; a step has the words of several vectors of lines. See outer.h for the jobs.
  pack_4, pack_8   one vector of lines, whose words lie along K, by way of a tile: rows in, columns out
  multiply         a panel of A times panels of B, with all tiles of ZA
SME's instructions are words, since many assemblers lack them. Streaming mode has nothing else of SVE for sure; entering and
leaving it clears the vector registers, so the callee-saved ones are kept in memory. No caller has a live or dormant ZA: every
kernel leaves streaming mode and ZA before it returns.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import assembly  # noqa: E402  (lib/)

SMSTART, SMSTOP, ZERO_ZA = ".inst 0xd503477f", ".inst 0xd503467f", ".inst 0xc00800ff"
LOAD, STORE = 0xe0800000, 0xe0a00000
SAVED = [(8, 0), (10, 16), (12, 32), (14, 48)]
XZR = 31

# type of the GEMM, instruction, its types in names, its word, bytes of an accumulator, features
INSTRUCTIONS = [
    ("F64", "fmopa", "f64", 0x80c00000, 8, "SME SMEF64F64"),
    ("F32", "fmopa", "f32", 0x80800000, 4, "SME"),
    ("BF16", "bfmopa", "bf16_f32", 0x81800000, 4, "SME"),
    ("F16", "fmopa", "f16_f32", 0x81a00000, 4, "SME"),
    ("S8", "smopa", "s8_s32", 0xa0800000, 4, "SME"),
]


def function(name, lines):
    enter = ["sub sp, sp, #64"] + [f"stp d{r}, d{r + 1}, [sp, #{at}]" for r, at in SAVED] + [SMSTART]
    leave = [SMSTOP] + [f"ldp d{r}, d{r + 1}, [sp, #{at}]" for r, at in SAVED] + ["add sp, sp, #64", "ret"]
    return "\n".join(["    .p2align 6", f"    begin_function {name}"]
                     + [line if line.endswith(":") else "    " + line for line in enter + lines + leave]
                     + [f"    end_function {name}"]) + "\n"


def letter(word):
    return "s" if word == 4 else "d"


def slice_of(opcode, word, tile, predicate, base, index=XZR, vertical=False):
    """ld1 or st1 of row (or column) w12 of a tile: {za.[w12, 0]}, p, [x, x, lsl]."""
    place = tile << (2 if word == 4 else 1) | (0x400000 if word == 8 else 0)
    return f".inst {opcode | index << 16 | vertical << 15 | predicate << 10 | base << 5 | place:#x}"


def pack(word):
    """ZA is zeros when streaming mode begins, and remains so for missing lines.
    x0: job; x1 first line, x2 packed, x3 lines, x4 bytes of a line, x5 words of a line, x6 bytes of a packed step."""
    kind = letter(word)
    return function(f"as_native_outer_pack_{word}", [
        "ldp x1, x2, [x0]", "ldp x3, x4, [x0, #16]", "ldp x5, x6, [x0, #32]",
        "ptrue p0.b", f"cnt{'w' if word == 4 else 'd'} x7",
        "1:",
        f"whilelt p1.{kind}, xzr, x5",
        "cbz x3, 3f", "mov x9, x1", "mov w12, #0",
        "2:",
        slice_of(LOAD, word, 0, 1, 9),
        "add x9, x9, x4", "add w12, w12, #1", "cmp x12, x3", "b.lt 2b",
        "3:",
        "mov w12, #0",
        "4:",
        slice_of(STORE, word, 0, 0, 2, vertical=True),
        "add x2, x2, x6", "add w12, w12, #1", "subs x5, x5, #1", "b.eq 5f", "cmp x12, x7", "b.lt 4b",
        "addvl x1, x1, #1", "b 1b",
        "5:"])


class Row:
    """One instruction."""

    def __init__(self, types, code, names, word, size, needs):
        self.type, self.code, self.names, self.word, self.size, self.needs = types, code, names, word, size, needs
        self.rows, self.columns = size // 2, 2  # vectors of each side: all tiles
        self.unroll = 16 // size
        self.symbol = f"as_native_outer_{code}_{names}"

    def tiles(self, opcode):
        """Rows of all tiles from or to d: x13 address, x16 rows left, x10 words of a vector."""
        lines = ["mov x13, x3", "mov x16, x5"]
        for i in range(self.rows):
            lines += ["mov w12, #0", f"{i + 11}:"]
            lines += [slice_of(opcode, self.size, self.columns * i, 1, 13),
                      slice_of(opcode, self.size, self.columns * i + 1, 2, 13, 10)]
            lines += ["add x13, x13, x7", "subs x16, x16, #1", "b.eq 19f", "add w12, w12, #1", "cmp x12, x10",
                      f"b.lt {i + 11}b"]
        return lines + ["19:"]

    def steps(self, count):
        lines = []
        first_b = self.rows * count
        for s in range(count):
            lines += [f"ldr z{s * self.rows + i}, [x11, #{s * self.rows + i}, mul vl]" for i in range(self.rows)]
            lines += [f"ldr z{first_b + s * 2 + j}, [x14, #{s * 2 + j}, mul vl]" for j in range(2)]
            for i in range(self.rows):
                for j in range(2):
                    lines.append(f".inst {self.word | (first_b + s * 2 + j) << 16 | (s * self.rows + i) << 5 | i * 2 + j:#x}")
        return lines + [f"addvl x11, x11, #{self.rows * count}", f"addvl x14, x14, #{2 * count}"]

    def assembly(self):
        """x0: job; x1 A, x2 B, x3 d, x4 steps, x5 rows, x6 columns, x7 bytes of a row of d, x8 bytes from one panel of B to
        the next, x9 whether to add to d."""
        kind = letter(self.size)
        log = self.unroll.bit_length() - 1
        return function(self.symbol, [
            "ldp x1, x2, [x0]", "ldp x3, x4, [x0, #16]", "ldp x5, x6, [x0, #32]", "ldp x7, x8, [x0, #48]",
            "ldr x9, [x0, #64]",
            "ptrue p0.b", f"cnt{'w' if self.size == 4 else 'd'} x10",
            "1:",
            f"whilelt p1.{kind}, xzr, x6", f"whilelt p2.{kind}, x10, x6",
            ZERO_ZA, "cbz x9, 2f"] + self.tiles(LOAD) + [
            "2:",
            "mov x11, x1", "mov x14, x2", f"lsr x15, x4, #{log}", "cbz x15, 4f", ".p2align 5",
            "3:"] + self.steps(self.unroll) + ["subs x15, x15, #1", "b.ne 3b",
            "4:",
            f"ands x15, x4, #{self.unroll - 1}", "b.eq 6f",
            "5:"] + self.steps(1) + ["subs x15, x15, #1", "b.ne 5b",
            "6:"] + self.tiles(STORE) + [
            "add x2, x2, x8", "addvl x3, x3, #2", "subs x6, x6, x10, lsl #1", "b.gt 1b"])

    def symbols(self):
        yield self.symbol

    def record(self):
        needs = " | ".join(f"AS_CPU_{n}" for n in self.needs.split())
        return (f'    {{.type = AS_GEMM_{self.type}, .code = "{self.code}", .types = "{self.names}", .needs = {needs},\n'
                f"     .word = {self.size}, .rows = {self.rows}, .columns = {self.columns}, "
                f".instructions = {self.rows * self.columns * (self.unroll + 1)},\n"
                f'     .symbol = "{self.symbol}", .pack = as_native_outer_pack_{self.size}, .multiply = {self.symbol}}},\n')


class A64:
    guard = "__aarch64__"


def main():
    front = "    .arch armv8.2-a\n    .arch_extension sve\n    .text\n" + pack(4) + pack(8)
    assembly.write(sys.argv[1], sys.argv[2], "lib/gemm/outer.h", "as_outer_multiply", "struct as_outer as_outers",
                   [(A64, front, [Row(*i) for i in INSTRUCTIONS])])


if __name__ == "__main__":
    main()
