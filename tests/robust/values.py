"""Impossible numbers, and stored cells that cannot be measured."""
import contextlib
import copy
import glob
import json
import os
import shutil
import socket
import sqlite3

import harness
from harness import FAILED, MEASURED, NOTHING, OK, USAGE, expect, expect_refused

SIZES = ["latency", "--set", "size=1KiB..256KiB", "--device", "null"]
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
FAR = (1e-200, 1e200, 1e-150, -1e300, 0.0, 5e-324, 1.7e308, -1.7e308)


def database(assay):
    return contextlib.closing(sqlite3.connect(assay.store))


def readers(assay):
    page = assay.path("page.html")
    return (["show"], ["show", "last"], ["history"], ["history", "--csv"], ["history", "clock.core"], ["show", "latency"], ["show", "--all"], ["facts"], ["facts", "--refs", "mi300a"], ["advise"],
            ["show", "--refs", "h100"], ["report", "-o", page], ["export"], ["export", "--format", "csv"], ["compare", "1", "1"], ["explain", "1"])


def is_empty_history(command, done):
    """Numbers that are not above 0 give no line, which is said."""
    return command[0] == "history" and done.code == USAGE and "no complete run measured" in done.err


def say(export, values):
    """Each cell with samples is ok and says another value, and so do its samples."""
    for number, cell in enumerate(c for c in export["cells"] if c["n"]):
        value = values[number % len(values)]
        cell["samples"] = [value] * cell["n"]
        cell.update(median=value, ci_low=value, ci_high=value, min=value, max=value, mad=0.0, modes=1,
                    mode_low=None, mode_high=None, mode_share=None, status="ok", reason="")
        for gate in cell["gates"].values():
            gate["state"] = "pass"


def test_numbers_far_apart(assay):
    """What is written consistently is a store like any other, however far its numbers are apart."""
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    export = assay.export()
    for number, values in enumerate((FAR, FAR[:3], FAR[3:5], FAR[6:], (1e308,), (0.0,))):
        say(export, values)
        with open(assay.path("far.json"), "w", encoding="ascii") as f:
            json.dump(export, f)
        if os.path.exists(assay.store):
            os.remove(assay.store)
        expect(assay.run("import", assay.path("far.json")).code == OK, f"imported: {values}")
        for command in harness.some(readers(assay), 4, number):
            done = assay.run(*command)
            expect(done.code == OK or is_empty_history(command, done), f"{' '.join(command)}: {values}", done)
        expect("is sound" in assay.run("doctor").out, f"sound: {values}")


def test_contradictions(assay):
    """A store whose numbers are not what its samples say is reported, and an export of it refused."""
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    shutil.copy(assay.store, assay.path("whole.db"))
    for number, change in enumerate(("min = min / 2", "max = max * 2", "min = median, max = 2 * max", "ci_low = ci_high, ci_high = ci_low * 0.9",
                   "ci_low = max, ci_high = max", "mad = -1.0", "n = n + 1000", "status = 'ok', gate_limit = 'fail'",
                   "median = 2 * max", "modes = 2, mode_low = 2.0, mode_high = 1.0, mode_share = 0.5",
                   "modes = 2, mode_low = 1.0, mode_high = 2.0, mode_share = 1.5")):
        shutil.copy(assay.path("whole.db"), assay.store)
        with database(assay) as db:
            db.execute(f"UPDATE cells SET {change} WHERE id = 2")
            db.commit()
        done = assay.run("doctor")
        expect(done.code == FAILED and "cell 2" in done.out, f"found: {change}", done)
        for command in harness.some(readers(assay), 4, number):
            done = assay.run(*command)
            expect(done.code in (OK, FAILED) or is_empty_history(command, done), f"{' '.join(command)}: {change}", done)
        done = assay.run("export", "-o", assay.path("lie.json"))
        if done.code == OK and not change.startswith("n ="):  # there the samples that are found are counted
            done = assay.run("import", assay.path("lie.json"), "--store", assay.path("other.db"))
            expect_refused(done, USAGE if done.code == USAGE else FAILED, "cells[1]")


def test_a_cell_twice(assay):
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    export = assay.export()
    other = copy.deepcopy(export["cells"][0])
    other["position"] = 1000
    export["cells"].append(other)
    with open(assay.path("twice.json"), "w", encoding="ascii") as f:
        json.dump(export, f)
    done = assay.run("import", assay.path("twice.json"), "--store", assay.path("other.db"))
    expect(done.code != OK and "twice" in done.err and f"cells[{len(export['cells']) - 1}]" in done.err, "refused", done)


def test_left_out_before_a_kill(assay):
    """Killed between leaving a trial out and storing the cell's new numbers: in order, and brought along by an export."""
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    with database(assay) as db:
        db.execute("UPDATE trials SET excluded = 1, reason = 'drift: made up' WHERE number = 0")
        db.execute("UPDATE runs SET state = 'running'")
        db.commit()
    done = assay.run("doctor")
    expect("is sound" in done.out, "in order", done)
    expect(assay.run("export", "-o", assay.path("killed.json")).code == OK, "exported")
    done = assay.run("import", assay.path("killed.json"), "--store", assay.path("other.db"))
    expect(done.code == OK, "imported", done)


