/* Common preparation of probes: words, free memory, bounds. */
#include "lib/checks/checks.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "toy_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **unused)
{
    static const char *const words[] = {"near", "far", NULL};
    struct as_axes a;
    (void)unused;
    toy_axes(&a, "what=far other=farther");
    assert_int_equal(as_word_index(&a, "what", words), 1);
    assert_int_equal(as_word_index(&a, "other", words), 2);
    assert_int_equal(as_word_index(&a, "absent", words), 2);
    assert_true(as_word_is(&a, "what", "far"));
    assert_false(as_word_is(&a, "other", "far"));
}

static void test_room(void **unused)
{
    struct toy t;
    struct as_error err = {0};
    (void)unused;
    toy_init(&t, 0);
    t.free_bytes = 100 << 20;
    assert_int_equal(as_check_room(&t.dev, 50 << 20, 25 << 20, &err), AS_OK);
    assert_int_equal(as_check_room(&t.dev, (50 << 20) + 1, 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "half of the free 100 MiB"));
    t.dev.info.max_alloc = 20 << 20;
    assert_int_equal(as_check_room(&t.dev, 50 << 20, 20 << 20, &err), AS_OK);
    assert_int_equal(as_check_room(&t.dev, 50 << 20, (20 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "largest allocation is 20 MiB"));
}

static void test_block(void **unused)
{
    struct as_device_info info = {.memory_free = 100 << 20,
                                  .allocators_n = 2,
                                  .allocators = {{.name = "all"}, {.name = "some", .most = 10 << 20}}};
    struct as_error err = {0};
    (void)unused;
    assert_int_equal(as_check_block(&info, "all", 50 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "all", (50 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "50.0 MiB requested, but only half of the free 100 MiB may be used"));
    assert_int_equal(as_check_block(&info, "some", 10 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "some", (10 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, " MiB requested, but 'some' gives at most 10 MiB"));
    info.max_alloc = 30 << 20;
    assert_int_equal(as_check_block(&info, "all", 30 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "all", (30 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "largest allocation is 30 MiB"));
}

static void test_one_cycle(void **unused)
{
    struct as_trial_context tc = {.limit = NAN};
    (void)unused;
    as_limit_one_cycle(&tc, NAN);
    as_limit_one_cycle(&tc, 0);
    assert_true(isnan(tc.limit));
    as_limit_one_cycle(&tc, 2e9);
    assert_true(fabs(tc.limit - 0.5) < 1e-12);
    assert_non_null(strstr(tc.limit_why, "one cycle"));
}

/* Memory that a program keeps is released with it, and there is no space for more than intended. */
static void test_kept(void **unused)
{
    struct toy t;
    struct as_kernel_timer timer;
    struct as_memory *memory;
    struct as_kernel *kernel;
    struct as_error err = {0};
    (void)unused;
    toy_init(&t, AS_CAP_SOURCE);
    assert_int_equal(as_kernel_timer_prepare(&timer, &t.dev, "kept", "", "", NULL, 1, &err), AS_OK);
    for (int i = 1; i < AS_BUFFERS_MAX; i++) /* the records are one block */
        assert_int_equal(as_kernel_timer_keep_memory(&timer, 64, &memory, &err), AS_OK);
    for (int i = 0; i < AS_BUFFERS_MAX; i++)
        assert_int_equal(as_kernel_timer_keep_kernel(&timer, "kernel", &kernel, &err), AS_OK);
    assert_int_equal(t.live, AS_BUFFERS_MAX);
    assert_int_equal(as_kernel_timer_keep_memory(&timer, 64, &memory, &err), AS_FAILED);
    assert_int_equal(as_kernel_timer_keep_kernel(&timer, "kernel", &kernel, &err), AS_FAILED);
    as_kernel_timer_finish(&timer);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_room),
                                       cmocka_unit_test(test_block), cmocka_unit_test(test_one_cycle),
                                       cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
