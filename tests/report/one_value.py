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
    values = [*values_of_page(page), *values_of_sheet(read(assay, sample, "export", "--format", "sheet")),
              *values_of_header(read(assay, sample, "export", "--format", "header"))]
    return page, values


def test_one_value(assay):
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        page, values = views(assay, sample)
        expect(len({view for _, _, view, _ in values}) >= 4, f"{sample}: views have numbers", {v for _, _, v, _ in values})
        expect(not list(contradictions(values)), f"{sample}: one value each", list(contradictions(values)))
        expect(not list(uncited(page)), f"{sample}: every number cites", list(uncited(page)))


def test_planted_faults_are_seen(assay):
    """A second value of one quantity, and a number that cites nothing."""
    page, values = views(assay, "h200-full.db")
    device, quantity, view, value = next(v for v in values if v[2] == "map")
    expect(list(contradictions([*values, (device, quantity, view, value * 1.01)])), "a second value is seen")
    expect(list(uncited(re.sub(r' data-quantity="[^"]*"', "", page))), "a number without a quantity is seen")


if __name__ == "__main__":
    harness.main(globals())
