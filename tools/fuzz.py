#!/usr/bin/env python3
"""Searches for what breaks assay: fuzzers with libFuzzer and sanitizers, then tests of tests/robust for long.

fuzz.py [NAME]...   Without names it runs everything, else only what has that name.

FUZZ_SECONDS=600 is the time for each fuzzer, in a folder build-fuzz. ASSAY_FUZZ=300 interleavings, ASSAY_KILLS=1000
kills and ASSAY_INJECT=all injected failures follow; ASSAY_INJECT_PART=1/8 plays an eighth of the failures. New inputs
are kept in build-fuzz/found/NAME. Copy an input that breaks something into tests/fuzz/corpus/NAME, where every test run
plays it."""
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, "build-fuzz")
SECONDS = int(os.environ.get("FUZZ_SECONDS", "600"))
# A number that its type does not hold is undefined behaviour as well, which the group of that name leaves out.
FLAGS = "-g1 -fno-sanitize-recover=all -fsanitize=float-cast-overflow -fno-sanitize=null,object-size,pointer-overflow"
OPTIONS = ["-Dwerror=true", "-Ddebug=false", "-Doptimization=1", "-Dfuzzing=true", "-Db_sanitize=address,undefined",
           "-Db_lundef=false", f"-Dc_args={FLAGS}"]
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="halt_on_error=1:detect_leaks=1:allocator_may_return_null=1",
                   LSAN_OPTIONS=f"print_suppressions=0:suppressions='{os.path.join(TOP, 'tools', 'lsan.supp')}'",
                   UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
# The variable that says how long, and its value.
LONG = {"interleave": ("ASSAY_FUZZ", "300"), "kills": ("ASSAY_KILLS", "1000"), "inject": ("ASSAY_INJECT", "all")}
SHIM = os.path.join(BUILD, "fail.so")  # fails calls for 'inject'
LIBFUZZER = ["-timeout=60", "-rss_limit_mb=4096", "-max_len=4096", "-print_final_stats=1"]


def build():
    compiler = os.environ.get("CC", "clang")
    if "clang" not in compiler:
        compiler = "clang"
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run(["meson", "setup", BUILD, TOP, *OPTIONS], check=True, env=dict(os.environ, CC=compiler),
                       stdout=subprocess.DEVNULL)
    names = [os.path.basename(p)[len("fuzz_"):-len(".c")] for p in glob.glob(os.path.join(TOP, "tests/fuzz/fuzz_*.c"))]
    subprocess.run(["ninja", "-C", BUILD, "--quiet", *(f"tests/fuzz/fuzz_{n}" for n in names)], check=True)
    return sorted(names)


def fuzz(name):
    """One fuzzer for its time. What it says, and whether it broke nothing."""
    found = os.path.join(BUILD, "found", name)
    os.makedirs(found, exist_ok=True)
    command = [os.path.join(BUILD, "tests/fuzz", "fuzz_" + name), f"-max_total_time={SECONDS}", *LIBFUZZER,
               f"-artifact_prefix={found}-", found, os.path.join(TOP, "tests/fuzz/corpus", name)]
    done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    log = done.stdout.decode("utf-8", "replace")
    with open(found + ".log", "w", encoding="utf-8") as f:
        f.write(log)
    runs = re.search(r"stat::number_of_executed_units: *(\d+)", log)
    seeds = len(os.listdir(found)) + len(os.listdir(os.path.join(TOP, "tests/fuzz/corpus", name)))
    print(f"{name}: {runs.group(1) if runs else 'no'} inputs in {SECONDS} s, {seeds} seeds", flush=True)
    if done.returncode:
        print(f"{name}: BROKEN, see {found}.log:\n" + "\n".join(log.splitlines()[-40:]), flush=True)
    return done.returncode == 0


def fuzzers(names):
    """All fuzzers, as many at a time as there are processors."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return all(list(pool.map(fuzz, [n for n in build() if not names or n in names])))


def build_shim():
    """As tests/robust/meson.build does, since a build for users has no tests."""
    os.makedirs(BUILD, exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-O1", "-g", "-fPIC", "-shared", "-pthread",
                    "-o", SHIM, os.path.join(TOP, "tests/robust/inject/fail.c"), "-ldl"], check=True)


def robust(names):
    """Tests of tests/robust with the settings that make them long."""
    wanted = [name for name in LONG if not names or name in names]
    if not wanted:
        return True
    subprocess.run([os.path.join(TOP, "tools/build.sh")], check=True, cwd=TOP, env=dict(os.environ, BUILD="build"))
    build_shim()
    good = True
    for name in wanted:
        variable, value = LONG[name]
        environment = dict(os.environ, **{"ASSAY_FAIL_SHIM": SHIM, variable: os.environ.get(variable, value)})
        test = [sys.executable, os.path.join(TOP, "tests/robust", name + ".py"), os.path.join(TOP, "build/assay")]
        good &= subprocess.run(test, env=environment, cwd=TOP, check=False).returncode == 0
    return good


# Each takes the names that were asked for, and says whether nothing broke.
SEARCHES = [fuzzers, robust]

if __name__ == "__main__":
    sys.exit(0 if all([search(sys.argv[1:]) for search in SEARCHES]) else 1)
