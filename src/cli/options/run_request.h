/* What `run` and `plan` are asked to measure. */
#ifndef AS_CLI_RUN_REQUEST_H
#define AS_CLI_RUN_REQUEST_H

#include "cli/cli.h"
#include "run/run.h"

/* Options that say what is measured. */
// clang-format off
#define AS_OPTIONS_PLAN                                                                                                \
    {"device", 'd', "LIST",                                                                                            \
     "devices as 'assay devices' lists them: cpu,opencl:0; 'all'; or 'each', every piece of hardware once (default: "  \
     "the suite's)", false},                                                                                           \
    {"set", 's', "AXIS=VALUES",                                                                                        \
     "values of an axis: size=1KiB..1GiB x4, op=triad,copy, latency.size=64KiB, or allocator=pinned, a role or a name "\
     "of 'assay list roles'; state=HSA_XNACK=0,HSA_XNACK=1 measures in processes with this "                           \
     "environment", true},                                                                                             \
    {"precision", 0, "P",                                                                                              \
     "requested width of the 95% interval, relative to the median, 0.01% to 100%: a probe is measured until it is "    \
     "reached, for at most ten minutes, a suite for its budget (default: the suite's, which may differ between "       \
     "probes; see 'assay list suites')", false},                                                        \
    {"budget", 0, "TIME",                                                                                              \
     "time limit of the whole run: 60s, 10m, 2h; 0 for none (default: the suite's, once per device beside the CPU; "   \
     "a minute for a probe, ten minutes with --precision)",                                                            \
     false},                                                                                                           \
    {"trials", 0, "N", "trials requested per measurement, 1 to 100 (default: the suite's)", false}
// clang-format on

struct as_run_request {
    struct as_run_options options; /* points to sets and to the arguments */
    const char **sets;             /* owned */
};
/* Options and names of suites; names are looked up. AS_USAGE: wrong ones, with the nearest. Undone by
 * as_run_request_finish, also where this fails. */
enum as_status as_run_request_read(const struct as_args *args, struct as_run_request *out, struct as_error *err);
void as_run_request_finish(struct as_run_request *r);
extern const struct as_args_range as_budget_range;

#endif
