/* Keeps the calling thread on the CPU where it is, so that it finds in that CPU's caches what it left there. */
#ifndef AS_LIB_PIN_PIN_H
#define AS_LIB_PIN_PIN_H

#include "os/cpus.h"

#include <stdbool.h>

struct as_pin {
    struct as_cpus before;
    bool held;
};
void as_pin_begin(struct as_pin *s); /* without effect where the system refuses */
void as_pin_end(struct as_pin *s);   /* the thread may move again as before */

#endif
