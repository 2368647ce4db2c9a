#include "buffer_trial.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { WORD = sizeof(uint32_t), RESIDENT = 2048, WORKGROUP = 256, LOOKS = 64, LOOK_WORDS = 1024, THREAD_BYTES = 1024 };

enum as_applies as_buffer_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const uint64_t threads = as_axes_u64(a, "threads"), size = as_axes_u64(a, "size");
    if (as_info_has_host_kernels(info) ? threads == 0 || size < THREAD_BYTES * threads : threads != 0)
        return AS_PRUNED;
    return as_check_block(info, as_axes_text(a, "allocator"), (double)size, err) ? AS_INAPPLICABLE : AS_APPLIES;
}

/* First touch, then a sample at 1 GB/s. */
double as_buffer_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return as_compile_patience(info, a) + as_axes_number(a, "size") / 200e6;
}

static enum as_status buffer_trial_run(struct as_buffer_trial *t, uint64_t reps, double *seconds, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(t->memory), as_u64_arg(t->memory->bytes / WORD), as_u32_arg(t->key)};
    struct as_launch l = as_launch_of(t->kernel, args, sizeof args / sizeof *args, t->workgroups, t->workgroup_size);
    struct as_timing timing;
    l.reps = reps;
    l.work = (struct as_work){.bytes = (double)t->memory->bytes, .footprint = (double)t->memory->bytes};
    enum as_status st = t->own.dev->queue->launch(t->own.dev, &l, &timing, err);
    *seconds = st ? 0 : as_timing_seconds(&timing);
    return st;
}

enum as_status as_buffer_prepare(struct as_trial_context *tc, struct as_buffer_trial *t,
                                 const struct as_buffer_work *work, const char *kernel, struct as_error *err)
{
    const struct as_device_info *info = &tc->dev->info;
    const struct as_program_desc program = {.name = work->name, .source = work->source, .host = work->host};
    const uint64_t bytes = as_axes_u64(tc->axes, "size") / WORD * WORD;
    const size_t threads = info->compute_unit_threads ? info->compute_unit_threads : RESIDENT;
    double unused;
    enum as_status st = as_check_room(tc->dev, bytes, bytes, err);
    if (st)
        return st;
    t->work = work;
    t->key = (uint32_t)tc->seed;
    t->workgroup_size = as_info_has_host_kernels(info)               ? 1
                        : info->threads && info->threads < WORKGROUP ? info->threads
                                                                     : WORKGROUP;
    t->workgroups = as_info_has_host_kernels(info)
                        ? (size_t)as_axes_u64(tc->axes, "threads")
                        : (info->compute_units ? info->compute_units : 1) * (threads / t->workgroup_size + 1);
    as_buffers_open(&t->own, tc->dev, &program, err);
    t->kernel = as_buffers_kernel(&t->own, kernel, err);
    t->memory = as_buffers_memory(&t->own, as_axes_text(tc->axes, "allocator"), bytes, err);
    if (t->own.status)
        return t->own.status;
    as_expect_code(tc, t->kernel, work->operation, 1);
    tc->footprint = bytes;
    if (t->memory->page_size)
        as_note_number(tc, "page_size", (double)t->memory->page_size);
    return buffer_trial_run(t, 1, &unused, err); /* touches the memory */
}

enum as_status as_buffer_sample(void *trial, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_buffer_trial *t = trial;
    t->key++; /* stale words fail */
    enum as_status st = buffer_trial_run(t, reps, &out->seconds, err);
    out->value = (double)t->memory->bytes * (double)reps / out->seconds * 1e-9;
    return st;
}

static bool buffer_trial_is_right(const struct as_buffer_trial *t, uint64_t first, uint64_t n, char *why,
                                  size_t why_size)
{
    uint32_t words[LOOK_WORDS];
    struct as_error err = {0};
    if (t->own.dev->memory->read(t->own.dev, t->memory, first * WORD, words, n * WORD, &err)) {
        snprintf(why, why_size, "%s", err.text);
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t want = t->work->expected(t->key, first + i);
        if (words[i] == want)
            continue;
        snprintf(why, why_size, "word %llu is %08x, not %08x", (unsigned long long)(first + i), words[i], want);
        return false;
    }
    return true;
}

bool as_buffer_check(void *trial, char *why, size_t why_size)
{
    const struct as_buffer_trial *t = trial;
    const uint64_t all = t->memory->bytes / WORD, n = all < LOOK_WORDS ? all : LOOK_WORDS;
    struct as_rng rng;
    as_rng_seed(&rng, t->key);
    for (int i = 0; i < LOOKS; i++) {
        const uint64_t at = i == 0 ? 0 : i == 1 || all == n ? all - n : as_rng_below(&rng, all - n);
        if (!buffer_trial_is_right(t, at, n, why, why_size))
            return false;
    }
    snprintf(why, why_size, "words at both ends and at %d places in between match the last key", LOOKS - 2);
    return true;
}

void as_buffer_finish(void *trial)
{
    as_buffers_finish(&((struct as_buffer_trial *)trial)->own);
}

uint32_t *as_buffer_share(const struct as_host_call *call, uint64_t *n)
{
    uint64_t words;
    memcpy(&words, call->args[1], sizeof words);
    const uint64_t first = words / call->threads * call->thread;
    *n = call->thread + 1 == call->threads ? words - first : words / call->threads;
    return (uint32_t *)call->args[0] + first;
}

uint32_t as_buffer_key(const struct as_host_call *call)
{
    return *(const uint32_t *)call->args[2];
}
