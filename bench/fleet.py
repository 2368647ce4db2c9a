"""Does a fleet of real ranks name the one that is slow, and no other? Sixteen ranks on this host take turns; in half of
the launches one runs under a quota of half of the CPUs (cgroup v2 cpu.max, or v1 cpu.cfs_quota_us)."""
import contextlib
import json
import os
import random
import socket
import subprocess
import sys

from common import row

RANKS, PERIOD_US = 16, 100000
QUOTA_US = PERIOD_US * max(1, len(os.sched_getaffinity(0)) // 2)
SUITE = """[suite]
trials = 5
devices = cpu
[roofline]
type = f64
threads = max
width = best
"""


def quota_folder():
    """A group of processes with the quota, or why there can be none."""
    for base, files in (("/sys/fs/cgroup", {"cpu.max": f"{QUOTA_US} {PERIOD_US}"}),
                        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": QUOTA_US})):
        folder = f"{base}/assay-bench-{os.getpid()}"
        try:
            os.mkdir(folder)
            for name, value in files.items():
                with open(f"{folder}/{name}", "r+", encoding="ascii") as f:  # not where there is no such controller
                    f.write(str(value))
            return folder
        except OSError as why:
            said = why
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    sys.exit(f"fleet needs a cgroup with a CPU quota: {said}")


def start(assay, rank, launch, folder, suite, group):
    env = dict(os.environ, OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(RANKS),
               OMPI_COMM_WORLD_LOCAL_RANK=str(rank), PMIX_NAMESPACE=str(launch))
    words = [assay.program, "fleet", "run", suite, "--folder", folder, "--json", "--quiet"]
    if group:
        words = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *words]
    return subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def launch(assay, number, slow, group):
    """The verdicts of one launch by rank, and what is said of the slow one."""
    folder, suite = os.path.join(assay.folder, f"fleet{number}"), os.path.join(assay.folder, "suite.ini")
    with open(suite, "w", encoding="ascii") as f:
        f.write(SUITE)
    ranks = [start(assay, r, number, folder, suite, group if r == slow else None) for r in range(RANKS)]
    out = [p.communicate() for p in ranks]
    if ranks[0].returncode not in (0, 3, 4):
        sys.exit(f"assay fleet run: exit {ranks[0].returncode}\n{out[0][1]}")
    nodes = [json.loads(line) for line in out[0][0].splitlines()]
    host = socket.gethostname()
    of = {v["node"]: v for v in nodes}
    return [of[host + (f"-{r}" if r else "")] for r in range(RANKS)]


def measure(assay, launches):
    chance, group = random.Random(1), quota_folder()
    named, wrong, missing, intervals = 0, 0, 0, []
    try:
        for number in range(2 * launches):
            slow = chance.randrange(1, RANKS) if number % 2 else None
            nodes = launch(assay, number, slow, group)
            for rank, node in enumerate(nodes):
                is_slow = node["verdict"] == "slow"
                named += is_slow and rank == slow
                wrong += is_slow and rank != slow
                missing += node["verdict"] == "unknown"
            if slow is not None:
                intervals += [f"{100 * f['ci_low']:.0f} to {100 * f['ci_high']:.0f}%" for f in nodes[slow]["findings"] if f["worse"]][:1]
    finally:
        os.rmdir(group)
    return [row(f"ranks under a quota of {QUOTA_US / PERIOD_US:.0f} of {len(os.sched_getaffinity(0))} CPUs that are named", f"{named} of {launches}", "all", named == launches),
            row("by how much, at 95%", ", ".join(intervals), "-", True),
            row("other ranks that are named", f"{wrong} of {(2 * RANKS - 1) * launches}", "none", not wrong),
            row("ranks without a verdict", f"{missing} of {2 * RANKS * launches}", "none", not missing)]
