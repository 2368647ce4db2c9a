"""A quantity has one value in a run, whichever view prints it: the page's sheet, map and roofline, the sheet as JSON, the C header,
hwloc's XML, the sentences of facts on page and terminal, and advice.

Views name the quantity (data-quantity) beside the value (data-value), or the fact that a number is (data-fact). A number that names
neither is a fault too. A fact that is a later source of a quantity says in its sentence how it was measured."""
import html
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import MEASURED, OK, Skip, expect  # noqa: E402
from view_values import (INSTRUCTION, INTERVAL, NUMBER, SAMPLES, SHOWN_TEXT, SIZE, advice_apart, contradictions, foreign,
                         header_apart, infos_apart, is_same_hardware, label_of, map_apart, page_of, rates_apart, read, sentences_apart, sentences_of_page,
                         sentences_of_terminal, shown_otherwise, uncited, values_of_facts, values_of_page, values_of_sheet,
                         values_of_terminal)  # noqa: E402


def views(assay, sample):
    page = page_of(assay, sample, "last")
    sheet = read(assay, sample, "export", "--format", "sheet")
    values = [*values_of_page(page), *values_of_sheet(sheet), *values_of_facts(sheet, read(assay, sample, "facts", "--json"))]
    return page, values


def test_one_value(assay):
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        page, values = views(assay, sample)
        expect(len({view for _, _, view, _ in values}) >= 4, f"{sample}: views have numbers", {v for _, _, v, _ in values})
        expect(not list(contradictions(values)), f"{sample}: one value each", list(contradictions(values)))
        expect(not list(uncited(page)), f"{sample}: every number cites", list(uncited(page)))
        joined = list(values_of_page(page_of(assay, sample)))
        expect(not list(contradictions(joined)), f"{sample}: one value each over all runs", list(contradictions(joined)))
        count, wrong = shown_otherwise(page, read(assay, sample, "export", "--format", "sheet"))
        expect(count and not wrong, f"{sample}: texts stand for what they cite ({count})", wrong)


def compare_terminal(assay, sample, factor=1.0):
    """How many numbers there are, and those of the terminal that do not stand for the sheet's times a factor."""
    shown = read(assay, sample, "show", "last", "--device", "all")
    values = list(values_of_terminal(read(assay, sample, "export", "--format", "sheet"), shown))
    return len([v for v in values if v[3] <= v[4]]), [v for v in values if v[2] * factor < v[3] or v[2] * factor > v[4]]


