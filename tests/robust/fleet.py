"""assay fleet: of sheets of many nodes, planted slow devices and nodes are named and no others; what cannot be read is never slow.

The sheets are one of a sample, with noise of a known seed."""
import copy
import json
import math
import os
import random
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import OK, PARTLY, REGRESSION, USAGE, expect  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import prometheus  # noqa: E402  (in tests/)

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "h200-quick.db")
NODES, GPUS, SCATTER = 12, 8, 0.004


def sheet_of(assay):
    done = assay.run("export", "--format", "sheet", "--store", SAMPLE)
    expect(done.code == OK, "export of a sheet", done)
    return json.loads(done.out)


def drawn(line, rng, by):
    """A line with another value and the sample's own precision, at most 0.3%."""
    if not line["value"] or line["ci_low"] is None:
        return line
    value = line["value"] * math.exp(rng.gauss(0, SCATTER)) * by
    half = min(0.003, (line["ci_high"] - line["ci_low"]) / 2 / line["value"])
    return dict(line, value=value, ci_low=value * (1 - half), ci_high=value * (1 + half))


def node_of(sheet, name, rng, slow=None, by=0.95):
    """slow: index of a GPU whose memory is slow, "all" of every one."""
    gpu = next(d for d in sheet["devices"] if d["id"] == "cuda:0")
    devices = []
    for i in range(GPUS):
        device = copy.deepcopy(gpu)
        device["id"] = f"cuda:{i}"
        is_slow = slow in (i, "all")
        device["lines"] = [drawn(line, rng, by if is_slow and line["name"].startswith("memory.read") else 1) for line in device["lines"]]
        devices.append(device)
    return dict(sheet, host=name, devices=devices)


def written(assay, name, sheet):
    path = assay.path(name)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(sheet, f)
    return path


def fleet(assay, slow):
    """Sheets of nodes; slow: node: what of it is slow."""
    rng, sheet = random.Random(45), sheet_of(assay)
    return [written(assay, f"n{i}.json", node_of(sheet, f"node{i:02}", rng, slow.get(i))) for i in range(NODES)]


def verdicts(done):
    return {v["node"]: v for v in map(json.loads, done.out.splitlines())}


def test_slow_ones(assay):
    files = fleet(assay, {3: 5, 7: "all"})
    done = assay.run("fleet", "show", "--json", *files)
    expect(done.code == REGRESSION, "slow ones give exit code 3", done)
    of = verdicts(done)
    expect({n for n, v in of.items() if v["verdict"] == "slow"} == {"node03", "node07"}, "these nodes and no others are slow", done)
    (found,) = [f for f in of["node03"]["findings"] if f["worse"]]
    expect(found["device"] == "cuda:5" and found["quantity"].startswith("memory.read"), "the GPU and what of it is slow", done)
    expect(found["ci_low"] < -0.05 < found["ci_high"] + 0.01 and found["ci_high"] < 0, "with an interval", done)
    (whole,) = [f for f in of["node07"]["findings"] if f["worse"]]
    expect(whole["device"] == "", "a node that is slow as a whole is one finding", done)
    text = assay.run("fleet", "show", *files)
    expect("node03: Memory read" in text.out and "of cuda:5 is" in text.out and "below" in text.out, "in words", text)


def test_none_slow(assay):
    done = assay.run("fleet", "show", *fleet(assay, {}))
    expect(done.code == OK and "nothing slower than the others" in done.out, "nothing planted, nothing found", done)


def reach(assay, *files):
    done = assay.run("fleet", "show", "--all", "--json", *files)
    rows = [json.loads(line) for line in done.out.splitlines()]
    return next(r for r in rows if r.get("quantity") == "memory.read.all"), [r for r in rows if "node" in r]


