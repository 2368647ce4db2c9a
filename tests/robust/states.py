"""States of processes: environment variables of a runtime as an axis, from the plan to the page. The stand-in for HIP behaves by
them: copies by its engines are slow unless HSA_ENABLE_SDMA=0, and kernels reach malloc's memory with HSA_XNACK=1 alone.

ASSAY_FAKE_HIP is the stand-in's folder."""
import json
import os
import sqlite3

import harness
from harness import FAILED, MEASURED, SHORT, USAGE, expect, expect_refused

COPY, BANDWIDTH = "copy", "bandwidth"
SDMA, XNACK = ("HSA_ENABLE_SDMA=0", "HSA_ENABLE_SDMA=1"), ("HSA_XNACK=0", "HSA_XNACK=1")
OWN = ""  # XNACK is off where nothing sets it, so that HSA_XNACK=0 is no other state
SUITE = f"""[suite]
title = States
budget = 0
trials = 5
precision = 100%
[copy]
from = host
to = first
how = engine
direction = one
size = 64KiB,256KiB
[copy.sdma]
from = host
to = first
how = engine
direction = one
size = 64KiB,256KiB
state = {",".join(SDMA)}
[bandwidth.xnack]
op = triad
level = sweep
size = 64KiB
threads = 0
allocator = managed,pageable
touch = cpu
state = {", ".join(XNACK)}
"""
SLOW = 0.1  # GB/s: what the stand-in's engines give at most


def hip(assay, **more):
    more = {"FAKE_HIP": "apu mi300a sdma", **more}
    return {"LD_LIBRARY_PATH": os.environ["ASSAY_FAKE_HIP"], "XDG_CACHE_HOME": assay.path("cache"), **more}


def suite(assay):
    with open(assay.path("states.ini"), "w", encoding="utf-8") as f:
        f.write(SUITE)
    return [assay.path("states.ini"), "--device", "hip:0"]


def state(cell):
    return cell["axes"].get("state", "")


def copies(cells, of):
    return [c for c in cells if c["probe"] == COPY and state(c) == of]


measured = []  # the store of the suite's run, once there is one


def run_suite(assay):
    """The cells of a run of the suite, in the test's own store."""
    if measured:
        with open(assay.store, "wb") as f:
            f.write(measured[0])
        return assay.cells()
    done = assay.run("run", *suite(assay), env=hip(assay))
    expect(done.code in MEASURED, "it measures", done)
    with open(assay.store, "rb") as f:
        measured.append(f.read())
    return assay.cells()


def test_plan_counts_each_state(assay):
    done = assay.run("plan", *suite(assay), "--json", env=hip(assay))
    head, *cells = [json.loads(line) for line in done.out.splitlines()]
    expect(head["cells"] == 9 and head["unsupported"] == 3 and len(head["devices"]) == 1, "cells of both states", head)
    expect({state(c) for c in cells} == {OWN, *SDMA, XNACK[1]}, "and no others", cells)
    done = assay.run("plan", *suite(assay), env=hip(assay))
    expect("3 of state" in done.out, "the table says so", done)


def test_a_state_of_its_own_doubles_nothing(assay):
    """Whichever states a suite names, no process is like the one that assay was started as."""
    for words, env, other in (("", {}, XNACK[1]), ("xnack", {}, XNACK[0]), ("", {"HSA_XNACK": "1"}, XNACK[0]),
                              ("xnack", {"HSA_XNACK": "0"}, XNACK[1])):
        env = hip(assay, FAKE_HIP=f"apu mi300a {words}", **env)
        done = assay.run("plan", "bandwidth", "--set", f"state={','.join(XNACK)}", "--device", "hip:0", "--json", env=env)
        cells = [json.loads(line) for line in done.out.splitlines()[1:]]
        expect({state(c) for c in cells} == {OWN, other}, f"'{words}' {env}", cells[:3])
        keys = [json.dumps(c["axes"]) for c in cells]
        expect(len(set(keys)) == len(keys) > 0, "no cell twice", cells)


