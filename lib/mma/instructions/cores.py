"""Generates the assembly kernels of CPUs' matrix instructions, and their table: cores.py OUT.S OUT.c FILE.ini...

The files are those of instructions.py; keys for CPUs only: x86, a64 (the instruction; $c $a $b are registers), width (of x86
registers: 128, 256, 512 or tile), needs (CPU features: AS_CPU_ words of features.h), vex (prefix and opcode
in map 0F38, for instructions that assemblers may lack), vectors (lengths of SVE's or, with inst, SME's vectors), inst (an
SME instruction's word with registers 0).
All kernels are functions (a, b, c, n) of operand images (layout.h). Each operand is one register.
  multiply    n products, image by image
  CHAINS_half, _whole   n turns of a body on two images of each operand and CHAINS accumulators: see peak.kernel
  block       n steps of a GEMM micro-kernel: several images of A times several of B
"""
import os
import sys

import instructions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import assembly  # noqa: E402  (lib/)

# Chains, and steps per chain in the long body; half of them is a multiple of four, after which accumulators repeat.
BODIES = {1: 48, 2: 24, 4: 16, 8: 8, 12: 8}
TILE_ROWS, TILE_BYTES = 16, 64


class X86:
    """a b c n in rdi rsi rdx rcx. For tiles, rax is the row size in bytes."""
    key, guard, comment = "x86", "__x86_64__", ""
    pointers = {"a": "rdi", "b": "rsi", "c": "rdx"}
    begin = [".intel_syntax noprefix"]
    letter = {"128": "x", "256": "y", "512": "z", "tile": "t"}

    def __init__(self, row):
        self.row, self.width = row, row.get("width")
        if self.width not in self.letter:
            instructions.fail(row.name, f"no width '{self.width}'")
        self.tile = self.width == "tile"
        # accumulators of a block: rows, columns; registers: accumulators, of A, of B
        self.block = {"tile": (2, 2), "512": (12, 2)}.get(self.width, (6, 2))
        self.most = 4 if self.tile else 12
        self.peak_registers = (list(range(self.most)), [self.most, self.most + 1], [self.most + 2, self.most + 3])
        n, b = self.block[0] * self.block[1], self.block[1]
        spare = {"tile": 2, "512": 4}.get(self.width, 2)
        self.block_registers = (list(range(n)), list(range(n + b, n + b + spare)), list(range(n, n + b)))

    def name(self, register):
        return f"{self.letter[self.width]}mm{register}"

    def enter(self):
        return ["ldtilecfg [rip + as_native_matrix_tiles]", f"mov eax, {TILE_BYTES}"] if self.tile else []

    def leave(self):
        return ["tilerelease" if self.tile else "vzeroupper", "ret"]

    def load(self, operand, register, offset):
        at = f"{self.pointers[operand]} + {offset}"
        if self.tile:
            return [f"tileloadd {self.name(register)}, [{at} + rax]"]
        bits = self.row.spread_bits(operand)
        if bits:
            return [f"vpbroadcast{ {16: 'w', 32: 'd', 64: 'q'}[bits]} {self.name(register)}, "
                    f"{ {16: 'word', 32: 'dword', 64: 'qword'}[bits]} ptr [{at}]"]
        return [f"vmovups {self.name(register)}, [{at}]"]

    def store(self, register, offset):
        return [f"tilestored [rdx + {offset} + rax], {self.name(register)}" if self.tile else
                f"vmovups [rdx + {offset}], {self.name(register)}"]

    def step(self, c, a, b):
        vex = self.row.get("vex")
        if vex:
            prefix, opcode = (int(x, 16) for x in vex.split())
            pp = {0x66: 1, 0xf3: 2, 0xf2: 3}[prefix]
            return [f".byte 0xc4, 0xe2, {(~b & 15) << 3 | pp:#x}, {opcode:#x}, {0xc0 | c << 3 | a:#x}"]
        text = self.row.get("x86")
        for letter, register in (("$a", a), ("$b", b), ("$c", c)):
            text = text.replace(letter, self.name(register))
        return [text]

    @staticmethod
    def advance(operand, by):
        return [f"add {X86.pointers[operand]}, {by}"]

    skip = ["test rcx, rcx", "jz 2f"]
    again = ["dec rcx", "jnz 1b"]


