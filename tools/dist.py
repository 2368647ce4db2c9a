#!/usr/bin/env python3
"""Builds the archives that run on any Linux since 2014: one per architecture, with the libraries inside.

dist.py [ARCHITECTURE]...   x86_64 and aarch64 by default; archives and SHA256SUMS in build-dist/

Zig's compiler links against the symbols of glibc 2.17; hwloc, SQLite, jansson, inih and xxHash are linked statically
(static_libraries.py). Drivers are found by dlopen on the machine where it runs, as in every build. The same sources give the
same archive: names are sorted, and times are that of the commit ($SOURCE_DATE_EPOCH outside a clone).
"""
import glob
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tarfile

from low_priority import run
from static_libraries import (PINNED, ZIG, Failed, Unavailable, install_libraries, is_made_of, made_of, must, sources, version_of,
                              write, write_module, zig)
from tally import say

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "build-dist")
GLIBC = "2.17"
ARCHITECTURES = ("x86_64", "aarch64")
LARGEST = 10 << 20
# Else Zig adds checks of undefined behaviour. No path of the machine that builds is to be in the program.
FLAGS = ["-fno-sanitize=undefined", f"-ffile-prefix-map={FOLDER}=."]
HWLOC = ["--localstatedir=/var", "--enable-static", "--disable-shared", "--disable-plugins", "--disable-libxml2",
         "--disable-libudev", "--disable-cairo", "--disable-opencl", "--disable-cuda", "--disable-nvml", "--disable-rsmi",
         "--disable-levelzero", "--disable-gl", "--disable-readme", "--disable-doxygen"]
LICENCES = {"hwloc": "COPYING", "sqlite3": "LICENSE.md", "jansson": "LICENSE", "libinih": "LICENSE.txt", "xxhash": "LICENSE"}
# What the build makes besides the program, and where it is in the archive.
PARTS = {"docs/assay.1": "share/man/man1/assay.1", "docs/assay": "share/bash-completion/completions/assay",
         "docs/_assay": "share/zsh/site-functions/_assay", "docs/assay.fish": "share/fish/vendor_completions.d/assay.fish"}


# ---- what is linked ----

def compile_hwloc(source, root, cc, arch):
    """hwloc by its own configure script: without optional libraries it reads /proc and /sys alone."""
    archive, built_from = os.path.join(root, "lib", "libhwloc.a"), " ".join([PINNED["hwloc"][1], ZIG] + HWLOC)
    if not is_made_of(archive, built_from):
        build = os.path.join(root, "hwloc")
        shutil.rmtree(build, ignore_errors=True)
        os.makedirs(build)
        tools = {"CC": cc, "AR": os.path.join(root, "ar"), "RANLIB": os.path.join(root, "ranlib"),
                 "CFLAGS": "-O2", "PKG_CONFIG_LIBDIR": os.path.join(root, "pc")}  # not this system's libraries
        must([os.path.join(source, "configure"), f"--host={arch}-linux-gnu", f"--prefix={root}"] + HWLOC, cwd=build,
             env=dict(os.environ, **tools))
        for part in ("include", "hwloc"):
            must(["make", "-j2", "-C", os.path.join(build, part), "install"])
        made_of(archive, built_from)
    write_module(root, "hwloc", "hwloc", version_of(source))


def wrapper(path, command):
    """Meson does not know Zig's linker, which is LLVM's: that is what it says it is. The options are here and not in the cross
    file, since a run's provenance names those that Meson gives."""
    write(path, "#!/bin/sh\nfor argument; do\n    case $argument in -Wl,--version)\n        echo 'LLD 17.0.0'\n        exit ;;\n"
          f"    esac\ndone\nexec {command} \"$@\"\n")
    os.chmod(path, 0o755)


