"""Every ratio that a fact or its advice prints carries an interval, a range or a bound, over the stores under samples/; and no rule
prints one by hand, which would miss it."""
import glob
import json
import os
import re
import sqlite3
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import expect  # noqa: E402

NUMBER = r"\d[\d.,]*"
RATIO = re.compile(r"(?<![\w.,])(" + NUMBER + r")x(?!\w)")
# "3.1x as long (2.8 to 3.2x; ...)", "(2.8 to 3.2x", "over 2.1x", "under 0.5x"
BESIDE = re.compile(r"^[^();]*\((?:" + NUMBER + r" to " + NUMBER + r"x|one trial)")
RANGE = re.compile(r"(?:" + NUMBER + r" to |\bover |\bunder |\bincludes )$")
BY_HAND = re.compile(r"%[-+#0-9.*]*l?[efgEFG]x")


def bare(sentence, *numbers):
    """Ratios of a sentence without interval, but those of numbers (value, low, high) whose interval reads as the value does."""
    for found in RATIO.finditer(sentence):
        if RANGE.search(sentence[:found.start()]) or BESIDE.match(sentence[found.end():]):
            continue
        digits = len(re.sub(r"^0+", "", found.group(1).replace(".", "").replace(",", "")))
        shown = float(found.group(1).replace(",", ""))
        if not any(reads_alike(shown, digits, [v, low, high]) for v, low, high in numbers if v and low and high):
            yield found.group(0)


def reads_alike(shown, digits, ends):
    for values in (ends, [1 / v for v in ends]):
        if all(float(f"{v:.{digits}g}") == shown for v in values):
            return True
    return False


def facts_of(assay, store):
    for run in map(json.loads, assay.run("list", "runs", "--json", "--store", store).out.splitlines()):
        yield from json.loads(assay.run("facts", str(run["id"]), "--json", "--store", store).out)["facts"]


def cells_of(store, fact):
    """(median, low, high) of the ratios among the cells that a fact rests on."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        for cell in fact["evidence"]:
            yield from db.execute("SELECT median, ci_low, ci_high FROM cells WHERE id = ? AND unit = 'x'", (cell,))


def test_printed_ratios(assay):
    wrong, seen = [], 0
    for store in sorted(glob.glob(os.path.join(ROOT, "samples", "*.db"))):
        for f in facts_of(assay, store):
            seen += len(RATIO.findall(f["sentence"]))
            own, gain = (f["value"], f["ci_low"], f["ci_high"]), (f["gain"], f["gain_low"], f["gain_high"])
            wrong += [(os.path.basename(store), f["id"], r, f["sentence"]) for r in bare(f["sentence"], own, gain, *cells_of(store, f))]
            wrong += [(os.path.basename(store), f["id"], r, f["act"]) for r in bare(f["act"], gain)]
            if f["unit"] == "x" and f["verdict"] != "inconclusive" and f["ci_low"] is None:
                wrong.append((os.path.basename(store), f["id"], "no interval", f["sentence"]))
    expect(seen > 100 and not wrong, f"ratios with an interval, of {seen}", "\n".join(map(str, wrong)))


def test_numbers_lie_in_their_intervals(assay):
    wrong = []
    for store in sorted(glob.glob(os.path.join(ROOT, "samples", "*.db"))):
        for f in facts_of(assay, store):
            for name, (v, low, high) in (("value", (f["value"], f["ci_low"], f["ci_high"])),
                                         ("gain", (f["gain"], f["gain_low"], f["gain_high"]))):
                if None not in (v, low, high) and not low - 1e-9 * abs(low) <= v <= high + 1e-9 * abs(high):
                    wrong.append((os.path.basename(store), f["id"], name, low, v, high))
    expect(not wrong, "a value outside its interval", "\n".join(map(str, wrong)))


def test_clocks_are_compared_as_they_are(assay):
    """Numbers that scale with the core's clock are compared at one clock, but not the clock itself."""
    base, checked = (os.path.join(ROOT, "samples", name) for name in ("h100-quick.db", "h100-pair.db"))
    lines = map(json.loads, assay.run("check", "--json", "--against", base, "--store", checked).out.splitlines())
    clocks = [line for line in lines if line.get("unit") == "Hz" and line.get("base") and line.get("checked")]
    expect(len(clocks) >= 2, "clocks of CPU and GPU", clocks)
    expect(all(abs(line["ratio"] * line["base"] / line["checked"] - 1) < 1e-6 for line in clocks), "their ratios", clocks)


def test_no_ratio_by_hand(_assay):
    """Also of sentences that no sample has."""
    wrong = []
    for path in sorted(glob.glob(os.path.join(ROOT, "probes", "*", "*", "rule*.c")) + glob.glob(os.path.join(ROOT, "src", "facts", "*.c"))):
        with open(path, encoding="utf-8") as f:
            wrong += [f"{os.path.relpath(path, ROOT)}:{n}: {line.strip()}" for n, line in enumerate(f, 1) if BY_HAND.search(line)]
    expect(not wrong, "ratios are printed by as_noted_text", "\n".join(wrong))


def test_planted_ratios_are_seen(_assay):
    for text, count in (("x runs at 3.1x the rate", 1), ("3.1x as fast (2.8 to 3.2x) at 8", 0), ("it takes 2.8 to 3.2x as long", 0),
                        ("over 2.1x as long", 0), ("1.26x (1.21 to 1.28x) at 512, 1.08x at 8192", 1), ("0x10 and 16 x 16", 0)):
        expect(len(list(bare(text))) == count, text)
    expect(not list(bare("1.98x the rate", (1.98, 1.9799, 1.9801))) and list(bare("1.98x the rate", (1.98, 1.9, 2.1))), "of the fact itself")
    expect(BY_HAND.search('"; %.3gx less"') and not BY_HAND.search('"%zux %s"'), "by hand")


if __name__ == "__main__":
    harness.main(globals())
