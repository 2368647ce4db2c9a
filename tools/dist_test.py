#!/usr/bin/env python3
"""Tests the archives of dist.py: what is in them, what the programs ask of a system, and that they run on old ones.

dist_test.py   ends with one line: N passed, N failed, N skipped

The systems are Debian's oldest and newest that the mirror has, as folders made by debootstrap; a program of aarch64 runs
under qemu's user mode emulation with that system's libraries. It takes root, and without it those parts are skipped.
"""
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

from dist import ARCHITECTURES, FOLDER, GLIBC, LARGEST, PARTS, program_version
from low_priority import run
from tally import Tally, say

MIRROR = "http://deb.debian.org/debian"
SYSTEMS = ("bullseye", "bookworm") # glibc 2.31 and 2.36; older releases have left the mirrors
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
NEEDED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
INSIDE = ["assay", "README.md", "LICENSE", "docs/install.md", "licenses/hwloc.txt", "licenses/sqlite3.txt",
          "licenses/jansson.txt", "licenses/libinih.txt", "licenses/xxhash.txt", "licenses/vega.txt"] + list(PARTS.values())
# The first cells that need no driver; their rate is no matter.
MEASURE = ("latency", "--device", "cpu", "--set", "size=16KiB", "--trials", "1", "--budget", "20s")


def check_sums(tally, paths):
    with open(os.path.join(FOLDER, "SHA256SUMS"), encoding="utf-8") as f:
        sums = dict(reversed(line.split()) for line in f)
    for path in paths:
        with open(path, "rb") as f:
            if hashlib.sha256(f.read()).hexdigest() != sums.get(os.path.basename(path)):
                return tally.fail("dist SHA256SUMS", f"{path} is not what SHA256SUMS says")
    return tally.ok("dist SHA256SUMS")


def check_inside(tally, arch, path, folder):
    top = os.path.basename(path)[:-len(".tar.gz")]
    with tarfile.open(path) as tar:
        names = tar.getnames()
        tar.extractall(folder)
    missing = [name for name in INSIDE if f"{top}/{name}" not in names]
    strange = [name for name in names if not name.startswith(top + "/")]
    if missing or strange or names != sorted(names) or os.path.getsize(path) >= LARGEST:
        tally.fail(f"dist {arch}: content", f"missing: {missing}; outside of {top}: {strange}; {os.path.getsize(path)} bytes")
    else:
        tally.ok(f"dist {arch}: content")
    return os.path.join(folder, top)


def number(version):
    return tuple(int(part) for part in version.split("."))


def check_program(tally, arch, program):
    """The libraries that it names, the versions of their symbols, and no path of the machine that built it."""
    dynamic = run(["readelf", "-dW", program]).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    versions = sorted(set(re.findall(r"GLIBC_([0-9.]+)", run(["readelf", "-VW", program]).stdout)), key=number)
    with open(program, "rb") as f:
        paths = f.read().count(FOLDER.encode())
    wrong = [name for name in needed if name not in NEEDED] + [v for v in versions if number(v) > number(GLIBC)]
    if wrong or not needed or not versions or paths or re.search(r"R(UN)?PATH", dynamic):
        tally.fail(f"dist {arch}: symbols", f"{wrong or dynamic}; the path of the build is in it {paths} times")
    else:
        say(f"dist: {arch}: glibc {versions[-1]} is the newest asked for; {', '.join(needed)}")
        tally.ok(f"dist {arch}: symbols")


def system(release, arch):
    """A folder with that release of Debian, or why there is none."""
    root = os.path.join(FOLDER, "systems", f"{release}-{arch}")
    if os.path.exists(root + ".done"):
        return root, None
    if os.geteuid() or not shutil.which("debootstrap"):
        return None, "no debootstrap, or not root"
    shutil.rmtree(root, ignore_errors=True)
    say(f"dist: fetching Debian {release} for {arch}")
    # The first stage alone unpacks what is essential, libc among it, and runs none of it.
    foreign = [] if arch == "x86_64" else ["--foreign"]
    done = run(["debootstrap", "--variant=minbase", f"--arch={DEBIAN[arch]}"] + foreign + [release, root, MIRROR])
    if done.returncode:
        return None, (done.stdout.strip().splitlines() or ["debootstrap failed"])[-1]
    with open(root + ".done", "w", encoding="ascii"):
        pass
    return root, None


