"""Figures read only fields that the page gives their rows: figure_fields.py ASSAY TOP

A filter on a field that no row has draws nothing, and nothing else says so.
"""
import json
import pathlib
import re
import subprocess
import sys

# As page.js makes rows (charts/README.md); WORDS come with the axes, and `label` is what Vega calls the text of an axis.
ROW = {"id", "run", "unit", "value", "lo", "hi", "valid", "status", "gates", "limit", "said", "bin_lo", "bin_hi", "bin_share"}
WORDS = {"device", "probe", "metric", "label"}
LEVELS = {"level", "size", "next"}  # of a layer with the data `levels`


def read_and_made(spec):
    """Fields that a specification reads, and those that its transforms add."""
    read, made = set(), set()

    def walk(x):
        if isinstance(x, str):
            read.update(re.findall(r"\bdatum\.(\w+)", x))
        elif isinstance(x, list):
            for part in x:
                walk(part)
        elif isinstance(x, dict):
            for key, part in x.items():
                many = part if isinstance(part, list) else [part]
                if key in ("field", "groupby", "flatten"):
                    read.update(p for p in many if isinstance(p, str))
                if key == "as":
                    made.update(many)
                walk(part)
    walk(spec)
    return read, made


def unknown(spec, axes):
    read, made = read_and_made(spec)
    known = ROW | WORDS | made | axes | {f"{axis}_{what}" for axis in axes for what in ("kind", "base", "type")}
    if '"levels"' in json.dumps(spec):
        known |= LEVELS
    return sorted(f for f in read - known if not f.startswith("further_"))


def check(assay, top):
    done = subprocess.run([assay, "list", "probes", "--json"], capture_output=True, text=True, check=True)
    axes = {p["probe"]: set(p["axes"].split()) for p in map(json.loads, done.stdout.splitlines())}
    wrong, seen = [], 0
    for path in sorted(pathlib.Path(top, "probes").glob("*/*/figure.vl.json")):
        figures = json.loads(path.read_text(encoding="utf-8"))
        for figure in figures if isinstance(figures, list) else [figures]:
            seen += 1
            wrong += [f"{path.parent.name}, '{figure.get('title')}': no row has '{f}'"
                      for f in unknown(figure, axes[path.parent.name])]
    return wrong, seen


def unmade(top):
    """Fields of ROW that page.js does not make."""
    text = pathlib.Path(top, "src/report/page/page.js").read_text(encoding="utf-8")
    return [f for f in ROW if not re.search(rf"\b{f}[:,]", text)]


def main():
    planted = {"transform": [{"filter": "isValid(datum.bound)"}], "encoding": {"y": {"field": "op"}}}
    wrong, seen = check(sys.argv[1], sys.argv[2])
    good = [("a planted field is found", unknown(planted, {"op"}) == ["bound"]),
            ("the page makes the fields that this test knows", not unmade(sys.argv[2])),
            ("every field of a figure is one of its rows'", seen > 50 and not wrong)]
    print(f"1..{len(good)}")
    for i, (what, holds) in enumerate(good, 1):
        print(f"{'ok' if holds else 'not ok'} {i} - {what}")
    for line in wrong:
        print("# " + line)
    return 0 if all(holds for _, holds in good) else 1


if __name__ == "__main__":
    sys.exit(main())
