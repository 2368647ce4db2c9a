"""Planted faults are caught, each by its gate, and an honest device by none."""
import harness
from harness import MEASURED, OK, UNTRUSTED, expect

# The same noise in every run.
HONEST = {"execute": True, "seed": 1, "noise": {"sd": 0.003}, "info": harness.ONE_THREAD}
CELLS = ["latency", "--set", "size=4KiB,256KiB,8MiB"]
# Of long runs only the times count: kernels that need not run each time leave the machine to others.
SLEEPING = dict(HONEST, execute="once", sleep=True)
READ = ["bandwidth", "--set", "op=read", "--set", "level=memory", "--set", "store=regular", "--set", "threads=1", "--set",
        "allocator=malloc"]


def gates(cell):
    return {name: gate["state"] for name, gate in cell["gates"].items()}


def failed_gates(cell):
    return {name for name, state in gates(cell).items() if state == "fail"}


def run(assay, script, *args):
    """Without a budget: no number hangs on how much time there was."""
    return assay.null(dict(HONEST, **script), *(args or CELLS), "--budget", "0")


def expect_honest(assay, script, *args, gate=None):
    """All cells are trusted, and this gate could be decided."""
    done = run(assay, script, *args)
    expect(done.code == OK, "an honest device is trusted", done)
    for cell in assay.cells():
        expect(cell["status"] == "ok" and not failed_gates(cell), f"{cell['axes']} is trusted", cell)
        expect(not gate or gates(cell)[gate] == "pass", f"and passes {gate}", cell["gates"])


def caught_by(assay, gate, fault, *args, struck=lambda cell: True, without=None):
    """The cells that the fault strikes fail this gate and no other; the others are trusted, and so are all of them where
    the same run is without the fault."""
    expect_honest(assay, without or {}, *args, gate=gate)
    done = run(assay, fault, *args)
    expect(done.code == UNTRUSTED, "untrusted cells are told by the exit code", done)
    cells = assay.cells()
    hit = [c for c in cells if struck(c)]
    expect(hit, "there are cells to strike", done)
    for cell in cells:
        wanted = {gate} if cell in hit else set()
        expect(failed_gates(cell) == wanted, f"{cell['axes']} fails {failed_gates(cell)}, not {wanted}", cell["gates"])
        expect(cell["status"] == ("untrusted" if wanted else "ok"), "and its status says so", cell["status"])
        if wanted:
            expect(cell["reason"].startswith(gate), "and why", cell["reason"])
    return hit


def test_nothing_planted(assay):
    expect_honest(assay, {"info": {}})
    watched = {c["axes"]["what"] for c in assay.export()["sentinels"]}
    expect(watched == {"core", "memory", "pair"}, "every sentinel was there", watched)


def test_a_wrong_kernel(assay):
    """Its result differs from the reference by some bytes."""
    caught_by(assay, "checksum", {"faults": [{"do": "wrong", "kernel": "walk", "min_footprint": 262144,
                                             "max_footprint": 262144}]},
              struck=lambda c: c["axes"]["size"] == 262144)


def test_a_loop_that_was_folded_away(assay):
    """A loop without its body takes less than a cycle for each access."""
    levels = [{"size": 32768, "ns": 1.5, "gbs": 100}, {"size": 1 << 20, "ns": 0.2, "gbs": 100},
              {"size": 0, "ns": 90, "gbs": 20}]
    caught_by(assay, "limit", {"levels": levels}, struck=lambda c: c["axes"]["size"] == 262144)


def test_a_bandwidth_above_the_peak(assay):
    """Memory that gives more than its bus can carry."""
    bus = {"info": dict(harness.ONE_THREAD, peak_bandwidth=20e9)}
    slow, fast = ({"levels": [{"size": 0, "ns": 90, "gbs": gbs}]} for gbs in (18, 50))
    hit = caught_by(assay, "limit", dict(bus, **fast), *READ, "--set", "size=16MiB", without=dict(bus, **slow))
    expect(all(c["median"] > 40 for c in hit), "the number is kept as it was measured", hit[0]["median"])


