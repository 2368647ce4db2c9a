/* Probe latency: which cells apply, trials on a toy device, and on OpenCL where available. lib/chase has its own
 * tests. */
#include "tests/probes/chase_play.h"
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_latency;

static const struct as_queue_ops *toy_queue;

/* A step takes STEP_NS, and a launch 1 us more. */
static enum as_status timed_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                   struct as_error *err)
{
    u64 before = steps_made;
    enum as_status st = toy_queue->launch(dev, l, out, err);
    out->host_s = 1e-6 + STEP_NS * 1e-9 * (double)(steps_made - before);
    return st;
}

/* If the kernel has no clock, the time of a launch with only the warm-up is subtracted. */
UNIT_TEST(test_control_is_subtracted)
{
    struct play p;
    struct toy_trial v;
    struct as_queue_ops queue;
    struct as_sample out;
    toy_init(&p.toy, AS_CAP_SOURCE);
    p.toy.kernel = run_kernel;
    p.toy.dev.info.caches_n = 1; /* the chase is beyond it: no clock is sought */
    p.toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 16 << 10};
    toy_queue = p.toy.dev.queue;
    queue = *toy_queue;
    queue.launch = timed_launch;
    p.toy.dev.queue = &queue;
    toy_prepare(&p.toy, &as_probe_latency, "size=65536 pattern=random allocator=toy stride=64", &v, NULL);
    assert_int_equal(as_probe_latency.sample(v.state, 5, &out, NULL), AS_OK);
    assert_true(fabs(out.value - STEP_NS) < 1e-6);
    assert_true(fabs(out.seconds - 5 * AS_CHASE_STEPS * STEP_NS * 1e-9) < 1e-12);
    assert_true(isnan(out.clock_hz));
    toy_finish(&as_probe_latency, &v);
    assert_int_equal(p.toy.live, 0);
}

enum { FMA = 128, TICK_STEPS = 192, TICK_CYCLES = 1024 * 4 / FMA };
#define CLOCK_HZ 1.5e9
static struct toy *clocked_toy;
static bool is_tick, flat; /* flat: operations take no time */

static void run_clocked(const char *name, void *const *args)
{
    uint32_t turns;
    is_tick = strcmp(name, "whole_body") == 0 || strcmp(name, "half_body") == 0;
    if (!is_tick) {
        run_kernel(name, args);
        return;
    }
    memcpy(&turns, args[6], sizeof turns);
    clocked_toy->launch_s =
        2e-5 + !flat * turns * (TICK_STEPS / (strcmp(name, "whole_body") ? 2.0 : 1)) * TICK_CYCLES / CLOCK_HZ;
}

static enum as_status clocked_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                     struct as_error *err)
{
    u64 before = steps_made;
    enum as_status st = toy_queue->launch(dev, l, out, err);
    out->host_s = is_tick ? clocked_toy->launch_s : 1e-6 + STEP_NS * 1e-9 * (double)(steps_made - before);
    return st;
}

/* In the caches of a device whose kernels have no counter the clock comes by calibration; beyond them, and where
 * operations do not tell it, there is none. */
UNIT_TEST(test_clock_by_calibration)
{
    static const struct {
        const char *axes;
        bool is_flat;
        double hz;
    } cases[] = {{"size=65536 pattern=random allocator=toy stride=64", false, CLOCK_HZ},
                 {"size=65536 pattern=random allocator=toy stride=64", true, NAN},
                 {"size=4194304 pattern=random allocator=toy stride=1024", false, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct play p;
        struct toy_trial v;
        struct as_queue_ops queue;
        struct as_sample out;
        toy_init(&p.toy, AS_CAP_SOURCE);
        p.toy.kernel = run_clocked;
        p.toy.dev.info.warp = 32;
        p.toy.dev.info.threads = 1024;
        p.toy.dev.info.unit_fma = FMA;
        p.toy.dev.info.is_host_cpu = false;
        p.toy.dev.info.caches_n = 1;
        p.toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20};
        strcpy(p.toy.dev.info.dialect, "metal");
        clocked_toy = &p.toy;
        flat = cases[i].is_flat;
        toy_queue = p.toy.dev.queue;
        queue = *toy_queue;
        queue.launch = clocked_launch;
        p.toy.dev.queue = &queue;
        toy_prepare(&p.toy, &as_probe_latency, cases[i].axes, &v, NULL);
        assert_int_equal(as_probe_latency.sample(v.state, 5, &out, NULL), AS_OK);
        assert_true(fabs(out.value - STEP_NS) < 1e-6);
        assert_true(isnan(cases[i].hz) ? isnan(out.clock_hz) : fabs(out.clock_hz - CLOCK_HZ) < 1e-6 * CLOCK_HZ);
        toy_finish(&as_probe_latency, &v);
        assert_int_equal(p.toy.live, 0);
    }
}

