"""Generates the table of operations: ops.py OUT.c FILE.ini...   (README.md documents the files)

Each type of an operation is an entry, with its text in every dialect and a host function that computes the expected
result.
"""
import configparser
import os
import re
import sys
from typing import NamedTuple


class Type(NamedTuple):
    bits: int
    t: str  # letters of PTX: type, signed, unsigned, bits
    s: str
    u: str
    b: str
    constraint: str  # of PTX
    cuda: str  # C types: in CUDA, in Metal, elsewhere (None: none), on the host
    metal: str
    other: str
    host: str

    def c_type(self, dialect):
        return getattr(self, dialect if dialect in ("cuda", "metal") else "other")


TYPES = {name: Type(*fields) for name, fields in {
    "i16": (16, "u16", "s16", "u16", "b16", "h", "u16", "u16", "u16", "uint16_t"),
    "i32": (32, "u32", "s32", "u32", "b32", "r", "u32", "u32", "u32", "uint32_t"),
    "i16x2": (32, "u16x2", "s16x2", "u16x2", "b32", "r", "u32", "ushort2", "u32", "uint32_t"),
    "i64": (64, "u64", "s64", "u64", "b64", "l", "u64", "u64", "u64", "uint64_t"),
    "f16": (16, "f16", "f16", "f16", "b16", "h", "u16", "f16", "f16", "double"),
    "bf16": (16, "bf16", "bf16", "bf16", "b16", "h", "u16", "bf16", None, "double"),
    "f32": (32, "f32", "f32", "f32", "b32", "f", "f32", "f32", "f32", "float"),
    "f64": (64, "f64", "f64", "f64", "b64", "d", "f64", None, "f64", "double"),
    "f16x2": (32, "f16x2", "f16x2", "f16x2", "b32", "r", "u32", "f16x2", "f16x2", "double"),
    "bf16x2": (32, "bf16x2", "bf16x2", "bf16x2", "b32", "r", "u32", None, None, "double"),
    "f32x2": (64, "f32x2", "f32x2", "f32x2", "b64", "l", "u64", "float2", "u64", "float"),
}.items()}
SUFFIX = {"i16": "16", "i32": "32", "i64": "64", "f16": "16", "f32": "32", "f64": "64", "bf16": "_bf16",
          "f16x2": "_f16", "bf16x2": "_bf16",
          "i16x2": "_i16", "f32x2": "_f32"}
DIALECTS = ("opencl", "cuda", "hip", "metal")
DOMAINS = ("any", "odd", "high", "divisor", "unit", "half", "opposite", "inverse", "whole", "shift1", "small5", "width",
           "bytes", "bytes4", "neutral", "near", "dense", "sparse", "mantissa", "two", "two64", "one", "many", "many64")
# Functions of OpenCL's extensions of subgroups.
SUBGROUPS = {"sub_group_ballot": "AS_CAP_SUBGROUP_BALLOT", "sub_group_shuffle": "AS_CAP_SUBGROUP_SHUFFLE",
             "sub_group_non_uniform": "AS_CAP_SUBGROUP_ARITHMETIC", "sub_group_clustered": "AS_CAP_SUBGROUP_CLUSTERED",
             "QUAD_SCAN": "AS_CAP_SUBGROUP_SHUFFLE", "QUAD_ESCAN": "AS_CAP_SUBGROUP_SHUFFLE"}  # the last two in lanes.kernel
KEYS = {"title", "types", "args", "chain", "operands", "one", "result", "btype", "ctype", "a", "b", "c_domain", "m", "link",
        "linkop", "pass", "ptx", "gcn", "gcn11", "cuda", "hip", "opencl", "metal", "c", "host", "ulp", "abs", "weight", "sass",
        "min.cuda", "max.cuda", "group", "alone", "amd", "chips"}


def fail(where, what):
    sys.exit(f"ops.py: {where}: {what}")


