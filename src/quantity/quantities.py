"""Writes the table of quantities as C: quantities.py IN.ini OUT.c, or with a further argument `bounds` the trials that lines of the data
sheet bound. README.md has the keys; what does not fit them ends the build."""
import configparser
import re
import sys

# What numbers of a kind may be in; the first stands for the others where a clock is known.
UNITS = {
    "clock": ["Hz"], "rate": ["FLOP/s", "OP/s", "updates/s", "FLOP/cycle", "OP/cycle"], "bandwidth": ["GB/s"],
    "latency": ["ns", "cycles"], "time": ["ns"], "capacity": ["B"], "ratio": ["x"],
}
LEVELS = ["core", "L1", "L2", "L3", "shared", "memory", "memory_side"]
TEXTS = ["group", "label", "unit", "before", "behind"]
COUNTS = "counts"  # operations that one of the source's is
FLAGS = {"claimed": "limit", "of_host": "yes", "off_map": "yes", "roof": "yes", "first": "yes"}  # what they can only be
KEYS = [*TEXTS, *FLAGS, COUNTS, "kind", "level", "beside"]
SOURCE = re.compile(r"(cpu|device|both)([2-9]?)(?:\.(cells|said|named|fact))?")
BOUND = re.compile(r"bound[2-9]?")
BOUNDED = re.compile(r"([a-z0-9_]+(?: [a-z_0-9]+=[^ =]+)+)(?: /([2-9]))?")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[a-z0-9_]+)*")
FACT = re.compile(r"[A-Za-z0-9_.@-]+")
CELLS = re.compile(r"[a-z0-9_]+( [a-z_0-9]+=[^ =]+)*")


def fail(name, text):
    sys.exit(f"quantities.ini: [{name}]: {text}")


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def check_head(name, section, names):
    for key in ("group", "label", "unit", "kind"):
        if not section.get(key):
            fail(name, f"lacks '{key}'")
    kind, unit = section["kind"], section["unit"]
    if kind not in UNITS:
        fail(name, f"kind '{kind}' is none of {' '.join(UNITS)}")
    if unit not in UNITS[kind]:
        fail(name, f"unit '{unit}' is none of kind {kind}: {' '.join(UNITS[kind])}")
    if section.get("level", "core") not in LEVELS:
        fail(name, f"level '{section['level']}' is none of {' '.join(LEVELS)}")
    if not re.fullmatch("[1-9][0-9]?", section.get(COUNTS, "1")):
        fail(name, f"'{COUNTS}' is not a number from 1 to 99")
    for key, value in FLAGS.items():
        if section.get(key, value) != value:
            fail(name, f"'{key}' can only be '{value}'")
    beside = section.get("beside")
    if beside and beside not in names:
        fail(name, f"stands beside '{beside}', which no section before it defines")


def read_sources(name, section):
    """Sources in their order: {"side", "from", further keys}."""
    sources = {}
    for key, value in section.items():
        if key in KEYS or BOUND.fullmatch(key):
            continue
        found = SOURCE.fullmatch(key)
        if not found:
            fail(name, f"unknown key '{key}'")
        side, number, what = found.groups()
        at = (side, int(number or 1))
        if what and at not in sources:
            fail(name, f"'{key}' comes before '{side}{number}'")
        pattern = FACT if what == "fact" or (not what and " " not in value) else CELLS if what in (None, "cells") else None
        if not value or (pattern and not pattern.fullmatch(value)):
            fail(name, f"'{key}': '{value}' is neither a fact nor a probe with axes")
        sources.setdefault(at, {"side": side})[what or "from"] = value
    for side, number in sources:
        if number > 1 and (side, number - 1) not in sources:
            fail(name, f"'{side}{number}' without the source before it")
    if not sources:
        fail(name, "has no source")
    return list(sources.values())


def read_bounds(name, section):
    """The trials whose bytes or operations count for it, and how many times each: [(cells, times)]."""
    found = {key: BOUNDED.fullmatch(value) for key, value in section.items() if BOUND.fullmatch(key)}
    for key, match in found.items():
        if not match:
            fail(name, f"'{key}': '{section[key]}' is not a probe with axes")
    return [(cells, times or "1") for cells, times in (match.groups() for match in found.values())]


def write_bounds(out, sections):
    out.write('#include "refs/bounds.h"\n\nconst struct as_bound_line as_bound_lines[] = {\n')
    for name, section in sections.items():
        for cells, times in read_bounds(name, section):
            out.write("    {" + ", ".join(text(t) for t in (cells, section["group"], section["label"])) + f", {times}" + "},\n")
    out.write("    {0}};\n")


def write_sources(out, index, sources):
    out.write(f"static const struct as_quantity_source sources_{index}[] = {{\n")
    for s in sources:
        out.write(f"    {{.side = AS_SIDE_{s['side'].upper()}")
        out.write("".join(f", .{k} = {text(s[k])}" for k in ("from", "cells", "said", "named", "fact") if k in s))
        out.write("},\n")
    out.write("    {0}};\n")


def write_quantity(out, index, name, section, names):
    out.write(f"    {{.name = {text(name)}")
    out.write("".join(f", .{key} = {text(section.get(key, ''))}" for key in (*TEXTS, "level")))
    out.write(f", .kind = AS_KIND_{section['kind'].upper()}, .sources = sources_{index}")
    if "beside" in section:
        out.write(f", .beside = &as_quantities[{names[section['beside']]}]")
    out.write(f", .counts = {section.get(COUNTS, 1)}")
    out.write("".join(f", .{key} = true" for key in FLAGS if key in section))
    out.write("},\n")


def main():
    ini = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation(), delimiters=("=",),
                                    comment_prefixes=(";",), default_section="")
    ini.optionxform = str
    try:
        ini.read(sys.argv[1], encoding="ascii")
        sections = {name: dict(ini[name]) for name in ini.sections() if name != "words"}
    except configparser.Error as e:
        sys.exit(f"quantities.ini: {e}")
    names, labels = {}, set()
    with open(sys.argv[2], "w", encoding="ascii") as out:
        if sys.argv[3:] == ["bounds"]:
            write_bounds(out, sections)
            return
        out.write('#include "quantity/quantity.h"\n')
        for index, (name, section) in enumerate(sections.items()):
            if not NAME.fullmatch(name):
                fail(name, "a name is words of letters, digits and '_' with dots between")
            check_head(name, section, names)
            label = (section["group"], section["label"])
            if label in labels:
                fail(name, f"another section is '{' '.join(label)}' too")
            labels.add(label)
            names[name] = index
            read_bounds(name, section)
            write_sources(out, index, read_sources(name, section))
        out.write("const struct as_quantity as_quantities[] = {\n")
        for index, (name, section) in enumerate(sections.items()):
            write_quantity(out, index, name, section, names)
        out.write("    {0}};\n")


if __name__ == "__main__":
    main()
