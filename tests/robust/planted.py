"""Each planted fault is detected by its gate; mere noise widens intervals; a correct device shows neither."""
import harness
from harness import MEASURED, OK, PARTLY, expect

# The same noise in every run.
HONEST = {"execute": True, "seed": 1, "noise": {"sd": 0.003}, "info": harness.ONE_THREAD}
CELLS = ["latency", "--set", "size=4KiB,256KiB,8MiB"]
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
    """All cells are ok, and this gate could be decided."""
    done = run(assay, script, *args)
    expect(done.code == OK, "an honest device is ok", done)
    for cell in assay.cells():
        expect(cell["status"] == "ok" and not failed_gates(cell), f"{cell['axes']} is ok", cell)
        expect(not gate or gates(cell)[gate] == "pass", f"and passes {gate}", cell["gates"])


def caught_by(assay, gate, fault, *args, struck=lambda cell: True, without=None):
    """The cells that the fault strikes fail this gate and no other; the others are ok, and so are all of them where
    the same run is without the fault."""
    expect_honest(assay, without or {}, *args, gate=gate)
    done = run(assay, fault, *args)
    expect(done.code == PARTLY, "rejected cells are told by the exit code", done)
    cells = assay.cells()
    hit = [c for c in cells if struck(c)]
    expect(hit, "there are cells to strike", done)
    for cell in cells:
        wanted = {gate} if cell in hit else set()
        expect(failed_gates(cell) == wanted, f"{cell['axes']} fails {failed_gates(cell)}, not {wanted}", cell["gates"])
        expect(cell["status"] == ("rejected" if wanted else "ok"), "and its status says so", cell["status"])
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


def test_a_bandwidth_above_the_data_sheet(assay):
    """The driver reports no peak, the vendor's data sheet does."""
    named = {"info": dict(harness.ONE_THREAD, name="NVIDIA L40S")}
    slow, fast = ({"levels": [{"size": 0, "ns": 90, "gbs": gbs}]} for gbs in (500, 1500))
    hit = caught_by(assay, "limit", dict(named, **fast), *READ, "--set", "size=16MiB", without=dict(named, **slow))
    told = hit[0]["gates"]["limit"]["text"]
    expect("864 GB/s" in told and "specified for L40S" in told, "the bound and its source are named", told)


def test_a_copy_faster_than_its_link(assay):
    """A driver keeps in the device what is asked for in the host's memory: no byte crosses the bus."""
    card = {"info": dict(harness.ONE_THREAD, is_host_memory=False, capabilities=["copy"], bus="PCIe 5.0 x16",
                         bus_bandwidth=63e9, allocators=[{"name": "own"}, {"name": "locked", "host_access": True}])}
    slow, fast = ({"levels": [{"size": 0, "ns": 90, "gbs": gbs}]} for gbs in (50, 1500))
    link = ["probe:link", "--set", "peer=host", "--set", "node=0", "--set", "allocator=locked", "--set", "size=1MiB",
            "--set", "direction=to,from,both", "--set", "how=engine,kernel"]
    hit = caught_by(assay, "limit", dict(card, **fast), *link, without=dict(card, **slow))
    told = hit[0]["gates"]["limit"]["text"]
    expect(len(hit) == 6 and "PCIe 5.0 x16" in told, "every cell is rejected by the bus", told)


def refused(assay, script, honest, name):
    """A working set that fits into the last cache, called main memory, is not measured."""
    expect_honest(assay, honest, *READ, "--set", "size=12MiB", gate="footprint")
    done = run(assay, script, *READ, "--set", "size=12MiB")
    expect(done.code == harness.USAGE and "too small to measure main memory" in done.err and name in done.err,
           "refused with the cache's name", done)


def test_a_cache_sold_as_memory(assay):
    def with_last_cache(size):
        caches = [{"level": 1, "kind": "d", "size": 32768}, {"level": 2, "kind": "u", "size": size}]
        return {"info": dict(harness.ONE_THREAD, caches=caches)}

    refused(assay, with_last_cache(8 << 20), with_last_cache(2 << 20), "8 MiB")


