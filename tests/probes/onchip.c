/* Kernels that time themselves where there is an OpenCL device, whatever it is: walks end where they must and sums are
 * right; and to which devices which cells belong. */
#include "probes/onchip/onchip/onchip.h"
#include "toy_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A device on which nothing tells cycles or units ends a trial that needs them with one of these. */
static bool is_excused(const char *text)
{
    static const char *const excuses[] = {"no cycle counter", "no unit id", "size of a kernel's code",
                                          "kernels have no unit id", "cannot request dynamic shared memory"};
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (strstr(text, excuses[i]))
            return true;
    return false;
}

struct trial {
    const char *probe, *axes;
    uint64_t reps;
};
static const struct trial trials[] = {
    {"latency", "size=65536 pattern=page allocator=clCreateBuffer stride=64", 100},
    {"latency", "size=65536 pattern=random allocator=clCreateBuffer stride=64 instrument=persistent", 100},
    {"latency", "size=8388608 pattern=random allocator=clCreateBuffer stride=96", 100},
    {"onchip", "what=global size=65536 stride=64 local=0", 100},
    {"onchip", "what=global size=8388608 stride=96 local=0", 100},
    {"onchip", "what=readonly size=4096 stride=128 local=0", 100},
    {"onchip", "what=constant size=16384 stride=64 local=0", 100},
    {"onchip", "what=local size=4096 stride=64 local=0", 100},
    {"onchip", "what=code size=4096 stride=64 local=0", 10},
    {"onchip_lines", "what=fetch level=L1 distance=32 lines=0", 256},
    {"onchip_lines", "what=fetch level=L2 distance=64 lines=0", 256},
    {"onchip_lines", "what=ways level=L1 distance=4096 lines=9", 100},
    {"onchip_bandwidth", "what=own size=32768 width=128 stride=1 units=every", 3},
    {"onchip_bandwidth", "what=own size=65536 width=32 stride=3 units=every", 3},
    {"onchip_bandwidth", "what=common size=4194304 width=64 stride=1 units=every", 2},
    {"onchip_bandwidth", "what=local size=0 width=32 stride=33 units=every", 5},
    {"onchip_bandwidth", "what=local size=0 width=128 stride=2 units=every", 5},
    {"onchip_units", "what=near unit=0 filler=0", 1},
};

static void trial(struct as_device *dev, const struct trial *v)
{
    const struct as_probe *probe = as_probe_find(v->probe);
    struct as_axes axes;
    struct as_error err = {0};
    struct as_sample out = {.value = NAN};
    void *state = NULL;
    char why[160] = "";
    toy_axes(&axes, v->axes);
    struct as_trial_context vc = {.dev = dev,
                                  .axes = &axes,
                                  .seed = 7,
                                  .deadline = as_now() + 60,
                                  .limit = NAN,
                                  .min_reps = 1,
                                  .max_reps = UINT64_C(1) << 40};
    enum as_status s = probe->prepare(&vc, &state, &err);
    bool prepared = s == AS_OK;
    for (int i = 0; i < 2 && !s; i++)
        s = probe->sample(state, v->reps, &out, &err);
    if (s && !is_excused(err.text))
        fail_msg("%s %s: %s", v->probe, v->axes, err.text);
    if (!s)
        assert_true(isfinite(out.value) && out.value > 0 && out.seconds > 0);
    if (prepared && !probe->check(state, why, sizeof why))
        fail_msg("%s %s: %s", v->probe, v->axes, why);
    print_message("%s %s: %s\n", v->probe, v->axes, s ? err.text : why);
    probe->finish(state);
    as_buf_finish(&vc.detail);
}

