"""Generates chains of CPU instructions by operand, and mixtures of two: pairs.py OUT.S OUT.c X86.ini A64.ini

A section is an instruction form. Its keys:
  needs       CPU features, as in device/cpu/features.h, without AS_CPU_
  FROM>TO     a chain in which the instruction's input FROM depends on its output TO, of operands by their number,
              registers and flags by their name. Other inputs are constant: instructions without inputs renew registers.
  FROM>TO.less  cycles of a link that the chain contains, and the link's instruction
  FROM>TO.most  the same where the link takes at least so many cycles: the latency is then at most what is left
  throughput  the instruction with an independent destination {}; one without {} is repeated as it stands
  mixed       yes: two such forms are also measured together, for ports that both use

A step has as many latencies as it names the instruction. Every kernel is a function (states, operands, turns), as those of
native.py; vector registers begin as the first state, general ones as small numbers. Where one addresses memory, rdi (x0) points to
ones, rdi+256 to its own address, which rax (x3) holds, and rsi (x4) to zeros. Destinations {} are of the first operand's kind."""
import itertools
import os
import re
import sys

import ops

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import assembly  # noqa: E402  (lib/)

STEPS = {True: 48, False: 12}  # of chains, and others, in the long body


class X86:
    guard, front = "__x86_64__", "    .intel_syntax noprefix\n    .text\n"
    kinds = r"^[a-z\d]+_([xyz]mm)"
    registers = {"": [f"r{n}" for n in range(8, 16)]} | {f"{b}mm": [f"{b}mm{n}" for n in range(4, 16)] for b in "xyz"}
    spare = {"rcx": r"\b([re]?cx|cl)\b", "rsi": r"\b([re]?si|sil)\b"}  # general, where the text does not name them
    saved = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    initial = {"rax": 1, "rbx": 3, "rcx": 5, "rdx": 7, "rsi": 9} | {r: 11 for r in registers[""]}
    memory = ["lea rax, [rdi+256]", "mov [rax], rax", "lea rsi, [rdi+512]"] + [f"mov qword ptr [rsi+{n}], 0" for n in range(0, 64, 8)]

    @staticmethod
    def function(body, steps):
        found = set(re.findall(r"\b([xyz])mm\d", "; ".join(body)))
        bank = next((b for b in "zyx" if b in found), None)
        loads = [f"vmovups {bank}mm{n}, [rdi]" for n in range(16)] if bank else []
        loads += [f"mov {r}, {v}" for r, v in X86.initial.items()]
        if any("[r" in t and not t.startswith("lea") for t in body):
            loads += X86.memory
        code = [f"push {r}" for r in X86.saved] + ["mov rbp, rdx"] + loads + [".p2align 6", "1:", f".rept {steps}"] + body
        code += [".endr", "dec rbp", "jnz 1b"] + (["vzeroupper"] if bank else [])
        return code + [f"pop {r}" for r in reversed(X86.saved)] + ["ret"]


class A64:
    guard, front = "__aarch64__", "    .text\n"
    kinds = r"^[a-z\d]+_([dqv])"
    spare = {}
    registers = {"": [f"x{n}" for n in range(8, 18)]} | {b: [f"{b}{n}" for n in range(16, 28)] for b in "dqv"}
    initial = {f"x{n}": 2 * n - 5 for n in range(3, 8)} | {r: 11 for r in registers[""]}
    memory = ["add x3, x0, #256", "str x3, [x3]", "add x4, x0, #512"] + [f"stp xzr, xzr, [x4, #{n}]" for n in range(0, 64, 16)]

    @staticmethod
    def function(body, steps):
        loads = [f"ldr q{n}, [x0]" for n in (*range(8), *range(16, 32))]
        loads += [f"mov {r}, #{v}" for r, v in A64.initial.items()] + (A64.memory if any("[x" in t for t in body) else [])
        return loads + [".p2align 6", "1:", f".rept {steps}"] + body + [".endr", "sub x2, x2, #1", "cbnz x2, 1b", "ret"]


def instructions(text):
    return [t.strip() for t in text.split(";") if t.strip()]


