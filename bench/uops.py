"""CPU instructions by operand (probe cpu_operands) beside the figures that uops.info measured on the same core."""
import json
import statistics

from common import row

TARGET = 0.02
LEAST = 0.9  # share of the figures within it
KINDS = ("latency", "throughput")


def references(assay):
    """The table whose chip is in this CPU's name, or None; and the CPU's name."""
    sheet = json.loads(assay.command("export", "--format", "sheet")[0])
    name = next((d["name"] for d in sheet["devices"] if d["id"] == "cpu"), "")
    tables = [json.loads(line) for line in assay.command("list", "refs", "--json")[0].splitlines() if line.strip()]
    return next((t["refs"] for t in tables if "uops.info" in t["source"] and t["chips"] in name), None), name


def ratio_of(value, low, high):
    """To the nearest figure of a printed range; None: a figure of 0."""
    nearest = min(max(value, low), high)
    return value / nearest if nearest > 0 else None


def compared(document):
    """{kind: [(fact's id, value, figure in words, ratio or None)]}, without measurements that are upper bounds."""
    facts = {f["id"]: f for f in document["facts"] if " at most " not in f["sentence"]}
    found = {kind: [] for kind in KINDS}
    for figure in document["references"]:
        low, high = figure["low"], figure["high"]
        words = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        for beside in figure["beside"]:
            fact = facts.get(beside["fact"])
            if fact and fact["value"] is not None:
                kind = fact["id"].split(".")[1]
                found[kind].append((fact["id"], fact["value"], words, ratio_of(fact["value"], low, high)))
    return found


def is_within(ratio):
    return ratio is not None and abs(ratio - 1) <= TARGET


def rows(document):
    for kind, all_of_it in compared(document).items():
        ratios = [ratio for *_, ratio in all_of_it if ratio is not None]
        within = sum(map(is_within, ratios))
        for name, value, words, ratio in all_of_it:
            if not is_within(ratio):
                shown = "a figure of 0" if ratio is None else f"{ratio:.3f}"
                yield row(f"  {name}", f"{value:.3g} cycles / {words}: {shown}", "", None)
        if ratios:
            yield row(f"{kind}, median ratio", f"{statistics.median(ratios):.4f}", "", None)
            yield row(f"{kind}, within {100 * TARGET:.0f}%", f"{within} of {len(ratios)} ({100 * within / len(ratios):.0f}%)",
                      f"{100 * LEAST:.0f}%", within >= LEAST * len(ratios))


def measure(assay, budget):
    assay.command("run", "cpu_operands", "--device", "cpu", "--quiet", "--budget", budget, "--set", "instruction=all", "--set",
                  "what=all")
    table, name = references(assay)
    if not table:
        return [row("published figures", f"uops.info has no table here for {name or 'this CPU'}", "", None)]
    return list(rows(json.loads(assay.command("facts", "--json", "--refs", table)[0])))
