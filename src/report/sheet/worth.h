/* Facts that should change what a programmer does, by how much. */
#ifndef AS_REPORT_WORTH_H
#define AS_REPORT_WORTH_H

#include "facts/facts.h"
#include "report/report.h"

enum { AS_WORTH_MAX = 5, AS_WORTH_FAULTS_MAX = 64 };

struct as_worth {
    const struct as_fact *fact;
    double score;              /* infinite: a claim that is refuted */
    size_t seen, looked;       /* runs that say the same, of those that tell */
    struct as_interval ranges; /* of the gain, or the value of a refuted claim, in those that say the same */
    bool is_usual;             /* it fits nearly any machine, and its size is not beyond what is usual */
    bool differ;               /* those of the gain do not all overlap; of a claim: they go beyond that of the fact */
};
/* Fills out with at most `most` of what is worth knowing of the machine, what changes most first; returns how many.
 * Only facts with advice count, ranked by the interval end nearest to no effect, in the run with the smallest effect;
 * not one that another run of the machine denies, nor of a device that drives the same hardware as another. Usual
 * advice only fills the list up to two. */
size_t as_worth_knowing(const struct as_report_run *run, struct as_worth *out, size_t most);
/* The same of devices that are worse than the others of their model, and of links with errors, of all devices: links
 * first, then the largest deviation. as_worth_knowing has none of them. */
size_t as_worth_faults(const struct as_report_run *run, struct as_worth *out, size_t most);
/* What to do and how often it was seen: "Pin host memory for copies: ...; seen once", of a fault after the device and
 * what is wrong with it. Not escaped. */
void as_worth_text(const struct as_worth *w, struct as_buf *out);

/* Facts of several runs, the latest first. */
struct as_worth_runs {
    struct as_other_fact *v; /* owned */
    size_t n, cap;
    uint64_t *measured; /* what these runs measured, of each cell and device one; owned */
    size_t measured_n, measured_cap;
};
/* Adds the facts of a run that bear on what is worth knowing, of devices that are in the same state as in run now; no
 * fault whose cell a later run measured again without finding it. */
enum as_status as_worth_add_run(struct as_worth_runs *runs, const struct as_run *now, const struct as_report_run *other,
                                struct as_error *err);
void as_worth_runs_finish(struct as_worth_runs *runs);

#endif
