"""Generates what `assay explain` says about each operation: about.py OUT.c FILE.ini...   (README.md documents the files)
"""
import re
import sys

import native
import ops

# Domains of operands, in words.
VALUES = {"any": "any bits", "odd": "odd", "high": "upper 16 bits set", "divisor": "3 to 17", "unit": "1 to 2",
          "half": "0.25 to 0.75", "opposite": "0.75 and -0.75 in turn", "inverse": "1.375 and 1/1.375 in turn",
          "whole": "2^20 to 2^22", "shift1": "1 to 15", "small5": "0 to 15", "width": "8 to 16",
          "bytes": "byte selectors", "bytes4": "byte selectors, one per byte", "neutral": "1", "near": "0.875 to 1.125",
          "dense": "15 of 16 bits set", "sparse": "one of 16 bits set", "mantissa": "mantissa bits"}
MANTISSA = {"f32": 23, "f64": 52}  # of results whose error is told as a ratio
CPUS = (("x86-64", native.X86), ("aarch64", native.A64))


def shown(op, text):
    return re.sub(r"\$([abcd])(?![a-z])", r"\1", op.letters(text))


def in_dialect(op, dialect):
    """Its text in the dialect, readable."""
    if not op.text(dialect):
        return "none"
    own = {"cuda": "ptx", "hip": "gcn"}.get(dialect)
    if own and op.get(own):
        other = f" (on gfx11: {shown(op, op.get('gcn11'))})" if own == "gcn" and op.get("gcn11") else ""
        return shown(op, op.get(own)) + other
    return shown(op, op.get(dialect) or op.get("c"))


def on_cpu(rows):
    """Its instructions by width, equal ones merged: "scalar: add d, b | 128, 256: vpaddd d, a, b"."""
    widths = {}
    for row in rows:
        text = re.sub(r"\$([dabcrt])(?![a-z])", r"\1", "; ".join(row.instructions(row.letters(row.text))))
        widths.setdefault(text, []).append(str(row.width or "scalar"))
    return " | ".join(f"{', '.join(w)}: {text}" for text, w in widths.items())


def cpu_values(op, rows):
    """The operands' domains that differ from those of devices, and what its rows note."""
    own = {f"{n} {VALUES[row.domain(n)]}" for row in rows for n in "abc"
           if f"${n}" in row.text and (n not in "abc"[:op.args] or row.domain(n) != op.domain(n))}
    return "; ".join(sorted(own) + sorted({row.get("values") for row in rows} - {None}))


def wanted(op):
    names = (("NVIDIA", op.get("sass")), ("AMD", op.amd()))
    return "; ".join(f"{' or '.join(n.split())} ({of})" for of, n in names if n) or "any"


def error(op, on_a_cpu):
    places = [(d, f" in {d}") for d in ops.DIALECTS if op.text(d)] + [("host", " on a CPU")] * on_a_cpu
    ulps = [(float(op.get("ulp", "0", d)), where) for d, where in places]
    few = [f"{n:g}{where}" for n, where in ulps if 0 < n < 1000]
    parts = [f"ulp: {', '.join(few)}"] if few else []
    parts += [f"{op.get('abs')} absolute"] if op.get("abs") else []
    parts += [f"{op.get(f'abs.{d}')}{where}" for d, where in places if op.get(f"abs.{d}")]
    parts += [f"{n / 2 ** MANTISSA[op.result]:.2%} of the result{where}" for n, where in ulps if n >= 1000]
    return "; or ".join(parts) or "none: bit for bit"


def chain(op):
    if op.get("chain") == "weave":
        text = "three values in rotation, each step takes the last two"
    else:
        text = "each step takes the previous result"
        text += ", and one of four rotating values (on CPUs two)" if op.args > 1 else ""
    if not op.get("link"):
        return text
    return f"{text}; the link makes it an operand: {shown(op, op.get('link'))}, {op.get('linkop') or 'free'}"


def forms(op):
    if op.args == 1:
        return "one"
    found = ["2: the third is the second (usual)", "3: all differ"] if op.two else ["3: all differ (usual)"]
    return "; ".join(found + ["1: the second is the first"] * (op.get("one") == "yes"))


def more(op, cpus):
    """Pairs of name and text."""
    types = ", ".join((op.type, op.btype, op.ctype)[:op.args])
    rounded = ", in f64 and rounded once" if "double" in (ops.TYPES[op.result].host, ops.TYPES[op.type].host) else ""
    yield "takes", f"{types} (a, b, c in this order)" if op.args > 1 else types
    yield "gives", op.result
    yield "values", "; ".join(f"{n} {VALUES[op.domain(n)]}" for n in "abc"[:op.args])
    for dialect in ops.DIALECTS:
        yield dialect, in_dialect(op, dialect)
    for name, _ in CPUS:
        yield name, on_cpu(cpus[name]) or "no instruction"
    if on_a_cpu := cpu_values(op, [row for rows in cpus.values() for row in rows]):
        yield "CPU values", on_a_cpu
    yield "machine code", f"in every step: {wanted(op)}"
    yield "reference", f"{op.letters(op.get('host'))}{rounded}"
    yield "allowed error", error(op, any(cpus.values()))
    yield "chain", chain(op)
    yield "operands", forms(op)


def row_of(op, cpus):
    base, shown_type = re.sub("_precise$", "", op.base), op.type
    if conversion := re.fullmatch(r"cvt_([a-z0-9]+)_(\w+)", base):
        shown_type, base = conversion[1], f"to {conversion[2]}"
    kind_base = f"{base} (precise)" if op.base.endswith("_precise") else base
    has = [d for d in ops.DIALECTS if op.text(d)] + [name for name, _ in CPUS if cpus[name]]
    fields = [("name", op.name), ("title", op.get("title")), ("kind", op.kind), ("base", kind_base),
              ("type", shown_type), ("dialects", " ".join(has))]
    texts = "".join(f".{k} = {ops.quote(v)}, " for k, v in fields)
    lines = "".join(f"\n     {ops.quote(n)}, {ops.quote(t)}," for n, t in more(op, cpus))
    return f"    {{{texts}.results = {2 if op.type.endswith('x2') else 1},\n" \
           f"     .more = (const char *const[]){{{lines}\n     NULL}}}},\n"


def main():
    out = sys.argv[1]
    operations, sections = native.read(sys.argv[2:])
    rows = {name: list(native.rows_of(operations, sections, machine)) for name, machine in CPUS}
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "lib/ops/ops.h"\n\nconst struct as_word as_op_about[] = {\n')
        f.write("".join(row_of(o, {n: [r for r in rows[n] if r.op is o] for n in rows}) for o in operations))
        f.write("    {0},\n};\n")


if __name__ == "__main__":
    main()
