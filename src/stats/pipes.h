/* Finds operations that share a pipe from their cost alone and in sequences. Model: a compute unit has concurrent
 * pipes, each for some operations, and one issue port for all; a sequence costs the maximum over its pipes and its
 * issue. This file compares two operations at a time; pipes_fit.h fits all sequences. */
#ifndef AS_STATS_PIPES_H
#define AS_STATS_PIPES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_PIPES_OPS = 64, AS_PIPES_MAX = 24 };

struct as_pipes_sequence {
    uint8_t count[AS_PIPES_OPS]; /* occurrences of each operation */
    double cost;                 /* positive */
    double issued;               /* instructions issued; NAN: one per operation */
    double error;                /* relative error of the cost; NAN: unknown */
};

enum as_pipes_relation {
    AS_PIPES_UNMEASURED, /* no sequence of these two */
    AS_PIPES_HIDDEN,     /* one is so expensive that it hides the other */
    AS_PIPES_AT_ISSUE,   /* the issue of both costs as much as one shared pipe */
    AS_PIPES_SEPARATE,
    AS_PIPES_PARTLY,
    AS_PIPES_SHARED,
};
struct as_pipes_pair {
    enum as_pipes_relation relation;
    double share;    /* 0: fully concurrent, 1: fully serialised */
    double error;    /* of share */
    size_t sequence; /* the most significant one */
};

struct as_pipes {
    double alone[AS_PIPES_OPS]; /* cost of one, NAN: unknown */
    double error[AS_PIPES_OPS]; /* relative error of it */
    size_t alone_in[AS_PIPES_OPS];
    double issue; /* minimum cost per instruction in a sequence, without the lowest 5%, which are noise */
    size_t issue_in;
    size_t issue_bound; /* sequences limited by issue, well above their pipes */
    struct as_pipes_pair pair[AS_PIPES_OPS][AS_PIPES_OPS];
    size_t pipes;
    size_t first[AS_PIPES_MAX];             /* representative operation of the pipe */
    int home[AS_PIPES_OPS];                 /* its pipe; -1: inconclusive */
    double use[AS_PIPES_OPS][AS_PIPES_MAX]; /* cost in each pipe */
    size_t placed;                          /* sequences of several operations whose pipes are known */
};
/* ops: number of operations in counts. AS_USAGE: too many operations, or an invalid cost. */
enum as_status as_pipes_solve(const struct as_pipes_sequence *s, size_t n, size_t ops, struct as_pipes *out,
                              struct as_error *err);

#endif
