"""No view prints a number that can be misread: an interval of more than 25% is no ±, a ratio whose interval spans more than a factor
of 4 is words, no number has more digits than its interval supports, no share is above 102%, and one trial is said to be one.

Every view of every sample is read as text, and so are runs of a scripted device that is so noisy that the samples have nothing like
it. model/number.h has the rules."""
import collections
import html
import itertools
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import MEASURED, OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
BELIEVED, FACTOR, SHARE = 0.25, 4.0, 102.0
EXPLAINED = 4  # cells of a run
PROBE_SAMPLES = 2  # in which the tables of a probe are read
DIGITS = 4  # of a number with a decimal point
LAST = 40  # units of the last digit that half an interval may be: 35 by the rule, and the interval is rounded
UNIT = r"(?:[nµm]?s|[kMGT]?B/s|[KMGT]i?B|[kMG]?Hz|[kMGT]?(?:FLOP|OP)/s|cycles|[kMG]? ?updates(?:/s)?|[kM]? ?pages/s|B/cycle|ops/cycle|[x×])"
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
EDGE = "\x01"  # stands for tags of a page
PERCENT = re.compile(rf"(?:±|\+-) ?({NUMBER})%")
COLUMN = re.compile(rf"({NUMBER})%(?: ~)?\s*$")
RATIO = re.compile(rf"(?<![\w.])(-?{NUMBER})[x×]? to (-?{NUMBER})[x×](?!\w)")
BESIDE = re.compile(rf"(?<![\w.-])({NUMBER}) ?({UNIT})(?: per [a-z]+)?(?: \(|, 95% interval |{EDGE}+\(?)({NUMBER}) to ({NUMBER}) ?\2(?!\w)")
LONG = re.compile(r"(?<![\w.:/-])[0-9]+\.[0-9]+(?![\w.:-])")
WHOLE = re.compile(r"(?<![\w.:/-])([0-9]{6,}) (?:updates|lost|cycles|[nµm]s|[kMGT]?B/s|[kMG]?Hz|[kMGT]?(?:FLOP|OP)/s)(?![,\s(]*one trial|[\w/])")  # a count of one trial is exact
INTERVAL = "95% interval"
SIZE = re.compile(r" to ([0-9.]+) [KMG]iB")
WORDS = re.compile(r"an inconclusive multiple|(?:±|\+-) [0-9]+ (?:of [0-9]+ )?trials?|too noisy: one trial, \w+ too noisy")
SAME = re.compile(rf"(?<![\w.])({NUMBER}(?: [A-Za-z/]+)?)(?: to | and less than | and fewer than | requested, but [a-z ]+ is )\1(?!\w|\.[0-9])")
OF = re.compile(rf"({NUMBER})% of (?:the )?(?:spec|peak|theoretical|documented|limit|published|data sheet|reported)")


def last_digit(number):
    """What one unit of the last significant digit is: 0.01 of "1.25", 10 of "120"."""
    mantissa, _, exponent = number.partition("e")
    whole, _, rest = mantissa.partition(".")
    place = -len(rest) if rest else len(whole) - len(whole.rstrip("0")) if whole.strip("0") else 0
    return 10.0 ** (place + int(exponent or 0))


def significant(number):
    return len(number.replace(".", "").lstrip("0"))


