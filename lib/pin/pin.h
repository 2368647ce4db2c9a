/* Keeps the calling thread on its current CPU, so that its data stays in that CPU's caches. */
#ifndef AS_LIB_PIN_PIN_H
#define AS_LIB_PIN_PIN_H

#include "os/cpus.h"

#include <stdbool.h>

struct as_pin {
    struct as_cpus before;
    bool held;
};
void as_pin_begin(struct as_pin *s); /* no effect if the system refuses */
void as_pin_end(struct as_pin *s);   /* restores the thread's affinity */

#endif
