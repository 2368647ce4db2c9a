/* A repeated matrix instruction on resident operands: its rate and its correctness. See peak.kernel. */
#ifndef AS_LIB_MMA_RATE_PEAK_H
#define AS_LIB_MMA_RATE_PEAK_H

#include "lib/kernel_timer/kernel_timer.h"
#include "lib/mma/instructions/cores.h"
#include "lib/mma/instructions/layout.h"

enum as_peak_operands {
    AS_PEAK_RANDOM, /* fractions with magnitude 1/2 to 2, either sign; any integers */
    AS_PEAK_ZERO,
    AS_PEAK_WHOLE, /* integers so small that every format holds every sum of the check exactly */
};
struct as_peak_desc {
    const struct as_matrix *matrix;
    unsigned n;      /* columns, 0: its own or the maximum */
    unsigned chains; /* per lane, 0: default */
    unsigned warps;  /* per compute unit, 0: default */
    enum as_peak_operands operands;
    bool long_bodies; /* bodies so long that the final wait costs less than 1% */
    bool rate_only;   /* only seconds are needed: accepts devices without a known clock */
};

enum { AS_PEAK_HALF, AS_PEAK_LONG, AS_PEAK_KERNELS };
struct as_peak {
    struct as_peak_desc desc; /* with defaults resolved */
    struct as_matrix_body body;
    const struct as_core *core; /* on a CPU, with the body for that many chains */
    const struct as_core_body *core_body;
    struct as_kernel_timer timer;
    struct as_kernel *kernels[AS_PEAK_KERNELS];
    struct as_memory *factor[2], *ends;       /* images of A and B, and of the final accumulators */
    size_t workgroups, workgroup_size, teams; /* per launch, threads, per workgroup */
    size_t images[2], ends_bytes;             /* images of A, of B */
    bool no_cycles;                           /* kernels have no cycle counter */
    struct as_tick *tick;                     /* then the clock, unless rate_only; else NULL */
    unsigned char *image, *end;               /* host copies */
    uint64_t *numbers[2][2];                  /* of A and B, two each, for all variants */
    uint64_t seed;
    unsigned bound; /* bound of sums of random operands */
};

struct as_peak_time {
    double seconds;    /* of both launches; on CPUs only the bodies */
    double cycles;     /* of a compute unit, per step of all chains of all its warps, without loop overhead; NAN with
                          rate_only on a device without a cycle counter */
    double operations; /* per compute unit and such step: 2 m n k each */
    double clock_hz;   /* by the device's counter or by calibration (tick.h), NAN without them */
    double rate;       /* operations per second of all compute units, in the launch of the longer body */
};

/* Replaces 0 by the defaults. */
void as_peak_usual(const struct as_device_info *info, struct as_peak_desc *desc);
enum as_applies as_peak_applies(const struct as_device_info *info, const struct as_peak_desc *desc,
                                struct as_error *err);
enum as_status as_peak_prepare(struct as_peak *p, struct as_trial_context *tc, const struct as_peak_desc *desc,
                               struct as_error *err);
enum as_status as_peak_measure(struct as_peak *p, uint32_t turns, struct as_peak_time *out, struct as_error *err);
/* Checks that the last launch's accumulators are plausible, and that on integers the same kernels give exactly the
 * host's results. */
bool as_peak_check(struct as_peak *p, char *why, size_t size);
void as_peak_finish(struct as_peak *p);

#endif
