#!/usr/bin/env python3
"""Builds assay, runs its tests and checks, and ends with one line: N passed, N failed, N skipped.

run_tests.py [PART]...   parts, all when none is named:
  test     gcc: one build and its tests, those that repeat much or play random choices in brief
  check    asan, tsan: under sanitizers, with fuzzers; kernels: compiled for GPUs, for some generations in part; and lint
  long     thorough: the tests that repeat much in full; all-kernels: compiled for each generation of GPUs
  lint     checks of the sources: format, clocks, layers, roles, words, kernels, facts, tidy, aarch64, macos
Every unit test inside a test program counts by itself; a build that fails counts as one failed test. Tests lie in tests/ and
beside each probe: test.c in suite probes, test_rule.c in suite facts, and in suite repetitions too where it uses ASSAY_BRIEF.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tools"))
import low_priority  # noqa: E402  (beside this file)
import static_checks  # noqa: E402
from tally import Tally, say  # noqa: E402

# Of debugging information sanitizers need the lines, and without optimisation tests take longer than it saves (but the few
# with threads). What ends the process at the first report need not be compiled to go on after it, and wrong pointers need
# no check beside AddressSanitizer's, which sees them used.
PLAIN = ["-Dwerror=true", "-Ddebug=false"]
SANITIZED = PLAIN + ["-Dc_args=-g1 -fno-sanitize-recover=all -fno-sanitize=null,object-size,pointer-overflow",
                     "-Db_lundef=false"]
# Tests of suite "texts" read numbers in what readers of samples print; that they read without error is tested besides.
BUILDS = {
    # name: (compiler, meson options, arguments of meson test)
    "gcc": ("gcc", PLAIN, ["--no-suite", "compiles"]),
    "thorough": ("gcc", PLAIN, ["--suite", "repetitions"]),
    "asan": ("clang", SANITIZED + ["-Doptimization=1", "-Dfuzzing=true", "-Db_sanitize=address,undefined"],
             ["--no-suite", "browser", "--no-suite", "simulation", "--no-suite", "compiles", "--no-suite", "verdicts",
              "--no-suite", "texts"]),
    "tsan": ("clang", SANITIZED + ["-Doptimization=0", "-Db_sanitize=thread"],
             ["--suite", "device", "--suite", "api", "--no-suite", "compiles", "--no-suite", "one-thread"]),
    # Kernels as compilers for GPUs take them, nothing is run: for some generations of chips in part, or all of them.
    "kernels": ("gcc", PLAIN, ["--suite", "compiles", "--no-suite", "generations"]),
    "all-kernels": ("gcc", PLAIN, ["--suite", "generations"]),
}
FOLDERS = {"thorough": "gcc", "kernels": "gcc", "all-kernels": "gcc"}  # the same build as another's
LINT = ["format", "clocks", "layers", "roles", "words", "names", "facts", "tidy", "aarch64", "macos"]
assert not set(BUILDS) & set(LINT), "a part of each name"
GROUPS = {"test": ["gcc"], "lint": LINT, "check": ["asan", "tsan", "kernels", *LINT],
          "long": ["thorough", "all-kernels"]}
# Tests that are not run but behind all others: no time is too long for them, and each takes a processor for itself.
BEHIND = ["kernels", "all-kernels"]
# Tests of suite "repetitions" repeat less: what they prove is proven by a part of it.
BRIEF = {"ASSAY_BRIEF": "1", "ASSAY_KILLS": "6", "ASSAY_FUZZ": "2"}
REST = {"ASSAY_REST": "1"}
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "halt_on_error=1:detect_leaks=1:allocator_may_return_null=1",
    "LSAN_OPTIONS": f"print_suppressions=0:suppressions='{os.path.join(TOP, 'tools', 'lsan.supp')}'",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    **BRIEF,
}

# LeakSanitizer looks at the process from a thread of its own. Where a driver's libraries were loaded and unloaded that of
# LLVM 14 may crash in the memory of threads, which says nothing of the test.
TRACER_CRASHED = "LeakSanitizer has encountered a fatal error"


def build_folder(name):
    return os.path.join(TOP, "build-" + FOLDERS.get(name, name))


def meson_build(name, compiler, options, arguments, env, tally):
    """Configures when needed and compiles; True when it went well."""
    folder, log = build_folder(name), ""
    if not shutil.which(compiler):
        tally.skip(f"build {name}", f"no {compiler}")
        return False
    if shutil.which("ld.lld"):
        env = dict(env, CC_LD="lld")
    setup, compile_ = ["meson", "setup", folder, TOP] + options, ["ninja", "-C", folder]
    is_set_up = os.path.exists(os.path.join(folder, "build.ninja"))
    if not is_set_up:
        shutil.rmtree(folder, ignore_errors=True)
    # An earlier configuration is renewed first: its list of targets lacks new ones.
    for step in [["ninja", "-C", folder, "build.ninja"] if is_set_up else setup, compile_]:
        say(f"{name}: {step[0]} with {compiler}")
        targets = wanted_targets(folder, arguments) if step is compile_ else []
        done = low_priority.run(step + targets, cwd=TOP, env=dict(env, CC=compiler))
        log += done.stdout
        if done.returncode:
            tally.fail(f"build {name}", log)
            return False
    tally.ok(f"build {name}")
    return True


def wanted_targets(folder, arguments):
    """What the tests of --suite need; without it all but what only tests of --no-suite need; nothing, which is all, where
    neither is given."""
    given = list(zip(arguments, arguments[1:]))
    wanted, unwanted = ({value for option, value in given if option == which} for which in ("--suite", "--no-suite"))
    if not wanted and not unwanted:
        return []

    def known(what):
        return json.loads(subprocess.check_output(["meson", "introspect", folder, what]))

    chosen, left_out = set(), set()
    for test in known("--tests"):
        suites = {suite.rpartition(":")[2] for suite in test["suite"]}
        is_chosen = not suites & unwanted and (suites & wanted or not wanted)
        (chosen if is_chosen else left_out).update(test["depends"])

    def is_built(target):
        return target["id"] in chosen or (not wanted and target["build_by_default"] and target["id"] not in left_out)

    return sorted(os.path.relpath(path, folder) for target in known("--targets") if is_built(target)
                  for path in target["filename"])


def meson_tests(name, arguments, env, tally):
    folder = build_folder(name)
    logs = os.path.join(glob.escape(folder), "meson-logs", f"tests-{name}*.json")  # a wrapper's name stands there too
    for log in glob.glob(logs):
        os.unlink(log)
    say(f"{name}: tests")
    processes = len(os.sched_getaffinity(0))
    command = ["meson", "test", "-C", folder, "--no-rebuild", "--quiet", "--logbase", f"tests-{name}"] + arguments
    if name in BEHIND:
        wrapper = f"{sys.executable} {os.path.join(TOP, 'tools', 'low_priority.py')}"
        low_priority.run(command + ["--num-processes", str(processes), "--timeout-multiplier", "10", "--wrapper", wrapper],
                   cwd=TOP, env=env)
    else:
        # Many tests mostly wait.
        subprocess.run(command + ["--num-processes", str(2 * processes)], cwd=TOP, env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not glob.glob(logs):
        tally.fail(f"{name}: tests", "meson test left no log")
        return
    with open(glob.glob(logs)[0], encoding="utf-8", errors="replace") as lines:
        for test in map(json.loads, lines):
            count_test(name, again(test, folder) if TRACER_CRASHED in output_of(test) else test, tally)


def output_of(test):
    return (test.get("stdout") or "") + (test.get("stderr") or "")


def again(test, folder):
    """The test once more by itself, as meson's log tells it, without that memory."""
    say(f"{test['name']}: again, since the leak checker itself crashed")
    options = test["env"].get("LSAN_OPTIONS", "") + ":use_tls=0"
    done = low_priority.run(test["command"], cwd=folder, env=dict(test["env"], LSAN_OPTIONS=options))
    result = {0: "OK", 77: "SKIP"}.get(done.returncode, "FAIL")
    return dict(test, result=result, returncode=done.returncode, stdout=done.stdout, stderr="")


