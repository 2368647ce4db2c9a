/* Is it the machine of another run, and in the same state? Read from what runs record of host and devices; what one of
 * them did not record agrees. */
#ifndef AS_REPORT_MACHINE_STATE_H
#define AS_REPORT_MACHINE_STATE_H

#include "model/cell.h"

#include <jansson.h>

struct as_machine_state {
    const struct as_run *run;     /* not owned */
    json_t *provenance, *devices; /* owned; NULL: not recorded */
};
struct as_machine_state as_machine_state_of(const struct as_run *run);
void as_machine_state_finish(struct as_machine_state *s);
/* The same host: the boot ID, or else its name, and the same model of CPU. */
bool as_machine_state_is_same_host(const struct as_machine_state *a, const struct as_machine_state *b);
/* Appends what changed from a to b of the host and of assay itself, so that their numbers are no longer of one state:
 * "kernel 6.1.0-25, then 6.1.0-26; build abc, then def"; nothing: the same state. Not escaped. */
void as_machine_state_host(const struct as_machine_state *a, const struct as_machine_state *b, struct as_buf *out);
/* The same of a device that both have: "driver of cuda:0 570.1, then 580.2". */
void as_machine_state_device(const struct as_machine_state *a, const struct as_machine_state *b, const char *id,
                             struct as_buf *out);
bool as_machine_state_has(const struct as_machine_state *s, const char *device);
/* The load average when the run started; NAN unknown. */
double as_machine_state_load(const struct as_machine_state *s);
/* Was the host started anew between them? */
bool as_machine_state_rebooted(const struct as_machine_state *a, const struct as_machine_state *b);

#endif
