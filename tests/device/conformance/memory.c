/* Memory: every allocator delivers what it declares or gives a reason, sizes are bounded, and all memory is freed. */
#include "conformance.h"
#include "device/host_limits.h"

#include <math.h>
#include <stdio.h>

/* Write, map, change, unmap, read; reads and writes while it is mapped see the same memory. */
static void round_trip(const char *allocator, struct as_memory *m)
{
    static unsigned char in[BLOCK], out[BLOCK];
    const struct as_memory_ops *ops = gpu.dev.memory;
    struct as_error err = {0};
    assert_int_equal(m->bytes, sizeof in);
    conformance_fill(in, sizeof in, 1);
    check_ok(ops->write(&gpu.dev, m, 0, in, sizeof in, &err), &err);
    check_ok(ops->map(&gpu.dev, m, &err), &err);
    check_ok(ops->map(&gpu.dev, m, &err), &err);
    assert_non_null(m->host);
    if (memcmp(m->host, in, sizeof in) != 0)
        fail_msg("%s: the mapping does not show what was written", allocator);
    ((unsigned char *)m->host)[7] = 77;
    in[7] = 77, in[1000] = 78;
    check_ok(ops->write(&gpu.dev, m, 1000, &in[1000], 1, &err), &err);
    check_ok(ops->read(&gpu.dev, m, 7, out, 1000, &err), &err);
    assert_memory_equal(out, in + 7, 1000);
    check_ok(ops->unmap(&gpu.dev, m, &err), &err);
    check_ok(ops->unmap(&gpu.dev, m, &err), &err);
    check_ok(ops->read(&gpu.dev, m, 0, out, sizeof out, &err), &err);
    if (memcmp(out, in, sizeof in) != 0)
        fail_msg("%s: a change made while mapped is missing", allocator);
    check_ok(ops->read(&gpu.dev, m, sizeof in, out, 0, &err), &err);
    check_fails(ops->write(&gpu.dev, m, sizeof in - 1, in, 2, &err), AS_USAGE, &err, "outside");
    check_fails(ops->read(&gpu.dev, m, UINT64_MAX, out, 2, &err), AS_USAGE, &err, "outside");
    check_ok(ops->map(&gpu.dev, m, &err), &err);
}

void conformance_allocators(void **state)
{
    (void)state;
    for (size_t n = 0; conformance_machine(n); n++) {
        size_t usable = 0;
        for (size_t i = 0; i < gpu.dev.info.allocators_n; i++) {
            const struct as_allocator *a = &gpu.dev.info.allocators[i];
            struct as_error err = {0};
            struct as_memory *m = NULL;
            enum as_status st = gpu_get(a->name, BLOCK, NULL, &m, &err);
            if (a->why_not[0]) {
                check_fails(st, AS_UNSUPPORTED, &err, a->why_not);
                assert_null(m);
                continue;
            }
            check_ok(st, &err);
            round_trip(a->name, m);
            gpu.dev.memory->free(&gpu.dev, m); /* while it is mapped */
            usable++;
        }
        assert_true(usable > 0);
        gpu.dev.memory->free(&gpu.dev, NULL);
        close_gpu(&gpu);
    }
}

/* Impossible sizes: every allocator refuses them with a reason. */
static void check_absurd(const char *allocator)
{
    static const uint64_t sizes[] = {0, UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX - 4096, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct as_memory *m = NULL;
        struct as_error err = {0};
        enum as_status st = gpu_get(allocator, sizes[i], NULL, &m, &err);
        if (st != AS_USAGE && st != AS_NOMEM && st != AS_UNSUPPORTED)
            fail_msg("%s: %llu bytes: %s: %s", allocator, (unsigned long long)sizes[i], as_status_word(st), err.text);
        assert_int_equal(err.code, st);
        assert_true(sizes[i] || st == AS_USAGE);
        assert_true(err.text[0]);
        assert_null(m);
    }
}

void conformance_sizes(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    double a, f;
    uint64_t before = 0, after = 0;
    (void)state;
    for (size_t i = 0; i < gpu.dev.info.allocators_n; i++)
        if (!gpu.dev.info.allocators[i].why_not[0])
            check_absurd(gpu.dev.info.allocators[i].name);
    check_fails(gpu_get("nobody's", 64, NULL, &m, &err), AS_USAGE, &err, "'nobody's'");
    for (const struct size_limit *l = stand_in.limits; l && l->allocator; l++)
        check_fails(gpu_get(l->allocator, l->bytes, NULL, &m, &err), l->code, &err, l->part);
    assert_null(m);
    check_ok(gpu.dev.device->memory_free(&gpu.dev, &before, &err), &err);
    m = conformance_memory(conformance_plain(), 64 * KIB);
    gpu.dev.memory->free(&gpu.dev, m);
    check_ok(gpu.dev.device->memory_free(&gpu.dev, &after, &err), &err);
    if (stand_in.library || stand_in.backend->on_request)
        assert_int_equal(before, after);
    if (gpu.dev.memory->time_alloc && !stand_in.backend->on_request) { /* a script has times for any number */
        const enum as_status st =
            gpu.dev.memory->time_alloc(&gpu.dev, conformance_plain(), GIB, SIZE_MAX / 2, &a, &f, &err);
        assert_true(st != AS_OK && err.text[0]);
    }
}