class Kernel:
    """form: of the instruction; what: "2>1", "throughput", or the other form of a mixture."""

    def __init__(self, machine, form, what, body, count, needs, less=(0, "", False), counts=(1, 1)):
        self.machine, self.form, self.what, self.body, self.count, self.needs = machine, form, what.replace(">", "to"), body, count, needs
        self.less, self.counts = less, counts
        self.symbol = "as_pair_" + re.sub(r"\W", "_", f"{form}_{self.what}")

    @property
    def steps(self):
        return STEPS["to" in self.what]

    def function(self, name, steps):
        code = self.machine.function(self.body, steps)
        return "\n".join([f"    begin_function {name}"] + ["    " + c if c != "1:" else c for c in code]
                         + [f"    end_function {name}"]) + "\n"

    def assembly(self):
        return self.function(self.symbol + "_half", self.steps // 2) + self.function(self.symbol + "_whole", self.steps)

    def symbols(self):
        return self.symbol + "_half", self.symbol + "_whole"

    def record(self):
        needs = " | ".join(f"AS_CPU_{n}" for n in self.needs) or "0"
        return (f'    {{.form = "{self.form}", .what = "{self.what}", .text = "{"; ".join(self.body)}", .needs = {needs},\n'
                f'     .count = {self.count}, .less = {self.less[0]}, .link = "{self.less[1]}", .at_most = {str(self.less[2]).lower()}, .counts = {{{self.counts[0]}, '
                f'{self.counts[1]}}},\n     .body = {{.name = "{self.symbol}", .chains = 1, .steps = {self.steps}, .instructions = '
                f'{len(self.body)}, .half = {self.symbol}_half, .whole = {self.symbol}_whole}}}},\n')


def spread(machine, form, text, first=0, step=1):
    """The instruction once per register of its first operand's kind, of those from the first on."""
    kind = (re.findall(machine.kinds, form) or [""])[0]
    registers = machine.registers[kind] + [r for r, named in machine.spare.items()
                                           if step == 1 and not kind and "{} " in text.replace(",", " ") and not re.search(named, text)]
    registers = registers[first::step]
    return [one.replace("{}", r) for r in registers for one in instructions(text)] if "{}" in text else instructions(text) * 8


def chains(machine, form, section, needs):
    name = form.split("_")[0]
    for key, text in section.items():
        if ">" in key and "." not in key:
            body = instructions(text)
            count = sum(t.split()[0] == name for t in body)
            less, _, link = section.get(key + ".most", section.get(key + ".less", "0")).partition(" ")
            if not count:
                ops.fail(form, f"{key}: no {name}")
            yield Kernel(machine, form, key, body, count, needs, (less, link, key + ".most" in section))


def kernels(machine, table):
    forms = {}
    for form in table.sections():
        section = table[form]
        needs = section.get("needs", "").split()
        yield from chains(machine, form, section, needs)
        if "throughput" in section:
            body, name = spread(machine, form, section["throughput"]), form.split("_")[0]
            yield Kernel(machine, form, "throughput", body, sum(t.split()[0] == name for t in body), needs)
            if section.get("mixed") == "yes":
                forms[form] = (section["throughput"], needs)
    for (a, (text_a, needs_a)), (b, (text_b, needs_b)) in itertools.combinations(forms.items(), 2):
        one, two = spread(machine, a, text_a, 0, 2), spread(machine, b, text_b, 1, 2)
        body = [t for both in itertools.zip_longest(one, two) for t in both if t]
        yield Kernel(machine, a, b, body, 1, sorted(set(needs_a) | set(needs_b)), counts=(len(one), len(two)))


def main():
    tables = [(m, list(kernels(m, ops.parse(path)))) for m, path in zip((X86, A64), sys.argv[3:])]
    assembly.write(sys.argv[1], sys.argv[2], "lib/ops/pairs.h", "as_native_run", "struct as_pair_kernel as_pair_kernels",
                   [(m, m.front, rows) for m, rows in tables])
    rows = [r for _, table in tables for r in table]
    with open(sys.argv[2], "a", encoding="ascii") as f:
        for array, words in (("forms", [r.form for r in rows]), ("whats", [r.what for r in rows])):
            f.write(f"const char *const as_pair_{array}[] = {{{', '.join(chr(34) + w + chr(34) for w in dict.fromkeys(words))}, NULL}};\n")


if __name__ == "__main__":
    main()