static void test_runs(void **unused)
{
    struct as_opened opened;
    struct as_error err = {0};
    (void)unused;
    if (as_device_open("opencl:0", &opened, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        trial(&opened.device, &trials[i]);
    as_device_close(&opened);
}

/* The first element of this chain leads to itself: elements hold addresses, and the lowest is that of the first. */
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

/* A walk that goes wrong in one of its places only is found in whichever it is. */
static void test_places(void **unused)
{
    struct as_opened opened;
    struct as_axes axes;
    struct as_error err = {0};
    const struct as_probe *probe = as_probe_find("onchip");
    (void)unused;
    if (as_device_open("opencl:0", &opened, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    opened.device.info.is_host_memory = false; /* as if it had memory of its own */
    toy_axes(&axes, "what=global size=65536 stride=64 local=0");
    for (size_t wrong = 0; wrong <= ONCHIP_PLACES; wrong++) {
        struct as_trial_context vc = {.dev = &opened.device, .axes = &axes, .seed = 7, .deadline = as_now() + 60};
        struct as_sample out = {.value = NAN};
        void *state = NULL;
        char why[160] = "";
        assert_int_equal(probe->prepare(&vc, &state, &err), AS_OK);
        const struct onchip *o = state;
        assert_int_equal(o->places, ONCHIP_PLACES);
        if (wrong < ONCHIP_PLACES)
            plant_loop(&opened.device, o->chains[wrong], 1024, 64);
        assert_int_equal(probe->sample(state, 100, &out, &err), AS_OK);
        assert_int_equal(probe->check(state, why, sizeof why), wrong == ONCHIP_PLACES);
        probe->finish(state);
        as_buf_finish(&vc.detail);
    }
    as_device_close(&opened);
}

/* A walk that is not run ends nowhere, and the check says so. */
static void test_lost(void **unused)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample out;
    struct as_error err = {0};
    char why[160];
    const struct as_probe *probe = as_probe_find("onchip");
    (void)unused;
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.warp = 32;
    t.dev.info.compute_units = 2;
    t.dev.info.is_host_memory = false;
    t.free_bytes = UINT64_C(1) << 30;
    t.lose_launches = 1 << 30;
    assert_int_equal(toy_prepare(&t, probe, "what=global size=65536 stride=64 local=0", &v, &err), AS_OK);
    assert_int_equal(probe->sample(v.state, 10, &out, &err), AS_OK);
    assert_false(probe->check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "unexpected element"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

static enum as_applies applies(const struct toy *t, const char *probe, const char *axes)
{
    struct as_error err = {0};
    return toy_applies(t, as_probe_find(probe), axes, &err);
}

static void test_applies(void **unused)
{
    struct toy t;
    (void)unused;
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_CYCLES);
    t.dev.info.warp = 32;
    t.dev.info.compute_units = 132;
    t.dev.info.threads = 1024;
    t.dev.info.workgroup_shared = 48 << 10;
    t.dev.info.is_host_memory = false;
    assert_int_equal(applies(&t, "onchip", "what=global size=4096 stride=64 local=0"), AS_APPLIES);
    assert_int_equal(applies(&t, "onchip", "what=global size=4096 stride=12 local=0"), AS_INAPPLICABLE);
    assert_int_equal(applies(&t, "onchip", "what=global size=4096 stride=4096 local=0"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip", "what=constant size=131072 stride=64 local=0"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip", "what=local size=65536 stride=64 local=0"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip_lines", "what=fetch level=L2 distance=64 lines=0"), AS_APPLIES);
    assert_int_equal(applies(&t, "onchip_lines", "what=fetch level=L1 distance=20 lines=0"), AS_INAPPLICABLE);
    assert_int_equal(applies(&t, "onchip_lines", "what=ways level=L2 distance=64 lines=4"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip_bandwidth", "what=own size=64 width=128 stride=1 units=every"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip_bandwidth", "what=local size=4096 width=32 stride=1 units=every"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip_bandwidth", "what=own size=32768 width=128 stride=1 units=every"), AS_APPLIES);
    assert_int_equal(applies(&t, "onchip_units", "what=near unit=131 filler=0"), AS_APPLIES);
    assert_int_equal(applies(&t, "onchip_units", "what=near unit=132 filler=0"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip_groups", "threads=64 values=0 local=65536"), AS_PRUNED);
    t.dev.info.is_host_memory = true;
    t.dev.info.warp = 1;
    assert_int_equal(applies(&t, "onchip", "what=global size=4096 stride=64 local=0"), AS_PRUNED);
    assert_int_equal(applies(&t, "onchip", "what=local size=4096 stride=64 local=0"), AS_INAPPLICABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_applies), cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
