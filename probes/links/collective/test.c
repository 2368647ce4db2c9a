/* Probe collective on the scripted device: which cells there are, what counts, and that wrong results are detected. */
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_collective;

#define INFO(n) "\"info\":{\"siblings\":" #n ",\"collectives\":\"Scripted 1.0\",\"allocators\":[{\"name\":\"own\"}]}"
#define LEVELS "\"levels\":[{\"size\":0,\"gbs\":20,\"ns\":0}],"

static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"};
enum { OPS = sizeof ops / sizeof *ops };

UNIT_TEST(test_which_cells)
{
    struct scripted s;
    struct as_error err = {0};
    scripted_open(&s, "{" INFO(4) "}");
    struct as_device_info *info = &s.dev->info;
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=all_to_all size=4096", &err), AS_APPLIES);
    snprintf(info->id, sizeof info->id, "null:1");
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=all_to_all size=4096", &err), AS_PRUNED);
    snprintf(info->id, sizeof info->id, "null");
    info->collectives[0] = 0;
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=all_reduce size=1048576", &err), AS_PRUNED);
    snprintf(info->collectives_why, sizeof info->collectives_why, "no library; install it");
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=all_reduce size=1048576", &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "no library; install it");
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=all_reduce size=4096", &err), AS_PRUNED);
    assert_int_equal(scripted_applies(&s, &as_probe_collective, "op=broadcast size=1048576", &err), AS_PRUNED);
    scripted_close(&s);
}

static bool collective_is_right(const char *script, const char *axes, double *value, char *why, size_t size)
{
    struct scripted s;
    scripted_open(&s, script);
    const bool right = scripted_check(&s, &as_probe_collective, axes, 3, value, why, size);
    scripted_close(&s);
    return right;
}

/* Three devices do not divide the size. A result that is wrong, or that is an earlier one, has no number. */
UNIT_TEST(test_results)
{
    static const char *const sizes[] = {"1024", "1000000", "9000000"};
    char axes[80], why[160], script[300];
    double value;
    for (size_t i = 0; i < OPS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            snprintf(axes, sizeof axes, "op=%s size=%s", ops[i], sizes[k]);
            if (!collective_is_right("{" LEVELS INFO(3) "}", axes, &value, why, sizeof why))
                fail_msg("%s: %s", axes, why);
            assert_true(fabs(value - 20) < 1e-6);
            snprintf(script, sizeof script, "{%s,\"faults\":[{\"do\":\"wrong\",\"kernel\":\"%s\"}]}", INFO(3), ops[i]);
            assert_false(collective_is_right(script, axes, &value, why, sizeof why));
            assert_non_null(strstr(why, "of device 2 is "));
        }
    assert_false(
        collective_is_right("{\"execute\":false," INFO(8) "}", "op=all_gather size=65536", &value, why, sizeof why));
}

/* A rank between the others that keeps an earlier result, from the second sample on or in the last call. */
UNIT_TEST(test_stale)
{
    char axes[80], why[160], script[300];
    double value;
    for (size_t i = 0; i < OPS; i++)
        for (int from = 2; from <= 4; from += 2) {
            snprintf(axes, sizeof axes, "op=%s size=9000000", ops[i]);
            snprintf(script, sizeof script, "{%s,\"faults\":[{\"do\":\"stale\",\"kernel\":\"%s\",\"from\":%d}]}",
                     INFO(3), ops[i], from);
            if (collective_is_right(script, axes, &value, why, sizeof why))
                fail_msg("%s: a stale result from launch %d on is not seen", axes, from);
            assert_non_null(strstr(why, "of device 1 is "));
        }
}

/* Time and algorithm bandwidth by the definitions of nccl-tests, for eight devices. */
UNIT_TEST(test_beside_the_number)
{
    static const double bus[OPS] = {1.75, 0.875, 0.875, 0.875, 1};
    for (size_t i = 0; i < OPS; i++) {
        struct scripted s;
        struct toy_trial v;
        char axes[80], why[160];
        double value;
        scripted_open(&s, "{" LEVELS INFO(8) "}");
        snprintf(axes, sizeof axes, "op=%s size=1048576", ops[i]);
        scripted_trial(&s, &as_probe_collective, axes, 4, &v, &value);
        assert_true(as_probe_collective.check(v.state, why, sizeof why));
        char detail[300];
        snprintf(detail, sizeof detail, "{%s}", as_buf_get(&v.tc.detail));
        assert_non_null(strstr(detail, "\"ranks\":8"));
        assert_non_null(strstr(detail, "Scripted 1.0"));
        assert_true(fabs(value - 20) < 1e-6);
        struct as_sample sample = {.value = NAN};
        struct as_error err = {0};
        assert_int_equal(as_probe_collective.sample(v.state, 1, &sample, &err), AS_OK);
        assert_string_equal(sample.further[0].name, "time");
        assert_true(fabs(sample.further[0].value - bus[i] * 1048576 / 20) < 1e-3 * sample.further[0].value);
        toy_finish(&as_probe_collective, &v);
        scripted_close(&s);
    }
}

UNIT_TEST(test_errors)
{
    struct scripted s;
    struct as_axes axes;
    struct as_error err = {0};
    void *state = NULL;
    toy_axes(&axes, "op=all_reduce size=4096");
    scripted_open(&s, "{" INFO(1) "}");
    struct as_trial_context tc = {.dev = s.dev, .axes = &axes};
    assert_int_equal(as_probe_prepare(&as_probe_collective, &tc, &state, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "1 devices"));
    as_probe_finish(&as_probe_collective, state);
    as_buf_finish(&tc.detail);
    scripted_close(&s);
    scripted_open(&s, "{\"faults\":[{\"do\":\"fail\",\"kernel\":\"all_reduce\"}]," INFO(4) "}");
    struct as_trial_context failing = {.dev = s.dev, .axes = &axes};
    struct as_sample sample = {.value = NAN};
    assert_int_equal(as_probe_prepare(&as_probe_collective, &failing, &state, &err), AS_OK);
    assert_int_equal(as_probe_collective.sample(state, 1, &sample, &err), AS_FAILED);
    as_probe_finish(&as_probe_collective, state);
    as_buf_finish(&failing.detail);
    scripted_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),       cmocka_unit_test(test_results), cmocka_unit_test(test_stale),
        cmocka_unit_test(test_beside_the_number), cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
