"""A machine over its runs, on the scripted device: runs join, a changed driver starts anew, history finds what changed, and
check measures again what looks worse. The scripts decide all numbers; nothing depends on this machine's."""
import csv
import io
import json
import os
import re
import subprocess
import sys

import harness
from harness import OK, REGRESSION, USAGE, expect, expect_refused

SUITE = harness.MEMORY_SUITE
BASE_PAGES = SUITE.replace("huge_pages", "base_pages")
LATENCY, BASE = "memory.latency", "memory.latency.base_pages"


def memory(ns, driver="1.0", **more):
    """A device whose memory takes so long."""
    return {**harness.memory_device(ns, driver=driver), **more}


def measure(assay, script, text=SUITE, *more):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    done = assay.null(script, path, "--quiet", *more)
    expect(done.code == OK, "measured", done)


def lines(assay, *words):
    """The lines of history as JSON: those of runs, and the last of each line of the sheet."""
    done = assay.run("history", *words, "--json")
    expect(done.code == OK, "history", done)
    found = [json.loads(text) for text in done.out.splitlines()]
    return [x for x in found if "run" in x], {x["name"]: x for x in found if "run" not in x}


def width(interval):
    return interval[1] / interval[0]


def head(assay, *more):
    done = assay.run("show", *more)
    expect(done.code == OK, "show", done)
    return done.out.splitlines()[0], done.out


def test_runs_join(assay):
    """A second run narrows the interval; a run by its name keeps its own."""
    measure(assay, memory(100))
    first, text = head(assay)
    expect(": 1 run since " in first and "assume" in text, "one run, and what is assumed", text)
    alone = lines(assay, LATENCY)[1][LATENCY]
    measure(assay, memory(100))
    second, text = head(assay)
    expect(": 2 runs since " in second and "assume" not in text and "another run" in text, "two runs", text)
    joined = lines(assay, LATENCY)[1][LATENCY]
    expect(width(joined["now_ci"]) < width(alone["now_ci"]), "narrower", (alone, joined))
    expect(joined["another_run"][0] < joined["now_ci"][0] and joined["now_ci"][1] < joined["another_run"][1],
           "another run may lie further off than the machine's number", joined)
    for name in ("1", "last"):
        own, text = head(assay, name)
        expect(own.startswith("Run ") and "another run may lie outside" in text and text.count("another run") == 1, "a run by itself", text)


def test_lines_of_earlier_runs(assay):
    """A line that only an earlier run measured stays in the machine's sheet, and not in that of the last run."""
    measure(assay, memory(100), BASE_PAGES)
    measure(assay, memory(100))
    expect("latency, base pages" in head(assay)[1].split("Not in this suite")[0], "both lines", head(assay)[1])
    expect("latency, base pages" not in head(assay, "last")[1].split("Not in this suite")[0], "the last alone")


def test_changed_driver(assay):
    """Numbers of another driver are not joined, which is said; history still has them."""
    measure(assay, memory(100))
    measure(assay, memory(100))
    measure(assay, memory(90, driver="2.0"))
    first, text = head(assay)
    expect(": 1 run since " in first, "one run of this driver", text)
    expect("changed with run 3: driver of null 1.0, then 2.0" in " ".join(text.split()), "and why", text)
    runs, _ = lines(assay, LATENCY)
    expect([r["run"] for r in runs] == [1, 2, 3], "all runs", runs)
    expect(runs[2]["recorded"] == "driver of null 1.0, then 2.0", "what was recorded", runs[2])


def test_changes_of_another_device(assay):
    """A device's driver changes its own lines only, and with a run that has the device."""
    caches = SUITE.replace("16MiB", "16KiB").replace("huge_pages", "malloc").replace("trials = 3", "trials = 1")
    both = ("--device", "null,cpu", "--precision", "100%")
    measure(assay, memory(100), caches, *both)
    measure(assay, memory(100), caches, "--device", "cpu", "--precision", "100%")
    measure(assay, memory(90, driver="2.0"), caches, *both)
    runs, _ = lines(assay)
    recorded = {(r["device"], r["run"]): r["recorded"] for r in runs}
    expect("null" not in recorded.get(("cpu", 3), ""), "the CPU's line, where other work leaves one, is not concerned", recorded)
    expect(recorded["null", 3] == "driver of null 1.0, then 2.0", "the device's is", recorded)
    expect("changed with run 3: driver of null" in head(assay)[1], "with the run that had the device", head(assay)[1])