def test_samples_are_accepted(assay):
    for path in sorted(glob.glob(os.path.join(SAMPLES, "*.db"))):
        shutil.copy(path, assay.store)
        done = assay.run("doctor")
        expect("is sound" in done.out, path, done)
        expect(assay.run("export", "-o", assay.path("sample.json")).code == OK, path)
        with contextlib.suppress(FileNotFoundError):
            os.remove(assay.path("other.db"))
        done = assay.run("import", assay.path("sample.json"), "--store", assay.path("other.db"))
        expect(done.code == OK, path, done)


def test_replay_of_what_the_device_cannot(assay):
    """Refused with the reason that the plan stored, before anything is started."""
    script = dict(harness.FAST, info=dict(harness.ONE_THREAD, capabilities=[]))
    done = assay.null(script, "concurrency", "--trials", "1")
    cell = assay.cells()[0]
    expect(cell["status"] == "unsupported" and cell["reason"], "unsupported", done)
    done = assay.run("replay", "1")
    expect_refused(done, NOTHING, "cell 1 cannot be measured again", cell["reason"])
    expect(len(assay.run("list", "runs", "--json").out.splitlines()) == 1, "no run was made")


def test_replay_of_odd_axes(assay):
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    shutil.copy(assay.store, assay.path("whole.db"))
    with database(assay) as db:
        axes = json.loads(db.execute("SELECT axes FROM cells WHERE id = 1").fetchone()[0])
    for name, value, code, why in (
            ("size", 0, USAGE, "below the smallest"), ("size", -1, USAGE, "size"), ("size", 1e300, USAGE, "size"),
            ("size", "1024", USAGE, "not one of its values"), ("size", "1KiB..4KiB", USAGE, "not one of its values"),
            ("size", 1 << 50, NOTHING, "requests"), ("size", None, USAGE, "has no value"),
            ("pattern", "zigzag", USAGE, "zigzag"), ("allocator", "cuMemAlloc", NOTHING, "cuMemAlloc"),
            ("speed", 1, USAGE, "no axis 'speed'")):
        odd = {k: v for k, v in dict(axes, **{name: value}).items() if v is not None}
        with database(assay) as db:
            db.execute("UPDATE cells SET axes = ? WHERE id = 1", (json.dumps(odd, separators=(",", ":")),))
            db.commit()
        expect_refused(assay.run("replay", "1"), code, "cell 1 cannot be measured again", why)
    for change, code, why in (("probe = 'latencies'", USAGE, "no probe"), ("unit = 'cycles'", USAGE, "in cycles"),
                              ("precision = NULL", USAGE, "precision"), ("device = 'null,cpu'", (USAGE, NOTHING), "")):
        shutil.copy(assay.path("whole.db"), assay.store)
        with database(assay) as db:
            db.execute(f"UPDATE cells SET {change} WHERE id = 2")
            db.commit()
        done = assay.run("replay", "2")
        expect(done.code in (code if isinstance(code, tuple) else (code,)) and why in done.err, change, done)


class Worker:
    """A worker of one's own, which is asked without a plan."""

    def __init__(self, assay):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(harness.PATIENCE)
        os.set_inheritable(theirs.fileno(), True)
        self.process = assay.start("--worker", str(theirs.fileno()), str(os.getpid()), pass_fds=[theirs.fileno()])
        theirs.close()

    def ask(self, **order):
        self.socket.send(b"e" + json.dumps(order).encode())
        text = b""
        while True:
            packet = self.socket.recv(1 << 16)
            expect(packet, f"the worker is gone: {order}")
            text += packet[1:]
            if packet[:1] == b"e":
                return json.loads(text)


def test_orders_that_no_plan_gives(assay):
    """Refused with a reason by the worker itself, which lives on."""
    expect(assay.run("run", *SIZES).code in MEASURED, "a run")
    good = {c["probe"]: c["axes"] for c in assay.cells()}["latency"]
    worker = Worker(assay)
    try:
        expect(worker.ask(do="open", device="null")["ok"], "opened")
        for probe, axes in [("latency", dict(good, **{name: value})) for name in good
                            for value in (0, -1, 1e300, "", "x" * 40, "all")] + [
                                ("latency", {}), ("concurrency", {}), ("latencies", good), ("copy", good), ("", {})]:
            text = json.dumps({k: v for k, v in axes.items() if v != ""}, separators=(",", ":"))
            reply = worker.ask(do="trial", probe=probe, axes=text, seed=1, number=0, alone=1, precision=0.05, share_s=0.01)
            why = reply["trial"]["reason"] if reply["ok"] else reply["why"]
            same = reply["ok"] and reply["trial"]["status"] == 1 and text == json.dumps(good, separators=(",", ":"))
            expect(why or same, f"refused: {probe} {text}", reply)
        for name, value in (("precision", None), ("precision", -1), ("share_s", None), ("share_s", -1), ("number", -1),
                            ("axes", "["), ("axes", 5), ("probe", 7)):
            order = dict({"do": "trial", "probe": "latency", "axes": json.dumps(good), "seed": 1, "number": 0, "alone": 1,
                          "precision": 0.05, "share_s": 0.01}, **{name: value})
            reply = worker.ask(**order)
            expect(not reply["ok"] and reply["why"] or reply["trial"]["reason"], f"refused: {name} {value}", reply)
        reply = worker.ask(do="trial", probe="latency", axes=json.dumps(good), seed=1, number=0, alone=1, precision=0.05,
                           share_s=0.1)
        expect(reply["ok"] and reply["trial"]["samples"], "and measures what it can", reply)
    finally:
        worker.socket.close()
        assay.finish(worker.process, 30)


if __name__ == "__main__":
    harness.main(globals())
