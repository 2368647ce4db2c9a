/* Keeps the calling thread on the CPU where it is, so that it finds in that CPU's caches what it left there. */
#ifndef AS_LIB_PREPARE_STAY_H
#define AS_LIB_PREPARE_STAY_H

#include "os/cpus.h"

#include <stdbool.h>

struct as_stay {
    struct as_cpus before;
    bool held;
};
void as_stay_begin(struct as_stay *s); /* without effect where the system refuses */
void as_stay_end(struct as_stay *s);   /* the thread may move again as before */

#endif