def misread(text):
    """What can be misread in lines of text."""
    for found in PERCENT.finditer(text):
        if float(found.group(1)) > 100 * BELIEVED or "e" in found.group(1):
            yield found.group(0)
    for found in RATIO.finditer(text):
        low, high = float(found.group(1)), float(found.group(2))
        if low <= 0 or high > FACTOR * 1.02 * low:
            yield found.group(0)
    for found in BESIDE.finditer(text):
        value, low, high = (float(found.group(i)) for i in (1, 3, 4))
        if not low - last_digit(found.group(1)) <= value <= high + last_digit(found.group(1)):
            continue  # of another column
        half = max(high - value, value - low)
        if half > LAST * last_digit(found.group(1)) or half > 1.03 * BELIEVED * value + last_digit(found.group(1)):
            yield found.group(0)
    for found in LONG.finditer(text):
        if significant(found.group(0)) > DIGITS:
            yield text[max(0, found.start() - 40):found.end() + 20]
    for found in WHOLE.finditer(text if EDGE not in text else ""):  # a page has counts as they are stored
        if significant(found.group(1).rstrip("0")) > DIGITS:
            yield found.group(0)
    for found in [*WORDS.finditer(text), *SAME.finditer(text)]:
        yield found.group(0)
    for found in SIZE.finditer(text):
        size = float(found.group(1))
        power = 2.0 ** math.floor(math.log2(size)) if size else 1
        if power < size <= 1.004 * power:
            yield found.group(0)
    for found in OF.finditer(text):
        if float(found.group(1)) > SHARE:
            yield found.group(0)


def columns(text):
    """Of tables of the terminal, percentages under "±" above 25%, and under a title of shares above 102%."""
    limits, lines = {}, text.splitlines()
    for at, line in enumerate(lines):
        if at + 1 < len(lines) and re.match(r"^\s*[─-]{9}", lines[at + 1]):
            limits = {m.end(): limit for title, limit in (("±", 100 * BELIEVED), ("of spec", SHARE), ("share", SHARE))
                      for m in re.finditer(rf"(?<= ){title}(?= |$)", line)}
        if not line.strip():
            limits = {}
        for end, limit in limits.items():
            found = COLUMN.search(line[max(0, end - 12):end])
            if found and float(found.group(1)) > limit:
                yield line.strip()


def measurements(table):
    """Only the column of intervals belongs to the number before it: the other columns become lines of their own."""
    head, rows = re.match(r"(<table class=\"cells.*?<tbody>)(.*)", table.group(0), re.S).groups()
    interval = re.findall(r"<th [^>]*>([^<]*)", head).index(INTERVAL)
    for row in re.split(r"<tr\b", rows):
        cells = re.split(r"<td[^>]*>", row)[1:]
        head += "".join(("" if i == interval else "\n") + f"<td>{cell}" for i, cell in enumerate(cells))
    return head


