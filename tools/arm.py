#!/usr/bin/env python3
"""Builds assay for aarch64 Linux, runs its tests under qemu's user mode emulation, and ends with the counts.

arm.py [TEST]...   only these tests, by meson's names

The sysroot is a folder of Debian's arm64 packages, fetched with a package state of its own: the system's stays as it is.
What the processor decides runs on two: with LSE atomics and every extension that qemu has, and with none of them.
Left out are tests that time something, and those in which the architecture counts for nothing.
"""
import json
import os
import platform
import re
import shlex
import shutil
import struct
import sys
import tempfile

import run_tests
from low_priority import run
from tally import Tally, say

CROSS = "aarch64-linux-gnu"
PACKAGES = ["libc6-dev", "libjansson-dev", "libsqlite3-dev", "libhwloc-dev", "libinih-dev", "libxxhash-dev", "libcmocka-dev",
            "opencl-c-headers"]
UNPACKED = ("lib", "linux-libc-dev", "opencl", "zlib")  # of what the packages depend on, prefixes of names
SYSROOT = os.path.join(run_tests.TOP, "build-arm-sysroot")
ROOT = os.path.join(SYSROOT, "root")
EM_AARCH64, PT_INTERP = 183, 3
# Of the stand-in for Metal's compiler, whose programs are linked with no library of this machine.
MSL_TARGET = f"--target={CROSS} --sysroot={ROOT} -nostdlib -Wno-unused-command-line-argument"

# -O1 takes the least time to compile and run together; its warnings include false ones, which other builds do without.
OPTIONS = ["-Ddebug=false", "-Doptimization=1", "-Dcharts=disabled"]

# What no other processor changes: kernels for GPUs, the page, checks of sources; what compares times or ends by the clock;
# and what repeats much to find faults in the handling of files and processes.
SUITES_LEFT_OUT = {"compiles", "browser", "lint", "simulation", "verdicts"}
LONG = ({"robust", "repetitions"}, {"store", "repetitions"}, {"fuzz", "repetitions"})
TESTS_LEFT_OUT = {"robust_ displacement": "its budget is 12 s, which emulated workers use up",
                  "report_ samples": "reads the runs of other machines for minutes"}

# "max" has LSE atomics, SVE, SME and all matrix instructions of qemu; the second is Armv8.0 and has none of them; the others
# differ from the first, which has 256 bits, in vector length; the instruction table has no kernels for the two longest.
LENGTHS = (16, 64, 128, 256)
CPUS = ("max", "cortex-a53") + tuple(f"max,sve-default-vector-length={n},sme-default-vector-length={n}" for n in LENGTHS)
# What the processor decides, again on the second.
DECIDED = [f"device_ {name}" for name in ("cpu", "team")] + [f"probes_ {name}" for name in (
    "atomics", "atomics_lost", "c2c", "codegen", "conversion", "cpu_operands", "ops native", "matrix unit", "matrix cores",
    "matrix formats", "matrix find", "matrix multiplication", "gemm of arm", "layout", "roofline", "stream", "stream kernels",
    "stream places", "bandwidth", "chase", "chase persistent", "refill")]


# What the length of vectors decides.
BY_LENGTH = ["device_ cpu"] + [f"probes_ {name}" for name in (
    "matrix cores", "matrix multiplication", "gemm of arm", "ops native", "stream kernels", "stream", "bandwidth",
    "roofline")]


def qemu():
    return shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


def qemu_version():
    """Of its instructions some are wrong in some versions."""
    found = re.search(r"version (\d+)", run([qemu(), "--version"]).stdout)
    return found[1] if found else "0"


def missing():
    """Why nothing can be built or run here; None if it can."""
    if platform.machine() == "aarch64":
        return "this machine is aarch64: make test runs the tests on it"
    if not shutil.which(CROSS + "-gcc"):
        return f"no {CROSS}-gcc; on Debian: apt-get install gcc-{CROSS}"
    if not qemu():
        return "no qemu-aarch64; on Debian: apt-get install qemu-user-static"
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            return f"no {program}, which fetches the libraries for aarch64"
    return None


def fetch_sysroot():
    """Why there is no sysroot; None if there is one."""
    if os.path.isdir(ROOT):
        return None
    say("arm: fetching the libraries for aarch64")
    shutil.rmtree(SYSROOT, ignore_errors=True)
    archives, lists = os.path.join(SYSROOT, "cache", "archives"), os.path.join(SYSROOT, "lists")
    for folder in (archives, lists):
        os.makedirs(os.path.join(folder, "partial"))
    status = os.path.join(SYSROOT, "status")
    with open(status, "w", encoding="ascii"):
        pass  # no package is installed there
    settings = {"APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": "", "Dir::State": SYSROOT,
                "Dir::State::lists": lists, "Dir::State::status": status, "Dir::Cache": os.path.join(SYSROOT, "cache"),
                "Dir::Cache::archives": archives, "Debug::NoLocking": "1", "Acquire::Retries": "1"}
    apt = ["apt-get", "-qq", "-y"] + [f"-o{key}={value}" for key, value in settings.items()]
    for command in ("update", "install --no-install-recommends --download-only " + " ".join(PACKAGES)):
        done = run(apt + command.split())
        if done.returncode:
            return "the libraries for aarch64 cannot be fetched: " + (done.stdout.strip().splitlines() or ["no reason"])[-1]
    unpacked = ROOT + ".new"
    for archive in sorted(os.listdir(archives)):
        if archive.startswith(UNPACKED) and archive.endswith(".deb"):
            done = run(["dpkg-deb", "-x", os.path.join(archives, archive), unpacked])
            if done.returncode:
                return f"{archive} cannot be unpacked: {done.stdout.strip()}"
    shutil.rmtree(os.path.join(unpacked, "etc"), ignore_errors=True)  # qemu would show it in place of this machine's
    os.rename(unpacked, ROOT)
    return None


