"""Wrong input to every subcommand, output that cannot be written, places without a home, and axes with more words than a
table should have. Argument: the program."""
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])

# Arguments, exit code, words of the message.
REFUSED = [
    (["rnu"], 2, ["did you mean 'run'?"]),
    (["xyzzy"], 2, ["no subcommand 'xyzzy'", "assay help"]),
    (["help", "shwo"], 2, ["did you mean 'show'?"]),
    (["help", "xyzzy"], 2, ["no subcommand 'xyzzy'; see 'assay help'"]),
    (["version", "now"], 2, ["does not take 'now'", "assay version --help"]),
    (["run", "quik"], 2, ["quick"]),
    (["run", "latncy"], 2, ["did you mean 'latency'?"]),
    (["run", "--bugdet", "5s"], 2, ["did you mean '--budget'?"]),
    (["run", "--budget"], 2, ["needs a value"]),
    (["run", "--budget", "soon"], 2, ["--budget", "soon"]),
    (["run", "--budget", "0.5s"], 2, ["--budget", "less than a second"]),
    (["run", "--budget", "400d"], 2, ["--budget"]),
    (["run", "--budget", "5"], 2, ["--budget", "write 5s or 5m"]),
    (["run", "--budget", "721h"], 2, ["--budget", "0 to 720h"]),
    (["run", "--precision", "0"], 2, ["--precision"]),
    (["run", "--precision", "200%"], 2, ["--precision", "0.01% to 100%"]),
    (["run", "--precision", "1"], 2, ["--precision", "is ambiguous: write 1% or 0.01"]),
    (["run", "latency", "--device", "cpu", "--set", "size=1KiB", "--set", "size=2KiB"], 2, ["size=1KiB,2KiB"]),
    (["run", "bandwidth", "--device", "cpu", "--set", "latency.size=1KiB"], 2, ["'latency' is not among"]),
    (["run", "latency", "--device", "cpu", "--set", "size=1GiB..1KiB"], 2, ["'1GiB..1KiB' runs backwards"]),
    (["run", "latency", "--device", "cpu", "--set", "size=1KiB.."], 2, ["two ends", "'1KiB..'"]),
    (["run", "--seed", "-3"], 2, ["--seed", "is not within 0 to 18446744073709551615"]),
    (["run", "latency", "--set", "--store", "w.db"], 2, ["'--set' needs AXIS=VALUES, not '--store'"]),
    (["run", "./no-such.ini"], 2, ["no-such.ini"]),
    *[(command.split(), 2, ["there is no store"]) for command in (
        "show x", "show x latency", "facts cache", "facts latency", "facts 1 cache", "advise x", "advise cpu", "export x", "explain cell 5",
        "compare 1 2", "check --against 1", "resume 1", "replay 5", "report 1", "delete 1", "list runs", "history L2")],
    (["run", "./bad.ini"], 2, ["line 1: neither a [section]"]),
    (["run", "./long.ini"], 2, ["line 2: longer than 198 characters; divide"]),
    (["run", "--trials", "0"], 2, ["--trials", "1 to 100"]),
    (["run", "--trials", "-1"], 2, ["--trials", "'-1' is not within 1 to 100"]),
    (["run", "--quiet", "--quiet"], 2, ["given twice"]),
    (["run", "latency", "--device", "cpu", "-d", "cpus"], 2, ["did you mean 'cpu'?"]),
    (["run", "--json=yes"], 2, ["takes no value"]),
    (["run", "--report", "-"], 2, ["--report"]),
    (["run", "--report", "/no/such/folder/x.html"], 1, ["/no/such/folder"]),
    (["run", "--colour", "alwys"], 2, ["did you mean 'always'?"]),
    (["run", "--store", ""], 2, ["--store"]),
    (["list", "refs", "h10"], 2, ["unknown reference set or chip 'h10'; similar chips: H100 SXM; H100 PCIe"]),
    (["list", "refs", "h1000"], 2, ["similar chips: H100 SXM; "]),
    (["explain", "L3", "latency"], 2, ["'explain' does not take 'latency' after 'L3'", "in quotes: 'L3 latency'"]),
    *[([*command.split(), ""], 2, ["is empty"]) for command in (
        "explain", "explain probe", "history", "facts last", "show", "plan", "run", "list", "export", "advise", "run --device", "run --set")],
    (["run", "latency", "--device", "gpu"], 2, ["there is no device 'gpu'; devices here: cpu"]),
    (["run", "latency", "--device", "gpu:0"], 2, ["there is no device 'gpu:0'; devices here: cpu"]),
    (["run", "latency", "--device", "cpus"], 2, ["did you mean 'cpu'? devices here: cpu"]),
    (["run", "probe:alu", "--device", "cpu", "--set", "ilp=9"], 2, ["nothing to measure", "alu on cpu: ", "'ilp': '9' is not one of 0, 1"]),
    (["run", "probe:alu", "--device", "cpu", "--set", "steps=25"], 2, ["nothing to measure", "'steps'"]),
    (["run", "probe:alu", "--device", "cpu", "--set", "width=1024"], 2, ["alu", "'1024'", "scalar, 128, 256, 512, sve, all"]),
    (["run", "matmul", "--device", "cpu", "--set", "path=wgmma", "--set", "type=f16"], 2, ["nothing to measure", "there is no CPU kernel"]),
    (["plan", "quik"], 2, ["did you mean 'quick'?"]),
    (["plan", "latency", "--device", "cpus"], 2, ["did you mean 'cpu'?"]),
    (["plan", "latency", "--device", "cpu", "--set", "sise=1KiB"], 2, ["did you mean 'size'?"]),
    (["plan", "sync", "--device", "cpu", "--set", "op=mx"], 2, ["sync: axis 'op' has no value 'mx'; did you mean 'max'?"]),
    (["plan", "latency", "--bugdet", "5s"], 2, ["did you mean '--budget'?"]),
    (["run", "latncy", "--dry-run"], 2, ["did you mean 'latency'?"]),
    (["run", "latency", "--dry-runs"], 2, ["did you mean '--dry-run'?"]),
    (["resume", "1", "2"], 2, ["does not take '2'"]),
    (["resume"], None, ["store"]),
    (["replay"], 2, ["needs CELL"]),
    (["replay", "one"], 2, ["one"]),
    (["replay", "1", "--qiuet"], 2, ["did you mean '--quiet'?"]),
    (["show"], None, ["store"]),
    (["show", "latency", "bandwidth"], 2, ["both probes"]),
    (["show", "--jsno"], 2, ["did you mean '--json'?"]),
    (["compare", "1"], 2, ["needs RUN RUN"]),
    (["compare", "1", "2", "3"], 2, ["does not take '3'"]),
    (["compare", "1", "2", "--check", "much"], 2, ["--check", "much"]),
    (["compare", "1", "2", "--check", "-1%"], 2, ["--check"]),
    (["compare", "garbage.json", "garbage.json"], 1, ["garbage.json"]),
    (["compare", "broken.db", "broken.db"], 1, ["'broken.db' is neither a store nor a JSON export"]),
    (["compare", "no.db:1", "no.db:2"], None, ["no.db"]),
    (["compare", "no.db", "1"], 2, ["no file 'no.db'"]),
    (["facts", "1", "2", "3"], 2, ["does not take '3'"]),
    (["facts", "--store", "garbage.json:1"], 2, ["as a separate argument"]),
    (["explain"], 2, ["needs PROBE[/OP]|AXIS|GATE|CAUSE|SUITE|QUANTITY|FACT|WORD|[cell] CELL"]),
    (["explain", "latency", "3"], 2, ["does not take '3' after 'latency'"]),
    (["help", "latency"], 2, ["assay explain latency"]),
    (["explain", "latencey"], 2, ["did you mean 'latency'?"]),
    (["explain", "drfit"], 2, ["did you mean 'drift'?"]),
    (["explain", "drift", "--all"], 2, ["'--all' is for probes", "'drift'"]),
    (["explain", "alu/fma32"], 2, ["did you mean 'alu/ffma32'?"]),
    (["explain", "probe:drift"], 2, ["there is no", "'probe:drift'"]),
    (["explain", "suite:latency"], 2, ["there is no", "'suite:latency'"]),
    (["explain", "alu/"], 2, ["has no ''"]),
    (["explain", "alo/ffma32"], 2, ["did you mean 'alu'?"]),
    (["explain", "sentinel/ffma32"], 2, ["no probe 'sentinel'"]),
    (["explain", "latency/ffma32"], 2, ["'ffma32' of the probe 'latency' has no description"]),
    (["explain", "alu/\x1b[31mred"], 2, ["has no"]),
    (["explain", "99999999999999999999"], 2, ["99999999999999999999"]),
    (["check", "1"], 2, ["--against BASE", "--policy POLICY"]),
    (["check", "--policy", "no.ini"], 2, ["no.ini"]),
    (["check", "--against", "no.json", "1"], 2, ["no file 'no.json'"]),
    (["check", "--against", "garbage.json"], 1, ["garbage.json"]),
    (["check", "--against", "sheet.json"], 2, ["sheet.json", "version 1"]),
    (["check", "--against", "1", "--tolerance", "much"], 2, ["--tolerance", "much"]),
    (["check", "--against", "1", "--junit", "."], 2, ["folder"]),
    (["compare", "1", "2", "--report", "-"], 2, ["--report needs a file name"]),
    (["report", "--open", "-o", "-"], 2, ["--open needs a file"]),
    (["report", "-o"], 2, ["needs a value"]),
    (["report", "-o", "."], 2, ["folder"]),
    (["export", "--format", "jsno"], 2, ["did you mean 'json'?"]),
    (["export", "-f", "xml"], 2, ["json, csv, layout, sheet, header or hwloc"]),
    (["help", "--completion", "tcsh"], 2, ["bash, zsh or fish"]),
    (["export", "-z"], 2, ["no option '-z'"]),
    (["import"], 2, ["needs FILE"]),
    (["import", "no-such.json"], 2, ["no-such.json"]),
    (["import", "garbage.json"], 1, ["garbage.json"]),
    (["import", "foreign.json"], 1, ["foreign.json"]),
    (["list", "--json"], 2, ["there is no list of ''"]),
    (["list", "prbes"], 2, ["did you mean 'probes'?"]),
    (["list", "refs", "mi300b"], 2, ["did you mean 'mi300a'?"]),
    (["show", "--refs", "rigel"], 2, ["'rigel' has no figures for the data sheet", "assay facts --refs rigel"]),
    (["show", "--refs", "gpus"], 2, ["'gpus' has figures of several chips: name one, such as 'H100 SXM'"]),
    (["show", "--refs", "h1000"], 2, ["unknown reference set or chip 'h1000'"]),
    (["list", "gates", "mi300a"], 2, ["does not take", "'mi300a'"]),
    (["list", "everything"], 2, ["probes, suites, runs, devices, gates, refs, ops and roles"]),
    (["devices", "cpu"], 2, ["does not take 'cpu'"]),
    (["doctor", "--store", ""], 2, ["--store needs"]),
    (["doctor", "--fix"], 2, ["no option '--fix'"]),
    (["\x1b[2Jrun"], 2, ["\\x1b[2Jrun"]),
]
# A misspelt name of every kind that the command line takes, and the name that is suggested.
SAMPLE = ["--store", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "h100-quick.db")]
SUGGESTED = {
    "command": (["rnu"], "run"),
    "command of help": (["help", "shwo"], "show"),
    "option": (["show", "--jsno"], "--json"),
    "suite": (["run", "quik"], "quick"),
    "suite by kind": (["run", "suite:quik"], "quick"),
    "probe": (["run", "latncy"], "latency"),
    "probe by kind": (["run", "probe:latncy"], "latency"),
    "probe of an axis": (["run", "latency", "--device", "cpu", "--set", "latncy.size=1KiB"], "latency"),
    "probe of a run": (["show", "1", "latncy"] + SAMPLE, "latency"),
    "operation": (["explain", "alu/fma32"], "alu/ffma32"),
    "device": (["run", "latency", "--device", "cpuu"], "cpu"),
    "device of stored runs": (["history", "--device", "cuda:9"] + SAMPLE, "cuda:0"),
    "quantity": (["history", "memory.latncy"] + SAMPLE, "memory.latency"),
    "quantity of explain": (["explain", "memory.latncy"], "memory.latency"),
    "group": (["history", "Memry"] + SAMPLE, "Memory"),
    "level": (["explain", "memry"], "memory"),
    "status": (["explain", "rejectd"], "rejected"),
    "gate": (["explain", "checksm"], "checksum"),
    "cause": (["explain", "drfit"], "drift"),
    "word": (["explain", "sentinl"], "sentinel"),
    "axis": (["run", "latency", "--device", "cpu", "--set", "sise=1KiB"], "size"),
    "axis value": (["run", "bandwidth", "--device", "cpu", "--set", "op=trid"], "triad"),
    "axis value of explain": (["explain", "trid"], "triad"),
    "allocator": (["run", "latency", "--device", "cpu", "--set", "allocator=maloc"], "malloc"),
    "subject of facts": (["facts", "last", "cahe"] + SAMPLE, "cache"),
    "subject of facts of any run": (["facts", "cahe"] + SAMPLE, "cache"),
    "fact": (["facts", "cache.L2.siez"] + SAMPLE, "cache.L2.size"),
    "topic of advice": (["advise", "shraed"] + SAMPLE, "shared"),
    "format": (["export", "--format", "jsno"], "json"),
    "list": (["list", "prbes"], "probes"),
    "references": (["list", "refs", "mi300b"], "mi300a"),
    "colour": (["run", "--colour", "alwys"], "always"),
    "shell": (["help", "--completion", "bsh"], "bash"),
}
PRINTING = [[], ["help"], ["help", "--man"], ["help", "--completion", "fish"], ["version"], ["run", "--help"], ["list"], ["list", "probes"], ["list", "suites"],
            ["list", "gates"], ["list", "gates", "--json"], ["list", "ops"], ["doctor"], ["doctor", "--json"], ["devices"],
            ["explain", "latency"], ["explain", "contention"], ["explain", "quick"]]