def test_a_cache_sold_as_memory(assay):
    """A working set that fits into the last cache, called main memory: the device says that its caches are larger than the
    plan knew, as a guest sees that is given less of a cache than there is."""
    def with_last_cache(size):
        caches = [{"level": 1, "kind": "d", "size": 32768}, {"level": 2, "kind": "u", "size": size}]
        return {"info": dict(harness.ONE_THREAD, caches=caches)}

    caught_by(assay, "footprint", with_last_cache(8 << 20), *READ, "--set", "size=12MiB",
              without=with_last_cache(2 << 20))


def halves_from(assay, launch):
    """Whether the clock halved within visits, of which none is steady then: which launches are samples hangs on the
    machine's load."""
    fault = {"do": "clock-half", "from": launch, "min_footprint": 262144, "max_footprint": 262144}
    done = run(assay, {"faults": [fault]}, *CELLS, "--precision", "0.1%", "--visits", "4")
    return done.code == UNTRUSTED and any("clock" in failed_gates(c) for c in assay.cells())


def test_a_clock_that_halves(assay):
    """In the middle of each visit."""
    expect(any(halves_from(assay, launch) for launch in (30, 24, 18, 36)), "an untrusted cell, and the exit code tells")
    for cell in assay.cells():
        struck = cell["axes"]["size"] == 262144
        expect(("clock" in failed_gates(cell)) == struck, f"{cell['axes']} fails {failed_gates(cell)}", cell["gates"])


def halves_at(assay, launch):
    """Whether the clock halved in the middle of a visit then: which launches are samples hangs on the machine's load."""
    fault = {"do": "clock-half", "count": "worker", "launch": launch, "min_footprint": 262144, "max_footprint": 262144}
    done = run(assay, {"faults": [fault]}, *CELLS, "--precision", "1%", "--visits", "6")
    return done.code == OK and any(v["excluded"] for c in assay.cells() for v in c["visits"])


def test_a_clock_that_halves_once(assay):
    """One visit of many is left out, and the number is that of the rest."""
    expect(any(halves_at(assay, launch) for launch in (28, 27, 29, 57, 58, 38, 48)), "the steady visits are enough")
    for cell in assay.cells():
        left_out = [v["reason"] for v in cell["visits"] if v["excluded"]]
        struck = cell["axes"]["size"] == 262144
        expect(bool(left_out) == struck, f"{cell['axes']}: {left_out}", cell["gates"])
        expect(all(r.startswith("clock: it moved by") for r in left_out), "and says why", left_out)
        expect(("left out" in cell["gates"]["clock"]["text"]) == struck, "the gate says so", cell["gates"]["clock"])


def test_the_instructions_are_gone(assay):
    """A compiler that folded the loop away left none of the loads; the time may look right."""
    caught_by(assay, "code", {"code": {"load.global": 0}}, without={"code": {"load.global": 64}})
    for cell in assay.cells():
        told = cell["gates"]["code"]["text"]
        expect(told == "0 load.global in the machine code, at least 64 wanted", "the count is told", told)
        expect(cell["detail"]["code_load_global"] == 0, "and noted", cell["detail"])


def test_some_instructions_are_gone(assay):
    """Only what multiplies and adds misses those that do."""
    caught_by(assay, "code", {"code": {"fma.f64": 0}}, *READ[:1], "--set", "op=triad,copy", *READ[3:], "--set", "size=16MiB",
              struck=lambda c: c["axes"]["op"] == "triad", without={"code": {"fma.f64": 4096}})


def test_a_device_that_is_throttled(assay):
    """By its sensor: the clock that the device tells may look steady all the same."""
    sensor = {"throttle": "thermal", "power_w": 300, "temperature": 91, "users": 2}
    hit = caught_by(assay, "clock", {"sensor": sensor})
    for cell in hit:
        text = cell["gates"]["clock"]["text"]
        expect("throttled: thermal" in text and "2 other processes" in text, "the gate says by what", text)
        for visit in cell["visits"]:
            seen = visit["readings"]
            expect(seen["sensor"] == "script" and seen["throttle"] == "thermal", "stored with the visit", seen)
            expect(seen["power_w"] == 300 and seen["temperature_after"] == 91, "with power and temperature", seen)
    shown = assay.run("explain", str(hit[0]["id"]))
    expect("throttled by thermal" in shown.out and "300 W" in shown.out, "'explain' shows it", shown)


