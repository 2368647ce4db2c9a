/* What each operation takes of each of some resources, such that the busiest of them tells what a sequence costs: the
 * pipes that pairs of operations show, and others, which no operation has for itself (ports of registers, say). As in
 * Derumigny et al., "Palmed: Throughput Characterization for Superscalar Architectures", CGO 2022: a bound by the
 * busiest of conjunctive resources; here fitted to all sequences at once, by least absolute deviations. */
#ifndef AS_STATS_PIPES_FIT_H
#define AS_STATS_PIPES_FIT_H

#include "stats/pipes.h"

enum { AS_PIPES_OTHERS = 3, AS_PIPES_RESOURCES = AS_PIPES_MAX + AS_PIPES_OTHERS };

struct as_pipes_fit {
    size_t resources;                              /* the pipes, then the others */
    double load[AS_PIPES_OPS][AS_PIPES_RESOURCES]; /* in the unit of costs */
    size_t loads;                                  /* of them above 0 */
    size_t sequences;                              /* of operations whose costs alone are known; others are left out */
    size_t judged;                                 /* of them those of several operations */
    double residual; /* nine of ten of them cost what the busiest resource, or the issue, needs, within this share; NAN
                        of none */
    double worst;    /* the farthest */
    size_t worst_in;
    double told; /* share of them that the others tell within AS_PIPES_TOLD: each is left out in turn, of the pairs and
                    of the fit; NAN of none */
};
#define AS_PIPES_TOLD 0.05

/* p: what as_pipes_solve made of the same sequences. */
enum as_status as_pipes_fit(const struct as_pipes_sequence *s, size_t n, size_t ops, const struct as_pipes *p,
                            struct as_pipes_fit *out, struct as_error *err);

#endif