class A64:
    """a b c n in x0 x1 x2 x3; v8 to v15 are callee-saved and unused."""
    key, guard, comment = "a64", "__aarch64__", ""
    pointers = {"a": "x0", "b": "x1", "c": "x2"}
    begin = [".arch armv8.2-a+dotprod+i8mm+bf16+fp16", ".arch_extension sve"]

    def __init__(self, row):
        self.row = row
        self.block, self.most = (4, 4), 12
        usable = list(range(8)) + list(range(16, 32))
        self.peak_registers = (usable[:12], usable[12:14], usable[14:16])
        self.block_registers = (usable[:16], usable[20:24], usable[16:20])

    @staticmethod
    def enter():
        return []

    @staticmethod
    def leave():
        return ["ret"]

    def load(self, operand, register, offset):
        bits = self.row.spread_bits(operand)
        base = self.pointers[operand]
        if bits:
            kind = {16: "8h", 32: "4s", 64: "2d"}[bits]
            return [f"add x9, {base}, #{offset}", f"ld1r {{v{register}.{kind}}}, [x9]"]
        return [f"ldr q{register}, [{base}, #{offset}]"]

    @staticmethod
    def store(register, offset):
        return [f"str q{register}, [x2, #{offset}]"]

    def step(self, c, a, b):
        text = self.row.get("a64")
        for letter, register in (("$a", a), ("$b", b), ("$c", c)):
            text = text.replace(letter, f"v{register}")
        return [text]

    @staticmethod
    def advance(operand, by):
        return [f"add {A64.pointers[operand]}, {A64.pointers[operand]}, #{by}"]

    skip = ["cbz x3, 2f"]
    again = ["subs x3, x3, #1", "b.ne 1b"]


class SVE(A64):
    """Vectors of a known length. p0 enables all of one; z8 to z15 hold the callee-saved d8 to d15."""

    @staticmethod
    def enter():
        return ["ptrue p0.b"]

    def load(self, operand, register, offset):
        bits = self.row.spread_bits(operand)
        base = self.pointers[operand]
        if bits:
            letter, kind = {16: "hh", 32: "ws", 64: "dd"}[bits]
            return [f"add x9, {base}, #{offset}", f"ld1r{letter} {{z{register}.{kind}}}, p0/z, [x9]"]
        return [f"ldr z{register}, [{base}, #{self.vectors(offset)}, mul vl]"]

    def store(self, register, offset):
        return [f"str z{register}, [x2, #{self.vectors(offset)}, mul vl]"]

    def vectors(self, offset):
        return offset // (self.row.instruction.bits // 8)

    def step(self, c, a, b):
        text = self.row.get("a64")
        for letter, register in (("$a", a), ("$b", b), ("$c", c)):
            text = text.replace(letter, f"z{register}")
        return [text]


