"""Does the comparison call the same thing the same, and find a small slow-down?"""
import itertools
import json
import sys

from common import row


def verdicts(assay, a, b, *options):
    """Verdicts of the pairs of valid cells that both runs have."""
    text, _ = assay.command("compare", str(a), str(b), "--json", *options, allow=(0, 3, 4))
    return [line["verdict"] for line in map(json.loads, text.splitlines()) if line.get("verdict")]


def runs(assay):
    return [json.loads(line)["id"] for line in assay.command("list", "runs", "--json")[0].splitlines()]


def alarms(assay, pairs):
    """Checks of runs of an unchanged machine that find a line of its data sheet worse, of how many."""
    found = [assay.command("check", *[word for run in base for word in ("--against", str(run))], *map(str, checked),
                           "--json", allow=(0, 3, 4))[0] for base, checked in pairs]
    return sum(json.loads(text.splitlines()[-1])["worse"] > 0 for text in found), len(found)


def same_machine(assay, count):
    """A/A: runs of quick on this machine, every pair compared at 3%, and checked, also two against two."""
    for number in range(count):
        print(f"run {number + 1} of {count}", file=sys.stderr, flush=True)
        assay.command("run", "quick", "--quiet")
    found = [v for a, b in itertools.combinations(sorted(runs(assay)), 2)
             for v in verdicts(assay, a, b)]
    different = sum(v in ("faster", "slower") for v in found)
    share = different / len(found) if found else 1
    rows = [row(f"A/A: {len(found)} pairs called different at 3%", f"{100 * share:.2f}%", "at most 1%", share <= 0.01)]
    every = sorted(runs(assay))
    ones = [([a], [b]) for a, b in itertools.permutations(every, 2)]
    twos = [(every[i:i + 2], every[k:k + 2]) for i in range(len(every) - 1) for k in range(len(every) - 1) if abs(i - k) > 1]
    for what, pairs in (("one run against one", ones), ("two runs against two", twos)):
        bad, n = alarms(assay, pairs)
        rows.append(row(f"checks that fail, {what}", f"{bad} of {n}", "at most 1%", bad <= 0.01 * n))
    return rows


def scripted_slowdown(assay, trials):
    """The scripted device, noisy, at its speed and 2% slower."""
    def run(slower, trial):
        speed = 1 + slower / 100
        script = assay.script(noise={"sd": 0.01, "trial_sd": 0.003}, seed=trial + 1,
                              levels=[{"size": 0, "ns": 1.5 * speed, "gbs": 20}])
        assay.command("run", "latency", "--device", "null", "--set", "size=4KiB", "--set", "pattern=random", "--set",
                      "allocator=malloc", "--quiet", "--seed", str(trial), "--trials", "8", "--precision", "2%",
                      env=script)
        return max(runs(assay))
    found = {0: 0, 2: 0}
    for trial in range(trials):
        base = run(0, 3 * trial)
        for slower in found:
            other = run(slower, 3 * trial + 1 + (slower > 0))
            found[slower] += "slower" in verdicts(assay, base, other, "--check", "0.5%")
    return [row("a slow-down of 2% is found", f"{100 * found[2] / trials:.0f}% of {trials}", "at least 95%",
                found[2] >= 0.95 * trials),
            row("no slow-down is called one", f"{100 * found[0] / trials:.0f}% of {trials}", "at most 5%",
                found[0] <= 0.05 * trials)]
