/* What the files of this probe share: a game of one pair, by who plays it. */
#ifndef AS_PROBES_MEMORY_C2C_C2C_H
#define AS_PROBES_MEMORY_C2C_C2C_H

#include "lib/prepare/prepare.h"
#include "lib/timed/timed.h"

/* A round over all lines is one cycle: every sample covers all placements alike. The stride puts each line on a page of
 * its own and walks the sets of the first cache. */
enum { C2C_LINES = 64, C2C_BURST = 32, C2C_STRIDE = 4096 + 192, C2C_ROUNDS = C2C_LINES * C2C_BURST };

struct c2c {
    const struct c2c_peer *peer;
    struct as_device *dev;
    struct as_timed timed; /* peer unit */
    struct as_memory *memory, *tickets;
    struct as_program *program;
    struct as_kernel *kernel;
    int pair[2];     /* CPUs, or units */
    uint64_t cycles; /* played so far */
    uint32_t launches;
    uint32_t patience; /* looks of a device at a line before it gives up */
    bool named;        /* peer unit: kernels can tell on which unit they run */
};

/* Who answers. */
struct c2c_peer {
    const char *word;
    enum as_applies (*applies)(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);
    enum as_status (*prepare)(struct c2c *s, struct as_trial_context *vc, struct as_error *err);
    /* Fills seconds and the clock; the value is reckoned from the seconds. */
    enum as_status (*play)(struct c2c *s, uint64_t cycles, struct as_sample *out, struct as_error *err);
    /* How often line 0 .. C2C_LINES-1 was passed, as it says itself; modulo 2^32 on a device. */
    enum as_status (*passes)(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err);
};
extern const struct c2c_peer c2c_cpu, c2c_device, c2c_unit;

/* cpu.c */
bool c2c_usable_cpu(const struct as_axes *a, const char *axis, struct as_error *err);
/* Is this CPU one of those from which a device is played with? */
bool c2c_plays_with_device(const struct as_axes *a);

/* device.c: the lines on which devices play lie behind one for signals, as 32-bit words */
enum { C2C_DEVICE_BYTES = (C2C_LINES + 1) * C2C_STRIDE };
/* What a device's kernels are built with: scope of what they say to each other, and order by the axis op. */
void c2c_device_defines(const struct as_axes *a, const char *scope, char *out, size_t size);
enum as_status c2c_device_passes(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err);

#endif
