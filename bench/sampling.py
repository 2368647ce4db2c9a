"""Where the time of a run goes: preparing, sampling and the rest of each trial, by probe."""
import collections
import contextlib
import sqlite3

from common import row

TARGET = 0.6


def trials(store):
    """(probe, seconds preparing, in all, inside samples, start) of each trial of the last run."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        columns = {r[1] for r in db.execute("PRAGMA table_info(trials)")}
        sampling = "v.sampling_s" if "sampling_s" in columns else "v.n * v.sample_s"  # the median stands for each
        return db.execute(f"SELECT c.probe, v.prepare_s, v.duration_s, COALESCE({sampling}, 0), v.started_at "
                          "FROM trials v JOIN cells c ON c.id = v.cell_id "
                          "WHERE c.run_id = (SELECT MAX(id) FROM runs)").fetchall()


def measure(assay, budget):
    assay.command("run", "quick", "--device", "cpu", "--budget", budget, "--quiet")
    found = trials(assay.store)
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for probe, *seconds, _ in found:
        for name in (probe, "all"):
            sums[name] = [a + b for a, b in zip(sums[name], [1, *seconds])]
    rows = [row(f"{name}, {n} trials", f"prepare {prepare:.2f} s, sampling {sampling:.2f} s of {whole:.2f} s", "", None)
            for name, (n, prepare, whole, sampling) in sorted(sums.items(), key=lambda item: item[1][2])]
    elapsed = max(t[4] + t[2] for t in found) - min(t[4] for t in found)
    share = sums["all"][3] / elapsed
    return rows + [row("sampling, of the time between start and end of the measuring", f"{100 * share:.0f}%",
                       f"at least {100 * TARGET:.0f}%", share >= TARGET)]