def native(root, folder, home):
    """Starts the program in the system: its folders are there as long as the command runs, in a mount namespace of its own."""
    mounts = " && ".join(f"mount --bind {shlex.quote(source)} {shlex.quote(root + target)}" for source, target in (
        ("/proc", "/proc"), ("/sys", "/sys"), ("/dev", "/dev"), (folder, "/mnt"), (home, "/srv")))
    return ["unshare", "-m", "sh", "-c", f'{mounts} && exec chroot {shlex.quote(root)} /mnt/assay "$@"', "sh"]


def emulated(root, folder, home):
    """A worker is started by a script: the kernel does not start programs of aarch64."""
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    path = os.path.join(home, "assay")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nexport ASSAY_WORKER={path}\nexec {qemu} -L {root} {folder}/assay \"$@\"\n")
    os.chmod(path, 0o755)
    return [path]


def check_runs(tally, name, start, home, seen):
    """Looks at the machine, measures, stores and reports. seen: the folder home as the program sees it."""
    store, page = os.path.join(seen, "dist.db"), os.path.join(seen, "dist.html")
    env = dict(os.environ, HOME=seen, TMPDIR=seen, LC_ALL="C")
    for variable in ("ASSAY_STORE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        env.pop(variable, None)
    for words in (["--version"], ["doctor", "--store", store], ["run", "--quiet", "--store", store, *MEASURE],
                  ["report", "--store", store, "-o", page]):
        done = subprocess.run(start + words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, errors="replace", timeout=300, check=False)
        if done.returncode:
            return tally.fail(f"dist {name}: {words[0]}", f"status {done.returncode}\n{done.stdout}")
    with open(os.path.join(home, "dist.html"), encoding="utf-8") as f:
        if "vega" not in f.read():
            return tally.fail(f"dist {name}: report", "the report has no charts")
    with contextlib.closing(sqlite3.connect(os.path.join(home, "dist.db"))) as db:
        bad = db.execute("SELECT axes, reason FROM cells WHERE gate_checksum = 'fail'").fetchall()
        good, = db.execute("SELECT count(*) FROM cells WHERE gate_checksum = 'pass'").fetchone()
    if bad or not good:
        return tally.fail(f"dist {name}: run", f"{good} cells with the right result, not: {bad}")
    return tally.ok(f"dist {name}: runs")


def check_systems(tally, arch, folder):
    for release in SYSTEMS if arch == "x86_64" else SYSTEMS[:1]:
        name = f"{arch} on {release}"
        root, why = system(release, arch)
        if arch == "aarch64" and not (shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")):
            why = "no qemu-aarch64"
        if why:
            tally.skip(f"dist {name}", why)
            continue
        say(f"dist: {name}")
        with tempfile.TemporaryDirectory(prefix="assay-dist-") as home:
            if arch == "x86_64":
                check_runs(tally, name, native(root, folder, home), home, "/srv")
            else:
                check_runs(tally, name, emulated(root, folder, home), home, home)


def main():
    tally = Tally()
    paths = [os.path.join(FOLDER, f"assay-{program_version()}-linux-{arch}.tar.gz") for arch in ARCHITECTURES]
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        tally.fail("dist", f"no {missing[0]}: run tools/dist.py")
        return tally.close()
    check_sums(tally, paths)
    with tempfile.TemporaryDirectory(prefix="assay-dist-") as folder:
        for arch, path in zip(ARCHITECTURES, paths):
            extracted = check_inside(tally, arch, path, folder)
            check_program(tally, arch, os.path.join(extracted, "assay"))
            check_systems(tally, arch, extracted)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
