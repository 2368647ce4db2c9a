/* Shared by the two atomics probes: a histogram in one array, updated by threads of the CPU, of a device, or of
 * both. */
#ifndef AS_LIB_ATOMICS_ATOMICS_H
#define AS_LIB_ATOMICS_ATOMICS_H

#include "lib/checks/checks.h"

#include <stdatomic.h>

enum as_atomics_type { ATOMICS_U32, ATOMICS_U64, ATOMICS_F32, ATOMICS_F64, ATOMICS_TYPES };
/* Words of the axes; each ends with NULL. */
extern const char *const as_atomics_type_words[];
extern const char *const as_atomics_scope_words[];
extern const char *const as_atomics_order_words[];
extern const char *const as_atomics_agent_words[];
size_t as_atomics_type_bytes(enum as_atomics_type type);

/* ---- atomics_draw.c: drawing elements ---- */

/* Marsaglia's xorwow, as in the kernel. */
struct as_atomics_draw {
    uint32_t x, y, z, w, v, d;
};
/* Threads of a device are numbered from 0, those of the CPU from here. */
#define ATOMICS_CPU_THREAD (UINT64_C(1) << 32)
void as_atomics_draw_start(struct as_atomics_draw *r, uint64_t seed, uint64_t thread);

static inline uint64_t atomics_draw_next(struct as_atomics_draw *r, uint64_t elements)
{
    uint32_t t = r->x ^ (r->x >> 2);
    r->x = r->y;
    r->y = r->z;
    r->z = r->w;
    r->w = r->v;
    r->v = (r->v ^ (r->v << 4)) ^ (t ^ (t << 1));
    r->d += 362437;
    return (uint64_t)(r->d + r->v) * elements >> 32;
}

/* ---- atomics_array.c: the array between two guards ---- */

enum { ATOMICS_GUARD = 4096 }; /* guard bytes on either side */

struct as_atomics_array {
    struct as_device *dev;
    struct as_memory *memory;
    enum as_atomics_type type;
    uint64_t elements, bytes; /* bytes without the guards */
    unsigned char *piece;     /* bytes transferred per call */
};
/* node: of the memory, which the calling thread also touches by clearing it; -1: any. */
enum as_status as_atomics_array_create(struct as_atomics_array *a, struct as_device *dev, const char *allocator,
                                       enum as_atomics_type type, uint64_t elements, int node, struct as_error *err);
void as_atomics_array_finish(struct as_atomics_array *a);
/* Clears the elements and fills the guards with a pattern. */
enum as_status as_atomics_array_clear(struct as_atomics_array *a, struct as_error *err);
/* Sum of all elements: integers modulo 2^32 or 2^64; AS_FAILED for a float that is not a count. */
enum as_status as_atomics_array_sum(struct as_atomics_array *a, uint64_t *sum, struct as_error *err);
/* AS_FAILED if a guard was overwritten. */
enum as_status as_atomics_array_guards(struct as_atomics_array *a, struct as_error *err);
/* AS_FAILED with the first element above its bound in `bounds`. *short_by: the sum by which all are below. */
enum as_status as_atomics_array_compare(struct as_atomics_array *a, const uint32_t *bounds, uint64_t *short_by,
                                        struct as_error *err);

/* ---- atomics_cpu.c: the CPU's side ---- */

struct as_atomics_line {
    _Alignas(128) _Atomic uint64_t count; /* updates done so far */
};
struct as_atomics_cpu;
struct as_atomics_cpu_desc {
    void *elements; /* address of the first element */
    enum as_atomics_type type;
    bool plain, seq_cst;
    uint64_t n; /* elements */
    unsigned threads;
};
/* dev: the probe's device: the CPU itself, or a device beside which the CPU is opened. */
enum as_status as_atomics_cpu_create(struct as_device *dev, const struct as_atomics_cpu_desc *desc,
                                     struct as_atomics_cpu **out, struct as_error *err);
void as_atomics_cpu_destroy(struct as_atomics_cpu *c); /* accepts NULL */
/* The threads wait for as_atomics_cpu_go, then make `each` updates, or fewer if stopped. */
enum as_status as_atomics_cpu_start(struct as_atomics_cpu *c, uint64_t seed, uint64_t each, struct as_error *err);
void as_atomics_cpu_go(struct as_atomics_cpu *c);
void as_atomics_cpu_stop(struct as_atomics_cpu *c);
enum as_status as_atomics_cpu_wait(struct as_atomics_cpu *c, struct as_error *err);
/* Which update instructions an aarch64 CPU uses: LSE, else LDXR and STXR. */
void as_atomics_cpu_note(struct as_trial_context *tc);
uint64_t as_atomics_cpu_count(const struct as_atomics_cpu *c); /* may be read at any time */

