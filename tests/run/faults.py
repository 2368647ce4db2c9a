"""Faults planted in the statistics, one at a time; the coverage test of whole runs must detect each.

faults.py BUILD [NUMBER...]: BUILD is a folder that meson has set up and ninja has built. It takes minutes, so that no
suite runs it."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import planted_faults  # noqa: E402  (in tests/)

# File, text, what it becomes.
FAULTS = (
    # samples are not normalised to the reference clock
    ("estimate.c", "return norm && norm->beta != 0 && norm->reference_hz > 0;", "(void)norm;\n    return false;"),
    # the variance between trials is left out
    ("estimate.c", "s->plain_var = s->var = variance(x, c->units, &s->middle);",
     "s->plain_var = s->var = 0 * variance(x, c->units, &s->middle);"),
    # contended samples count
    ("estimate.c", "return t->weight ? t->weight[i] : 1;", "return t->weight ? 1 + 0 * t->weight[i] : 1;"),
    # trials of one process count as independent
    ("estimate.c", "several |= c->process[i] != c->process[0];", "several = false;"),
)


def environment(build):
    return {"ASSAY_WORKER": os.path.join(build, "assay")}


if __name__ == "__main__":
    planted_faults.main("src/stats", ["tests/run/test_run_coverage"], FAULTS, environment, timeout_s=1200)
