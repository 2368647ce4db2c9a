"""The HIP backend from the command line to the runtime: that is a stand-in which needs no GPU and runs every kernel on threads
of the host. The probes of shared memory go through, and what goes wrong costs no more than it must.

ASSAY_FAKE_HIP is the stand-in's folder."""
import configparser
import json
import os

import harness
from harness import LAUNCH, MEASURED, NOTHING, SHORT, USAGE, expect, expect_refused, measured, once

RUNTIME = os.environ["ASSAY_FAKE_HIP"]
HIP = [*LAUNCH, *SHORT, "--device", "hip:0"]
APU, CARD = "apu xnack", "card"
# Where the probes of shared memory are not what suite upm asks of them.
SHARED = (
    (CARD, "latency", "size=64KiB pattern=random allocator=all instrument=persistent"),
    (CARD, "copy", "size=64KiB from=all to=first direction=one"),
    (APU, "c2c", "peer=device allocator=all"),
)
SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites", "upm.ini")
# Suite upm made small, with all of its sections: what is too much for kernels that run on a host. The counters that are
# left out count for the whole host, which takes them seconds.
SMALL = {"size": "64KiB", "pages": "16", "counter": "VmRSS,smaps_rollup,driver", "device_threads": "64", "type": "u64"}
SMALLEST = {"accounting": {"size": "1MiB"}, "loaded_latency": {"size": "1MiB"},
            "bandwidth": {"size": "1MiB", "level": "sweep"}, "copy": {"size": "1MiB"},
            "host_bandwidth": {"size": "1MiB", "level": "sweep"},
            "fault.threads": {"pages": "10000"}, "atomics_lost.both": {"scope": "system"},
            "atomics_lost.control": {"scope": "system"}}
SMALL_GRIDS = {"elements": "1024", "cpu_threads": "0,1", "device_threads": "64"}
# By probe, why a cell cannot be measured on it, and for which of its allocators; "" for any.
UNSUPPORTED = (
    ("", "XNACK is on in this process", "hipMallocManaged"),  # whichever agent uses it
    ("", "HSA_XNACK=1", "hipMallocManaged XNACK"),
    ("", "HSA_XNACK=1", "malloc"),
    ("", "the CPU cannot access this memory", "hipMemCreate"),
    ("", "only by copies", "hipMemCreate"),
    ("alloc", "'__managed__' cannot be timed", "__managed__"),
    ("bandwidth", "memory of this kind is capped at", "__managed__"),
    ("host_bandwidth", "is not aligned to 64 bytes", "__managed__"),
    ("host_latency", "is not aligned to 64 bytes", "__managed__"),
    ("codegen", "this is for another chip", ""),
    ("codegen", "the kernel dialect has no such operation", ""),
)


# The stand-in has as many threads as the machine, whatever it says of its workgroups: a probe that needs all of them to run
# at once has no number there.
NOT_CONCURRENT = "workgroups were not co-resident"
# Main memory begins at four times the largest cache, which on a large host is more than the stand-in has.
TOO_SMALL = "only half of the free"
# Virtual machines have none, and systems may forbid it.
NO_COUNTER = "data TLB misses"


def hip(assay, words="card", **more):
    """The environment in which the runtime behaves so; **more is added to it."""
    return {"LD_LIBRARY_PATH": RUNTIME, "FAKE_HIP": words, "XDG_CACHE_HOME": assay.path("cache"), **more}


def run(assay, words, *args, **more):
    return assay.run("run", *args, env=hip(assay, words, **more))


def test_all_is_well(assay):
    done = run(assay, "card", *HIP)
    expect(done.code in MEASURED and len(measured(assay.cells())) == 3, "every cell is measured", done)
    device = assay.export()["run"]["devices"][0]
    expect(device["bus_id"] == "0000:0a:03.0" and "XNACK off" in device["driver"], "what it says of itself", device)


@harness.shortened
def test_probes_of_shared_memory(assay):
    for number, (words, probe, axes) in enumerate(harness.some(SHARED, 3, 1), 1):
        sets = [part for axis in axes.split() for part in ("--set", axis)]
        done = run(assay, words, probe, *sets, "--device", "hip:0", *SHORT, "--budget", "0")
        cells = assay.cells(number)
        bad = [c for c in cells if c["status"] in ("failed", "crashed", "timeout")]
        expect(done.code in MEASURED and not bad, f"{probe}: nothing fails", (done.code, done.out[-300:], bad))
        expect(len(measured(cells)) >= 1, f"{probe}: something is measured", done)


