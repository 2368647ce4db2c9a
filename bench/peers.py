"""The same quantity by assay and by a peer, interleaved in random order in each round."""
import os
import random
import re
import statistics
import subprocess
import sys

from common import cv, ratio_interval, row

PROGRAMS = {
    "stream": "STREAM 5.10, built with OpenMP and its own best flags",
    "babelstream": "BabelStream, OpenMP",
    "multichase": "multichase",
    "core-to-core": "Microbenchmarks' CoherencyLatency with pthreads",
}


REPETITIONS = 20
DRAM_BYTES = 1 << 30


def run(command, **env):
    done = subprocess.run(command, env=dict(os.environ, **env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def best_rate(text, function):
    """STREAM and BabelStream: the best rate of a function in MB/s, as GB/s."""
    found = re.search(rf"^{function}:?\s+([0-9.]+)", text, re.M)
    if not found:
        sys.exit(f"no line '{function}' in the peer's output:\n{text}")
    return float(found.group(1)) / 1000


def stream(path, threads):
    return best_rate(run([path], OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="true"), "Triad")


def babelstream(path, threads, elements):
    return best_rate(run([path, "-s", str(elements), "-n", "20"], OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="true"),
                     "Triad")


def multichase(path, size):
    """Random over the whole buffer, one element per line, no TLB locality (-T is the size)."""
    return float(run([path, "-m", str(size), "-s", "64", "-T", str(size), "-n", "3"]).split()[-1])


def core_to_core(path, cpus):
    """One-way core-to-core latency: the receiver spins on plain loads, the sender stores, whatever options are given."""
    matrix = [line.split(",") for line in run([path]).splitlines() if "," in line]
    return float(matrix[cpus[0]][cpus[1]])


def best_of_first(cell):
    """As the peers do: the best of REPETITIONS samples."""
    return max(cell["samples"][:REPETITIONS])


def best_of_trials(cell):
    """multichase prints the minimum over one page placement: take the minimum per trial, then the median over trials. In
    DRAM take assay's median: its short samples find page tables in the caches."""
    if float(cell["axes"]["size"]) >= DRAM_BYTES:
        return cell["median"]
    trials = {}
    for trial, sample in zip(cell["sample_trials"], cell["samples"]):
        trials.setdefault(trial, []).append(sample)
    return statistics.median(map(min, trials.values()))


def stream_elements(path):
    found = re.search(r"Array size = (\d+)", run([path], OMP_NUM_THREADS="1"))
    return int(found.group(1)) if found else None


class Comparison:
    """One quantity measured by several tools: the runner of each, and the target for assay."""

    def __init__(self, name, unit, runners, target):
        self.name, self.unit, self.runners, self.target = name, unit, runners, target
        self.values = {tool: [] for tool in runners}

    def run(self, rng):
        order = list(self.runners)
        rng.shuffle(order)
        for tool in order:
            self.values[tool].append(self.runners[tool]())

    def rows(self):
        rows = [row(f"{self.name}: {tool}",
                    f"{statistics.median(v):.4g} {self.unit}, CV {100 * cv(v):.1f}%", "", None)
                for tool, v in self.values.items()]
        ours = [t for t in self.runners if t.startswith("assay")]
        peers = [t for t in self.runners if not t.startswith("assay")]
        for tool in ours:
            rows += self.target(self, tool, peers)
        return rows


def at_least(comparison, tool, peers, floor=1.0, steady=True):
    """Not below the best peer; steadier than each."""
    best = max(peers, key=lambda p: statistics.median(comparison.values[p]))
    ratio, low, high = ratio_interval(comparison.values[tool], comparison.values[best])
    rows = [row(f"{comparison.name}: {tool} / {best}", f"{ratio:.3f} ({low:.3f} to {high:.3f})", f"at least {floor:.2f}",
                ratio >= floor)]
    return rows + (steadiness(comparison, tool, peers) if steady else [])


def within(share):
    def target(comparison, tool, peers):
        (peer,) = peers
        ratio, low, high = ratio_interval(comparison.values[tool], comparison.values[peer])
        return [row(f"{comparison.name}: {tool} / {peer}", f"{ratio:.3f} ({low:.3f} to {high:.3f})",
                    f"1 within {100 * share:.0f}%", abs(ratio - 1) <= share)] + steadiness(comparison, tool, peers)
    return target


def steadiness(comparison, tool, peers):
    rows = []
    for peer in peers:
        own, other = cv(comparison.values[tool]), cv(comparison.values[peer])
        known = other > 0  # 0: the peer printed the same value in every round; nan: one round
        rows.append(row(f"{comparison.name}: CV of {tool} / {peer}", f"{own / other:.2f}" if known else "-",
                        "at most 0.50", own <= 0.5 * other if known else None))
    return rows


def comparisons(assay, paths):
    found = []
    elements = stream_elements(paths["stream"]) if "stream" in paths else None
    elements = elements or 40_000_000
    for threads in sorted({1, min(2, len(os.sched_getaffinity(0)))}):
        runners = {}
        if "stream" in paths:
            runners["STREAM"] = lambda t=threads: stream(paths["stream"], t)
        if "babelstream" in paths:
            runners["BabelStream"] = lambda t=threads: babelstream(paths["babelstream"], t, elements)
        if not runners:
            continue
        for kind in ("regular", "nt"):
            def triad(kind=kind, t=threads):
                # in base pages, as the peers' arrays: page placement matters more here than the kernel
                return best_of_first(assay.cell("bandwidth", op="triad", level="memory", size=3 * 8 * elements, threads=t,
                                                store=kind, width="best", allocator="mmap"))
            found.append(Comparison(f"triad, {threads} thread{'s' * (threads > 1)}, best", "GB/s",
                                    dict(runners, **{f"assay {kind}": triad}), at_least))
    # 16 and 512 KiB fit in caches of every machine; 32 KiB and 1 MiB fill a level on some, where the peer's other data
    # evicts lines.
    for size, share in ((16 << 10, 0.01), (32 << 10, 0.01), (512 << 10, 0.01), (1 << 20, 0.01), (1 << 30, 0.03)):
        if "multichase" in paths:
            def chase(size=size):
                return best_of_trials(assay.cell("latency", size=size, pattern="random", stride=64, allocator="mmap"))
            found.append(Comparison(f"chase over {size >> 10} KiB", "ns",
                                    {"multichase": lambda s=size: multichase(paths["multichase"], s), "assay": chase},
                                    within(share)))
    if "core-to-core" in paths:
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) == 2:
            found.append(Comparison("core to core, one way", "ns",
                                    {"Microbenchmarks": lambda: core_to_core(paths["core-to-core"], cpus),
                                     "assay": lambda: assay.cell("c2c", **{"from": cpus[0], "to": cpus[1], "peer": "cpu",
                                                                           "op": "load", "pairs": "some"})["median"]},
                                    within(0.05)))
    return found


def measure(assay, paths, rounds):
    if not paths:
        return [row("no peers given", "", "", None)]
    rng, found = random.Random(), comparisons(assay, paths)
    for number in range(rounds):
        for item in rng.sample(found, len(found)):
            item.run(rng)
            print(f"round {number + 1} of {rounds}: {item.name}: "
                  + ", ".join(f"{tool} {v[-1]:.4g}" for tool, v in item.values.items()), file=sys.stderr, flush=True)
    return [line for item in found for line in item.rows()]