def test_smallest_deviation(assay):
    """What is slower by more than the smallest deviation that a line could have found is found, and what is slower by less is not."""
    rng, sheet = random.Random(45), sheet_of(assay)
    nodes = [node_of(sheet, f"node{i:02}", rng) for i in range(NODES)]
    line, _ = reach(assay, *[written(assay, f"n{i}.json", n) for i, n in enumerate(nodes)])
    least = line["smallest_deviation"]
    expect(line["devices"] == NODES * GPUS and 0.01 < least < 0.05 and line["limited_by"] == "scatter", "of a scatter of 0.4%", line)
    read = [next(x for x in d["lines"] if x["name"] == "memory.read.all") for n in nodes for d in n["devices"]]
    middle = sorted(x["value"] for x in read[:GPUS])[GPUS // 2]
    for share, found in ((1.3 * least, True), (0.7 * least, False)):
        slow = copy.deepcopy(nodes[0])
        target = next(x for x in slow["devices"][2]["lines"] if x["name"] == "memory.read.all")
        by = middle / (1 + share) / target["value"]
        target.update({k: target[k] * by for k in ("value", "ci_low", "ci_high")})
        _, of = reach(assay, written(assay, "slow.json", slow), *[assay.path(f"n{i}.json") for i in range(1, NODES)])
        said = [f["quantity"] for f in of[0]["findings"]]
        expect((said == ["memory.read.all"]) == found and bool(said) == found, f"slower by {share:.3f}", (of[0], least))
    text = assay.run("fleet", "show", "--all", *[assay.path(f"n{i}.json") for i in range(NODES)])
    expect("detectable" in text.out and "another 'assay fleet run'" in " ".join(text.out.split()), "in words", text)
    few, _ = reach(assay, assay.path("n0.json"))
    expect(few["smallest_deviation"] > least, "fewer devices find less", few)


def test_merged(assay):
    files, merged = fleet(assay, {3: 5}), assay.path("all.json")
    done = assay.run("fleet", "merge", *files, "-o", merged)
    expect(done.code == OK and "wrote" in done.err and "all.json" in done.err, "merge, and it says what it wrote", done)
    apart, together = assay.run("fleet", "show", "--json", *files), assay.run("fleet", "show", "--json", merged)
    strip = [{n: (v["verdict"], v["findings"]) for n, v in verdicts(d).items()} for d in (apart, together)]
    expect(strip[0] == strip[1] and len(strip[0]) == NODES, "merged sheets tell the same", together)
    few = assay.run("fleet", "show", "--json", SAMPLE, SAMPLE)
    expect(few.code == OK and {v["verdict"] for v in verdicts(few).values()} == {"unknown"}, "too few to compare are not ok", few)
    stores = assay.run("fleet", "show", SAMPLE, SAMPLE, SAMPLE, SAMPLE)
    expect(stores.code == OK and stores.out.startswith("4 nodes"), "stores are nodes too", stores)


def peak_of_merge(assay, nodes):
    """Peak of resident memory in MiB of a merge of so many nodes, read one after the other; what it wrote."""
    sheet, merged = sheet_of(assay), assay.path("merged.json")
    many = written(assay, "many.json", "")
    with open(many, "w", encoding="utf-8") as f:
        for i in range(nodes):
            f.write(json.dumps(node_of(sheet, f"node{i}", random.Random(i))) + "\n")
    peak = harness.peak(assay, "fleet", "merge", many, "-o", merged)
    with open(merged, encoding="utf-8") as f:
        return peak, sum(1 for _ in f)


def test_memory_of_merge(assay):
    """Each sheet is written as it is read: four times as many nodes take no more memory."""
    few, many = peak_of_merge(assay, 50), peak_of_merge(assay, 200)
    expect((few[1], many[1]) == (50, 200), "a line per node", (few, many))
    expect(many[0] < few[0] + 8, "the peak does not grow with the nodes", (few, many))


def test_merge_leaves_no_part(assay):
    """A file that cannot be written, or has no sheet, leaves what was there."""
    files, merged = fleet(assay, {})[:2], assay.path("all.json")
    with open(merged, "w", encoding="utf-8") as f:
        f.write("before")
    done = assay.run("fleet", "merge", assay.path("absent.db"), "-o", merged)
    expect(done.code not in (OK, PARTLY) and open(merged, encoding="utf-8").read() == "before", "no sheet, nothing replaced", done)
    full = assay.run("fleet", "merge", *files, "-o", "/dev/full")
    expect(full.code not in (OK, PARTLY) and "cannot write" in full.err, "a full disk fails the merge", full)
    expect(not [n for n in os.listdir(assay.folder) if n.endswith(".tmp")], "no part is left", os.listdir(assay.folder))


def test_unreadable(assay):
    files = fleet(assay, {})
    empty, garbage, absent = assay.path("empty.json"), assay.path("garbage.db"), assay.path("absent.db")
    open(empty, "w").close()
    with open(garbage, "wb") as f:
        f.write(b"SQLite format 3\0" + bytes(range(256)) * 40)
    with open(files[0], "a", encoding="utf-8") as f:
        f.write('\n{"sheet_version": 1, "host": "\x1b[31m')
    done = assay.run("fleet", "show", "--json", *files, empty, garbage, absent)
    of = verdicts(done)
    unknown = [n for n, v in of.items() if v["verdict"] == "unknown"]
    expect(done.code == PARTLY and len(unknown) == 4 and all(of[n]["reason"] for n in unknown), "unknown, with reasons, never slow", done)
    text = assay.run("fleet", "show", *files, absent)
    os.mkdir(assay.path("empty"))
    folder = assay.run("fleet", "show", "--json", assay.path("empty"))
    expect("directory" in verdicts(folder).popitem()[1]["reason"], "a folder without stores is said to be one", folder)
    expect("No data" in text.out and "\x1b" not in text.out, "listed as such", text)


def test_states_without_stores(assay):
    """Why a node has no numbers, by the state that it left: one that has measured is told from one that has not."""
    os.makedirs(assay.path("folder/status"))
    for state in ("starting", "measuring", "measured", "interrupted", "failed", "complete"):
        with open(assay.path(f"folder/status/{state}.json"), "w", encoding="utf-8") as f:
            json.dump({"status_version": 1, "state": state, "reason": "no device", "request": [], "share": 1 if state == "complete" else 0.4}, f)
    done = assay.run("fleet", "show", "--json", assay.path("folder"))
    expect({n: v["reason"] for n, v in verdicts(done).items()} == {
        "starting": "starting at 40%", "measuring": "measuring at 40%", "measured": "measured, but its store is not here",
        "interrupted": "interrupted at 40%; 'assay fleet resume' continues it", "failed": "failed: no device",
        "complete": "complete, but its store is not here"}, "each with its reason", done)


def specified_on_page(assay, figures):
    """What a page says is specified of memory reads, where the devices of a node say so."""
    node = node_of(sheet_of(assay), "node00", random.Random(45))
    for device, figure in zip(node["devices"], figures):
        for line in device["lines"]:
            line["specified"] = figure if line["name"] == "memory.read.all" else line["specified"]
    page = assay.path("page.html")
    done = assay.run("fleet", "show", written(assay, "node.json", node), "--page", page)
    expect(done.code in (OK, REGRESSION), "a page", done)
    with open(page, encoding="utf-8") as f:
        data = json.loads(f.read().split('id="data">')[1].split("</script>")[0])
    (line,) = [line for line in data["lines"] if line["label"] == "Memory read"]
    return line["specified"]


def test_specified_figures(assay):
    """A line has the figure of those devices that show one, whichever comes first, and none where they differ."""
    figure = 4800.0
    all_of_it = specified_on_page(assay, [figure] * GPUS)
    expect(all_of_it is not None, "of all")
    expect(specified_on_page(assay, [None] + [figure] * (GPUS - 1)) == all_of_it, "the first does not show it")
    expect(specified_on_page(assay, [figure] * (GPUS - 1) + [None]) == all_of_it, "the last does not show it")
    expect(specified_on_page(assay, [None, figure, 2 * figure, figure] + [None] * (GPUS - 4)) is None, "they differ")
    expect(specified_on_page(assay, [None] * GPUS) is None, "of none")


DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "fleet.md")
EIGHT = {"devices": 8, "is_device": True, "execute": "once", "seed": 3, "noise": {"sd": 0.002},
         "info": {"threads": 1, "memory_free": 1 << 26, "memory_bytes": 1 << 26, "max_alloc": 1 << 26,
                  "allocators": [{"name": "device"}, {"name": "pinned", "host_access": True, "coherent": True}]},
         "copies": [{"from": "pinned", "to": "device", "gbs": 50}, {"from": "device", "to": "pinned", "gbs": 55}],
         "levels": [{"size": 0, "ns": 90, "gbs": 400}]}