def read_suite():
    suite = configparser.ConfigParser(interpolation=None)
    suite.read(SUITE, encoding="utf-8")
    return suite


def small_suite(path):
    suite = read_suite()
    suite["suite"].update({"budget": "0", "trials": "1", "precision": "100%"})
    for name in suite.sections()[1:]:
        section = suite[name]
        section.pop("precision", None)
        section.update({axis: values for axis, values in SMALL.items() if axis in section})
        section.update(SMALLEST.get(name, SMALLEST.get(name.split(".")[0], {})))
        if name == "atomics" and section.pop("grids", None):
            section.update(SMALL_GRIDS)
    with open(path, "w", encoding="utf-8") as f:
        suite.write(f)


def roles_of_hip(assay):
    """The allocators of each role that HIP has, by name."""
    roles = {}
    for line in assay.run("list", "roles", "--json").out.splitlines():
        row = json.loads(line)
        if row["backend"] == "hip":
            roles.setdefault(row["role"], set()).add(row["allocator"])
    return roles


def asked_for(section):
    """How a section asks for allocators."""
    return {n for axis in ("allocator", "from", "to") for n in section.get(axis, "").split(",") if n}


def is_of(section, roles, cell):
    """Whether the cell is one that the section asks for, as far as its words say."""
    axes, wanted = cell["axes"], {n for word in asked_for(section) for n in roles.get(word, {word})}
    given = {axes.get(axis) for axis in ("allocator", "from", "to")}
    return all(axes.get(a) in section[a].split(",") for a in ("op", "scenario", "what", "step", "state")
               if section.get(a, "all") != "all") and (not wanted or wanted & {"all", "first"} or wanted & given)


def of_sections(assay, cells):
    """For each section that a HIP device has a part in, its cells."""
    suite, roles = read_suite(), roles_of_hip(assay)
    for name in suite.sections()[1:]:
        wanted = asked_for(suite[name])
        if name == "near_limit" or not suite[name].get("state", "HSA_").startswith("HSA_"):
            continue  # HIP recommends no limit; a state of another runtime
        if not wanted or wanted & {"all", "first", *roles}:
            yield name, [c for c in cells if c["probe"] == name.split(".")[0] and is_of(suite[name], roles, c)]


@harness.thorough
def test_suite_upm(assay):
    """All of it, made small: every section gives cells, each a number or a true reason why there is none."""
    small_suite(assay.path("upm.ini"))
    done = assay.run("run", assay.path("upm.ini"), "--device", "hip:0", env=hip(assay, APU))
    cells = assay.cells()
    expect(done.code in MEASURED, "it measures", done)
    for cell in cells:
        expect(cell["status"] in ("ok", "wide", "rejected", "unsupported", "skipped"), "no cell fails", cell)
        if cell["status"] == "unsupported":
            said = [part for probe, part, allocator in UNSUPPORTED
                    if probe in ("", cell["probe"]) and cell["axes"].get("allocator", "") == allocator]
            expect(any(part in cell["reason"] for part in (*said, NOT_CONCURRENT, TOO_SMALL, NO_COUNTER)),
                   "the reason is true", cell)
    for name, found in of_sections(assay, cells):
        lacks = name == "codegen" or any(part in c["reason"] for c in found
                                       for part in (NOT_CONCURRENT, TOO_SMALL, NO_COUNTER, "the budget"))
        expect(found and (measured(found) or lacks), f"section {name} has its numbers", found)


def test_suite_upm_is_planned(assay):
    """As it is, without the time for it."""
    done = run(assay, APU, "upm", "--device", "hip:0", "--trials", "1", "--budget", "1s")
    cells = assay.cells()
    for cell in cells:
        known = ("ok", "wide", "rejected", "unsupported", "skipped")
        expect(cell["status"] in known, "no cell fails", (done, cell))
        expect(cell["status"] != "skipped" or "budget" in cell["reason"], "only time is missing", cell)
    for name, found in of_sections(assay, cells):
        # XNACK is on here: what the section asks for in that state is among the cells without a state
        expect(found or name == "fault.xnack", f"section {name} has cells", done)


