/* Events of this process from perf counters, over all of its threads. */
#ifndef AS_LIB_PAGES_EVENTS_H
#define AS_LIB_PAGES_EVENTS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum as_event {
    AS_EVENT_TLB_MISSES,   /* loads that missed the TLB */
    AS_EVENT_L1D_MISSES,   /* loads that missed the L1 data cache */
    AS_EVENT_MINOR_FAULTS, /* faults without I/O, counted by the kernel itself */
};
enum { AS_EVENTS = AS_EVENT_MINOR_FAULTS + 1 };
enum { AS_EVENT_THREADS_MAX = 1024 };
struct as_events {
    int fd[AS_EVENT_THREADS_MAX];
    size_t n;
};
/* Why this process cannot count the event; "" if it can. Asks the system once per event. */
const char *as_events_why_not(enum as_event event);
/* Counts in all current threads, in user code. AS_UNSUPPORTED names what prevents it. */
enum as_status as_events_open(struct as_events *e, enum as_event event, struct as_error *err);
/* *count: since opening. AS_UNSUPPORTED if the counters were multiplexed. */
enum as_status as_events_read(const struct as_events *e, uint64_t *count, struct as_error *err);
void as_events_close(struct as_events *e);

#endif
