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


class Contest:
    """One quantity: who measures it, and what assay has to reach."""

    def __init__(self, name, unit, players, target):
        self.name, self.unit, self.players, self.target = name, unit, players, target
        self.values = {player: [] for player in players}

    def play(self, rng):
        order = list(self.players)
        rng.shuffle(order)
        for player in order:
            self.values[player].append(self.players[player]())

    def rows(self):
        rows = [row(f"{self.name}: {player}",
                    f"{statistics.median(v):.4g} {self.unit}, CV {100 * cv(v):.1f}%", "", None)
                for player, v in self.values.items()]
        mine = [p for p in self.players if p.startswith("assay")]
        theirs = [p for p in self.players if not p.startswith("assay")]
        for player in mine:
            rows += self.target(self, player, theirs)
        return rows


def at_least(contest, player, theirs, floor=1.0, steady=True):
    """Not below the best peer; steadier than each."""
    best = max(theirs, key=lambda p: statistics.median(contest.values[p]))
    ratio, low, high = ratio_interval(contest.values[player], contest.values[best])
    rows = [row(f"{contest.name}: {player} / {best}", f"{ratio:.3f} ({low:.3f} to {high:.3f})", f"at least {floor:.2f}",
                ratio >= floor)]
    return rows + (steadiness(contest, player, theirs) if steady else [])


def within(share):
    def target(contest, player, theirs):
        (peer,) = theirs
        ratio, low, high = ratio_interval(contest.values[player], contest.values[peer])
        return [row(f"{contest.name}: {player} / {peer}", f"{ratio:.3f} ({low:.3f} to {high:.3f})",
                    f"1 within {100 * share:.0f}%", abs(ratio - 1) <= share)] + steadiness(contest, player, theirs)
    return target


def steadiness(contest, player, theirs):
    rows = []
    for peer in theirs:
        mine, other = cv(contest.values[player]), cv(contest.values[peer])
        known = other > 0  # not where the peer printed one value in all rounds (0), or there was one round (nan)
        rows.append(row(f"{contest.name}: CV of {player} / {peer}", f"{mine / other:.2f}" if known else "-",
                        "at most 0.50", mine <= 0.5 * other if known else None))
    return rows


def contests(assay, paths):
    found = []
    elements = stream_elements(paths["stream"]) if "stream" in paths else None
    elements = elements or 40_000_000
    for threads in sorted({1, min(2, len(os.sched_getaffinity(0)))}):
        players = {}
        if "stream" in paths:
            players["STREAM"] = lambda t=threads: stream(paths["stream"], t)
        if "babelstream" in paths:
            players["BabelStream"] = lambda t=threads: babelstream(paths["babelstream"], t, elements)
        if not players:
            continue
        for kind in ("regular", "nt"):
            def triad(kind=kind, t=threads):
                # in base pages, as the peers' arrays lie: which pages one gets decides more here than the kernel
                return best_of_first(assay.cell("bandwidth", op="triad", level="memory", size=3 * 8 * elements, threads=t,
                                                store=kind, width="best", allocator="mmap"))
            found.append(Contest(f"triad, {threads} thread{'s' * (threads > 1)}, best", "GB/s",
                                 dict(players, **{f"assay {kind}": triad}), at_least))
    # 16 and 512 KiB lie inside the caches of every machine; 32 KiB and 1 MiB fill those of some, where whatever else the
    # peer touches drives lines out.
    for size, share in ((16 << 10, 0.01), (32 << 10, 0.01), (512 << 10, 0.01), (1 << 20, 0.01), (1 << 30, 0.03)):
        if "multichase" in paths:
            def chase(size=size):
                return best_of_trials(assay.cell("latency", size=size, pattern="random", stride=64, allocator="mmap"))
            found.append(Contest(f"chase over {size >> 10} KiB", "ns",
                                 {"multichase": lambda s=size: multichase(paths["multichase"], s), "assay": chase},
                                 within(share)))
    if "core-to-core" in paths:
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) == 2:
            found.append(Contest("core to core, one way", "ns",
                                 {"Microbenchmarks": lambda: core_to_core(paths["core-to-core"], cpus),
                                  "assay": lambda: assay.cell("c2c", **{"from": cpus[0], "to": cpus[1], "peer": "cpu",
                                                                        "op": "load", "pairs": "some"})["median"]},
                                 within(0.05)))
    return found


def measure(assay, paths, rounds):
    if not paths:
        return [row("no peers given", "", "", None)]
    rng, games = random.Random(), contests(assay, paths)
    for number in range(rounds):
        for game in rng.sample(games, len(games)):
            game.play(rng)
            print(f"round {number + 1} of {rounds}: {game.name}: "
                  + ", ".join(f"{player} {v[-1]:.4g}" for player, v in game.values.items()), file=sys.stderr, flush=True)
    return [line for game in games for line in game.rows()]
