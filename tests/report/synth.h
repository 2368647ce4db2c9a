/* Runs made in memory, for the tests of the page: as a run of a real machine looks, and as no run should look. */
#ifndef AS_TEST_SYNTH_H
#define AS_TEST_SYNTH_H

#include "report/report.h"

enum { SYNTH_RUNS_MAX = 3 };
struct synth {
    struct as_report_run runs[SYNTH_RUNS_MAX];
    size_t n;
};

/* "plain": one run of a small machine, all probes, some cells rejected, some unsupported
 * "two": the same machine twice, the second 20% slower      "three": three times
 * "server": two packages of 64 cores                         "gpu": a device with a tree and 132 units
 * "gpus": two devices with links, "eight": eight of them
 * "twins": a GPU and a CPU under two backends each
 * "operations": a GPU with throughput and latency of some
 * "large": 10,000 measured cells                             "empty": no cells
 * "unsupported": no cell has a number                        "none": no run
 * "hostile": every text that can come from outside is an attack
 * NULL when the name is not known or memory ran out; synth_free takes what it gives. */
struct synth *synth_make(const char *scenario);
void synth_free(struct synth *s);

/* Attacks as they are in the run, for the tests to look for. */
extern const char synth_hostile_html[], synth_hostile_script[];
extern const char *const synth_scenarios[]; /* ends with NULL */

#endif
