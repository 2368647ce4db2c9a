"""The numbers that the views of a run print, and the quantities and facts that they cite."""
import configparser
import html
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
from harness import OK, expect  # noqa: E402  (beside the robust tests)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SAMPLES = os.path.join(ROOT, "samples")
TABLE = os.path.join(ROOT, "src", "quantity", "quantities.ini")
SOURCE = re.compile(r"(?:cpu|device|both)[2-9]?")
NUMBER = re.compile(r"(?<![\w.])([0-9][0-9,]*(?:\.[0-9]+)?) ?([nµmkMGT]?(?:FLOP/s|OP/s|B/cycle|B/s|cycles|Hz|s))(?![\w/])")
INTERVAL = re.compile(r" \([0-9.]+ to [0-9.]+ [^ ;)]*(?:\)|; )")
RANGE = re.compile(r"(?<![\w.])([0-9.]+) to ([0-9.]+) ?([nµmkMGT]?(?:FLOP/s|OP/s|B/cycle|B/s|cycles|Hz|s))(?![\w/])")
INSTRUCTION = re.compile(r'<a href="#c([0-9]+)">([0-9]+)</a>')
CITED = re.compile(r'data-device="([^"]*)" data-quantity="([^"]*)" data-value="([^"]*)"')
SHOWN_TEXT = re.compile(CITED.pattern + r"[^>]*>(?:<[^>]*>)*([^<]+)")
LABELLED = re.compile(r'<td class="l">([^<]*)<td class="v" ' + SHOWN_TEXT.pattern)
NUMBERS = re.compile(r"([0-9.]+)(?:(?: to |–)([0-9.]+))? ?((?:[kMGT] )?[^\s,]+)$")
SEEN = re.compile(r"; seen (once|in [0-9]+ (of [0-9]+ )?runs)(: .*)?$")
DEFINED = re.compile(r"^#define ASSAY_(\S+) (\S+) /\* (\S+?),? ")
ROUNDED = 1e-5
UNITS = ("ns", "GB/s", "FLOP/s", "OP/s", "B/cycle", "cycles", "Hz")  # of facts whose sentences print one number
SIZE = re.compile(r"(?<![\w.])([0-9.]+)(?: to ([0-9.]+))? ((?:[KMGTP]i)?B)(?![\w/])")
BINARY = {unit: 1024 ** power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
printed = {}  # of samples, by words
LABEL = 20  # letters of a label that are in one line of the terminal
BASES = ("updates/s", "FLOP/s", "OP/s", "B/cycle", "cycles", "B/s", "Hz", "s", "x")
PREFIXES = {"": 1, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def read(assay, sample, *words, columns=160):
    """What assay prints of a sample, in which nothing changes."""
    if (sample, words, columns) not in printed:
        done = assay.run(*words, "--store", os.path.join(SAMPLES, sample), env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"})
        expect(done.code == OK, f"'{' '.join(words)}' reads {sample}", done)
        printed[sample, words, columns] = done.out
    return printed[sample, words, columns]


def page_of(assay, sample, *run):
    """Of the last run, or without one of the machine over its runs."""
    if (sample, run) not in printed:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            expect(assay.run("report", *run, "-o", path, "--store", os.path.join(SAMPLES, sample)).code == OK, f"a page of {sample}")
            with open(path, encoding="utf-8") as f:
                printed[sample, run] = f.read()
    return printed[sample, run]


def values_of_page(page):
    """(device, quantity): [(view, value)]"""
    for view, pattern in (("sheet", r'<table class="sheet(?: joined)?">.*?</table>'), ("map", r'<svg [^>]*class="map.*?</svg>'), ("links", r'<table class="figures"><caption>Links:.*?</table>'),
                          ("devices", r'<table class="figures"><caption>Every device.*?</table>'),
                          ("roofline", r'<svg class="roofline.*?</svg>|<table class="figures"><caption>Ceilings.*?</table>')):
        for part in re.findall(pattern, page, re.S):
            for device, quantity, value in CITED.findall(part):
                yield device, quantity, view, float(value)


def shown_otherwise(page, sheet):
    """How many texts there are of cited numbers, and those that do not stand for the value that they cite. Sizes are ranges, and two
    modes or words are no number."""
    units = {(device["id"], line["name"]): line["unit"] for device in json.loads(sheet)["devices"] for line in device["lines"]}
    count, wrong = 0, []
    for device, quantity, value, text in SHOWN_TEXT.findall(page):
        unit = units.get((device, quantity), "B")
        found = NUMBERS.match(html.unescape(text).replace("\u00a0", " ").replace("×", "x").strip())
        if unit == "B" or not found or " or " in text:
            continue
        low, high, shown = found.groups()
        count += 1
        if not shown_as(low, shown)[0] <= in_base_unit(float(value), unit) <= shown_as(high or low, shown)[1]:
            wrong.append(f"{device} {quantity}: {text}, not {value} {unit}")
    return count, wrong


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
            if line["value"] is not None:  # a capacity is its range
                yield device["id"], line["name"], "export sheet", line["value"]


def values_of_facts(sheet, facts):
    """Of lines that are facts, the facts' own values, where they are in the same unit."""
    said = {(f["device"], f["id"]): f for f in json.loads(facts)["facts"]}
    for device in json.loads(sheet)["devices"]:
        for line in device["lines"]:
            fact = said.get((device["id"], line["fact"]))
            expect(fact or not line["fact"], f"'{line['fact']}' is a fact")
            if fact and fact["unit"] == line["unit"] and fact["value"] is not None:
                yield device["id"], line["name"], "facts", fact["value"]


def in_base_unit(value, unit):
    """1.2, "µs": 1.2e-6"""
    base = next(base for base in BASES if unit.endswith(base))
    return value * PREFIXES[unit[:len(unit) - len(base)].strip()]


def half_digit(number):
    """Half a unit of the last significant digit, and a little for the digit of the value that it was rounded from."""
    whole, _, rest = number.partition(".")
    zeros = len(whole) - len(whole.rstrip("0")) if not rest and whole.strip("0") else 0
    return 0.501 * 10.0 ** (zeros - len(rest))


def shown_as(number, unit):
    """The least and the most that a number as it is printed stands for."""
    value, half = float(number), half_digit(number)
    return in_base_unit(value - half, unit), in_base_unit(value + half, unit)


def is_same_hardware(shown, device):
    """Does the terminal name another device instead of its sheet?"""
    return re.search(rf"^{re.escape(device)} drives the same hardware", shown, re.M)


def values_of_terminal(sheet, shown):
    """(device, quantity, value of the sheet, the least and the most that the shown one stands for), in base units, of all lines but
    sizes; of a line that is in words or two modes, NAN. A device's lines are in one order in both."""
    for device in json.loads(sheet)["devices"]:
        if is_same_hardware(shown, device["id"]):
            continue
        rows = [line for line in device["lines"] if line["unit"] != "B" and len(line["quantity"]) <= LABEL]
        lines = iter(shown.partition(f"\n{device['id']}: ")[2].splitlines())
        for line in rows:
            number = re.compile(r"(?:^|\s{2,})" + re.escape(line["quantity"]) + r"(?:, [0-9]+ threads?)?"
                                + r"\s{2,}(?:([0-9.]+)(?![0-9.])(?: to ([0-9.]+)(?![0-9.]))? ?(?!to |or )((?:[kMGT] )?[^\s,]+)(?!\S| or)|too noisy|about [0-9]|[0-9.]+ (?:\S+ )?or [0-9]|over|under|at least|at most|inconclusive)")
            found = next((found for at in lines if (found := number.search(at))), None)
            expect(found, f"'{line['group']} {line['quantity']}' is shown")
            low, high, unit = found.groups()
            ends = (shown_as(low, unit)[0], shown_as(high or low, unit)[1]) if low else (math.nan, math.nan)
            yield device["id"], line["name"], in_base_unit(line["value"], line["unit"]), *ends


def header_apart(sheet, text):
    """How many constants of the C header are values of the sheet, and those that stand for another value."""
    values = {(device["id"], line["name"]): line["value"] for device in sheet["devices"] for line in device["lines"]}
    device, count, wrong = None, 0, []
    for line in text.splitlines():
        if line.startswith("/* Device "):
            device = line.split()[2]
        found = DEFINED.match(line)
        if not found or found.group(1).endswith(("_LOW", "_HIGH")):
            continue
        count += 1
        value, shown = values[device, found.group(3)], found.group(2).removesuffix(".0")
        if not (math.isclose(float(shown), value, rel_tol=ROUNDED) or abs(float(shown) - value) <= half_digit(shown)):
            wrong.append(line)
    return count, wrong


def sentences_of_page(page):
    """(view, sentence) of facts and of what is worth knowing."""
    facts = re.sub(r'<section id="advice".*?</section>', "", page, flags=re.S)
    for sentence in re.findall(r'<p class="sentence">(.+?)</p>', facts, re.S):
        yield "fact", html.unescape(sentence)
    for part in re.findall(r'<ul class="worth">(.*?)</ul>', page, re.S):
        for sentence in re.findall(r'<li[^>]*>(.*?) <a class="why"', part, re.S):
            yield "worth knowing", html.unescape(sentence)


def sentences_of_terminal(shown):
    part = re.search(r"\nWorth knowing\n(.*?)\n(?:[0-9]+ facts?:|\n)", shown, re.S)
    for line in re.findall(r"^• (.*(?:\n  .*)*)", part.group(1) if part else "", re.M):
        yield "worth knowing of the terminal", " ".join(line.split())


def foreign(sentences, facts):
    """Sentences that no fact has; those of what is worth knowing say what to do, and how often it was seen."""
    known = {" ".join(f[of].split()) for f in facts for of in ("sentence", "act")}
    return [(view, sentence) for view, sentence in sentences
            if SEEN.sub("", " ".join(sentence.split())) not in known]


def label_of(fact):
    """A fact's sentence with '#' for its value, without the interval."""
    value = in_base_unit(fact["value"], fact["unit"])

    def hide(found):
        low, high = shown_as(found.group(1).replace(",", ""), found.group(2))
        return "#" if low <= value <= high else found.group(0)

    def hide_range(found):
        return "#" if shown_as(found.group(1), found.group(3))[0] <= value <= shown_as(found.group(2), found.group(3))[1] else found.group(0)

    sentence = RANGE.sub(hide_range, INTERVAL.sub("; ", fact["sentence"]))
    return re.sub(r"\bthe (L[0-9]) cache\b", r"\1", NUMBER.sub(hide, sentence))


def sizes_of(sentence):
    """Of the ends of all ranges of bytes, and single sizes: the lowest and highest number of bytes that is shown so."""
    ends = [(end, BINARY[unit]) for low, high, unit in SIZE.findall(sentence) for end in (low, high) if end]
    halves = [0.501 * 10.0 ** -len(end.partition(".")[2]) for end, _ in ends]  # zeros of a size are no rounding
    return [((float(end) - half) * unit, (float(end) + half) * unit) for (end, unit), half in zip(ends, halves)]


def label_of_capacity(fact):
    """A capacity's sentence with '#' for its range."""
    ends = (fact["ci_low"], fact["ci_high"])

    def hide(found):
        sizes = sizes_of(found.group(0))
        return "#" if all(any(low <= end <= high for end in ends) for low, high in sizes) else found.group(0)

    return SIZE.sub(hide, fact["sentence"])


def has_capacity(fact):
    """Does the sentence have both ends of the range, or the value where it has no range?"""
    sizes = sizes_of(fact["sentence"])
    ends = [fact["value"]] if fact["value"] is not None else [fact["ci_low"], fact["ci_high"]]
    return all(any(low <= end <= high for low, high in sizes) for end in ends)


def is_alike(one, other):
    """Two numbers, of which a capacity is its range."""
    if one["value"] is None or other["value"] is None:
        return one["value"] == other["value"] and all(math.isclose(one[end], other[end], rel_tol=ROUNDED)
                                                      for end in ("ci_low", "ci_high"))
    return math.isclose(one["value"], other["value"], rel_tol=ROUNDED)


def table_of_sources():
    """{quantity: [(the fact of a source, what is said of the source)]}, in their order."""
    ini = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation(), delimiters=("=",), comment_prefixes=(";",),
                                    default_section="")
    ini.optionxform = str
    ini.read(TABLE, encoding="ascii")
    return {name: [(ini[name].get(f"{key}.fact", value), ini[name].get(f"{key}.said", "")) for key, value in ini[name].items()
                   if SOURCE.fullmatch(key)] for name in ini.sections() if name != "words"}


def sentences_apart(sheet, facts):
    """Facts with another value than the quantity that they are a source of, whose sentences do not say what is said of that source;
    sentences without their fact's value; and sentences that are alike but for the value."""
    table = table_of_sources()
    sources = {fact for of_quantity in table.values() for fact, _ in of_quantity}
    numeric = {(f["device"], f["id"]): f for f in facts
               if (f["value"] is not None and f["unit"] in UNITS) or (f["ci_low"] is not None and f["unit"] == "B")}
    for device in sheet["devices"]:
        for line in device["lines"]:
            for fact in {fact for fact, _ in table[line["name"]]}:
                f = numeric.get((device["id"], fact))
                told = f and any(said and said in f["sentence"] for name, said in table[line["name"]] if name == fact)
                if f and not told and f["unit"] == line["unit"] and not is_alike(f, line):
                    yield f"{device['id']} {line['name']} {line['value']}: {f['sentence']}"
    alike = {}
    for (device, fact), f in numeric.items():
        is_capacity = f["unit"] == "B"
        label = label_of_capacity(f) if is_capacity else label_of(f)
        if fact in sources and not (has_capacity(f) if is_capacity else "#" in label):
            yield f"{device} {fact} {f['value']} {f['unit']}: {f['sentence']}"
        other = alike.setdefault((device, label, f["unit"]), f)
        if not is_alike(other, f):
            yield f"{device}: {other['sentence']} | {f['sentence']}"


def advice_apart(advice, sheet):
    """Numbers of advice that cite a quantity with another value than the sheet's; two numbers of one device with one label; and
    numbers in sentences that are neither one of the advice's nor a sum of two (allocate and free)."""
    lines = {(device["id"], line["name"]): line for device in sheet["devices"] for line in device["lines"]}
    labels = {}
    for a in advice:
        for n in a["numbers"]:
            line = lines.get((a["device"], n["quantity"]))
            if line and not is_alike(line, n):
                yield f"{a['device']} {n['what']}: {n['value']}, {n['quantity']} {line['value']}"
            other = labels.setdefault((a["device"], n["what"], n["unit"]), n)
            if not is_alike(other, n):
                yield f"{a['device']} {n['what']}: {other['value']} | {n['value']}"
        values = [in_base_unit(n["value"], n["unit"]) for n in a["numbers"] if n["unit"] in UNITS and n["value"] is not None]
        values += [x + y for i, x in enumerate(values) for y in values[i + 1:]]
        sentence = INTERVAL.sub("; ", a["sentence"])
        shown = [(shown_as(low, unit)[0], shown_as(high, unit)[1]) for low, high, unit in RANGE.findall(sentence)]
        shown += [shown_as(number, unit) for number, unit in NUMBER.findall(RANGE.sub("", sentence))]
        for low, high in shown:
            if not any(low <= value <= high for value in values):
                yield f"{a['device']} {a['topic']}: {low} to {high}: {a['sentence']}"


def rates_apart(page, facts):
    """How many rates per compute unit the table of matrix instructions has of facts, and those that are not the facts'."""
    table = re.search(r'aria-label="Matrix instructions"><table.*?</table>', page, re.S)
    shown = {int(cell): int(rate) for cell, rate in INSTRUCTION.findall(table.group(0) if table else "")}
    peaks = [f for f in facts if f["id"].startswith("matmul.peak.") and f["evidence"] and f["evidence"][0] in shown]
    return len(peaks), [f["id"] for f in peaks if round(f["value"]) != shown[f["evidence"][0]]]


def infos_apart(sheet, xml):
    """How many lines of the sheet hwloc's XML has, and those with another value."""
    infos = {html.unescape(name): value for name, value in re.findall(r'<info name="assay ([^"]*)" value="([^"]*)"', xml)}
    lines = [(f"{line['group']} {line['quantity']}", line["value"]) for device in sheet["devices"] for line in device["lines"]]
    found = [(name, value, infos[name].split()[0]) for name, value in lines
             if value is not None and name in infos and not re.search(" (to|or) ", infos[name])]
    return len(found), [name for name, value, shown in found if not (math.isclose(float(shown), value, rel_tol=ROUNDED) or abs(float(shown) - value) <= half_digit(shown))]


def map_apart(page):
    """How many labels and sizes of the sheet the map has, and those that read otherwise there. Where the driver reports a size that
    agrees, the map has that and below it the range."""
    plain = html.unescape(page).replace("\u00a0", " ")
    sheet = {(device, quantity): (label, text) for label, device, quantity, _, text in LABELLED.findall(plain)}
    count, wrong = 0, []
    for part in re.findall(r'<svg [^>]*class="map.*?</svg>', plain, re.S):
        for group in re.split(r"(?=<g data-)|(?=<g class=\"row\")", part):
            cited, notes = SHOWN_TEXT.search(group), re.findall(r'class="claimed"[^>]*>([^<]*)', group)
            label, text = sheet.get(cited.groups()[:2], ("", "")) if cited else ("", "")
            is_size, is_rate = cited and cited.group(2).endswith(".capacity"), cited and re.search(r"\.(read|write|copy|triad)\.", cited.group(2))
            count += bool(label and (is_size or is_rate))
            if label and is_rate and not (notes and notes[0].startswith(label)):
                wrong.append((*cited.groups()[:2], label, notes))
            if label and is_size and cited.group(4).replace("–", " to ").strip() != text.strip() and not (notes and notes[0].startswith("reported;")):
                wrong.append((*cited.groups()[:2], text, cited.group(4)))
    return count, wrong


def contradictions(values):
    """Values of one quantity of one device that differ, as text."""
    first = {}
    for device, quantity, view, value in values:
        before, there = first.setdefault((device, quantity), (value, view))
        if not math.isclose(before, value, rel_tol=ROUNDED):
            yield f"{device} {quantity}: {before} ({there}), {value} ({view})"