GOOD = "/shared/good.json"
SMALL = "--trials 2 --precision 50% --set copy.size=64KiB --set link.size=64KiB --set link.peer=0"


def prolog_of_docs(assay):
    """The prolog of docs/fleet.md with the folders of the test, to be started on eight scripted devices. They copy and read little, which
    really happens, and without a budget, so that no verdict depends on time."""
    with open(DOCS, encoding="utf-8") as f:
        text = f.read()
    block = text[text.index("    #!/bin/sh"):]
    lines = [line[4:] for line in block[:block.index("\n\n")].splitlines()]
    expect("assay run gate" in block and "assay check" in block, "the recipe is the prolog", lines)
    wrapper = f"""#!/bin/sh
verb=$1
shift
devices={",".join(["null", *(f"null:{i}" for i in range(1, 8))])}
[ "$verb" = run ] && set -- "$@" --device "${{DEVICES:-$devices}}" --budget 0 {SMALL}
exec {assay.program} "$verb" "$@"
"""
    os.mkdir(assay.path("bin"))
    for name, script in (("bin/assay", wrapper), ("prolog.sh", "\n".join(lines).replace("/run/", assay.folder + "/") + "\n")):
        with open(assay.path(name), "w", encoding="utf-8") as f:
            f.write(script)
        os.chmod(assay.path(name), 0o755)

    def start(script, words, **more):
        env = dict(assay.env, **more, **assay.script(script), PATH=assay.path("bin") + ":" + os.environ["PATH"], SLURM_JOB_ID="7",
                   ASSAY_GOOD=assay.path("good.json"))
        done = subprocess.run(words, env=env, cwd=assay.folder, capture_output=True, text=True, check=False)
        return harness.Result(done.returncode, done.stdout, done.stderr)
    return start


