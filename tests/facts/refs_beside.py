"""Which published figures stand beside something that the tool can measure: refs_beside.py ROOT ASSAY PLANNED FILE.csv...

A figure does by the id of a fact that some rule gives, as an operation or a sequence that a probe measures, by the axes of
a probe's cells, or as a line of the data sheet. Figures of the studies in PLANS, of the makes of chips that they studied, do so by
cells that are planned on a stand-in of such a machine, and by facts derived from these, which the program PLANNED looks up.
Every other figure has a reason in refs_alone.csv, which says how many it explains. docs/sources.md has the counts of the
studies' files, "`refs/NAME.csv`: 20 of 30 figures"; those of the others may grow, not shrink.
"""
import collections
import csv
import fnmatch
import functools
import glob
import json
import os
import re
import subprocess
import sys

# By which way things are measured, where probes know several: the ids of facts, or the axis of a probe's cells, and what
# a figure beside them says of its way, and may not say.
FACT_WAYS = [("copy.engine*", r"Memcpy|copy engine|\bAPI\b", r"SDMA off|own kernel"),
             ("copy.kernel*", r"own kernel|\bload", r"Memcpy"), ("concurrency.kernels", "", r"encoder")]
CELL_WAYS = {"copy": "how", "matmul": "path", "bandwidth": "allocator", "latency": "allocator", "fault": "scenario",
             "launch": "wait"}
PLANS = ["mi300a", "metal_benchmarks", "metal_benchmarks_early", "rigel"]
HERE = os.path.dirname(os.path.abspath(__file__))
# Minimum number of figures of each other file that have a counterpart.
BESIDE = {"cpus": 79, "gpus": 410, "matrix_units": 1, "zen4": 124, "golden_cove": 124, "ice_lake": 124, "cascade_lake": 124}
STATED = r"`refs/(\w+)\.csv`: (\d+) of (\d+) figures"


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


@functools.lru_cache(maxsize=None)
def overlap(a, b):
    """Is there a text that both globs match?"""
    if not a or not b:
        return not (a or b).strip("*")
    if a[0] == "*" or b[0] == "*":
        if a[0] != "*":
            a, b = b, a
        return overlap(a[1:], b) or overlap(a, b[1:])
    return (a[0] == b[0] or "?" in (a[0], b[0])) and overlap(a[1:], b[1:])


def fact_ids(root):
    """Ids as globs: a field is a star, a part in brackets may be absent."""
    found = set()
    for pattern in re.findall(r'RELATION\(\w+,\s*"([^"]+)"', text_of(root, "src", "facts", "relations.inc")):
        glob_ = re.sub(r"\{\w+\}", "*", pattern)
        found |= {re.sub(r"\[[^]]*\]", "", glob_), re.sub(r"[][]", "", glob_)}
    return found


def sequences(root):
    text = text_of(root, "probes", "alu", "mix", "sequences.ini")
    return {line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] not in ";["}


def our_names(root):
    """(group, published name) -> our name of an operation."""
    table = text_of(root, "src", "report", "operations", "operations_refs.c").split("names[] = {")[1].split("};")[0]
    return {(g, p): o for g, p, o in re.findall(r'\{"([a-z]*)", "([a-z0-9_]+)", "([a-z0-9_]*)"\}', table)}


def same_term(published, measured, names):
    def parts(term):
        count, star, name = term.rpartition("*")
        return count, name
    count, operations = parts(published)
    own, name = parts(measured)
    return count == own and name in [names.get(("", n), n) for n in operations.split("/")]


def same_sequence(published, measured, names):
    a, b = published.split("+"), measured.split("+")
    return len(a) == len(b) and all(same_term(p, m, names) for p, m in zip(a, b))


def counterparts(root):
    """(metric, unit) of operations that the report compares."""
    table = text_of(root, "src", "report", "operations", "operations_refs.c").split("counterparts[] = {")[1].split("};")[0]
    return set(re.findall(r'\{"([^"]+)", "([^"]+)", [a-z_]+\}', table))


class Tool:
    def __init__(self, root, known_operations, planned):
        self.unanswered = {name: set(subprocess.run([planned, name], check=True, stdout=subprocess.PIPE,
                                                    encoding="utf-8").stdout.splitlines()) for name in PLANS}
        self.facts = fact_ids(root)
        self.sequences = sequences(root)
        self.names = our_names(root)
        self.counterparts = counterparts(root)
        self.operations = known_operations
        self.probes = {os.path.basename(p) for p in glob.glob(root + "/probes/*/*") if os.path.isdir(p)}

    def beside(self, name, row):
        """What the figure stands beside, or None."""
        if "\t".join(row.get(c, "") for c in ("chip", "device", "metric", "axes")) in self.unanswered.get(name, []):
            return None
        if "match" in row:
            return "data sheet"
        if any(overlap(g, f) for g in row["fact"].split() for f in self.facts):
            return "fact"
        axes = dict(a.split("=", 1) for a in row["axes"].split())
        if axes.get("probe") in self.probes:
            return "cell"
        if "mix" in axes and (row["metric"], row["unit"]) == ("throughput", "cycles"):
            if any(same_sequence(axes["mix"], s, self.names) for s in self.sequences):
                return "sequence"
        group = axes.get("group", "")
        op = self.names.get((group, axes.get("op")), None if group == "quad" else axes.get("op"))
        if op in self.operations and (row["metric"], row["unit"]) in self.counterparts:
            return "operation"
        return None


