"""A GPU against peer tools and physical bounds: the same quantity by assay and by a peer, in one call."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from common import ratio_interval, row

PROGRAMS = {
    "babelstream-cuda": "BabelStream, CUDA",
    "gpu-latency": "gpu-benches' gpu-latency",
    "gpu-l2-cache": "gpu-benches' gpu-l2-cache",
    "nvbandwidth": "nvbandwidth",
    "clpeak": "clpeak, CUDA",
}
ELEMENTS = 1 << 28
SHARED_WORDS = 128  # bytes per cycle of an SM's shared memory: 32 banks of 4 bytes


def output(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


class Card:
    """Cells of one device; each call is a run of its own."""

    def __init__(self, assay, device):
        self.assay, self.device = assay, device

    def cells(self, probe, budget="10s", **axes):
        sets = [word for name, value in axes.items() for word in ("--set", f"{name}={value}")]
        self.assay.command("run", "probe:" + probe, "--device", self.device, "--quiet", "--precision", "1%",
                           "--budget", budget, *sets)
        return [c for c in self.assay.cells() if c["n"]]

    def info(self):
        export = json.loads(self.assay.command("export", "last", "--format", "json")[0])
        return next(d for d in export["run"]["devices"] if d["id"] == self.device)


def cycles(cell):
    return cell["median"] * 1e-9 * cell["clock_hz"]


def at_least(what, value, bound, unit, floor):
    return row(what, f"{value:.4g} {unit}, {100 * value / bound:.1f}% of {bound:.4g}", f"at least {100 * floor:.1f}%",
               value >= floor * bound)


def beside(what, mine, theirs, unit, floor=None, share=None):
    """mine, theirs: of the same rounds."""
    ratio, low, high = ratio_interval(mine, theirs)
    value = (f"{statistics.median(mine):.4g} {unit} / {statistics.median(theirs):.4g} = {ratio:.4f} "
             f"({low:.4f} to {high:.4f})")
    if floor is not None:
        return row(what, value, f"at least {floor:.2f}", ratio >= floor)
    return row(what, value, f"1 within {100 * share:.0f}%", abs(ratio - 1) <= share)


def memory(card, paths, rounds):
    """Main memory: triad beside BabelStream; triad, write and read against the physical peak."""
    mine, theirs, rows = {}, [], []
    for _ in range(rounds):
        for op, size in (("triad", 3 * 8 * ELEMENTS), ("write", 8 * ELEMENTS), ("read", 8 * ELEMENTS)):
            mine.setdefault(op, []).extend(card.cells("bandwidth", op=op, level="memory", size=size, threads=0,
                                                      way="best", width="best", allocator="first", touch="device"))
        if "babelstream-cuda" in paths:
            text = output([paths["babelstream-cuda"], "-s", str(ELEMENTS), "-n", "40"])
            theirs.append(float(re.search(r"^Triad\s+([0-9.]+)", text, re.M).group(1)) / 1000)
    if theirs:
        rows.append(beside("triad f64: assay / BabelStream", [c["median"] for c in mine["triad"]], theirs, "GB/s",
                           floor=1.02))
    peak = card.info()["peak_bandwidth"] * 1e-9
    for op, floor in (("triad", 0.925), ("write", 0.96), ("read", 0.955)):
        rows.append(at_least(f"{op} of the physical peak", statistics.median(c["median"] for c in mine[op]), peak,
                             "GB/s", floor))
    return rows


def on_chip(card, paths):
    rows = []
    for name, axes in (("L1 per SM", {"what": "own", "size": "64KiB"}), ("shared memory per SM", {"what": "shared"})):
        best = max(c["median"] for c in card.cells("onchip_bandwidth", width=128, stride=1, **axes))
        rows.append(at_least(name, best, SHARED_WORDS, "B/cycle", 0.99))
    cells = card.cells("onchip_bandwidth", what="common", size="1MiB,4MiB,16MiB", width=128, stride=1,
                                   compute_units="every")
    info = card.info()
    mine = max(c["median"] * info["units"] * c["clock_hz"] * 1e-9 for c in cells)
    sweep = card.cells("bandwidth", op="read", level="sweep", size="4MiB,8MiB,16MiB,32MiB", threads=0,
                       width="best", way="best", touch="device", allocator="first")
    rows.append(row("L2, each word by one unit", ", ".join(f"{c['median']:.0f} GB/s of {c['axes']['size'] >> 20} MiB"
                                                         for c in sweep), "", None))
    if "gpu-l2-cache" in paths:
        found = re.findall(r"(\d+) kB\s+\S+ms\s+\S+%\s+([0-9.]+) GB/s", output([paths["gpu-l2-cache"]]))
        rows.append(beside("L2, all units read the same: assay / gpu-l2-cache", [mine],
                           [max(float(rate) for _, rate in found)], "GB/s", floor=1.0))
    return rows


def latency(card, paths):
    rows, sizes = [], "2KiB,8KiB,32KiB,128KiB,512KiB,2MiB,8MiB,512MiB"
    walked = {c["axes"]["size"]: c for c in card.cells("latency", size=sizes, pattern="random", stride=128,
                                                       allocator="first", instrument="timed", budget="20s")}
    first = [cycles(c) for size, c in walked.items() if size <= 128 << 10]
    rows.append(row("latency inside L1, highest / lowest", f"{max(first) / min(first):.4f}", "at most 1.01",
                    max(first) / min(first) <= 1.01))
    if "gpu-latency" in paths:
        found = re.findall(r"^\s*\d+\s+\d+\s+([0-9.]+)\s+\S+\s+([0-9.]+)", output([paths["gpu-latency"]]), re.M)
        theirs = {float(kib) * 1024: float(count) for kib, count in found}
        for name, size, share in (("L1", 2 << 10, 0.01), ("L2", 2 << 20, 0.01), ("memory", 512 << 20, 0.02)):
            near = min(theirs, key=lambda s: abs(s - size))
            rows.append(beside(f"latency of {name}: assay / gpu-latency", [cycles(walked[size])], [theirs[near]],
                               "cycles", share=share))
    for size in ("32KiB", "2MiB", "256MiB"):
        both = {c["axes"]["instrument"]: c["median"]
                for c in card.cells("latency", size=size, pattern="random", stride=64, allocator="first",
                                    instrument="timed,persistent")}
        if len(both) == 2:
            rows.append(beside(f"latency over {size}: persistent / timed", [both["persistent"]], [both["timed"]], "ns",
                               share=0.02))
    return rows


def arithmetic(card):
    rows = []
    for cell in card.cells("roofline", type="f32,f64", threads=0, width="best", budget="15s"):
        bound = cell["limit"] * cell["clock_hz"] / card.info()["clock_max_hz"]
        rows.append(at_least(f"fma {cell['axes']['type']} at {cell['clock_hz'] * 1e-6:.0f} MHz", cell["median"] * 1e-12,
                             bound * 1e-12, "TFLOP/s", 0.995))
    return rows


# nvbandwidth's test, what assay measures beside it, the least ratio or how near to 1.
HOST_TESTS = (
    ("host_to_device_memcpy_ce", "copy", {"from": "cuMemHostAlloc", "to": "cuMemAlloc", "how": "engine"}, 1.0),
    ("device_to_host_memcpy_ce", "copy", {"from": "cuMemAlloc", "to": "cuMemHostAlloc", "how": "engine"}, 1.0),
)
PEER_TESTS = (
    ("device_to_device_memcpy_write_ce", "link", {"direction": "to", "how": "engine"}, 1.0),
    ("device_to_device_memcpy_read_ce", "link", {"direction": "from", "how": "engine"}, 1.0),
    ("device_to_device_memcpy_write_sm", "link", {"direction": "to", "how": "kernel"}, 1.0),
    ("device_to_device_memcpy_read_sm", "link", {"direction": "from", "how": "kernel"}, 1.0),
    ("device_to_device_bidirectional_memcpy_write_ce", "link", {"direction": "both", "how": "engine"}, 1.0),
)


def rates(path, test):
    """Numbers of the matrix that a test prints, without its sum."""
    found = re.findall(r"^ *\d+((?: +(?:[0-9.]+|N/A))+) *$", output([path, "-t", test]), re.M)
    return [float(v) for line in found for v in line.split() if v != "N/A"]


def links(card, paths):
    rows = []
    if "nvbandwidth" not in paths:
        return rows
    for test, probe, axes, floor in HOST_TESTS:
        (cell,) = card.cells(probe, direction="one", size="512MiB", **axes)
        rows.append(beside(f"{test}: assay / nvbandwidth", [cell["median"]], [max(rates(paths["nvbandwidth"], test))],
                           "GB/s", floor=floor))
    devices = [json.loads(line)["id"] for line in card.assay.command("devices", "--json")[0].splitlines()]
    if "cuda:1" not in devices:
        return rows + [row("copies between devices", "one device", "", None)]
    for test, probe, axes, floor in PEER_TESTS:
        (cell,) = card.cells(probe, peer=1, allocator="cuMemAlloc", size="512MiB", **axes)
        theirs = statistics.median(rates(paths["nvbandwidth"], test))
        theirs *= 2 if axes["direction"] == "both" else 1  # it prints one direction of the two
        rows.append(beside(f"{test}: assay / nvbandwidth", [cell["median"]], [theirs], "GB/s", floor=floor))
    (cell,) = card.cells("link_latency", peer=1, allocator="cuMemAlloc", what="load")
    theirs = statistics.median(rates(paths["nvbandwidth"], "device_to_device_latency_sm"))
    rows.append(beside("latency of a load from the other device", [cell["median"]], [theirs], "ns", share=0.03))
    return rows


# What clpeak calls a product by the vendor's library, and the type of ours. Its 16-bit sums of f16 have no counterpart.
LIBRARY_TYPES = {"bf16": "bf16", "tf32": "tf32", "fp8_e4m3": "e4m3", "int8": "s8"}
CLPEAK_SIZE = "16384"  # what it takes on a device of 56 units or more


def clpeak_products(path):
    """Our FLOP/s by type."""
    with tempfile.TemporaryDirectory(prefix="assay-clpeak-") as folder:
        found = os.path.join(folder, "found.json")
        output([path, "--cuda", "--cublas", "--json-file", found])
        with open(found, encoding="utf-8") as f:
            entries = json.load(f)["entries"]
    return {LIBRARY_TYPES[e["metric"]]: e["value"] * 1e12 for e in entries
            if e["test"].startswith("cublas") and e["metric"] in LIBRARY_TYPES and "value" in e}


def products(card, paths, rounds):
    """Ours beside the library's, and the library's as assay and as clpeak measure it. clpeak's operands are all the same
    number, whose bits hardly change: what is beside it are zeros, sustained as there; random ones stand with it."""
    def rates(**axes):
        cells = card.cells("matmul", budget="40s", **axes)
        return {tuple(c["axes"][name] for name in ("type", "path", "operands")): c["median"] for c in cells}

    rows, types = [], ",".join(LIBRARY_TYPES.values())
    both = rates(path="library,wgmma,wgmma_pair", type="f16,bf16,e4m3,s8,tf32", size="8192", hold="burst")
    for kind in sorted({kind for kind, path, _ in both if path == "library"}):
        own = max((rate for (k, path, _), rate in both.items() if k == kind and path != "library"), default=None)
        if own:
            rows.append(beside(f"product of 8192, {kind}: wgmma / library", [own * 1e-12],
                               [both[kind, "library", "random"] * 1e-12], "TFLOP/s", floor=0.9))
    theirs, mine = [], []
    for _ in range(rounds if "clpeak" in paths else 0):
        theirs.append(clpeak_products(paths["clpeak"]))
        mine.append(rates(path="library", type=types, size=CLPEAK_SIZE, operands="all", hold="sustained"))
    for kind in sorted(set.intersection(*map(set, theirs))) if theirs else []:
        zero, random = ([m[kind, "library", operands] * 1e-12 for m in mine] for operands in ("zero", "random"))
        what = f"library's product of {CLPEAK_SIZE}, {kind}"
        rows.append(beside(what + ": assay / clpeak", zero, [t[kind] * 1e-12 for t in theirs], "TFLOP/s", floor=1.0))
        rows.append(row(what + ", of random numbers", f"{statistics.median(random):.4g} TFLOP/s", "", None))
    return rows


def repeated(card, suite):
    """The suite twice: how long, what is ok, what agrees."""
    rows, runs = [], []
    for _ in range(2):
        _, seconds = card.assay.command("run", suite, "--device", card.device, "--quiet")
        cells = card.assay.cells()
        status = [c["status"] for c in cells]
        measured = sum(status.count(s) for s in ("ok", "wide", "rejected"))
        rows.append(row(f"{suite}: {measured} cells with numbers",
                        f"{seconds:.0f} s, {status.count('wide')} wide, {status.count('rejected')} rejected",
                        "at most 2% rejected, none failed", status.count("rejected") <= 0.02 * measured and
                        not {"failed", "crashed", "timeout"} & set(status)))
        runs.append({json.dumps([c["probe"], c["axes"]], sort_keys=True): c["median"]
                     for c in cells if c["status"] == "ok"})
    both = [(runs[0][k], runs[1][k]) for k in runs[0] if k in runs[1]]
    near = sum(abs(a / b - 1) <= 0.01 for a, b in both)
    rows.append(row(f"{suite} twice: {len(both)} cells ok in both", f"{near} within 1%", "at least 98%",
                    near >= 0.98 * len(both)))
    return rows


PARTS = ("memory", "onchip", "latency", "arithmetic", "links", "products", "twice")


def measure(assay, paths, rounds, suite, parts=PARTS):
    """paths: of the peers that are there; suite: the one that 'twice' runs."""
    card = Card(assay, "cuda:0")
    known = {"memory": lambda: memory(card, paths, rounds), "onchip": lambda: on_chip(card, paths),
             "latency": lambda: latency(card, paths), "arithmetic": lambda: arithmetic(card),
             "links": lambda: links(card, paths), "products": lambda: products(card, paths, rounds),
             "twice": lambda: repeated(card, suite)}
    rows = []
    for part in parts:
        found = known[part]()
        for line in found:
            print(f"{line['what']}: {line['value']} ({line['target']}) {line['verdict']}", file=sys.stderr, flush=True)
        rows += found
    return rows
