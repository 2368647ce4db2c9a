/* Shared by the files of peak.h. */
#ifndef AS_LIB_MMA_RATE_PEAK_INTERNAL_H
#define AS_LIB_MMA_RATE_PEAK_INTERNAL_H

#include "peak.h"

/* Draws operands and packs them for the kernels. */
enum as_status as_peak_write(struct as_peak *p, enum as_peak_operands how, struct as_error *err);
/* Runs a kernel; cycles on the slowest compute unit, and seconds. */
enum as_status as_peak_launch(struct as_peak *p, int which, uint32_t turns, double *cycles, double *seconds,
                              struct as_error *err);

#endif
