/* oversubscription: passes over more managed memory than the device has free. See method.md. */
#include "lib/buffers/buffers.h"

#include "device/host.h"

#include <stdio.h>

extern const char as_kernel_oversubscription[];

enum { GROUP = 256, GROUPS_PER_UNIT = 8, LOOKS = 64, HOST_LEFT_ALONE = 8, WORD = sizeof(uint64_t) };
static const char *const risk_words[] = {"refuse", "accept", NULL};

static const struct as_axis axes[] = {
    AS_ALLOCATOR_AXIS("allocator", "managed", "how the memory is allocated: managed memory that migrates on demand"),
    AS_COUNT_AXIS("share", 1, 400, "50,90,110,150", "percent of the device's free memory"),
    AS_COUNT_AXIS("pass", 1, 64, "1,2,3", "the pass that is timed; those before it are not"),
    AS_WORD_AXIS("risk", risk_words, "refuse",
                 "accept: it may make the machine unresponsive and evicts what other programs keep on the device"),
    {0},
};
static const char *const grids[] = {"allocator=managed share=50,90,110,150 pass=1,2,3 risk=refuse", NULL};

struct trial {
    struct as_trial_context *tc;
    struct as_buffers own;
    struct as_kernel *kernel;
    struct as_memory *memory; /* of the last sample */
    uint64_t words, key;
    unsigned passes;
    size_t workgroups;
};

static uint64_t oversubscription_bytes(double free_bytes, const struct as_axes *a)
{
    return (uint64_t)(as_axes_number(a, "share") / 100 * free_bytes) / WORD * WORD;
}

/* All of it may be evicted to the host. */
static enum as_status check_host_room(uint64_t bytes, struct as_error *err)
{
    const uint64_t available = as_host_memory_available(), most = available - available / HOST_LEFT_ALONE;
    return bytes <= most ? AS_OK
                         : as_too_large((double)bytes, "the host has room for", (double)most, " of evicted pages", err);
}

static enum as_applies oversubscription_applies(const struct as_device_info *info, const struct as_axes *a,
                                                struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    if (as_info_has_host_kernels(info))
        return as_pruned(err, "it needs a device beside the CPU");
    if (!(info->capabilities & AS_CAP_SOURCE))
        return as_inapplicable(err, "the device cannot compile kernels");
    if (info->is_host_memory)
        return as_inapplicable(err, "the device uses the host's memory: there is no other memory to evict to");
    if (allocator && !allocator->why_not[0] && !(allocator->on_demand && allocator->role == AS_ROLE_MANAGED))
        return as_inapplicable(err, "pages of this allocator are not moved on demand: all of them would have to fit "
                                    "into the device's memory");
    if (!as_word_is(a, "risk", "accept"))
        return as_inapplicable(err, "it may make the machine unresponsive, and evicts what other programs keep on the "
                                    "device; to accept that: --set risk=accept");
    return check_host_room(oversubscription_bytes((double)info->memory_free, a), err) ? AS_INAPPLICABLE : AS_APPLIES;
}

static enum as_status oversubscription_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_program_desc program = {.name = "oversubscription", .source = as_kernel_oversubscription};
    struct trial *t = state;
    uint64_t free_bytes = 0;
    *t = (struct trial){.tc = tc, .key = tc->seed, .passes = (unsigned)as_axes_u64(tc->axes, "pass")};
    t->workgroups = (size_t)(tc->dev->info.compute_units ? tc->dev->info.compute_units : 1) * GROUPS_PER_UNIT;
    enum as_status st = as_device_memory_free(tc->dev, &free_bytes, err);
    if (st)
        return st;
    t->words = oversubscription_bytes((double)free_bytes, tc->axes) / WORD;
    st = check_host_room(t->words * WORD, err);
    if (st)
        return st;
    as_buffers_open(&t->own, tc->dev, &program, err);
    t->kernel = as_buffers_kernel(&t->own, "update", err);
    tc->footprint = t->words * WORD;
    tc->min_reps = tc->max_reps = 1; /* each sample has memory of its own */
    as_note_number(tc, "bytes", (double)(t->words * WORD));
    as_note_number(tc, "free_bytes", (double)free_bytes);
    if (!t->own.status)
        as_expect_code(tc, t->kernel, "store.global", 1);
    return t->own.status;
}

static void oversubscription_release(struct trial *t)
{
    t->tc->dev->memory->free(t->tc->dev, t->memory);
    t->memory = NULL;
}

static enum as_status oversubscription_pass(struct trial *t, bool first, double *seconds, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(t->memory), as_u64_arg(t->words), as_u64_arg(t->key),
                                  as_u32_arg(first)};
    struct as_launch l = as_launch_of(t->kernel, args, sizeof args / sizeof *args, t->workgroups, GROUP);
    struct as_timing timing;
    l.work = (struct as_work){.bytes = (double)(t->words * WORD), .footprint = (double)(t->words * WORD)};
    const enum as_status st = t->tc->dev->queue->launch(t->tc->dev, &l, &timing, err);
    if (!st)
        *seconds = as_timing_seconds(&timing);
    return st;
}

static enum as_status oversubscription_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *t = state;
    const struct as_memory_desc desc = {.allocator = as_axes_text(t->tc->axes, "allocator"),
                                        .bytes = t->words * WORD,
                                        .node = -1,
                                        .fresh = true,
                                        .beyond = true};
    (void)reps; /* always 1 */
    oversubscription_release(t);
    t->key++;
    enum as_status st = t->tc->dev->memory->alloc(t->tc->dev, &desc, &t->memory, err);
    for (unsigned i = 0; i < t->passes && !st; i++)
        st = oversubscription_pass(t, i == 0, &out->seconds, err);
    if (!st)
        out->value = (double)(t->words * WORD) / out->seconds * 1e-9;
    return st;
}

static bool oversubscription_check(void *state, char *why, size_t why_size)
{
    const struct trial *t = state;
    struct as_error err = {0};
    for (uint64_t k = 0; k < LOOKS; k++) {
        const uint64_t i = k * (t->words - 1) / (LOOKS - 1), want = t->key + i + t->passes - 1;
        uint64_t got = 0;
        if (t->tc->dev->memory->read(t->tc->dev, t->memory, i * WORD, &got, sizeof got, &err)) {
            snprintf(why, why_size, "%s", err.text);
            return false;
        }
        if (got != want) {
            snprintf(why, why_size, "word %llu is %llx, not %llx", (unsigned long long)i, (unsigned long long)got,
                     (unsigned long long)want);
            return false;
        }
    }
    snprintf(why, why_size, "words all over the block have the value of the last pass");
    return true;
}

static void oversubscription_finish(void *state)
{
    struct trial *t = state;
    if (!t->tc)
        return;
    oversubscription_release(t);
    as_buffers_finish(&t->own);
}

/* Pages may move at half a GB/s. */
static double oversubscription_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) +
           (double)oversubscription_bytes((double)info->memory_free, a) * (1 + as_axes_number(a, "pass")) / 0.5e9;
}

const struct as_probe as_probe_oversubscription = {
    .name = "oversubscription",
    .title = "Oversubscription of device memory",
    .question = "How fast are passes over managed memory that exceeds the device's free memory?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte of the block once per pass; decimal GB",
    .crosses_link = true,
    AS_CELLS(axes, grids, grids, oversubscription_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = oversubscription_patience,
    AS_TRIAL(struct trial, oversubscription_prepare, oversubscription_sample, oversubscription_check,
             oversubscription_finish),
};
