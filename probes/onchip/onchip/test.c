/* Probe onchip: which cells apply, lost launches and wrong chains are detected, and on any OpenCL device chases end at
 * the expected line. */
#include "probes/onchip/onchip/onchip.h"
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_onchip;

/* The first element of this chain links to itself: elements hold addresses, and the lowest one belongs to the first
 * element. */
static void plant_loop(struct as_device *dev, struct as_memory *chain, uint64_t elements, uint64_t stride)
{
    struct as_error err;
    uint64_t first = UINT64_MAX, address;
    for (uint64_t i = 0; i < elements; i++) {
        assert_int_equal(dev->memory->read(dev, chain, i * stride, &address, sizeof address, &err), AS_OK);
        first = address < first ? address : first;
    }
    assert_int_equal(dev->memory->write(dev, chain, 0, &first, sizeof first, &err), AS_OK);
}

/* One wrong link is detected, at any place in the chain. */
UNIT_TEST(test_places)
{
    struct as_opened opened;
    struct as_axes axes;
    struct as_error err = {0};
    const struct as_probe *probe = &as_probe_onchip;
    if (as_device_open("opencl:0", &opened, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    opened.device.info.is_host_cpu = false; /* as if it had its own memory */
    toy_axes(&axes, "what=global size=65536 stride=64 shared=0");
    for (size_t wrong = 0; wrong <= ONCHIP_PLACES; wrong++) {
        struct as_trial_context tc = {.dev = &opened.device, .axes = &axes, .seed = 7, .deadline = as_now() + 60};
        struct as_sample out = {.value = NAN};
        void *state = NULL;
        char why[160] = "";
        assert_int_equal(as_probe_prepare(probe, &tc, &state, &err), AS_OK);
        const struct onchip *o = state;
        assert_int_equal(o->places, ONCHIP_PLACES);
        if (wrong < ONCHIP_PLACES)
            plant_loop(&opened.device, o->chains[wrong], 1024, 64);
        assert_int_equal(probe->sample(state, 100, &out, &err), AS_OK);
        assert_int_equal(probe->check(state, why, sizeof why), wrong == ONCHIP_PLACES);
        as_probe_finish(probe, state);
        as_buf_finish(&tc.detail);
    }
    as_device_close(&opened);
}

/* The check fails for a chase that did not run. */
UNIT_TEST(test_lost)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample out;
    struct as_error err = {0};
    char why[160];
    const struct as_probe *probe = &as_probe_onchip;
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.warp = 32;
    t.dev.info.compute_units = 2;
    t.dev.info.is_host_cpu = false;
    t.free_bytes = UINT64_C(1) << 30;
    t.lose_launches = 1 << 30;
    assert_int_equal(toy_prepare(&t, probe, "what=global size=65536 stride=64 shared=0", &v, &err), AS_OK);
    assert_int_equal(probe->sample(v.state, 10, &out, &err), AS_OK);
    assert_false(probe->check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "unexpected element"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=global size=4096 stride=64 shared=0", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=global size=4096 stride=12 shared=0", &err),
                     AS_INAPPLICABLE);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=global size=4096 stride=4096 shared=0", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=constant size=131072 stride=64 shared=0", &err),
                     AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=shared size=65536 stride=64 shared=0", &err), AS_PRUNED);
    snprintf(t.dev.info.dialect, sizeof t.dev.info.dialect, "metal");
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=atomic size=4096 stride=64 shared=0", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "64-bit atomic additions"));
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=global size=4096 stride=64 shared=0", &err), AS_APPLIES);
    t.dev.info.is_host_cpu = true;
    t.dev.info.warp = 1;
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=global size=4096 stride=64 shared=0", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_onchip, "what=shared size=4096 stride=64 shared=0", &err),
                     AS_INAPPLICABLE);
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"what=global size=65536 stride=64 shared=0", 100},   {"what=global size=8388608 stride=96 shared=0", 100},
        {"what=readonly size=4096 stride=128 shared=0", 100}, {"what=constant size=16384 stride=64 shared=0", 100},
        {"what=shared size=4096 stride=64 shared=0", 100},    {"what=ifetch size=4096 stride=64 shared=0", 10},
    };
    kernel_timer_trials("onchip", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_applies), cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