def script(path, command):
    write(path, f"#!/bin/sh\nexec {command} \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def sysroot(arch, found, compiler):
    """The cross file of Meson, with all that it names."""
    root = os.path.join(FOLDER, "sysroot-" + arch)
    cc = os.path.join(root, "cc")
    wrapper(cc, f"'{compiler}' cc -target {arch}-linux-gnu.{GLIBC} {' '.join(FLAGS)} '-I{root}/include'")
    for name in ("ar", "ranlib"):
        script(os.path.join(root, name), f"'{compiler}' {name}")
    say(f"dist: compiling the libraries for {arch}")
    install_libraries(root, found, {"zig": compiler, "cc": cc}, ["-O2"])
    compile_hwloc(found["hwloc"], root, cc, arch)
    cross = os.path.join(root, "cross.ini")
    write(cross, f"[binaries]\nc = '{cc}'\nar = '{root}/ar'\nranlib = '{root}/ranlib'\nstrip = 'true'\n"
          f"pkgconfig = 'pkg-config'\n[properties]\npkg_config_libdir = '{root}/pc'\n"
          f"[built-in options]\nc_link_args = ['-s']\n"
          f"[host_machine]\nsystem = 'linux'\ncpu_family = '{arch}'\ncpu = '{arch}'\nendian = 'little'\n")
    return cross


# ---- the program ----

def build(arch, cross):
    folder = os.path.join(FOLDER, "build-" + arch)
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        shutil.rmtree(folder, ignore_errors=True)
        must(["meson", "setup", folder, TOP, "--cross-file", cross, "-Dwerror=true", "-Dtests=false", "-Dcharts=enabled",
              "-Doptimization=2", "-Ddebug=false"])
    say(f"dist: compiling and linking for {arch}")
    must(["ninja", "-C", folder])
    return folder


def need_tools():
    for tool, package in (("meson", "meson"), ("ninja", "ninja-build"), ("pkg-config", "pkg-config"), ("make", "make"),
                          ("readelf", "binutils"), ("cmark-gfm", "cmark-gfm"), ("npm", "npm")):
        if not shutil.which(tool):
            raise Unavailable(f"no {tool}; on Debian: apt-get install {package}")
    if not os.path.isdir("/usr/include/CL"):
        raise Unavailable("no headers of OpenCL; on Debian: apt-get install opencl-c-headers")
    if not os.path.isdir(os.path.join(TOP, "charts", "node_modules", "vega")):
        raise Unavailable("no Vega for the charts of the report: run npm ci in charts/")


# ---- the archive ----

def bundled_packages():
    """npm packages whose code is in the report: Vega and what it needs."""
    with open(os.path.join(TOP, "charts", "package-lock.json"), encoding="utf-8") as f:
        packages = json.load(f)["packages"]
    wanted, found = ["vega"], set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += packages["node_modules/" + name].get("dependencies", {})
    return sorted(found)


def licences(found):
    """Texts by name of what is inside, assay's own apart."""
    texts = {}
    for name, source in found.items():
        with open(os.path.join(source, LICENCES[name]), encoding="utf-8") as f:
            texts[name] = f.read()
    texts["vega"] = ""
    for name in bundled_packages():
        paths = sorted(glob.glob(os.path.join(TOP, "charts", "node_modules", name, "LICEN[SC]E*")))
        if paths:
            with open(paths[0], encoding="utf-8") as f:
                texts["vega"] += f"==== {name} ====\n\n{f.read().strip()}\n\n"
    return texts


def compose(arch, folder, documents, found):
    """Name in the archive to (content, mode)."""
    files = {}

    def put(name, path, mode=0o644):
        with open(path, "rb") as f:
            files[name] = (f.read(), mode)
    put("assay", os.path.join(folder, "assay"), 0o755)
    for built, name in PARTS.items():
        put(name, os.path.join(documents, built))
    for name in ("README.md", "LICENSE", "docs/install.md"):
        put(name, os.path.join(TOP, name))
    for name, text in licences(found).items():
        files[f"licenses/{name}.txt"] = (text.encode(), 0o644)
    return files


def commit_time():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = run(["git", "-C", TOP, "log", "-1", "--format=%ct"])
    if done.returncode:
        raise Unavailable("the time of the commit is unknown: set SOURCE_DATE_EPOCH")
    return int(done.stdout)


def pack(path, top, files, when):
    """A tar that depends on nothing but its arguments."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            content, mode = files[name]
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, when
            tar.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, compresslevel=9, mtime=when) as packed:
        packed.write(plain.getvalue())


def program_version():
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as f:
        return re.search(r"version: '([^']+)'", f.read())[1]


def sums_of(folder):
    """Checksums of the archives of this version."""
    sums = ""
    for path in sorted(glob.glob(os.path.join(folder, f"assay-{program_version()}-linux-*.tar.gz"))):
        with open(path, "rb") as f:
            sums += f"{hashlib.sha256(f.read()).hexdigest()}  {os.path.basename(path)}\n"
    return sums


def dist(architectures):
    need_tools()
    compiler = zig(os.path.join(FOLDER, "zig"))
    found = sources(os.path.join(FOLDER, "sources"), list(PINNED))
    folders = {arch: build(arch, sysroot(arch, found, compiler)) for arch in architectures}
    for arch, folder in folders.items():
        # Made by assay itself, which this machine may not run for another architecture; the text is the same.
        made = [f for f in folders.values() if os.path.exists(os.path.join(f, "docs", "assay.1"))]
        if not made:
            raise Unavailable("no man page: it takes a build for this machine's architecture, in the same call")
        top = f"assay-{program_version()}-linux-{arch}"
        path = os.path.join(FOLDER, top + ".tar.gz")
        pack(path, top, compose(arch, folder, made[0], found), commit_time())
        say(f"dist: {os.path.relpath(path, TOP)}, {os.path.getsize(path) / 1e6:.1f} MB")
        if os.path.getsize(path) >= LARGEST:
            raise Failed(f"{path} is {os.path.getsize(path)} bytes, over {LARGEST}")
    write(os.path.join(FOLDER, "SHA256SUMS"), sums_of(FOLDER))


def main():
    unknown = [name for name in sys.argv[1:] if name not in ARCHITECTURES]
    if unknown:
        say(f"dist: no architecture '{unknown[0]}'; there are {', '.join(ARCHITECTURES)}")
        return 2
    try:
        dist(sys.argv[1:] or ARCHITECTURES)
    except (Unavailable, Failed) as why:
        say(f"dist: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
