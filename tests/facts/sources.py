"""Every experiment of the sources has a row in docs/sources.md whose measurements and facts exist: sources.py ROOT PLANNED

The program PLANNED prints the measurements and facts named in rows that no suite or grid plans.
"""
import csv
import os
import re
import subprocess
import sys

import refs_beside

HERE = os.path.dirname(os.path.abspath(__file__))
ALONE = re.compile(r"\b(\d+) figures? without a counterpart\b")
STATE = re.compile(r"(complete( where [^;]+| on [^;]+)?(; .+)?|(partial|missing|none): .+)$")
CELL = re.compile(r"(\w+): (\w+)((?: \w+=\S+)*)$")
# Of sources whose figures are in refs/: the file, and what comes before the place in its column `source`.
FIGURES = {"mi300a-unified-memory": ("mi300a", "Wahlgren et al. 2025, "),
           "m4pro-residual-cache": ("m4pro", "Alpay and Basaran 2026, arXiv 2606.27098, "),
           "rigel-tensor-path": ("rigel", "Kumaresan 2026, Rigel, arXiv:2606.12765v1, "),
           "metal-benchmarks": ("metal_benchmarks", "Philip Turner, metal-benchmarks dc2adc6, "),
           "metal-benchmarks-early": ("metal_benchmarks_early", "Philip Turner, metal-benchmarks ec7de7a, ")}
# The stand-in's machine of each source (planned.h), or one with a CPU beside the GPU.
MACHINES = {"mi300a-unified-memory": "mi300a", "m4pro-residual-cache": "mi300a", "rigel-tensor-path": "rigel",
            "metal-benchmarks": "metal_benchmarks", "metal-benchmarks-early": "metal_benchmarks"}


def rows_of(text):
    """(source, [experiment, what, cells, facts, state]) of each row of a table below a heading."""
    source, rows = None, []
    for line in text.splitlines():
        if line.startswith("## "):
            source = line[3:].strip()
        elif source and line.startswith("|") and not line.startswith(("| Experiment", "|---")):
            rows.append((source, [field.strip() for field in line.strip().strip("|").split("|")]))
    return rows


def faults_of(source, fields):
    """What is wrong with the form of a row."""
    if len(fields) != 5:
        return [f"{source}: a row of {len(fields)} fields: {fields[0]}"]
    experiment, _, cells, facts, state = fields
    wrong = [] if STATE.match(state) else [f"the state '{state}' has no reason or is none"]
    wrong += [f"'{c}' is not a measurement" for c in re.findall(r"`([^`]*)`", cells) if not CELL.match(c)]
    if re.sub(r"`[^`]*`|[,\s]", "", cells + facts):
        wrong.append("text beside measurements and facts")
    if state.startswith("complete") and not cells and not facts:
        wrong.append("nothing measures it")
    return [f"{source}, {experiment}: {w}" for w in wrong]


def asked_of(source, fields):
    """The lines for the program that looks up what a row names."""
    lines, machine = [], MACHINES[source]
    for cell in re.findall(r"`([^`]*)`", fields[2]):
        suite, probe, axes = CELL.match(cell).groups()
        lines.append(f"cell {machine} {suite} probe={probe}{axes}")
    return lines + [f"fact {machine} {fact}" for fact in re.findall(r"`([^`]*)`", fields[3])]


def lacking(experiments, rows):
    """Experiments without a row, and rows of no experiment or of one that has a row."""
    have = [(source, fields[0]) for source, fields in rows]
    return ([f"{s}, {e}: no row" for s, e in experiments if (s, e) not in have] +
            [f"{s}, {e}: not an experiment of the source" for s, e in have if (s, e) not in experiments] +
            [f"{s}, {e}: has two rows" for s, e in set(have) if have.count((s, e)) > 1])


def places_without_row(root, rows):
    """Places of published figures that no row has: 'IV-A, Fig. 2' is one of 'Fig. 2, GPU'."""
    wrong = []
    for source, (name, before) in FIGURES.items():
        named = {part for s, fields in rows if s == source for part in [fields[0]] + fields[0].split(", ")}
        with open(os.path.join(root, "refs", name + ".csv"), encoding="utf-8", newline="") as f:
            places = {row["source"].removeprefix(before) for row in csv.DictReader(f)}
        for place in sorted(places):
            if not named & {place, *place.split(", ")}:
                wrong.append(f"{source}: figures of '{place}' have no row")
    return wrong


def counts_of_alone(figures, reasons, name, before, rows):
    """Figures of one source without a counterpart, counted per set of rows that share a place."""
    counts = {}
    for figure in figures:
        place = figure["source"].removeprefix(before)
        if refs_beside.reason_of(name, figure, reasons) is not None:
            key = tuple(i for i, fields in enumerate(rows)
                        if {place, *place.split(", ")} & {fields[0], *fields[0].split(", ")})
            counts[key] = counts.get(key, 0) + 1
    return counts