def test_names_of_devices(assay):
    """Every text has the name of the CPU's generation, where it is known, in place of the reported one."""
    script = memory(100)
    script["info"].update(name="Reported CPU", generation="Known CPU (Core 5)")
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SUITE)
    texts = {"run": assay.null(script, path), "plan": assay.null(script, path, "--dry-run")}
    env = assay.script(script)
    for words in (["show"], ["show", "last"], ["show", "last", "latency"], ["history", LATENCY], ["facts", "--all"], ["devices"]):
        texts[" ".join(words)] = assay.run(*words, env=env)
    for name, done in texts.items():
        expect(done.code == OK and "Reported CPU" not in done.out + done.err, name, done)
    for name in ("plan", "show", "show last", "history " + LATENCY, "devices"):
        expect("Known CPU (Core 5)" in texts[name].out, name, texts[name])


def test_one_trial(assay):
    """A prior is no evidence: a line of one trial says so."""
    measure(assay, memory(100), SUITE, "--trials", "1", "--precision", "100%")
    expect("one trial" in head(assay)[1], "it says so", head(assay)[1])
    measure(assay, memory(100))
    expect("one trial" not in head(assay)[1], "until there are more", head(assay)[1])


def test_history(assay):
    """A lasting change is found with the run that began it, a single run as such; steady lines are neither."""
    for ns in (100, 100, 100, 150, 100, 100):
        measure(assay, memory(ns))
    for _ in range(3):
        measure(assay, memory(120, driver="2.0"))
    runs, now = lines(assay)
    places = {r["run"]: r["place"] for r in runs if r["name"] == LATENCY}
    expect([r for r, place in places.items() if place != "steady"] == [4, 7], "two of nine", places)
    expect(places[4] == "outlier" and places[7] == "changed", "of which kind", places)
    expect(now[LATENCY]["since_run"] == 7 and now[LATENCY]["ratio_ci"][0] > 1.1, "by how much", now[LATENCY])
    steady = {r["place"] for r in runs if r["name"] == "clock.core"}
    expect(steady == {"steady"}, "the clock is steady", runs)
    table = list(csv.DictReader(io.StringIO(assay.run("history", LATENCY, "--csv").out)))
    expect([row["run"] for row in table] == [str(n) for n in range(1, 10)], "as a table", table)
    expect([row["run"] for row in table if row["recorded"].startswith("driver")] == ["7"], "once", table)
    expect(table[6]["place"] == "changed" and table[6]["recorded"] == "driver of null 1.0, then 2.0", "named", table[6])
    text = assay.run("history").out
    expect("driver of null 1.0, then 2.0" in text and "Memory latency of null in run 4" in text, "in words", text)
    by_line = assay.run("history", "Memory", "latency")
    expect(by_line.out == assay.run("history", LATENCY).out, "a line by its words", by_line)


def test_history_needs_runs(assay):
    """Two runs show no change, and are not said to show that there is none."""
    for runs in (1, 2, 3):
        measure(assay, memory(100))
        all_lines, one = assay.run("history").out, assay.run("history", LATENCY).out
        few = "few runs to detect a change (3 are needed)"
        expect((few in all_lines, few in one) == (runs < 3, runs < 3), f"{runs} runs", (all_lines, one))
        expect(("No line changed" in all_lines) == (runs == 3), f"{runs} runs", all_lines)


def test_history_of_incomplete_runs(assay):
    """A store without a complete run is refused like one without any."""
    sample = os.path.join(os.path.dirname(__file__), "..", "..", "samples", "h200-upm.db")
    expect_refused(assay.run("history", "--store", sample), USAGE, "h200-upm.db' has no complete run")


