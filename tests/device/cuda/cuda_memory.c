/* Memory of the CUDA backend against a stand-in driver: every allocator gives what it says, too much is refused with
 * numbers, another device's memory is reached or refused, and all is given back. */
#include "fake_cuda.h"

#include <math.h>
#include <stdio.h>

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)

static struct opened o;
static char size_text[32];

static int setup(void **state)
{
    (void)state;
    fake("");
    snprintf(size_text, sizeof size_text, "%llu", (unsigned long long)(3 * 64 * KIB + 5));
    setenv("FAKE_CUDA_STATIC", size_text, 1);
    open_cuda(&o, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake("");
    close_cuda(&o);
    return 0;
}

static enum as_status get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                          struct as_error *err)
{
    const struct as_memory_desc want = {.allocator = allocator, .bytes = bytes, .node = -1, .owner = owner};
    return o.dev.memory->alloc(&o.dev, &want, m, err);
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + seed);
}

/* Write, map, change, unmap, read; reads and writes while it is mapped see the same memory. */
static void check_round_trip(const char *allocator, struct as_memory *m)
{
    struct as_error err = {0};
    static unsigned char in[3 * 64 * 1024 + 5], out[sizeof in];
    const struct as_memory_ops *ops = o.dev.memory;
    assert_int_equal(m->bytes, sizeof in);
    assert_null(m->host);
    fill(in, sizeof in, 1);
    check_ok(ops->write(&o.dev, m, 0, in, sizeof in, &err), &err);
    check_ok(ops->map(&o.dev, m, &err), &err);
    check_ok(ops->map(&o.dev, m, &err), &err);
    assert_non_null(m->host);
    if (memcmp(m->host, in, sizeof in) != 0)
        fail_msg("%s: the map does not show what was written", allocator);
    ((unsigned char *)m->host)[7] = 77;
    in[7] = 77, in[1000] = 78;
    check_ok(ops->write(&o.dev, m, 1000, &in[1000], 1, &err), &err);
    check_ok(ops->read(&o.dev, m, 7, out, 1000, &err), &err);
    assert_memory_equal(out, in + 7, 1000);
    check_ok(ops->unmap(&o.dev, m, &err), &err);
    check_ok(ops->unmap(&o.dev, m, &err), &err);
    assert_null(m->host);
    check_ok(ops->read(&o.dev, m, 0, out, sizeof out, &err), &err);
    if (memcmp(out, in, sizeof in) != 0)
        fail_msg("%s: what was changed while mapped is not there", allocator);
    check_fails(ops->write(&o.dev, m, sizeof in - 1, in, 2, &err), AS_USAGE, &err, "outside of memory");
    check_fails(ops->read(&o.dev, m, UINT64_MAX, out, 2, &err), AS_USAGE, &err, "outside of memory");
}

static bool compiles(enum as_status s, const char *allocator, const struct as_error *err)
{
    return s == AS_OK || strcmp(allocator, "__managed__") != 0 || !strstr(err->text, "nvrtc");
}

static void test_round_trips(void **state)
{
    size_t usable = 0;
    (void)state;
    assert_int_equal(o.dev.info.allocators_n, 14);
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        assert_string_equal(a->why_not, "");
        enum as_status s = get(a->name, 3 * 64 * KIB + 5, NULL, &m, &err);
        if (!compiles(s, a->name, &err)) {
            print_message("%s left out: %s\n", a->name, err.text);
            continue;
        }
        check_ok(s, &err);
        check_round_trip(a->name, m);
        check_ok(o.dev.memory->map(&o.dev, m, &err), &err);
        o.dev.memory->free(&o.dev, m); /* also while it is mapped */
        usable++;
    }
    assert_true(usable >= 13);
}

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        struct as_error err = {0};
        double alloc_s = NAN, free_s = NAN;
        enum as_status s = o.dev.memory->time_alloc(&o.dev, a->name, 64 * KIB, 16, &alloc_s, &free_s, &err);
        if (strcmp(a->name, "__managed__") == 0) {
            check_fails(s, AS_UNSUPPORTED, &err, "comes with its module");
            continue;
        }
        check_ok(s, &err);
        assert_true(alloc_s > 0 && free_s > 0);
    }
}