def test_prolog(assay):
    """The recipe passes a node like the sound one and drains one of whose GPUs has half the clock."""
    start = prolog_of_docs(assay)
    with open(DOCS, encoding="utf-8") as f:
        sound = next(line.strip() for line in f if GOOD in line and "assay export" in line)
    made = start(EIGHT, ["sh", "-c", sound.replace(GOOD, assay.path("good.json"))])
    with open(assay.path("good.json"), encoding="utf-8") as f:
        devices = json.load(f)["devices"]
    expect(len(devices) == 8 and all(any(x["name"] == "clock.core" for x in d["lines"]) for d in devices), "all eight are measured", made)
    same = start(EIGHT, ["sh", "./prolog.sh"])
    expect(same.code == 0, "a sound node passes", same)
    slow = start(dict(EIGHT, faults=[{"do": "clock-half", "device": "null:5"}]), ["sh", "./prolog.sh"])
    expect(slow.code == 1, "one slow GPU of eight drains the node", slow)
    fewer = start(EIGHT, ["sh", "./prolog.sh"], DEVICES=",".join(["null", *(f"null:{i}" for i in range(1, 7))]))
    expect(fewer.code == 1 and "no number for null:7" in " ".join((fewer.out + fewer.err).split()), "so does one that is gone", fewer)
    dead = start(dict(EIGHT, faults=[{"do": "fail", "device": "null:5", "from": 1}]), ["sh", "./prolog.sh"])
    expect(dead.code == 1 and "null:5" in dead.out + dead.err, "and one on which nothing runs", dead)
    expect(not os.path.exists(assay.path("assay-7.db")), "and no store is left", os.listdir(assay.folder))


def test_for_programs(assay):
    files = fleet(assay, {3: 5}) + [assay.path("absent.db")]
    files[1] = written(assay, "hostile.json", dict(json.load(open(files[1], encoding="utf-8")), host='a"<b>\\&\n'))
    junit, metrics = assay.path("fleet.xml"), assay.path("fleet.prom")
    done = assay.run("fleet", "show", *files, "--junit", junit, "--prometheus", metrics)
    expect(done.code == REGRESSION, "a slow GPU", done)
    suite = xml.etree.ElementTree.parse(junit).getroot()
    expect((suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(NODES + 1), "1", "1"), "JUnit counts", done)
    samples = prometheus.read(metrics)
    expect(("assay_node_state", {"node": "node03", "state": "slow"}, 1) in samples, "Prometheus text", str(samples))
    expect(("assay_node_state", {"node": 'a"<b>\\&\n', "state": "ok"}, 1) in samples, "with names as they are", str(samples))
    expect(any(of == "assay_deviation_ratio" and labels["node"] == "node03" and labels["device"] == "cuda:5" for of, labels, _ in samples), "with deviations",
           str(samples))


def test_wrong_use(assay):
    for words in (("fleet",), ("fleet", "shw", "x"), ("fleet", "show"), ("fleet", "merge", SAMPLE), ("fleet", "show", SAMPLE, "--min-deviation", "x"),
                  ("fleet", "show", SAMPLE, "-o", "x"), ("fleet", "merge", SAMPLE, "-o", "x", "--all"), ("fleet", "show", SAMPLE, "--junit", "-")):
        done = assay.run(*words)
        expect(done.code == USAGE and done.err.startswith("assay: "), " ".join(words), done)


if __name__ == "__main__":
    sys.exit(harness.main(globals()))
