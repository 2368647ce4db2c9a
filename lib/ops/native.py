"""Generates the chains of operations for CPUs: native.py OUT.S OUT.c FILE.ini...

The files whose names begin with "cpu" have a section per operation of the other files (see ops.py) that CPUs have, named
without the type. Its keys, each optionally followed by a type ("x86v.f32"; an empty one: not this type):
  x86   scalar x86-64 instructions, separated by semicolons
  x86v  vectors of 128, 256 and 512 bits, unless there is x86x, x86y or x86z for that width; a subgroup operation (group = yes)
        takes the register as the subgroup
  a64   scalar aarch64 instructions; a64v vectors of 128 bits; sve vectors of SVE, of any length: p0 enables all lanes, p1 is
        scratch, and every operand has lanes as wide as the widest one's
  ...link  instructions that turn a result $r into an operand $a, if the types differ or results would converge.
        Throughput is then of independent operations: each result in its own register, no chain and no link.
  ...apart the instructions for independent results, if those of the chain overwrite $a
  ...want  the operation's instruction, if it is not the first after mov
  linkop   the operation that the link corresponds to
  values   operands in words, where the time depends on them: "divisor 3 to 31"
  types    the types that have it, if not all of the operation's
  a b c    domains of the operands, if they differ from those of devices
  as       templates: sections [@NAME] with the same keys, whose instructions follow one another. In them OP stands for the
           value of op.KEY, op.x86 or op.a64, each optionally followed by a type; "and.16b": of operands as 16 bytes
$d is the result, which in a chain is the register of $a; $b and $c the other operands, $t another vector register. A width
follows a dot: $a.q .d .w .b (64 to 8 bits), $a.x .y .h (128 and 256 bits, half of the vector), on aarch64 $a.x .w,
$a.16b and so on, of SVE $a.s, .d and .z (no lanes). $s is sh, ss or sd, $p ph, ps or pd, $i is b, w, d or q, $e SVE's h, s or d. Scratch: eax, edx, ecx (not with a link), k1; w16, w17.

A chain alternates between two second operands. Every kernel is a function (states, operands, turns): one state per
chain, SLOT bytes apart; operands are two b and one c, equally far apart.
"""
import os
import re
import sys

import ops

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import assembly  # noqa: E402  (lib/)

SVE = "sve"  # the width of vectors whose length the implementation chooses
SLOT = 256  # AS_NATIVE_SLOT of native.h: the longest of them
# Chains, and steps per chain in the long body. Half of them is a multiple of the two second operands. 18 keep two pipes of
# nine cycles busy, as A64FX has.
BODIES = {1: 48, 2: 24, 4: 12, 8: 8, 12: 4, 18: 4}
# CPU features of instructions, first match: name, then vector bits; narrow AVX-512 forms need more.
NEEDS = (
    (r"popcnt$", "POPCNT"), (r"lzcnt$", "LZCNT"), (r"tzcnt$|andn$|blsr$|blsi$", "BMI1"),
    (r"pext$|pdep$|mulx$|rorx$|shlx$|shrx$|sarx$", "BMI2"), (r"vcvtph2ps$|vcvtps2ph$", "F16C"),
    (r"v\w+[ps]h$|vcvtt?[ps]h2", "AVX512FP16"), (r"vfm", "FMA"), (r"vcvtneps2bf16$", "AVX512BF16"),
    (r"vpdp", "AVX512VNNI"), (r"vpopcnt[dq]$", "AVX512VPOPCNTDQ"), (r"vplzcnt", "AVX512CD"),
    (r"vpmullq$|vcvtt?p[sd]2u?qq$|vcvtu?qq2", "AVX512DQ"),
    (r"vpternlog|vpro[lr]|vpm(in|ax)[su]q$|vpabsq$|vpsraq$|vpsravq$|vcvtt?ps2udq$|vcvtudq2ps$|vrndscale|vblendm|vrcp14|"
     r"vrsqrt14|vgetmant|vshuf[if]|valign[dq]|vpcmpltud$|vpmovsdw$", "AVX512F"), (r"vpmov[dq]2m$", "AVX512DQ"), (r"vpblendmd$|vpexpandd$", "AVX512F"),
    (r"vpblendmw$|vpermw$", "AVX512BW"),
)
SVE2 = {"eor3", "urhadd"}  # instructions that SVE has since its second version
SIZE = {"q": 64, "d": 32, "w": 16, "b": 8}


