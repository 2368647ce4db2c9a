/* Memory of the HIP backend against a stand-in runtime: every allocator gives what it says, too much is refused with
 * numbers, another device's memory is reached or refused, and all is given back. */
#include "../gpu_tests.h"

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
    assert_int_equal(card.dev.info.allocators_n, TABLE);
    for (size_t i = 0; i < TABLE; i++) {
        const struct as_allocator *a = &card.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        assert_string_equal(a->name, table[i].name);
        enum as_status s = gpu_get(a->name, ROUND_TRIP, NULL, &m, &err);
        if (!(apu ? table[i].on_apu : table[i].on_card)) {
            assert_true(a->why_not[0]);
            check_fails(s, AS_UNSUPPORTED, &err, a->why_not);
            continue;
        }
        check_ok(s, &err);
        gpu_round_trip(a->name, m);
        check_ok(card.dev.memory->map(&card.dev, m, &err), &err);
        card.dev.memory->free(&card.dev, m); /* also while it is mapped */
    }
}

static void test_card(void **state)
{
    (void)state;
    check_table(false);
    assert_false(as_info_allocator(&card.dev.info, "hipMalloc")->host_access);
    assert_false(as_info_allocator(&card.dev.info, "hipMallocManaged")->on_demand);
    assert_true(as_info_allocator(&card.dev.info, "hipHostMalloc")->coherent);
    assert_false(as_info_allocator(&card.dev.info, "hipHostMalloc non-coherent")->coherent);
    assert_non_null(
        strstr(as_info_allocator(&card.dev.info, "malloc")->why_not, "hipDeviceAttributePageableMemoryAccess"));
    assert_non_null(strstr(as_info_allocator(&card.dev.info, "hipMallocManaged XNACK")->why_not, "HSA_XNACK=1"));
}

static void test_apu(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    close_card(&card);
    fake("apu xnack");
    open_card(&card, 0);
    check_table(true);
    assert_string_equal(card.dev.info.arch, "gfx942");
    assert_true(card.dev.info.is_host_memory);
    assert_true(as_info_allocator(&card.dev.info, "hipMalloc")->host_access);
    assert_true(as_info_allocator(&card.dev.info, "hipMallocManaged XNACK")->on_demand);
    assert_non_null(strstr(as_info_allocator(&card.dev.info, "hipMallocManaged")->why_not, "HSA_XNACK=0"));
    check_ok(gpu_get("hipMalloc", 4096, NULL, &m, &err), &err);
    check_ok(card.dev.memory->map(&card.dev, m, &err), &err);
    void *there = m->host;
    ((char *)there)[5] = 3;
    check_ok(card.dev.memory->unmap(&card.dev, m, &err), &err);
    check_ok(card.dev.memory->map(&card.dev, m, &err), &err);
    assert_ptr_equal(m->host, there); /* in place, not a copy */
    card.dev.memory->free(&card.dev, m);
}

static void test_too_much(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    double a, f;
    (void)state;
    check_fails(gpu_get("hipMalloc", 200 * GIB, NULL, &m, &err), AS_UNSUPPORTED, &err,
                "requested 200 GiB, 3 GiB are free");
    check_fails(gpu_get("hipExtMallocWithFlags fine-grained", 4 * GIB, NULL, &m, &err), AS_NOMEM, &err,
                "requested 4 GiB, 3 GiB are free");
    check_fails(gpu_get("hipMalloc", 3 * GIB - 1, NULL, &m, &err), AS_NOMEM, &err, "256 MiB are left alone");
    check_fails(gpu_get("hipMallocManaged", GIB + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at 1 GiB");
    check_fails(gpu_get("__managed__", 257 << 20, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at 256 MiB");
    check_fails(gpu_get("hipHostMalloc", UINT64_C(1) << 60, NULL, &m, &err), AS_NOMEM, &err, "half of the host memory");
    check_fails(gpu_get("hipMalloc", 0, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(gpu_get("hipMalloc", UINT64_MAX, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(gpu_get("calloc", 64, NULL, &m, &err), AS_USAGE, &err, "no allocator 'calloc'");
    check_fails(card.dev.memory->time_alloc(&card.dev, "hipMalloc", 10 * GIB, 20, &a, &f, &err), AS_UNSUPPORTED, &err,
                "requested 200 GiB");
    check_fails(card.dev.memory->time_alloc(&card.dev, "hipMalloc", GIB, SIZE_MAX / 2, &a, &f, &err), AS_USAGE, &err,
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
        check_fails(gpu_get(table[i].name, ROUND_TRIP, NULL, &m, &err), AS_NOMEM, &err, "hipErrorOutOfMemory (2)");
        assert_null(m);
        check_fails(card.dev.memory->time_alloc(&card.dev, table[i].name, 4096, 4, &alloc_s, &free_s, &err), AS_NOMEM,
                    &err, "hipErrorOutOfMemory (2)");
    }
}

/* What was got before the step that fails is given back: teardown counts. */
static void test_static_half_way(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    check_ok(gpu_get("__managed__", 4096, NULL, &m, &err), &err);
    card.dev.memory->free(&card.dev, m);
    fake("nomem");
    check_fails(gpu_get("__managed__", 4096, NULL, &m, &err), AS_NOMEM, &err, "hipHostMalloc");
    assert_null(m);
}

static void test_plain(void **state)
{
    static const char *const always[] = {"hipMalloc", "hipHostMalloc", "hipHostRegister malloc"};
    struct opened old = {.backend = card.backend};
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
        cmocka_unit_test_setup_teardown(test_card, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_apu, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_times, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_most, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_too_much, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_static_half_way, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_peer, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_copies_cross, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_opened_twice, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_two_devices, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_plain, gpu_setup, gpu_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
