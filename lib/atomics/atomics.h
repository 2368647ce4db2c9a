/* What the two probes of atomics share: a histogram in one array by threads of the CPU, of a device, or of both. */
#ifndef AS_LIB_ATOMICS_ATOMICS_H
#define AS_LIB_ATOMICS_ATOMICS_H

#include "lib/prepare/prepare.h"

#include <stdatomic.h>

enum atomics_type { ATOMICS_U32, ATOMICS_U64, ATOMICS_F32, ATOMICS_F64, ATOMICS_TYPES };
/* Words of the axes; each ends with NULL. */
extern const char *const atomics_type_words[];
extern const char *const atomics_scope_words[];
extern const char *const atomics_order_words[];
extern const char *const atomics_agent_words[];
size_t atomics_type_bytes(enum atomics_type type);

/* ---- atomics_draw.c: which element is next ---- */

/* Marsaglia's xorwow, as in the kernel. */
struct atomics_draw {
    uint32_t x, y, z, w, v, d;
};
/* Threads of a device are numbered from 0, those of the CPU from here. */
#define ATOMICS_CPU_THREAD (UINT64_C(1) << 32)
void atomics_draw_start(struct atomics_draw *r, uint64_t seed, uint64_t thread);

static inline uint64_t atomics_draw_next(struct atomics_draw *r, uint64_t elements)
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

enum { ATOMICS_GUARD = 4096 }; /* bytes on either side that nobody may write */

struct atomics_array {
    struct as_device *dev;
    struct as_memory *memory;
    enum atomics_type type;
    uint64_t elements, bytes; /* bytes without the guards */
    unsigned char *piece;     /* what is written or read at a time */
};
enum as_status atomics_array_create(struct atomics_array *a, struct as_device *dev, const char *allocator,
                                    enum atomics_type type, uint64_t elements, struct as_error *err);
void atomics_array_finish(struct atomics_array *a);
/* All elements 0, the guards full of a pattern. */
enum as_status atomics_array_clear(struct atomics_array *a, struct as_error *err);
/* What is in all elements together: integers modulo 2^32 or 2^64; AS_FAILED for a floating element that is no count. */
enum as_status atomics_array_sum(struct atomics_array *a, uint64_t *sum, struct as_error *err);
/* AS_FAILED when a guard was written. */
enum as_status atomics_array_guards(struct atomics_array *a, struct as_error *err);
/* AS_FAILED naming the first element that holds more than `most` says. *short_by: by how much all of them fall short.
 */
enum as_status atomics_array_compare(struct atomics_array *a, const uint32_t *most, uint64_t *short_by,
                                     struct as_error *err);

/* ---- atomics_cpu.c: the CPU's side ---- */

struct atomics_line {
    _Alignas(128) _Atomic uint64_t count; /* updates done so far */
};
struct atomics_cpu;
struct atomics_cpu_desc {
    void *elements; /* where the first one is */
    enum atomics_type type;
    bool plain, seq_cst;
    uint64_t n; /* elements */
    unsigned threads;
};
/* dev: where the probe runs, which is the CPU itself or a device beside which the CPU is opened. */
enum as_status atomics_cpu_create(struct as_device *dev, const struct atomics_cpu_desc *desc, struct atomics_cpu **out,
                                  struct as_error *err);
void atomics_cpu_destroy(struct atomics_cpu *c); /* takes NULL */
/* Threads wait for atomics_cpu_go, then make `each` updates and end, or earlier when they are stopped. */
enum as_status atomics_cpu_start(struct atomics_cpu *c, uint64_t seed, uint64_t each, struct as_error *err);
void atomics_cpu_go(struct atomics_cpu *c);
void atomics_cpu_stop(struct atomics_cpu *c);
enum as_status atomics_cpu_wait(struct atomics_cpu *c, struct as_error *err);
uint64_t atomics_cpu_count(const struct atomics_cpu *c); /* may be read at any time */

/* ---- atomics_device.c: the device's side ---- */

struct atomics_device;
struct atomics_device_desc {
    const struct atomics_array *array;
    bool plain, seq_cst, system;
    size_t threads;
    bool watched; /* its count is read while it runs, and it can be stopped */
};
enum as_status atomics_device_create(struct as_trial_context *vc, const struct atomics_device_desc *desc,
                                     struct atomics_device **out, struct as_error *err);
