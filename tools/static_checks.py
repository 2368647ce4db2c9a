"""Checks that run no test program: layout, modules, words, static analysis, compiling for aarch64 and macOS."""
import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import acts
import fact_ids
import kernel_names
import layers as layers_check
import macos as macos_build
import probe_names
import words as words_check
from low_priority import run
from tally import say

CROSS = "aarch64-linux-gnu"
HEADERS = ["jansson.h", "jansson_config.h", "sqlite3.h", "hwloc.h", "hwloc", "ini.h", "xxhash.h", "xxh3.h", "CL"]
MODULES = ["jansson", "sqlite3", "hwloc", "inih", "libxxhash"]


TIDY_PROCESSES = 24

# Paths through functions are followed this far; the bound of clang itself, sixteen times as far, takes minutes more.
ANALYZER = [f"--extra-arg={a}" for a in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=14000")]


def sources(top, endings):
    """Files of the project with these endings: those that git knows, else those that lie there."""
    listed = run(["git", "ls-files", "-z"], cwd=top)
    names = listed.stdout.split("\0") if listed.returncode == 0 else [
        os.path.relpath(os.path.join(folder, f), top)
        for part in ("src", "include", "lib", "probes", "tests", "bench")
        for folder, _, files in os.walk(os.path.join(top, part)) for f in files]
    return sorted(n for n in names if n.endswith(endings) and os.path.exists(os.path.join(top, n)))


def format(top, tally):  # noqa: A001  (the part's name)
    if not shutil.which("clang-format"):
        tally.skip("format", "no clang-format")
        return
    say("format: clang-format")
    done = run(["clang-format", "--dry-run", "--Werror"] + sources(top, (".c", ".h")), cwd=top)
    if done.returncode:
        tally.fail("format", done.stdout)
    else:
        tally.ok("format")


# What makes a test depend on how busy the machine is: an upper bound on a time, a clock, a sleep that something is to have
# happened after. tests/scripted_clock.h, the null device and harness.wait_for() do without. Files of the last two that may:
# they wait for a condition, or need a signal or a kill at some moment and assert nothing of it.
UNSTEADY = (
    (".c", re.compile(r"assert_\w+\(.*as_now(_ns)?\(\) - [^;]*<"), ()),
    (".py", re.compile(r"time\.(monotonic|perf_counter|time)\("), ("robust/harness.py", "robust/interleave.py",
                                                                 "robust/kills.py")),
    (".py", re.compile(r"time\.sleep\("), ("robust/harness.py", "robust/interleave.py", "robust/kills.py",
                                           "robust/machine.py", "robust/precision.py", "robust/signals.py")),
)


def clocks(top, tally):
    """Assertions of tests that a busy machine may break, as far as their words show them."""
    found = []
    for name in (n for n in sources(top, (".c", ".py"))
                 if n.startswith("tests/") or n.endswith(("/test.c", "/test_rule.c"))):
        with open(os.path.join(top, name), encoding="utf-8") as f:
            found += [f"{name}:{number}: {line.strip()}" for number, line in enumerate(f, 1)
                      for ending, words, allowed in UNSTEADY
                      if name.endswith(ending) and words.search(line) and name.removeprefix("tests/") not in allowed]
    if found:
        tally.fail("clocks", "a test depends on how busy the machine is (tools/static_checks.py says what to do):\n"
                   + "\n".join(found))
    else:
        tally.ok("clocks")


def check_texts(name, module, top, tally):
    if run(["git", "rev-parse"], cwd=top).returncode:
        tally.skip(name, "no git checkout")
        return
    wrong = module.check(top, module.paths_of(top))
    if wrong:
        tally.fail(name, "\n".join(wrong))
    else:
        tally.ok(name)


def layers(top, tally):
    """Includes that the table of modules in docs/architecture.md does not allow."""
    check_texts("layers", layers_check, top, tally)


def roles(top, tally):
    """Names of probes in the report, which finds them by their roles."""
    check_texts("roles", probe_names, top, tally)


def words(top, tally):
    """Words that docs/words.md replaces."""
    check_texts("words", words_check, top, tally)


def names(top, tally):
    """Names in kernels that one of the languages reserves."""
    check_texts("names", kernel_names, top, tally)


def facts(top, tally):
    """Readers that take the id of a fact apart instead of comparing its fields, and advice without a test."""
    check_texts("facts", fact_ids, top, tally)
    check_texts("acts", acts, top, tally)


def tidy(top, tally):
    folder = os.path.join(top, "build-tidy")
    if not shutil.which("clang-tidy") or not shutil.which("clang"):
        tally.skip("tidy", "no clang-tidy, or no clang")
        return
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        done = run(["meson", "setup", folder, top, "-Dtests=false"], env=dict(os.environ, CC="clang"))
        if done.returncode:
            tally.fail("tidy", done.stdout)
            return
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as f:
        files = {os.path.normpath(os.path.join(e["directory"], e["file"])) for e in json.load(f)}
    parts = tuple(os.path.join(top, part) + os.sep for part in ("src", "lib", "probes"))
    files = sorted(f for f in files if f.startswith(parts))
    say(f"tidy: clang-tidy over {len(files)} files")
    # Starting clang-tidy takes as long as checking a file, so each process checks many, some from each folder.
    batches = [files[i::TIDY_PROCESSES] for i in range(min(TIDY_PROCESSES, len(files)))]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda batch: run(["clang-tidy", "--quiet", "-p", folder] + ANALYZER + batch, cwd=top),
                                batches))
    bad = [r.stdout for r in results if r.returncode]
    if bad:
        text = "\n".join(bad)  # the paths that lead to a finding are long: what was found is the end
        found = re.findall(r"^.*: (?:error|warning): .*$", text, re.M)
        tally.fail("tidy", "\n".join([text, *dict.fromkeys(found)]))
    else:
        tally.ok("tidy")