/* Freed memory returns to the system, except what a sanitizer keeps in quarantine. */
void conformance_given_back(void **state)
{
    enum { BYTES = 32 << 20, TIMES = 12 };
    const uint64_t before = as_host_resident();
    (void)state;
    if (stand_in.library) /* counts what it gave */
        skip();
    for (int i = 0; i < TIMES; i++) {
        struct as_memory *m = conformance_memory(conformance_plain(), BYTES);
        struct as_error err = {0};
        check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
        memset(m->host, 1, BYTES);
        gpu.dev.memory->free(&gpu.dev, m);
    }
    assert_true(as_host_resident() < before + (uint64_t)BYTES * TIMES / 4 * 3);
}

/* Every allocator backed by the driver; what was allocated before the failing step is freed. */
void conformance_no_memory(void **state)
{
    (void)state;
    if (!stand_in.no_memory)
        skip();
    for (size_t n = 0; conformance_machine(n); n++) {
        conformance_fake("nomem");
        for (size_t i = 0; i < gpu.dev.info.allocators_n; i++) {
            const struct as_allocator *a = &gpu.dev.info.allocators[i];
            struct as_error err = {0};
            struct as_memory *m = NULL;
            double alloc_s, free_s;
            if (a->why_not[0] || (stand_in.not_from_driver &&
                                  strncmp(a->name, stand_in.not_from_driver, strlen(stand_in.not_from_driver)) == 0))
                continue;
            check_fails(gpu_get(a->name, BLOCK, NULL, &m, &err), AS_NOMEM, &err, stand_in.no_memory);
            assert_null(m);
            enum as_status st = gpu.dev.memory->time_alloc(&gpu.dev, a->name, 4096, 4, &alloc_s, &free_s, &err);
            if (a->role == AS_ROLE_MANAGED_STATIC)
                check_fails(st, AS_UNSUPPORTED, &err, "allocated when its module is loaded");
            else
                check_fails(st, AS_NOMEM, &err, stand_in.no_memory);
        }
        conformance_fake("");
        close_gpu(&gpu);
    }
}

void conformance_alloc_times(void **state)
{
    const int live = fake_live();
    (void)state;
    if (!gpu.dev.memory->time_alloc)
        skip();
    for (size_t i = 0; i < gpu.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &gpu.dev.info.allocators[i];
        struct as_error err = {0};
        double alloc_s = NAN, free_s = NAN;
        if (a->why_not[0])
            continue;
        enum as_status st = gpu.dev.memory->time_alloc(&gpu.dev, a->name, 64 * KIB, 16, &alloc_s, &free_s, &err);
        if (a->role == AS_ROLE_MANAGED_STATIC) {
            check_fails(st, AS_UNSUPPORTED, &err, "allocated when its module is loaded");
            continue;
        }
        check_ok(st, &err);
        assert_true(alloc_s > 0 && free_s > 0);
        assert_int_equal(fake_live(), live);
    }
}

/* A part is the whole's memory, and the whole survives it. */
void conformance_parts(void **state)
{
    enum { WHOLE = 256 << 10, AT = 128 << 10, BYTES = 64 };
    (void)state;
    if (!gpu.dev.memory->part)
        skip();
    for (size_t i = 0; i < gpu.dev.info.allocators_n; i++) {
        struct as_memory *part = NULL;
        struct as_error err = {0};
        unsigned char in[BYTES], out[BYTES];
        if (gpu.dev.info.allocators[i].why_not[0])
            continue;
        struct as_memory *whole = conformance_memory(gpu.dev.info.allocators[i].name, WHOLE);
        check_ok(gpu.dev.memory->part(&gpu.dev, whole, AT, BYTES, &part, &err), &err);
        conformance_fill(in, sizeof in, 9);
        check_ok(gpu.dev.memory->write(&gpu.dev, part, 0, in, BYTES, &err), &err);
        check_fails(gpu.dev.memory->write(&gpu.dev, part, BYTES, in, 1, &err), AS_USAGE, &err, "outside");
        gpu.dev.memory->free(&gpu.dev, part);
        check_ok(gpu.dev.memory->read(&gpu.dev, whole, AT, out, BYTES, &err), &err);
        assert_memory_equal(in, out, BYTES);
        check_fails(gpu.dev.memory->part(&gpu.dev, whole, WHOLE - BYTES, BYTES + 1, &part, &err), AS_USAGE, &err,
                    "outside");
        gpu.dev.memory->free(&gpu.dev, whole);
    }
}

/* ---- several devices ---- */