def test_memory_that_only_a_state_reaches(assay):
    """Suites of unified memory measure malloc and hipMallocManaged with XNACK everywhere, however assay was started."""
    kinds = {}
    for words in ("", "xnack"):
        env = hip(assay, FAKE_HIP=f"apu mi300a {words}")
        done = assay.run("plan", "upm", "apps", "--device", "hip:0", "--json", env=env)
        cells = [json.loads(line) for line in done.out.splitlines()[1:]]
        planned = [c for c in cells if c["status"] == "planned"]
        kinds[words] = {(c["probe"], json.dumps({a: v for a, v in c["axes"].items() if a != "state"})) for c in planned
                        if {"malloc", "malloc huge pages", "hipMallocManaged XNACK"} & {str(v) for v in c["axes"].values()}}
        expect(words == "xnack" or all(state(c) != OWN for c in planned if "malloc" in c["axes"].values()), "in the state", cells[:3])
    expect(kinds[""] == kinds["xnack"] and {"atomics", "tlb", "accounting", "host_latency", "migration", "app", "fault"} <=
           {probe for probe, _ in kinds[""]}, "the same memory in the same probes", kinds[""] ^ kinds["xnack"])


def test_each_cell_is_measured_in_its_state(assay):
    cells = run_suite(assay)
    for of, slow in ((SDMA[0], False), (SDMA[1], True), ("", True)):
        values = [c["median"] for c in copies(cells, of)]
        expect(len(values) == 2 and all((v <= SLOW) == slow for v in values), f"copies with '{of}'", values)
    reach = {(c["axes"]["allocator"], state(c)): c for c in cells if c["probe"] == BANDWIDTH}
    for allocator, of in (("malloc", XNACK[1]), ("hipMallocManaged XNACK", XNACK[1]), ("hipMallocManaged", OWN)):
        expect(reach[allocator, of]["status"] in ("ok", "wide"), "what kernels reach then", reach)
    expect("HSA_XNACK=1" in reach["malloc", OWN]["reason"], "and what they do not", reach)


def test_facts_and_views_tell_them_apart(assay):
    run_suite(assay)
    facts = json.loads(assay.run("facts", "--all", "--json").out)
    facts = facts["facts"] if isinstance(facts, dict) else facts
    changed = [f for f in facts if f["id"].startswith("state.copy.")]
    one_trial = len(changed) == 1 and "from one trial" in changed[0]["sentence"]  # neighbours disturbed the others
    expect(len(changed) == 1 and (one_trial or changed[0]["verdict"] == "supported"), "one fact, of the largest size", changed)
    expect("256 KiB" in changed[0]["sentence"], "the largest size", changed)
    expect(one_trial or changed[0]["act"].startswith(f"Set {SDMA[0]}:"), "what to set", changed)
    expect(changed[0]["gain_high"] < 1, "the engines are slower", changed)
    own = [f for f in facts if f["id"].startswith("copy.engine")]
    expect(own and all("state" not in f and f["value"] <= SLOW for f in own), "the machine's own copies are the plain ones", own)
    advice = assay.run("advise", "--all")
    expect(one_trial or f"Set {SDMA[0]}" in " ".join(advice.out.split()), "advice", advice)
    shown = assay.run("show", "last", COPY)
    expect(all(s in shown.out for s in SDMA), "the table", shown)
    page = assay.path("page.html")
    expect(assay.run("report", "-o", page).code == 0, "a page")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    expect(all(s in text for s in (*SDMA, XNACK[1])), "has them all")
    exported = assay.run("export", "--format", "csv")
    expect(SDMA[0] in exported.out, "so has the table of cells", exported)


def test_a_cell_is_measured_again_in_its_state(assay):
    cell = copies(run_suite(assay), SDMA[0])[0]
    done = assay.run("replay", str(cell["id"]), "--no-wait", env=hip(assay))
    expect(done.code in (*MEASURED, harness.REGRESSION), "replayed", done)
    again = copies(assay.cells(2), SDMA[0])
    expect(len(again) == 1 and again[0]["median"] > SLOW, "by kernels", again)


def spoil(assay, cell, axes):
    """Takes the cell's trials away, and leaves its run unfinished."""
    store = sqlite3.connect(assay.store)
    store.execute("DELETE FROM trials WHERE cell_id = ?", (cell["id"],))
    store.execute("UPDATE cells SET status = 'planned', n = 0, trials_done = 0, median = NULL, axes = ? WHERE id = ?",
                  (json.dumps(axes), cell["id"]))
    store.execute("UPDATE runs SET state = 'interrupted'")
    store.commit()
    store.close()