def faults_of_alone(source, rows, counts):
    """Rows that do not say how many of their figures have no counterpart, in one of the rows that share a place."""
    wrong = []
    for i, fields in enumerate(rows):
        found = ALONE.search(fields[4])
        shared = [key for key in counts if i in key]
        if found and not shared:
            wrong.append(f"{source}, {fields[0]}: says '{found.group(0)}', of which there is none")
    for key, count in counts.items():
        said = [int(m.group(1)) for i in key for m in ALONE.finditer(rows[i][4])]
        if sum(said) != count:
            wrong.append(f"{source}, {' / '.join(rows[i][0] for i in key)}: {count} figures have no counterpart, {sum(said)} are named")
    return wrong


def figures_alone(root, rows):
    reasons = refs_beside.read(os.path.join(HERE, "refs_alone.csv"))
    wrong = []
    for source, (name, before) in FIGURES.items():
        own = [fields for s, fields in rows if s == source]
        figures = refs_beside.read(os.path.join(root, "refs", name + ".csv"))
        wrong += faults_of_alone(source, own, counts_of_alone(figures, reasons, name, before, own))
    return wrong


def test_faults_are_found():
    good = ["Fig. 1", "a curve", "`upm: copy how=engine`, `grid: app`", "`app.*` `copy.*`", "complete; all of it"]
    assert not faults_of("s", good)
    assert asked_of("rigel-tensor-path", good) == ["cell rigel upm probe=copy how=engine", "cell rigel grid probe=app",
                                                   "fact rigel app.*", "fact rigel copy.*"]
    for at, text in ((4, "partial"), (4, "done"), (4, "missing"), (2, "`copy`"), (2, "copies"), (3, "see above")):
        assert faults_of("s", good[:at] + [text] + good[at + 1:]), text
    assert faults_of("s", good[:2] + ["", "", "complete"]) and faults_of("s", good[:4])
    assert not lacking([("s", "Fig. 1")], [("s", good)])
    assert lacking([("s", "Fig. 2")], [("s", good)]) == ["s, Fig. 2: no row", "s, Fig. 1: not an experiment of the source"]
    assert lacking([("s", "Fig. 1")], [("s", good), ("s", good)]) == ["s, Fig. 1: has two rows"]
    named, unnamed = good[:4] + ["partial: 2 figures without a counterpart: a threshold"], good[:4] + ["complete"]
    assert not faults_of_alone("s", [named, unnamed], {(0, 1): 2}) and not faults_of_alone("s", [unnamed], {})
    assert faults_of_alone("s", [named], {(0,): 3}) and faults_of_alone("s", [unnamed], {(0,): 1})
    assert faults_of_alone("s", [named], {})
    figures = [{"source": "Fig. 1, left", "metric": m, "axes": ""} for m in ("kept", "lost")]
    reasons = [{"refs": "r*", "metric": "lost", "axes": "*"}]
    assert counts_of_alone(figures, reasons, "refs", "", [["Fig. 2"], ["Fig. 1"]]) == {(1,): 1}
    text = "## s\n| Experiment | b |\n|---|---|\n| x | y |\n"
    assert rows_of(text) == [("s", ["x", "y"])]


def main():
    root, planned = sys.argv[1:]
    with open(os.path.join(root, "docs", "sources.md"), encoding="utf-8") as f:
        rows = rows_of(f.read())
    with open(os.path.join(HERE, "sources_experiments.csv"), encoding="utf-8", newline="") as f:
        experiments = [(r["source"], r["experiment"]) for r in csv.DictReader(f)]
    test_faults_are_found()
    form = [w for source, fields in rows for w in faults_of(source, fields)]
    asked = [] if form else sorted({line for source, fields in rows for line in asked_of(source, fields)})
    # Nothing plans these, whatever a machine has.
    never = ["cell mi300a upm probe=copy from=nowhere", "fact mi300a no.such.fact"]
    answer = subprocess.run([planned], input="".join(a + "\n" for a in asked + never), check=True, encoding="utf-8",
                            stdout=subprocess.PIPE).stdout.splitlines()
    checks = [("rows are found to be wrong", [] if set(never) <= set(answer) else ["what nothing plans was answered"]),
              (f"{len(rows)} rows name measurements, facts and a state", form),
              (f"{len(experiments)} experiments have a row each", lacking(experiments, rows)),
              ("published figures belong to rows", places_without_row(root, rows)),
              ("rows name the figures without a counterpart", [] if form else figures_alone(root, rows)),
              (f"{len(asked)} measurements and facts are planned",
               [f"nothing plans '{a}'" for a in answer if a not in never])]
    print(f"1..{len(checks)}")
    for i, (name, wrong) in enumerate(checks, 1):
        for w in wrong:
            print(f"# {w}")
        print(f"{'not ok' if wrong else 'ok'} {i} {name}")
    return 1 if any(wrong for _, wrong in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