def test_main_results_of_a_small_run(assay):
    """A run of one small probe is printed whole, so its results stand there; the machine's view has them as main results."""
    levels = [{"size": 32 << 10, "ns": 1.5, "gbs": 90}, {"size": 0, "ns": 100, "gbs": 20}]
    measure(assay, memory(100, levels=levels), SUITE.replace("16MiB", "1KiB..64MiB x2"))
    whole, (_, machine) = assay.run("show", "last").out, head(assay)
    expect("\nlatency: " in whole and "Main results" not in whole, "a small run", whole)
    expect("\nMain results\n" in machine, "the machine", machine)


def test_imprecise_lines(assay):
    """Where the runs do not tell where another lies, the line says so, and the sheet says once why."""
    wild = memory(100, noise={"sd": 1.0})
    measure(assay, wild, SUITE, "--trials", "1", "--precision", "100%")
    rows = [line for line in head(assay)[1].splitlines() if "not yet known" in line]
    expect(len(rows) > 1 and rows[-1].startswith("not yet known: too few trials"), "once", head(assay)[1])
    now = lines(assay)[1]
    expect(any(x["another_run"][1] > 4 * x["another_run"][0] for x in now.values()), "numbers keep the interval", now)


def test_neighbour_in_history(assay):
    """A run beside another process on the device is named by it."""
    quiet = memory(100, sensor={"users": 0})
    for script in (quiet, quiet, quiet, memory(150, sensor={"users": 1}), quiet, quiet):
        measure(assay, script)
    runs, _ = lines(assay, LATENCY)
    odd = [r for r in runs if r["place"] != "steady"]
    expect([r["run"] for r in odd] == [4] and "another process on null" in odd[0]["recorded"], "named", runs)


def sheet(assay):
    """The machine's sheet as JSON, by name of its lines."""
    done = assay.run("--json")
    expect(done.code == OK, "the machine as JSON", done)
    return {line["name"]: line for device in json.loads(done.out)["devices"] for line in device["lines"]}


def test_one_number(assay):
    """Sheet and history have one number of a line, whatever other lines of its group do."""
    for ns in (100, 100.05, 70, 100, 130):
        measure(assay, memory(ns), BASE_PAGES if ns in (70, 130) else SUITE)
        now, joined = lines(assay)[1], sheet(assay)
        expect(joined.keys() == now.keys(), "the same lines", (joined, now))
        for name, line in joined.items():
            expect(line["value"] in (now[name]["now"], None), "the same value", (line, now[name]))
            expect([line["ci_low"], line["ci_high"]] == now[name]["now_ci"], "and interval", (line, now[name]))
            expect([line["another_low"], line["another_high"]] == now[name]["another_run"], "for another run too", (line, now[name]))


def test_two_states(assay):
    """A line that goes to and fro has two states in every view."""
    for ns in (100, 390, 100, 101, 390, 100):
        measure(assay, memory(ns))
    runs, now = lines(assay, LATENCY)
    expect({r["place"] for r in runs} == {"steady"}, "no run is alone", runs)
    states = now[LATENCY]["states"]
    expect([state["runs"] for state in states] == [4, 2] and now[LATENCY]["now"] is None, "two states", now)
    expect(sheet(assay)[LATENCY]["states"] == [state["value"] for state in states], "on the sheet too", sheet(assay))
    for text in (head(assay)[1], assay.run("history").out):
        expect(" or 39" in text and "outlier" not in text, "in words", text)


def test_run_that_fits(assay):
    """Without a run, commands take the last that has what they need, and name it."""
    measure(assay, memory(100))
    done = assay.null(memory(100), "launch", "--quiet", "--trials", "1", "--precision", "100%")
    expect(done.code == OK, "a run of one probe", done)
    done = assay.run("show", "latency")
    expect(done.code == OK and "latency" in done.out and "run 1 (" in done.err, "that has the probe", done)
    for words in (["facts", "--json"], ["advise", "--json"], ["check", "--against", "1", "--json"]):
        done = assay.run(*words)
        expect(done.code == OK and "run 1 (" in done.err, "of a suite", done)


