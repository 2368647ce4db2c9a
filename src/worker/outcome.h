/* What a trial tells besides its samples: why it has none, whose limit it met, its code and the demand during it. */
#ifndef AS_WORKER_OUTCOME_H
#define AS_WORKER_OUTCOME_H

#include "device/machine_code.h"
#include "model/cell.h"
#include "probe/probe.h"
#include "sensor/sensor.h"

/* A trial that begins now, without numbers. */
struct as_trial as_outcome_empty(int number);
/* Adds to a reason for want of memory which limit of the host applies. */
void as_outcome_add_limit(const struct as_device_info *info, char *reason, size_t size);
void as_outcome_set(struct as_trial *out, enum as_status st, const char *text);
void as_outcome_note_code(struct as_trial_context *tc, const struct as_code_identity *code);
/* In the units of as_demand_metrics. */
void as_outcome_note_demand(struct as_trial_context *tc, const struct as_demand_seen *seen);

#endif
