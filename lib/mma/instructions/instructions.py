"""Generates the table of matrix instructions: instructions.py OUT.c FILE.ini...   (README.md documents the files)

Each combination of types is an entry.
"""
import configparser
import re
import sys

# format: bits in a register or in memory
BITS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e4m3fnuz": 8, "e5m2fnuz": 8,
        "s64": 64, "s32": 32, "s16": 16, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
KEYS = {"name", "title", "size", "columns", "types", "lanes", "sparse", "a", "b", "c", "ptx", "hip", "load", "store",
        "code", "least", "only", "emulated", "atype", "btype", "ctype",
        "msl", "x86", "a64", "width", "needs", "vex", "vectors", "inst"}
# Key of the text: dialect of the kernel, and its displayed name.
DIALECTS = {"ptx": ("CUDA", "cuda"), "hip": ("HIP", "hip"), "msl": ("METAL", "metal"),
            "x86": ("HOST", "x86-64"), "a64": ("HOST", "aarch64")}


def fail(where, what):
    sys.exit(f"instructions.py: {where}: {what}")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if text else "NULL"


class Instruction:
    """One section for one combination of types; bits: of the vectors, if their length is the implementation's choice."""

    def __init__(self, section, types, bits=0):
        self.section, self.bits = section, bits
        self.a, self.b, self.c = types.split(":")
        for word in (self.a, self.b, self.c):
            if word not in BITS:
                fail(section.name, f"no format '{word}'")
        self.m, self.n, self.k = (int(x) for x in self.get("size").split())
        self.lanes = int(self.get("lanes", "32"))
        self.key = next((key for key in DIALECTS if self.get(key)), None) or fail(section.name, "no text")

    def get(self, key, default=None):
        """A key may be followed by a dot and the accumulator format."""
        text = self.section.get(f"{key}.{self.c}", self.section.get(key, default))
        return self.for_length(key, text) if self.bits and text else text

    def for_length(self, key, text):
        """V: the words of a vector (of C's size, at least 32 bits); H: its 16-bit elements; L, R: all bits of a lane, of a register."""
        words = self.bits // max(BITS[self.c], 32)
        if key in ("size", "lanes", "title"):
            return re.sub(r"\b[VH]\b", lambda m: str(words if m[0] == "V" else self.bits // 16), text)
        if key in ("a", "b", "c"):
            return re.sub(r"\b[LR]\b", lambda m: " ".join(f"{m[0].lower()}{i}" for i in range(words.bit_length() - 1)), text)
        return text

    @property
    def name(self):
        both = self.a if self.a == self.b else f"{self.a}_{self.b}"
        same = self.a == self.c
        return f"{self.base}_{both}" + ("" if same else f"_{self.c}")

    @property
    def base(self):
        return self.get("name", self.section.name) + (f"_{self.bits}" if self.bits else "")

    @property
    def code(self):
        """For CPUs the instruction's name implies it."""
        names = [w for w in self.get(self.key).split() if w[0] != "{"]
        return self.get("code") or (names[0] if DIALECTS[self.key][0] == "HOST" else None)

    def text(self, key):
        text = self.get(key)
        for word, value in (("$ta", self.a), ("$tb", self.b), ("$tc", self.c)):
            text = text.replace(word, value) if text else None
        return text

    def operand(self, key, rows, columns, width):
        text = self.get(key) or fail(self.name, f"no layout of {key}")
        kind = text.split()[0]
        if kind == "shared":
            return f'{{.held = AS_HELD_SHARED, .column = "{text[len(kind):].strip()}"}}'
        if kind == "loaded":
            return (f'{{.held = AS_HELD_LOADED, .registers = {text.split()[1]}, .register_bits = '
                    f'{64 if width == 64 else 32}, .columns_first = {"true" if key == "b" else "false"}}}')
        spread = kind == "spread"
        row, _, column = (part.strip() for part in text[len(kind) if spread else 0:].partition("/"))
        bits = row.split() + column.split()
        for name, length in ((row, rows), (column, columns)):
            if 1 << len(name.split()) != length:
                fail(self.name, f"{key} has {length} of what '{name}' counts {1 << len(name.split())} of")
        counts = {kind: sum(b[0] == kind for b in bits) for kind in "rle"}
        used = [b for b in bits if b != "0"]
        if len(set(used)) != len(used) or any(b[0] not in "rle" or int(b[1:]) >= counts[b[0]] for b in used if b[0] != "l"):
            fail(self.name, f"{key}: '{text}' names a bit twice or leaves one out")
        register = width << counts["e"]
        if register not in ((16, 32, 64) if spread else (32, 64)) or 1 << counts["l"] > self.lanes:
            fail(self.name, f"{key}: a register of {register} bits in {1 << counts['l']} lanes")
        return (f'{{.held = AS_HELD_{"SPREAD" if spread else "REGISTERS"}, .row = "{row}", .column = "{column}", '
                f'.registers = {1 << counts["r"]}, .register_bits = {register}}}')

    def needs(self):
        """Capabilities of a device whose language has it."""
        if self.key != "msl":
            return "0"
        words = {"tensors": ["TENSOR_FRAGMENTS"], "tensors_fp8": ["TENSOR_FRAGMENTS", "TENSOR_FP8"]}.get(
            self.get("needs"), ["MATRIX"])
        return " | ".join("AS_CAP_" + w for w in words + (["BF16"] if "bf16" in (self.a, self.b, self.c) else []))

    def types(self):
        """C type of a builtin's operands, if not plain registers."""
        return ", ".join(quoted(self.get(key)) for key in ("atype", "btype", "ctype"))

    def row(self):
        fields = [
            ("name", quoted(self.name)), ("title", quoted(self.get("title"))),
            ("a", quoted(self.a)), ("b", quoted(self.b)), ("c", quoted(self.c)),
            ("m", self.m), ("n", self.n), ("k", self.k), ("columns", self.get("columns", "0")), ("lanes", self.lanes),
            ("sparse", "true" if self.get("sparse") == "yes" else "false"),
            ("held", "{" + ",\n              ".join((
                self.operand("a", self.m, self.k, BITS[self.a]), self.operand("b", self.k, self.n, BITS[self.b]),
                self.operand("c", self.m, self.n, BITS[self.c]))) + "}"),
            ("types", "{" + self.types() + "}"),
            ("dialect", f"AS_DIALECT_{DIALECTS[self.key][0]}"), ("text", quoted(self.text(self.key))),
            ("load", quoted(self.text("load"))), ("store", quoted(self.text("store"))),
            ("code", quoted(self.code)), ("least", self.get("least", "0")), ("only", quoted(self.get("only"))),
            ("emulated", quoted(self.get("emulated"))), ("needs", self.needs()),
        ]
        return "    {" + ",\n     ".join(f".{k} = {v}" for k, v in fields) + "},\n"

    def about(self):
        title = f"{self.get('title')}, {self.a}{'' if self.a == self.b else ' and ' + self.b} into {self.c}"
        return (f'    {{.name = "{self.name}", .title = "{title}", .kind = "{self.get("title").split(",")[0]}", '
                f'.base = "{self.base}", .type = "{self.a}", .results = 1, '
                f'.dialects = "{DIALECTS[self.key][1]}"}},\n')


def read(path):
    parser = configparser.ConfigParser(delimiters=("=",), comment_prefixes=(";",), interpolation=None, strict=True)
    parser.optionxform = str
    with open(path, encoding="ascii") as f:
        parser.read_file(f)
    rates = []
    instructions = []
    for name in parser.sections():
        section = parser[name]
        if name == "rates":
            rates = [(arch, pair.split(":")) for arch in section for pair in section[arch].split()]
            continue
        for key in section:
            if key.split(".")[0] not in KEYS:
                fail(f"{path}, [{name}]", f"no key '{key}'")
        instructions += [Instruction(section, types, int(bits)) for bits in section.get("vectors", "0").split()
                         for types in section["types"].split()]
    return instructions, rates


def main():
    out, paths = sys.argv[1], sys.argv[2:]
    instructions, rates = [], []
    for path in paths:
        more, more_rates = read(path)
        instructions += more
        rates += more_rates
    names = [i.name for i in instructions]
    for name in names:
        if names.count(name) > 1:
            fail(name, "is defined twice")
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "lib/mma/instructions/matrix.h"\n\n')
        f.write("const struct as_matrix as_matrices[] = {\n" + "".join(i.row() for i in instructions) + "    {0},\n};\n")
        f.write(f"const size_t as_matrices_n = {len(instructions)};\n")
        f.write("const struct as_word as_matrix_about[] = {\n" + "".join(i.about() for i in instructions) + "    {0},\n};\n")
        f.write("const char *const as_matrix_words[] = {\n" + "".join(f'    "{n}",\n' for n in names) + "    NULL,\n};\n")
        f.write("const struct as_matrix_rate as_matrix_rates[] = {\n")
        f.write("".join(f'    {{"{arch}", "{kind}", {rate}}},\n' for arch, (kind, rate) in rates) + "    {0},\n};\n")


if __name__ == "__main__":
    main()
