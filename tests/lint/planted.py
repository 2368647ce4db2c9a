#!/usr/bin/env python3
"""The checks of modules, of words, of probes' names, of names in kernels and of ids of facts pass on a small tree and fail on
each planted violation. planted.py TOP CC..."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOP, CC = sys.argv[1], sys.argv[2:]
sys.path.insert(0, os.path.join(TOP, "tools"))
import fact_ids  # noqa: E402
import kernel_names  # noqa: E402
import layers  # noqa: E402  (found by the line above)
import probe_names  # noqa: E402
import words  # noqa: E402

MODULES = """# How it is built

## Modules

| folder | what is in it | may include |
|---|---|---|
| `src/base/` | text | |
| `src/model/` | data | `src/base/` |
| `src/device/device.h` | functions of an opened device | `src/base/` |
| `src/device/<name>/` | one API each | `src/base/` `src/device/device.h` |
| `probes/<family>/<name>/` | one experiment each | `src/base/` |
| `src/report/` | views | `src/base/` |
| `src/cli/` | commands | all above |
| `tests/` | what tests share | all above |
| `probes/<family>/<name>/test.c` | its test | `src/base/` `probes/<family>/<name>/` `tests/` |

## Contracts
"""
FILES = {
    "docs/architecture.md": MODULES,
    "src/base/text.h": "",
    "src/model/cell.h": '#include "base/text.h"\n',
    "src/model/cell.c": '#include "model/cell.h"\n',
    "src/device/device.h": "",
    "src/device/cuda/api.h": '#include "base/text.h"\n#include "device/device.h"\n',
    "src/device/hip/api.c": '#include "base/text.h"\n',
    "tests/toy.h": "",
    "probes/memory/chase/chase.h": "",
    "probes/memory/chase/section.json": "{}",
    "src/report/table.c": '/* The table of "chase". */\nconst char *const axis = "size";\n',
    "probes/memory/chase/probe.c": '#include "base/text.h"\n#include "chase.h"\n',
    "probes/memory/chase/test.c": '#include "probes/memory/chase/chase.h"\n#include "tests/toy.h"\n',
    "src/cli/main.c": '#include "model/cell.h"\n/* Prints the trials. */\nconst char *const title = "trials";\n',
    "lib/README.md": "Shared memory has 32 banks of 4 B; a pointer chase takes 12 ns per load.\n",
}


def tree(folder, changed):
    for path, text in {**FILES, **changed}.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
            f.write(text)
    shutil.copy(os.path.join(TOP, words.TABLE), os.path.join(folder, "docs"))


def found(check, endings, **changed):
    """What a check says of the tree with other text in some files; keywords name files with __ for / and _dot_ for the dot."""
    files = {name.replace("__", "/").replace("_dot_", "."): text for name, text in changed.items()}
    with tempfile.TemporaryDirectory(prefix="assay-lint-") as folder:
        tree(folder, files)
        return check(folder, sorted(p for p in {**FILES, **files} if p.endswith(endings)))


def modules(**changed):
    return found(layers.check, (".c", ".h"), **changed)


def linked(text):
    """What the check of symbols says of a build in which src/base/text.c has this text."""
    files = {"src/base/text.c": text, "src/model/cell.c": "int as_cell_width(void) { return 1; }\nint as_backend_toy;\n"}
    with tempfile.TemporaryDirectory(prefix="assay-lint-") as folder:
        tree(folder, files)
        build = os.path.join(folder, "build")
        os.mkdir(build)
        commands = []
        for path in files:
            commands.append({"directory": build, "file": f"../{path}", "output": path.replace("/", "_") + ".o"})
            subprocess.run([*CC, "-c", commands[-1]["file"], "-o", commands[-1]["output"]], cwd=build, check=True)
        with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as f:
            json.dump(commands, f)
        return layers.check_symbols(folder, build)


def texts(**changed):
    return found(words.check, words.ENDINGS, **changed)


def names(text):
    return found(kernel_names.check, (".kernel",), probes__memory__chase__chase_dot_kernel=text)


def views(text):
    return found(probe_names.check, (".c", ".h"), src__report__table_dot_c=text)


def facts(text):
    """What the check of facts' ids says of a reader of facts."""
    reader = "bool is_of(const struct as_fact *f, const struct as_fact *facts)\n{\n    return %s;\n}\n" % text
    return found(fact_ids.check, (".c",), src__cli__main_dot_c=reader)