OPERATIONS = """[suite]
title = Operations
budget = 0
trials = 1
precision = 100%
[alu]
op = iadd32,imad16,fdiv64,xor64
ilp = 2
warps = 1
[alu_latency]
op = iadd32,recip32,cvt_f32_i32,ffma16
"""


def test_operations(assay):
    """Their chains on the host, checked against the host: what is C there runs, and what has no word there says so."""
    with open(assay.path("operations.ini"), "w", encoding="utf-8") as f:
        f.write(OPERATIONS)
    done = run(assay, CARD, assay.path("operations.ini"), "--device", "hip:0")
    cells = assay.cells()
    expect(done.code in MEASURED and len(cells) == 8, "every cell is there", done)
    for cell in cells:
        if cell["axes"]["op"] == "ffma16":
            expect(cell["status"] == "failed" and "no ffma16" in cell["reason"], "the reason is the compiler's", cell)
            continue
        expect(cell["status"] in ("ok", "wide", "rejected"), "it is measured", cell)
        expect(cell["gates"]["checksum"]["state"] == "pass", "and is right", cell)
        expect("for another chip" in cell["gates"]["code"]["text"], "nobody counts in a host's code", cell)


def test_no_runtime_starts(assay):
    for words, visible, part in (("none", None, "/dev/kfd"), ("card", "", "HIP_VISIBLE_DEVICES is set and empty"),
                                 ("card", "7", "HIP_VISIBLE_DEVICES is '7'")):
        more = {} if visible is None else {"HIP_VISIBLE_DEVICES": visible}
        expect_refused(run(assay, words, *HIP, **more), NOTHING, part)
        listed = assay.run("devices", env=hip(assay, words, **more))
        expect(part in " ".join(listed.out.split()), "devices says it too", listed)


def test_fewer_devices_are_visible(assay):
    done = run(assay, "card", *LAUNCH, "--device", "hip:2", HIP_VISIBLE_DEVICES="1,0")
    expect_refused(done, USAGE, "hip:2", "has 2")


def test_compiler_ends_the_process(assay):
    """As an old one does for a chip that it does not know: it costs the cell for which it was asked."""
    done = run(assay, "abort", *HIP, FAKE_HIP_ONCE=once(assay))
    cells = assay.cells()
    crashed = [c for c in cells if c["status"] == "crashed"]
    expect(done.code in MEASURED and len(crashed) == 1, "one cell is lost", done)
    expect("signal 6" in crashed[0]["reason"], "the signal is named", crashed)
    expect(len(measured(cells)) == 2, "the others are measured", done)


def test_unknown_chip(assay):
    done = run(assay, "unknown", *HIP)
    cells = assay.cells()
    expect(done.code == NOTHING and cells, "nothing can be measured", done)
    for cell in cells:
        expect(cell["status"] == "unsupported" and "what chip" in cell["reason"], "the reason is stored", cell)


def test_faults_are_not_replayed(assay):
    done = run(assay, "card", "fault", "--set", "scenario=device-major", "--set", "allocator=malloc", "--set",
               "pages=1", "--device", "hip:0", *SHORT)
    expect_refused(done, USAGE, "HSA_XNACK")


def test_no_memory_left(assay):
    done = run(assay, "card nomem", *HIP)
    expect(done.code == NOTHING and "hipErrorOutOfMemory" in done.out, "the runtime's word for it", done)


def test_device_is_lost(assay):
    done = run(assay, "card lose", *HIP, FAKE_HIP_ONCE=once(assay))
    harness.expect_one_lost(assay, done, "failed", "hipErrorIllegalAddress (700)")


def test_worker_killed_in_a_kernel(assay):
    flag = once(assay)
    process = assay.start("run", *HIP, env=hip(assay, "card hang", FAKE_HIP_ONCE=flag))
    harness.kill_while_hanging(assay, process, flag, lambda: run(assay, "card", *HIP, "--no-wait"))


if __name__ == "__main__":
    harness.main(globals())
