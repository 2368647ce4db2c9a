"""What assay prints for a run with known numbers, beside stored copies. UPDATE_GOLDEN=1 writes the copies anew; look at
the difference before it is committed. Arguments: the programs assay and cell_key, the folder of the copies."""
import json
import os
import re
import subprocess
import sys
import tempfile

import fixture

PROGRAM, CELL_KEY, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"

# Name of the copy, arguments, exit code, further environment.
CASES = [
    ("short", [], 0, {"ASSAY_STORE": "none.db"}),
    ("no-arguments", [], 0, {"ASSAY_STORE": "store.db"}),
    ("help", ["help"], 0, {}),
    *[("help-" + name, ["help", name], 0, {}) for name in (
        "run", "plan", "resume", "replay", "show", "history", "compare", "check", "facts", "advise", "explain", "report", "export", "import",
        "delete", "list",
        "devices", "doctor", "memory", "help", "version")],
    ("man", ["help", "--man"], 0, {}),
    ("show", ["show", "1"], 0, {}),
    ("show-lines", ["show", "1", "L2"], 0, {}),
    ("show-lines-words", ["show", "L2", "latency"], 0, {}),
    ("show-no-run", ["show", "nosuch"], 2, {}),
    ("facts-level", ["facts", "1", "L2"], 0, {}),
    ("report-of-line", ["report", "L2"], 2, {}),
    ("explain-axis", ["explain", "peer"], 0, {}),
    ("explain-fact", ["explain", "cache.L2.latency"], 0, {}),
    ("show-last", ["show"], 0, {}),
    ("show-machine", ["show", "--store", "series.db"], 0, {}),
    ("show-machine-utf8", ["show", "--store", "series.db"], 0, {"LC_ALL": "C.UTF-8", "COLUMNS": "80"}),
    ("history", ["history", "--store", "series.db"], 0, {}),
    ("history-group", ["history", "l2", "--store", "store.db"], 0, {}),
    ("history-quantity", ["history", "L2", "latency", "--store", "series.db"], 0, {}),
    ("history-quantity-utf8", ["history", "L1.latency", "--store", "series.db"], 0, {"LC_ALL": "C.UTF-8", "COLUMNS": "130"}),
    ("history-json", ["history", "L2.latency", "--store", "series.db", "--json"], 0, {}),
    ("history-csv", ["history", "L2.latency", "--store", "series.db", "--csv"], 0, {}),
    ("history-unknown", ["history", "L2 latncy", "--store", "series.db"], 2, {}),
    ("history-beside", ["history", "launch.submit", "--store", "series.db"], 2, {}),
    ("show-utf8", ["show", "1"], 0, {"LC_ALL": "C.UTF-8"}),
    ("show-narrow", ["show", "1"], 0, {"COLUMNS": "60"}),
    ("show-colour", ["show", "1", "--colour", "always"], 0, {}),
    ("show-latency", ["show", "latency", "1"], 0, {}),
    ("show-latency-utf8", ["show", "1", "latency"], 0, {"LC_ALL": "C.UTF-8"}),
    ("show-bandwidth", ["show", "1", "bandwidth"], 0, {}),
    ("show-json", ["show", "1", "bandwidth", "--json"], 0, {}),
    ("list-runs", ["list", "runs"], 0, {}),
    ("list-runs-json", ["list", "runs", "--json"], 0, {}),
    ("list-gates", ["list", "gates"], 0, {}),
    ("list-gates-json", ["list", "gates", "--json"], 0, {}),
    ("list-refs", ["list", "refs", "mi300a"], 0, {}),
    ("list-refs-chip", ["list", "refs", "h100"], 0, {}),
    ("list-refs-sets", ["list", "refs"], 0, {}),
    ("list-refs-sets-json", ["list", "refs", "--json"], 0, {}),
    ("facts", ["facts", "1"], 0, {}),
    ("facts-subject", ["facts", "cache.L2"], 0, {}),
    ("facts-refs", ["facts", "1", "--refs", "mi300a"], 0, {}),
    ("show-refs", ["show", "1", "--refs", "neoverse n1"], 0, {}),
    ("show-refs-of-no-device", ["show", "1", "--refs", "h100"], 0, {}),
    ("advise", ["advise", "1"], 0, {}),
    ("advise-ported", ["advise", "--store", "ported.db"], 0, {}),
    ("advise-topic", ["advise", "short-lived", "--store", "ported.db"], 0, {}),
    ("advise-json", ["advise", "--store", "ported.db", "--json"], 0, {}),
    ("explain-cell", ["explain", "cell", "1"], 0, {}),
    ("explain-cell-utf8", ["explain", "8"], 0, {"LC_ALL": "C.UTF-8"}),
    ("explain-cell-without-number", ["explain", "18"], 0, {}),
    ("explain-count", ["explain", "29", "--store", "ported.db"], 0, {}),
    ("list-refs-json", ["list", "refs", "mi300a", "--json"], 0, {}),
    ("explain-as-run-names-it", ["explain", "probe:codegen"], 0, {"COLUMNS": "80"}),
    ("explain-answers", ["explain", "conversion"], 0, {}),
    ("explain-drift", ["explain", "drift"], 0, {}),
    ("explain-wide", ["explain", "wide"], 0, {}),
    ("explain-withdrawn", ["explain", "withdrawn"], 0, {}),
    ("explain-precision", ["explain", "+-"], 0, {}),
    ("explain-quantity", ["explain", "core to core"], 0, {}),
    ("explain-level", ["explain", "L1"], 0, {}),
    ("explain-value", ["explain", "random"], 0, {}),
    *[("explain-users-" + re.sub("[^a-z0-9]+", "-", word.lower()), ["explain", word], 0, {}) for word in (
        "tensor core", "NUMA", "TLB", "PCIe", "DRAM", "flops", "shared memory bank conflict", "GB/s", "GPU memory", "latency of L2")],
    ("explain-misspelt", ["explain", "memory.read.al"], 2, {}),
    ("explain-contention", ["explain", "contention", "--store", "wide.db"], 0, {}),
    ("explain-op", ["explain", "alu/ffma32", "--store", "ops.db"], 0, {}),
    ("explain-op-linked", ["explain", "alu_latency/recip32", "--store", "ops.db"], 0, {"COLUMNS": "80"}),
    ("explain-op-of-cpus", ["explain", "alu/iand32"], 0, {}),
    ("explain-op-unmeasured", ["explain", "alu/fadd32"], 0, {}),
    ("show-ops", ["show", "1", "alu", "--store", "ops.db"], 0, {}),
    ("show-ops-utf8", ["show", "1", "alu_latency", "--store", "ops.db"], 0, {"LC_ALL": "C.UTF-8", "COLUMNS": "150"}),
    ("plan", ["plan", "latency", "launch", "--device", "null"], 0, {"ASSAY_NULL": "null.json"}),
    ("plan-narrow", ["plan", "latency", "--device", "null", "--budget", "0"], 0, {"ASSAY_NULL": "null.json", "COLUMNS": "60"}),
    ("plan-precision", ["plan", "latency", "--device", "null", "--precision", "1%"], 0, {"ASSAY_NULL": "null.json"}),
    ("plan-json", ["plan", "launch", "--device", "null", "--json"], 0, {"ASSAY_NULL": "null.json"}),
    ("run-dry", ["run", "latency", "launch", "--device", "null", "--dry-run", "--store", "none.db"], 0,
     {"ASSAY_NULL": "null.json"}),
    ("compare-same", ["compare", "1", "1"], 0, {}),
    ("compare-slower", ["compare", "1", "2", "--check", "5%"], 3, {}),
    ("compare-allowed", ["compare", "1", "2", "--check", "30%"], 0, {}),
    ("compare-faster", ["compare", "2", "1", "--check", "5%"], 0, {}),
    ("check", ["check", "--against", "1", "2", "three.json"], 3, {}),
    ("check-alone", ["check", "--against", "1", "2"], 0, {}),
    ("check-json", ["check", "--against", "1", "2", "three.json", "--json"], 3, {}),
    ("check-same", ["check", "--against", "one.json", "store.db:1"], 0, {"LC_ALL": "C.UTF-8"}),
    ("compare-json", ["compare", "1", "2", "--json"], 0, {}),
    ("compare-files", ["compare", "one.json", "store.db:2"], 0, {}),
    ("compare-partly", ["compare", "1", "partly.json"], 0, {}),
    ("compare-all", ["compare", "1", "partly.json", "--all"], 0, {}),
    ("compare-nothing", ["compare", "1", "ops.db"], 2, {}),
    ("compare-nothing-checked", ["compare", "1", "ops.db", "--check", "5%"], 2, {}),
]


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "ASSAY_", "XDG_"))}
    env.pop("NO_COLOR", None)
    return dict(env, ASSAY_STORE=os.path.join(folder, "store.db"), HOME=folder, TERM="dumb", LC_ALL="C",
                COLUMNS="100")