def faults_of_way(row):
    """A figure that says another way than what it stands beside, or none."""
    if "match" in row:
        return []
    says, axes = f"{row['metric']}; {row['conditions']}", dict(a.split("=", 1) for a in row["axes"].split())
    found = [f"{row['metric']}: '{says}' beside {i}" for i in row["fact"].split() for ids, must, may_not in FACT_WAYS
             if overlap(i, ids) and i.split(".")[0] == ids.split(".")[0].rstrip("*") and
             (not re.search(must, says) or re.search(may_not, says))]
    way = CELL_WAYS.get(axes.get("probe"))
    return found + ([f"{row['metric']}: the axes lack '{way}'"] if way and way not in axes else [])


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def reason_of(name, row, reasons):
    """The number of the first reason of its file, metric and axes, given by their names or whole."""
    axes = [row["axes"], " ".join(sorted(a.split("=")[0] for a in row["axes"].split()))]
    for i, r in enumerate(reasons):
        if fnmatch.fnmatchcase(name, r["refs"]) and fnmatch.fnmatchcase(row["metric"], r["metric"]) and \
                any(fnmatch.fnmatchcase(a, r["axes"]) for a in axes):
            return i
    return None


def faults_of_count(name, count, rows, stated):
    """A count that is not the one of docs/sources.md, or that shrank."""
    if name in stated:
        return [] if stated[name] == (count, rows) else \
            [f"{count} of {rows} figures stand beside something; docs/sources.md says {stated[name]}"]
    return [f"{count} figures stand beside something, {BESIDE[name]} did"] if count < BESIDE[name] else []


def test_faults_are_found():
    assert not faults_of_count("a", 2, 3, {"a": (2, 3)}) and faults_of_count("a", 3, 3, {"a": (2, 3)})
    assert not faults_of_count("cpus", 79, 80, {}) and faults_of_count("cpus", 78, 80, {})
    for a, b, wanted in (("a.*", "a.b", True), ("*.L1.size", "cache.*.size", True), ("a*b", "*c", False), ("*", "", True),
                         ("x.?", "x.y", True), ("x.?", "x.", False)):
        assert overlap(a, b) == wanted, (a, b)
    copy = {"metric": "copy", "axes": "", "fact": "copy.engine.*.host", "conditions": "hipMemcpy, peak"}
    assert not faults_of_way(copy)
    for change in ({"fact": "copy.kernel.host.*"}, {"conditions": "peak"}, {"metric": "copy, SDMA off"},
                   {"fact": "concurrency.kernels", "conditions": "within one encoder"}, {"fact": "", "axes": "probe=copy"},
                   {"fact": "", "axes": "probe=matmul type=f16"}):
        assert faults_of_way(dict(copy, **change)), change
    names = {("", "bitwise32"): "ixor32"}
    assert same_sequence("2*bitwise32+iadd32/fadd32", "2*ixor32+fadd32", names)
    assert not same_sequence("2*bitwise32+iadd32", "bitwise32+iadd32", names) and not same_sequence("a+b", "a", names)


def main():
    root, program, planned, *files = sys.argv[1:]
    listed = subprocess.run([program, "list", "ops", "--json"], check=True, capture_output=True, encoding="utf-8").stdout
    tool = Tool(root, {json.loads(line)["op"] for line in listed.splitlines()}, planned)
    reasons = read(os.path.join(HERE, "refs_alone.csv"))
    print(f"1..{len(files) + 2}")
    test_faults_are_found()
    print("ok 1 globs, sequences and ways")
    stated = {name: (int(a), int(b)) for name, a, b in re.findall(STATED, text_of(root, "docs", "sources.md"))}
    bad, used = 0, collections.Counter()
    for i, path in enumerate(files, 2):
        name = os.path.basename(path)[:-len(".csv")]
        rows = read(path)
        kinds, wrong = collections.Counter(), []
        for at, row in enumerate(rows, 2):
            wrong += [f"line {at}: {fault}" for fault in faults_of_way(row)]
            kind = tool.beside(name, row)
            kinds[kind] += kind is not None
            if kind is None:
                reason = reason_of(name, row, reasons)
                used[reason] += 1
                if reason is None:
                    wrong.append(f"line {at}: {row['metric']} ({row['axes']}; {row['fact']}) beside nothing, and no reason")
            elif row.get("fact") and kind != "fact":
                wrong.append(f"line {at}: no rule gives a fact '{row['fact']}'")
        count = sum(kinds.values())
        wrong += faults_of_count(name, count, len(rows), stated)
        for line in wrong:
            print(f"# {name}: {line}")
        bad += bool(wrong)
        says = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=str) if kind)
        print(f"{'not ok' if wrong else 'ok'} {i} {name}: {count} of {len(rows)} ({says})")
    unfit = [f"the reason for '{r['metric']}' ({r['axes']}) explains {used[i]} figures, not {r['figures']}"
             for i, r in enumerate(reasons) if not used[i] or str(used[i]) != r["figures"]]
    for line in unfit:
        print(f"# {line}")
    print(f"{'not ok' if unfit else 'ok'} {len(files) + 2} every reason explains as many figures as it says")
    return 1 if bad or unfit else 0


if __name__ == "__main__":
    sys.exit(main())
