/* Probe mix on this machine's OpenCL device: when loop overhead counts. */
#include "lib/ops/trial.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>

extern const struct as_probe as_probe_mix;

static struct as_opened opened;

static int open_device(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_device_open("opencl:0", &opened, &err))
        print_message("skipped: %s\n", err.text);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    as_device_close(&opened);
    return 0;
}

static struct as_trial_context trial_of(uint64_t seed)
{
    return (struct as_trial_context){.dev = &opened.device, .seed = seed, .limit = NAN};
}

/* With a given number of steps, the loop around them counts too. */
UNIT_TEST(test_with_loop)
{
    static const char *const axes_of[] = {"mix=iadd32 ilp=2 steps=0", "mix=iadd32 ilp=2 steps=24"};
    if (!opened.backend)
        skip();
    for (size_t i = 0; i < 2; i++) {
        struct as_error err = {0};
        struct as_axes axes;
        struct as_trial_context tc = trial_of(7);
        struct as_sample sample = {.value = NAN};
        void *made = NULL;
        toy_axes(&axes, axes_of[i]);
        tc.axes = &axes;
        enum as_status st = as_probe_prepare(&as_probe_mix, &tc, &made, &err);
        if (!st)
            st = as_probe_mix.sample(made, 1 << 16, &sample, &err);
        if (st && !real_was_disturbed(st, &err))
            fail_msg("%s", err.text);
        const struct as_chains_time *t = &((const struct as_ops_trial *)made)->last;
        if (!st) {
            assert_true(sample.value == t->cycles / t->sequences && sample.value > 0);
            assert_int_equal(t->cycles == t->raw, i == 1);
        }
        as_probe_finish(&as_probe_mix, made);
        as_buf_finish(&tc.detail);
    }
}

/* The device lacks an operation once, not in every sequence with it. */
UNIT_TEST(test_lacking_operations)
{
    static const struct {
        const char *axes;
        enum as_applies applies;
    } rows[] = {{"mix=ixor32 ilp=1 warps=32 operands=0 steps=0", AS_INAPPLICABLE},
                {"mix=ixor32 ilp=2 warps=32 operands=0 steps=0", AS_PRUNED},
                {"mix=ixor32+iadd32 ilp=1 warps=32 operands=0 steps=0", AS_PRUNED},
                {"mix=sin_pt_1 ilp=0 warps=32 operands=0 steps=0", AS_INAPPLICABLE},
                {"mix=sin_pt_1+sin_pt_2 ilp=0 warps=32 operands=0 steps=0", AS_PRUNED},
                {"mix=xor32+iadd32 ilp=1 warps=32 operands=0 steps=0", AS_APPLIES}};
    struct toy gpu;
    toy_init_sm90(&gpu, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err = {0};
        if (toy_applies(&gpu, &as_probe_mix, rows[i].axes, &err) != rows[i].applies)
            fail_msg("%s: %s", rows[i].axes, err.text);
        assert_true(rows[i].applies == AS_APPLIES || err.text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lacking_operations),
        cmocka_unit_test(test_with_loop),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