def series_of_runs():
    """Seven runs of one machine, the last four with another kernel and 30% slower, one of them slower still on a loaded host."""
    runs = {}
    for number, factor in enumerate((1.0, 1.01, 0.99, 1.3, 2.6, 1.31, 1.29)):
        run = fixture.run(factor)
        run["run"].update(started_at=1795000000.0 + 3600 * number, ended_at=1795000058.0 + 3600 * number)
        run["run"]["provenance"] = dict(run["run"]["provenance"], load={"1m": 3.5 if factor == 2.6 else 0.1},
                                        host={"kernel": "6.1.0-25" if factor < 1.2 else "6.1.0-26"})
        runs[f"series{number}.json"] = run
    return runs


def prepare(folder):
    """Runs 1 and 2 in the store, the second 20% slower, exports beside it, and further stores."""
    extra = [("latency", {"size": 1 << 31, "pattern": "random", "allocator": "mmap", "stride": 64}, 115.0)]
    files = {"one.json": fixture.run(), "two.json": fixture.run(1.2, host="bellows"),
             "three.json": fixture.run(1.21, host="bellows"),
             "partly.json": fixture.run(extra=extra), "ported.json": fixture.ported(),
             "ops.json": fixture.operations(), "wide.json": fixture.run()}
    series = series_of_runs()
    files.update(series)
    files["partly.json"]["cells"] = files["partly.json"]["cells"][3:]
    files["wide.json"]["cells"][2].update(status="wide", causes="time, contention",
                                          reason="interval width 12%, 1% requested: time, contention")
    for name, run in files.items():
        fixture.set_keys(run, CELL_KEY)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(run, f)
    with open(os.path.join(folder, "null.json"), "w", encoding="utf-8") as f:
        json.dump({"info": {"threads": 2}}, f)
    for name, store in (("one.json", "store.db"), ("two.json", "store.db"), ("ported.json", "ported.db"),
                        ("ops.json", "ops.db"), ("wide.json", "wide.db"), *[(name, "series.db") for name in series]):
        subprocess.run([PROGRAM, "import", name, "--store", store], cwd=folder, env=environment(folder), check=True,
                       stdout=subprocess.DEVNULL)