def test_impossible_run(assay):
    """What cannot be measured is refused, and leaves no run."""
    measure(assay, memory(100))
    done = assay.null(memory(100), "latency", "--set", "size=64TiB", "--quiet")
    expect(done.code == USAGE and "is possible here" in done.err, "refused", done)
    expect(len(assay.run("list", "runs", "--json").out.splitlines()) == 1, "and not stored", done)


def test_history_of_nothing(assay):
    expect_refused(assay.run("history"), USAGE, "no store")
    measure(assay, memory(100))
    expect_refused(assay.run("history", "memory.latncy"), USAGE, "memory.latency")
    expect_refused(assay.run("history", BASE), USAGE, BASE)
    expect_refused(assay.run("history", LATENCY, "--json", "--csv"), USAGE, "exclude each other")
    expect_refused(assay.run("history", LATENCY, "--device", "cuda:0"), USAGE, "cuda:0")


def check(assay, script, *more):
    """Four runs at 100 ns are the base."""
    against = [word for run in range(1, 5) for word in ("--against", str(run))]
    return assay.run("check", *against, "--tolerance", "2%", "--json", *more, env=assay.script(script))


def based(assay):
    for _ in range(4):
        measure(assay, memory(100))


def verdict(done, name="latency"):
    found = [json.loads(text) for text in done.out.splitlines()]
    return [x for x in found if x.get("quantity") == name][0], found[-1]


def test_neighbour_of_the_first_run(assay):
    """What slowed down the checked run alone is not worse."""
    based(assay)
    measure(assay, memory(120))
    done = check(assay, memory(100), "--no-measure")
    expect(done.code == OK and verdict(done)[0]["looks_worse"], "it looks worse", done)
    done = check(assay, memory(100))
    line, summary = verdict(done)
    expect("looks_worse" not in line, "and no longer does", done)
    expect(done.code == OK and line["verdict"] != "worse" and line["measured_again"], "measured again, it is not", done)
    expect(summary["measured_again_in_run"] == 6 and summary["worse"] == 0, "in a run of its own", summary)
    expect({c["probe"] for c in assay.cells(6)} == {"latency"}, "of the cells of that line", assay.cells(6))
    expect(assay.run("show", "last").out.startswith("Run 5:"), "which is not the last one to look at")
    expect(", the last run 5" in head(assay)[0] and ": 5 runs and 1 repeat of some measurements since" in head(assay)[0],
           "but a repeat of the machine", head(assay)[0])


def test_slowdown_that_stays(assay):
    """5% slower, and 5% slower again: worse."""
    based(assay)
    measure(assay, memory(105))
    done = check(assay, memory(105))
    line, summary = verdict(done)
    expect(done.code == REGRESSION and line["verdict"] == "worse" and line["measured_again"], "it stays worse", done)
    expect(summary["measured_again_in_run"] == 6, "measured again", summary)


def test_neighbour_on_the_device(assay):
    """What another process slows down, in the run and again, is inconclusive."""
    based(assay)
    busy = memory(120, sensor={"users": 1})
    measure(assay, busy)
    done = check(assay, busy)
    line, _ = verdict(done)
    expect(done.code == OK and line["verdict"] == "inconclusive", "not worse", done)


def runs_of(assay):
    return len(assay.run("list", "runs", "--json").out.splitlines())


def test_repeat_is_kept(assay):
    """What a repeat said of a run holds whenever that run is checked, and nothing is measured for it."""
    based(assay)
    for ns, again, code, word in ((120, 100, OK, "inconclusive"), (105, 105, REGRESSION, "worse")):
        measure(assay, memory(ns))
        number = str(runs_of(assay))
        expect(check(assay, memory(again)).code == code, f"{ns} ns, then {again} ns")
        measure(assay, memory(100))
        before = runs_of(assay)
        for words in ((number,), (number, "--no-measure"), (assay.store + ":" + number,)):
            done = check(assay, memory(100), *words)
            line, summary = verdict(done)
            expect(done.code == code and line["verdict"] == word and line["measured_again"], f"{ns} ns later", done)
            expect("looks_worse" not in line and summary["measured_again_in_run"] == int(number) + 1, "by its repeat", done)
        expect(runs_of(assay) == before, "no new run")


