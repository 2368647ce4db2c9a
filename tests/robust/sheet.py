"""The data sheet beside a scripted device whose copies and calls all differ: each line is of what it names, of nothing
else where that is missing, and a page size or another user of the device is never passed over in silence."""
import html
import json
import re

import harness
from harness import OK, REGRESSION, expect

ALLOCATORS = [{"name": "device"}, {"name": "pinned", "host_access": True, "coherent": True},
              {"name": "managed", "host_access": True, "coherent": True}]
# In GB/s and ns. What the host copies itself is timed by the clock: so slow that only the script explains it.
LINK = {"is_device": True, "info": {"memory_free": 1 << 31, "memory_bytes": 1 << 31, "max_alloc": 1 << 31,
                                    "allocators": ALLOCATORS},
        "copies": [{"from": "pinned", "to": "device", "gbs": 50}, {"from": "device", "to": "pinned", "gbs": 55, "both_gbs": 88},
                   {"from": "host", "to": "device", "gbs": 0.3}],
        "calls": [{"allocator": "device", "alloc_ns": 40e3, "free_ns": 30e3},
                  {"allocator": "pinned", "alloc_ns": 5e6, "free_ns": 2e6},
                  {"allocator": "managed", "alloc_ns": 9e3, "free_ns": 8e3}]}
SUITE = """[suite]
trials = 2
precision = 20%
devices = null
[copy]
grids = quick
[alloc]
grids = quick
"""
LINK_ONLY = """[suite]
trials = 2
precision = 20%
devices = null
[copy]
from = pinned
to = device
how = engine
size = 4KiB,64MiB
"""
CHASE = """[suite]
trials = 2
precision = 20%
devices = null
[latency]
size = 16MiB
allocator = base_pages,huge_pages
"""
CPU = {"execute": True, "info": {"threads": 1, "allocators": [{"name": "malloc"}, {"name": "mmap"}, {"name": "thp"}]}}


