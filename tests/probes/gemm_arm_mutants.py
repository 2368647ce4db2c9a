#!/usr/bin/env python3
"""Plants faults in the GEMM kernels of SME and SVE and runs the tests that have to see them: gemm_arm_mutants.py BUILD [NUMBER...]

BUILD is one for aarch64, whose programs run here, by themselves or by the command in ASSAY_WRAPPER. A changed copy of
a generator writes the assembly; it is assembled as the build does, and the test is linked with it. Fails where a fault is not
seen."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY, TEST = "lib/libops_native.a", "tests/probes/probe_gemm_arm"
SOURCES = {"outer.py": "lib/gemm_outers.S", "tiled_sve.py": "lib/gemm_tiled_sve.S"}  # by what generates them

# text of outer.py, what it becomes
OUTER = [
    ("leave = [SMSTOP] +", 'leave = ["nop"] +'),  # stays in streaming mode
    ('for r, at in SAVED] + [SMSTART]', 'for r, at in SAVED[:3]] + [SMSTART]'),  # d14 and d15 are not kept
    ("(12, 32), (14, 48)]", "(12, 32), (14, 32)]"),
    ('"cmp x12, x3", "b.lt 2b"', '"cmp x12, x3", "b.le 2b"'),  # a line that does not exist
    ("slice_of(STORE, word, 0, 0, 2, vertical=True)", "slice_of(STORE, word, 0, 0, 2)"),  # not transposed
    ("slice_of(STORE, word, 0, 0, 2, vertical=True)", "slice_of(STORE, word, 1, 0, 2, vertical=True)"),  # another tile
    ("slice_of(LOAD, word, 0, 1, 9)", "slice_of(LOAD, word, 0, 0, 9)"),  # a vector past the end of a line
    ('"subs x5, x5, #1", "b.eq 5f", "cmp x12, x7"', '"subs x5, x5, #2", "b.le 5f", "cmp x12, x7"'),
    ('"addvl x1, x1, #1", "b 1b"', '"addvl x1, x1, #2", "b 1b"'),
    ("self.columns * i, 1, 13)", "self.columns * i, 0, 13)"),  # all columns
    ("self.columns * i + 1, 2, 13, 10)", "self.columns * i + 1, 1, 13, 10)"),  # the predicate of the first vector
    ("self.columns * i + 1, 2, 13, 10)", "self.columns * i, 2, 13, 10)"),  # the first tile twice
    ("self.columns * i + 1, 2, 13, 10)", "self.columns * i + 1, 2, 13)"),  # both at one address
    ('"subs x16, x16, #1", "b.eq 19f", "add', '"subs x16, x16, #1", "add'),  # more rows than d has
    ("whilelt p2.{kind}, x10, x6", "whilelt p2.{kind}, xzr, x6"),
    ('ZERO_ZA, "cbz x9, 2f"', 'ZERO_ZA, "b 2f"'),  # does not add
    ('ZERO_ZA, "cbz x9, 2f"', '"cbz x9, 2f"'),  # the panel before stays in ZA
    ("<< 5 | i * 2 + j:#x}", "<< 5 | i * 2 + (1 - j):#x}"),  # tiles of a row swapped
    ("<< 5 | i * 2 + j:#x}", "<< 5 | j * 2 + i:#x}"),
    ("(first_b + s * 2 + j) << 16", "(first_b + j) << 16"),  # the first step's B in all of a turn
    ('f"ands x15, x4, #{self.unroll - 1}"', '"subs x15, x15, x15"'),  # no remaining steps
    ("f\"addvl x11, x11, #{self.rows * count}\"", "f\"addvl x11, x11, #{self.rows}\""),
    ('"add x2, x2, x8", "addvl x3', '"addvl x3'),  # the first panel of B for all
    ('"addvl x3, x3, #2"', '"addvl x3, x3, #1"'),
    ('"subs x6, x6, x10, lsl #1", "b.gt 1b"', '"subs x6, x6, x10, lsl #1"'),  # one panel
]

# text of tiled_sve.py, what it becomes
TILED = [
    ("p0/m, z{i}.{kind}, z{4 + j}", "p1/m, z{j}.{kind}, z{4 + i}"),  # transposed
    ("z{16 + 4 * i + j}.{kind}, p0/m", "z{16 + 4 * i}.{kind}, p0/m"),  # all sums of a row in one
    ('"b.first 1b", "2:"', '"nop", "2:"'),  # one vector
    ('f"faddv {kind}{j}, p1', 'f"faddv {kind}{j}, p0'),  # only lanes of the last vector
    ('"cbz x7, 3f"', '"b 3f"'),  # does not add
    ('"cbz x7, 3f"', '"nop"'),  # adds to what was there
    ('"add x3, x3, x6"', '"nop"'),
    ('{rows[i - 1]}, x5', '{rows[0]}, x5'),  # the second row three times
]
MUTANTS = [("outer.py", *m) for m in OUTER] + [("tiled_sve.py", *m) for m in TILED]


class Build:
    def __init__(self, folder, scratch, generator):
        self.folder, self.scratch, self.generator = os.path.abspath(folder), scratch, generator
        self.source = SOURCES[generator]
        with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as f:
            self.command = next(shlex.split(c["command"]) for c in json.load(f) if c["file"].endswith(self.source))
        made = subprocess.run(["ninja", "-C", folder, "-t", "commands", TEST], capture_output=True, text=True,
                              check=True).stdout
        self.link = shlex.split(made.strip().splitlines()[-1])
        with open(os.path.join(TOP, "lib/gemm", generator), encoding="ascii") as f:
            self.text = f.read()

    def path(self, name):
        return os.path.join(self.scratch, name)

    def library(self, old, new):
        """With the fault; None where its text is not there once, or is no assembly."""
        if self.text.count(old) != 1:
            return None
        folder = self.path("lib/gemm")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(TOP, "lib/assembly.py"), encoding="ascii") as f, \
                open(self.path("lib/assembly.py"), "w", encoding="ascii") as g:
            g.write(f.read())
        with open(os.path.join(folder, self.generator), "w", encoding="ascii") as f:
            f.write(self.text.replace(old, new))
        source, made, library = self.path("outers.S"), self.path("outers.o"), self.path("library.a")
        words = list(self.command)
        words[words.index("-o") + 1] = made
        words[words.index("-c") + 1] = source
        objects = [os.path.join(self.folder, name) for name in subprocess.run(
            ["ninja", "-C", self.folder, "-t", "query", LIBRARY], capture_output=True, text=True, check=True).stdout.split()
            if name.endswith(".o") and os.path.basename(self.source) not in name]
        steps = [[sys.executable, os.path.join(folder, self.generator), source, self.path("outers.c")], words]
        if any(subprocess.run(step, cwd=self.folder, capture_output=True, check=False).returncode for step in steps):
            return None
        if os.path.exists(library):
            os.unlink(library)
        subprocess.run(["ar", "cr", library, made, *objects], check=True)
        return library

    def sees(self, library):
        out = self.path("test")
        words = [library if w.endswith(LIBRARY) else w for w in self.link]
        words[words.index("-o") + 1] = out
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)
        try:
            command = shlex.split(os.environ.get("ASSAY_WRAPPER", "")) + [out]
            return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode != 0
        except subprocess.TimeoutExpired:
            return True


def main():
    chosen = [int(n) for n in sys.argv[2:]] or range(len(MUTANTS))
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        builds = {generator: Build(sys.argv[1], scratch, generator) for generator in SOURCES}
        for generator, build in builds.items():
            unchanged = build.library("import sys", "import sys")
            if not unchanged or build.sees(unchanged):
                sys.exit(f"the test of {generator} fails without a fault")
        for n in chosen:
            generator, old, new = MUTANTS[n]
            library = builds[generator].library(old, new)
            seen = library and builds[generator].sees(library)
            missed += not seen
            print(f"{n:2} {generator} {old!r}: {'seen' if seen else 'NOT SEEN' if library else 'NOT PLANTED'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are seen")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