def test_a_clock_that_someone_has_set(assay):
    """Is no throttling; nor is a device that had nothing to do between two samples."""
    expect_honest(assay, {"sensor": {"throttle": "idle, clock setting", "power_w": 300}})
    expect("not throttled" in assay.cells()[0]["gates"]["clock"]["text"], "and said so", assay.cells()[0]["gates"])


def test_memory_that_loses_bits(assay):
    """Errors that could not be corrected during a visit: no number of it is shown."""
    expect_honest(assay, {"sensor": {"ecc_uncorrected": 0}})
    run(assay, {"sensor": {"ecc_uncorrected": 1}})
    for cell in assay.cells():
        expect(cell["status"] == "failed" and cell["n"] == 0, "failed, without a number", cell)
        expect("ECC" in cell["reason"], "and why", cell["reason"])


def test_a_sensor_that_cannot_be_opened(assay):
    """Costs nothing but what it would have told."""
    expect_honest(assay, {"sensor": {"why_not": "the library is missing"}})
    export = assay.export()
    expect(all(v["readings"] is None for c in export["cells"] for v in c["visits"]), "no readings", export["cells"][0])
    expect(export["run"]["devices"][0]["sensor"] == "", "none served it", export["run"]["devices"][0])
    why = export["run"]["devices"][0]["sensor_why"]
    expect("the library is missing" in why, "and why", why)


def test_two_modes(assay):
    """Reported as two, with their shares; never averaged."""
    modes = [{"share": 0.6, "factor": 1}, {"share": 0.4, "factor": 1.2}]
    hit = caught_by(assay, "noise", {"modes": modes, "noise": {"sd": 0.002}}, *CELLS[:-1], "size=4KiB,256KiB",
                    "--visits", "8")
    two = [c for c in hit if "two modes" in c["gates"]["noise"]["text"]]
    expect(len(two) == len(hit), "named as two modes", [c["gates"]["noise"] for c in hit])


def test_a_machine_that_drifts(assay):
    """An episode in the middle of the run: the visits in it are excluded, and the numbers are those of the rest."""
    script = dict(SLEEPING, drift={"factor": 1.6, "from_s": 4, "to_s": 7})
    done = assay.null(script, "latency", "--set", "size=1KiB..8MiB", "--precision", "0.2%", "--budget", "16s",
                      "--visits", "6")
    expect(done.code in MEASURED, "measured", done)
    expect("drift" in done.err or "drift" in done.out, "the episode is named", done)
    export = assay.export()
    excluded = [v for c in export["cells"] for v in c["visits"] if v["excluded"]]
    expect(excluded, "visits in the episode are excluded", done)
    honest = {32768: 1.5, 1 << 20: 5.0}
    for cell in export["cells"]:
        true = next((ns for size, ns in honest.items() if cell["axes"]["size"] <= size), 90.0)
        if "drift" not in failed_gates(cell):
            expect(abs(cell["median"] / true - 1) < 0.03, f"{cell['axes']}: {cell['median']} for {true}", cell["gates"])


def test_a_machine_that_changes_for_good(assay):
    """From the middle on all is 30% slower: no number of either half may pass as the machine's."""
    script = dict(SLEEPING, drift={"factor": 1.3, "from_s": 5})
    done = assay.null(script, "latency", "--set", "size=4KiB,16KiB,64KiB", "--budget", "12s", "--visits", "6",
                      "--precision", "0.1%")
    expect(done.code in MEASURED, "measured", done)
    expect("drift" in done.err + done.out, "the drift is named", done)


if __name__ == "__main__":
    harness.main(globals())
