"""How long a run may take is a promise."""
import signal
import time

import harness
from harness import MEASURED, SLOW, expect

CELLS = ["latency", "--set", "size=1KiB..4MiB x2", "--device", "null"]


def test_budget_is_a_promise(assay):
    """Ends within 10% of the budget, and every cell has a number or a reason. A loaded host may take the CPU away for as
    long as it likes: that the promise is not kept is shown by three runs in which it is not."""
    for budget in (2, 5):
        for tries_left in (2, 1, 0):
            began = time.monotonic()
            done = assay.run("run", *CELLS, "--budget", f"{budget}s", env=assay.script(SLOW))
            seconds = time.monotonic() - began
            expect(done.code in MEASURED, "measured", done)
            expect(all(c["n"] or c["reason"] for c in assay.cells()), "every cell has its number", done)
            if seconds < budget * 1.1 + 0.5:
                break
            expect(tries_left, f"{seconds:.2f} s for a budget of {budget} s, the third time", done)


def test_budget_of_0_is_none(assay):
    """Whatever the suite says: every cell is visited as often as was asked for, however long it takes."""
    suite = assay.path("short.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write("[suite]\nbudget = 1s\nvisits = 3\nprecision = 50%\n[latency]\nsize = 1KiB..4MiB x4\n")
    for words, budget in ((["--budget", "0"], None), (["--budget", "0s"], None), ([], 1)):
        done = assay.null(SLOW, suite, *words)
        expect(done.code in MEASURED, "measured", done)
        export = assay.export()
        expect(export["run"]["budget_s"] == budget, f"{words}", export["run"]["budget_s"])
        least = min(len(c["visits"]) for c in export["cells"])
        expect(least >= 3 if budget is None else least < 3, f"{words}: the least visited cell has {least} visits", done)


def test_budget_goes_on(assay):
    """A run that is gone on with has what is left of its budget, and what is given is for the rest."""
    noisy = dict(SLOW, noise={"sd": 0.05})  # no number of samples is precise enough, so the budget is used up
    run = ["run", *CELLS, "--precision", "0.01%", "--budget", "9s"]
    for given in ([], ["--budget", "2s"]):
        for tries_left in (2, 1, 0):
            process = assay.start(*run, env=assay.script(noisy), start_new_session=True)
            time.sleep(6)
            harness.kill(process.pid, signal.SIGINT)
            assay.finish(process, 30)
            began = time.monotonic()
            done = assay.run("resume", *given, env=assay.script(noisy))
            seconds = time.monotonic() - began
            expect(done.code in MEASURED, "resumed", done)
            budget = assay.export()["run"]["budget_s"]
            if given:
                expect(3 < budget < 30, f"some 6 s and 2 s more are {budget} s")
                break
            expect(budget == 9, "the budget is as it was", budget)
            if seconds < 7.5:
                break
            expect(tries_left, f"{seconds:.2f} s for what is left of 9 s after 6, the third time", done)


def test_slow_device_leaves_others_their_share(assay):
    """One that cannot finish within the budget costs the other none of its cells."""
    suite = assay.path("shared.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write("[suite]\nbudget = 12s\nvisits = 3\nprecision = 50%\ndevices = null,cpu\n"
                "[latency]\nsize = 64KiB..256KiB x8\nallocator = malloc\n")
    slow = [{"size": 32 << 10, "ns": 1, "gbs": 9}, {"size": 512 << 10, "ns": 6e6, "gbs": 9}, {"size": 0, "ns": 9, "gbs": 9}]
    script = dict(SLOW, info={"threads": 1}, levels=slow)  # but its sentinels are fast
    for tries_left in (2, 1, 0):
        done = assay.run("run", suite, env=assay.script(script))
        expect(done.code in MEASURED, "measured", done)
        visits = {device: [len(c["visits"]) for c in assay.export()["cells"] if c["device"] == device and c["n"]]
                  for device in ("null", "cpu")}
        if len(visits["cpu"]) == 17:
            break
        expect(tries_left, "each cell of the CPU has its number, the third time", visits)
    expect(visits["null"] and min(visits["null"]) < 2, "the slow device did not get through", visits)


if __name__ == "__main__":
    harness.main(globals())