def quote(text):
    """As a C string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Operation:
    """One section for one of its types."""

    def __init__(self, kind, section, base, kind_type):
        self.section, self.base, self.type, self.kind = section, base, kind_type, kind
        self.btype, self.ctype = self.get("btype", kind_type), self.get("ctype", kind_type)
        self.result = self.get("result", kind_type)
        self.args = int(self.get("args", "2"))
        for name in (self.btype, self.ctype, self.result):
            if name not in TYPES:
                fail(base, f"no type '{name}'")

    def get(self, key, default=None, dialect=None):
        for name in (f"{key}.{dialect}.{self.type}", f"{key}.{dialect}", f"{key}.{self.type}", key):
            if name in self.section and (dialect or name in (key, f"{key}.{self.type}")):
                return self.section[name]
        return default

    @property
    def name(self):
        base, precise, _ = self.base.partition("_precise")
        if base.startswith("cvt_"):
            return self.base
        suffix = SUFFIX[self.type]
        if (base[-1].isdigit() or base in ("exp", "log")) and not suffix.startswith("_"):
            suffix = "_" + suffix
        return base + suffix + precise

    # ---- its text ----

    def letters(self, text):
        kind = TYPES[self.type]
        for letter in "tsub":
            text = re.sub(r"(?<=\.)\$" + letter + r"(?![a-z])", getattr(kind, letter), text)
        return text.replace("($i)", f"(i{kind.bits})")

    def assembly(self, text, constraints):
        """asm volatile with the operands named in the text."""
        text = self.letters(text).replace("; v_", "\\n\\tv_")
        used = [n for n in "abc" if re.search(r"\$" + n + r"(?![a-z])", text)]
        for i, n in enumerate(["d"] + used):
            text = re.sub(r"\$" + n + r"(?![a-z])", f"%{i}", text)
        if "$" in text:
            fail(self.name, f"unknown placeholder '{text[text.index('$'):][:4]}'")
        inputs = ", ".join(f'"{constraints[n]}"({self.in_register(n, constraints)})' for n in used)
        early = "&" if "\\n" in text else ""  # written before all operands are read
        if self.in_register("d", constraints) == "d":
            return f'asm volatile("{text}" : "={early}{constraints["d"]}"(d) : {inputs})'
        return f'do {{ f16 held; asm volatile("{text}" : "={early}v"(held) : {inputs}); (d) = U16(held); }} while (0)'

    def in_register(self, n, constraints):
        """An operand of AMD's assembly: 16-bit integers as f16, else the compiler clears the register's upper half."""
        types = {"d": self.result, "a": self.type, "b": self.btype, "c": self.ctype}
        return f"F16({n})" if constraints["d"] == "v" and types[n] == "i16" else n

    def expression(self, text):
        text = self.letters(text)
        for n in "abc":
            text = re.sub(r"\$" + n + r"(?![a-z])", f"({n})", text)
        if "$" in text:
            fail(self.name, f"unknown placeholder '{text[text.index('$'):][:4]}'")
        return f"(d) = (TR$)({text})"

    def hidden(self, text):
        """The expression with operands and result hidden from AMD's compiler: else it merges steps, hoists what depends
        on constant operands only, and packs two 16-bit chains."""
        used = [n for n in "abc" if re.search(r"\$" + n + r"(?![a-z])", text)]
        hide = "".join(self.hide(n) for n in used if n != "a")
        return f"do {{ {hide}{self.expression(text)}; {self.hide('d')}}} while (0)"

    def opaque(self, text):
        """The same for OpenCL on CPUs, whose compilers merge steps too: the result alone (functions.kernel)."""
        kind = {"i16": "INTEGER", "i32": "INTEGER", "i64": "INTEGER", "f32": "FLOAT", "f64": "FLOAT"}.get(self.result)
        return f"do {{ {self.expression(text)}; OPAQUE_{kind}(d); }} while (0)" if kind else self.expression(text)

    def hide(self, n):
        if self.in_register(n, self.constraints("hip")) == n:
            return f'asm volatile("" : "+v"({n})); '
        return f'{{ f16 held = F16({n}); asm volatile("" : "+v"(held)); ({n}) = U16(held); }} '

    def on_host(self):
        """What tests run instead of a device program: C if available, else the reference."""
        text = self.get("c") or re.sub(r"\b([abc])\b", r"$\1", self.get("host"))
        text = re.sub(r"\b(?=(fma|fmin|fmax|fabs|floor|trunc|round|rint|sqrt|exp2|exp|log2|log10|log|pow|sin|cos|tanh)\()",
                      "__builtin_", text)
        return None if "as_op_" in text else self.expression(text)

    def constraints(self, dialect):
        types = {"d": self.result, "a": self.type, "b": self.btype, "c": self.ctype}
        return {n: TYPES[t].constraint if dialect == "cuda" else "v" for n, t in types.items()}

    def text(self, dialect):
        """OP(d, a, b, c) in the dialect, or None. Some names differ between AMD's GCN and RDNA."""
        if any(TYPES[t].c_type(dialect) is None for t in (self.type, self.btype, self.ctype, self.result)):
            return None
        if dialect == "host":
            small = any("f16" in t or t.endswith("x2") for t in (self.type, self.btype, self.ctype, self.result))
            return None if small or self.get("group") else self.on_host()
        own = {"cuda": "ptx", "hip": "gcn"}.get(dialect)
        if own and self.get(own):
            return self.assembly(self.get(own), self.constraints(dialect))
        for key in (dialect, "c"):
            if self.get(key) and not (dialect == "cuda" and key == "c" and self.type in ("f16", "f16x2")):
                return {"hip": self.hidden, "opencl": self.opaque}.get(dialect, self.expression)(self.get(key))
        return None

    def on_nvidia(self):
        """Does NVIDIA's OpenCL use the assembly of CUDA, of all its architectures and as exact as OpenCL C?"""
        error = [float(self.get(key, "0", d)) for key in ("ulp", "abs") for d in ("cuda", "opencl")]
        return (self.get("ptx") and not self.get("group") and not self.get("min.cuda")
                and error[0] <= error[1] and error[2] <= error[3])

    def head(self):
        lines = ["#if 0"]
        for dialect in (*DIALECTS, "host"):
            text = self.text(dialect)
            if not text:
                continue
            lines.append(f"#elif DIALECT_{dialect.upper()}")
            for letter, name in zip("ABCR", (self.type, self.btype, self.ctype, self.result)):
                lines.append(f"#define T{letter}$ {TYPES[name].c_type(dialect)}")
            if dialect == "hip" and self.get("gcn11"):
                lines += ["#ifndef __GFX9__",
                          f"#define OP$(d, a, b, c) {self.assembly(self.get('gcn11'), self.constraints('hip'))}", "#else",
                          f"#define OP$(d, a, b, c) {text}", "#endif"]
            elif dialect == "opencl" and self.on_nvidia():
                lines += ["#ifdef __NV_CL_C_VERSION", f"#define OP$(d, a, b, c) {self.text('cuda')}", "#else",
                          f"#define OP$(d, a, b, c) {text}", "#endif"]
            else:
                lines.append(f"#define OP$(d, a, b, c) {text}")
        lines += ["#else", f'#error "this dialect has no {self.name}"', "#endif"]
        if self.get("link"):
            inner = r"(?:[^()&]|\((?:[^()]|\([^()]*\))*\))*"
            link = re.sub(rf"\(({inner}) & (0x\w+)\) \| m", r"KEEP(\1, \2, m)", self.get("link"))
            lines.append(f"#define LINK$(r, m) ({link})")
        if self.get("pass"):
            lines.append(f"#define PASS$(r) ({self.get('pass')})")
        return "\n".join(lines) + "\n"

    @property
    def two(self):
        """Does it have a form in which the third operand equals the second?"""
        return self.args == 3 and self.btype == self.ctype and self.get("operands") != "several"

    # ---- its reference ----

    def reference(self):
        """The host function; 16-bit types are computed in f64 and rounded once on storing."""
        if self.get("group"):
            return self.group_reference()
        lanes = 2 if self.type.endswith("x2") else 1
        lane = {"f16x2": "f16", "bf16x2": "bf16", "i16x2": "i16", "f32x2": "f32"}
        host = self.letters(self.get("host") or fail(self.name, "no host"))
        host = re.sub(r"\(i(16|32|64)\)", r"(int\1_t)", host)
        code = [f"static void ref_{self.name}(const union as_op_value *v, union as_op_value *r)", "{"]
        for n in range(lanes):
            body = []
            for i, (letter, name) in enumerate(zip("abc", (self.type, self.btype, self.ctype))):
                if re.search(r"\b" + letter + r"\b", host):
                    one = lane.get(name, name)
                    # C promotes 16 bits to signed int, whose products overflow
                    kind = "uint32_t" if one == "i16" else TYPES[one].host
                    body.append(f"const {kind} {letter} = as_op_get_{one}(&v[{i}], {n});")
            to = lane.get(self.result, self.result)
            body.append(f"as_op_set_{to}(r, {n}, ({TYPES[to].host})({host}));")
            code += ["    {"] + ["        " + line for line in body] + ["    }"]
        return "\n".join(code + ["}"]) + "\n"

    def group_reference(self):
        """The host function of one lane, which sees its subgroup: v[i][0] is the first operand of lane i."""
        host = self.letters(self.get("host") or fail(self.name, "no host"))
        host = re.sub(r"\bA\(", "LANE(", host)
        host = re.sub(r"\bB\b", f"as_op_get_{self.btype}(&v[L][1], 0)", host)
        return "\n".join([f"#define LANE(i) as_op_get_{self.type}(&v[i][0], 0)",
                          f"static void ref_{self.name}(const union as_op_value (*v)[3], unsigned L, unsigned W, "
                          "union as_op_value *r)", "{", "    (void)L, (void)W;",
                          f"    as_op_set_{self.result}(r, 0, ({TYPES[self.result].host})({host}));", "}",
                          "#undef LANE"]) + "\n"

    def subgroups(self):
        """The extensions of its text for OpenCL, as capabilities."""
        text = self.text("opencl") or ""
        if not self.get("group") or not text:
            return "0"
        return " | ".join(["AS_CAP_SUBGROUPS"] + [c for word, c in SUBGROUPS.items() if word in text])

    def domain(self, operand):
        """The domain of an operand; the third defaults to the second's."""
        default = "unit" if self.type[0] in "fb" else "any"
        if operand == "c":
            name = self.get("c_domain", self.get("b", default))
        else:
            name = self.get(operand, "any" if operand == "m" else default)
        if name not in DOMAINS:
            fail(self.name, f"{operand}: no domain '{name}'")
        return name

    def amd(self):
        """Names of AMD's machine code, one of which each step must have: by default the assembly's."""
        return self.get("amd") or " ".join(t.split()[0] for t in (self.get("gcn"), self.get("gcn11")) if t)

    def row(self):
        dialects = [d for d in DIALECTS if self.text(d)]
        ulps, abses = (", ".join(f"[AS_DIALECT_{d.upper()}] = {self.get(key, '0', d)}" for d in (*dialects, "host"))
                       for key in ("ulp", "abs"))
        sass = self.get("sass")
        fields = [
            ("name", f'"{self.name}"'), ("title", f'"{self.get("title")}"'), ("kind", f'"{self.kind}"'),
            ("type", f"AS_OP_{self.type.upper()}"), ("btype", f"AS_OP_{self.btype.upper()}"),
            ("ctype", f"AS_OP_{self.ctype.upper()}"), ("result", f"AS_OP_{self.result.upper()}"), ("args", self.args),
            ("weave", "true" if self.get("chain") == "weave" else "false"),
            ("two", "true" if self.two else "false"),
            ("one", "true" if self.get("one") == "yes" else "false"),
            *((n, f"AS_OP_{self.domain(n).upper()}") for n in "abcm"),
            ("head", self.quoted(self.head())), ("link", f'"{self.get("linkop")}"' if self.get("linkop") else "NULL"),
            ("dialects", " | ".join(f"1u << AS_DIALECT_{d.upper()}" for d in dialects) or "0"),
            ("weight", self.get("weight", "1")), ("ulp", f"{{{ulps}}}"), ("abs", f"{{{abses}}}"),
            ("cuda_least", self.get("min.cuda", "0")), ("cuda_most", self.get("max.cuda", "0")),
            ("sass", f'"{sass}"' if sass else "NULL"),
            ("amd", f'"{self.amd()}"' if self.amd() else "NULL"),
            ("amd_chips", f'"{self.get("chips")}"' if self.get("chips") else "NULL"),
            ("subgroups", self.subgroups()),
            ("passes", "true" if self.get("pass") else "false"),
            ("alone", "true" if self.get("alone") == "yes" else "false"),
            ("group_reference" if self.get("group") else "reference", f"ref_{self.name}"),
        ]
        return "    {" + ",\n     ".join(f".{k} = {v}" for k, v in fields) + "},\n"

    @staticmethod
    def quoted(text):
        return "".join("\n         " + quote(line + "\n") for line in text.splitlines())


