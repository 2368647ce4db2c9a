#!/usr/bin/env python3
"""Builds assay for macOS on Linux: the same sources, compiled and linked by Zig's C compiler, which has the headers of
macOS and the list of what its libraries export. Nothing is run: that takes a Mac.

macos.py [TOP]   builds for each kind of Mac and ends with one line: N passed, N failed, N skipped

Compiler and libraries are those of static_libraries.py. Where one of them cannot be had the build is skipped, with the reason.
"""
import glob
import os
import re
import shutil
import struct
import sys

from static_libraries import LIBRARIES, Failed, Unavailable, install_libraries, must, sources, write, zig
from tally import Tally, say

TARGETS = {"aarch64": "aarch64-macos.11.0", "x86_64": "x86_64-macos.11.0"}


def wrapper(path, compiler, target):
    """Meson does not know Zig's linker, which takes the options of Apple's: that is what it says it is."""
    write(path, "#!/bin/sh\nfor argument; do\n    case $argument in -Wl,--version | -Wl,-v)\n"
          "        echo 'ld: unknown option: @(#)PROGRAM:ld PROJECT:ld64-1' >&2\n        exit 1 ;;\n    esac\ndone\n"
          f"exec '{compiler}' cc -target {target} \"$@\"\n")
    os.chmod(path, 0o755)


def sysroot(arch, folder, found, compiler):
    """The cross file of Meson, with all that it names."""
    root = os.path.join(folder, arch)
    tools = {"zig": compiler, "cc": os.path.join(root, "cc")}
    wrapper(tools["cc"], compiler, TARGETS[arch])
    install_libraries(root, found, tools, ["-O1"])
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


def macos(top, tally, archs=("aarch64",)):
    folder = os.path.join(top, "build-macos")
    arch = None
    try:
        for tool in ("meson", "ninja", "pkg-config"):
            if not shutil.which(tool):
                raise Unavailable(f"no {tool}")
        compiler = zig(os.path.join(folder, "zig"))
        found = sources(os.path.join(folder, "sources"), [name for name, _, _ in LIBRARIES])
        for arch in archs:
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
    macos(top, tally, TARGETS)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
