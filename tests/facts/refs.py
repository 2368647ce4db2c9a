"""The files of published figures: refs.py FILE.csv... [--program ASSAY] [--source REVISION=TEXT]...

Every row has the shape that readers of the data count on, no figure is there twice, and a row that says how its source
prints the figure has the value that this gives. `assay list refs NAME` shows all of them. With the text of a source, which
is not part of the repository, each row is looked up in it:
`refs.py refs/metal_benchmarks.csv --source dc2adc6=README.md`.
"""
import csv
import html
import itertools
import json
import os
import re
import subprocess
import sys
from decimal import Decimal

COLUMNS = "chip device fact metric axes qualifier value unit conditions source line printed".split()
SHEET = "match chip device units group quantity kind value unit conditions source url".split()  # of data sheets
SHEET_NEEDED = "chip device group quantity kind value unit conditions source".split()
SHEET_UNITS = {"FLOP/s", "OP/s", "GB/s", "B", "ns", "cycles"}
NEEDED = "chip device metric value unit conditions source".split()
SIGNS = {"~": "about", "≥": "at least", "≤": "at most", "<": "below", "up to": "at most", "top out at": "at most"}
NUMBER = r"\d+(?:\.\d+)?"
OPERATION = r"[a-z][a-z0-9_]*"
TERM = rf"(?:[1-9]\*)?{OPERATION}(?:/{OPERATION})*"
AXES = {"op": OPERATION, "mix": rf"{TERM}(?:\+{TERM})*", "type": "[fi][0-9]+", "ilp": "[1-4]", "warps": "[0-9]+",
        "bits": "16|32", "repetitions": "[0-9]+", "group": "simd|quad", "size": "[0-9]+", "pages": "[0-9]+", "elements": "[0-9]+"}
# What one of the printed number is in the unit of the value, by unit and by what stands behind the number.
SCALES = {"B": {"": 1, "B": 1, "K": 2**10, "KB": 2**10, "M": 2**20},
          "Hz": {"": 10**9, "MHz": 10**6}, "OP/s": {"": 10**9}, "FLOP/s": {"": 10**9},
          "registers": {"KB": 256}, "ops/cycle": {"": 1, "B": Decimal("0.25"), "e": 1}, "W": {"mW": Decimal("0.001")}}


def numbers(row):
    """The value that the printed figure gives, as a set of what it may be; an instruction sequence is counted."""
    printed = row["printed"].replace("*", "")
    found = re.findall(rf"({NUMBER}) ?([A-Za-z%/]*)", printed)
    if row["metric"] == "instructions of a sequence" and " + " in printed:
        return {Decimal(printed.count(" + ") + 1)}
    scales = SCALES.get(row["unit"])
    if not scales:
        return {Decimal(n) for n, _ in found}
    last = next((u for _, u in reversed(found) if u), "")  # "32-64 KB": of both
    twice = 2 if "printed as FMAs" in row["conditions"] else 1
    return {Decimal(n) * scales[last] * twice for n, _ in found}


def qualifier(row):
    printed = row["printed"]
    return next((word for sign, word in SIGNS.items() if printed.startswith(sign)), "")


def faults_of(row):
    """What is wrong with one row, in words."""
    if None in row or None in row.values():
        return ["not twelve columns"]
    wrong = [f"no {c}" for c in NEEDED if not row[c]]
    ends = row["value"].split(" to ")
    if len(ends) > 2 or not all(re.fullmatch(rf"-?{NUMBER}", e) for e in ends):
        return wrong + ["the value is no number or range"]
    if len(ends) == 2 and Decimal(ends[0]) >= Decimal(ends[1]):
        wrong.append("the range is the wrong way round")
    for axis in row["axes"].split():
        name, _, value = axis.partition("=")
        if "probe=" in row["axes"]:  # cells of a probe: its axes have any value
            if not re.fullmatch(r"[a-z_]+=[\w./+=-]+", axis):
                wrong.append(f"axis {axis}")
            continue
        if name not in AXES or not re.fullmatch(AXES[name], value):
            wrong.append(f"axis {axis}")
    if bool(row["line"]) != bool(row["printed"]):
        wrong.append("a line without what is printed there, or the other way round")
    if row["printed"]:
        if not {Decimal(e) for e in ends} <= numbers(row):
            wrong.append(f"{row['value']} is not in '{row['printed']}'")
        if row["qualifier"] != qualifier(row):
            wrong.append(f"'{row['qualifier']}' is not what '{row['printed']}' says")
    return wrong


