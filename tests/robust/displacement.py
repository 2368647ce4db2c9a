"""A simulated cache that both sides share, with noise and drift: onset, slowdown and recovery have to be recovered."""
import json

import harness
from harness import MEASURED, expect

KIB = 1024
CACHE, BUFFER = 1024 * KIB, 256 * KIB
TOUCHED = (0, 512 * KIB, 832 * KIB, 896 * KIB, 1024 * KIB, 2048 * KIB)
EVICTED_NS, RESTORES, PASSES = 0.63, 0.9, 3  # beside 1 ns per access
SUITE = f"""[suite]
budget = 90s
trials = 12
precision = 3%
devices = null
[residual]
touched = {','.join(str(t) for t in TOUCHED)}
size = {BUFFER}
[residual.passes]
touched = {TOUCHED[-1]}
size = {BUFFER}
pass = 1,2,3
"""


def machine(shared):
    script = {"execute": True, "launch_ns": 0, "levels": [{"size": 0, "ns": 1, "gbs": 1}],
              "noise": {"sd": 0.01, "trial_sd": 0.05, "walk_sd": 0.01}, "info": {"threads": 2, "memory_free": 1 << 30}}
    if shared:
        script["shared"] = {"size": CACHE, "ns": EVICTED_NS, "restores": RESTORES}
    return script


def evicted(touched):
    return min(max((touched + BUFFER - CACHE) / BUFFER, 0), 1) if touched else 0


def truth(axes, shared):
    share = evicted(axes["touched"]) * (1 - RESTORES) ** (axes["pass"] - 1)
    return 1 + (EVICTED_NS * share if shared else 0)


def measure(assay, shared):
    path = assay.path("shared.ini")
    with open(path, "w", encoding="ascii") as f:
        f.write(SUITE)
    done = assay.null(machine(shared), path)
    expect(done.code in MEASURED, "measured", done)
    cells = assay.cells()
    expect(len(cells) == len(TOUCHED) + PASSES - 1, "every cell of the plan", [c["axes"] for c in cells])
    inside = 0
    for c in cells:
        want, low, high = truth(c["axes"], shared), c["ci_low"], c["ci_high"]
        inside += low <= want <= high
        # three times as wide as it is, plus what two warm passes leave: wide enough to be deterministic
        expect(low - (high - low) - 0.003 <= want <= high + (high - low) + 0.003, f"{want} is right", c)
    expect(inside >= len(cells) // 2, "most intervals hold the truth", inside)
    facts = json.loads(assay.run("facts", "--json").out)["facts"]
    return {f["id"].split(".")[1]: f for f in facts if f["id"].startswith("residual.")}


def test_a_shared_cache(assay):
    facts = measure(assay, True)
    begins, cost, rewarm = facts["begins"], facts["slowdown"], facts["rewarm"]
    expect(begins["verdict"] == "supported" and begins["ci_high"] == 832 * KIB, "the first size that exceeds the cache", begins)
    expect(cost["verdict"] == "supported" and abs(cost["value"] - 1.63) < 0.1, "all of the buffer is lost", cost)
    expect(abs(rewarm["value"] - 100 * (1 - 1.063 / 1.63)) < 6, "what a pass restores", rewarm)
    expect(facts["recovers"]["value"] == PASSES, "three passes", facts["recovers"])


def test_separate_memories(assay):
    facts = measure(assay, False)
    expect(facts["begins"]["value"] is None and "maximum tested" in facts["begins"]["sentence"], "nothing is displaced", facts["begins"])
    expect("rewarm" not in facts and "recovers" not in facts, "and nothing recovers", facts)


if __name__ == "__main__":
    harness.main(globals())
