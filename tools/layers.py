"""Which folder may include which: the table of modules in docs/architecture.md, checked against every #include.

layers.py TOP prints each include that the table does not allow, and fails where there is one. A row of the table is
| `folder/` | what is in it | folders that it may include |; a folder may always include itself, and the row with the longest matching
name holds, so that a folder inside another is allowed only where it is named itself. `<family>` and `<name>` stand for each folder at that place; files of one such folder may not include those of another. A row may
name a single file of a folder, which then has its own rule: tests beside a probe include helpers that the probe must not. "all above" is every folder of the rows before."""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ROOTS = ("src/", "include/", "")
HEADING = "## Modules"
EACH = "[^/]+"


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


def check(top, paths):
    with open(os.path.join(top, "docs/architecture.md"), encoding="utf-8") as f:
        rows = read_table(f.read())
    wrong = []
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            names = INCLUDE.findall(f.read())
        mine = row_of(rows, path)
        for target in filter(None, (resolve(top, path, n) for n in names)):
            theirs = row_of(rows, target)
            if mine is None or theirs is None:
                wrong.append(f"{path}: '{target if mine else path}' is in no row of the table of modules")
            elif theirs is not mine and not set(theirs.folders) & set(mine.may) and not any(
                    re.fullmatch(f, target) for f in mine.may):
                wrong.append(f"{path} includes {target}")
            elif mine.is_each() and theirs.is_each() and os.path.dirname(path) != os.path.dirname(target):
                wrong.append(f"{path} includes {target}, of another of its kind")
    return sorted(set(wrong))


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", "src", "lib", "probes", "include"], cwd=top, capture_output=True, text=True,
                            check=True).stdout.split()
    return [p for p in listed if p.endswith((".c", ".h")) and os.path.exists(os.path.join(top, p))]


def main():
    top = sys.argv[1]
    paths = paths_of(top)
    wrong = check(top, paths)
    print("\n".join(wrong) or f"{len(paths)} files include what docs/architecture.md allows")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
