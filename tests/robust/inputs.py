"""Absurd input on the command line: impossible numbers, unknown names, hostile texts, other locales."""
import json
import os
import shutil
import subprocess

import harness
from harness import FAILED, MEASURED, NOTHING, OK, USAGE, Skip, expect, expect_refused

NULL = ["--device", "null"]
HOSTILE = "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>&\"'\u202e%s%n=cmd|' /C calc'!A0"


def test_unknown_names_get_the_nearest(assay):
    for arguments, near in (
        (["rnu"], "run"),
        (["run", "latncy", *NULL], "latency"),
        (["run", "quik", *NULL], "quick"),
        (["run", "latency", "--devcie", "null"], "--device"),
        (["run", "latency", "--device", "nul"], "null"),
        (["run", "latency", *NULL, "--set", "szie=1KiB"], "size"),
        (["run", "bandwidth", *NULL, "--set", "op=traid"], "triad"),
        (["export", "--fromat", "csv"], "--format"),
        (["list", "prbes"], "probes"),
        (["explain", "latencey"], "latency"),
        (["show", "--colour=never", "--stroe", "x"], "--store"),
    ):
        expect_refused(assay.run(*arguments), USAGE, "did you mean", near)


def test_unknown_names_far_from_all(assay):
    for arguments in (["xyzzy"], ["run", "xyzzy", *NULL], ["run", "--xyzzy"], ["explain", "xyzzy"],
                      ["run", "latency", *NULL, "--set", "xyzzy=1"], ["run", "./no-such.ini", *NULL]):
        done = assay.run(*arguments)
        expect(done.code in (USAGE, FAILED), "refused", done)
        expect("did you mean" not in done.err and done.err.strip(), "no far-fetched guess", done)
    expect_refused(assay.run("run", "latency", "--device", "xyzzy:77"), USAGE)
    expect(not os.path.exists(assay.store) or not assay.run("list", "runs", "--json").out, "nothing was started")


def test_absurd_values(assay):
    """Refused with a reason, or planned as cells that say why they cannot be; never a crash, never a number."""
    for value in ("-1", "0", "1e400", "nan", "inf", "18446744073709551615", "18446744073709551616", "16EiB", "1KiB..",
                  "..", "4GiB..1KiB", "1..2..3", "1KiB..1GiB x0", "1KiB..1GiB x999", "1KiB..1GiB x-1", ",", "", " ",
                  "1KiB,,2KiB", "0x10", "1,5KiB", "KiB", "9" * 300, "%s%n", "\x00"[:0] + "\x1b[31m", "1 KiB ..", "-0",
                  "0.3B", "0.25free", "1000000free", "999999LLC"):
        done = assay.run("run", "latency", *NULL, "--set", f"size={value}")
        expect(done.code in (USAGE, FAILED, NOTHING, *MEASURED), f"size={value!r:.40}", done)
        expect("\x1b" not in done.err, "no escapes on the terminal", done)
        if done.code in MEASURED:
            for cell in assay.cells():
                size = float(cell["axes"]["size"])
                expect(0 < size < 2**62, f"size={value!r}: {cell['axes']}", done)


def test_absurd_options(assay):
    for option, values in (
        ("--budget", ("-1s", "0x", "nan", "1e400", "1e300h", "soon", "")),
        ("--precision", ("-1%", "0", "nan", "1e999", "200%", "")),
        ("--seed", ("-1", "1e3", "99999999999999999999999", "x", "")),
        ("--device", (",,", "null:-1", "null:99999999999999999999", "x" * 4000)),
        ("--set", ("size", "=", "size=", "=1KiB", "x" * 100000 + "=1", "size=" + "1," * 50000)),
        ("--trials", ("-1", "0", "1e9", "99999999999", "x")),
    ):
        device = [] if option == "--device" else NULL
        for value in values:
            done = assay.run("run", "latency", *device, f"{option}={value}")
            wrong = (USAGE, NOTHING) if device == [] else (USAGE,)
            expect(done.code in wrong and done.err.strip(), f"{option}={value!r:.40} is refused", done)


def test_too_many_cells(assay):
    """A plan that no one can mean is refused before anything is measured."""
    done = assay.run("run", "bandwidth", *NULL, "--set", "size=1KiB..1GiB x64", "--set", "op=all", "--set",
                     "threads=1..4096")
    expect(done.code in (USAGE, *MEASURED), "refused, or bounded by the device", done)


def test_the_same_thousands_of_times(assay):
    """What is named again is measured once."""
    done = assay.run("run", *["latency"] * 20000, *NULL, "--set", "size=1KiB")
    expect(done.code in MEASURED and len(assay.cells()) == 1, "one cell", done)
    expect_refused(assay.run("run", "latency", "--device", ",".join(["null"] * 20000)), USAGE, "list of devices")


def test_numbers_of_runs_and_cells(assay):
    expect(assay.run("run", "latency", *NULL, "--set", "size=1KiB").code in MEASURED, "a run to look at")
    for name in ("0", "-99", "999999", "99999999999999999999", "", "zz", "%n", "1 OR 1=1", "' OR ''='"):
        for command in ("show", "export", "report"):
            done = assay.run(command, name, *(["-o", assay.path("x.html")] if command == "report" else []))
            expect_refused(done, USAGE)
    for cell in ("0", "-1", "999999999", "x"):
        expect_refused(assay.run("replay", cell), USAGE)