def rule(text):
    """What the check of facts says of a rule beside a probe that has the words size and 4KiB."""
    fields = '#define LEVELS "L1|L2"\nFIELD(OP, op, NULL)\nFIELD(AGENT, agent, "cpu|device")\nFIELD(LEVEL, level, LEVELS)\n'
    return found(fact_ids.check, (".c",), src__facts__relations_dot_h=fields, probes__memory__chase__rule_dot_c=text,
                 probes__memory__chase__probe_dot_c='AS_AXIS("size", "4KiB")\n')


def one(wrong, part):
    return len(wrong) == 1 and part in wrong[0]


CASES = [
    ("a tree in order passes", lambda: not modules() and not texts()),
    ("an include upwards is found",
     lambda: one(modules(src__base__text_dot_h='#include "model/cell.h"\n'), "src/base/text.h includes src/model/cell.h")),
    ("so is one by a path beside the file",
     lambda: one(modules(src__base__text_dot_h='#include "../model/cell.h"\n'), "includes src/model/cell.h")),
    ("a module of data does not include a header that its row does not name",
     lambda: one(modules(src__model__cell_dot_h='#include "device/device.h"\n'), "src/model/cell.h includes src/device/device.h")),
    ("one API does not include another",
     lambda: one(modules(src__device__hip__api_dot_c='#include "device/cuda/api.h"\n'), "of another of its kind")),
    ("a probe does not include what tests share",
     lambda: one(modules(probes__memory__chase__probe_dot_c='#include "tests/toy.h"\n'), "probe.c includes tests/toy.h")),
    ("nor does a command", lambda: one(modules(src__cli__main_dot_c='#include "tests/toy.h"\n'), "main.c includes tests/toy.h")),
    ("a probe's test does not include what the table does not name",
     lambda: one(modules(probes__memory__chase__test_dot_c='#include "model/cell.h"\n'), "test.c includes src/model/cell.h")),
    ("nor another probe's files",
     lambda: one(modules(probes__memory__other__test_dot_c='#include "probes/memory/chase/chase.h"\n'),
                 "of another of its kind")),
    ("a folder without a row is found",
     lambda: one(modules(src__stray__a_dot_c='#include "base/text.h"\n'), "in no row")),
    ("a symbol from above is found, declared by hand",
     lambda: one(linked("extern int as_cell_width(void);\nint a(void) { return as_cell_width(); }\n"),
                 "src/base/text.c takes as_cell_width of src/model/cell.c")),
    ("not one that plugs in", lambda: not linked("extern int as_backend_toy;\nint a(void) { return as_backend_toy; }\n")),
    ("a replaced word is found in a comment",
     lambda: one(texts(src__cli__main_dot_c="/* Prints the visits. */\n"), "src/cli/main.c:1: 'visits': write trial")),
    ("in a string",
     lambda: one(texts(src__cli__main_dot_c='\nconst char *title = "12 Gops/s";\n'), "main.c:2: 'Gops/s'")),
    ("a translated phrase is found",
     lambda: one(texts(src__cli__main_dot_c='\nconst char *text = "its only run is 1";\n'), "write only run N exists")),
    ("a second word for inconclusive is found", lambda: one(texts(lib__README_dot_md="3 are undecided.\n"), "write inconclusive")),
    ("not in an identifier", lambda: not texts(src__cli__main_dot_c="int visits;\n")),
    ("in Markdown", lambda: one(texts(lib__README_dot_md="It takes 3 cycles a load.\n"), "write per")),
    ("a text for users that says cell is found",
     lambda: one(texts(src__cli__main_dot_c='\nconst char *text = "runs have no cells";\n'), "main.c:2: 'cells' in a text for users: write measurement")),
    ("not in a comment, a number of one, nor a statement of the store",
     lambda: not texts(src__cli__main_dot_c='/* the cells */\nconst char *a = "cell %d", *b = "SELECT n FROM cell", *c = "cell";\n')),
    ("not on a line that says so", lambda: not texts(lib__README_dot_md="A column `visits` (words: ok).\n")),
    ("a name that one language reserves is found in a kernel",
     lambda: one(names("/* u32 half */\nfor (u32 half = 2; half; half /= 2)\n"), "chase.kernel:2: 'half' is a keyword of OpenCL C")),
    ("in an argument", lambda: one(names("FUNCTION u32 part(GLOBAL u32 *p, u32 thread)\n"), "'thread' is a keyword of Metal")),
    ("as an argument of a kernel", lambda: one(names("KERNEL(a)(ARG_GLOBAL(0, f64, this))\n"), "'this' is a keyword of C++")),
    ("as a further variable, in a branch of one API",
     lambda: one(names("#if DIALECT_CUDA\nu32 a = 1, uint4 = 2;\n#endif\n"), "'uint4'")),
    ("not where it is the language's own", lambda: not names("#if DIALECT_METAL\ntypedef half f16;\nthread f16 *p;\n#endif\n")),
    ("a view that names a probe is found",
     lambda: one(views('\nbool is = strcmp(c->probe, "chase") == 0;\n'), "src/report/table.c:2: 'chase' names a probe")),
    ("so is a link to its section", lambda: one(views('const char *at = "<a href=\\"#probe-chase\\">";\n'), "names a probe")),
    ("not in a comment, nor within another word", lambda: not views('/* "chase" */\nconst char *s = "chaser", *t = "probe-chaser";\n')),
    ("the id of a fact that is looked into is found",
     lambda: one(facts('strncmp(f->id, "bandwidth.", 10) == 0'), "main.c:3: takes the id of a fact apart")),
    ("so is one of an array", lambda: one(facts("strstr(facts[3].id, \".read\")"), "main.c:3")),
    ("and a part that is pointed to", lambda: one(facts("f->id + 6"), "main.c:3")),
    ("not one that is compared as a whole, nor the id of something else",
     lambda: not facts('strcmp(f->id, facts->id) == 0 && strncmp(device->id, "cuda", 4) == 0')),
    ("so is a field that facts do not have, in the sentence of a rule",
     lambda: one(found(fact_ids.check, (".c",), src__facts__relations_dot_h="FIELD(OP, op)\n",
                       probes__memory__chase__rule_dot_c='as_fact_say(f, "%s {op} {levle} {value}", a);\n'), "no field 'levle'")),
    ("so is a misspelt word of an axis in a rule",
     lambda: one(rule('as_cell_is(a, "size", "4KiB") && as_cell_is(cells[i], "size", "regulra")'), "'regulra'")),
    ("a misspelt axis", lambda: one(rule('strcmp(as_cell_axis(cell, "sise"), "4KiB") == 0'), "'sise'")),
    ("and a misspelt value of a field",
     lambda: one(rule('as_fact_add(c, X, cell, AS_BY(.object = "any", .op = "raed"));'), "'raed'")),
    ("a word of an axis that is not in the closed set of the field",
     lambda: one(rule('as_fact_add(c, X, cell, AS_BY(.agent = "size", .level = "L1"));'), "'size'")),
    ("nor in a set that has a name", lambda: one(rule('as_fact_add(c, X, cell, AS_BY(.agent = "cpu", .level = "L22"));'), "'L22'")),
    ("not values of closed sets", lambda: not rule('as_fact_add(c, X, cell, AS_BY(.agent = "device", .level = "L2"));')),
    ("every pattern of the table is one",
     lambda: len(words.read_table(TOP)) > 20),
]


def main():
    print(f"1..{len(CASES)}")
    failed = 0
    for number, (title, holds) in enumerate(CASES, 1):
        fine = holds()
        failed += not fine
        print(f"{'ok' if fine else 'not ok'} {number} - {title}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