/* ---- atomics_device.c: the device's side ---- */

struct as_atomics_device;
struct as_atomics_device_desc {
    const struct as_atomics_array *array;
    bool plain, seq_cst, system;
    size_t threads;
    bool watched; /* counts are readable and the kernel stoppable while it runs */
};
enum as_status as_atomics_device_create(struct as_trial_context *tc, const struct as_atomics_device_desc *desc,
                                        struct as_atomics_device **out, struct as_error *err);
void as_atomics_device_destroy(struct as_atomics_device *g); /* accepts NULL */
/* Rounds updates per thread down to whole batches; at least 1. */
uint64_t as_atomics_device_whole(const struct as_atomics_device *g, uint64_t each);
/* `each` updates per thread, in whole batches; UINT64_MAX: until stopped. */
enum as_status as_atomics_device_start(struct as_atomics_device *g, uint64_t seed, uint64_t each, struct as_error *err);
void as_atomics_device_stop(struct as_atomics_device *g);
enum as_status as_atomics_device_wait(struct as_atomics_device *g, struct as_error *err);
uint64_t
as_atomics_device_count(const struct as_atomics_device *g); /* watched: readable at any time; else after the wait */
uint64_t as_atomics_device_groups_seen(const struct as_atomics_device *g); /* workgroups that made updates */

/* ---- atomics_both.c: both agents together ---- */

struct as_atomics {
    struct as_device *dev;
    struct as_atomics_array array;
    struct as_atomics_cpu *cpu;
    struct as_atomics_device *device;
    unsigned cpu_threads;
    size_t device_threads;
    bool of_cpu; /* the agent to be measured */
    uint64_t seed;
    struct atomics_counts {
        uint64_t cpu, device;
    } last; /* of the last run, after it ended */
};
enum as_status as_atomics_prepare(struct as_atomics *s, struct as_trial_context *tc, bool plain, bool watched,
                                  struct as_error *err);
void as_atomics_finish(void *state);
/* Runs all sides for a while; rates in updates per second. */
struct as_atomics_rates {
    double cpu, device, seconds;
};
enum as_status as_atomics_rate(struct as_atomics *s, double window_s, struct as_atomics_rates *out,
                               struct as_error *err);
/* Each thread of an agent makes this many updates; *seconds until all are done. */
enum as_status as_atomics_run(struct as_atomics *s, uint64_t cpu_each, uint64_t device_each, double *seconds,
                              struct as_error *err);

/* Axes of both probes. */
#define ATOMICS_AXES(agents)                                                                                           \
    AS_WORD_AXIS("agent", as_atomics_agent_words, "all", agents),                                                      \
        AS_COUNT_AXIS("elements", 1, UINT64_C(1) << 32, "1,1024,1048576", "elements of the array"),                    \
        AS_WORD_AXIS("type", as_atomics_type_words, "u64", "element type"),                                            \
        AS_COUNT_AXIS("cpu_threads", 0, 4096, "0,1,2", "CPU threads that update the array", .zero = "none"),           \
        AS_COUNT_AXIS("device_threads", 0, UINT64_C(1) << 24, "0,64", "device threads that update the array",          \
                      .zero = "none"),                                                                                 \
        AS_WORD_AXIS("scope", as_atomics_scope_words, "system", "scope of the device's atomics: device or system"),    \
        AS_WORD_AXIS("order", as_atomics_order_words, "relaxed", "memory order of an update"),                         \
        AS_ALLOCATOR_AXIS("allocator", "first", "how the array is allocated")
/* watched: counts are read while a kernel runs; lossy: also allows memory that both reach without mutual atomics */
enum as_applies as_atomics_applies(const struct as_device_info *info, const struct as_axes *a, bool watched, bool lossy,
                                   struct as_error *err);
bool as_atomics_by_device(const struct as_axes *a); /* True if the cell uses device threads. */
double as_atomics_patience(const struct as_device_info *info, const struct as_axes *a);

#endif