def parse(*paths):
    parser = configparser.ConfigParser(delimiters=("=",), comment_prefixes=(";",), interpolation=None, strict=True)
    parser.optionxform = str
    for path in paths:
        with open(path, encoding="ascii") as f:
            parser.read_file(f)
    return parser


def read(path):
    parser = parse(path)
    kind = os.path.splitext(os.path.basename(path))[0]
    for base in parser.sections():
        section = parser[base]
        for key in section:
            head = key.split(".")[0]
            if head not in KEYS and key not in KEYS and not key.startswith(("min.", "max.")):
                fail(f"{path}, [{base}]", f"no key '{key}'")
        for name in section.get("types", "").split() or fail(base, "no types"):
            if name not in TYPES:
                fail(base, f"no type '{name}'")
            yield Operation(kind, section, base, name)


def main():
    out, paths = sys.argv[1], sys.argv[2:]
    operations = [o for path in paths for o in read(path)]
    names = [o.name for o in operations]
    for name in names:
        if names.count(name) > 1:
            fail(name, "is defined twice")
    for o in operations:
        if o.get("link") and o.get("linkop") not in names + [None]:
            fail(o.name, f"no operation '{o.get('linkop')}'")
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "lib/ops/ops_reference.h"\n\n')
        f.write("\n".join(o.reference() for o in operations))
        f.write("\nconst struct as_op as_ops[] = {\n" + "".join(o.row() for o in operations) + "    {0},\n};\n")
        f.write(f"const size_t as_ops_n = {len(operations)};\n")
        f.write("const char *const as_op_words[] = {\n" + "".join(f'    "{n}",\n' for n in names) + "    NULL,\n};\n")


if __name__ == "__main__":
    main()
