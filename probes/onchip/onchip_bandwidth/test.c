/* Probe onchip_bandwidth: which cells apply, correct sums on OpenCL where available, and bytes per cycle on a toy
 * device without a cycle counter, from its times. */
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_onchip_bandwidth;

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    assert_int_equal(
        toy_applies(&t, &as_probe_onchip_bandwidth, "what=own size=64 width=128 stride=1 compute_units=every", &err),
        AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_onchip_bandwidth,
                                 "what=shared size=4096 width=32 stride=1 compute_units=every", &err),
                     AS_PRUNED);
    assert_int_equal(
        toy_applies(&t, &as_probe_onchip_bandwidth, "what=own size=32768 width=128 stride=1 compute_units=every", &err),
        AS_APPLIES);
}

/* 1.5 GHz; a turn of the reader takes 500 cycles, one of the clock's long body 6144 (1024 threads with four chains of
 * 192 steps, 128 operations per cycle). */
enum { READ_CYCLES = 500, BODY_CYCLES = 192 * 4 * 1024 / 128 };
static const double HZ = 1.5e9, LAUNCH_S = 30e-6;
static struct toy toy;

static void run(const char *name, void *const *args)
{
    uint32_t turns = 0, before = 0;
    if (strcmp(name, "tell") == 0)
        return;
    memcpy(&turns, args[6], sizeof turns);
    if (strcmp(name, "read") == 0)
        memcpy(&before, args[5], sizeof before);
    const double each = strcmp(name, "read") == 0         ? READ_CYCLES
                        : strcmp(name, "whole_body") == 0 ? BODY_CYCLES
                                                          : BODY_CYCLES / 2.0;
    toy.launch_s = LAUNCH_S + (before + turns) * each / HZ;
}

UNIT_TEST(test_without_counter)
{
    static const char axes[] = "what=own size=65536 width=128 stride=1 compute_units=every";
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    kernel_timer_toy(&toy);
    toy.kernel = run;
    toy.dev.info.capabilities = AS_CAP_SOURCE;
    toy.dev.info.is_host_cpu = false;
    strcpy(toy.dev.info.dialect, "metal");
    toy.dev.info.unit_fma = 128;
    assert_int_equal(toy_applies(&toy, &as_probe_onchip_bandwidth, axes, &err), AS_APPLIES);
    toy_prepare(&toy, &as_probe_onchip_bandwidth, axes, &v, NULL);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "by calibration"));
    for (uint64_t reps = 10; reps <= 10000; reps *= 10) {
        assert_int_equal(as_probe_onchip_bandwidth.sample(v.state, reps, &out, &err), AS_OK);
        assert_true(fabs(out.value - 65536.0 / READ_CYCLES) < 1e-4);
        assert_true(fabs(out.clock_hz - HZ) < 1e-4 * HZ);
    }
    toy_finish(&as_probe_onchip_bandwidth, &v);
    assert_int_equal(toy.live, 0);
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"what=own size=32768 width=128 stride=1 compute_units=every", 3},
        {"what=own size=65536 width=32 stride=3 compute_units=every", 3},
        {"what=common size=4194304 width=64 stride=1 compute_units=every", 2},
        {"what=shared size=0 width=32 stride=33 compute_units=every", 5},
        {"what=shared size=0 width=128 stride=2 compute_units=every", 5},
        {"what=own_stores size=32768 width=128 stride=1 compute_units=every", 3},
        {"what=own_stores size=65536 width=32 stride=3 compute_units=every", 3},
        {"what=shared_stores size=0 width=32 stride=33 compute_units=every", 5},
        {"what=shared_stores size=0 width=64 stride=2 compute_units=every", 5},
    };
    kernel_timer_trials("onchip_bandwidth", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_without_counter),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
