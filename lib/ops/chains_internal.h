/* Shared by the files of chains.h. */
#ifndef AS_LIB_OPS_CHAINS_INTERNAL_H
#define AS_LIB_OPS_CHAINS_INTERNAL_H

#include "chains.h"

enum { AS_CHAINS_TURNS_MAX = UINT32_MAX / 2048 }; /* of a body; a check counts them in steps */
enum { AS_CHAINS_STARTS = 1024 };                 /* operands of each kind, in a block of as many 64-bit words */

/* On a CPU each kernel thread has its own core. */
bool as_chains_core(const struct as_device_info *info);
/* One launch of this many turns of a body; *seconds by the host's clock or the device's events. */
enum as_status as_chains_launch(struct as_chains *c, enum as_chains_kernel which, uint32_t turns, double *seconds,
                                struct as_error *err);

/* as_chains_prepare without the check of the code and without a clock. */
enum as_status as_chains_make(struct as_chains *c, struct as_trial_context *tc, const struct as_chains_desc *desc,
                              struct as_error *err);
/* Times a body and one twice as long, in cycles, or in seconds without a counter; repeats with more turns if the longer
 * one was not slower. *seconds: of both launches. */
enum as_status as_chains_pair(struct as_chains *c, uint32_t *turns, double *half, double *whole, double *seconds,
                              struct as_error *err);
/* Cycles per step, or seconds without a counter, from such a pair, without loop overhead where possible. */
double as_chains_step(const struct as_chains *c, uint32_t turns, double half, double whole);
double as_chains_results(const struct as_chains *c); /* per compute unit and step */

#endif