def test_a_memory_side_cache_sold_as_memory(assay):
    """The same with a cache in front of memory, of which the device's API says nothing."""
    def with_memory_side(size):
        caches = [{"level": 1, "kind": "d", "size": 32768}, {"level": 2, "kind": "u", "size": 1 << 20},
                  {"level": 3, "kind": "u", "size": size, "memory_side": True, "name": "Infinity Cache", "source": "kfd"}]
        return {"info": dict(harness.ONE_THREAD, caches=caches)}

    refused(assay, with_memory_side(8 << 20), with_memory_side(2 << 20), "Infinity Cache: 8 MiB")


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
    """By its sensor: a state of the device, which is stored with each trial and told, and no reason to refuse a number."""
    sensor = {"throttle": "thermal", "power_w": 300, "temperature": 91, "users": 2}
    done = run(assay, {"sensor": sensor})
    expect(done.code == OK, "measured", done)
    cells = assay.cells()
    for cell in cells:
        expect(cell["status"] in ("ok", "wide") and not failed_gates(cell), "valid", cell)
        for trial in cell["trials"]:
            seen = trial["readings"]
            expect(seen["sensor"] == "script" and seen["throttle"] == "thermal", "stored with the trial", seen)
            expect(seen["power_w"] == 300 and seen["temperature_after"] == 91, "with power and temperature", seen)
    shown = assay.run("explain", str(cells[0]["id"]))
    expect("throttled by thermal" in shown.out and "300 W" in shown.out, "'explain' shows it", shown)


def test_memory_that_loses_bits(assay):
    """Errors that could not be corrected during a trial: no number of it is shown."""
    expect_honest(assay, {"sensor": {"ecc_uncorrected": 0}})
    run(assay, {"sensor": {"ecc_uncorrected": 1}})
    for cell in assay.cells():
        expect(cell["status"] == "failed" and cell["n"] == 0, "failed, without a number", cell)
        expect("ECC" in cell["reason"], "and why", cell["reason"])


def test_a_sensor_that_cannot_be_opened(assay):
    """Costs nothing but what it would have told."""
    expect_honest(assay, {"sensor": {"why_not": "the library is missing"}})
    export = assay.export()
    expect(all(v["readings"] is None for c in export["cells"] for v in c["trials"]), "no readings", export["cells"][0])
    expect(export["run"]["devices"][0]["sensor"] == "", "none served it", export["run"]["devices"][0])
    why = export["run"]["devices"][0]["sensor_why"]
    expect("the library is missing" in why, "and why", why)


def test_two_modes(assay):
    """Reported as two, with their shares; where the trials do not agree on one, the interval spans both."""
    modes = [{"share": 0.6, "factor": 1}, {"share": 0.4, "factor": 1.2}]
    done = run(assay, {"modes": modes, "noise": {"sd": 0.002}}, *CELLS[:-1], "size=4KiB,256KiB", "--trials", "8")
    expect(done.code == OK, "no number is refused", done)
    for cell in assay.cells():
        expect(cell["modes"] == 2, "two modes", cell)
        expect(1.15 < cell["mode_high"] / cell["mode_low"] < 1.25 and 0.4 < cell["mode_share"] < 0.8, "as planted", cell)
        if "modes" in cell["causes"]:
            expect(cell["ci_low"] <= 1.02 * cell["mode_low"] and cell["ci_high"] >= 0.98 * cell["mode_high"],
                   "the interval spans both", cell)


def test_noise_is_width(assay):
    """More than what is asked for: the number stays, with an interval and the reason."""
    done = run(assay, {"noise": {"sd": 0.05, "trial_sd": 0.1}}, *CELLS, "--precision", "0.1%")
    expect(done.code == OK, "no number is refused", done)
    for cell in assay.cells():
        expect(cell["status"] == "wide" and cell["causes"] and not failed_gates(cell), "wide, and why", cell)
        expect(cell["ci_low"] <= cell["median"] <= cell["ci_high"], "with an interval", cell)
        expect("0.1% requested" in cell["reason"], "against what was asked", cell["reason"])


if __name__ == "__main__":
    harness.main(globals())
