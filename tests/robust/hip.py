"""The HIP backend from the command line to the runtime: that is a stand-in which needs no GPU and runs every kernel on threads
of the host. The probes of shared memory go through, and what goes wrong costs no more than it must.

ASSAY_FAKE_HIP is the stand-in's folder."""
import os

import harness
from harness import FAILED, MEASURED, NOTHING, USAGE, expect, expect_refused

RUNTIME = os.environ["ASSAY_FAKE_HIP"]
LAUNCH = ["launch", "--set", "what=roundtrip", "--set", "threads=1", "--visits", "1"]
HIP = [*LAUNCH, "--device", "hip:0"]
APU, CARD = "apu xnack", "card"
# What every probe of shared memory does on it, small; and the words of the stand-in.
SHARED = (
    (APU, "latency", "size=64KiB allocator=all"),
    (CARD, "latency", "size=64KiB allocator=all instrument=persistent"),
    (APU, "bandwidth", "size=1MiB op=triad touch=all allocator=all"),
    (CARD, "copy", "size=1MiB from=all to=first"),
    (CARD, "alloc", "size=16KiB op=alloc,free allocator=all"),
    (APU, "fault", "scenario=device-major,device-minor pages=100 allocator=malloc,hipMallocManaged_XNACK"),
    (CARD, "accounting", "allocator=hipMalloc"),
    (APU, "atomics", "elements=1024 type=u64,f64 cpu_threads=0,1 device_threads=64"),
    (APU, "atomics_lost", "elements=1024 type=u64 cpu_threads=1 device_threads=64"),
    (APU, "c2c", "peer=device allocator=all"),
)


def hip(assay, words="card", **more):
    """The environment in which the runtime behaves so; **more is added to it."""
    return {"LD_LIBRARY_PATH": RUNTIME, "FAKE_HIP": words, "XDG_CACHE_HOME": assay.path("cache"), **more}


def run(assay, words, *args, **more):
    return assay.run("run", *args, env=hip(assay, words, **more))


def once(assay):
    """A file that the stand-in removes when it does the one wrong thing that it is asked for."""
    with open(assay.path("once"), "w", encoding="ascii"):
        return assay.path("once")


def measured(cells):
    return [c for c in cells if c["status"] in ("ok", "untrusted") and c["n"] > 0]


def test_all_is_well(assay):
    done = run(assay, "card", *HIP)
    expect(done.code in MEASURED and len(measured(assay.cells())) == 3, "every cell is measured", done)
    device = assay.export()["run"]["devices"][0]
    expect(device["bus_id"] == "0000:0a:03.0" and "XNACK off" in device["driver"], "what it says of itself", device)


def test_probes_of_shared_memory(assay):
    for number, (words, probe, axes) in enumerate(SHARED, 1):
        sets = [part for axis in axes.split() for part in ("--set", axis.replace("_XNACK", " XNACK"))]
        done = run(assay, words, probe, *sets, "--device", "hip:0", "--visits", "1", "--budget", "6s")
        cells = assay.cells(number)
        bad = [c for c in cells if c["status"] in ("failed", "crashed", "timeout")]
        expect(done.code in MEASURED and not bad, f"{probe}: nothing fails", (done, bad))
        expect(len(measured(cells)) >= 1, f"{probe}: something is measured", done)


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
               "pages=1", "--device", "hip:0", "--visits", "1")
    cells = [c for c in assay.cells() if c["status"] == "unsupported"]
    expect(cells and all("HSA_XNACK" in c["reason"] for c in cells), "the reason says what to set", done)


def test_no_memory_left(assay):
    done = run(assay, "card nomem", *HIP)
    expect(done.code == NOTHING and "hipErrorOutOfMemory" in done.out, "the runtime's word for it", done)


def test_device_is_lost(assay):
    """It costs the cell in which it happens; the next worker starts anew."""
    done = run(assay, "card lose", *HIP, FAKE_HIP_ONCE=once(assay))
    cells = assay.cells()
    failed = [c for c in cells if c["status"] == "failed"]
    expect(done.code in MEASURED and len(failed) == 1, "one cell fails", done)
    expect("hipErrorIllegalAddress (700)" in failed[0]["reason"], "with the runtime's words", failed)
    expect(len(measured(cells)) == 2, "the others are measured", done)


def test_worker_killed_in_a_kernel(assay):
    flag = once(assay)
    process = assay.start("run", *HIP, env=hip(assay, "card hang", FAKE_HIP_ONCE=flag))
    harness.wait_for(lambda: not os.path.exists(flag), "a kernel that hangs")
    expect_refused(run(assay, "card", *HIP, "--no-wait"), FAILED, "another run is measuring")
    for worker in harness.children(process.pid):
        harness.kill(worker)
    done = assay.finish(process)
    crashed = [c for c in assay.cells(1) if c["status"] == "crashed"]
    expect(done.code in MEASURED and len(crashed) == 1, "one cell is lost", done)


if __name__ == "__main__":
    harness.main(globals())