def count_test(build, test, tally):
    """One test program: its own unit tests where it names them (cmocka, TAP), else itself."""
    output = output_of(test)
    name = f"{build}: {test['name']}"
    result = test["result"]
    failed_before = tally.failed
    if not count_cmocka(name, output, tally) and not count_tap(name, output, tally):
        if result == "SKIP":
            lines = output.strip().splitlines()
            tally.skip(name, lines[-1] if lines else "no reason given")
        elif result in ("OK", "EXPECTEDFAIL"):
            tally.ok(name)
    if result not in ("OK", "EXPECTEDFAIL", "SKIP"):
        if tally.failed > failed_before:
            told = re.sub(r"^\[ (RUN|      OK) .*\n", "", output, flags=re.M)  # what passed hides what did not
            say(f"FAILED {name} ({result})\n" + Tally.end_of(told))
        else:
            tally.fail(f"{name} ({result}, exit {test.get('returncode')})", output)


def count_cmocka(name, output, tally):
    def total(pattern):
        return sum(int(n) for n in re.findall(pattern, output, re.M))

    if not re.search(r"^\[==========\] .*run", output, re.M):
        return False
    tally.ok(name, total(r"^\[  PASSED  \] (\d+) test"))
    for what in re.findall(r"^\[  SKIPPED \] (?!.*test\(s\))(.+)$", output, re.M)[:total(r"^\[  SKIPPED \].*?(\d+) test")]:
        tally.skip(f"{name}: {what}", "said so itself")
    for _ in range(total(r"^\[  FAILED  \].*?(\d+) test\(s\)")):
        tally.fail(name, None)
    return True