class SME(SVE):
    """Accumulators are tiles of ZA, and the CPU is in streaming mode: nothing else of SVE is sure to exist. Both switches clear
    the vector registers, so the callee-saved ones are kept in memory. No caller has a dormant ZA: nothing else here uses it.
    SME's instructions are words, since many assemblers lack them."""
    saved = [(8, 0), (10, 16), (12, 32), (14, 48)]
    SMSTART, SMSTOP = ".inst 0xd503477f", ".inst 0xd503467f"

    def __init__(self, row):
        super().__init__(row)
        self.word = instructions.BITS[row.instruction.c] // 8
        tiles = self.word
        self.block, self.most = (tiles // 2, 2), tiles
        self.peak_registers = (list(range(tiles)), [0, 1], [2, 3])
        self.block_registers = (list(range(tiles)), [2, 3], [0, 1])

    def enter(self):
        return ["sub sp, sp, #64"] + [f"stp d{r}, d{r + 1}, [sp, #{at}]" for r, at in self.saved] + [
            self.SMSTART, "ptrue p0.b"]

    def leave(self):
        return [self.SMSTOP] + [f"ldp d{r}, d{r + 1}, [sp, #{at}]" for r, at in self.saved] + ["add sp, sp, #64", "ret"]

    def rows(self, tile, offset, opcode):
        """ld1 or st1 of all rows of a tile, from x2 and x9 words on: {za.[w12, 0]}, p0, [x2, x9, lsl]."""
        vector = self.row.instruction.bits // 8
        word = opcode | tile << (2 if self.word == 4 else 1) | (0x400000 if self.word == 8 else 0)
        lines = []
        for row in range(vector // self.word):
            lines += [f"mov w12, #{row}", f"mov x9, #{(offset + row * vector) // self.word}", f".inst {word:#x}"]
        return lines

    def load(self, operand, register, offset):
        return self.rows(register, offset, 0xe0890040) if operand == "c" else super().load(operand, register, offset)

    def store(self, register, offset):
        return self.rows(register, offset, 0xe0a90040)

    def step(self, c, a, b):
        return [f".inst {int(self.row.get('inst'), 16) | b << 16 | a << 5 | c:#x}"]


def a64(row):
    """The kind of aarch64 registers of an instruction."""
    if not row.instruction.bits:
        return A64(row)
    return SME(row) if row.get("inst") else SVE(row)


class Row:
    """One instruction in the assembly of one architecture."""

    def __init__(self, instruction, machine):
        self.instruction, self.name = instruction, instruction.name
        self.symbol = f"as_native_matrix_{self.name}"
        self.machine = a64(self) if machine is A64 else machine(self)
        sizes = (("a", instruction.m * instruction.k, instruction.a), ("b", instruction.k * instruction.n, instruction.b),
                 ("c", instruction.m * instruction.n, instruction.c))
        self.bytes = {operand: count * instructions.BITS[kind] // 8 for operand, count, kind in sizes}

    def get(self, key):
        return self.instruction.get(key)

    def spread_bits(self, operand):
        """Bits of a broadcast operand; 0: it has an element per lane."""
        spread = self.get(operand).split()[0] == "spread"
        return self.bytes[operand] * 8 if spread else 0

    def function(self, name, lines):
        code = self.machine.enter() + lines + self.machine.leave()
        return ["    .p2align 6", f"    begin_function {name}"] + [
            c if c[:2] in ("1:", "2:") else "    " + c for c in code] + [f"    end_function {name}"]

    def multiply(self):
        m = self.machine
        (c, *_), (a, *_), (b, *_) = m.peak_registers
        body = m.load("a", a, 0) + m.load("b", b, 0) + m.load("c", c, 0) + m.step(c, a, b) + m.store(c, 0)
        for operand in "abc":
            body += m.advance(operand, self.bytes[operand])
        return self.function(self.symbol + "_multiply", m.skip + ["1:"] + body + m.again + ["2:"])

    def peak(self, chains, steps, which):
        m = self.machine
        c, a, b = m.peak_registers
        before = []
        for i in range(2):
            before += m.load("a", a[i], i * self.bytes["a"]) + m.load("b", b[i], i * self.bytes["b"])
        after = []
        for i in range(chains):
            before += m.load("c", c[i], i * self.bytes["c"])
            after += m.store(c[i], i * self.bytes["c"])
        body = []
        for s in range(steps):
            for i in range(chains):
                body += m.step(c[i], a[s + i & 1], b[(s + i ^ s + i >> 1) & 1])
        return self.function(f"{self.symbol}_{chains}_{which}",
                             before + m.skip + [".p2align 6", "1:"] + body + m.again + ["2:"] + after)

    def block(self):
        m = self.machine
        rows, columns = m.block
        c, a, b = m.block_registers
        before, body, after = [], [], []
        for j in range(columns):
            body += m.load("b", b[j], j * self.bytes["b"])
        for i in range(rows):
            body += m.load("a", a[i % len(a)], i * self.bytes["a"])
            for j in range(columns):
                at = i * columns + j
                before += m.load("c", c[at], at * self.bytes["c"])
                body += m.step(c[at], a[i % len(a)], b[j])
                after += m.store(c[at], at * self.bytes["c"])
        body += m.advance("a", rows * self.bytes["a"]) + m.advance("b", columns * self.bytes["b"])
        return self.function(self.symbol + "_block",
                             before + m.skip + [".p2align 6", "1:"] + body + m.again + ["2:"] + after)

    def bodies(self):
        return [(chains, steps) for chains, steps in BODIES.items() if chains <= self.machine.most]

    def assembly(self):
        lines = self.multiply() + self.block()
        for chains, steps in self.bodies():
            lines += self.peak(chains, steps // 2, "half") + self.peak(chains, steps, "whole")
        return "\n".join(lines) + "\n"

    def symbols(self):
        yield self.symbol + "_multiply"
        yield self.symbol + "_block"
        for chains, _ in self.bodies():
            yield f"{self.symbol}_{chains}_half"
            yield f"{self.symbol}_{chains}_whole"

    def record(self):
        bodies = "".join(f"         {{.name = \"{self.symbol}_{chains}\", .chains = {chains}, .steps = {steps}, "
                         f".half = {self.symbol}_{chains}_half, .whole = {self.symbol}_{chains}_whole}},\n"
                         for chains, steps in self.bodies())
        needs = " | ".join(f"AS_CPU_{n}" for n in (self.get("needs") or "").split()) or "0"
        rows, columns = self.machine.block
        return (f"    {{.name = \"{self.name}\", .needs = {needs}, .bits = {self.instruction.bits}, .symbol = \"{self.symbol}\",\n"
                f"     .rows = {rows}, .columns = {columns}, .multiply = {self.symbol}_multiply, "
                f".block = {self.symbol}_block,\n     .bodies = {{\n{bodies}     }}}},\n")


def tiles():
    """Operand of ldtilecfg: palette 1, eight tiles of 16 rows of 64 bytes."""
    numbers = [1] + 15 * [0] + 8 * [TILE_BYTES, 0] + 16 * [0] + 8 * [TILE_ROWS] + 8 * [0]
    return ("    constants\n    .p2align 6\nas_native_matrix_tiles:\n    .byte "
            + ", ".join(str(n) for n in numbers) + "\n    .text\n")


def main():
    every = [i for path in sys.argv[3:] for i in instructions.read(path)[0]]
    machines = [(m, "".join(f"    {line}\n" for line in m.begin) + "    .text\n" + (tiles() if m is X86 else ""),
                 [Row(i, m) for i in every if i.key == m.key]) for m in (X86, A64)]
    assembly.write(sys.argv[1], sys.argv[2], "lib/mma/instructions/cores.h", "as_core_run", "struct as_core as_cores", machines)


if __name__ == "__main__":
    main()
