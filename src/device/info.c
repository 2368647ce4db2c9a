/* Look-ups in device descriptions, and capability words. */
#include "base/clock.h"
#include "base/text.h"
#include "device/device.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *word;   /* in stores: not to be changed */
    const char *phrase; /* for people */
} capabilities[] = {
    {"host kernels", "native functions as kernels"},
    {"source", "run-time compiler for kernels"},
    {"pin", "thread pinning to chosen cores"},
    {"clock", "readable clock"},
    {"fp64", "64-bit floating point"},
    {"fp16", "16-bit floating point"},
    {"svm atomics", "atomics shared by host and device"},
    {"async", "asynchronous execution"},
    {"events", "time stamps on the device"},
    {"simulated", "simulated times"},
    {"copy", "copy engines"},
    {"graphs", "graph launches"},
    {"code", "readable machine code"},
    {"cycles", "cycle counter in kernels"},
    {"free count", "count of free memory by the driver"},
    {"queues", "concurrent queues"},
    {"dot 4x8", "dot product of four packed bytes"},
    {"peers", "access to the memory of other devices"},
};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

const char *const as_operation_words[] = {
    "load.global",   "load.global.128", "store.global", "store.global.128",
    "load.local",    "store.local",     "load.const",   "load.async",
    "atomic.global", "atomic.generic",  "atomic.local", "fma.f16",
    "fma.f32",       "fma.f64",         "add.f32",      "add.f64",
    "mul.f32",       "mul.f64",         "mad.i32",      "add.i32",
    "logic.i32",     "shift.i32",       "matrix",       "clock",
    "branch",        "shuffle",         "barrier",      "convert",
    "special",       "swap.global",     "any",          NULL,
};

static size_t capability_index(unsigned bit)
{
    size_t i = 0;
    while (i < CAPABILITIES && bit != 1u << i)
        i++;
    return i;
}

const char *as_capability_word(unsigned bit)
{
    const size_t i = capability_index(bit);
    return i < CAPABILITIES ? capabilities[i].word : NULL;
}

void as_capability_phrases(unsigned bits, const char *between, struct as_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < CAPABILITIES; i++)
        if (bits & 1u << i) {
            as_buf_printf(out, "%s%s", first ? "" : between, capabilities[i].phrase);
            first = false;
        }
}

static bool holds_data(const struct as_cache *c)
{
    return c->kind != 'i';
}

uint64_t as_info_last_cache(const struct as_device_info *info)
{
    const struct as_cache *last = NULL;
    for (size_t i = 0; i < info->caches_n; i++)
        if (holds_data(&info->caches[i]) && (!last || info->caches[i].level > last->level))
            last = &info->caches[i];
    return last ? last->size : 0;
}

/* Bound of an unreported last-level cache. */
static const uint64_t CARD_CACHE = UINT64_C(64) << 20;

uint64_t as_info_reachable_cache(const struct as_device_info *info, double threads)
{
    uint64_t one = as_info_last_cache(info);
    unsigned shared = 0, level = 0;
    /* Drivers of discrete GPUs report a part of the last-level cache or nothing. */
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && !info->is_host_memory && one < CARD_CACHE)
        return CARD_CACHE;
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].kind != 'i' && info->caches[i].level >= level) {
            level = info->caches[i].level;
            shared = info->caches[i].shared;
        }
    if (!(threads > 1) || shared == 0 || info->threads <= shared)
        return one;
    double instances = ceil((double)info->threads / shared);
    return one * (uint64_t)fmin(instances, threads);
}

uint64_t as_info_cache(const struct as_device_info *info, unsigned level)
{
    for (size_t i = 0; i < info->caches_n; i++)
        if (holds_data(&info->caches[i]) && info->caches[i].level == level)
            return info->caches[i].size;
    return 0;
}

const struct as_allocator *as_info_allocator(const struct as_device_info *info, const char *name)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (strcmp(info->allocators[i].name, name) == 0)
            return &info->allocators[i];
    return NULL;
}

enum as_status as_memory_check(const struct as_memory *mem, uint64_t offset, uint64_t bytes, struct as_error *err)
{
    if (offset <= mem->bytes && bytes <= mem->bytes - offset)
        return AS_OK;
    return as_fail(err, AS_USAGE, "%llu bytes at %llu are outside of memory of %llu bytes", (unsigned long long)bytes,
                   (unsigned long long)offset, (unsigned long long)mem->bytes);
}

static enum as_status check_matrix(const struct as_memory *mem, uint64_t rows, uint64_t columns, unsigned bytes,
                                   struct as_error *err)
{
    const uint64_t n = rows * columns; /* of 31 bits each */
    return as_memory_check(mem, 0, n > UINT64_MAX / bytes ? UINT64_MAX : n * bytes, err);
}

enum as_status as_gemm_check(const struct as_gemm_desc *d, unsigned in_bytes, unsigned out_bytes, struct as_error *err)
{
    if (!d->m || !d->n || !d->k || (d->m | d->n | d->k) > INT32_MAX)
        return as_fail(err, AS_USAGE, "a product of %llu x %llu x %llu: sizes are from 1 to %d",
                       (unsigned long long)d->m, (unsigned long long)d->n, (unsigned long long)d->k, INT32_MAX);
    enum as_status s = check_matrix(d->a, d->m, d->k, in_bytes, err);
    if (!s)
        s = check_matrix(d->b, d->k, d->n, in_bytes, err);
    return s ? s : check_matrix(d->d, d->m, d->n, out_bytes, err);
}

double as_timing_seconds(const struct as_timing *t)
{
    return isnan(t->device_s) ? t->host_s : t->device_s;
}

static struct as_instruction *find_instruction(struct as_instructions *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return &list->list[i];
    return NULL;
}

void as_instructions_add(struct as_instructions *list, const char *name)
{
    struct as_instruction *found = find_instruction(list, name);
    if (!found && list->n >= AS_INSTRUCTIONS_MAX - 1)
        name = "others";
    if (!found && !(found = find_instruction(list, name))) {
        found = &list->list[list->n++];
        *found = (struct as_instruction){.n = 0};
        as_copy_text(found->name, sizeof found->name, name);
    }
    found->n++;
}

uint64_t as_instructions_of(const struct as_instructions *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return list->list[i].n;
    return 0;
}

void as_device_note_code(struct as_device *dev, uint64_t source, uint64_t binary)
{
    struct as_code_identity *code = &dev->code;
    const uint64_t sources[] = {code->source, source}, binaries[] = {code->binary, binary};
    bool known = binary && (code->binary || code->programs == 0);
    code->source = as_hash(sources, sizeof sources);
    code->binary = known ? as_hash(binaries, sizeof binaries) : 0;
    code->programs++;
}
