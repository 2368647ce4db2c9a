"""Text output of the commands below fits a terminal of 40, 60 and 120 columns."""
import os
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
WIDTHS = (40, 60, 120)
OF_RUNS = (("show",), ("show", "last"), ("show", "last", "latency"), ("show", "last", "bandwidth"), ("show", "last", "c2c"),
           ("show", "last", "alloc"), ("show", "--refs", "mi300x"), ("advise",), ("advise", "--all"), ("facts",), ("history",),
           ("doctor",), ("list", "runs"), ("explain", "5"), ("compare", "1", "1"))
OF_BUILD = (("help",), ("list", "probes"), ("list", "suites"), ("list", "gates"), ("list", "refs"), ("list", "roles"), ("list", "devices"),
            ("plan", "quick", "--device", "null"), ("explain", "wide"), ("explain", "L2"), ("explain", "alu/ffma32"), ("version",))


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


def expect_fits(assay, commands, codes=(OK,)):
    long = []
    for words in commands:
        for width in WIDTHS:
            done = assay.run(*words, env={"COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
            expect(done.code in codes, f"'{' '.join(words)}'", done)
            expect(done.out, f"'{' '.join(words)}' prints", done)
            long += [f"{' '.join(words)} at {width}: {line}" for line in done.out.splitlines() if columns(line) > width]
    expect(not long, f"lines that fit ({len(long)})", "\n".join(long[:40]))


def test_runs(assay):
    """On what samples have: two GPUs, long texts, an interrupted run."""
    for sample in ("h100-pair", "h200-quick", "h200-upm"):
        store = os.path.join(SAMPLES, f"{sample}.db")
        commands = [(*words, "--store", store) for words in OF_RUNS]
        expect_fits(assay, [words for words in commands if prints(assay, words)])


def prints(assay, words):
    """Not every sample has every probe, or a complete run."""
    return bool(assay.run(*words).out)


def test_two_runs(assay):
    a, b = (os.path.join(SAMPLES, f"{name}.db") for name in ("h100-quick", "h100-pair"))
    expect_fits(assay, [("compare", a, b), ("check", "--against", a, b, "--allow-missing")], (OK, harness.REGRESSION))


def test_build(assay):
    listed = assay.run("list", "probes").out.splitlines()[2:]
    probes = [line.split()[0] for line in listed if line[:1].islower()]
    expect(len(probes) > 20, "probes", probes)
    helps = [("help", name) for name in ("run", "show", "compare", "check", "report", "export", "advise", "explain", "history")]
    expect_fits(assay, [*OF_BUILD, *helps, *(("explain", name) for name in probes[:40:4])])


def test_pipes_are_not_broken(assay):
    """Where no width is known lines are not broken, so that grep finds them."""
    whole = assay.run("help", "run", env={"COLUMNS": ""}).out
    expect(max(map(columns, whole.splitlines())) > 60, "help as written", whole)
    csv = assay.run("history", "--csv", "--store", os.path.join(SAMPLES, "h200-quick.db"), env={"COLUMNS": "40"})
    expect(csv.code == OK and max(map(columns, csv.out.splitlines())) > 40, "CSV stays as it is", csv)


if __name__ == "__main__":
    harness.main(globals())
