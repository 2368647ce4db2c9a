/* sharing: does the CPU use memory of an allocator at the kernels' address? See method.md. */
#include "lib/buffers/buffers.h"

#include "base/guarded.h"
#include "device/dialect/dialect.h"
#include "device/shared_host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const char as_kernel_sharing[];

/* The value of a sample; the worse the larger. */
enum found {
    ONE_ADDRESS = 1,
    NO_ACCESS,
    OTHER_VALUE,
    READ_ONLY,
    ONE_WAY,
};
static const char *const answers[] = {"valid on both",
                                      "CPU access fails",
                                      "CPU reads other data",
                                      "CPU can only read",
                                      "kernels do not see the CPU's store",
                                      NULL};
static const struct as_axis axes[] = {AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated"), {0}};
static const char *const grids[] = {"allocator=all", NULL};

enum { BLOCK = 4096 };
struct state {
    struct as_buffers own; /* first: released as one */
    struct as_kernel *store, *load;
    struct as_memory *block, *out;
    uint64_t value; /* that the block holds last */
    enum found found;
};

static enum as_applies sharing_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    (void)a;
    if (as_info_has_host_kernels(info))
        return AS_PRUNED;
    if (!as_info_shares_host(info))
        return as_pruned(err, "host threads cannot access a simulated device");
    if (!(info->capabilities & AS_CAP_SOURCE))
        return as_inapplicable(err, "the device has no run-time compiler for kernels");
    if (as_dialect_find(info->dialect) == AS_DIALECT_METAL)
        return as_pruned(err, "Metal kernels cannot report the address of a buffer");
    return AS_APPLIES;
}

/* Does the driver say that the CPU can use the kernels' address? -1: it says nothing of it. In OpenCL most memory is
 * the CPU's while it is mapped only, at an address of its own, and memory of the host may have two addresses too. */
static int sharing_is_announced(const struct as_device_info *info, const char *allocator)
{
    const struct as_allocator *a = as_info_allocator(info, allocator);
    const enum as_role role = a ? a->role : AS_ROLE_UNKNOWN;
    const bool own = role == AS_ROLE_DEVICE || role == AS_ROLE_DEVICE_POOL || role == AS_ROLE_DEVICE_MAPPED ||
                     role == AS_ROLE_DEVICE_FINE;
    if (own && !info->is_host_memory)
        return 0;
    if (as_dialect_find(info->dialect) == AS_DIALECT_OPENCL)
        return role == AS_ROLE_SHARED_FINE || role == AS_ROLE_PAGEABLE ? 1 : -1;
    if (own)
        return a->host_access ? 1 : -1;
    return a && a->host_access;
}

static enum as_status sharing_launch(struct state *s, struct as_kernel *kernel, uint64_t out[static 2],
                                     struct as_error *err)
{
    struct as_device *dev = s->own.dev;
    const struct as_arg args[] = {as_memory_arg(s->block), as_memory_arg(s->out), as_u64_arg(s->value)};
    const struct as_launch l = as_launch_of(kernel, args, sizeof args / sizeof *args, 1, 1);
    struct as_timing unused;
    const enum as_status st = dev->queue->launch(dev, &l, &unused, err);
    return st ? st : dev->memory->read(dev, s->out, 0, out, 2 * sizeof *out, err);
}

/* A kernel stores a value and tells its address; the CPU reads there, and stores another value; a kernel reads that.
 * Nothing is stored where the CPU has not found the kernel's value. */
static enum as_status sharing_try(struct state *s, struct as_error *err)
{
    uint64_t out[2] = {0}, seen = 0;
    s->value += 2;
    enum as_status st = sharing_launch(s, s->store, out, err);
    if (st)
        return st;
    const uint64_t by_cpu = ~s->value;
    void *at = (void *)(uintptr_t)out[0];
    if (!as_read_guarded(at, &seen, sizeof seen))
        s->found = NO_ACCESS;
    else if (seen != s->value)
        s->found = OTHER_VALUE;
    else if (!as_write_guarded(at, &by_cpu, sizeof by_cpu))
        s->found = READ_ONLY;
    else {
        st = sharing_launch(s, s->load, out, err);
        s->found = out[1] == by_cpu ? ONE_ADDRESS : ONE_WAY;
    }
    return st;
}

static enum as_status sharing_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const char *allocator = as_axes_text(tc->axes, "allocator");
    const struct as_program_desc program = {.name = "sharing", .source = as_kernel_sharing};
    tc->min_reps = tc->max_reps = 1;
    tc->footprint = BLOCK;
    s->value = tc->seed;
    as_buffers_open(&s->own, tc->dev, &program, err);
    s->store = as_buffers_kernel(&s->own, "sharing_store", err);
    s->load = as_buffers_kernel(&s->own, "sharing_load", err);
    s->block = as_buffers_memory(&s->own, allocator, BLOCK, err);
    s->out = as_buffers_memory(&s->own, NULL, BLOCK, err);
    if (s->own.status)
        return s->own.status;
    const int announced = sharing_is_announced(&tc->dev->info, allocator);
    if (announced >= 0)
        as_note_number(tc, "announced", announced);
    return AS_OK;
}

static enum as_status sharing_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    const double start = as_now();
    (void)reps;
    const enum as_status st = sharing_try(s, err);
    *out = (struct as_sample){.value = s->found, .seconds = as_now() - start, .clock_hz = NAN};
    return st;
}

static bool sharing_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    const uint64_t expected = s->found == ONE_ADDRESS ? ~s->value : s->value;
    uint64_t got = 0;
    struct as_error err = {0};
    if (s->own.dev->memory->read(s->own.dev, s->block, 0, &got, sizeof got, &err)) {
        snprintf(why, why_size, "%s", err.text);
        return false;
    }
    const bool right = s->found == ONE_WAY || got == expected;
    snprintf(why, why_size,
             right ? "a copy by the driver holds the value stored last"
                   : "a copy by the driver does not hold the value stored last");
    return right;
}

const struct as_probe as_probe_sharing = {
    .name = "sharing",
    .title = "Pointers valid on CPU and device",
    .question = "Is a pointer that kernels use valid on the CPU?",
    .metric = "found",
    .unit = AS_UNIT_ANSWER,
    .answers = answers,
    .counts = "an answer in words",
    AS_CELLS(axes, grids, grids, sharing_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, sharing_prepare, sharing_sample, sharing_check, as_buffers_finish),
};