def faults_of_sheet(row):
    """What is wrong with a figure for the data sheet, in words."""
    if None in row or None in row.values():
        return ["not twelve columns"]
    wrong = [f"no {c}" for c in SHEET_NEEDED if not row[c]]
    if not re.fullmatch(rf"{NUMBER}(?: to {NUMBER})?", row["value"]) or Decimal(row["value"].split(" to ")[0]) <= 0:
        wrong.append("the value is no number above 0")
    if row["unit"] not in SHEET_UNITS:
        wrong.append(f"the unit {row['unit']}")
    if row["kind"] == "specified" and row["unit"] == "cycles":
        wrong.append("a specified figure in cycles")
    if row["url"] and not re.fullmatch(r"https?://[^\s\"<>]+", row["url"]):
        wrong.append(f"the address {row['url']}")
    return wrong


def faults_in_sheet(rows):
    """Also two figures of a kind for one line and chip."""
    seen, wrong = {}, []
    for at, row in enumerate(rows, 2):
        found = faults_of_sheet(row)
        for label in str(row["quantity"]).split("|"):
            key = tuple(row[c] for c in ("chip", "units", "device", "kind", "group")) + (label,)
            if key in seen:
                found.append(f"the same as in line {seen[key]}")
            seen[key] = at
        wrong += [f"line {at}: {f}" for f in found]
    return wrong


def look_up(row, lines):
    """The row in the text of its source: the printed figure in its line, below the heading that `source` names."""
    n = int(row["line"])
    section = row["source"].split(", ", 2)[2]
    above = [l for l in lines[:n] if re.match(r"#|<summary>", l)]
    wrong = [] if row["printed"] in lines[n - 1] else [f"'{row['printed']}' is not in line {n}"]
    if not any(section in l for l in above[-2:]):
        wrong.append(f"line {n} is not in '{section}'")
    return wrong


def faults_in(rows, sources):
    seen, wrong = {}, []
    for at, row in enumerate(rows, 2):
        found = faults_of(row)
        key = tuple(row[c] for c in ("chip", "device", "metric", "axes", "source"))
        if key in seen:
            found.append(f"the same as in line {seen[key]}")
        seen[key] = at
        for revision, lines in sources.items():
            if row["line"] and f" {revision}, " in str(row["source"]):
                found += look_up(row, lines)
        wrong += [f"line {at}: {f}" for f in found]
    return wrong


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f)
        rows = list(reader)
    assert reader.fieldnames in (COLUMNS, SHEET), f"{path}: the columns are {reader.fieldnames}"
    return rows


def as_listed(name, row):
    """A row as `assay list refs NAME --json` has it."""
    ends = [float(e) for e in row["value"].split(" to ")]
    if "match" in row:
        texts = {c: row[c] for c in SHEET if c not in ("units", "value")}
        return {"refs": name, **texts, "low": ends[0], "high": ends[-1], "axes": {}, "beside": [], "line": None,
                "metric": f"{row['group']} {row['quantity']}".replace("|", "/"), "printed": "", "qualifier": "",
                "units": int(row["units"]) if row["units"] else None}
    texts = {c: row[c] for c in COLUMNS if c not in ("fact", "value")}
    return {"refs": name, **texts, "low": ends[0], "high": ends[-1],
            "axes": dict(a.split("=", 1) for a in row["axes"].split()), "beside": [],
            "line": int(row["line"]) if row["line"] else None}