def test_resume_measures_in_the_state(assay):
    cell = copies(run_suite(assay), SDMA[0])[0]
    spoil(assay, cell, cell["axes"])
    done = assay.run("resume", env=hip(assay))
    expect(done.code in MEASURED, "resumed", done)
    values = [c["median"] for c in copies(assay.cells(), SDMA[0])]
    expect(len(values) == 2 and min(values) > SLOW, "by kernels", values)


def test_a_store_sets_no_other_variable(assay):
    """A worker's environment is not for a file to choose."""
    cell = copies(run_suite(assay), SDMA[0])[0]
    for value, why in (("LD_PRELOAD=/tmp/x.so", "LD_PRELOAD"), ("HSA_XNACK=1;id", "letters or digits"),
                       ("HSA_XNACK", "VARIABLE=VALUE"), ("CUDA_MANAGED_FORCE_DEVICE_ALLOC=1", "does not read")):
        spoil(assay, cell, {**cell["axes"], "state": value})
        done = assay.run("resume", env=hip(assay))
        expect(done.code not in MEASURED and why in " ".join(done.err.split()), f"'{value}' is refused", done)


def test_states_on_the_command_line(assay):
    def plan(value, device="hip:0"):
        return assay.run("plan", COPY, "--set", f"state={value}", "--device", device, env=hip(assay))
    for value, *why in (("LD_PRELOAD=x", "'LD_PRELOAD'", "HSA_ENABLE_SDMA"), ("HSA_XNAK=1", "did you mean 'HSA_XNACK'"),
                        ("HSA_XNACK", "VARIABLE=VALUE"), ("HSA_XNACK=", "letters or digits"), ("HSA_XNACK=1,", "VARIABLE"),
                        ("HSA_XNACK=1+HSA_XNACK=0", "twice"), ("HSA_XNACK=" + 40 * "1", "characters"),
                        ("=1", "VARIABLE=VALUE"), (",".join(f"HSA_XNACK={i}" for i in range(9)), "more than 8 states")):
        expect_refused(plan(value), USAGE, *why)
    expect_refused(plan("HSA_XNACK=1", "cpu"), USAGE, "no device of this run")
    both = plan("HSA_XNACK=1+HSA_ENABLE_SDMA=0,HSA_ENABLE_SDMA=0+HSA_XNACK=1")
    expect(both.code == harness.OK and "of state" not in both.out, "an order of variables is no other state", both)


def test_a_state_decides_whether_memory_is_coherent(assay):
    """Only coherent memory passes lines between a CPU and a running kernel."""
    for value, code in ((0, USAGE), (1, harness.OK)):
        done = assay.run("plan", "c2c", "--device", "hip:0", "--set", "peer=device", "--set", "from=0", "--set", "to=0",
                         "--set", "allocator=pinned_portable", "--set", f"state=HIP_HOST_COHERENT={value}", env=hip(assay))
        expect(done.code == code, "planned where it is", done)


def test_a_state_in_which_the_device_cannot_be_opened(assay):
    """It costs the cells of that state, with the reason."""
    done = assay.run("run", *suite(assay), env=hip(assay, FAKE_HIP="apu mi300a sdma stateless"))
    expect(done.code in MEASURED, "the others are measured", done)
    for cell in assay.cells():
        if state(cell) == XNACK[1]:
            expect(cell["status"] == "unsupported" and "hipInit" in cell["reason"], "says why", cell)
    expect(len(copies(assay.cells(), SDMA[0])) == 2, "with the cells of other states")


def test_chips_without_xnack_have_no_cells_of_its_states(assay):
    """Known before the run, by the chip's target; states of other variables are measured."""
    env = hip(assay, FAKE_HIP="rdna3 sdma")
    done = assay.run("plan", *suite(assay), "--json", env=env)
    cells = [json.loads(line) for line in done.out.splitlines()[1:]]
    without = [c for c in cells if state(c) in XNACK]
    expect(without and all("HSA_XNACK has no effect here: gfx1100 has no XNACK" in c["reason"] for c in without), "why", cells)
    expect(len([c for c in copies(cells, SDMA[1]) if c["status"] == "planned"]) == 2, "others are planned", cells)
    expect(assay.run("run", *suite(assay), env=env).code in MEASURED, "it measures")
    for cell in assay.cells():
        expect((cell["status"] == "unsupported") == (state(cell) in XNACK), "as planned", cell)


if __name__ == "__main__":
    harness.main(globals())