def of_two_runs(assay, folder):
    """A store with the sample's run and a later one of its machine that measured one probe only."""
    store = os.path.join(folder, "two.db")
    first = json.loads(read(assay, "h100-quick.db", "export", "--format", "json"))
    later = {**first, "run": {**first["run"], "uuid": "00000000-0000-4000-8000-000000000002"},
             "cells": [c for c in first["cells"] if c["probe"] == "topology"]}
    later["run"]["started_at"] += 3600
    later["run"]["ended_at"] += 3600
    for number, run in enumerate((first, later)):
        path = os.path.join(folder, f"{number}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(run, f)
        expect(assay.run("import", path, "--store", store).code == OK, "the run is imported")
    return store


def rows_of_page(page):
    """(device, label, the texts of the row) of the sheet; the head of each has the columns."""
    for table in re.findall(r'<table class="sheet(?: joined)?">.*?</table>', page, re.S):
        device = re.search(r"<caption><code>([^<]*)", table).group(1)
        for row in re.findall(r"<tr[^>]*>(.*?)(?=<tr|</tbody>|</table>)", table, re.S):
            texts = [html.unescape(re.sub("<[^>]*>", "", cell)).replace("\u00a0", " ").strip() for cell in re.split(r"<t[dh][^>]*>", row)[1:]]
            if len(texts) > 4 and texts[1] not in ("", "quantity"):
                yield device, texts[1], [text.replace("×", "x") for text in texts]


def test_views_of_several_runs(assay):
    """What the last run did not measure is on sheet and map all the same, and both sheets have the same texts."""
    with tempfile.TemporaryDirectory() as folder:
        store, path = of_two_runs(assay, folder), os.path.join(folder, "page.html")
        expect(assay.run("report", "-o", path, "--store", store).code == OK, "a page of two runs")
        with open(path, encoding="utf-8") as f:
            page = f.read()
        shown = assay.run("show", "--store", store, env={"COLUMNS": "300", "LC_ALL": "C.UTF-8"}).out
    of_one = set(quantity for _, quantity, view, _ in values_of_page(page_of(assay, "h100-quick.db", "last")) if view == "map")
    of_two = set(quantity for _, quantity, view, _ in values_of_page(page) if view == "map")
    expect(of_one <= of_two, "the map has what the sheet has", of_one - of_two)
    expect(not list(contradictions(values_of_page(page))), "one value each", list(contradictions(values_of_page(page))))
    shown_sizes = [dict(((q, html.unescape(text).replace("\u00a0", " ").replace("–", " to ").strip()) for part in re.findall(pattern, page, re.S)
                         for _, q, _, text in SHOWN_TEXT.findall(part) if q.endswith(".capacity")))
                   for pattern in (r'<table class="sheet(?: joined)?">.*?</table>', r'<svg [^>]*class="map.*?</svg>')]
    other = {q: (text, shown_sizes[0].get(q)) for q, text in shown_sizes[1].items() if text != shown_sizes[0].get(q)}
    expect(shown_sizes[1] and not other, "the map has the sizes of the sheet", other)
    count, apart = lines_apart(page, shown)
    expect(count > 40 and not apart, f"page and terminal have the same texts ({count})", apart)


def lines_apart(page, shown):
    """How many lines the page's sheets have, and those that the terminal does not have with the same number and intervals."""
    lines, count, apart = [" ".join(line.split()) for line in shown.splitlines()], 0, []
    several = re.search("<th[^>]*>another run", page)
    for device, label, texts in rows_of_page(page):
        if is_same_hardware(shown, device):
            continue
        words = " ".join(t for t in (label, texts[2], texts[3].lstrip("±"), texts[4] if several else "") if t)
        count += 1
        if not any(words in line for line in lines):
            apart.append(f"{device} {words}")
    return count, apart


def test_page_and_terminal_have_the_same_lines(assay):
    """Of the machine without a run, where the page also says what its intervals assume; of a run that is named, within the run."""
    assumed = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        for run, said, printed in (((), "± assumes", "'another run' assume"), (("last",), *2 * ["95% intervals are within a run"])):
            page, shown = page_of(assay, sample, *run), read(assay, sample, "show", *run, "--device", "all", columns=300)
            texts = html.unescape(page)
            count, apart = lines_apart(page, shown)
            expect(count and not apart, f"{sample} {run}: page and terminal have the same texts ({count})", apart)
            told = texts.count(said), " ".join(shown.split()).count(printed)
            expect(told[0] == told[1] and (not run or told[0] == 1), f"{sample} {run}: both say '{said}'", told)
            assumed += told[0] if not run else 0
    expect(assumed > 5, "samples of one run say what their intervals assume", assumed)


def test_worth_knowing_is_of_the_machine(assay):
    """At most five things, whatever devices there are; a device that drives the hardware of another has neither sheet nor say."""
    others = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        for run in ((), ("last",)):
            shown, page = read(assay, sample, "show", *run), page_of(assay, sample, *run)
            part = shown.partition("\nWorth knowing\n")[2].partition("\n\n")[0]
            told = part.count("• "), sum("; seen " in text for view, text in sentences_of_page(page) if view == "worth knowing")
            expect(told[0] <= 5 and told[1] == told[0], f"{sample} {run}: terminal and page have the same things, at most five", told)
            for other in re.findall(r"^(\S+) drives the same hardware", shown, re.M):
                others += 1
                expect(f"\n{other}: " not in shown, f"{sample} {run}: {other} has no sheet")
    expect(others > 2, "samples have devices that drive the same hardware", others)


def test_map_reads_as_the_sheet(assay):
    """Bandwidths by so many threads, and sizes."""
    numbers = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        count, wrong = map_apart(page_of(assay, sample, "last"))
        numbers += count
        expect(not wrong, f"{sample}: the map reads as the sheet", wrong)
    expect(numbers > 40, "maps have labels and sizes", numbers)


def test_terminal_shows_the_values(assay):
    numbers = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        count, wrong = compare_terminal(assay, sample)
        numbers += count
        expect(not wrong, f"{sample}: the terminal shows the sheet", wrong)
    expect(numbers > 100, "the terminal has numbers", numbers)


def facts_and_sheet(assay, sample):
    return json.loads(read(assay, sample, "facts", "--json"))["facts"], json.loads(read(assay, sample, "export", "--format", "sheet"))


def sentences_of(assay, sample, page):
    shown = read(assay, sample, "show", "last", "--device", "all")
    return [*sentences_of_page(page), *sentences_of_terminal(shown)]


def test_sentences_have_the_values(assay):
    rates = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        facts, sheet = facts_and_sheet(assay, sample)
        page = page_of(assay, sample)
        strange = foreign(sentences_of(assay, sample, page), facts)
        expect(not strange, f"{sample}: page and terminal have sentences of facts", strange)
        apart = list(sentences_apart(sheet, facts))
        expect(not apart, f"{sample}: sentences have the values of the sheet", apart)
        count, wrong = rates_apart(page, facts)
        rates += count
        expect(not wrong, f"{sample}: the table of matrix instructions has the values of facts", wrong)
    expect(rates > 5, "tables have rates", rates)


def advice_of(assay, sample):
    return json.loads(read(assay, sample, "advise", "--json"))["advice"]


def test_advice_has_the_values(assay):
    cited = 0
    for sample in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        advice, (_, sheet) = advice_of(assay, sample), facts_and_sheet(assay, sample)
        apart = list(advice_apart(advice, sheet))
        expect(not apart, f"{sample}: advice has the values of the sheet", apart)
        cited += sum(bool(n["quantity"]) for a in advice for n in a["numbers"])
    expect(cited > 20, "advice cites quantities", cited)


def test_planted_advice_is_seen(assay):
    """A second value of a quantity, of a label, and of a sentence."""
    advice, (_, sheet) = advice_of(assay, "h200-upm.db"), facts_and_sheet(assay, "h200-upm.db")
    names = {line["name"] for device in sheet["devices"] for line in device["lines"]}
    a = next(a for a in advice if any(n["quantity"] in names for n in a["numbers"]))
    cites = next(n for n in a["numbers"] if n["quantity"] in names)
    planted = {**a, "numbers": [{**cites, "value": cites["value"] * 1.02}], "sentence": ""}
    expect(list(advice_apart([planted], sheet)), "a second value of a quantity is seen")
    second = {**planted, "numbers": [cites, {**cites, "quantity": "", "value": cites["value"] * 1.02}]}
    expect(list(advice_apart([second], sheet)), "a second value of a label is seen")
    said = next(a for a in advice if NUMBER.search(INTERVAL.sub("; ", a["sentence"])))
    expect(not list(advice_apart([said], sheet)), "advice as it is")
    expect(list(advice_apart([{**said, "sentence": NUMBER.sub(r"777 \2", said["sentence"])}], sheet)), "a number without evidence is seen")


def test_header_has_the_values(assay):
    """The C header has what the sheet states as a value, with as many digits."""
    for sample in ("h200-full.db", "h200-upm.db"):
        sheet, text = json.loads(read(assay, sample, "export", "--format", "sheet")), read(assay, sample, "export", "--format", "header")
        count, wrong = header_apart(sheet, text)
        expect(count and not wrong, f"{sample}: constants are values of the sheet", (count, wrong))
    expect(header_apart(sheet, re.sub(r"(#define \S+ )", r"\g<1>9", text))[1], "a second value is seen")


def test_hwloc_has_the_values(assay):
    done = assay.run("run", "launch", "--set", "what=roundtrip", "--set", "wait=spin", "--set", "threads=1", "--device", "cpu",
                     "--budget", "0", *harness.SHORT)
    expect(done.code in MEASURED, "measured", done)
    done = assay.run("export", "--format", "hwloc")
    if done.code == harness.NOTHING or "lacks hwloc" in done.err:
        raise Skip("this build lacks hwloc")
    sheet = json.loads(assay.run("export", "--format", "sheet").out)
    count, wrong = infos_apart(sheet, done.out)
    expect(count and not wrong, "hwloc's XML has the lines of the sheet", (count, wrong))
    second = re.sub(r'(<info name="assay [^"]*" value=")', r"\g<1>9", done.out)
    expect(infos_apart(sheet, second)[1], "a second value in hwloc's XML is seen")
    other = assay.run("run", "topology", "--device", "cpu", *harness.SHORT)
    expect(other.code in MEASURED, "another probe is measured", other)
    had, joined = ('"assay Launch ' in text for text in (done.out, assay.run("export", "--format", "hwloc").out))
    expect(had == joined, "without a run, hwloc's XML has the machine's lines", (had, joined))
    expect('"assay Launch ' not in assay.run("export", "last", "--format", "hwloc").out, "of a run, only its own")


def tables_of_several(assay, samples):
    """Of each sheet of a page of several runs: its rows as texts, those of the head first."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        done = assay.run("report", *(os.path.join(SAMPLES, s) for s in samples), "-o", path)
        expect(done.code == OK, "a page of several runs", done)
        with open(path, encoding="utf-8") as f:
            page = f.read()
    for table in re.findall(r'<table class="sheet[^"]*">.*?</table>', page, re.S):
        yield [[html.unescape(re.sub("<[^>]*>", "", cell)).replace("\u00a0", " ").strip() for cell in re.split(r"<t[dh][^>]*>", row)[1:]]
               for row in re.findall(r"<tr[^>]*>(.*?)(?=<tr|</tbody>|<tbody|</table>)", table, re.S)]


def test_sheets_of_several_runs(assay):
    """Lines stand in the order of the table, with each group once; a run without the device has no column, and no ratio is
    called inconclusive."""
    quick = ["h100-quick.db", "h100-pair.db", "h200-quick.db"]
    for samples in (quick, [*quick, "h100-full.db", "h200-full.db", "h100-residual.db"]):
        tables = list(tables_of_several(assay, samples))
        expect(len(tables) >= 3, "each device has a sheet", len(tables))
        for head, *rows in tables:
            groups = [row[0] for row in rows if row[0]]
            expect(rows and len(groups) == len(set(groups)), "each group stands once", groups)
            empty = [head[k] for k in range(2, len(head)) if head[k].startswith("run") and all(row[k] == "–" for row in rows)]
            expect(not empty, "each column has a number", (head, empty))
            expect(not [c for row in rows for c in row if "inconclusive" in c], "≈ alone stands for what is inconclusive")


def test_planted_sentences_are_seen(assay):
    """A second value in each place that prints sentences, in a fact, and in the table of matrix instructions."""
    facts, sheet = facts_and_sheet(assay, "h200-full.db")
    sentences = sentences_of(assay, "h200-full.db", page_of(assay, "h200-full.db"))
    for view in ("fact", "worth knowing", "worth knowing of the terminal"):
        planted = next(text for where, text in sentences if where == view)
        expect(foreign([(view, re.sub("[0-9]+", "77", planted))], facts), f"a second value is seen: {view}")
    read_all = next(f for f in facts if f["id"] == "bandwidth.memory.read.all")
    for planted in ({"value": read_all["value"] * 1.02}, {"sentence": "Memory read bandwidth: 9.99 TB/s"}):
        expect(list(sentences_apart(sheet, [{**f, **planted} if f is read_all else f for f in facts])), f"seen: {planted}")
    second = {**read_all, "id": "second", "value": 1000.0, "sentence": "Memory read bandwidth: 1.00 TB/s"}
    sentence = {**read_all, "sentence": label_of(read_all).replace("#", "4.56 TB/s").removesuffix("; ")}
    expect(list(sentences_apart(sheet, [sentence, second])), "a second fact with one title is seen")
    whole = next(f for f in facts if f["id"] == "onchip.whole.L2.size")
    for planted in ({"ci_low": whole["ci_low"] * 1.02}, {"sentence": "L2 cache capacity: 7 to 9 MiB"}):
        expect(list(sentences_apart(sheet, [{**f, **planted} if f is whole else f for f in facts])), f"seen: {planted}")
    other = {**whole, "id": "second", "ci_low": whole["ci_low"] / 2, "ci_high": whole["ci_high"] / 2,
             "sentence": SIZE.sub("26.9 to 32 MiB", whole["sentence"], 1)}
    expect(list(sentences_apart(sheet, [whole, other])), "a second capacity with one title is seen")
    facts, _ = facts_and_sheet(assay, "h200-tensor.db")
    page = page_of(assay, "h200-tensor.db")
    expect(rates_apart(INSTRUCTION.sub(r'<a href="#c\1">\g<2>1</a>', page), facts)[1], "a second rate is seen")


def test_planted_faults_are_seen(assay):
    """A second value of one quantity, and a number that cites nothing."""
    page, values = views(assay, "h200-full.db")
    stated = {(v[0], v[1]) for v in values if v[2] == "export sheet"}
    device, quantity, view, value = next(v for v in values if v[2] == "map" and (v[0], v[1]) in stated)
    expect(list(contradictions([*values, (device, quantity, view, value * 1.01)])), "a second value is seen")
    expect(compare_terminal(assay, "h200-full.db", 1.02)[1], "another number in the terminal is seen")
    expect(list(uncited(re.sub(r' data-quantity="[^"]*"', "", page))), "a number without a quantity is seen")
    planted = re.sub(r'(data-quantity="host_link.load"[^>]*><text class="value"[^>]*>)[^<]*', r"\g<1>0 ns", page)
    expect(planted != page, "the map has the link to the host")
    sheet = read(assay, "h200-full.db", "export", "--format", "sheet")
    expect(shown_otherwise(planted, sheet)[1], "another text than the value that it cites is seen")


if __name__ == "__main__":
    harness.main(globals())
