"""What facts and advice claim, over the stores under samples/, with all their cells and with some left out: a sentence that says "none",
"all" or "not" rests on cells that were measured, and those that it cites are among the run's valid ones."""
import json
import os
import random
import re
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
ABSOLUTE = re.compile(r"\b(no|none|never|not|all|every|nowhere|nothing|only|any|neither|cannot|without)\b", re.I)
NUMBER = r"[\d.,]+(?: [kMGT]?i?B| thousand| million| billion)?"

# Absolute words that a fact may use, each with the fewest cells that it has to cite for them. A phrase says how far it goes:
# over which cells, up to which size; or names a participant ("all other cores") or a way of measuring ("a page every 4 KiB").
PHRASES = [(re.compile(text), cells) for text, cells in (
    # who takes part, and how
    (r"\b[Aa]ll CPUs but one\b", 1), (r"\b[Aa]ll other (?:cores|devices)\b", 1), (r"\b[Aa]ll CPU threads\b", 1),
    (r"\ball \w+s (?:active|reading the same)\b", 1), (r", all units$", 1), (r"a page every " + NUMBER, 1),
    (r"\b[Rr]ead-only\b", 1), (r"\bWithout an aggressor\b", 1), (r"\bwhich does not cover the CPU\b", 1),
    # reported by the driver or a document
    (r"; the driver says: .*", 1), (r"\bNOT the (?:reported|published|documented) " + NUMBER, 1), (r"; none are documented$", 1),
    (r"\bdo NOT lie where they are documented\b", 1), (r"\bNOT to nearest, the IEEE 754 default\b", 1),
    (r"\b\d+ planned numbers? of threads (?:was|were) not measured\b", 1), (r"\blocation none\b", 1), (r"^The CPU does not cache '[^']*' memory\b", 2),
    (r"\bof \d+ tested allocators, not for (?:'[^']*'(?:, | and )?)+", 1),
    # nothing found within a stated scope
    (r"\bthe interval includes no effect\b", 1), (r"\bmay be faster than separate kernels or not\b", 1),
    (r"\bis not clearly slower\b", 1), (r"\bdoes not (?:clearly )?halve the slowdown\b", 2),
    (r"\bNo clear step in the cost of address translation up to \d+ pages", 2), (r"\bNo clear TLB step up to " + NUMBER, 2),
    (r"\bno steady state within \d+ launches\b", 1), (r"\bat none of \d+ (?:sizes|lengths)\b", 1),
    (r"\bno update lost in about " + NUMBER + r"(?: concurrent updates)?, in \d+ measurements?\b", 1),
    (r"\bare not lost in '[^']*', so the absence of losses proves little\b", 1),
    (r"\bnot (?:counted )?by [\w, ]+ at allocation or first touch\b", 2), (r"\ba \d+-word stride is not\b", 2),
    (r"\bwhether it is of the same pair or not\b", 2), (r"\bthe only significant one of \d+ pairs\b", 1),
    # two cells compared
    (r"\bno wider type was measured by this path\b", 1), (r"\bdoes NOT (?:reach|beat|match)\b", 2), (r"\bis NOT faster\b", 1),
    (r"\bmay run on a matrix unit or not\b", 2), (r"\b(?:may or may not|do not run concurrently)\b", 2),
    (r"\bdo not copy it first\b", 3), (r"\bwhether to copy it first is inconclusive\b", 3),
    (r"\bmisses alone do not explain it$", 2),
    # one cell whose value states it
    (r"\bwith all \d+ significand bits\b", 1), (r"\bNOT the \d+ of its result format\b", 1),
    (r"\brepeats every \d+ (?:rows|columns)\b", 1), (r"\bdoes not saturate\b", 1), (r"\bdoes NOT reproduce the results\b", 1), (r"^NOT native: ", 1), (r", not 1,", 1),
    # advice: comparisons, driver statements, and whether a control was measured
    (r"\bmakes no difference: bandwidth in repeated passes differs by at most \d+% in \d+ comparison", 2),
    (r"\bwhich the host cannot access\b", 1), (r"\bThe driver does not guarantee\b", 1), (r"; system-scope atomics lost no updates(?=\.|$)", 1),
    (r"\bdo not (?:copy data that you (?:read|stream over) repeatedly|share a counter in|help a first touch)\b", 1),
    (r"\bwith all threads\b", 2), (r", all threads, ", 2), (r", against [^,]* without\b", 2), (r"\bneither is significantly better\b", 3),
    (r"\b[Nn]one was lost in\b", 1), 
    (r"\bWithout atomics updates are lost in\b", 1), (r"\bthere is no valid control without atomics\b", 1),
    (r"\bWithout atomics none is lost in .* either, so the absence of losses proves little$", 1),
    (r"\bDo not share a counter with atomics whose scope does not cover the CPU\.", 1),
    (r"\bWith a scope that does not cover the CPU, updates are lost in\b", 1),
    (r"\bNo update was lost, for types and scopes with enough updates to tell, in\b", 1),
    (r"\bToo few concurrent updates to tell whether any is lost at a scope that covers both\b", 1),
    (r"\bNot compared, measured in other conditions only\b", 1),
    (r"\bnone lost in \d+ measurements?\b", 1), (r"\bonly about " + NUMBER + r" concurrent updates?\b", 1),
    (r"\bcannot be compared(?=: the intervals are too wide)", 2),
    # fits over many sequences
    (r"\(no other operation is certain to share it\)", 1), (r"\bdo not share a pipe\b", 3),
)]


