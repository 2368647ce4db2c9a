/* One matrix instruction again and again on operands that stay where they are: how fast it is, and whether it was done
 * right. See peak.kernel. */
#ifndef AS_LIB_MMA_PEAK_H
#define AS_LIB_MMA_PEAK_H

#include "cores.h"
#include "layout.h"
#include "lib/timed/timed.h"

enum as_peak_operands {
    AS_PEAK_RANDOM, /* any fraction, sizes from 1/2 to 2, either sign; any integers */
    AS_PEAK_ZERO,
    AS_PEAK_WHOLE, /* whole numbers so small that every sum of the check is exact in every format */
};
struct as_peak_desc {
    const struct as_matrix *matrix;
    unsigned n;      /* columns, 0: its own or the most */
    unsigned chains; /* of a lane, 0: as many as are usual */
    unsigned warps;  /* of a unit, 0: as many as are usual */
    enum as_peak_operands operands;
    bool long_bodies; /* so long that waiting at their ends is less than a hundredth of a rate */
};

enum { AS_PEAK_HALF, AS_PEAK_LONG, AS_PEAK_KERNELS };
struct as_peak {
    struct as_peak_desc desc; /* no longer with 0 for what is usual */
    struct as_matrix_body body;
    const struct as_core *core; /* of a CPU, with the body of so many chains */
    const struct as_core_body *core_body;
    struct as_timed timed;
    struct as_kernel *kernels[AS_PEAK_KERNELS];
    struct as_memory *factor[2], *ends;       /* images of A and B; of what the accumulators end with */
    size_t workgroups, workgroup_size, teams; /* of a launch, of threads, of a group */
    size_t images[2], ends_bytes;             /* images of A, of B */
    unsigned char *image, *end;               /* host's copies */
    uint64_t *numbers[2][2];                  /* of A and B, each of both: of all variants */
    uint64_t seed;
    unsigned bound; /* of the sums of random operands at any time */
};

struct as_peak_time {
    double seconds;    /* of both launches, of CPUs of their bodies alone */
    double cycles;     /* of a unit, a step of all chains of all its teams; the loop around them not counted */
    double operations; /* of a unit in such a step: 2 m n k each */
    double clock_hz;   /* by the device's own counter, NAN where it has none */
    double rate;       /* operations of all units in a second, in the launch of the longer body */
};

/* Puts what is usual in the place of 0. */
void as_peak_usual(const struct as_device_info *info, struct as_peak_desc *desc);
enum as_applies as_peak_applies(const struct as_device_info *info, const struct as_peak_desc *desc,
                                struct as_error *err);
enum as_status as_peak_prepare(struct as_peak *p, struct as_trial_context *vc, const struct as_peak_desc *desc,
                               struct as_error *err);
enum as_status as_peak_measure(struct as_peak *p, uint32_t turns, struct as_peak_time *out, struct as_error *err);
/* The accumulators of the last launch are numbers that its operands can give; and on whole operands the same kernels
 * end everywhere with exactly what the host gets. */
bool as_peak_check(struct as_peak *p, char *why, size_t size);
void as_peak_finish(struct as_peak *p);

#endif