/* Id of the n-th device of the backend. */
static const char *id_of(int n, char id[32])
{
    snprintf(id, 32, "%s:%d", stand_in.backend->name, n);
    return id;
}

static void check_no_peers(void)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    char id[32];
    if (stand_in.backend->single)
        return;
    check_fails(gpu_get(conformance_plain(), 64, id_of(1, id), &m, &err), AS_UNSUPPORTED, &err, id);
    check_ok(gpu_get(conformance_plain(), 64, id_of(0, id), &m, &err), &err);
    gpu.dev.memory->free(&gpu.dev, m);
}

/* As the stand-ins report it: the second device has no native atomics with the others. */
static void check_reported_peers(void)
{
    const struct as_device_info *info = &gpu.dev.info;
    struct opened other = {.backend = gpu.backend};
    struct as_buf text = AS_BUF_INIT;
    if (!stand_in.no_path)
        return;
    assert_int_equal(info->peers_n, 2);
    const struct as_peer *second = as_info_peer(info, 1), *third = as_info_peer(info, 2);
    assert_true(second->access && !second->atomics && second->arrays && second->rank == 1);
    assert_true(third->access && third->atomics && third->arrays && third->rank == 0);
    assert_null(as_info_peer(info, 0));
    as_info_peers(info, &text);
    assert_non_null(strstr(as_buf_get(&text),
                           ":1: peer access, no native atomics, array access, performance rank 1 (0 is best); "));
    assert_non_null(
        strstr(as_buf_get(&text), ":2: peer access, native atomics, array access, performance rank 0 (0 is best)"));
    conformance_fake("nopeer");
    open_device(&other, 2);
    as_buf_clear(&text);
    as_info_peers(&other.dev.info, &text);
    assert_non_null(strstr(as_buf_get(&text), ":1: no access: the driver reports no peer access"));
    other.dev.device->close(&other.dev);
    conformance_fake("");
    as_buf_finish(&text);
}

void conformance_peers(void **state)
{
    char id[32];
    const char *plain = stand_in.allocators[0];
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    if (!(gpu.dev.info.capabilities & AS_CAP_PEERS) || !plain) {
        check_no_peers();
        return;
    }
    check_reported_peers();
    conformance_fake("nopeer");
    check_fails(gpu_get(plain, 4096, id_of(1, id), &m, &err), AS_UNSUPPORTED, &err, stand_in.no_path);
    conformance_fake("peererror");
    check_fails(gpu_get(plain, 4096, id, &m, &err), AS_UNSUPPORTED, &err, stand_in.no_peer);
    conformance_fake("");
    for (size_t i = 0; i < 2; i++)
        for (int owner = 0; owner < 3; owner++) {
            check_ok(gpu_get(stand_in.allocators[i], BLOCK, id_of(owner, id), &m, &err), &err);
            round_trip(stand_in.allocators[i], m);
            gpu.dev.memory->free(&gpu.dev, m);
        }
    check_fails(gpu_get(plain, 200 * GIB, id_of(2, id), &m, &err), AS_UNSUPPORTED, &err, stand_in.capped);
    check_fails(gpu_get(stand_in.pinned, 4096, id_of(1, id), &m, &err), AS_UNSUPPORTED, &err,
                "no memory of another device");
    check_fails(gpu_get(plain, 4096, id_of(3, id), &m, &err), AS_NOTFOUND, &err, "there is no device '");
    check_fails(gpu_get(plain, 4096, "other:0", &m, &err), AS_NOTFOUND, &err, "no device 'other:0'");
}

/* The limit of an allocator is known before the first allocation, and that much can be allocated. */
void conformance_managed(void **state)
{
    const struct as_device_info *info = &gpu.dev.info;
    (void)state;
    if (!stand_in.managed)
        skip();
    uint64_t most = as_info_allocator(info, stand_in.managed)->most;
    assert_true(most > 0 && most <= GIB && most <= info->memory_free / 10);
    assert_true(as_info_allocator(info, stand_in.allocators[0])->most == 0);
    gpu.dev.memory->free(&gpu.dev, conformance_memory(stand_in.managed, most / 2));
}

/* Two devices, and one of them twice: each call works on its own. */
void conformance_two_devices(void **state)
{
    const struct as_memory_desc want = {.allocator = conformance_plain(), .bytes = BLOCK, .node = -1};
    (void)state;
    if (stand_in.backend->count(gpu.backend) < 2)
        skip();
    for (size_t i = 0; i < 2; i++) {
        struct opened other = {.backend = gpu.backend};
        struct as_memory *there = NULL;
        struct as_error err = {0};
        open_device(&other, i);
        struct as_memory *here = conformance_memory(want.allocator, BLOCK);
        check_ok(other.dev.memory->alloc(&other.dev, &want, &there, &err), &err);
        round_trip(want.allocator, here);
        other.dev.memory->free(&other.dev, there);
        gpu.dev.memory->free(&gpu.dev, here);
        other.dev.device->close(&other.dev);
    }
}