LINES = [["list", "probes"], ["list", "suites"], ["list", "gates"], ["list", "ops"], ["doctor"], ["devices"]]


def start(folder, args, env=None, **more):
    base = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "ASSAY_", "XDG_"))}
    base.update(HOME=folder, TERM="dumb", LC_ALL="C")
    base.update(env or {})
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *args], cwd=folder, env={k: v for k, v in base.items() if v is not None},
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False, timeout=300, **more)


def refused(folder, args, code, words):
    done = start(folder, args)
    assert done.returncode == code if code is not None else done.returncode in (1, 2), f"exit {done.returncode}"
    assert done.stderr.startswith("assay: "), done.stderr
    for word in words:
        assert word in done.stderr, f"'{word}' is not in: {done.stderr}"
    assert "\x1b" not in done.stderr and not done.stdout, "nothing on stdout, no escapes"
    assert not os.path.exists(os.path.join(folder, ".local")), "a refused command made a store"


def suggested(folder, args, name):
    refused(folder, args, 2, [f"did you mean '{name}'?"])


def full(folder, args):
    with open("/dev/full", "w", encoding="ascii") as device:
        done = start(folder, args, stdout=device)
    assert done.returncode == 1, f"exit {done.returncode}"
    assert "No space left" in done.stderr, done.stderr


