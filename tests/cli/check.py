"""The files of 'assay check': JUnit and Markdown, and a data sheet as the base. Arguments: the programs assay, cell_key."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import fixture

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import prometheus  # noqa: E402  (in tests/)

PROGRAM, CELL_KEY = (os.path.abspath(p) for p in sys.argv[1:3])


def run(folder, *args):
    env = dict({k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "XDG_"))}, HOME=folder, LC_ALL="C",
               ASSAY_STORE=os.path.join(folder, "store.db"))
    return subprocess.run([PROGRAM, *args], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)


def assay(folder, *args, code=0):
    done = run(folder, *args)
    assert done.returncode == code, f"{args}: exit {done.returncode}: {done.stderr}"
    return done.stdout


def path_of(folder, name):
    return os.path.join(folder, name)


def test_junit(folder):
    """A failure for each line that is worse, and the counts agree."""
    printed = assay(folder, "check", "--against", "1", "2", "3", "--junit", "check.xml", "--json", code=3)
    worse = [line for line in map(json.loads, printed.splitlines()) if line.get("verdict") == "worse"]
    end = json.loads(printed.splitlines()[-1])
    assert end["verdict"] == "fail" and end["host"], end
    suite = xml.parse(path_of(folder, "check.xml")).getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) > 0
    assert len(suite.findall("testcase/failure")) == int(suite.get("failures")) == len(worse) > 0
    assert "ratio 1.2" in suite.find("testcase/failure").get("message"), suite.find("testcase/failure").get("message")


def test_summary(folder):
    """The summary is appended, as CI systems expect, and its rows have as many cells as the head."""
    for _ in range(2):
        assay(folder, "check", "--against", "1", "2", "3", "--summary", "summary.md", code=3)
    with open(path_of(folder, "summary.md"), encoding="utf-8") as f:
        text = f.read()
    assert text.count("### ") == 2 and "assay check: worse: " in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows and all(row.replace("\\|", "").count("|") == 7 for row in rows), rows


def metrics_of(folder, name, family):
    return [(labels, value) for of, labels, value in prometheus.read(path_of(folder, name)) if of == family]


def verdict_of(folder, name, node):
    return [labels["verdict"] for labels, value in metrics_of(folder, name, "assay_check_verdict") if value == 1 and labels["node"] == node]


def test_prometheus(folder):
    """The verdicts, ratios and numbers of --json, line by line."""
    printed = assay(folder, "check", "--against", "1", "2", "3", "--prometheus", "check.prom", "--json", code=3)
    *lines, end = map(json.loads, printed.splitlines())
    ratios, values = (metrics_of(folder, "check.prom", f"assay_check_{what}") for what in ("ratio", "value"))
    states = [line["verdict"] for line in lines]
    assert [labels["state"] for labels, _ in ratios] == states and "worse" in states, (ratios, states)
    for line, (labels, ratio) in zip(lines, ratios):
        assert labels["device"] == line["device"] and labels["line"] == f"{line['group']} {line['quantity']}", (line, labels)
        assert labels["node"] == end["host"] and labels["severity"] == "fail" and labels["quantity"], labels
        assert abs(ratio / line["ratio"] - 1) < 1e-5 if line["ratio"] else ratio != ratio, (line, ratio)
    checked = [line["checked"] for line in lines if line["checked"] is not None]
    assert len(values) == len(checked) > 0 and all(abs(v / c - 1) < 1e-5 for (_, v), c in zip(values, checked)), (values, checked)
    assert verdict_of(folder, "check.prom", end["host"]) == ["fail"]
    for name in ("check.prom", "other.prom"):
        assay(folder, "check", "--against", "1", "1", "--prometheus", name)
        assert verdict_of(folder, name, "anvil") == ["pass"]
    assert "--prometheus needs a file name" in run(folder, "check", "--against", "1", "1", "--prometheus", "-").stderr


def test_base_is_a_sheet(folder):
    """An exported data sheet says the same as the run that it is of."""
    assay(folder, "export", "1", "--format", "sheet", "-o", "base.json")
    of_run = assay(folder, "check", "--against", "1", "2", "3", "--json", code=3)
    assert assay(folder, "check", "--against", "base.json", "2", "3", "--json", code=3) == of_run
    assay(folder, "check", "--against", "base.json", "1")


def test_several(folder):
    """Where the base has both runs, neither is worse."""
    assert "no line is worse" in assay(folder, "check", "--against", "1", "--against", "2", "2")


def changed_sheet(folder, name, change):
    """A copy of base.json after change(sheet)."""
    with open(path_of(folder, "base.json"), encoding="utf-8") as f:
        sheet = json.load(f)
    change(sheet)
    with open(path_of(folder, name), "w", encoding="utf-8") as f:
        json.dump(sheet, f)


def add_line(sheet):
    sheet["devices"][0]["lines"].append(dict(sheet["devices"][0]["lines"][0], group="Launch", quantity="launch + sync", unit="ns"))


def test_missing(folder):
    """A line that the run lacks is a failure, named with the reason, unless it is allowed."""
    changed_sheet(folder, "more.json", add_line)
    missing = ("check", "--against", "more.json", "1")
    printed = assay(folder, *missing, "--junit", "m.xml", "--summary", "m.md", code=3)
    assert "missing: cpu, Launch, launch + sync: not in this suite" in printed, printed
    assert "incomplete" in printed and "1 line of the base missing" in printed, printed
    assert "not in this suite" in xml.parse(path_of(folder, "m.xml")).getroot().find(".//error").get("message")
    with open(path_of(folder, "m.md"), encoding="utf-8") as f:
        assert "not in this suite" in f.read()
    allowed = assay(folder, *missing, "--allow-missing", "--junit", "m.xml", "--summary", "allowed.md")
    with open(path_of(folder, "allowed.md"), encoding="utf-8") as f:
        assert "### ⚠️" in f.read()  # what was not compared is no success
    assert "missing: cpu, Launch, launch + sync" in allowed and "incomplete" not in allowed, allowed
    assert not xml.parse(path_of(folder, "m.xml")).getroot().findall(".//error")
    reasons = [json.loads(line).get("reason") for line in assay(folder, *missing, "--json", code=3).splitlines()]
    assert reasons.count("not in this suite") == 1, reasons


def test_missing_device(folder):
    """So is a device without a number, and nearly all lines are too."""
    changed_sheet(folder, "two-devices.json", lambda s: s["devices"].append(dict(s["devices"][0], id="cuda:0")))
    assert "missing: cuda:0, Clock, core: the device was not measured" in assay(
        folder, "check", "--against", "two-devices.json", "1", code=3)
    changed_sheet(folder, "few.json", lambda s: s["devices"][0].update(lines=s["devices"][0]["lines"][:1]))
    assay(folder, "check", "--against", "1", "few.json", code=3)
    assay(folder, "check", "--against", "1", "few.json", "--allow-missing")


def test_damaged(folder):
    """A damaged sheet is refused on either side, and the line is named; it decides nothing."""
    def line(**changes):
        def change(sheet):
            target = sheet["devices"][0]["lines"][1]
            for member, value in changes.items():
                target.pop(member)
                if value is not ...:
                    target[member] = value
        return change

    def twice(sheet):
        sheet["devices"][0]["lines"].append(sheet["devices"][0]["lines"][1])

    for change in (line(value="110"), line(value=...), line(value=None), line(value=0), line(group="L33"), line(quantity="latncy"),
                   line(unit="GB/s"), line(unit=""), line(ci_low=1e9), line(ci_low=0, ci_high=1), line(ci_high=None), twice):
        changed_sheet(folder, "damaged.json", change)
        for args in (("--against", "damaged.json", "1"), ("--against", "1", "damaged.json"),
                     ("--against", "damaged.json", "1", "--allow-missing", "--junit", "none.xml")):
            done = run(folder, "check", *args)
            assert done.returncode == 2 and not done.stdout, f"{args}: exit {done.returncode}: {done.stdout}"
            assert "damaged.json: device 'cpu', line " in done.stderr, done.stderr
    assert not os.path.exists(path_of(folder, "none.xml"))


def test_own_sheets(folder):
    """Every sheet of the samples can be read again."""
    samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples")
    stores = sorted(n for n in os.listdir(samples) if n.endswith(".db"))
    assert stores
    for store in stores:
        assay(folder, "export", "--format", "sheet", "-o", "own.json", "--store", os.path.join(samples, store))
        done = run(folder, "check", "--against", "own.json", os.path.join(samples, store))
        assert done.returncode == 0 or "nothing to check" in done.stderr, f"{store}: {done.stderr}"


def test_hostile_name(folder):
    """Text from a file reaches neither the terminal nor a page as it is."""
    with open(path_of(folder, "base.json"), encoding="utf-8") as f:
        sheet = json.load(f)
    sheet["host"] = fixture.HOSTILE
    for device in sheet["devices"]:
        device["name"] = fixture.HOSTILE
        device["lines"][0]["further"] = "a|b" + fixture.HOSTILE
    with open(path_of(folder, "odd|.json"), "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    printed = assay(folder, "check", "--against", "odd|.json", "1", "--junit", "odd.xml", "--summary", "odd.md")
    assert "\x1b" not in printed
    xml.parse(path_of(folder, "odd.xml"))
    with open(path_of(folder, "odd.md"), encoding="utf-8") as f:
        text = f.read()
    assert "<script" not in text and "odd\\|.json" in text and "\x1b" not in text
    sheet["host"] = 'a"} 1\nb\\'
    with open(path_of(folder, "node.json"), "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    assay(folder, "check", "--against", "1", "node.json", "--prometheus", "node.prom")
    assert verdict_of(folder, "node.prom", sheet["host"]) == ["pass"]


def test_built_in(folder):
    """The machines that are built in can be read; a run of another device has nothing in common with them."""
    for name in ("h100", "h200"):
        done = assay(folder, "check", "--against", name, "1", code=2)
        assert not done


def write_policy(folder, *lines, device="cpu"):
    with open(path_of(folder, "policy.ini"), "w", encoding="utf-8") as f:
        f.write("\n".join([f"[{device}]", *lines, ""]))
    return "check", "--policy", "policy.ini"


def bounded(folder):
    """A line of run 1 that is a time: its name and value."""
    sheet = json.loads(assay(folder, "export", "1", "--format", "sheet"))
    return next((x["name"], x["value"]) for x in sheet["devices"][0]["lines"] if x["unit"] == "ns" and x["value"])


def test_policy(folder):
    """A bound is met, not met by two runs, inconclusive or missing, and what warns fails nothing."""
    name, value = bounded(folder)
    for factor, severity, checked, verdict, code in (
            (1.1, "", ["1"], "met", 0), (1.1, "", ["2", "three.json"], "not met", 3), (1.1, "", ["2"], "inconclusive", 0),
            (1.1, ", warn", ["2", "three.json"], "not met", 0), (1, "", ["1"], "inconclusive", 0),
            (1.1, ", fail", ["2", "three.json"], "not met", 3)):
        ask = write_policy(folder, f"{name} <= {factor * value:.9g} ns{severity}")
        *lines, end = map(json.loads, assay(folder, *ask, *checked, "--json", "--junit", "p.xml", "--prometheus", "p.prom", code=code).splitlines())
        (labels, _), = metrics_of(folder, "p.prom", "assay_check_ratio")
        assert labels["severity"] == (severity[2:] or "fail") and labels["state"].startswith(verdict if verdict != "inconclusive" else ""), labels
        assert [line["verdict"] for line in lines] == [verdict], (lines, factor)
        assert end["verdict"] == ("fail" if code else "unconfirmed" if end.get("looks_worse") else "pass") and end["host"], end
        assert end[verdict.replace(" ", "_")] == 1 and end.get("warned", 0) == (verdict == "not met" and code == 0), end
        failures = xml.parse(path_of(folder, "p.xml")).getroot().findall(".//failure")
        assert len(failures) == (code == 3), failures
    printed = assay(folder, *ask, "2", "three.json", "--summary", "p.md", code=3)
    assert "policy: policy.ini" in printed and "not met: 1 of 1 bound" in printed, printed


def test_policy_of_nodes(folder):
    """fleet show checks the store of each node: the verdicts, test cases and exit status of check, node by node."""
    name, value = bounded(folder)
    for store, runs in (("sound.db", ["one.json"]), ("slow.db", ["two.json", "three.json"]), ("once.db", ["two.json"])):
        for run_of in runs:
            assay(folder, "import", run_of, "--store", store)
    ask = ["fleet", "show", *write_policy(folder, f"{name} <= {1.1 * value:.9g} ns", device="cpu")[1:], "--junit", "nodes.xml", "--prometheus", "nodes.prom"]

    def nodes(*stores, code):
        return [json.loads(line) for line in assay(folder, *ask, "--json", *stores, code=code).splitlines()]

    of = nodes("sound.db", "slow.db", "once.db", "absent.db", code=3)
    assert [v["verdict"] for v in of] == ["pass", "fail", "unconfirmed", "unknown"], of
    assert of[0]["node"] == "anvil" and not of[0]["bounds"] and of[1]["bounds"][0]["quantity"] == name, of
    suites = xml.parse(path_of(folder, "nodes.xml")).getroot().findall("testsuite")
    assert [(s.get("name"), s.get("failures"), s.get("errors")) for s in suites[:2]] == [("anvil", "0", "0"), ("bellows", "1", "0")], of
    assert [len(s.findall("testcase")) for s in suites] == [int(s.get("tests")) for s in suites] and suites[3].get("errors") == "1"
    verdicts = [(labels["node"], labels["verdict"]) for labels, value in metrics_of(folder, "nodes.prom", "assay_check_verdict") if value]
    assert verdicts == [(v["node"], v["verdict"]) for v in of], verdicts
    states = {labels["node"]: labels["state"] for labels, _ in metrics_of(folder, "nodes.prom", "assay_check_ratio")}
    assert list(states.values()) == ["met", "not met", "not met in one run"], states
    of = [json.loads(line) for line in assay(folder, *ask, "--json", "--all", "sound.db", "slow.db", "once.db", code=3).splitlines()]
    assert [(b["device"], b["quantity"], b["verdict"]) for v in of for b in v["bounds"]] == [("cpu", name, v) for v in ("met", "not met", "inconclusive")], of
    assert of[2]["bounds"][0]["looks_worse"] and of[2]["bounds"][0]["reason"] and "looks_worse" not in of[1]["bounds"][0], of
    assert ", met" in assay(folder, *ask, "--all", "sound.db"), "in words"
    nodes("sound.db", code=0)
    nodes("sound.db", "absent.db", code=4)
    nodes("absent.db", code=1)
    printed = assay(folder, *ask, "slow.db", code=3)
    assert "! bellows: not met: 1 of 1 bound" in printed, printed
    assay(folder, *ask, "sound.db", "--page", "x.html", code=2)
    absent = write_policy(folder, "memory.read.all >= 1 GB/s", device="cuda:*")[1:]
    of = json.loads(assay(folder, "fleet", "show", *absent, "--json", "sound.db", code=3))
    assert of["verdict"] == "incomplete", of


def test_policy_units(folder):
    """A bound may have any prefix, devices a pattern, and the last line that fits counts."""
    name, value = bounded(folder)
    for bound in (f"{1.1 * value:.9g}ns", f"{1.1e-3 * value:.9g} us", f"{1.1e-3 * value:.9g} µs", f"{1.1e-9 * value:.9g} s"):
        printed = json.loads(assay(folder, *write_policy(folder, f"{name} <= {bound}", device="c*"), "1", "--json").splitlines()[0])
        assert printed["verdict"] == "met" and abs(printed["bound"] / value - 1.1) < 1e-6, printed
    ask = write_policy(folder, f"  {name} <= 1e-3 ns", f"\t{name} <= {1.2 * value:.9g} ns, warn")
    assert "1 of 1 bound met" in assay(folder, *ask, "1"), "lines may begin with blanks"
    ask = write_policy(folder, f"{name} <= 1e-3 ns", "[cpu]", f"{name} <= {1.1 * value:.9g} ns", device="*")
    assert "1 of 1 bound met" in assay(folder, *ask, "1")


def test_policy_without_numbers(folder):
    """What was not measured fails, except lines that only warn and, with --allow-missing, lines of a device that has other numbers."""
    for lines, device in ((["memory.read.all >= 1 GB/s"], "cuda:*"), (["launch.wait <= 1 us"], "cpu")):
        printed = assay(folder, *write_policy(folder, *lines, device=device), "1", code=3)
        assert "missing: " in printed and "1 not measured" in printed, printed
        end = assay(folder, *write_policy(folder, *lines, device=device), "1", "--json", code=3).splitlines()[-1]
        assert json.loads(end)["verdict"] == "incomplete", end
        assay(folder, *write_policy(folder, *lines, device=device), "1", "--allow-missing", code=3 if device == "cuda:*" else 0)
        assay(folder, *write_policy(folder, lines[0] + ", warn", device=device), "1")


def gpus(folder, n, dead=()):
    """A data sheet of n GPUs, and of the CPU; no line of those in dead has a number."""
    sheet = json.loads(assay(folder, "export", "1", "--format", "sheet"))
    cpu = sheet["devices"][0]
    sheet["devices"] = [cpu] + [dict(cpu, id=f"cuda:{i}", lines=[] if i in dead else cpu["lines"]) for i in range(n)]
    name = f"gpus{n}{'dead' if dead else ''}.sheet"
    with open(path_of(folder, name), "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    return name


def test_lost_device(folder):
    """A GPU without any number fails the check, also where lines may be missing; a CPU that was not asked for does not."""
    all_of_it, fewer, dead = gpus(folder, 3), gpus(folder, 2), gpus(folder, 3, dead=(1,))
    for now, lost in ((fewer, "cuda:2"), (dead, "cuda:1")):
        for more in ([], ["--allow-missing"]):
            printed = assay(folder, "check", "--against", all_of_it, now, *more, code=3)
            assert f"no number for {lost}" in printed, printed
    assay(folder, "check", "--against", all_of_it, now, "--allow-missing", "--junit", "lost.xml", code=3)
    suite = xml.parse(path_of(folder, "lost.xml")).getroot()[0]
    assert int(suite.get("errors")) == len(suite.findall(".//error")) > 0, suite.attrib
    with open(path_of(folder, fewer), encoding="utf-8") as f:
        sheet = json.load(f)
    with open(path_of(folder, "nocpu.sheet"), "w", encoding="utf-8") as f:
        json.dump(dict(sheet, devices=sheet["devices"][1:]), f)
    assay(folder, "check", "--against", fewer, "nocpu.sheet", "--allow-missing")


def test_policy_counts_devices(folder):
    """As many devices as the policy says must have numbers."""
    name, value = bounded(folder)
    bound = f"{name} <= {1.1 * value:.9g} ns"
    for now, code in ((gpus(folder, 3), 0), (gpus(folder, 2), 3), (gpus(folder, 3, dead=(1,)), 3)):
        printed = assay(folder, *write_policy(folder, bound, "devices >= 3", device="cuda:*"), now, code=code)
        assert ("missing: cuda:" in printed) == (code == 3), printed
    assay(folder, *write_policy(folder, bound + ", warn", "devices >= 3", device="cuda:*"), gpus(folder, 2), code=3)
    for lines, device, why in (([bound, "devices >= 0"], "cuda:*", "not a number of devices from 1 to 64"), ([bound, "devices >= x"], "cuda:*", "not a number"),
                               ([bound, "devices >= 2"], "cuda:0", "such as [cuda:*]"), ([bound, "devices <= 2"], "cuda:*", "write 'devices >= NUMBER'"),
                               (["devices >= 2", "[cpu]", bound], "cuda:*", "needs a bound for the same devices")):
        done = run(folder, *write_policy(folder, *lines, device=device), gpus(folder, 2))
        assert done.returncode == 2 and why in done.stderr, f"{lines}: exit {done.returncode}: {done.stderr}"


def test_policy_counts_replays(folder):
    """A counter of a link may rise by so much; one that nothing read is missing."""
    name, value = bounded(folder)
    bound = f"{name} <= {1.1 * value:.9g} ns"
    with open(path_of(folder, gpus(folder, 2)), encoding="utf-8") as f:
        sheet = json.load(f)
    sheet["devices"][-1]["counters"] = [{"name": "host_link.replays", "total": 9, "grown": 3}, {"name": "of.later.versions", "total": 1, "grown": 1}]
    device = sheet["devices"][-1]["id"]
    with open(path_of(folder, "counted.sheet"), "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    for most, code in (("3", 0), ("2", 3), ("2, warn", 0)):
        printed = assay(folder, *write_policy(folder, bound, f"host_link.replays <= {most}", device=device), "counted.sheet", code=code)
        assert re.search(f"PCIe replays +{most[0]} events +3 events +{'met' if most == '3' else 'not met'}", printed), printed
    assert "missing" in assay(folder, *write_policy(folder, bound, "peer.errors <= 0", device=device), "counted.sheet", code=3)
    for line, why in (("host_link.replays <= x", "write a count"), ("host_link.replays <= -1", "write a count"), ("host_link.replays <= 3 GB/s", "write a count"),
                      ("host_link.replays <= 1, never", "write a count"), ("host_link.replays >= 1", "lower is better"), ("host_link.replay <= 1", "no line")):
        done = run(folder, *write_policy(folder, line, device=device), "counted.sheet")
        assert done.returncode == 2 and why in done.stderr, f"{line}: exit {done.returncode}: {done.stderr}"
    for wrong in ("x", [{"name": "host_link.replays", "total": -1, "grown": 0}], [{"total": 1, "grown": 1}]):
        sheet["devices"][-1]["counters"] = wrong
        with open(path_of(folder, "wrong.sheet"), "w", encoding="utf-8") as f:
            json.dump(sheet, f)
        done = run(folder, *write_policy(folder, bound, device=device), "wrong.sheet")
        assert done.returncode == 2 and "counter" in done.stderr, done.stderr


def test_policy_of_many_devices(folder):
    """Every device that a pattern fits must have the line."""
    sheet = json.loads(assay(folder, "export", "1", "--format", "sheet"))
    name, value = bounded(folder)
    sheet["devices"] = [dict(sheet["devices"][0], id=f"cuda:{i}") for i in range(2)]
    sheet["devices"][1]["lines"] = [x for x in sheet["devices"][1]["lines"] if x["name"] != name]
    with open(path_of(folder, "two.sheet"), "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    printed = assay(folder, *write_policy(folder, f"{name} <= {1.1 * value:.9g} ns", device="cuda:*"), "two.sheet", code=3)
    assert "1 of 1 bound met; 1 not measured" in printed and "missing: cuda:1" in printed, printed


def test_wrong_policies(folder):
    """Named with the line, and with what to write instead."""
    name, _ = bounded(folder)
    for line, why in ((f"{name} >= 1 ns", "lower is better: write"), (f"{name} <= 1 GB/s", "measured in ns"), (f"{name} <= -1 ns", "not a bound"),
                      (f"{name} <= 1", "not a bound"), (f"{name} <= nan ns", "not a bound"), (f"{name} <= 1 ns, stop", "must be 'warn' or 'fail'"),
                      (f"{name} = 1 ns", "'QUANTITY >= BOUND'"), (f"{name}x <= 1 ns", f"did you mean '{name}'"), ("x" * 300 + " <= 1 ns", "policy"),
                      ("shared.capacity >= 1 KiB", "a capacity range"), ("[", "policy, line 2"), (f"{name} <= 1 ns warn", "not a bound"), (f"{name} <= 1 ns, warn x", "not a bound"),
                      (f"{name} <= 1 ns per load", "not a bound"), (name, "policy, line 2"), ("", "has no line"), (f"[cdua:*]\n{name} <= 1 ns", "did you mean 'cuda'?"),
                      (f"[gpu:*]\n{name} <= 1 ns", "names no API")):
        done = run(folder, *write_policy(folder, line), "1")
        assert done.returncode == 2 and why in done.stderr and "policy.ini" in done.stderr, f"{line}: exit {done.returncode}: {done.stderr}"
    for options in (["--against", "1"], ["--tolerance", "3%"]):
        assert run(folder, *write_policy(folder, f"{name} <= 1 ns"), *options, "1").returncode == 2
    assert "cannot open" in run(folder, "check", "--policy", "no.ini", "1").stderr


def test_report(folder):
    """Reports take runs of any source, and have a usual name."""
    assay(folder, "report", "1", "two.json")
    with open(path_of(folder, "assay-report.html"), encoding="utf-8") as f:
        assert "bellows" in f.read()
    assay(folder, "compare", "1", "two.json", "--report", "both.html")
    with open(path_of(folder, "both.html"), encoding="utf-8") as f:
        text = f.read()
    assert "bellows" in text and "anvil" in text
    assay(folder, "report", "one.json", "two.json", "-o", "both.html")  # each is run 1 of its store
    with open(path_of(folder, "both.html"), encoding="utf-8") as f:
        text = f.read()
    anchors = re.findall(r' id="(c\d+)"', text)
    assert "renumbered on this page" in text and "run 2" in text and len(anchors) == len(set(anchors)) > 0


TESTS = [f for name, f in globals().items() if name.startswith("test_")]


def main():
    failed = 0
    print(f"1..{len(TESTS)}")
    with tempfile.TemporaryDirectory(prefix="assay-check-") as folder:
        for name, run in (("one.json", fixture.run()), ("two.json", fixture.run(1.2, host="bellows")),
                          ("three.json", fixture.run(1.21, host="bellows"))):
            fixture.set_keys(run, CELL_KEY)
            with open(path_of(folder, name), "w", encoding="utf-8") as f:
                json.dump(run, f)
            assay(folder, "import", name)
        for number, test in enumerate(TESTS, 1):
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}")
            except AssertionError as problem:
                failed += 1
                print(f"not ok {number} - {test.__doc__}\n# {problem}")
    sys.exit(1 if failed else 0)


main()
