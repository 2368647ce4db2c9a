"""The data sheet beside a scripted device whose copies and calls all differ: each line is of what it names, of nothing
else where that is missing, and a page size or another user of the device is never passed over in silence."""
import json

import harness
from harness import expect

ALLOCATORS = [{"name": "device"}, {"name": "pinned", "host_access": True, "coherent": True},
              {"name": "managed", "host_access": True, "coherent": True}]
# In GB/s and ns. What the host copies itself is timed by the clock: so slow that only the script explains it.
LINK = {"is_device": True, "info": {"memory_free": 1 << 31, "memory_bytes": 1 << 31, "max_alloc": 1 << 31,
                                    "allocators": ALLOCATORS},
        "copies": [{"from": "pinned", "to": "device", "gbs": 50}, {"from": "device", "to": "pinned", "gbs": 55, "both_gbs": 88},
                   {"from": "host", "to": "device", "gbs": 0.1}],
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
    pageable = {name: float(lines["Host link", name]["further"].split()[1]) for name in ("to device", "from device")}
    expect(pageable["to device"] < 0.11 or pageable["to device"] > 90, "slow from pageable memory", pageable)  # MB/s
    expect(pageable["from device"] != pageable["to device"], "not to it", pageable)
    for name, allocate, free in (("device", 40e3, "30.0 us"), ("pinned", 5e6, "2.00 ms"), ("managed", 9e3, "8.00 us")):
        line = lines.get(("Allocate 16 MiB", name))
        expect(near(line, allocate), f"allocating {name} memory", line)
        expect(line["further"].replace("µ", "u") == "free " + free, f"freeing {name} memory", line)
    expect(missing["Interference", "CPU chase"] == "not in this suite", "what is not in the suite", missing)


def test_nothing_in_place_of_what_is_missing(assay):
    """A copy of 4 KiB from the same memory is valid, and is no copy of 64 MiB."""
    wrong = dict(LINK, faults=[{"kernel": "copy", "min_footprint": 1 << 27, "do": "wrong"}])
    lines, missing, _ = sheet_of(assay, wrong, SUITE)
    for name in ("to device", "from device", "bidirectional"):
        expect(("Host link", name) not in lines, f"no number {name}", lines)
        expect(missing["Host link", name] == "rejected: checksum", "and why", missing)
    shown = assay.run("show").out
    expect("rejected: checksum" in shown, "the terminal says it too", shown)


def test_pages(assay):
    lines, missing, _ = sheet_of(assay, CPU, CHASE)
    expect({("Memory", "latency"), ("Memory", "latency, base pages")} <= set(lines), "two lines", missing)
    expect("huge pages" in lines["Memory", "latency"]["further"], "which say their pages", lines)
    lines, missing, _ = sheet_of(assay, dict(CPU, huge_page=4096), CHASE)
    expect(("Memory", "latency") not in lines, "no latency on base pages under this name", lines)
    expect(missing["Memory", "latency"].startswith("unsupported: "), "but the reason", missing)
    expect(("Memory", "latency, base pages") in lines, "the other stays", missing)


if __name__ == "__main__":
    harness.main(globals())