class X86:
    name, keys, guard = "x86", {0: ("x86",), 128: ("x86x", "x86v"), 256: ("x86y", "x86v"), 512: ("x86z", "x86v")}, "__x86_64__"
    general = {"b": ("rbx", "rbp"), "c": "rsi", "r": "rdx", "apart": "rcx"}
    vector = {"b": (12, 13), "c": 14, "t": 15, "r": 15, "apart": 15}
    most = {True: 8, False: 12}

    @staticmethod
    def bank(_):
        return X86.vector

    @staticmethod
    def chains(_, general):
        return X86.most[general]

    @staticmethod
    def chain(general, k):
        return f"r{8 + k}" if general else k

    @staticmethod
    def register(reg, bits, modifier, row):
        if isinstance(reg, int):
            wide = {"x": 128, "y": 256, "h": max(row.width // 2, 128), None: max(row.width, 128)}[modifier]
            return {128: "x", 256: "y", 512: "z"}[wide] + f"mm{reg}"
        bits = SIZE[modifier] if modifier else bits
        if reg[1:].isdigit():
            return reg + {64: "", 32: "d", 16: "w", 8: "b"}[bits]
        return {64: "r", 32: "e", 16: "", 8: ""}[bits] + reg[1:] if bits > 8 else reg[1] + "l"

    @staticmethod
    def load(row, reg, at):
        base, offset = at
        base = {"states": "rdi", "operands": "rsi"}[base]
        if isinstance(reg, int):
            name = X86.register(reg, 0, None, row)
            return f"{'vmovups' if row.width else 'vmovq'} {name}, [{base}+{offset}]"
        return f"mov {reg}, [{base}+{offset}]"

    @staticmethod
    def store(row, reg, offset):
        if isinstance(reg, int):
            name = X86.register(reg, 0, None, row)
            return f"{'vmovups' if row.width else 'vmovq'} [rdi+{offset}], {name}"
        return f"mov [rdi+{offset}], {reg}"

    saved = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    begin = ["push rdi", "mov rdi, rdx"]
    end = ["dec rdi", "jnz 1b", "pop rdi"]

    @staticmethod
    def enter(_):
        return [f"push {r}" for r in X86.saved]

    @staticmethod
    def leave(row):
        return (["vzeroupper"] if row.vectors else []) + [f"pop {r}" for r in reversed(X86.saved)]

    @staticmethod
    def needs(row):
        found = set()
        for name in row.names(row.text) + row.names(row.link or ""):
            if not name.startswith("v") and not any(re.match(p, name) for p, _ in NEEDS):
                continue
            need = next((n for p, n in NEEDS if re.match(p, name)), None)
            found.add(need or "AVX")
            if name.startswith("v") and row.width == 256 and need is None:
                found.add("AVX2" if name.startswith("vp") else "AVX")
            if row.width == 512:
                found.add("AVX512F")
                if re.match(r"vp.*[bw]$|vpmaddwd$|vpslldq$|vpalignr$|vpunpckhwd$", name):
                    found.add("AVX512BW")
                if re.match(r"v(and|or|xor|andn)p", name):
                    found.add("AVX512DQ")
            if need and need.startswith("AVX512") and row.width in (128, 256):
                found.add("AVX512VL")
        if row.vectors:
            found.add("AVX")
        return found


class A64:
    name, keys, guard = "a64", {0: ("a64",), 128: ("a64v",), SVE: ("sve",)}, "__aarch64__"
    general = {"b": ("x3", "x4"), "c": "x5", "r": "x7", "apart": "x6"}
    vector = {"b": (20, 21), "c": 22, "t": 23, "r": 24, "apart": 25}
    vector_sve = {"b": (26, 27), "c": 28, "t": 29, "r": 30, "apart": 31}

    @staticmethod
    def bank(row):
        return A64.vector_sve if row.width == SVE else A64.vector

    @staticmethod
    def chains(row, general):
        return 18 if row.width == SVE else 8 if general else 12

    @staticmethod
    def chain(general, k):
        return f"x{8 + k}" if general else (k if k < 8 else k + 8)

    @staticmethod
    def register(reg, bits, modifier, row):
        letter = {8: "b", 16: "h", 32: "s", 64: "d"}[bits]
        if not isinstance(reg, int):
            return {"x": "x", "w": "w", None: "x" if bits == 64 else "w"}[modifier] + reg[1:]
        if row.width == SVE:
            return f"z{reg}" + ("" if modifier == "z" else f".{modifier or letter}")
        if modifier and modifier[0].isdigit():
            return f"v{reg}.{modifier}"
        if modifier:
            return f"{modifier}{reg}"
        return f"v{reg}.{row.width // bits}{letter}" if row.width else letter + str(reg)

    @staticmethod
    def load(row, reg, at):
        base, offset = at
        base = {"states": "x0", "operands": "x1"}[base]
        if row.width == SVE:
            return f"mov x16, #{offset}\n    ld1b {{z{reg}.b}}, p0/z, [{base}, x16]"
        return f"ldr {'q%d' % reg if isinstance(reg, int) else reg}, [{base}, #{offset}]"

    @staticmethod
    def store(row, reg, offset):
        if row.width == SVE:
            return f"mov x16, #{offset}\n    st1b {{z{reg}.b}}, p0, [x0, x16]"
        return f"str {'q%d' % reg if isinstance(reg, int) else reg}, [x0, #{offset}]"

    begin = []
    end = ["subs x2, x2, #1", "b.ne 1b"]

    @staticmethod
    def enter(row):
        return ["ptrue p0.b"] if row.width == SVE else []

    @staticmethod
    def leave(_):
        return []

    @staticmethod
    def needs(row):
        names = set(row.names(row.text))
        needs = {"BF16"} if names & {"bfcvt", "bfcvtn"} else set()
        if row.width == SVE:
            return needs | ({"SVE", "SVE2"} if names & SVE2 else {"SVE"})
        half = "f16" in (row.op.type, row.op.result) and any(re.match(r"f(?!cvt[nl]?$)|[su]cvtf$", n) for n in names)
        return needs | ({"FPHP"} if half else set())


class Row:
    """One operation in one width on one CPU architecture."""
    texts = {key for machine in (X86, A64) for keys in machine.keys.values() for key in keys}  # of instructions

    def __init__(self, op, sections, machine, width):
        self.op, self.section, self.machine, self.width = op, sections[op.base], machine, width
        self.templates = [sections["@" + name] for name in self.section.get("as", "").split()]
        self.steps = [t for t in self.templates if any(k.split(".")[0] in self.texts for k in t)]
        self.key = next((k for k in machine.keys[width] if self.get(k)), None)
        self.text = self.get(self.key) if self.key else None
        if not self.text:
            return
        self.link, self.want = self.get(self.key + "link"), self.get(self.key + "want")
        if not self.link and self.key in ("x86x", "x86y", "x86z"):
            self.link = self.get("x86vlink")
        self.text_apart = self.get(self.key + "apart") or self.text
        self.linkop = self.get("linkop") if self.link else None
        self.types = {"d": op.result, "r": op.result, "a": op.type, "b": op.btype, "c": op.ctype, "t": op.type}
        self.vectors = any(not self.is_general(n) for n in "dabc"[:2 + op.args])
        sizes = {ops.TYPES[self.types[n]].bits for n in "abc"[:op.args]} | {self.bits("d")}
        self.lane = max(sizes)
        self.lanes = 0 if width == SVE else width // self.lane if width else 1

    def get(self, key):
        own = self.entry(self.section, key)
        return (self.made(key) if own is None else own) or None

    def entry(self, section, *keys):
        return next((section[name] for key in keys for name in (f"{key}.{self.op.type}", key) if name in section), None)

    def made(self, key):
        """From its templates: the instructions of all, of other keys the first."""
        if key not in self.texts:
            return next(filter(None, (self.entry(t, key) for t in self.templates)), "")
        texts = [self.entry(t, key) for t in self.steps]
        text = "; ".join(texts) if all(texts) else ""
        name, _, lanes = (self.entry(self.section, f"op.{key}", f"op.{key[:3]}") or "").partition(".")
        if lanes:
            text = re.sub(r"OP (\$\w), (\$\w), (\$\w)", rf"OP \1.{lanes}, \2.{lanes}, \3.{lanes}", text)
        return text.replace("OP ", name + " ") if name else ""

    def bits(self, letter):
        return ops.TYPES[self.types[letter]].bits

    def is_general(self, letter):
        return not self.width and self.types[letter][0] == "i"

    @property
    def symbol(self):
        return f"as_native_{self.op.name}_{'scalar' if not self.width else self.width}"

    # ---- text ----

    @staticmethod
    def instructions(text):
        return [t.strip() for t in text.split(";") if t.strip()]

    def names(self, text):
        return [t.split()[0] for t in self.instructions(self.letters(text))]

    def letters(self, text):
        kind = self.op.type
        for letter, words in (("s", {"f16": "sh", "f32": "ss", "f64": "sd"}), ("p", {"f16": "ph", "f32": "ps", "f64": "pd"}),
                              ("i", {"i8": "b", "i16": "w", "i32": "d", "i64": "q"}),
                              ("e", {"i16": "h", "i32": "s", "i64": "d", "f16": "h", "f32": "s", "f64": "d"})):
            text = re.sub(r"\$" + letter + r"(?![a-z.])", lambda m, w=words, l=letter: w.get(kind) or ops.fail(
                self.symbol, f"${l} of {kind}"), text)
        return text

    def spell(self, text, regs):
        """Its instructions with these registers for d, a, b, c, r."""
        def one(match):
            letter, modifier = match.group(1), match.group(2)
            if letter == "t" and regs.get("t") is None:
                ops.fail(self.symbol, "no $t with a link between types")
            return self.machine.register(regs[letter], self.bits(letter), modifier, self)
        return [re.sub(r"\$([dabcrt])(?:\.([a-z0-9]+))?", one, t) for t in self.instructions(self.letters(text))]

    def register(self, name, letter, index=None):
        bank = self.machine.general if self.is_general(letter) else self.machine.bank(self)
        return bank[name] if index is None else bank[name][index]

    def regs(self, a, d, turn):
        return {"a": a, "d": d, "r": d, "b": self.register("b", "b", turn), "c": self.register("c", "c"),
                "t": self.machine.bank(self)["t"] if self.is_general("a") == self.is_general("d") else None}

    def step(self, k, turn):
        """Chain k: the operation, then the link."""
        a = self.machine.chain(self.is_general("a"), k)
        same = self.is_general("a") == self.is_general("d")
        regs = self.regs(a, a if same else self.register("r", "d"), turn)
        return self.spell(self.text, regs) + (self.spell(self.link, regs) if self.link else [])

    def apart(self, k):
        regs = self.regs(self.register("apart", "a"), self.machine.chain(self.is_general("d"), k), 0)
        if self.machine is X86:  # the second operand of odd steps is free
            regs["t"] = X86.vector["b"][1] if self.vectors and not self.is_general("a") and not self.is_general("d") else None
        return self.spell(self.text_apart, regs)

    # ---- kernels ----

    def kernel(self, name, loads, body, stores):
        m = self.machine
        operands = [m.load(self, self.register("b", "b", 1), ("operands", SLOT)),
                    m.load(self, self.register("b", "b", 0), ("operands", 0)),
                    m.load(self, self.register("c", "c"), ("operands", 2 * SLOT))]
        lines = [f"    begin_function {name}"]
        code = m.enter(self) + loads + operands + m.begin + ["    .p2align 6", "1:"] + body + m.end + stores + m.leave(self)
        return lines + ["    " + c if c != "1:" else c for c in code] + ["    ret", f"    end_function {name}"]

    def chain_kernel(self, name, ilp, steps):
        regs = [self.machine.chain(self.is_general("a"), k) for k in range(ilp)]
        loads = [self.machine.load(self, r, ("states", SLOT * k)) for k, r in enumerate(regs)]
        turns = 2 if steps > 1 else 1
        body = [f".rept {steps // turns}"] if steps > 1 else []
        for turn in range(turns):
            for k in range(ilp):
                body += self.step(k, turn)
        body += [".endr"] if steps > 1 else []
        return self.kernel(name, loads, body, [self.machine.store(self, r, SLOT * k) for k, r in enumerate(regs)])

    def apart_kernel(self, name, ilp, steps):
        regs = [self.machine.chain(self.is_general("d"), k) for k in range(ilp)]
        loads = [self.machine.load(self, self.register("apart", "a"), ("states", 0))]
        body = [f".rept {steps}"] if steps > 1 else []
        for k in range(ilp):
            body += self.apart(k)
        body += [".endr"] if steps > 1 else []
        return self.kernel(name, loads, body, [self.machine.store(self, r, SLOT * k) for k, r in enumerate(regs)])

    def once_kernel(self, name):
        a = self.machine.chain(self.is_general("a"), 0)
        d = a if self.is_general("a") == self.is_general("d") else self.register("r", "d")
        return self.kernel(name, [self.machine.load(self, a, ("states", 0))], self.spell(self.text, self.regs(a, d, 0)),
                           [self.machine.store(self, d, 0)])

    def bodies(self):
        """(name, chains, steps per chain in the long body, independent results)"""
        most = self.machine.chains(self, self.is_general("a") or self.is_general("d"))
        for ilp in BODIES if not self.link else (1,):
            if ilp <= most:
                yield f"{self.symbol}_{ilp}", ilp, BODIES[ilp], False
        if self.link:
            yield f"{self.symbol}_apart", most, BODIES[most], True

    def assembly(self):
        lines = self.once_kernel(self.symbol + "_once")
        if self.link:
            lines += self.chain_kernel(self.symbol + "_step", 1, 1)
        for name, ilp, steps, apart in self.bodies():
            write = self.apart_kernel if apart else self.chain_kernel
            lines += write(name + "_half", ilp, steps // 2) + write(name + "_whole", ilp, steps)
        return "\n".join(lines) + "\n"

    # ---- the table ----

    def wanted(self):
        if self.want:
            return self.letters(self.want)
        names = self.names(self.text)
        return next((n for n in names if n not in ("mov",)), names[0])

    def domain(self, letter):
        name = self.get(letter) or self.op.domain(letter)
        if name not in ops.DOMAINS:
            ops.fail(self.symbol, f"{letter}: no domain '{name}'")
        return name

    def symbols(self):
        yield self.symbol + "_once"
        if self.link:
            yield self.symbol + "_step"
        for name, *_ in self.bodies():
            yield name + "_half"
            yield name + "_whole"

    def record(self):
        bodies = "".join(
            f"         {{.name = \"{name}\", .chains = {ilp}, .steps = {steps}, .apart = {'true' if apart else 'false'}, "
            f".instructions = {len(self.apart(0) if apart else self.step(0, 0))}, .half = {name}_half, "
            f".whole = {name}_whole}},\n" for name, ilp, steps, apart in self.bodies())
        needs = " | ".join(f"AS_CPU_{n}" for n in sorted(self.machine.needs(self))) or "0"
        text = "; ".join(self.instructions(self.letters(self.text)))
        link = f'"{self.linkop or self.link}"' if self.link else "NULL"
        values = f'"{self.get("values")}"' if self.get("values") else "NULL"
        domains = ", ".join(f".{n} = AS_OP_{self.domain(n).upper()}" for n in "abc")
        return (f"    {{.op = \"{self.op.name}\", .width = AS_NATIVE_{str(self.width or 'scalar').upper()}, "
                f".lanes = {self.lanes}, .lane_bytes = {self.lane // 8 if self.width == SVE else 0}, .needs = {needs},\n     .text = \"{text}\", .link = {link}, "
                f".wanted = \"{self.wanted()}\", .values = {values},\n     {domains}, "
                f".once = {self.symbol}_once, .step = {self.symbol}_"
                f"{'step' if self.link else 'once'},\n     .bodies = {{\n{bodies}     }}}},\n")


def rows_of(operations, sections, machine):
    bases = {o.base for o in operations}
    for base in sections.sections():
        if base not in bases and not base.startswith("@"):
            ops.fail(base, "no such operation")
    for o in operations:
        if o.base in sections and o.type in sections[o.base].get("types", o.type).split():
            for width in machine.keys:
                row = Row(o, sections, machine, width)
                if row.text:
                    yield row


def read(paths):
    """The operations, and the sections of CPUs."""
    cpu = [p for p in paths if os.path.basename(p).startswith("cpu")]
    return [o for p in paths if p not in cpu for o in ops.read(p)], ops.parse(*cpu)


def main():
    operations, sections = read(sys.argv[3:])
    fronts = ((X86, "    .intel_syntax noprefix\n    .text\n"),
              (A64, "    .text\n    .arch armv8.6-a+fp16\n    .arch_extension sve\n    .arch_extension sve2\n"))
    machines = [(m, front, list(rows_of(operations, sections, m))) for m, front in fronts]
    assembly.write(sys.argv[1], sys.argv[2], "lib/ops/native.h", "as_native_run", "struct as_native as_natives", machines)
    with open(sys.argv[2], "a", encoding="ascii") as f:
        f.write(f'_Static_assert(AS_NATIVE_SLOT == {SLOT} && AS_NATIVE_CHAINS >= {max(BODIES)} && AS_NATIVE_BODIES >= '
                f'{len(BODIES)}, "as native.py has them");\n')


if __name__ == "__main__":
    main()
