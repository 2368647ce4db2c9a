"""What a store holds, read by SQL past assay: rules that hold whatever happened to it, and that nothing got lost.

A trial is told by its run's uuid, its cell's position and its number; numbers of cells and runs may be given anew."""
import contextlib
import hashlib
import os
import sqlite3

from harness import expect

ALONE = 1000000  # trials by --isolate are numbered from here
COUNTS = "v.excluded = 0 AND v.status = 'ok' AND v.n > 0"
SENTINEL = "c.probe = 'sentinel'"

# What is wrong, and the rows that are. They hold after each transaction.
ALWAYS = (
    ("a trial is there twice", "SELECT cell_id, number FROM trials GROUP BY 1, 2 HAVING count(*) > 1"),
    ("a cell is there twice", "SELECT run_id, position FROM cells GROUP BY 1, 2 HAVING count(*) > 1"),
    ("a run is there twice", "SELECT uuid FROM runs GROUP BY 1 HAVING count(*) > 1"),
    ("a run lacks cells", "SELECT id, cells FROM runs r WHERE cells <> "
     f"(SELECT count(*) FROM cells c WHERE run_id = r.id AND NOT {SENTINEL})"),
    ("a trial is missing between others",
     f"SELECT cell_id, count(*), max(number) FROM trials WHERE number < {ALONE} GROUP BY 1 "
     "HAVING count(*) <> max(number) + 1"),
    ("a cell's samples and its number contradict each other",
     "SELECT id, probe, axes, status, n FROM cells c WHERE (n > 0) <> "
     f"EXISTS(SELECT 1 FROM trials v WHERE v.cell_id = c.id AND {COUNTS})"),
    ("a cell's count of trials is wrong",
     "SELECT id, probe, axes, status, trials_done FROM cells c WHERE trials_done <> "
     "(SELECT count(*) FROM trials v WHERE v.cell_id = c.id)"),
    ("a status and a number contradict each other", "SELECT id, status, n FROM cells WHERE "
     "status IN('ok','wide','rejected') AND n = 0 OR status = 'planned' AND n > 0"),
    ("a cell has no number and no reason",
     "SELECT id, status FROM cells WHERE status NOT IN('ok','planned') AND reason = ''"),
)
# For runs that ended; a killed run may not have been judged as a whole.
ENDED = (
    ("a cell's n is not that of its samples",
     "SELECT c.id, c.probe, c.axes, c.n FROM cells c JOIN runs r ON r.id = run_id "
     "WHERE r.state <> 'running' AND c.n <> "
     f"(SELECT coalesce(sum(v.n), 0) FROM trials v WHERE v.cell_id = c.id AND {COUNTS})"),
    ("a cell's count of trials that count is wrong",
     "SELECT c.id, c.probe, c.axes, c.trials FROM cells c JOIN runs r ON r.id = run_id WHERE r.state <> 'running' AND "
     f"c.trials <> (SELECT count(*) FROM trials v WHERE v.cell_id = c.id AND {COUNTS})"),
    ("a run's count of valid cells is wrong",
     "SELECT id, cells_ok FROM runs r WHERE cells_ok IS NOT NULL AND cells_ok <> "
     f"(SELECT count(*) FROM cells c WHERE run_id = r.id AND status IN('ok','wide') AND NOT {SENTINEL})"),
    ("a complete run has cells that are not", "SELECT r.id, c.id FROM runs r JOIN cells c ON c.run_id = r.id "
     "WHERE r.state = 'complete' AND c.status = 'planned'"),
    ("a run that ended has no end", "SELECT id, state FROM runs WHERE (state = 'running') <> (ended_at = 0)"),
)


class Ledger:
    """What was seen in a store so far."""

    def __init__(self, assay):
        self.path = assay.store
        self.seen = {}  # uuid: {(position, number): hash of the samples}
        self.may_go = set()  # runs that another process asked to delete: whole or not at all

    def rows(self, sql, *values):
        """Of a store that may not be there yet, or have no tables yet: none."""
        if not os.path.exists(self.path):
            return []
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=rw", uri=True, timeout=60)) as db:
            try:
                return db.execute(sql, values).fetchall()
            except sqlite3.OperationalError as why:
                if "no such table" in str(why):
                    return []
                raise

    def states(self):
        return dict(self.rows("SELECT uuid, state FROM runs ORDER BY id"))

    def unfinished(self):
        return [uuid for uuid, state in self.states().items() if state != "complete"]

    def number(self, uuid):
        """By which assay names the run; None when it is not there."""
        found = self.rows("SELECT id FROM runs WHERE uuid = ?", uuid)
        return found[0][0] if found else None

    def look(self):
        """Takes down each trial that is committed now, of which none that was seen before may be gone or another."""
        now = {}
        for uuid, position, number, n, samples in self.rows(
                "SELECT r.uuid, c.position, v.number, v.n, v.samples FROM runs r LEFT JOIN cells c ON c.run_id = r.id "
                "LEFT JOIN trials v ON v.cell_id = c.id"):
            trials = now.setdefault(uuid, {})
            if number is not None:
                trials[position, number] = (n, hashlib.sha1(samples).hexdigest())
        for uuid, trials in self.seen.items():
            if uuid in self.may_go and uuid not in now:
                continue
            expect(uuid in now, f"run {uuid} is lost")
            lost = {key: value for key, value in trials.items() if now[uuid].get(key) != value}
            expect(not lost, f"run {uuid}: {len(lost)} of {len(trials)} trials are lost or others", lost)
        self.seen = now
        return now

    def check(self, live=False):
        """All rules, those for runs that ended only where no process is changing them (live)."""
        self.look()
        for wrong, sql in ALWAYS + (() if live else ENDED):
            found = self.rows(sql)
            expect(not found, wrong, found[:5])
        if not live:
            found = self.rows("PRAGMA integrity_check")
            expect(found in ([], [("ok",)]), "the store passes its integrity check", found)
            expect(not self.rows("PRAGMA foreign_key_check"), "every trial belongs to a cell")

    def check_complete(self, uuid, trials, statuses=("ok", "wide", "rejected")):
        """Every cell was measured as often as was asked for, no more and no less."""
        expect(self.states().get(uuid) == "complete", f"run {uuid} is complete", self.states())
        found = self.rows(
            "SELECT c.position, c.probe, c.axes, c.status, c.reason, c.n, "
            f"(SELECT count(*) FROM trials v WHERE v.cell_id = c.id AND number < {ALONE}) "
            f"FROM cells c JOIN runs r ON r.id = c.run_id WHERE r.uuid = ? AND NOT {SENTINEL}", uuid)
        for cell in found:
            *_, status, reason, n, made = cell
            expect(status in statuses, f"run {uuid}: a cell is {status}", cell)
            # A trial that crashes is the last of its cell, which keeps the number that it has.
            cut = "crashed" in statuses and "one trial crashed" in reason and 1 < made < trials
            if status in ("ok", "wide", "rejected"):
                expect(n > 0 and (made == trials or cut), f"run {uuid}: {made} trials where {trials} were asked for",
                       cell)