FIRST_SENTENCE_MAX = 160  # of an advice, in characters, also in tests/facts/first_sentence.h


def claims_of(sentence):
    """(the sentence without the phrases that it may use, the fewest cells that these need)"""
    least = 1
    for phrase, cells in PHRASES:
        sentence, found = phrase.subn(" ", sentence)
        least = max(least, cells) if found else least
    return sentence, least


def sample_runs():
    """(name, path, run) of each run"""
    for name in sorted(os.listdir(SAMPLES)):
        if name.endswith(".db"):
            path = os.path.join(SAMPLES, name)
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                for run, in db.execute("SELECT id FROM runs ORDER BY id"):
                    yield name, path, run


def facts_of(assay, store, run):
    done = assay.run("facts", "--json", "--store", store, str(run))
    expect(done.code == OK, f"facts of {store}", done)
    return json.loads(done.out)["facts"]


def check_facts(assay, store, run, where):
    """Facts and advice cite valid cells of their device, as many as their words need. Returns the facts."""
    done = assay.run("export", "--format", "json", "--store", store, str(run))
    expect(done.code == OK, f"cells of {store}", done)
    valid = {c["id"]: c["device"] for c in json.loads(done.out)["cells"] if c["status"] in ("ok", "wide")}
    facts = facts_of(assay, store, run)
    for fact in facts:
        about = f"{where}: {fact['id']}: {fact['sentence']}"
        expect(fact["evidence"] and all(valid.get(cell) == fact["device"] for cell in fact["evidence"]),
               f"{about}: cites valid cells of its device")
        rest, least = claims_of(fact["sentence"])
        expect(not ABSOLUTE.search(rest), f"{about}: '{rest}' claims no more than cells show")
        expect(len(set(fact["evidence"])) >= least, f"{about}: cites {least} cells or more")
    done = assay.run("advise", "--json", "--store", store, str(run))
    expect(done.code == OK, f"advice on {store}", done)
    for advice in (a for a in json.loads(done.out)["advice"] if a["known"]):
        cited = {number["cell"] for number in advice["numbers"]}
        about = f"{where}: {advice['topic']}: {advice['sentence']}"
        expect(cited and all(valid.get(cell) == advice["device"] for cell in cited), f"{about}: cites valid cells of its device")
        rest, least = claims_of(advice["sentence"])
        expect(not ABSOLUTE.search(rest), f"{about}: '{rest}' claims no more than cells show")
        expect(len(cited) >= least, f"{about}: cites {least} cells or more")
        first = re.split(r"\. (?=[A-Z0-9'])", advice["sentence"])[0]
        expect(len(first) <= FIRST_SENTENCE_MAX, f"{about}: its first sentence has {len(first)} characters")
    return facts


def title_of(sentence):
    """The sentence without its numbers, and without what it is compared with."""
    sentence = re.sub(r"\(reported[^)]*\)|, (?:in agreement with|NOT) the.*", "", sentence)
    return re.sub(r"[-\d.,]+|\b[kMGT]?i?B\b|\b[nµm]s\b|\s+", " ", sentence)


def test_absolute_words(assay):
    total = sum(len(check_facts(assay, path, run, f"{name} {run}")) for name, path, run in sample_runs())
    expect(total > 1000, "the samples have facts", total)


def test_titles(assay):
    """Facts whose sentences differ in numbers only are one quantity at several sizes or places: so do their names."""
    for name, path, run in sample_runs():
        ids = {}
        for fact in facts_of(assay, path, run):
            ids.setdefault((fact["device"], title_of(fact["sentence"])), set()).add(re.sub(r"_?\d+(_?[kMGT]?i?B|mib)?", "", fact["id"]))
        for (device, title), names in ids.items():
            expect(len(names) == 1, f"{name} {run} {device}: one title for several quantities: '{title}'", sorted(names))


def test_with_cells_left_out(assay):
    """The same with a tenth, half and nine tenths of the cells gone, as after a budget, a failure or a prune."""
    for name, path, run in sample_runs():
        for share in (0.5,) if os.environ.get("ASSAY_BRIEF") else (0.1, 0.5, 0.9):
            store = os.path.join(assay.folder, name)
            shutil.copyfile(path, store)
            with sqlite3.connect(store) as db:
                cells = [cell for cell, in db.execute("SELECT id FROM cells WHERE run_id = ?", (run,))]
                gone = random.Random(f"{name} {run} {share}").sample(cells, int(share * len(cells)))
                db.execute("PRAGMA foreign_keys = ON")  # their trials go, too
                db.executemany("DELETE FROM cells WHERE id = ?", [(cell,) for cell in gone])
            facts = check_facts(assay, store, run, f"{name} {run} less {share:.0%}")
            expect(not {cell for fact in facts for cell in fact["evidence"]} & set(gone), f"{name} {run}: nothing cites what is gone")
            os.unlink(store)


if __name__ == "__main__":
    harness.main(globals())
