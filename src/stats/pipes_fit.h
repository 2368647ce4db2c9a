/* Fits the load of each operation on several resources, such that the busiest resource gives the cost of a sequence:
 * the pipes found from pairs of operations, and others that no operation uses alone (such as register ports). As in
 * Derumigny et al., "Palmed: Throughput Characterization for Superscalar Architectures", CGO 2022: a bound by the
 * busiest of conjunctive resources; here fitted to all sequences at once, by least absolute deviations. */
#ifndef AS_STATS_PIPES_FIT_H
#define AS_STATS_PIPES_FIT_H

#include "stats/pipes.h"

enum { AS_PIPES_OTHERS = 3, AS_PIPES_RESOURCES = AS_PIPES_MAX + AS_PIPES_OTHERS };

struct as_pipes_fit {
    size_t resources;                              /* the pipes, then the others */
    double load[AS_PIPES_OPS][AS_PIPES_RESOURCES]; /* in the unit of cost */
    size_t loads;                                  /* number of loads above 0 */
    size_t sequences;                              /* sequences of operations with known costs; others are left out */
    size_t judged;                                 /* of these, those of several operations */
    double residual; /* 90th percentile of the relative deviation from the cost of the busiest resource or the issue;
                        NAN if none */
    double worst;    /* maximum deviation */
    size_t worst_in;
    double told; /* share predicted by the others within AS_PIPES_TOLD: each is left out in turn, of the pairs and
                    of the fit; NAN if none */
};
#define AS_PIPES_TOLD 0.05

/* p: the result of as_pipes_solve for the same sequences. */
enum as_status as_pipes_fit(const struct as_pipes_sequence *s, size_t n, size_t ops, const struct as_pipes *p,
                            struct as_pipes_fit *out, struct as_error *err);

#endif