def not_listed(program, files):
    """The first difference between the files and what the program lists, or None."""
    def listing(*name):
        out = subprocess.run([program, "list", "refs", *name, "--json"], check=True, capture_output=True, encoding="utf-8")
        return [json.loads(line) for line in out.stdout.splitlines()]

    names = [os.path.basename(path)[:-len(".csv")] for path in files]
    rows = [read(path) for path in files]
    listed = [(s["refs"], s["figures"], s["chips"].split("; ")) for s in listing()]
    listed += [row for name in names for row in listing(name)]
    wanted = [(name, len(of), list(dict.fromkeys(r["chip"] for r in of))) for name, of in zip(names, rows)]
    wanted += [as_listed(name, row) for name, of in zip(names, rows) for row in of]
    return next((pair for pair in itertools.zip_longest(listed, wanted) if pair[0] != pair[1]), None)


PLANTED = [
    ({"value": "2.22"}, "is not in"), ({"value": "fast"}, "no number"), ({"value": "3 to 2"}, "wrong way round"),
    ({"qualifier": "about"}, "is not what"), ({"printed": "~2.21"}, "is not what"), ({"axes": "op=FADD32"}, "axis"),
    ({"axes": "colour=red"}, "axis"), ({"axes": "mix=imul32+*3fmul32"}, "axis"), ({"unit": ""}, "no unit"),
    ({"line": ""}, "without what is printed"),
]
GOOD = dict(zip(COLUMNS, ["M1", "device", "", "latency", "op=ffma32", "", "2.21", "cycles", "ILP 1", "A, b c, S", "3",
                          "2.21"]))
TEXT = ["## S", "", "| FFMA32 | 2.21 |", "## T", "| 2.21 |"]


def test_faults_are_found():
    good = dict(GOOD)
    assert faults_in([good], {"c": TEXT}) == []
    for change, words in PLANTED:
        found = faults_in([dict(good, **change)], {})
        assert any(words in f for f in found), f"{change}: {found}"
    assert "the same" in faults_in([good, good], {})[0]
    assert "is not in line 1" in faults_in([dict(good, line="1")], {"c": TEXT})[0]
    assert "is not in 'S'" in faults_in([dict(good, line="5")], {"c": ["## R", *TEXT[1:]]})[0]
    sheet = dict(zip(SHEET, ["A*", "A", "device", "8", "Memory", "read|copy", "specified", "3.5", "GB/s", "peak", "who",
                             "https://a.org/x"]))
    assert faults_in_sheet([sheet]) == []
    for change, words in (({"value": "0"}, "no number"), ({"unit": "TB/s"}, "unit"), ({"source": ""}, "no source"),
                          ({"unit": "cycles"}, "in cycles"), ({"url": "javascript:1"}, "address")):
        assert any(words in f for f in faults_in_sheet([dict(sheet, **change)])), change
    assert "the same" in faults_in_sheet([sheet, dict(sheet, quantity="write|copy")])[0]
    sizes = dict(good, value="32768 to 65536", unit="B", printed="32-64 KB")
    assert faults_of(sizes) == [] and faults_of(dict(sizes, value="32 to 64"))


def main():
    files, sources, program = [], {}, None
    args = iter(sys.argv[1:])
    for arg in args:
        if arg == "--program":
            program = next(args)
            continue
        revision, is_source, path = arg.partition("=")
        if is_source:
            with open(path, encoding="utf-8") as f:
                sources[revision] = [html.unescape(l.replace("\\", "")) for l in f.read().split("\n")]
        elif arg != "--source":
            files.append(arg)
    print(f"1..{len(files) + 1 + bool(program)}")
    test_faults_are_found()
    print("ok 1 planted faults are found")
    bad = 0
    for i, path in enumerate(files, 2):
        rows = read(path)
        wrong = faults_in_sheet(rows) if "match" in rows[0] else faults_in(rows, sources)
        for line in wrong:
            print(f"# {path} {line}")
        bad += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {i} {path.rsplit('/', 1)[-1]}: {len(rows)} figures")
    if program:
        differ = not_listed(program, files)
        if differ:
            print(f"# listed: {differ[0]}\n# file: {differ[1]}")
        bad += bool(differ)
        print(f"{'not ok' if differ else 'ok'} {len(files) + 2} the program lists them all, and their sets")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