# Commands of which no line is wider than the terminal, and no word of a table is broken.
NARROW = [["compare", "1", "2"], ["compare", "1", "2", "--all"], ["show", "1"], ["show", "1", "bandwidth"], ["show", "--store", "series.db"], ["history", "--store", "series.db"],
          ["facts", "1"], ["explain", "L2"], ["list", "runs"], ["list", "gates"]]
WIDTHS = (60, 80, 100, 130, 200)
WHOLE = ("measurements", "non-temporal", "inconclusive")


def check_widths(folder):
    """Lines that are too wide, and words of which only the first letters are at the end of a column."""
    problems = []
    for width in WIDTHS:
        for args in NARROW:
            text = subprocess.run([PROGRAM, *args], cwd=folder, env=dict(environment(folder), COLUMNS=str(width)),
                                  capture_output=True, check=False, timeout=300).stdout.decode()
            problems += [f"{width}: {args}: {line}" for line in text.splitlines() if len(line) > width and "owned" not in line]
            problems += [f"{width}: {args}: broken {word}" for word in WHOLE
                         if re.search(rf"\b{word[:-2]}(?!{word[-2:]})\b", text)]
    return problems


def check(folder, name, args, code, env):
    done = subprocess.run([PROGRAM, *args], cwd=folder, env=dict(environment(folder), **env), capture_output=True,
                          check=False, timeout=300)
    text = done.stdout.decode().replace(folder, "FOLDER").replace("\r\n", "\n")
    if done.stderr:
        text += "--- stderr\n" + done.stderr.decode().replace(folder, "FOLDER")
    path = os.path.join(FOLDER, name + ".txt")
    problems = []
    if done.returncode != code:
        problems.append(f"exit {done.returncode}, not {code}")
    if "colour" not in name and "\x1b" in text:
        problems.append("an escape reaches the terminal")
    if UPDATE and not problems:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return problems
    want = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            want = f.read()
    if text != want:
        lines, wanted = text.splitlines() + [None], want.splitlines() + [None]
        at = next((i for i, (a, b) in enumerate(zip(lines, wanted)) if a != b), 0)
        problems.append(f"line {at + 1} is {lines[at]!r}, not {wanted[at]!r}; UPDATE_GOLDEN=1 takes it over")
    return problems


def main():
    failed = 0
    print(f"1..{len(CASES) + 1}")
    with tempfile.TemporaryDirectory(prefix="assay-golden-") as folder:
        prepare(folder)
        for number, (name, args, code, env) in enumerate(CASES, 1):
            problems = check(folder, name, args, code, env)
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - {name}")
            for problem in problems:
                print("# " + problem)
        wide = check_widths(folder)
        failed += bool(wide)
        print(f"{'not ok' if wide else 'ok'} {len(CASES) + 1} - no line is wider than the terminal")
        for problem in wide[:20]:
            print("# " + problem)
    sys.exit(1 if failed else 0)


main()