def test_suite_files(assay):
    for name, text, words in (
        ("typo", "[latncy]\nsize = 1KiB\n", ["latency", "line"]),
        ("axis", "[latency]\nszie = 1KiB\n", ["size", "line 2"]),
        ("setting", "[suite]\nbudgt = 3s\n[latency]\ngrids = quick\n", ["budget", "line 2"]),
        ("precision", "[latency]\nsize = 1KiB\nprecision = 0%\n", ["precision.ini", "line 3", "between 0 and 100%"]),
        ("nothing", "; a comment\n", ["no probe"]),
        ("garbage", "\x7fELF\x02\x01", []),
        ("huge", "[latency]\nsize = 1KiB\n" + "# " + "x" * 100000, []),
        ("wide", "[latency]\nsize = " + "1KiB," * 2000 + "1KiB\n", []),
    ):
        path = assay.path(name + ".ini")
        with open(path, "w", encoding="latin-1") as f:
            f.write(text)
        done = assay.run("run", path, *NULL)
        expect(done.code in (USAGE, FAILED), f"{name}.ini", done)
        for word in words:
            expect(word in done.err, f"{name}.ini: '{word}' in the message", done)
    os.mkdir(assay.path("folder.ini"))
    for path in ("folder.ini", "missing.ini", "/dev/zero.ini"):
        done = assay.run("run", assay.path(path), *NULL)
        expect(done.code in (USAGE, FAILED) and done.err.strip(), path, done)


def test_hostile_device_name(assay):
    """Markup, terminal escapes and formulas in a device's name stay text wherever they are shown."""
    script = dict(harness.FAST, info=dict(harness.ONE_THREAD, name=HOSTILE, vendor=HOSTILE, driver=HOSTILE))
    done = assay.null(script, "latency", "--set", "size=1KiB..4KiB")
    expect(done.code in MEASURED, "measured all the same", done)
    page = assay.path("page.html")
    shown = [done] + [assay.run(*c) for c in (["show"], ["show", "latency"], ["facts"], ["report", "-o", page],
                                              ["list", "runs"])]
    shown.append(assay.run("devices", env=assay.script(script)))
    for result in shown:
        expect(result.code in MEASURED, "shown", result)
        expect("\x1b" not in result.out + result.err and "\x07" not in result.out + result.err, "no escapes", result)
    with open(page, encoding="utf-8") as f:
        html = f.read()
    expect("<script>alert" not in html, "no markup from a name in the page")
    expect("\x1b" not in html, "no control characters in the page")
    export = assay.run("export")
    expect("\x1b" not in export.out, "escaped in JSON", export)
    expect("alert(1)" in json.dumps(json.loads(export.out)), "and yet there as text", export)
    for line in assay.run("export", "--format", "csv").out.splitlines():
        for field in line.split(","):
            expect(not field.strip('"').startswith(("=", "@")), f"a spreadsheet formula: {field!r}")


def commas(assay):
    """The environment of a locale with decimal commas."""
    for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"):
        if subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.find(name) >= 0:
            return {"LC_ALL": name}
    folder = assay.path("locales")
    os.mkdir(folder)
    if not shutil.which("localedef") or subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")], capture_output=True,
            check=False).returncode not in (0, 1) or not os.listdir(folder):
        raise Skip("no locale with decimal commas, and none can be made (localedef, package 'locales')")
    return {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}


def test_decimal_commas(assay):
    """The same run and the same exports as in the C locale."""
    german = commas(assay)
    args = ["latency", "--set", "size=1.5KiB,4KiB..64KiB x2", "--precision", "0.5%", "--budget", "7.5s", "--seed", "3"]
    done = assay.run("run", *args, *NULL, env=german)
    expect(done.code in MEASURED, "measured", done)
    for command in (["export"], ["export", "--format", "csv"], ["show"], ["show", "latency"], ["facts"]):
        plain, commaed = assay.run(*command, env={"LC_ALL": "C.UTF-8"}), assay.run(*command, env=german)
        expect(plain.out == commaed.out and plain.code == commaed.code, f"'{' '.join(command)}' differs", commaed)
    for cell in assay.cells():
        expect(isinstance(cell["median"], float) or cell["n"] == 0, "a number", cell)


def test_not_utf8(assay):
    done = assay.run(b"run", b"lat\xff\xfeency", *[a.encode() for a in NULL])
    expect_refused(done, USAGE)
    done = assay.run(b"run", b"latency", *[a.encode() for a in NULL], b"--set", b"size=1\xffKiB")
    expect_refused(done, USAGE)


def test_no_environment(assay):
    """Neither HOME nor XDG_DATA_HOME nor PATH nor a locale."""
    process = subprocess.run([assay.program, "run", "latency", *NULL, "--set", "size=1KiB", "--store", assay.store],
                             env=assay.script(harness.FAST), capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
    expect(process.returncode in MEASURED, "measures without an environment", process)
    process = subprocess.run([assay.program, "list", "runs"], env={}, capture_output=True, text=True, check=False)
    expect(process.returncode in (OK, FAILED, USAGE), "no store known", process)


if __name__ == "__main__":
    harness.main(globals())