def count_tap(name, output, tally):
    if not re.search(r"^1\.\.\d+", output, re.M):
        return False
    for state, what in re.findall(r"^(ok|not ok) \d+ ?-? ?(.*)$", output, re.M):
        title, _, directive = what.partition("# ")
        if directive.upper().startswith("SKIP"):
            tally.skip(f"{name}: {title.strip()}", directive[4:].strip() or "no reason given")
        elif state == "ok":
            tally.ok(name)
        else:
            tally.fail(f"{name}: {title.strip()}", None)
    return True


def main():
    known = [*BUILDS, *LINT]
    named = sys.argv[1:] or known
    for part in named:
        if part not in known and part not in GROUPS:
            print(f"run_tests.py: no part '{part}'; there are {' '.join([*GROUPS, *known])}", file=sys.stderr)
            return 2
    parts = list(dict.fromkeys(p for part in named for p in GROUPS.get(part, [part])))
    began, strangers = time.monotonic(), untracked()
    with tempfile.TemporaryDirectory(prefix="assay-test-") as home:
        env = dict(os.environ, XDG_DATA_HOME=home, XDG_CONFIG_HOME=home, POCL_CACHE_DIR=os.path.join(home, "pocl"))
        tallies = run_parts(parts, env)
    tally = Tally()
    for part in parts:
        tally.add(tallies[part])
    left = untracked() - strangers
    if left:
        tally.fail("checkout left as it was", "\n".join(sorted(left)))
    else:
        tally.ok("checkout left as it was")
    say(f"took {time.monotonic() - began:.0f} s")
    return tally.close()


def untracked():
    """Files in the checkout that git neither knows nor ignores; none where this is no checkout."""
    listed = low_priority.run(["git", "ls-files", "--others", "--exclude-standard", "-z"], cwd=TOP)
    return set(filter(None, listed.stdout.split("\0"))) if listed.returncode == 0 else set()


def run_parts(parts, env):
    """Many tests wait more than they compute, and those that run alone leave processors idle. Beside them runs, at the
    lowest priority, what only computes: the other builds, compilers, checks. A tally for each part."""
    tallies = {part: Tally() for part in parts}
    builds = [part for part in parts if part in BUILDS]
    sanitized = {part for part in builds if any("b_sanitize" in option for option in BUILDS[part][1])}
    envs = {part: dict(env, **(SANITIZER_ENVIRONMENT if part in sanitized else BRIEF if part == "gcc" else REST))
            for part in builds}

    in_folder = {build_folder(part): threading.Lock() for part in builds}
    before = [part for part in builds if part not in BEHIND]

    def build(part):
        compiler, options, arguments = BUILDS[part]
        with in_folder[build_folder(part)]:
            return meson_build(part, compiler, options, arguments, envs[part], tallies[part])

    def test(part, is_built):
        if is_built:
            meson_tests(part, BUILDS[part][2], envs[part], tallies[part])

    with ThreadPoolExecutor(1, initializer=low_priority.give_way) as pool:
        behind_it = [pool.submit(build, part) for part in before[1:]]
        behind_it += [pool.submit(lambda part: test(part, build(part)), part) for part in builds if part in BEHIND]
        behind_it += [pool.submit(getattr(static_checks, part), TOP, tallies[part]) for part in parts if part not in BUILDS]
        try:
            for i, part in enumerate(before):
                test(part, behind_it[i - 1].result() if i else build(part))
            for waiting in behind_it:
                waiting.result()
        except BaseException:
            for waiting in behind_it:
                waiting.cancel()
            low_priority.stop()
            raise
    return tallies


if __name__ == "__main__":
    sys.exit(main())
