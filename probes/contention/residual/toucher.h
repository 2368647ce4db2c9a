/* The side that touches its own memory: a device, another core, or the calling CPU thread. */
#ifndef AS_PROBES_CONTENTION_RESIDUAL_TOUCHER_H
#define AS_PROBES_CONTENTION_RESIDUAL_TOUCHER_H

#include "sides.h"

struct toucher {
    struct side_memory memory, page; /* memory to touch, and the page that an idle run loads */
    struct side_work work;           /* of the last touch */
    uint64_t idle_lines;             /* loads of the idle run that replaces a touch */
    bool write;
    double launch_s, line_s; /* time of an idle run without lines, and per line */
};
/* Allocates bytes and stores to all of them once. kernels: NULL for the calling CPU thread. With 0 bytes a touch is an
 * idle run of as many loads as `idle_lines`. After a failure the caller still finishes t. */
enum as_status as_toucher_prepare(struct toucher *t, struct side_kernels *kernels, uint64_t bytes, uint64_t idle_lines,
                                  bool write, struct as_error *err);
/* Touches every line; *seconds: by the host's clock, around launch and wait. */
enum as_status as_toucher_run(struct toucher *t, double *seconds, struct as_error *err);
/* The same instructions for about the same time, within one page of 4 KiB: threads and driver are left as after a
 * touch. */
enum as_status as_toucher_idle(struct toucher *t, double seconds, struct as_error *err);
/* Checks the last touch: its sum (read), or the last line (write). */
bool as_toucher_check(struct toucher *t, char *why, size_t why_size);
void as_toucher_finish(struct toucher *t);

#endif
