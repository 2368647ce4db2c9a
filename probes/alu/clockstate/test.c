/* Series of launches with known levels and a known start, and the probe on this machine's CPU. */
#include "probes/alu/clockstate/series.h"
#include "tests/probes/real_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_clockstate;

enum { N = 300 };
static double rate[N], ended[N];

/* Fixed levels with half a percent of scatter. */
static void fill(double (*level)(size_t i))
{
    for (size_t i = 0; i < N; i++) {
        rate[i] = level(i) * (1 + 0.005 * ((double)(i * 7919 % 101) / 101 - 0.5));
        ended[i] = 0.001 * (double)(i + 1);
    }
}

static struct as_series_found find(double (*level)(size_t i))
{
    const struct as_series s = {.n = N, .rate = rate, .ended = ended};
    struct as_series_found f;
    fill(level);
    assert_true(as_series_find(&s, &f));
    return f;
}

static double constant(size_t i)
{
    (void)i;
    return 100;
}
static double slow_start(size_t i)
{
    return i < 45 ? 60 : 100;
}
static double alternating(size_t i)
{
    return i * 31 % 10 < 3 ? 80 : 100;
}
static double falling_late(size_t i)
{
    return i < 250 ? 100 : 70;
}

UNIT_TEST(test_steady)
{
    struct as_series_found f = find(constant);
    assert_int_equal(f.modes, 1);
    assert_true(f.settles);
    assert_int_equal(f.launches, 0);
    assert_true(f.seconds == 0);
    assert_true(f.median > 99.5 && f.median < 100.5);
    assert_true(f.ci.lo <= f.median && f.median <= f.ci.hi && f.low <= f.ci.lo && f.ci.hi <= f.high);
}

UNIT_TEST(test_slow_start)
{
    struct as_series_found f = find(slow_start);
    assert_true(f.settles);
    assert_int_equal(f.launches, 50); /* the group of ten that contains the change is unsteady too */
    assert_true(f.seconds > 0.0499 && f.seconds < 0.0501);
    assert_true(f.first > 0.59 && f.first < 0.61);
}

UNIT_TEST(test_two_levels)
{
    struct as_series_found f = find(alternating);
    assert_int_equal(f.modes, 2);
    assert_true(f.mode[0] > 79 && f.mode[0] < 81 && f.mode[1] > 99 && f.mode[1] < 101);
    assert_true(f.share > 0.29 && f.share < 0.31);
}

UNIT_TEST(test_never)
{
    const struct as_series few = {.n = 29, .rate = rate, .ended = ended};
    struct as_series_found f = find(falling_late);
    assert_false(f.settles);
    assert_false(as_series_find(&few, &f));
}

UNIT_TEST(test_on_cpu)
{
    struct real r;
    if (real_trial(&as_probe_clockstate, "cpu", "allocator=malloc path=naive type=f32 size=64", 1, 1, &r)) {
        assert_true(r.sample.value > 0);
        assert_non_null(strstr(r.detail, "\"launches\":300"));
    }
    real_or_skip();
}

UNIT_TEST(test_what_applies)
{
    struct as_device_info info = {
        .capabilities = AS_CAP_SOURCE, .arch = "sm_90", .dialect = "cuda", .is_host_cpu = true};
    struct as_axes a = {0};
    struct as_error err = {0};
    if (as_axes_add(&a, "path", "naive", &err) || as_axes_add(&a, "type", "f32", &err) ||
        as_axes_add(&a, "size", "1024", &err))
        fail_msg("%s", err.text);
    assert_int_equal(as_probe_clockstate.applies(&info, &a, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "many seconds"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steady),     cmocka_unit_test(test_slow_start),
                                       cmocka_unit_test(test_two_levels), cmocka_unit_test(test_never),
                                       cmocka_unit_test(test_on_cpu),     cmocka_unit_test(test_what_applies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
