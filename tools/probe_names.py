"""Views find probes by the roles that these declare (src/probe/view_role.h): no probe's name in src/report.

probe_names.py TOP prints each string literal there that is a probe's name, or "probe-NAME" as the page's anchors have it, and fails
where there is one."""
import os
import re
import subprocess
import sys

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMPARED = re.compile(r'->probe, "|\.probe, "|as_probe_find\("')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Literals that are a probe's name and mean something else.
OTHER_MEANING = {
    "src/report/model/load.c": {"topology"},               # a member of a stored run: a device's tree
    "src/report/operations/operations.c": {"link"},             # a note of a cell: the operation that makes an operand of a result
    "src/report/operations/operations_refs.c": {"latency"},     # a metric of published figures
    "src/report/operations/operations_view.c": {"latency", "link"},  # columns
    "src/report/operations/refs_cells.c": {"mix"},              # an axis
    "src/report/map/map_labels.c": {"latency", "bandwidth"},  # heads of the map's columns
    "src/report/sheet/sheet_read.c": {"latency"},          # lines of the data sheet
    "src/report/sheet/sheet.c": {"latency"},
}


def names_of(top):
    """The probes: the folders with a section.json."""
    found = set()
    for family in os.scandir(os.path.join(top, "probes")):
        if family.is_dir():
            found |= {p.name for p in os.scandir(family.path) if os.path.exists(os.path.join(p.path, "section.json"))}
    return found


def check(top, paths):
    probes = names_of(top)
    anchor = re.compile(r"probe-(%s)\b" % "|".join(sorted(probes))) if probes else re.compile(r"(?!)")
    wrong = []
    for path in (p for p in paths if p.startswith("src/report/")):
        with open(os.path.join(top, path), encoding="utf-8") as f:
            text = COMMENT.sub(lambda m: "\n" * m.group(0).count("\n"), f.read())
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#include"):
                continue
            for literal in LITERAL.findall(line):
                if COMPARED.search(line) or anchor.search(literal) or literal in probes - OTHER_MEANING.get(path, set()):
                    wrong.append(f"{path}:{number}: '{literal}' names a probe: find it by its role (src/probe/view_role.h)")
    return wrong


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", "src/report"], cwd=top, capture_output=True, text=True, check=True).stdout.split()
    return [p for p in listed if p.endswith((".c", ".h")) and os.path.exists(os.path.join(top, p))]


def main():
    wrong = check(sys.argv[1], paths_of(sys.argv[1]))
    print("\n".join(wrong) or "no probe's name in src/report")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