def write_cross_file():
    pkg_config = [os.path.join(ROOT, "usr", where, "pkgconfig") for where in (f"lib/{CROSS}", "share")]
    path = os.path.join(SYSROOT, "cross.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"""[binaries]
c = '{CROSS}-gcc'
ar = '{CROSS}-ar'
strip = '{CROSS}-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['{qemu()}', '-L', '{ROOT}']
[properties]
sys_root = '{ROOT}'
pkg_config_libdir = {pkg_config}
[built-in options]
c_args = ['--sysroot={ROOT}']
c_link_args = ['--sysroot={ROOT}']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
""")
    return path


def write_script(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def write_clang():
    """The compiler of the stand-in for HIP."""
    return write_script(os.path.join(SYSROOT, "clang"),
                        f'exec clang --target={CROSS} --sysroot={shlex.quote(ROOT)} "$@"\n')


def is_arm_program(path):
    """An ELF file of aarch64 that names an interpreter: a program and no library."""
    try:
        with open(path, "rb") as f:
            head = f.read(64)
            if len(head) < 64 or head[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", head, 18)[0] != EM_AARCH64:
                return False
            offset, size, count = (struct.unpack_from(form, head, at)[0] for form, at in (("<Q", 32), ("<H", 54), ("<H", 56)))
            f.seek(offset)
            return any(struct.unpack_from("<I", f.read(size))[0] == PT_INTERP for _ in range(count))
    except OSError:
        return False


def unwrap(folder):
    """Puts the programs back in place of their scripts, as the linker left them."""
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".elf"):
                os.replace(os.path.join(parent, name), os.path.join(parent, name[:-len(".elf")]))


def wrap(folder):
    """The kernel does not start programs of aarch64. Of those that tests start by themselves a script takes the place."""
    tests = json.loads(run(["meson", "introspect", folder, "--tests"]).stdout)
    named = {os.path.normpath(os.path.join(folder, word)) for test in tests
             for word in test["cmd"][1:] + list(test["env"].values())}
    worker = os.path.join(folder, "assay")
    for path in sorted(p for p in named if p.startswith(folder + os.sep) and is_arm_program(p)):
        os.replace(path, path + ".elf")
        # A worker is /proc/self/exe otherwise: the program, not this script.
        text = f"export ASSAY_WORKER=${{ASSAY_WORKER:-{shlex.quote(path)}}}\n" if path == worker else ""
        write_script(path, text + f'exec {qemu()} -L {shlex.quote(ROOT)} -0 "$0" {shlex.quote(path + ".elf")} "$@"\n')


def chosen(folder):
    """Names of the tests of the first pass."""
    names = []
    for test in json.loads(run(["meson", "introspect", folder, "--tests"]).stdout):
        suites = {suite.rpartition(":")[2] for suite in test["suite"]}
        if not suites & SUITES_LEFT_OUT and not any(long <= suites for long in LONG):
            names.append(test["name"])
    return [name for name in names if name not in TESTS_LEFT_OUT]


def build(tally):
    folder = run_tests.build_folder("arm")
    if os.path.isdir(folder):
        unwrap(folder)
    setup = ["meson", "setup", folder, run_tests.TOP, "--cross-file", write_cross_file()] + OPTIONS
    is_set_up = os.path.exists(os.path.join(folder, "build.ninja"))
    for step in ([] if is_set_up else [setup]) + [["ninja", "-C", folder]]:
        say(f"arm: {step[0]}")
        done = run(step)
        if done.returncode:
            tally.fail("build arm", done.stdout)
            return False
    tally.ok("build arm")
    wrap(folder)
    return True


def main():
    tally = Tally()
    why = missing() or fetch_sysroot()
    if why:
        print(f"skipped: arm: {why}\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="assay-test-") as home:
        env = dict(os.environ, XDG_DATA_HOME=home, XDG_CONFIG_HOME=home, FAKE_HIP_CLANG=write_clang(), ASSAY_EMULATED=qemu_version(),
                   ASSAY_MSL_TARGET=MSL_TARGET, **run_tests.BRIEF)
        if build(tally):
            passes = [chosen(run_tests.build_folder("arm")), DECIDED] + [BY_LENGTH] * (len(CPUS) - 2)
            for cpu, tests in zip(CPUS, [sys.argv[1:]] * len(CPUS) if sys.argv[1:] else passes):
                run_tests.FOLDERS[cpu] = "arm"
                run_tests.meson_tests(cpu, tests, dict(env, QEMU_CPU=cpu), tally)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
