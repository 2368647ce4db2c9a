"""An exported run with known numbers, for tests of what is printed: no clock, no device, no chance."""
import json
import subprocess

HOSTILE = "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>"
UNKNOWN_OP = "<script>alert(1)</script>"
GATES = ("checksum", "limit", "code", "footprint")
UNITS = {"latency": "ns", "bandwidth": "GB/s", "alloc": "ns", "atomics_lost": "updates", "alu": "ops/cycle",
         "alu_latency": "cycles"}


def samples(level, spread):
    """24 samples in 3 trials around level, their median the level."""
    return [level * (1 + spread * ((7 * i) % 23 - 11) / 11) for i in range(23)] + [level]


def cell(number, probe, axes, level, device="cpu", status="ok", failed=(), reason="", spread=0.004):
    values = samples(level, spread) if level else []
    ordered = sorted(values)
    gates = {g: {"state": "fail" if g in failed else "pass", "text": f"{g} looked at it"} for g in GATES}
    gates["code"] = {"state": "n/a", "text": "no machine code here"}
    trials = [{"number": v, "started_at": 1795000000.0 + number + 100 * v, "prepare_s": 0.001, "duration_s": 0.02,
               "status": "ok", "reason": "", "excluded": False, "n": 8, "samples": None, "warmup": 2, "reps": 1000,
               "sample_s": 0.002, "clock_hz": 3.4e9, "clock_low": 3.4e9, "clock_high": 3.4e9, "checksum": "pass",
               "checksum_text": "", "worker": 4242, "limit": None, "limit_why": "", "footprint": 4096,
               "claims_memory": False, "detail": {"page_size": 4096}, "code": "n/a", "code_text": "", "readings": None,
               "sampling_s": 0.016, "core_hz": None, "weight": None} for v in range(3)] if level else []
    metrics = [{"name": "p95", "unit": "ns", "better": "less", "counts": "95th percentile " + HOSTILE, "trials": 3,
                "value": 1.5 * level, "ci_low": 1.4 * level, "ci_high": 1.75 * level}] if level and probe == "latency" else []
    return {"id": number, "position": number - 1, "backend": device.split(":")[0], "device": device, "driver": "test",
            "probe": probe, "axes": axes, "key": "", "status": status,
            "reason": reason, "causes": "", "precision": 0.01, "clock_exponent": None, "raw_low": ordered[6] if level else None,
            "raw_high": ordered[17] if level else None, "metric": probe, "unit": UNITS[probe], "counts": "one thing after the other",
            "better": "more" if probe in ("bandwidth", "alu") else "less", "n": len(values),
            "trials_counted": 3 if level else 0, "median": level or None,
            "ci_low": ordered[8] if level else None, "ci_high": ordered[15] if level else None,
            "mad": abs(ordered[6] - level) if level else None, "min": ordered[0] if level else None,
            "max": ordered[-1] if level else None, "modes": 1, "mode_low": None, "mode_high": None, "mode_share": None,
            "samples": values, "sample_trials": [i // 8 for i in range(len(values))], "gates": gates, "limit": None,
            "clock_hz": 3.4e9 if level else None, "footprint": 4096, "answers": [], "metrics": metrics, "trials_done": len(trials),
            "duration_s": 0.06, "started_at": 1795000000.0 + number, "detail": {"page_size": 4096, "note": HOSTILE, **{m["name"]: m["value"] for m in metrics}},
            "trials": trials}


def set_keys(run, cell_key):
    """Fills in the keys, which the program cell_key makes."""
    lines = "".join(f"{c['probe']}\t{c['metric']}\t{json.dumps(c['axes'])}\n" for c in run["cells"])
    keys = subprocess.run([cell_key], input=lines, capture_output=True, text=True, check=True).stdout.split()
    for c, key in zip(run["cells"], keys, strict=True):
        c["key"] = key


def run(factor=1.0, host="anvil", extra=()):
    """latency over sizes, bandwidth of two operations, one rejected cell, one without a number."""
    cells = []
    for i, level in enumerate((1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 5, 5, 5, 5, 5, 5, 110, 110, 112)):
        axes = {"size": 1024 << i, "pattern": "random", "allocator": "mmap", "stride": 64}
        cells.append(cell(len(cells) + 1, "latency", axes, level * factor))
    cells[0]["trials"][1]["weight"] = [1, 1, 0, 1, 1, 0, 1, 1]  # contended
    cells[7].update(status="rejected", reason="limit: 140% of the bound")
    cells[7]["gates"]["limit"] = {"state": "fail", "text": "140% of the bound"}
    for op, level in (("copy", 23.4), ("triad", 14.6)):
        axes = {"size": 1 << 30, "op": op, "threads": 1}
        cells.append(cell(len(cells) + 1, "bandwidth", axes, level / factor))
    axes = {"size": 1 << 50, "op": "triad", "threads": 1}
    cells.append(cell(len(cells) + 1, "bandwidth", axes, 0, status="unsupported", reason="too large " + HOSTILE))
    cells += [cell(number, *e) for number, e in enumerate(extra, len(cells) + 1)]
    return {"format_version": 1,
            "run": {"id": 7, "uuid": f"0a1b2c3d-0000-4000-8000-0000000{round(100 * factor):03}{len(extra):02}",
                    "started_at": 1795000000.0, "ended_at": 1795000058.0, "state": "complete", "suite": "quick",
                    "command": "assay run quick --set 'size=1KiB..1GiB'", "seed": "42", "precision": 0.01,
                    "budget_s": 60.0, "trials": 3, "isolate": False, "tool_version": "0.1.0",
                    "tool_commit": "0123456789ab", "host": host,
                    "provenance": {"cpu": {"model": "Test CPU", "governor": "performance"}},
                    "devices": [{"id": "cpu", "backend": "cpu", "name": "Test CPU " + HOSTILE, "units": 2,
                                 "threads": 2, "capabilities": ["host kernels"]}], "reference_clock_hz": 3.4e9, "sampling_share": 0.64,
                    "clock_exponents": [], "left_out": {}},
            "cells": cells, "sentinels": []}


def ported():
    """What porting advice needs: bandwidth by allocator on all threads, and the calls of two allocators; and last a
    count that is 0 in every sample."""
    extra = [("bandwidth", {"op": "triad", "level": "memory", "size": 1 << 30, "threads": 2, "store": "regular",
                            "allocator": name}, level) for name, level in (("mmap", 20.0), ("thp", 25.0))]
    for name, alloc, free in (("malloc", 20.0, 30.0), ("mmap", 900.0, 1500.0)):
        for size in (32, 1 << 20):
            extra += [("alloc", {"op": op, "allocator": name, "size": size}, level)
                      for op, level in (("alloc", alloc), ("free", free))]
    extra.append(("atomics_lost", {"agent": "cpu", "elements": 1, "type": "u64", "cpu_threads": 2, "op": "add"}, 1.0))
    made = run(extra=extra)
    none = dict.fromkeys(("median", "ci_low", "ci_high", "mad", "min", "max"), 0.0)
    made["cells"][-1].update(none, samples=[0.0] * made["cells"][-1]["n"])
    return made


def operations():
    """Throughput and latency of operations: with a link that was measured and one that was not, in two forms, rejected,
    unsupported, of several instructions, over warps, and one whose name no assay knows."""
    made = run()
    made["run"]["devices"][0].update(id="cuda:0", backend="cuda", name="Test card", warp=32, units=132)
    rates = [("iadd32", 64, 0, "each step is 1 IADD3", ""), ("xor32", 64, 0, "each step is 1 LOP3", ""),
             ("ffma32", 128, 0, "each step is 1 FFMA", ""), ("ffma32", 112, 3, "each step is 1 FFMA", ""),
             ("recip32", 16, 0, "each step is 1 MUFU, 1 LOP3", "xor32"), ("ffma2_f16", 256, 0, "each step is 1 HFMA2", ""),
             ("idiv32", 3.5, 0, "each step is 12 IMAD, 4 IADD3", ""), ("cvt_f32_i32", 16, 0, "", "andor32"),
             ("imul32", 0, 0, "", ""), (UNKNOWN_OP, 1, 0, "each step is 1 " + HOSTILE, HOSTILE)]
    waits = {"iadd32": 4, "xor32": 4, "ffma32": 4, "recip32": 22, "idiv32": 60, "cvt_f32_i32": 14, UNKNOWN_OP: 9}
    cells = []
    for op, rate, operands, code, link in rates:
        detail = {k: v for k, v in (("instructions", code), ("link", link)) if v}
        more = {} if rate else {"status": "unsupported", "reason": f"kernels of this device have no word for {op}"}
        axes = {"op": op, "ilp": 4, "warps": 0, "operands": operands, "steps": 0}
        cells.append(cell(len(cells) + 1, "alu", axes, rate, device="cuda:0", **more))
        cells[-1]["detail"] = detail
    for op, wait in waits.items():
        axes = {"op": op, "operands": 0, "steps": 0}
        cells.append(cell(len(cells) + 1, "alu_latency", axes, wait, device="cuda:0"))
        cells[-1]["detail"] = cells[[r[0] for r in rates].index(op)]["detail"]
    cells[6].update(status="rejected", reason="checksum: another result")
    cells[6]["gates"]["checksum"] = {"state": "fail", "text": "another result"}
    for warps in (1, 2, 4, 8):
        axes = {"op": "ffma32", "ilp": 1, "warps": warps, "operands": 0, "steps": 0}
        cells.append(cell(len(cells) + 1, "alu", axes, 8 * warps, device="cuda:0"))
    made["cells"] = cells
    return made
