"""A run that is gone on with comes to the verdicts that it would have come to at a stretch."""
import json
import signal
import sqlite3
import struct

import harness
from harness import MEASURED, SLOW, expect

CELLS = ["latency", "--set", "size=1KiB..1MiB x2", "--device", "null", "--budget", "0"]
ALONE = 1000000  # visits by --isolate are numbered from here


def visits(assay, columns, where="1"):
    """Rows of visits; none while there is no store yet."""
    store = sqlite3.connect(assay.store)
    try:
        return store.execute(f"SELECT {columns} FROM visits WHERE {where} ORDER BY cell_id, number").fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        store.close()


def disturb(samples):
    values = struct.unpack(f"<{len(samples) // 8}d", samples)
    return struct.pack(f"<{len(values)}d", *(1.3 * v for v in values))


def test_what_visits_read_of_the_host(assay):
    """Each visit is judged by what all of the run read: the last of six found the host slow, and took longer."""
    done = assay.run("run", *CELLS, "--visits", "6")
    expect(done.code in MEASURED, "measured", done)
    store = sqlite3.connect(assay.store)
    for visit, number, samples, detail in store.execute(
            "SELECT id, number, samples, detail FROM visits WHERE cell_id IN (SELECT id FROM cells WHERE probe = 'latency')"
    ).fetchall():
        slow = number >= 5
        read = dict(json.loads(detail or "{}"), yardstick_ns=19000 if slow else 14000)
        store.execute("UPDATE visits SET detail = ?, samples = ? WHERE id = ?",
                      (json.dumps(read, separators=(",", ":")), disturb(samples) if slow else samples, visit))
    store.execute("UPDATE runs SET state = 'interrupted'")
    store.commit()
    store.close()
    done = assay.run("resume")
    expect(done.code in MEASURED, "gone on with", done)
    found = visits(assay, "number, excluded", "detail LIKE '%yardstick%'")
    expect(len(found) >= 60, "visits with a reading", len(found))
    for number, excluded in found:
        expect(bool(excluded) == (number >= 5), f"visit {number} counts only if the host was as fast as usual", excluded)


def test_interrupted_while_alone(assay):
    """What was measured alone before is kept, and the rest comes after it."""
    process = assay.start("run", *CELLS, "--visits", "1", "--isolate", env=assay.script(SLOW), start_new_session=True)
    harness.wait_for(lambda: visits(assay, "id", f"number >= {ALONE}"), "a visit alone")
    harness.kill(process.pid, signal.SIGINT)
    assay.finish(process, 30)
    before = visits(assay, "id, samples", f"number >= {ALONE}")
    done = assay.run("resume", env=assay.script(SLOW))
    expect(done.code in MEASURED, "resumed", done)
    alone = visits(assay, "cell_id", f"number >= {ALONE}")
    expect(len(alone) == len(set(alone)) == len(assay.cells()), "each cell alone once", alone)
    expect(set(before) <= set(visits(assay, "id, samples", f"number >= {ALONE}")), "those from before are as they were")
    expect(all(worker > 0 for worker, in visits(assay, "worker")), "who measured is known")
    expect(all("isolated" in (c["detail"] or {}) for c in assay.cells()), "and all are compared")


if __name__ == "__main__":
    harness.main(globals())
