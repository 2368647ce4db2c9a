#!/usr/bin/env python3
"""What make dist keeps in its folder is made anew after a new pin, and the checksums are of this version's archives.
archives.py TOP"""
import os
import sys
import tempfile

TOP = sys.argv[1]
sys.path.insert(0, os.path.join(TOP, "tools"))
import dist  # noqa: E402  (found by the line above)
import static_libraries  # noqa: E402

OLD, NEW = ("file", "old checksum"), ("file", "new checksum")
calls = []


def play(command, **_):
    """Stands in for compilers, npm and make: leaves what they would make."""
    calls.append(" ".join(command))
    for at, word in enumerate(command):
        if word == "rcs":
            static_libraries.write(command[at + 1], "archive")
        if word == "--prefix":
            static_libraries.write(os.path.join(command[at + 1], "node_modules", "@oven", "zig-linux-x64", "zig"), "compiler")
        if word.endswith("configure"):
            static_libraries.write(os.path.join(ROOT, "lib", "libhwloc.a"), "archive")
    return type("Done", (), {"returncode": 0, "stdout": ""})


def fetch(name, folder):
    calls.append("fetch " + name)
    static_libraries.write(os.path.join(folder, name, "version.txt"), "1")
    static_libraries.made_of(os.path.join(folder, name), static_libraries.PINNED[name][1])


def made(action):
    """Was anything run?"""
    calls.clear()
    action()
    return bool(calls)


def check(what, action, change):
    """Made once, kept, and made anew once something that it is made of has changed."""
    assert made(action), f"{what}: not made"
    assert not made(action), f"{what}: made twice"
    change()
    assert made(action), f"{what}: kept after a new pin"
    assert not made(action), f"{what}: made twice after a new pin"


def pin(name):
    def change():
        static_libraries.PINNED[name] = NEW
    static_libraries.PINNED[name] = OLD
    return change


def new_compiler():
    static_libraries.ZIG += ".1"


def main():
    tools = {"zig": "zig", "cc": "cc"}
    for module in (static_libraries, dist):
        module.must = module.run = play
    static_libraries.fetch_source = fetch
    static_libraries.shutil.which = lambda name: name
    static_libraries.amalgamate = static_libraries.configure_jansson = lambda folder: None
    static_libraries.inputs = lambda name, folder: (["ini.c"], [])
    os.environ.pop("ZIG", None)
    source = os.path.join(ROOT, "hwloc-source")
    static_libraries.write(os.path.join(source, "version.txt"), "1")
    change = pin("hwloc")
    check("hwloc", lambda: dist.compile_hwloc(source, ROOT, "cc", "x86_64"), change)
    change = pin("libinih")
    check("a library", lambda: static_libraries.compile_library("libinih", "inih", ROOT, ROOT, tools, ["-O2"]), change)
    check("a library by another compiler",
          lambda: static_libraries.compile_library("libinih", "other", ROOT, ROOT, tools, ["-O2"]), new_compiler)
    change = pin("xxhash")
    check("sources", lambda: static_libraries.sources(os.path.join(ROOT, "sources"), list(static_libraries.PINNED)), change)
    check("the compiler", lambda: static_libraries.zig(os.path.join(ROOT, "zig")), new_compiler)
    now, before = f"assay-{dist.program_version()}-linux-x86_64.tar.gz", "assay-0.0.1-linux-x86_64.tar.gz"
    for name in (now, before):
        static_libraries.write(os.path.join(ROOT, name), name)
    assert [line.split()[1] for line in dist.sums_of(ROOT).splitlines()] == [now], dist.sums_of(ROOT)


with tempfile.TemporaryDirectory(prefix="assay-archives-") as ROOT:
    main()