def test_disturbed_repeat_is_kept(assay):
    """So is what disturbed a repeat; while the run is the last one, it is repeated once more."""
    based(assay)
    busy = memory(120, sensor={"users": 1})
    measure(assay, busy)
    for _ in range(2):
        expect(verdict(check(assay, busy))[0]["looks_worse"], "disturbed")
    expect(runs_of(assay) == 7, "each check repeats it")
    measure(assay, memory(100))
    done = check(assay, memory(100), "5")
    line, _ = verdict(done)
    expect(done.code == OK and line["looks_worse"] and "another process" in line["reason"], "as it was", done)


def test_two_runs(assay):
    """Two runs that agree need no repeat; where they do not agree, nothing is worse."""
    based(assay)
    for ns in (105, 105, 100):
        measure(assay, memory(ns))
    expect(check(assay, memory(100), "5", "6").code == REGRESSION, "both slower")
    expect(check(assay, memory(100), "5", "7").code == OK, "one of them slower")


def test_not_measured_again(assay):
    """What is not this machine's last run, and was not repeated, looks worse at most, and it is said why."""
    based(assay)
    measure(assay, memory(120))
    measure(assay, memory(100))
    done = check(assay, memory(100), "5")
    line, summary = verdict(done)
    expect(done.code == OK and line["looks_worse"] and "measured_again" not in line, "not worse", done)
    expect("not the last run" in summary["not_measured_again"] and summary["looks_worse"] == 1, "and why", summary)
    text = assay.run("check", "--against", "1", "5", "--tolerance", "2%", "--summary", "s.md", "--junit", "s.xml")
    expect("looks worse" in text.out and "no line confirmed worse" in text.out, "in words", text)
    for name in ("s.md", "s.xml"):
        with open(assay.path(name), encoding="utf-8") as f:
            expect("looks worse" in f.read(), name)
    measure(assay, memory(120, driver="3.0"))
    exported = assay.run("export", "--format", "sheet", "-o", "last.json")
    expect(exported.code == OK, "exported", exported)
    other = memory(100)
    other["info"] = dict(other["info"], name="another device")
    done = check(assay, other)
    _, summary = verdict(done)
    expect(done.code == OK and "another device" in summary["not_measured_again"], "another device", done)


def test_benchmark_of_check(assay):
    """It reads what check prints: lines 5% worse in a sample drawn anew, of which those known within 1% are found."""
    bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "bench.py")
    done = subprocess.run([sys.executable, bench, "--assay", assay.program, "planted", "--trials", "4"], env=assay.env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.PATIENCE, check=False)
    found = re.search(r"3 runs against 9: lines known within 1% +([0-9]+)% of ([0-9]+)", done.stdout)
    expect(done.returncode == 0 and found and int(found.group(2)) > 2 and int(found.group(1)) > 50, "planted lines are found", done)


def test_ten_runs(assay):
    """Each of ten runs, five of them slowed down from beside, against the others: none fails. A loss of 5% does."""
    slowed = (None, 1.3, None, 1.05, None, 2.0, None, 1.1, None, 1.5)
    for factor in slowed:
        measure(assay, memory(100 * (factor or 1)))
    compared = 0
    for run in range(1, 11):
        others = [word for k in range(1, 11) if k != run for word in ("--against", str(k))]
        for base in (others, ["--against", "1"]):
            done = assay.run("check", *base, str(run), "--json")
            found = [x for x in map(json.loads, done.out.splitlines()) if "quantity" in x]
            expect(done.code == OK and not [x for x in found if x["verdict"] == "worse"], f"run {run}", done)
            compared += len(found)
    expect(compared >= 40, "lines were compared", compared)
    quiet = [word for k in range(1, 11) if not slowed[k - 1] for word in ("--against", str(k))]
    for _ in range(5):
        measure(assay, memory(105))
        done = assay.run("check", *quiet, "--tolerance", "2%", "--json", env=assay.script(memory(105)))
        expect(done.code == REGRESSION and verdict(done)[0]["verdict"] == "worse", "5% slower, and again", done)


if __name__ == "__main__":
    harness.main(globals())
