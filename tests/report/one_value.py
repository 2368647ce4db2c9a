"""A quantity has one value in a run, whichever view prints it: the page's sheet, map and roofline, the sheet as JSON, the C header.

Views name the quantity (data-quantity) beside the value (data-value), or the fact that a number is (data-fact). A number that names
neither is a fault too."""
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
CITED = re.compile(r'data-device="([^"]*)" data-quantity="([^"]*)" data-value="([^"]*)"')
DEFINED = re.compile(r"^#define ASSAY_(\S+) (\S+) /\* (\S+?),? ")
ROUNDED = 1e-5  # the header has six digits
SHOWN = 0.0055  # and the terminal three
LABEL = 20  # letters of a label that are in one line of the terminal
BASES = ("updates/s", "FLOP/s", "OP/s", "B/cycle", "cycles", "B/s", "Hz", "s", "x")
PREFIXES = {"": 1, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def read(assay, sample, *words):
    done = assay.run(*words, "--store", os.path.join(SAMPLES, sample))
    expect(done.code == OK, f"'{' '.join(words)}' reads {sample}", done)
    return done.out


def values_of_page(page):
    """(device, quantity): [(view, value)]"""
    for view, pattern in (("sheet", r'<table class="sheet">.*?</table>'), ("map", r'<svg [^>]*class="map.*?</svg>'), ("links", r'<table class="figures"><caption>Links:.*?</table>'),
                          ("devices", r'<table class="figures"><caption>Every device.*?</table>'),
                          ("roofline", r'<svg class="roofline.*?</svg>|<table class="figures"><caption>Ceilings.*?</table>')):
        for part in re.findall(pattern, page, re.S):
            for device, quantity, value in CITED.findall(part):
                yield device, quantity, view, float(value)


def uncited(page):
    """Numbers of the map and the roofline that name nothing."""
    for cited, value in re.findall(r'(<g [^>]*>)?<text class="value"[^>]*>(.*?)</text>', page, re.S):
        if "data-quantity=" not in cited and "data-fact=" not in cited:
            yield "map", value
    for label in re.findall(r'<svg class="roofline.*?</svg>', page, re.S):
        for text in re.findall(r"<text (?:transform|[^>]*fill=\"var\(--ink\)\")[^>]*>(.*?)</text>", label, re.S):
            if "/s" in text and "data-quantity=" not in text and "muted" not in text:
                yield "roofline", re.sub("<[^>]*>", "", text)


def values_of_sheet(text):
    for device in json.loads(text)["devices"]:
        for line in device["lines"]:
            yield device["id"], line["name"], "export sheet", line["value"]


def values_of_facts(sheet, facts):
    """Of lines that are facts, the facts' own values, where they are in the same unit."""
    said = {(f["device"], f["id"]): f for f in json.loads(facts)["facts"]}
    for device in json.loads(sheet)["devices"]:
        for line in device["lines"]:
            fact = said.get((device["id"], line["fact"]))
            expect(fact or not line["fact"], f"'{line['fact']}' is a fact")
            if fact and fact["unit"] == line["unit"]:
                yield device["id"], line["name"], "facts", fact["value"]


def in_base_unit(value, unit):
    """1.2, "µs": 1.2e-6"""
    base = next(base for base in BASES if unit.endswith(base))
    return value * PREFIXES[unit[:len(unit) - len(base)].strip()]


def values_of_terminal(sheet, shown):
    """(device, quantity, value of the sheet, value that is shown), in base units, of all lines but sizes, which are shown as ranges.
    A device's lines are in one order in both."""
    for device in json.loads(sheet)["devices"]:
        rows = [line for line in device["lines"] if line["unit"] != "B" and len(line["quantity"]) <= LABEL]
        lines = iter(shown.partition(f"\n{device['id']}: ")[2].splitlines())
        for line in rows:
            number = re.compile(r"(?:^|\s{2,})" + re.escape(line["quantity"]) + r"\s{2,}([0-9.]+) ?((?:[kMGT] )?\S+)")
            found = next((found for at in lines if (found := number.search(at))), None)
            expect(found, f"'{line['group']} {line['quantity']}' is shown")
            yield (device["id"], line["name"], in_base_unit(line["value"], line["unit"]),
                   in_base_unit(float(found.group(1)), found.group(2)))


def values_of_header(text):
    device = None
    for line in text.splitlines():
        if line.startswith("/* Device "):
            device = line.split()[2]
        found = DEFINED.match(line)
        if found:
            yield device, found.group(3), "header", float(found.group(2))


def contradictions(values):
    """Values of one quantity of one device that differ, as text."""
    first = {}
    for device, quantity, view, value in values:
        before, there = first.setdefault((device, quantity), (value, view))
        if not math.isclose(before, value, rel_tol=ROUNDED):
            yield f"{device} {quantity}: {before} ({there}), {value} ({view})"


def views(assay, sample):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        read(assay, sample, "report", "-o", path)
        with open(path, encoding="utf-8") as f:
            page = f.read()
    sheet = read(assay, sample, "export", "--format", "sheet")
    values = [*values_of_page(page), *values_of_sheet(sheet), *values_of_facts(sheet, read(assay, sample, "facts", "--json")),
              *values_of_header(read(assay, sample, "export", "--format", "header"))]
    return page, values


def test_one_value(assay):
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        page, values = views(assay, sample)
        expect(len({view for _, _, view, _ in values}) >= 4, f"{sample}: views have numbers", {v for _, _, v, _ in values})
        expect(not list(contradictions(values)), f"{sample}: one value each", list(contradictions(values)))
        expect(not list(uncited(page)), f"{sample}: every number cites", list(uncited(page)))


def compare_terminal(assay, sample, factor=1.0):
    """How many numbers there are, and those of the terminal that are not the sheet's times a factor."""
    shown = assay.run("show", "--store", os.path.join(SAMPLES, sample), env={"COLUMNS": "160", "LC_ALL": "C.UTF-8"}).out
    values = list(values_of_terminal(read(assay, sample, "export", "--format", "sheet"), shown))
    return len(values), [v for v in values if not math.isclose(v[2] * factor, v[3], rel_tol=SHOWN)]


def test_terminal_shows_the_values(assay):
    numbers = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        count, wrong = compare_terminal(assay, sample)
        numbers += count
        expect(not wrong, f"{sample}: the terminal shows the sheet", wrong)
    expect(numbers > 100, "the terminal has numbers", numbers)


def test_planted_faults_are_seen(assay):
    """A second value of one quantity, and a number that cites nothing."""
    page, values = views(assay, "h200-full.db")
    device, quantity, view, value = next(v for v in values if v[2] == "map")
    expect(list(contradictions([*values, (device, quantity, view, value * 1.01)])), "a second value is seen")
    expect(compare_terminal(assay, "h200-full.db", 1.02)[1], "another number in the terminal is seen")
    expect(list(uncited(re.sub(r' data-quantity="[^"]*"', "", page))), "a number without a quantity is seen")


if __name__ == "__main__":
    harness.main(globals())
