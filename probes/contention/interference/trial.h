/* One trial: two sides, their buffers, and the pair. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_TRIAL_H
#define AS_PROBES_CONTENTION_INTERFERENCE_TRIAL_H

#include "cpus.h"
#include "os/cpus.h"
#include "sides.h"

enum { VICTIM, AGGRESSOR, SIDES };
enum { TRIAL_KEEPS = 256 };
struct trial {
    struct as_trial_context *tc;
    struct lines lines[SIDES]; /* shared buffer: only the first */
    struct cpu_side cpu[SIDES];
    struct device_side device;
    bool on_device[SIDES], control;
    enum op op[SIDES];
    struct pair pair;
    double keeps[TRIAL_KEEPS]; /* the share of its rate that the aggressor keeps, in the first blocks */
    size_t keeps_n;
    unsigned rejected;     /* blocks */
    struct as_cpus before; /* CPUs of the calling thread before it was bound */
    bool bound;
};
enum as_status as_interference_prepare(struct as_trial_context *tc, void *state, struct as_error *err);
enum as_status as_interference_sample(struct trial *t, struct as_sample *out, struct as_error *err);
void as_interference_note(struct trial *t);
bool as_interference_check(struct trial *t, char *why, size_t why_size);
void as_interference_finish(void *state);

#endif
