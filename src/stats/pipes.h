/* Which operations the same part of a unit does, from what they cost alone and in sequences. A unit is taken as pipes
 * that work side by side, each for some of the operations, and one issue for all: a sequence costs what its busiest
 * pipe needs, or its issue where that is longer. Of two operations at a time; pipes_fit.h asks all sequences. */
#ifndef AS_STATS_PIPES_H
#define AS_STATS_PIPES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_PIPES_OPS = 64, AS_PIPES_MAX = 24 };

struct as_pipes_sequence {
    uint8_t count[AS_PIPES_OPS]; /* of each operation */
    double cost;                 /* above 0 */
    double issued;               /* instructions of it; NAN: one for each operation */
    double error;                /* of the cost, as a share of it; NAN: not known */
};

enum as_pipes_relation {
    AS_PIPES_UNMEASURED, /* no sequence of these two */
    AS_PIPES_HIDDEN,     /* one costs so much more that the other's part would not be seen */
    AS_PIPES_AT_ISSUE,   /* the issue of both costs as much as one pipe for both would */
    AS_PIPES_SEPARATE,
    AS_PIPES_PARTLY,
    AS_PIPES_SHARED,
};
struct as_pipes_pair {
    enum as_pipes_relation relation;
    double share;    /* 0: at the same time, 1: one after the other */
    double error;    /* of it */
    size_t sequence; /* the one that tells it best */
};

struct as_pipes {
    double alone[AS_PIPES_OPS]; /* cost of one, NAN where it is not known */
    double error[AS_PIPES_OPS]; /* of it, as a share */
    size_t alone_in[AS_PIPES_OPS];
    double issue; /* least cost of an instruction in a sequence, but for the twentieth of them that noise made least */
    size_t issue_in;
    size_t issue_bound; /* sequences that cost what their issue does, well above their pipes */
    struct as_pipes_pair pair[AS_PIPES_OPS][AS_PIPES_OPS];
    size_t pipes;
    size_t first[AS_PIPES_MAX];             /* operation that stands for the pipe */
    int home[AS_PIPES_OPS];                 /* its pipe; -1: the pairs do not tell */
    double use[AS_PIPES_OPS][AS_PIPES_MAX]; /* cost in each pipe */
    size_t placed;                          /* sequences of several operations whose pipes are known */
};
/* ops: operations that counts are of. AS_USAGE where there are more of them than fit, or a cost is none. */
enum as_status as_pipes_solve(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out,
                              struct as_error *err);

#endif