static void test_too_much(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    double a, f;
    (void)state;
    check_fails(get("cuMemAlloc", 200 * GIB, NULL, &m, &err), AS_UNSUPPORTED, &err,
                "asked for 200 GiB, 139 GiB are free");
    check_fails(get("cuMemCreate", 140 * GIB, NULL, &m, &err), AS_NOMEM, &err, "asked for 140 GiB, 139 GiB are free");
    check_fails(get("cuMemAlloc", 139 * GIB - 1, NULL, &m, &err), AS_NOMEM, &err, "256 MiB are left alone");
    check_fails(get("cuMemAllocManaged", GIB + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "1 GiB is the most");
    check_fails(get("__managed__", 257 << 20, NULL, &m, &err), AS_UNSUPPORTED, &err, "256 MiB is the most");
    check_fails(get("cuMemHostAlloc", UINT64_C(1) << 60, NULL, &m, &err), AS_NOMEM, &err, "half of the host memory");
    check_fails(get("cuMemAlloc", 0, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(get("cuMemAlloc", UINT64_MAX, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(get("calloc", 64, NULL, &m, &err), AS_USAGE, &err, "no allocator 'calloc'");
    check_fails(o.dev.memory->time_alloc(&o.dev, "cuMemAlloc", 10 * GIB, 20, &a, &f, &err), AS_UNSUPPORTED, &err,
                "asked for 200 GiB");
    check_fails(o.dev.memory->time_alloc(&o.dev, "cuMemAlloc", GIB, SIZE_MAX / 2, &a, &f, &err), AS_USAGE, &err,
                "cannot be allocated");
    assert_null(m);
}

static void test_no_memory(void **state)
{
    (void)state;
    fake("nomem");
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        double alloc_s, free_s;
        if (strcmp(a->name, "malloc") == 0)
            continue;
        enum as_status s = get(a->name, 3 * 64 * KIB + 5, NULL, &m, &err);
        if (!compiles(s, a->name, &err))
            continue;
        check_fails(s, AS_NOMEM, &err, "CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert_null(m);
        if (strcmp(a->name, "__managed__") != 0)
            check_fails(o.dev.memory->time_alloc(&o.dev, a->name, 4096, 4, &alloc_s, &free_s, &err), AS_NOMEM, &err,
                        "CUDA_ERROR_OUT_OF_MEMORY (2)");
    }
}

/* What was got before the step that fails is given back: teardown counts. */
static void test_half_way(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("noaccess");
    check_fails(get("cuMemCreate", 4096, NULL, &m, &err), AS_UNSUPPORTED, &err, "cuMemSetAccess");
    assert_null(m);
    setenv("FAKE_CUDA_STATIC", "4096", 1);
    enum as_status s = get("__managed__", 3 * 64 * KIB + 5, NULL, &m, &err);
    if (compiles(s, "__managed__", &err))
        check_fails(s, AS_FAILED, &err, "a static of 196613 bytes came out with 4096");
    assert_null(m);
}

static void test_peer(void **state)
{
    static const char *const kinds[] = {"cuMemAlloc", "cuMemCreate"};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("nopeer");
    check_fails(get("cuMemAlloc", 4096, "cuda:1", &m, &err), AS_UNSUPPORTED, &err,
                "'cuda:0' cannot reach the memory of 'cuda:1': cuDeviceCanAccessPeer says no");
    fake("peererror");
    check_fails(get("cuMemAlloc", 4096, "cuda:1", &m, &err), AS_UNSUPPORTED, &err, "CUDA_ERROR_TOO_MANY_PEERS");
    fake("");
    for (size_t i = 0; i < 2; i++) {
        for (int owner = 0; owner < 3; owner++) {
            char id[32];
            snprintf(id, sizeof id, "cuda:%d", owner);
            check_ok(get(kinds[i], 3 * 64 * KIB + 5, id, &m, &err), &err);
            check_round_trip(kinds[i], m);
            o.dev.memory->free(&o.dev, m);
        }
    }
    check_fails(get("cuMemAlloc", 200 * GIB, "cuda:2", &m, &err), AS_UNSUPPORTED, &err, "139 GiB are free");
    check_fails(get("cuMemHostAlloc", 4096, "cuda:1", &m, &err), AS_UNSUPPORTED, &err, "no memory of another device");
    check_fails(get("cuMemAlloc", 4096, "cuda:3", &m, &err), AS_NOTFOUND, &err, "no device 'cuda:3'");
    check_fails(get("cuMemAlloc", 4096, "opencl:0", &m, &err), AS_NOTFOUND, &err, "no device 'opencl:0'");
}

/* Both ways at once between own memory and another device's, or that of the host: each arrives. */
static void test_copies_cross(void **state)
{
    enum { BYTES = 4096, BLOCKS = 4 };
    static const char *const others[] = {"cuda:0", "cuda:1"}, *const kinds[] = {"cuMemAlloc", "cuMemCreate"};
    static unsigned char in[BYTES], out[BYTES];
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct as_memory *m[BLOCKS];
        struct as_timing t;
        struct as_error err = {0};
        for (size_t i = 0; i < BLOCKS; i++) {
            check_ok(get(kinds[k / 2], BYTES, others[i % 2 ? k % 2 : 0], &m[i], &err), &err);
            fill(in, sizeof in, (unsigned)i);
            check_ok(o.dev.memory->write(&o.dev, m[i], 0, in, sizeof in, &err), &err);
        }
        struct as_copy copy = {.to = m[1], .from = m[0], .back_to = m[2], .back_from = m[3], .bytes = BYTES, .reps = 3};
        check_ok(o.dev.queue->copy(&o.dev, &copy, &t, &err), &err);
        for (size_t i = 1; i < 3; i++) {
            fill(in, sizeof in, i == 1 ? 0 : 3);
            check_ok(o.dev.memory->read(&o.dev, m[i], 0, out, sizeof out, &err), &err);
            assert_memory_equal(in, out, sizeof in);
        }
        copy.back_from = m[0], copy.bytes = BYTES + 1;
        check_fails(o.dev.queue->copy(&o.dev, &copy, &t, &err), AS_USAGE, &err, "does not fit");
        for (size_t i = 0; i < BLOCKS; i++)
            o.dev.memory->free(&o.dev, m[i]);
    }
}

/* The same device twice: its context is one, and reaches the other device already. */
static void test_opened_twice(void **state)
{
    struct opened other = {.backend = o.backend};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    const struct as_memory_desc want = {.allocator = "cuMemAlloc", .bytes = 64, .node = -1, .owner = "cuda:1"};
    (void)state;
    open_device(&other, 0);
    check_ok(get("cuMemAlloc", 3 * 64 * KIB + 5, "cuda:1", &m, &err), &err);
    check_round_trip("cuMemAlloc", m);
    o.dev.memory->free(&o.dev, m);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &m, &err), &err);
    other.dev.memory->free(&other.dev, m);
    other.dev.device->close(&other.dev);
}

/* Two devices on one thread: each call works in its own context. */
static void test_two_devices(void **state)
{
    struct opened other = {.backend = o.backend};
    struct as_memory *here = NULL, *there = NULL;
    struct as_error err = {0};
    const struct as_memory_desc want = {.allocator = "cuMemAlloc", .bytes = 3 * 64 * KIB + 5, .node = -1};
    (void)state;
    open_device(&other, 1);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &here, &err), &err);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &there, &err), &err);
    check_round_trip("cuMemAlloc", here);
    other.dev.memory->free(&other.dev, there);
    o.dev.memory->free(&o.dev, here);
    other.dev.device->close(&other.dev);
}

static void test_why_not(void **state)
{
    static const char *const always[] = {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostAlloc write-combined"};
    struct opened old;
    size_t usable = 0;
    (void)state;
    fake("plain");
    open_cuda(&old, 2);
    const struct as_device_info *info = &old.dev.info;
    for (size_t i = 0; i < info->allocators_n; i++) {
        const struct as_allocator *a = &info->allocators[i];
        struct as_memory *m = NULL;
        struct as_error err = {0};
        const struct as_memory_desc want = {.allocator = a->name, .bytes = 4096, .node = -1};
        for (size_t k = 0; k < sizeof always / sizeof *always; k++)
            usable += strcmp(a->name, always[k]) == 0 && a->why_not[0] == 0;
        if (a->why_not[0])
            check_fails(old.dev.memory->alloc(&old.dev, &want, &m, &err), AS_UNSUPPORTED, &err, a->why_not);
    }
    assert_int_equal(usable, 3);
    assert_non_null(strstr(as_info_allocator(info, "malloc")->why_not, "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS"));
    close_backend(&old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trips, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_much, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_peer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copies_cross, setup, teardown),
        cmocka_unit_test_setup_teardown(test_opened_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_why_not, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