def closed(folder, args):
    done = start(folder, args, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1 and "standard output" in done.stderr, f"exit {done.returncode}: {done.stderr}"


def broken_pipe(folder, args):
    reader, writer = os.pipe()
    os.close(reader)
    done = start(folder, args, stdout=writer)
    os.close(writer)
    assert done.returncode == 1 and not done.stderr, f"exit {done.returncode}: {done.stderr}"


def json_lines(folder, args):
    for extra in ([], ["--colour", "always"]):
        done = start(folder, [*args, "--json", *extra])
        assert done.returncode == 0, done.stderr
        assert done.stdout and all(isinstance(json.loads(line), dict) for line in done.stdout.splitlines())


def no_home(folder):
    done = start(folder, ["list", "runs"], env={"HOME": None})
    assert done.returncode in (1, 2) and "--store" in done.stderr, f"exit {done.returncode}: {done.stderr}"


def no_colour(folder):
    done = start(folder, ["list", "gates", "--colour", "always"])
    assert "\x1b[1m" in done.stdout, "asked for"
    for env in ({}, {"NO_COLOR": "1"}, {"TERM": "xterm"}):
        assert "\x1b" not in start(folder, ["list", "gates"], env=env).stdout, f"not a terminal, {env}"


def long_axes(folder):
    """The first words of them, and a command that has the others."""
    for probe, last, where in (("alu", "imovef64", ["list", "ops"]), ("power", "imovef64", None),
                               ("mix", "idp4a32+perm32", None)):
        where = where or ["explain", probe, "--all"]
        short, whole = start(folder, ["explain", probe]).stdout, start(folder, where).stdout
        axes = short[short.index("\nAxes\n"):short.index("\nQuick\n")]
        assert len(axes.splitlines()) < 60, axes
        said = " ".join(re.sub(r"(?m)^.{11}", "", axes).split())
        assert "more, see" in said and "--all" in said or "list ops" in said, axes
        assert last not in axes.split() and last in re.split(r"[\s,]+", whole), f"{where} has all: {last}"


def named_alike(folder):
    """A suite and a probe of one name: as for 'assay run', a word before it says which."""
    assert "\n[suite]\n" in start(folder, ["explain", "suite:link"]).stdout, "the suite"
    assert "\nAxes\n" in start(folder, ["explain", "probe:link"]).stdout, "the probe"
    assert "ffma32" in start(folder, ["explain", "probe:alu/ffma32"]).stdout, "its operation"


def main():
    tests = [(f"refused: {' '.join(a)!r:.60}", refused, (a, c, w)) for a, c, w in REFUSED]
    tests += [(f"suggested: {kind}", suggested, how) for kind, how in SUGGESTED.items()]
    for name, function, list_ in (("full disk", full, PRINTING), ("closed stdout", closed, PRINTING),
                                  ("broken pipe", broken_pipe, PRINTING), ("JSON lines", json_lines, LINES)):
        tests += [(f"{name}: {' '.join(a)}", function, (a,)) for a in list_]
    tests += [("no home", no_home, ()), ("colours", no_colour, ()), ("long axes", long_axes, ()), ("named alike", named_alike, ())]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, function, arguments) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory(prefix="assay-wrong-") as folder:
            with open(os.path.join(folder, "garbage.json"), "w", encoding="utf-8") as f:
                f.write('{"format_version": 1, "run": [}')
            with open(os.path.join(folder, "foreign.json"), "w", encoding="utf-8") as f:
                f.write('{"format_version": 1, "run": {"id": 1}, "cells": [], "sentinels": []}')
            with open(os.path.join(folder, "sheet.json"), "w", encoding="utf-8") as f:
                f.write('{"sheet_version": 2, "devices": []}')
            for path in ("broken.db", "bad.ini"):
                with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                    f.write("neither of these\n")
            with open(os.path.join(folder, "long.ini"), "w", encoding="utf-8") as f:
                f.write("[latency]\nsize = " + ",".join(["1KiB"] * 60) + "\n")
            try:
                function(folder, *arguments)
                print(f"ok {number} - {name}")
            except (AssertionError, subprocess.TimeoutExpired, ValueError) as why:
                failed += 1
                print(f"not ok {number} - {name}")
                print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")
    sys.exit(1 if failed else 0)


main()
