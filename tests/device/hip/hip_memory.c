/* Memory of the HIP backend against a stand-in runtime: every allocator gives what it says, too much is refused with
 * numbers, another device's memory is reached or refused, and all is given back. */
#include "fake_hip.h"

#include <math.h>
#include <stdio.h>

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)

static struct opened o;

static int setup(void **state)
{
    (void)state;
    fake("");
    open_hip(&o, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake("");
    close_hip(&o);
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

/* By the name of each, whether it can be used on a card that does not replay page faults, and on a chip that shares the
 * host's memory and does. */
static const struct {
    const char *name;
    bool on_card, on_apu;
} table[] = {
    {"hipMalloc", true, true},
    {"hipExtMallocWithFlags fine-grained", true, true},
    {"hipMallocManaged", true, false},
    {"hipMallocManaged XNACK", false, true},
    {"hipHostMalloc", true, true},
    {"hipHostMalloc coherent", true, true},
    {"hipHostMalloc non-coherent", true, true},
    {"hipHostRegister malloc", true, true},
    {"malloc", false, true},
    {"__managed__", true, true},
};
enum { TABLE = sizeof table / sizeof *table };

static void check_table(bool apu)
{
    assert_int_equal(o.dev.info.allocators_n, TABLE);
    for (size_t i = 0; i < TABLE; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        assert_string_equal(a->name, table[i].name);
        enum as_status s = get(a->name, 3 * 64 * KIB + 5, NULL, &m, &err);
        if (!(apu ? table[i].on_apu : table[i].on_card)) {
            assert_true(a->why_not[0]);
            check_fails(s, AS_UNSUPPORTED, &err, a->why_not);
            continue;
        }
        check_ok(s, &err);
        check_round_trip(a->name, m);
        check_ok(o.dev.memory->map(&o.dev, m, &err), &err);
        o.dev.memory->free(&o.dev, m); /* also while it is mapped */
    }
}

static void test_card(void **state)
{
    (void)state;
    check_table(false);
    assert_false(as_info_allocator(&o.dev.info, "hipMalloc")->host_access);
    assert_false(as_info_allocator(&o.dev.info, "hipMallocManaged")->on_demand);
    assert_true(as_info_allocator(&o.dev.info, "hipHostMalloc")->coherent);
    assert_false(as_info_allocator(&o.dev.info, "hipHostMalloc non-coherent")->coherent);
    assert_non_null(
        strstr(as_info_allocator(&o.dev.info, "malloc")->why_not, "hipDeviceAttributePageableMemoryAccess"));
    assert_non_null(strstr(as_info_allocator(&o.dev.info, "hipMallocManaged XNACK")->why_not, "HSA_XNACK=1"));
}

static void test_apu(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    close_hip(&o);
    fake("apu xnack");
    open_hip(&o, 0);
    check_table(true);
    assert_string_equal(o.dev.info.arch, "gfx942");
    assert_true(o.dev.info.is_host_memory);
    assert_true(as_info_allocator(&o.dev.info, "hipMalloc")->host_access);
    assert_true(as_info_allocator(&o.dev.info, "hipMallocManaged XNACK")->on_demand);
    assert_non_null(strstr(as_info_allocator(&o.dev.info, "hipMallocManaged")->why_not, "HSA_XNACK=0"));
    check_ok(get("hipMalloc", 4096, NULL, &m, &err), &err);
    check_ok(o.dev.memory->map(&o.dev, m, &err), &err);
    void *there = m->host;
    ((char *)there)[5] = 3;
    check_ok(o.dev.memory->unmap(&o.dev, m, &err), &err);
    check_ok(o.dev.memory->map(&o.dev, m, &err), &err);
    assert_ptr_equal(m->host, there); /* in place, not a copy */
    o.dev.memory->free(&o.dev, m);
}

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < o.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &o.dev.info.allocators[i];
        struct as_error err = {0};
        double alloc_s = NAN, free_s = NAN;
        if (a->why_not[0])
            continue;
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
    check_fails(get("hipMalloc", 200 * GIB, NULL, &m, &err), AS_UNSUPPORTED, &err, "asked for 200 GiB, 3 GiB are free");
    check_fails(get("hipExtMallocWithFlags fine-grained", 4 * GIB, NULL, &m, &err), AS_NOMEM, &err,
                "asked for 4 GiB, 3 GiB are free");
    check_fails(get("hipMalloc", 3 * GIB - 1, NULL, &m, &err), AS_NOMEM, &err, "256 MiB are left alone");
    check_fails(get("hipMallocManaged", GIB + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "1 GiB is the most");
    check_fails(get("__managed__", 257 << 20, NULL, &m, &err), AS_UNSUPPORTED, &err, "256 MiB is the most");
    check_fails(get("hipHostMalloc", UINT64_C(1) << 60, NULL, &m, &err), AS_NOMEM, &err, "half of the host memory");
    check_fails(get("hipMalloc", 0, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(get("hipMalloc", UINT64_MAX, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(get("calloc", 64, NULL, &m, &err), AS_USAGE, &err, "no allocator 'calloc'");
    check_fails(o.dev.memory->time_alloc(&o.dev, "hipMalloc", 10 * GIB, 20, &a, &f, &err), AS_UNSUPPORTED, &err,
                "asked for 200 GiB");
    check_fails(o.dev.memory->time_alloc(&o.dev, "hipMalloc", GIB, SIZE_MAX / 2, &a, &f, &err), AS_USAGE, &err,
                "cannot be allocated");
    assert_null(m);
}

static void test_no_memory(void **state)
{
    (void)state;
    fake("nomem");
    for (size_t i = 0; i < TABLE; i++) {
        struct as_error err = {0};
        struct as_memory *m = NULL;
        double alloc_s, free_s;
        if (!table[i].on_card || strcmp(table[i].name, "__managed__") == 0)
            continue;
        check_fails(get(table[i].name, 3 * 64 * KIB + 5, NULL, &m, &err), AS_NOMEM, &err, "hipErrorOutOfMemory (2)");
        assert_null(m);
        check_fails(o.dev.memory->time_alloc(&o.dev, table[i].name, 4096, 4, &alloc_s, &free_s, &err), AS_NOMEM, &err,
                    "hipErrorOutOfMemory (2)");
    }
}

/* What was got before the step that fails is given back: teardown counts. */
static void test_static_half_way(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    check_ok(get("__managed__", 4096, NULL, &m, &err), &err);
    o.dev.memory->free(&o.dev, m);
    fake("nomem");
    check_fails(get("__managed__", 4096, NULL, &m, &err), AS_NOMEM, &err, "hipHostMalloc");
    assert_null(m);
}

static void test_peer(void **state)
{
    static const char *const kinds[] = {"hipMalloc", "hipExtMallocWithFlags fine-grained"};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("nopeer");
    check_fails(get("hipMalloc", 4096, "hip:1", &m, &err), AS_UNSUPPORTED, &err,
                "'hip:0' cannot reach the memory of 'hip:1': hipDeviceCanAccessPeer says no");
    fake("peererror");
    check_fails(get("hipMalloc", 4096, "hip:1", &m, &err), AS_UNSUPPORTED, &err, "hipErrorNotSupported");
    fake("");
    for (size_t i = 0; i < 2; i++) {
        for (int owner = 0; owner < 3; owner++) {
            char id[32];
            snprintf(id, sizeof id, "hip:%d", owner);
            check_ok(get(kinds[i], 3 * 64 * KIB + 5, id, &m, &err), &err);
            check_round_trip(kinds[i], m);
            o.dev.memory->free(&o.dev, m);
        }
    }
    check_fails(get("hipMalloc", 200 * GIB, "hip:2", &m, &err), AS_UNSUPPORTED, &err, "3 GiB are free");
    check_fails(get("hipHostMalloc", 4096, "hip:1", &m, &err), AS_UNSUPPORTED, &err, "no memory of another device");
    check_fails(get("hipMalloc", 4096, "hip:3", &m, &err), AS_NOTFOUND, &err, "no device 'hip:3'");
    check_fails(get("hipMalloc", 4096, "opencl:0", &m, &err), AS_NOTFOUND, &err, "no device 'opencl:0'");
}

/* Both ways at once between own memory and another device's, or that of the host: each arrives. */
static void test_copies_cross(void **state)
{
    enum { BYTES = 4096, BLOCKS = 4 };
    static const char *const others[] = {"hip:0", "hip:1"}, *const kinds[] = {"hipMalloc",
                                                                              "hipExtMallocWithFlags fine-grained"};
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

/* The same device twice: it reaches the other device already. */
static void test_opened_twice(void **state)
{
    struct opened other = {.backend = o.backend};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    const struct as_memory_desc want = {.allocator = "hipMalloc", .bytes = 64, .node = -1, .owner = "hip:1"};
    (void)state;
    open_device(&other, 0);
    check_ok(get("hipMalloc", 3 * 64 * KIB + 5, "hip:1", &m, &err), &err);
    check_round_trip("hipMalloc", m);
    o.dev.memory->free(&o.dev, m);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &m, &err), &err);
    other.dev.memory->free(&other.dev, m);
    other.dev.device->close(&other.dev);
}

/* Two devices on one thread: each call works on its own. */
static void test_two_devices(void **state)
{
    struct opened other = {.backend = o.backend};
    struct as_memory *here = NULL, *there = NULL;
    struct as_error err = {0};
    const struct as_memory_desc want = {.allocator = "hipMalloc", .bytes = 3 * 64 * KIB + 5, .node = -1};
    (void)state;
    open_device(&other, 1);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &here, &err), &err);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &there, &err), &err);
    check_round_trip("hipMalloc", here);
    other.dev.memory->free(&other.dev, there);
    o.dev.memory->free(&o.dev, here);
    other.dev.device->close(&other.dev);
}

static void test_plain(void **state)
{
    static const char *const always[] = {"hipMalloc", "hipHostMalloc", "hipHostRegister malloc"};
    struct opened old = {.backend = o.backend};
    size_t usable = 0;
    (void)state;
    fake("plain");
    open_device(&old, 0);
    const struct as_device_info *info = &old.dev.info;
    for (size_t i = 0; i < info->allocators_n; i++)
        usable += info->allocators[i].why_not[0] == 0;
    assert_int_equal(usable, 5);
    for (size_t k = 0; k < sizeof always / sizeof *always; k++)
        assert_string_equal(as_info_allocator(info, always[k])->why_not, "");
    assert_non_null(strstr(as_info_allocator(info, "__managed__")->why_not, "hipDeviceAttributeManagedMemory"));
    old.dev.device->close(&old.dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_card, setup, teardown),
        cmocka_unit_test_setup_teardown(test_apu, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_much, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_static_half_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_peer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copies_cross, setup, teardown),
        cmocka_unit_test_setup_teardown(test_opened_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