def text_of(page):
    body = re.sub(r"<(script|style)\b.*?</\1>|<details class=\"method\">.*?</details>", "", page, flags=re.S)
    body = re.sub(rf"<table class=\"cells(?:(?!</?table).)*{INTERVAL}<.*?</table>", measurements, body, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", EDGE, body)).replace("\u00a0", " ")


def read(assay, *words, codes=(OK,), store=None):
    done = assay.run(*words, *(["--store", store] if store else []), env={"COLUMNS": "160", "LC_ALL": "C.UTF-8"})
    expect(done.code in codes, f"'{' '.join(words)}'", done)
    return done.out


def views(assay, store, shown=None):
    """(view, what it prints); shown: how often the tables of each probe were read before."""
    shown = collections.Counter() if shown is None else shown
    runs = [json.loads(line) for line in read(assay, "list", "runs", "--json", store=store).splitlines()]
    for run in (str(r["id"]) for r in runs):
        yield "show", read(assay, "show", run, store=store)
        cells = [json.loads(line) for line in read(assay, "show", run, "--json", store=store).splitlines()]
        for probe in sorted({c["probe"] for c in cells if "probe" in c and shown[c["probe"]] < PROBE_SAMPLES}):
            shown[probe] += 1
            yield f"show {probe}", read(assay, "show", run, probe, store=store)
        facts = json.loads(read(assay, "facts", run, "--json", store=store))["facts"]
        yield "facts", "\n".join(f["sentence"] for f in facts)
        yield "advise", read(assay, "advise", run, "--all", store=store)
        yield "header", "\n".join(re.findall(r"/\*.*?\*/", read(assay, "export", run, "--format", "header", store=store)))  # not the constants
        sheet = json.loads(read(assay, "export", run, "--format", "sheet", store=store))
        yield "sheet", "\n".join(line["further"] for d in sheet["devices"] for line in d["lines"])
        for cell in [c["id"] for c in cells if "id" in c][::max(1, len(cells) // EXPLAINED)]:
            yield f"explain {cell}", read(assay, "explain", str(cell), store=store).partition("\nMAD ")[0]  # not single samples
        page = assay.path("page.html")
        read(assay, "report", run, "-o", page, store=store)
        with open(page, encoding="utf-8") as f:
            source = f.read()
        names = re.findall(r'<th scope="col"[^>]*>(?!pipe of )([^<]*_[^<]*)', source)  # a pipe has the name of an operation
        expect(not names, "heads of columns are words", names)
        yield "page", text_of(source)


def expect_clear(read_views):
    wrong = [f"{view}: {number!r}" for view, text in read_views for number in (*misread(without_notes(text)), *columns(text))]
    expect(not wrong, f"no number can be misread ({len(wrong)})", "\n".join(wrong[:40]))


def without_notes(text):
    """Exact results of instructions and numbers of papers are no measurements; reasons are as the run stored them."""
    return re.sub(r"modes \d+ updates \(\d+%\) and \d+ updates|(?:of problem \d+ is|of the model|arXiv) -?[0-9.]+", "", text)


def test_samples(assay):
    samples = sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db"))
    shown = collections.Counter()
    expect_clear((f"{sample}, {view}", text) for sample in samples for view, text in views(assay, os.path.join(SAMPLES, sample), shown))


COMPARED = [os.path.join(SAMPLES, f"{name}.db") for name in ("h100-quick", "h100-pair", "h200-full", "h100-full")]


def disagrees(x, tolerance):
    """Does the printed interval say something else than the verdict?"""
    verdict, (low, high) = x["verdict"], x["ratio_interval"]
    if low is None or x.get("looks_worse") or x.get("measured_again"):
        return False
    if verdict == "same":
        return not 1 / (1 + tolerance) <= low <= high <= 1 + tolerance
    return (low > 1 + tolerance or high < 1 / (1 + tolerance)) != (verdict in ("faster", "slower", "better", "worse"))


def test_intervals_beside_verdicts(assay):
    """The interval printed beside a verdict decides it, in each view; capacities are ranges."""
    compared = 0
    for a, b in itertools.combinations(COMPARED, 2):
        for words, tolerance in ((("compare", a, b), 0.03), (("compare", a, b, "--check", "20%"), 0.2),
                                 (("check", "--against", a, "--allow-missing", b), 0.05)):
            found = [json.loads(line) for line in read(assay, *words, "--json", codes=(OK, harness.REGRESSION)).splitlines()]
            found = [x for x in found if x.get("verdict") and x.get("unit", "B") != "B"]
            compared += len(found)
            expect(not [x for x in found if disagrees(x, tolerance)], f"{words}", [x for x in found if disagrees(x, tolerance)][:5])
    expect(compared > 500, "verdicts were seen", compared)


def test_page_says_what_compare_says(assay):
    """Of each pair: the same counts, and no other number is called better or worse."""
    page = assay.path("page.html")
    for a, b in itertools.combinations(COMPARED, 2):
        text = " ".join(read(assay, "compare", a, b, "--report", page).split())
        counts = re.search(r"[0-9]+ measurements? compared: [0-9]+ same, ([0-9]+) faster, ([0-9]+) slower, [0-9]+ inconclusive", text)
        lines = re.search(r"[0-9]+ lines? of the data sheet compared(: [0-9]+ same, [0-9]+ better, [0-9]+ worse, [0-9]+ inconclusive)?", text)
        with open(page, encoding="utf-8") as f:
            html = f.read()
        lead = re.search(r'<p class="lead">(.*?)</p>', html).group(1)
        expect(counts.group(0) in lead and lines.group(0) in lead, "the same counts", (counts, lines, lead))
        for word, most in zip(("better", "worse"), map(int, counts.groups()), strict=True):
            expect(html.count(f" {word}</b>") <= most, f"{word} on the page", (a, b, html.count(f" {word}</b>"), most))


def test_comparisons(assay):
    for a, b in itertools.combinations(COMPARED, 2):
        for words in (("compare", "--all", a, b), ("check", "--against", a, "--allow-missing", b)):
            expect_clear([(" ".join(map(os.path.basename, words)), read(assay, *words, codes=(OK, harness.REGRESSION)))])


def test_noise(assay):
    """A device whose samples differ by factors, in one trial and in several."""
    noisy = assay.script(dict(harness.FAST, noise={"sd": 0.8}))
    for trials in ("1", "2", "4"):
        done = assay.run("run", "launch", "bandwidth", "--device", "null", "--set", "threads=1", "--trials", trials, "--precision", "10%", "--budget", "60s", env=noisy)
        expect(done.code in MEASURED, "measured", done)
    expect_clear(views(assay, None))
    one = read(assay, "show", "1", "launch")
    expect("one trial" in one and not re.search(r"[0-9]%", one), "one trial is said to be one", one)


def test_constants(assay):
    """Also of one trial, which has no interval."""
    done = assay.run("run", "launch", "bandwidth", "latency", "--device", "null", "--set", "threads=1", "--trials", "1", env=assay.script(harness.FAST))
    expect(done.code in MEASURED, "measured", done)
    constants = [line for line in read(assay, "export", "1", "--format", "header").splitlines() if line.startswith("#define") and "/*" in line]
    expect(constants and all(re.fullmatch(r"#define \w+ \S+ /\* [\w.]+(, .*)? \*/", line) for line in constants), "constants by their names", constants)


def test_planted_faults_are_seen(assay):
    for planted in ("77.4 GB/s ±155%", "value +- 2.2e-05%", "2.12x (0.0644 to 69.6x)", "0.0160x to 66200x", "3530376.5 updates (3400000 to 3600000 updates)",
                    "an inconclusive multiple of", "± 1 of 8 trials", "16 to 64.1 KiB", "256 to 1025 KiB", "p5 too noisy: one trial, p25 too noisy: one trial",
                    "27.973300", "up to 356914 lost", "two modes 1698089 updates and", "L2 1467% of specified", "FP64: 120% of the theoretical peak", "107% of peak bandwidth", f"68.6 ns{EDGE}30 to 200 ns",
                    "at least 228 KiB and less than 228 KiB", "1024 to 1024 B", "1.8 to 1.8 GB/s", "8.00 GiB requested, but largest is 8.00 GiB", "10.84 ns per load (9.1 to 12 ns; 21 cycles)"):
        expect(list(misread(planted)), f"seen: {planted}")
    page = (f'<table class="cells"><thead><tr><th scope="col">rate<th scope="col">{INTERVAL}<th scope="col">other'
            '<tbody><tr id=c1><td>2 GB/s<td>{} GB/s<td>1 to 4 GB/s</table>')
    expect(list(misread(text_of(page.format("1.99 to 9")))) and not list(misread(text_of(page.format("1.99 to 2.02")))), "of a page's table its interval")
    table = "                measured       ±  share\n───────────────────────────────────────\nMemory  read   77.4 GB/s  {}   {}\n"
    expect(not list(columns(table.format("15% ~", " 99%"))), "a good row is none")
    for width, share in (("155% ~", "99%"), ("15% ~", "108%")):
        planted = table.format(f"{width:>6}", f"{share:>4}").replace(f"  {width:>6}", f"  {width:>6}")
        expect(list(columns(planted)), f"seen: {width} {share}", planted)
    for clear in ("59 GB/s (53 to 65 GB/s)", "27 to 121 ns", "16 to 64 KiB", "227 to 231 KiB", "1 to 1.5", "8 to 80 GB/s", "1.60x (1.35 to 1.90x)", "CUDA 13.1.0, driver 580.159.03", "98.2% of the peak"):
        expect(not list(misread(clear)), f"clear: {clear}")
    expect(math.isclose(last_digit("1.25"), 0.01) and last_digit("120") == 10, "last digits")


if __name__ == "__main__":
    harness.main(globals())
