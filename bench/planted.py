"""Does check find a slowdown of 5%, and nothing else? Data sheets of a sample, resampled as runs of one machine: each line
varies by its own interval and from run to run; in the checked runs three lines of the GPU are 5% worse."""
import copy
import json
import os
import random
import uuid

from common import row

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../samples")
BETWEEN, PLANTED, TOLERANCE, PRECISE = 0.003, 0.05, "2%", 0.01


def key_of(device, line):
    return device["id"], line["group"], line["quantity"]


def lines_of(sheet):
    """The lines with a number that is no capacity."""
    return [(d, x) for d in sheet["devices"] for x in d["lines"] if x["value"] and x["unit"] != "B"]


def half_width(line):
    return (line["ci_high"] - line["ci_low"]) / 2 / line["value"]


def draw(sheet, chance, worse):
    """The sheet as another run would give it."""
    made = copy.deepcopy(sheet)
    made.update(run=str(uuid.UUID(int=chance.getrandbits(128), version=4)), started_at=sheet["started_at"] + chance.randrange(10**6))
    for device, line in lines_of(made):
        factor = (1 + chance.gauss(0, BETWEEN)) * (1 + chance.gauss(0, min(half_width(line) / 2, 0.3)))
        if key_of(device, line) in worse:
            factor *= 1 / (1 - PLANTED) if line["unit"] in ("ns", "s") else 1 - PLANTED
        for member in ("value", "ci_low", "ci_high"):
            line[member] *= abs(factor)
    return made


def check(assay, sheet, chance, worse, base, checked):
    """The verdicts by line."""
    paths = []
    for i in range(base + checked):
        paths.append(os.path.join(assay.folder, f"{i}.json"))
        with open(paths[-1], "w", encoding="utf-8") as f:
            json.dump(draw(sheet, chance, worse if i >= base else ()), f)
    against = [word for path in paths[:base] for word in ("--against", path)]
    text, _ = assay.command("check", *against, *paths[base:], "--tolerance", TOLERANCE, "--json", allow=(0, 3))
    found = [json.loads(line) for line in text.splitlines()]
    return {(x["device"], x["group"], x["quantity"]): x["verdict"] for x in found if x.get("quantity")}


def measure(assay, trials):
    rows, chance = [], random.Random(1)
    for base, checked in ((9, 3), (4, 3), (3, 2)):
        found = {True: [], False: []}  # by whether the line is precise
        alarms, others = 0, 0
        for sample in ("h100-quick.db", "h200-quick.db"):
            sheet = json.loads(assay.command("export", "--format", "sheet", store=os.path.join(SAMPLES, sample))[0])
            lines = {key_of(d, x): half_width(x) for d, x in lines_of(sheet) if d["id"] != "cpu"}
            for _ in range(trials // 2):
                worse = chance.sample(sorted(lines), 3)
                said = check(assay, sheet, chance, worse, base, checked)
                for line in worse:
                    found[lines[line] < PRECISE].append(said[line] == "worse")
                alarms += sum(verdict == "worse" for line, verdict in said.items() if line not in worse)
                others += len(said) - len(worse)
        what = f"5% worse at a tolerance of {TOLERANCE}, {checked} runs against {base}"
        for precise, name in ((True, "within 1%"), (False, "less precise")):
            share = sum(found[precise]) / len(found[precise])
            rows.append(row(f"{what}: lines known {name}", f"{100 * share:.0f}% of {len(found[precise])}",
                            *(("at least 95%", share >= 0.95) if precise and base == 9 else ("-", True))))
        rows.append(row(f"{what}: other lines that fail", f"{alarms} of {others}", "at most 1%", alarms <= 0.01 * others))
    return rows
