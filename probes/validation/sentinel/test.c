/* Probe sentinel: the device and resource of each sentinel, its arithmetic, and wrong work is detected. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Thread_local struct as_host_item as_host_item;
#pragma GCC diagnostic ignored "-Wunused-parameter" /* core has the arguments of memory */
#include "probes/validation/sentinel/sentinel.kernel"

extern const struct as_probe as_probe_sentinel;

enum { ITEMS = 4, WINDOW = 8 << 20 };

static void run_items(const char *name, void *const *args)
{
    bool is_core = strcmp(name, "core") == 0;
    uint32_t from, n;
    memcpy(&from, args[2], sizeof from);
    memcpy(&n, args[3], sizeof n);
    assert_true(is_core || strcmp(name, "memory") == 0);
    for (uint32_t thread = 0; thread < ITEMS; thread++) {
        as_host_item = (struct as_host_item){thread, ITEMS, 0, 1, NULL};
        (is_core ? core : memory)(args[0], args[1], from, n);
    }
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE);
    for (int i = 0; i < 2; i++) {
        const struct toy *t = i ? &gpu : &cpu;
        assert_int_equal(toy_applies(t, &as_probe_sentinel, "what=core", &err), AS_APPLIES);
        assert_int_equal(toy_applies(t, &as_probe_sentinel, "what=memory", &err), AS_APPLIES);
    }
    assert_int_equal(toy_applies(&cpu, &as_probe_sentinel, "what=pair", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&gpu, &as_probe_sentinel, "what=pair", &err), AS_PRUNED);
    cpu.dev.info.threads = 1;
    assert_int_equal(toy_applies(&cpu, &as_probe_sentinel, "what=pair", &err), AS_PRUNED);
}

/* Does the check pass after this many samples? */
static bool play(struct toy *t, const char *axes, uint64_t reps, int samples, char *why, size_t size)
{
    struct toy_trial v;
    struct as_error err = {0};
    toy_prepare(t, &as_probe_sentinel, axes, &v, NULL);
    assert_true(v.tc.min_reps <= reps && reps <= v.tc.max_reps);
    for (int i = 0; i < samples; i++) {
        struct as_sample s = {.value = NAN};
        assert_int_equal(as_probe_sentinel.sample(v.state, reps, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.seconds > 0);
    }
    bool good = as_probe_sentinel.check(v.state, why, size);
    toy_finish(&as_probe_sentinel, &v);
    assert_int_equal(t->live, 0);
    return good;
}

UNIT_TEST(test_work_is_right)
{
    static const char *const native[] = {"what=core", "what=memory", "what=pair"};
    struct toy t;
    char why[128];
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (size_t i = 0; i < sizeof native / sizeof *native; i++)
        assert_true(play(&t, native[i], 1, 3, why, sizeof why));
    assert_string_equal(why, "the count of passes is right");
    assert_int_equal(t.launches, 9);
    toy_init(&t, AS_CAP_SOURCE);
    t.kernel = run_items;
    for (size_t i = 0; i < 2; i++)
        assert_true(play(&t, native[i], 1, 2, why, sizeof why));
    assert_string_equal(why, "the sum over the window is right");
}

UNIT_TEST(test_wrong_work_is_seen)
{
    struct toy t;
    char why[128];
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.forget = true;
    assert_false(play(&t, "what=memory", 1, 1, why, sizeof why));
    assert_string_equal(why, "the sum over the window is wrong");
    assert_false(play(&t, "what=pair", 1, 1, why, sizeof why));
    assert_string_equal(why, "the count of passes is wrong");
    t.forget = false;
    t.lose_launches = 1; /* the last launch, since players wait for the line's expected value */
    assert_false(play(&t, "what=pair", 1, 1, why, sizeof why));
    t.lose_launches = 1;
    assert_false(play(&t, "what=memory", 1, 2, why, sizeof why));
    t.lose_launches = 1;
    assert_false(play(&t, "what=core", 3, 2, why, sizeof why));
    assert_string_equal(why, "the product is wrong");
    toy_init(&t, AS_CAP_SOURCE);
    t.kernel = run_items;
    for (size_t i = 0; i < 2; i++) {
        t.lose_launches = 1;
        assert_false(play(&t, i ? "what=memory" : "what=core", 1, 1, why, sizeof why));
    }
}

/* Each sample reads another window of a block larger than the caches, so none is cached when it is read again. */
UNIT_TEST(test_windows)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, &as_probe_sentinel, "what=memory", &v, NULL);
    assert_true(v.tc.footprint >= 8 * WINDOW && v.tc.footprint % WINDOW == 0);
    assert_int_equal(v.tc.max_reps, 1);
    toy_finish(&as_probe_sentinel, &v);
    toy_prepare(&t, &as_probe_sentinel, "what=core", &v, NULL);
    assert_int_equal(v.tc.footprint, 64);
    assert_int_equal(t.live, 1); /* only the result, no block */
    toy_finish(&as_probe_sentinel, &v);
    t.dev.info.memory_free = 8 * (uint64_t)WINDOW - 1;
    assert_int_equal(toy_prepare(&t, &as_probe_sentinel, "what=memory", &v, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "too little memory"));
    toy_finish(&as_probe_sentinel, &v);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_without_memory)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.deny_memory = true;
    assert_int_equal(toy_prepare(&t, &as_probe_sentinel, "what=core", &v, &err), AS_NOMEM);
    toy_finish(&as_probe_sentinel, &v);
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (size_t i = 0; i < t.dev.info.allocators_n; i++)
        snprintf(t.dev.info.allocators[i].why_not, sizeof t.dev.info.allocators[i].why_not, "not today");
    assert_int_equal(toy_prepare(&t, &as_probe_sentinel, "what=core", &v, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no usable allocator"));
    toy_finish(&as_probe_sentinel, &v);
    assert_int_equal(t.live, 0);
}

/* Each word of the window is in exactly one sum. The chain's result depends on its start, so compilers cannot fold
 * it. */
UNIT_TEST(test_device_kernels)
{
    static uint32_t block[64], result[1024];
    uint64_t sum = 0, wanted = 0;
    for (uint32_t i = 0; i < 64; i++)
        block[i] = i * i + 1;
    for (uint32_t i = 8; i < 8 + 50; i++)
        wanted += block[i];
    uint32_t from = 8, words = 50, turns = 1, first[2];
    void *args[] = {result, block, &from, &words};
    run_items("memory", args);
    for (int i = 0; i < ITEMS; i++)
        sum += result[i];
    assert_int_equal(sum, wanted);
    args[3] = &turns;
    for (from = 0; from < 2; from++) {
        run_items("core", args);
        first[from] = result[0];
        for (int i = 1; i < ITEMS; i++)
            assert_int_equal(result[i], first[from]);
    }
    assert_int_not_equal(first[0], first[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),        cmocka_unit_test(test_work_is_right),
        cmocka_unit_test(test_wrong_work_is_seen), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_without_memory),     cmocka_unit_test(test_device_kernels)};
    return cmocka_run_group_tests_name("probes: sentinel", tests, NULL, NULL);
}
