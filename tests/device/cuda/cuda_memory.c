/* Memory of the CUDA backend against a stand-in driver: every allocator gives what it says, too much is refused with
 * numbers, another device's memory is reached or refused, and all is given back. */
#include "../gpu_tests.h"

#include <stdio.h>
#include <stdlib.h>

static int setup(void **state)
{
    static char size_text[32];
    snprintf(size_text, sizeof size_text, "%d", (int)ROUND_TRIP);
    setenv("FAKE_CUDA_STATIC", size_text, 1);
    return gpu_setup(state);
}

static bool compiles(enum as_status s, const char *allocator, const struct as_error *err)
{
    return s == AS_OK || strcmp(allocator, "__managed__") != 0 || !strstr(err->text, "nvrtc");
}

static void test_round_trips(void **state)
{
    size_t usable = 0;
    (void)state;
    assert_int_equal(card.dev.info.allocators_n, 14);
    for (size_t i = 0; i < card.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &card.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        assert_string_equal(a->why_not, "");
        enum as_status s = gpu_get(a->name, ROUND_TRIP, NULL, &m, &err);
        if (!compiles(s, a->name, &err)) {
            print_message("%s left out: %s\n", a->name, err.text);
            continue;
        }
        check_ok(s, &err);
        gpu_round_trip(a->name, m);
        check_ok(card.dev.memory->map(&card.dev, m, &err), &err);
        card.dev.memory->free(&card.dev, m); /* also while it is mapped */
        usable++;
    }
    assert_true(usable >= 13);
}

static void test_too_much(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    double a, f;
    (void)state;
    check_fails(gpu_get("cuMemAlloc", 200 * GIB, NULL, &m, &err), AS_UNSUPPORTED, &err,
                "requested 200 GiB, 139 GiB are free");
    check_fails(gpu_get("cuMemCreate", 140 * GIB, NULL, &m, &err), AS_NOMEM, &err,
                "requested 140 GiB, 139 GiB are free");
    check_fails(gpu_get("cuMemAlloc", 139 * GIB - 1, NULL, &m, &err), AS_NOMEM, &err, "256 MiB are left alone");
    check_fails(gpu_get("cuMemAllocManaged", GIB + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at 1 GiB");
    check_fails(gpu_get("__managed__", 257 << 20, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at 256 MiB");
    check_fails(gpu_get("cuMemHostAlloc", UINT64_C(1) << 60, NULL, &m, &err), AS_NOMEM, &err,
                "half of the host memory");
    check_fails(gpu_get("cuMemAlloc", 0, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(gpu_get("cuMemAlloc", UINT64_MAX, NULL, &m, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(gpu_get("calloc", 64, NULL, &m, &err), AS_USAGE, &err, "no allocator 'calloc'");
    check_fails(card.dev.memory->time_alloc(&card.dev, "cuMemAlloc", 10 * GIB, 20, &a, &f, &err), AS_UNSUPPORTED, &err,
                "requested 200 GiB");
    check_fails(card.dev.memory->time_alloc(&card.dev, "cuMemAlloc", GIB, SIZE_MAX / 2, &a, &f, &err), AS_USAGE, &err,
                "cannot be allocated");
    assert_null(m);
}

static void test_no_memory(void **state)
{
    (void)state;
    fake("nomem");
    for (size_t i = 0; i < card.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &card.dev.info.allocators[i];
        struct as_error err = {0};
        struct as_memory *m = NULL;
        double alloc_s, free_s;
        if (strcmp(a->name, "malloc") == 0)
            continue;
        enum as_status s = gpu_get(a->name, ROUND_TRIP, NULL, &m, &err);
        if (!compiles(s, a->name, &err))
            continue;
        check_fails(s, AS_NOMEM, &err, "CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert_null(m);
        if (strcmp(a->name, "__managed__") != 0)
            check_fails(card.dev.memory->time_alloc(&card.dev, a->name, 4096, 4, &alloc_s, &free_s, &err), AS_NOMEM,
                        &err, "CUDA_ERROR_OUT_OF_MEMORY (2)");
    }
}

/* What was got before the step that fails is given back: teardown counts. */
static void test_half_way(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("noaccess");
    check_fails(gpu_get("cuMemCreate", 4096, NULL, &m, &err), AS_UNSUPPORTED, &err, "cuMemSetAccess");
    assert_null(m);
    setenv("FAKE_CUDA_STATIC", "4096", 1);
    enum as_status s = gpu_get("__managed__", ROUND_TRIP, NULL, &m, &err);
    if (compiles(s, "__managed__", &err))
        check_fails(s, AS_FAILED, &err, "a static of 196613 bytes came out with 4096");
    assert_null(m);
}

static void test_why_not(void **state)
{
    static const char *const always[] = {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostAlloc write-combined"};
    struct opened old;
    size_t usable = 0;
    (void)state;
    fake("plain");
    open_card(&old, 2);
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
        cmocka_unit_test_setup_teardown(test_round_trips, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_times, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_most, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_too_much, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_half_way, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_peer, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_copies_cross, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_opened_twice, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(gpu_two_devices, setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_why_not, setup, gpu_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