def sheet_of(assay, script, text, *more):
    path = assay.path("suite.ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    assay.null(script, path, *more)
    done = assay.run("export", "--format", "sheet")
    device = json.loads(done.out)["devices"][0]
    return ({(x["group"], x["quantity"]): x for x in device["lines"]},
            {(x["group"], x["quantity"]): x["reason"] for x in device["missing"]}, device)


def near(line, value):
    return line and abs(line["value"] / value - 1) < 0.02


def test_directions_and_allocators(assay):
    lines, missing, _ = sheet_of(assay, LINK, SUITE)
    for name, value in (("to device", 50), ("from device", 55), ("bidirectional", 88)):
        expect(near(lines.get(("Host link", name)), value), f"{name}: {value} GB/s", lines)
    slow = lines["Host link", "to device"]["further"].split()
    expect(slow[0] == "pageable" and slow[2] == "MB/s" and float(slow[1]) <= 306, "slow from pageable memory", slow)
    for name, allocate, free in (("device", 40e3, "30.0 us"), ("pinned", 5e6, "2.00 ms"), ("managed", 9e3, "8.00 us")):
        line = lines.get(("Allocate 16 MiB", name))
        expect(near(line, allocate), f"allocating {name} memory", line)
        expect(line["further"].replace("µ", "u") == "free " + free, f"freeing {name} memory", line)
    expect(missing["Interference", "CPU chase, worst"] == "not in this suite", "what is not in the suite", missing)


def test_nothing_in_place_of_what_is_missing(assay):
    """A copy of 4 KiB from the same memory is valid, and is no copy of 64 MiB."""
    wrong = dict(LINK, faults=[{"kernel": "copy", "min_footprint": 1 << 27, "do": "wrong"}])
    lines, missing, _ = sheet_of(assay, wrong, LINK_ONLY)
    expect(("Host link", "to device") not in lines, "no number", lines)
    expect(missing["Host link", "to device"] == "rejected: checksum", "and why", missing)
    shown = assay.run("show", "last").out
    expect("rejected: checksum" in shown, "the terminal says it too", shown)


def test_pages(assay):
    lines, missing, _ = sheet_of(assay, CPU, CHASE)
    expect({("Memory", "latency"), ("Memory", "latency, base pages")} <= set(lines), "two lines", missing)
    expect("huge pages" in lines["Memory", "latency"]["further"], "which say their pages", lines)
    lines, missing, _ = sheet_of(assay, dict(CPU, huge_page=4096), CHASE)
    expect(("Memory", "latency") not in lines, "no latency on base pages under this name", lines)
    expect(missing["Memory", "latency"].startswith("unsupported: "), "but the reason", missing)
    expect(("Memory", "latency, base pages") in lines, "the other stays", missing)


def test_other_users(assay):
    """A process that keeps the device busy in every trial: said above the lines, and no interval counts as narrow."""
    sensor = {"users": 1, "throttle": "power cap"}
    lines, _, device = sheet_of(assay, dict(LINK, sensor=sensor), LINK_ONLY)
    seen = {s["what"]: (s["trials"], s["of"]) for s in device["seen"]}
    expect(set(seen) == {"another process", "power cap"}, "both are said", seen)
    expect(all(trials == of > 0 for trials, of in seen.values()), "of every trial", seen)
    expect(all(x["wide"] for x in lines.values() if x["unit"] != "Hz"), "no line is as narrow as asked", lines)
    shown = assay.run("show", "last").out
    expect("another process in " in shown and "power cap in " in shown, "the terminal says it", shown)
    cells = [c for c in assay.cells() if c["status"] == "wide"]
    expect(cells and all("contention, clock" in c["causes"] for c in cells), "why", cells[:1])
    expect("another process on the device in " in cells[0]["reason"], "in words", cells[0]["reason"])
    _, _, device = sheet_of(assay, dict(LINK, sensor={"users": 0, "throttle": "none"}), LINK_ONLY)
    expect(device["seen"] == [], "nothing where nobody is", device["seen"])


def test_unsteady(assay):
    """A line that an earlier run of the same machine contradicts says so; one that agrees does not."""
    sheet_of(assay, LINK, LINK_ONLY)
    slower = dict(LINK, copies=[dict(LINK["copies"][0], gbs=25), *LINK["copies"][1:]])
    lines, _, _ = sheet_of(assay, slower, LINK_ONLY)
    expect(lines["Host link", "to device"]["further"].startswith("unsteady: 25.0 to 50.0 GB/s in 2 runs"), "half as fast",
           lines["Host link", "to device"])
    shown = assay.run("show", "last").out
    expect("unsteady: 25.0 to" in shown, "the terminal says it", shown)


def test_link_counters(assay):
    """Replays of the link while copies ran stand beside their numbers, and a counter that grew is a fact."""
    for replays in (0, 2):
        sheet_of(assay, dict(LINK, sensor={"pcie_replays": replays}), LINK_ONLY)
        details = [t["detail"] for c in assay.cells() for t in c["trials"] if t["n"]]
        expect(details and all("pcie_replays" in d for d in details), "the counter stands beside each", details)
        expect(all(("pcie_replays_new" in d) == (replays > 0) for d in details), "and what it grew by", details)
        facts = [f["sentence"] for f in json.loads(assay.run("facts", "--json").out)["facts"]]
        said = [s for s in facts if s.startswith("PCIe replays rose by ")]
        expect(len(said) == (1 if replays else 0), "a counter that grew is named", facts)


def test_link_counters_beside_numbers(assay):
    """A counter that is not zero stands beside the link's number on sheet and map, with its growth; a policy bounds the growth."""
    policy = assay.path("node.ini")
    with open(policy, "w", encoding="utf-8") as f:
        f.write("[null]\nhost_link.replays <= 0\npeer.errors <= 0, warn\n")
    for before, new, code, verdict in ((0, 0, OK, "met"), (9, 0, OK, "met"), (9, 2, REGRESSION, "not met")):
        what = f"{before} replays, {new} at each reading"
        assay.store = assay.path(f"counters-{before}-{new}.db")
        assay.env["ASSAY_STORE"] = assay.store
        lines, _, _ = sheet_of(assay, dict(LINK, sensor={"pcie_replays": new, "pcie_replays_before": before}), LINK_ONLY)
        further = lines["Host link", "to device"]["further"]
        said = re.search(r"(\d+) PCIe replays, (\w+) since the link's first trial", further)
        expect(bool(said) == (before > 0), what, further)
        sheet = json.loads(assay.run("export", "last", "--format", "sheet").out)
        (counter,) = next(d for d in sheet["devices"] if d["id"] == "null")["counters"]
        expect(counter["name"] == "host_link.replays" and (counter["grown"] > 0) == (new > 0), what, counter)
        if said:
            expect((int(said[1]), said[2]) == (counter["total"], f"{counter['grown']}" if new else "none"), what, (further, counter))
        page = assay.path("page.html")
        expect(assay.run("report", "-o", page).code == OK, "a page")
        with open(page, encoding="utf-8") as f:
            text = f.read()
        on_map = re.search(f"<text[^>]*about[^>]*>[^<]*{counter['total']} PCIe replays", text)
        expect(bool(on_map) == (before > 0), f"the map has it: {what}")
        checked = assay.run("check", "--policy", policy, "--no-measure", "--json", "--allow-missing")
        (line,) = [r for r in map(json.loads, checked.out.splitlines()) if r.get("quantity") == "PCIe replays"]
        expect(checked.code == code and line["verdict"] == verdict and line["checked"] == counter["grown"] and line["bound"] == 0, what, checked)
        text = assay.run("check", "--policy", policy, "--no-measure", "--allow-missing")
        expect(re.search(f"PCIe replays +0 events +{counter['grown']} events +{verdict}", text.out), what, text)
        fleet = assay.run("fleet", "show", assay.store, "--policy", policy, "--json")
        bounds = [b for b in json.loads(fleet.out)["bounds"] if b["quantity"] == "host_link.replays"]
        expect(fleet.code == code and len(bounds) == (code != OK), f"the same of a fleet: {what}", fleet)
        shown = assay.run("fleet", "show", assay.store)
        expect((f"{counter['total']} PCIe replays" in shown.out) == (new > 0), f"listed of a fleet where it rose: {what}", shown)
        merged = assay.path("merged.json")
        expect(assay.run("fleet", "merge", assay.store, "-o", merged).code == OK, "merged")
        again = assay.run("fleet", "show", merged, "--policy", policy, "--json")
        expect(json.loads(again.out)["bounds"] == json.loads(fleet.out)["bounds"], "and of a merged file", again)


def worth_knowing(assay, *args):
    """What stands first under that title."""
    done = assay.run(*args)
    expect(done.code == OK and "Worth knowing" in done.out, "there is something worth knowing", done)
    return " ".join(done.out.split("Worth knowing")[1].split())


def test_faults_stand_first(assay):
    """Of eight devices one is slow by 6%: run, machine and page say so before all else, until a run that measures it again."""
    suite = assay.path("suite.ini")
    with open(suite, "w", encoding="utf-8") as f:
        f.write(CHASE.replace("base_pages,", "").replace("null", ",".join(["null", *(f"null:{i}" for i in range(1, 8))])))
    eight = dict(CPU, devices=8, seed=3, noise={"sd": 0.002}, levels=[{"size": 0, "ns": 90, "gbs": 20}])
    slow = dict(eight, faults=[{"do": "slow", "factor": 1.06, "device": "null:3"}])
    done = assay.run("run", suite, "--seed", "3", env=assay.script(slow))
    expect(done.code == OK, "eight devices", done)
    found = re.compile("^. null:3: Memory latency is [0-9.]+% \\([0-9.]+ to [0-9.]+%\\) above the other seven, at the same clock. Check its memory: ")
    for args in (["show", "last"], ["show"], ["facts"]):
        said = worth_knowing(assay, *args)
        expect(found.match(said), f"first in {args}", said)
    page = assay.path("page.html")
    expect(assay.run("report", "-o", page).code == OK, "a page")
    with open(page, encoding="utf-8") as f:
        text = html.unescape(re.sub("<[^>]*>", " ", f.read()))
    expect(re.search(r"Worth knowing\s+null:3: Memory latency is ", text), "first on the page", text[-2000:])
    expect(assay.run("run", suite, "--seed", "3", env=assay.script(eight)).code == OK, "eight sound devices")
    for args in (["show", "last"], ["show"]):
        shown = assay.run(*args)
        expect("above the other seven" not in shown.out, f"gone in {args}", shown)


def test_every_pair_of_a_node(assay):
    """Of four and of eight devices each ordered pair is measured, and stands in the matrix of terminal and page."""
    for n in (4, 8):
        ids = ["null", *(f"null:{i}" for i in range(1, n))]
        script = {"devices": n, "is_device": True, "execute": "once", "seed": 3, "noise": {"sd": 0.002},
                  "info": {"siblings": n, "memory_free": 1 << 26, "memory_bytes": 1 << 26, "max_alloc": 1 << 26, "allocators": ALLOCATORS[:2]},
                  "copies": [{"from": "device", "to": "device", "gbs": 400}]}
        axes = ("peer=all", "allocator=device", "node=0", "direction=to", "how=engine", "size=64KiB")
        done = assay.run("run", "probe:link", "--device", ",".join(ids), *(word for axis in axes for word in ("--set", axis)), "--trials", "1",
                         "--precision", "50%", "--budget", "0", env=assay.script(script))
        expect(done.code == OK, f"{n} devices", done)
        cells = {(c["device"], c["axes"]["peer"]): c["status"] for c in assay.cells("last")}
        expect(cells == {(ids[i], str(k)): "ok" for i in range(n) for k in range(n) if k != i}, f"every pair of {n}", str(cells))
        shown = assay.run("show", "last", "link")
        rows = re.findall(r"^  (null(?::\d)?)((?: +400){%d})$" % (n - 1), shown.out, re.M)
        expect([row[0] for row in rows] == ids, f"a row per device of {n}", shown)
        expect(f"GPU to GPU (write, copy engine, {n * (n - 1)} pairs): median 400 GB/s" in shown.out + assay.run("show", "last").out, "the line of the sheet", shown)
        page = assay.path("page.html")
        expect(assay.run("report", "last", "-o", page).code == OK, "a page")
        with open(page, encoding="utf-8") as f:
            matrix = f.read().split('aria-label="Pairs of GPUs"')[1].split("</table>")[0]
        expect(matrix.count("<td>400") == n * (n - 1), f"the matrix of {n} on the page", matrix[:3000])


def test_replays_stand_first(assay):
    sheet_of(assay, dict(LINK, sensor={"pcie_replays": 2}), LINK_ONLY)
    for args in (["show", "last"], ["show"]):
        said = worth_knowing(assay, *args)
        expect(re.match("^. null: PCIe replays rose by [0-9]+ since the link's first trial.*Check the GPU's slot and riser: ", said), f"first in {args}", said)


if __name__ == "__main__":
    harness.main(globals())
