/* Several devices that work at the same time: each does its own part with its own memory. */
#include "conformance.h"

#include <math.h>

enum { DEVICES = 2, BYTES = 4096 }; /* the first and the third: the second has no memory of the host */

/* A device with a copy from memory of the host to its own, and a kernel that counts. */
struct member {
    struct as_device *dev;
    struct as_memory *host, *own, *count;
    struct as_copy copy;
    struct as_program *program;
    struct as_kernel *tick;
    struct as_arg arg;
    struct as_launch launch;
};

static struct as_memory *on_member(struct as_device *dev, const char *allocator, unsigned seed)
{
    const struct as_memory_desc want = {.allocator = allocator, .bytes = BYTES, .node = -1};
    unsigned char bytes[BYTES] = {0};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    if (seed)
        conformance_fill(bytes, BYTES, seed);
    check_ok(dev->memory->alloc(dev, &want, &m, &err), &err);
    check_ok(dev->memory->write(dev, m, 0, bytes, BYTES, &err), &err);
    return m;
}

static void ready_member(size_t index, struct member *m)
{
    const struct as_program_desc desc = conformance_program("-DMORE=2 -DF64");
    struct as_device *again = NULL;
    struct as_error err = {0};
    check_ok(gpu.dev.team->member(&gpu.dev, index, &m->dev, &err), &err);
    check_ok(gpu.dev.team->member(&gpu.dev, index, &again, &err), &err);
    assert_ptr_equal(m->dev, again);
    m->host = on_member(m->dev, stand_in.pinned, (unsigned)index / 2 + 1);
    m->own = on_member(m->dev, stand_in.allocators[0], (unsigned)index + 11);
    m->count = on_member(m->dev, stand_in.allocators[0], 0);
    m->copy = (struct as_copy){.from = m->host, .to = m->own, .bytes = BYTES, .reps = 3};
    check_ok(m->dev->program->build(m->dev, &desc, &m->program, &err), &err);
    check_ok(m->dev->program->kernel(m->dev, m->program, "conform_tick", &m->tick, &err), &err);
    const struct ready r = {m->program, m->tick};
    m->arg = (struct as_arg){AS_ARG_MEMORY, {.memory = m->count}};
    m->launch = conformance_launch(&r, &m->arg, 1, 3);
}

static void done_member(struct member *m)
{
    m->dev->program->kernel_destroy(m->dev, m->tick);
    m->dev->program->destroy(m->dev, m->program);
    m->dev->memory->free(m->dev, m->host);
    m->dev->memory->free(m->dev, m->own);
    m->dev->memory->free(m->dev, m->count);
}

static void check_bytes(const struct member *m, struct as_memory *of, unsigned seed)
{
    unsigned char bytes[BYTES], expected[BYTES];
    struct as_error err = {0};
    check_ok(m->dev->memory->read(m->dev, of, 0, bytes, BYTES, &err), &err);
    conformance_fill(expected, BYTES, seed);
    assert_memory_equal(bytes, expected, BYTES);
}

static void check_copies(struct member members[DEVICES], struct as_part parts[DEVICES])
{
    struct as_error err = {0};
    struct as_timing t;
    for (size_t i = 0; i < DEVICES; i++)
        parts[i] = (struct as_part){.dev = members[i].dev, .copy = &members[i].copy, .seconds = NAN};
    check_ok(gpu.dev.team->run(parts, DEVICES, &t, &err), &err);
    assert_true(t.host_s > 0);
    for (size_t i = 0; i < DEVICES; i++) {
        assert_true(parts[i].seconds > 0);
        check_bytes(&members[i], members[i].own, (unsigned)i + 1);
    }
}

/* One device copies both ways, the other launches more often. */
static void check_mixed(struct member members[DEVICES], struct as_part parts[DEVICES])
{
    struct as_error err = {0};
    struct as_timing t;
    struct as_memory *back = on_member(members[0].dev, stand_in.pinned, 50);
    members[0].copy.back_from = members[0].own; /* as the first copies left it */
    members[0].copy.back_to = back;
    members[0].copy.to = members[0].count;
    members[1].launch.reps = 5;
    parts[1] = (struct as_part){.dev = members[1].dev, .launch = &members[1].launch};
    check_ok(gpu.dev.team->run(parts, DEVICES, &t, &err), &err);
    check_bytes(&members[0], members[0].count, 1);
    check_bytes(&members[0], back, 1);
    uint32_t n = 1;
    check_ok(members[1].dev->memory->read(members[1].dev, members[1].count, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, stand_in.runs == RUNS_NONE ? 0 : 5 * conformance_items());
    members[0].copy.back_from = members[0].copy.back_to = NULL;
    members[0].dev->memory->free(members[0].dev, back);
}

static void check_refused_parts(struct member members[DEVICES], struct as_part parts[DEVICES])
{
    struct as_error err = {0};
    struct as_timing t = {1, 1, 1};
    parts[1] = (struct as_part){.dev = members[1].dev, .copy = &members[1].copy};
    members[1].copy.bytes = BYTES + 1;
    check_fails(gpu.dev.team->run(parts, 2, &t, &err), AS_USAGE, &err, "does not fit");
    assert_true(isnan(t.host_s));
    members[1].copy.bytes = BYTES;
    parts[1] = parts[0];
    check_fails(gpu.dev.team->run(parts, 2, &t, &err), AS_USAGE, &err, "appears twice");
}

/* Host links need no access of one device to another's memory. */
void conformance_team(void **state)
{
    struct member members[DEVICES];
    struct as_part parts[DEVICES];
    struct as_device *none = NULL;
    struct as_error err = {0};
    const int live = fake_live();
    (void)state;
    if (!gpu.dev.team || conformance_runs_on_host() || !(gpu.dev.info.capabilities & AS_CAP_TEAM))
        skip();
    conformance_fake("nopeer");
    for (size_t i = 0; i < DEVICES; i++)
        ready_member(2 * i, &members[i]);
    assert_ptr_equal(members[0].dev, &gpu.dev);
    check_fails(gpu.dev.team->member(&gpu.dev, 3, &none, &err), AS_NOTFOUND, &err, "there is no device");
    check_copies(members, parts);
    check_mixed(members, parts);
    check_refused_parts(members, parts);
    for (size_t i = 0; i < DEVICES; i++)
        done_member(&members[i]);
    conformance_fake("");
    assert_true(fake_live() > live); /* the other devices stay open until the first is closed */
}
