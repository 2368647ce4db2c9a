"""Which folder may use which: the table of modules in docs/architecture.md, checked against every #include and every symbol.

layers.py TOP prints each include that the table does not allow, layers.py TOP BUILD also each symbol that an object of this
build takes from a folder that its own may not include; both fail where there is one. A row of the table is
| `folder/` | what is in it | folders that it may include |; a folder may always include itself, and the row with the longest matching
name holds, so that a folder inside another is allowed only where it is named itself. `<family>` and `<name>` stand for each folder at that place; files of one such folder may not include those of another. A row may
name a single file of a folder, which then has its own rule: tests beside a probe include helpers that the probe must not. "all above" is every folder of the rows before.

Plug-ins are referenced from below by design: the lists of backends, probes and rules name records of folders above (PLUGS)."""
import glob
import json
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOTS = ("src/", "include/", "")
HEADING = "## Modules"
EACH = "[^/]+"
PARTS = ("src/", "lib/", "probes/")
PLUGS = re.compile(r"as_(backend|probe|rules|method)_\w+|as_(backends|probes|probe_texts|view_probes|rule_tables)")


class Row:
    def __init__(self, folders, may):
        self.folders, self.may = folders, may

    def length(self, path):
        """How much of the path the row names; 0: nothing."""
        return max((len(m.group(0)) for f in self.folders if (m := re.match(f, path))), default=0)

    def is_each(self):
        """Is it a row of many folders, each with its own files?"""
        return any(EACH in f for f in self.folders)


def pattern(folder):
    return re.escape(folder).replace("<family>", EACH).replace("<name>", EACH)


def read_table(text):
    part = text[text.index(HEADING):]
    part = part[:part.index("\n## ", 1)]
    rows = []
    for line in part.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        before = [f for row in rows for f in row.folders]
        folders = [pattern(f) for f in re.findall(r"`([^`]+)`", cells[0])]
        may = before if cells[2] == "all above" else [pattern(f) for f in re.findall(r"`([^`]+)`", cells[2])]
        rows.append(Row(folders, may))
    return rows


def row_of(rows, path):
    best = max(rows, key=lambda r: r.length(path))
    return best if best.length(path) else None


def resolve(top, path, name):
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    for candidate in (beside, *(root + name for root in ROOTS)):
        if os.path.exists(os.path.join(top, candidate)):
            return candidate
    return None  # generated


def table_of(top):
    with open(os.path.join(top, "docs/architecture.md"), encoding="utf-8") as f:
        return read_table(f.read())


def objection(rows, path, does, target):
    """What is wrong with a file that uses another one, as a sentence; None: nothing."""
    mine, theirs = row_of(rows, path), row_of(rows, target)
    if mine is None or theirs is None:
        return f"{path}: '{target if mine else path}' is in no row of the table of modules"
    if theirs is not mine and not set(theirs.folders) & set(mine.may) and not any(
            re.fullmatch(f, target) for f in mine.may):
        return f"{path} {does}"
    if mine.is_each() and theirs.is_each() and os.path.dirname(path) != os.path.dirname(target):
        return f"{path} {does}, of another of its kind"
    return None


def check(top, paths):
    rows = table_of(top)
    wrong = []
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            names = INCLUDE.findall(f.read())
        wrong += [objection(rows, path, f"includes {target}", target)
                  for target in filter(None, (resolve(top, path, n) for n in names))]
    return sorted(set(filter(None, wrong)))


def home_of(top, made):
    """Where a generated source of the probes counts: text_NAME.c and NAME_words.c in the folder of the probe NAME, or in the
    one with NAME.kernel."""
    name = re.fullmatch(r"probes/(?:text_|method_)?(\w+?)(?:_words)?\.c", made)
    for part in (f"probes/*/{name[1]}/probe.c", f"probes/*/*/{name[1]}.kernel") if name else ():
        for found in sorted(glob.glob(os.path.join(top, part))):
            return os.path.join(os.path.relpath(os.path.dirname(found), top), os.path.basename(made))
    return made


def objects_of(top, build):
    """Objects of the program in a build folder, with the source of each; a generated source counts as the file that it is made from."""
    top, build = os.path.realpath(top), os.path.realpath(build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    found = {}
    for e in entries:
        output, file = (os.path.realpath(os.path.join(e["directory"], e[k])) for k in ("output", "file"))
        is_made = file.startswith(build + os.sep)
        source = os.path.relpath(file, build if is_made else top)
        is_test = os.path.basename(source).startswith("test")
        if source.startswith(PARTS) and not is_test and os.path.exists(output):
            found[output] = home_of(top, source) if is_made else source
    return found


def symbols_of(objects):
    """By source: the global names that its objects define, and those that they take from elsewhere."""
    defined, taken = {}, {}
    listed = subprocess.run(["nm", "-A", "-g", "-P", *objects], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        place, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        (taken if kind in "Uwv" else defined).setdefault(objects[place], set()).add(name)
    return defined, taken


def declared_for(top, row):
    """Words of the headers that a row names by file: it may use what these declare, wherever it is defined."""
    words = set()
    for header in (f.replace("\\", "") for f in (row.may if row else []) if f.endswith("h")):
        with open(os.path.join(top, header), encoding="utf-8") as f:
            words |= set(re.findall(r"\w+", f.read()))
    return words


def check_symbols(top, build):
    rows = table_of(top)
    defined, taken = symbols_of(objects_of(top, build))
    homes, declared = {}, {}
    for source, names in defined.items():
        for name in names:
            homes.setdefault(name, set()).add(source)
    wrong = []
    for source, names in taken.items():
        row = row_of(rows, source)
        words = declared.setdefault(id(row), declared_for(top, row))
        for name in sorted(names - defined.get(source, set())):
            if name in homes and name not in words and not PLUGS.fullmatch(name):
                said = [objection(rows, source, f"takes {name} of {home}", home) for home in sorted(homes[name])]
                wrong += said[:1] if all(said) else []
    return sorted(set(wrong))


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", "src", "lib", "probes", "include"], cwd=top, capture_output=True, text=True,
                            check=True).stdout.split()
    return [p for p in listed if p.endswith((".c", ".h")) and os.path.exists(os.path.join(top, p))]


def main():
    top = sys.argv[1]
    paths = paths_of(top)
    wrong = check(top, paths) + (check_symbols(top, sys.argv[2]) if len(sys.argv) > 2 else [])
    print("\n".join(wrong) or f"{len(paths)} files use what docs/architecture.md allows")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
