/* Two sides in matched blocks: each block times a fixed piece of the victim's work alone and while the aggressor works,
 * and the aggressor alone for the same time. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_PAIR_H
#define AS_PROBES_CONTENTION_INTERFERENCE_PAIR_H

#include "lib/arms/arms.h"

#include <stdbool.h>

struct span {
    double from, to; /* by as_now */
    double seconds;  /* of the work, by the side's own clock */
    double items;    /* lines, or loads of a chase */
};
struct reading {
    double at, items; /* lines or loads, cumulative */
};
/* A side works by itself, or the calling thread drives it by `step` and waits in each call. */
struct side_ops {
    /* As the victim: starts a fixed piece of work. For a driven side the work is done when `work` returns. */
    enum as_status (*work)(void *self, struct as_error *err);
    bool (*ended)(void *self);
    void (*wait)(void *self, struct span *out);
    /* As the aggressor: `start` returns when all of it works, `stop` when none of it does. */
    enum as_status (*start)(void *self, struct as_error *err);
    enum as_status (*step)(void *self, struct as_error *err);     /* NULL: it works by itself */
    enum as_status (*progress)(void *self, struct as_error *err); /* NULL with step; AS_FAILED if a part stopped */
    void (*stop)(void *self);
    struct reading (*read)(void *self);
};
struct side {
    const struct side_ops *ops;
    void *self;
};

enum pair_arm { PAIR_ALONE, PAIR_LOADED, PAIR_AGGRESSOR, PAIR_ARMS };
struct pair {
    struct side victim, aggressor;
    bool control; /* without an aggressor: both arms are the victim alone */
    bool starves; /* the system may give an aggressor of low priority no CPU time while the victim works */
    struct as_arms blocks;
    /* Of the last block: the victim's seconds and its seconds per item, and the aggressor's items per second while the
     * victim worked. */
    double seconds[PAIR_AGGRESSOR], value[PAIR_ARMS], loaded_rate;
    double log_sum[PAIR_ARMS], loaded_sum, done; /* sums of log(value) and of loaded_rate; blocks */
};
/* p: its sides, control and starves are set. Runs one piece alone first, since a process's first block is slower. */
enum as_status as_pair_start(struct pair *p, uint64_t seed, struct as_error *err);
/* *slowdown: time per item under load over time per item alone. *seconds: of both. */
enum as_status as_pair_block(struct pair *p, double *slowdown, double *seconds, struct as_error *err);
/* Mean over all blocks, geometric of value, arithmetic of loaded_rate, which may be 0; NAN before the first block. */
double as_pair_mean(const struct pair *p, enum pair_arm arm);
double as_pair_loaded_rate(const struct pair *p);

#endif
