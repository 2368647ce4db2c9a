/* Ping-pong between two agents, by kind of peer. */
#ifndef AS_PROBES_COHERENCE_C2C_C2C_H
#define AS_PROBES_COHERENCE_C2C_C2C_H

#include "lib/checks/checks.h"
#include "lib/kernel_timer/kernel_timer.h"

/* One cycle is a round over all lines, so every sample covers the same placements. The stride puts each line on its own
 * page and spreads them over the sets of L1. */
enum { C2C_LINES = 64, C2C_BURST = 32, C2C_STRIDE = 4096 + 192, C2C_ROUNDS = C2C_LINES * C2C_BURST };

struct c2c {
    const struct c2c_peer *peer;
    struct as_device *dev;
    struct as_kernel_timer timer; /* peer unit */
    struct as_buffers own;        /* the other peers */
    struct as_memory *memory, *tickets;
    struct as_kernel *kernel;
    int pair[2];     /* CPUs, or compute units */
    uint64_t cycles; /* cycles so far */
    uint32_t launches;
    uint32_t patience; /* polls before a device gives up */
    bool named;        /* peer unit: kernels can read their unit id */
};

/* The kinds of peer. */
struct c2c_peer {
    const char *word;
    enum as_applies (*applies)(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);
    enum as_status (*prepare)(struct c2c *s, struct as_trial_context *tc, struct as_error *err);
    /* Sets seconds and the clock; the value follows from the seconds. */
    enum as_status (*play)(struct c2c *s, uint64_t cycles, struct as_sample *out, struct as_error *err);
    /* Passes counted in lines 0 .. C2C_LINES-1; modulo 2^32 on a device. */
    enum as_status (*passes)(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err);
};
extern const struct c2c_peer c2c_cpu, c2c_device, c2c_unit;

/* cpu.c */
bool as_c2c_usable_cpu(const struct as_axes *a, const char *axis, struct as_error *err);
/* True for the CPUs that exchange lines with a device. */
bool as_c2c_plays_with_device(const struct as_axes *a);

/* device.c: lines of a device start behind one line for signals, as 32-bit words */
enum { C2C_DEVICE_BYTES = (C2C_LINES + 1) * C2C_STRIDE };
/* Build options of a device's kernels: memory scope, and memory order by the axis op. */
void as_c2c_device_defines(const struct as_axes *a, const char *scope, char *out, size_t size);
enum as_status as_c2c_device_passes(struct c2c *s, uint32_t passed[C2C_LINES], struct as_error *err);

#endif