UNIT_TEST(test_trial)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {.value = NAN};
    struct as_error err = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, &as_probe_latency, "size=100 pattern=random stride=64", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_latency, "size=1000 pattern=random stride=12", &err), AS_INAPPLICABLE);
    toy_prepare(&t, &as_probe_latency, "size=40000 pattern=page allocator=toy stride=64", &v, NULL);
    assert_int_equal(as_probe_latency.sample(v.state, 10, &s, &err), AS_OK);
    assert_true(s.value > 0);
    assert_true(as_probe_latency.check(v.state, why, sizeof why));
    toy_finish(&as_probe_latency, &v);
    assert_int_equal(t.live, 0);
    toy_check_no_memory(&as_probe_latency, AS_CAP_HOST_KERNELS, "size=40000 pattern=page allocator=toy stride=64");
}

static const unsigned persistent_kinds[] = {AS_CAP_HOST_KERNELS, AS_CAP_SOURCE | AS_CAP_ASYNC};

static const char persistent_axes[] = "size=65536 pattern=random allocator=toy stride=64 instrument=persistent";

UNIT_TEST(test_persistent_trial)
{
    for (size_t k = 0; k < 2; k++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        char why[160] = "";
        toy_init(&t, persistent_kinds[k]);
        t.kernel = run_kernel;
        assert_int_equal(toy_applies(&t, &as_probe_latency, persistent_axes, &err), AS_APPLIES);
        toy_prepare(&t, &as_probe_latency, persistent_axes, &v, NULL);
        assert_true(v.tc.sample_s >= 5e-3 && v.tc.sample_s <= 0.5);
        assert_int_equal(as_probe_latency.sample(v.state, 10, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.value * 10 * AS_CHASE_COUNTED <= s.seconds * 1e9 * (1 + 1e-9));
        assert_true(as_probe_latency.check(v.state, why, sizeof why));
        toy_finish(&as_probe_latency, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_persistent_chase_is_unsupported)
{
    static const struct {
        unsigned capabilities, threads;
        bool coherent;
        const char *why; /* NULL: it can */
    } cases[] = {
        {AS_CAP_HOST_KERNELS, 2, false, NULL},
        {AS_CAP_HOST_KERNELS, 1, true, "is bound to one"},
        {AS_CAP_HOST_KERNELS | AS_CAP_SIMULATED, 2, true, "simulated"},
        {AS_CAP_SOURCE | AS_CAP_ASYNC, 1, true, NULL},
        {AS_CAP_SOURCE | AS_CAP_ASYNC, 1, false, "do not see each other"},
        {AS_CAP_SOURCE, 1, true, "do not see each other"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct as_error err = {0};
        toy_init(&t, cases[i].capabilities);
        t.dev.info.threads = cases[i].threads;
        t.dev.info.allocators[0].coherent = cases[i].coherent;
        enum as_applies is = toy_applies(&t, &as_probe_latency, persistent_axes, &err);
        assert_int_equal(is, cases[i].why ? AS_INAPPLICABLE : AS_APPLIES);
        assert_true(!cases[i].why || strstr(err.text, cases[i].why));
    }
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"size=65536 pattern=page allocator=clCreateBuffer stride=64", 100},
        {"size=65536 pattern=random allocator=clCreateBuffer stride=64 instrument=persistent", 100},
        {"size=8388608 pattern=random allocator=clCreateBuffer stride=96", 100},
    };
    kernel_timer_trials("latency", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_is_subtracted),
        cmocka_unit_test(test_clock_by_calibration),
        cmocka_unit_test(test_trial),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_persistent_trial),
        cmocka_unit_test(test_persistent_chase_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
