"""Early data sheets hold: with only the first 10% to 90% of a stored run's trials, no line's interval is disjoint from that of the
whole run."""
import json
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
RUNS = (("h200-machine", 1), ("h200-machine", 2), ("h200-quick", 1), ("h100-pair", 1))
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9)
APART = 1.03  # between intervals, one of which may be of few trials
CELL_OF_NO_TRIAL = """UPDATE cells SET status = 'planned', reason = '', n = 0, median = NULL, ci_low = NULL, ci_high = NULL, mad = NULL,
    min = NULL, max = NULL, modes = 0, trials_done = 0 WHERE run_id = ? AND id NOT IN (SELECT cell_id FROM trials)"""


def sheet(assay, store, run):
    done = assay.run("export", "--format", "sheet", str(run), "--store", store)
    expect(done.code == OK, "the data sheet", done)
    return {(device["id"], line["name"]): line for device in json.loads(done.out)["devices"] for line in device["lines"]}


def sheet_after(assay, sample, run, share):
    """The data sheet from the trials that began in this share of the run's time."""
    store = assay.path("early.db")
    shutil.copyfile(sample, store)
    with sqlite3.connect(store) as db:
        of_run = "SELECT id FROM cells WHERE run_id = ?"
        first, last = db.execute(f"SELECT min(started_at), max(started_at) FROM trials WHERE cell_id IN ({of_run})", (run,)).fetchone()
        db.execute(f"DELETE FROM trials WHERE started_at > ? AND cell_id IN ({of_run})", (first + share * (last - first), run))
        db.execute(CELL_OF_NO_TRIAL, (run,))
    db.close()
    done = assay.run("doctor", "--repair", "--store", store)
    expect(done.code == OK and "recomputed" in done.out, "the remaining trials give the numbers", done)
    return sheet(assay, store, run)


def taken_back(early, whole):
    """Lines of the early sheet whose interval lies beside the whole run's."""
    for of, line in early.items():
        a, b = ((x.get("ci_low"), x.get("ci_high")) for x in (line, whole.get(of, {})))
        if None not in (*a, *b) and (a[0] > APART * b[1] or APART * a[1] < b[0]):
            yield f"{of}: {a}, then {b}"


def test_early_sheets(assay):
    lines = 0
    for name, run in RUNS:
        sample = os.path.join(SAMPLES, f"{name}.db")
        whole = sheet(assay, sample, run)
        for share in SHARES:
            early = sheet_after(assay, sample, run, share)
            lines += len(early)
            wrong = list(taken_back(early, whole))
            expect(not wrong, f"{name} {run} after {share:.0%} of its time", "\n".join(wrong))
    expect(lines > 1000, "early sheets have lines", lines)


def test_what_is_taken_back_is_seen(assay):
    h100, h200 = (sheet(assay, os.path.join(SAMPLES, f"{name}-quick.db"), 1) for name in ("h100", "h200"))
    wrong = " ".join(taken_back(h100, h200))
    expect("memory.read" in wrong and "clock" not in wrong.replace("cpu", ""), "memory of another card", wrong)
    twice = {of: dict(line, ci_low=2 * line["ci_high"], ci_high=4 * line["ci_high"]) for of, line in h200.items() if line["ci_high"]}
    expect(len(list(taken_back(twice, h200))) == len(twice) > 20, "every line that doubles", len(twice))


if __name__ == "__main__":
    harness.main(globals())