def shadow_sysroot(folder):
    """Headers and pkg-config files of the libraries, without this machine's C library beside them: their headers are the
    same on every architecture. Enough to compile, not to link."""
    include, pc = os.path.join(folder, "include"), os.path.join(folder, "pc")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(include)
    os.makedirs(pc)
    triplet = run(["gcc", "-print-multiarch"]).stdout.strip()
    for name in HEADERS:
        for base in ("/usr/include", os.path.join("/usr/include", triplet)):
            path = os.path.join(base, name)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(include, name), dirs_exist_ok=True)
            elif os.path.exists(path):
                shutil.copy(path, include)
    for module in MODULES:
        version = run(["pkg-config", "--modversion", module]).stdout.strip()
        with open(os.path.join(pc, module + ".pc"), "w", encoding="ascii") as f:
            f.write(f"Name: {module}\nDescription: headers only\nVersion: {version}\nCflags: -I{include}\n")
    cross = os.path.join(folder, "cross.ini")
    with open(cross, "w", encoding="ascii") as f:
        f.write(f"[binaries]\nc = '{CROSS}-gcc'\nar = '{CROSS}-ar'\nstrip = '{CROSS}-strip'\npkgconfig = 'pkg-config'\n"
                f"[properties]\npkg_config_libdir = '{pc}'\n[built-in options]\nc_args = ['-I{include}']\n"
                "[host_machine]\nsystem = 'linux'\ncpu_family = 'aarch64'\ncpu = 'aarch64'\nendian = 'little'\n")
    return cross


def aarch64(top, tally):
    if not shutil.which(CROSS + "-gcc") or not os.path.exists(f"/usr/{CROSS}/include/stdio.h"):
        tally.skip("aarch64", f"no {CROSS}-gcc with its C library")
        return
    folder = os.path.join(top, "build-aarch64")
    say("aarch64: compiling everything, linking nothing")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        cross = shadow_sysroot(os.path.join(top, "build-aarch64-sysroot"))
        done = run(["meson", "setup", folder, top, "--cross-file", cross, "-Dwerror=true", "-Dtests=false",
                    "-Doptimization=0", "-Ddebug=false"])
        if done.returncode:
            tally.fail("aarch64", done.stdout)
            return
    targets = json.loads(run(["meson", "introspect", folder, "--targets"]).stdout)
    objects = [os.path.relpath(path, folder) for t in targets if t["type"] == "static library" for path in t["filename"]]
    done = run(["ninja", "-C", folder, "-k", "0"] + objects)
    if done.returncode:
        tally.fail("aarch64", done.stdout)
    else:
        tally.ok("aarch64")


def macos(top, tally):
    """Compiled and linked for Macs with Apple's processors; tools/macos.py does so for Intel's too."""
    macos_build.macos(top, tally)
