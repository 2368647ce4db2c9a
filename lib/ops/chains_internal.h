/* What the files of chains share. */
#ifndef AS_LIB_OPS_CHAINS_INTERNAL_H
#define AS_LIB_OPS_CHAINS_INTERNAL_H

#include "chains.h"

enum { AS_CHAINS_STARTS = 1024 }; /* operands of each kind, in a block of as many numbers of 64 bits */

/* Where kernels are of a CPU, a thread of theirs runs on a core for itself. */
bool as_chains_core(const struct as_device_info *info);
/* One launch of so many turns of a body; *seconds as the host or the device's events see it. */
enum as_status as_chains_launch(struct as_chains *c, enum as_chains_kernel which, uint32_t turns, double *seconds,
                                struct as_error *err);

#endif