void atomics_device_destroy(struct atomics_device *g); /* takes NULL */
/* So many updates of each thread, or a few less, make whole batches; at least 1. */
uint64_t atomics_device_whole(const struct atomics_device *g, uint64_t each);
/* `each` updates of each thread, a number that makes whole batches; UINT64_MAX: until it is stopped. */
enum as_status atomics_device_start(struct atomics_device *g, uint64_t seed, uint64_t each, struct as_error *err);
void atomics_device_stop(struct atomics_device *g);
enum as_status atomics_device_wait(struct atomics_device *g, struct as_error *err);
uint64_t atomics_device_count(const struct atomics_device *g); /* watched: at any time; else after it was waited for */
uint64_t atomics_device_groups_seen(const struct atomics_device *g); /* that did anything */

/* ---- atomics_both.c: the sides together ---- */

struct atomics {
    struct as_device *dev;
    struct atomics_array array;
    struct atomics_cpu *cpu;
    struct atomics_device *device;
    unsigned cpu_threads;
    size_t device_threads;
    bool of_cpu; /* whose rate is wanted */
    uint64_t seed;
    struct atomics_counts {
        uint64_t cpu, device;
    } last; /* of the last run, after its end */
};
enum as_status atomics_prepare(struct atomics *s, struct as_trial_context *vc, bool plain, bool watched,
                               struct as_error *err);
void atomics_finish(struct atomics *s);
/* All sides run for a while; rates in updates a second. */
struct atomics_rates {
    double cpu, device, seconds;
};
enum as_status atomics_rate(struct atomics *s, double window_s, struct atomics_rates *out, struct as_error *err);
/* Each side makes so many updates with each of its threads; *seconds until all are done. */
enum as_status atomics_run(struct atomics *s, uint64_t cpu_each, uint64_t device_each, double *seconds,
                           struct as_error *err);

/* Axes that both probes have. */
#define ATOMICS_AXES(agents)                                                                                           \
    {.name = "agent", .help = agents, .type = AS_AXIS_WORD, .def = "all", .words = atomics_agent_words},               \
        {.name = "elements",                                                                                           \
         .help = "of the array",                                                                                       \
         .type = AS_AXIS_COUNT,                                                                                        \
         .min = 1,                                                                                                     \
         .max = UINT64_C(1) << 32,                                                                                     \
         .def = "1,1024,1048576"},                                                                                     \
        {.name = "type", .help = "of an element", .type = AS_AXIS_WORD, .def = "u64", .words = atomics_type_words},    \
        {.name = "cpu_threads",                                                                                        \
         .help = "threads of the CPU that update the array",                                                           \
         .type = AS_AXIS_COUNT,                                                                                        \
         .max = 4096,                                                                                                  \
         .def = "0,1,2",                                                                                               \
         .zero = "none"},                                                                                              \
        {.name = "device_threads",                                                                                     \
         .help = "threads of the device that do",                                                                      \
         .type = AS_AXIS_COUNT,                                                                                        \
         .max = UINT64_C(1) << 24,                                                                                     \
         .def = "0,64",                                                                                                \
         .zero = "none"},                                                                                              \
        {.name = "scope",                                                                                              \
         .help = "among whom the device's updates are atomic: its own threads, or all of the system",                  \
         .type = AS_AXIS_WORD,                                                                                         \
         .def = "system",                                                                                              \
         .words = atomics_scope_words},                                                                                \
        {.name = "order",                                                                                              \
         .help = "of an update with other memory",                                                                     \
         .type = AS_AXIS_WORD,                                                                                         \
         .def = "relaxed",                                                                                             \
         .words = atomics_order_words},                                                                                \
    {                                                                                                                  \
        .name = "allocator", .help = "where the array lies", .type = AS_AXIS_WORD, .domain = AS_DOMAIN_ALLOCATOR,      \
        .def = "first"                                                                                                 \
    }
/* watched: counts are read while a kernel runs; lossy: memory that both reach but may not share is what is looked for
 */
enum as_applies atomics_applies(const struct as_device_info *info, const struct as_axes *a, bool watched, bool lossy,
                                struct as_error *err);
double atomics_patience(const struct as_device_info *info, const struct as_axes *a);

#endif
