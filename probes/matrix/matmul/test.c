/* Probe matmul: which cells apply, and small GEMMs on this machine's CPU. lib/gemm has its own tests. */
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <stdio.h>

extern const struct as_probe as_probe_matmul;

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies want;
    } rows[] = {
        {"path=wgmma type=f16 size=8192 operands=zero hold=sustained", AS_APPLIES},
        {"path=wgmma type=f64 size=8192 operands=random hold=burst", AS_PRUNED},
        {"path=naive type=f32 size=16384 operands=random hold=burst", AS_INAPPLICABLE},
        {"path=dot type=s8 size=8192 operands=random hold=burst", AS_INAPPLICABLE},
    };
    struct toy t;
    toy_init_sm90(&t, NULL);
    t.free_bytes = UINT64_C(64) << 30;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&t, &as_probe_matmul, rows[i].axes, &err) != rows[i].want)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

static void nothing(const char *name, void *const *args)
{
    (void)name, (void)args;
}

/* A burst is five GEMMs, or as many as the power limit allows time for. */
UNIT_TEST(test_gemms_of_a_burst)
{
    static const struct {
        const char *hold;
        double launch_s;
        uint64_t want;
    } rows[] = {{"burst", 1e-6, 5}, {"burst", 1e-3, 5}, {"burst", 0.03, 3}, {"burst", 3, 1}, {"sustained", 10, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[120];
        struct toy t;
        struct toy_trial v;
        toy_init_sm90(&t, nothing);
        t.free_bytes = UINT64_C(1) << 30;
        t.launch_s = rows[i].launch_s;
        snprintf(axes, sizeof axes, "path=naive type=f32 size=64 operands=random hold=%s", rows[i].hold);
        toy_prepare(&t, &as_probe_matmul, axes, &v, NULL);
        assert_int_equal(v.tc.min_reps, rows[i].want);
        toy_finish(&as_probe_matmul, &v);
    }
}

static const double *clocks; /* successive clock readings; the last one repeats */
static unsigned looks;

static enum as_status clock_of(struct as_device *dev, double *hz, struct as_error *err)
{
    (void)dev, (void)err;
    *hz = *clocks;
    clocks += clocks[1] > 0;
    looks++;
    return AS_OK;
}

/* A burst starts as soon as the clock has recovered, even if it stays below the specified clock. The clock is read
 * right after the burst. */
UNIT_TEST(test_rest_before_a_burst)
{
    static const struct {
        double clocks[5], highest;
        unsigned least, most; /* clock readings: a slow machine has fewer */
        double of_sample;     /* 0: the pause reached its maximum length */
    } rows[] = {
        {{1.98e9, 1.6e9, 0}, 2e9, 2, 2, 1.6e9},
        {{1.2e9, 0}, 2e9, 2, 3, 1.2e9},
        {{1.6e9, 0}, 0, 1, 1, 1.6e9},
        {{1.5e9, 1.7e9, 1.99e9, 0}, 2e9, 2, 4, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s;
        toy_init_sm90(&t, nothing);
        struct as_device_ops ops = *t.dev.device;
        ops.clock = clock_of;
        t.dev.device = &ops;
        t.dev.info.clock_max_hz = rows[i].highest;
        t.free_bytes = UINT64_C(1) << 30;
        t.launch_s = 1e-6;
        clocks = rows[i].clocks;
        looks = 0;
        toy_prepare(&t, &as_probe_matmul, "path=naive type=f32 size=64 operands=random hold=burst", &v, NULL);
        assert_int_equal(as_probe_matmul.sample(v.state, 5, &s, NULL), AS_OK);
        assert_in_range(looks, rows[i].least, rows[i].most);
        if (rows[i].of_sample > 0)
            assert_true(s.clock_hz == rows[i].of_sample);
        toy_finish(&as_probe_matmul, &v);
    }
}

UNIT_TEST(test_cpu)
{
    static const char *const operands[] = {"random", "zero"};
    for (size_t i = 0; i < 2; i++) {
        char axes[120];
        struct real r;
        snprintf(axes, sizeof axes, "allocator=malloc path=tiled type=f32 size=256 operands=%s hold=burst",
                 operands[i]);
        if (real_trial(&as_probe_matmul, "cpu", axes, 2, 1, &r))
            assert_true(r.sample.value > 0 && r.sample.seconds > 0);
    }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_gemms_of_a_burst),
        cmocka_unit_test(test_rest_before_a_burst),
        cmocka_unit_test(test_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
