/* Probe async_copy: which cells apply; a copy that is read before it arrived is rejected, on a toy device with a ring
 * of its own; and trials on OpenCL where available. */
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_async_copy;

static enum as_applies applies(const struct toy *t, const char *axes, const char *why)
{
    struct as_error err = {0};
    enum as_applies is = toy_applies(t, &as_probe_async_copy, axes, &err);
    if (why)
        assert_non_null(strstr(err.text, why));
    return is;
}

UNIT_TEST(test_applies)
{
    static const char bulk[] = "what=bandwidth path=bulk level=L2 tile=8192 stages=4",
                      to_lds[] = "what=bandwidth path=to_lds level=L2 tile=8192 stages=2",
                      issue[] = "what=issue path=load level=L2 tile=1024 stages=8",
                      loads[] = "what=bandwidth path=load level=L2 tile=8192 stages=4";
    struct toy t;
    kernel_timer_toy(&t);
    strcpy(t.dev.info.dialect, "cuda");
    strcpy(t.dev.info.arch, "sm_80");
    assert_int_equal(applies(&t, bulk, "from sm_90 on, this is sm_80"), AS_INAPPLICABLE);
    strcpy(t.dev.info.arch, "sm_90");
    assert_int_equal(applies(&t, bulk, NULL), AS_APPLIES);
    assert_int_equal(applies(&t, to_lds, "this device has no path"), AS_PRUNED);
    assert_int_equal(applies(&t, loads, NULL), AS_APPLIES);
    assert_int_equal(applies(&t, "what=bandwidth path=bulk level=L2 tile=8192 stages=8", "shared memory"), AS_PRUNED);
    assert_int_equal(applies(&t, "what=bandwidth path=bulk level=L2 tile=8192 stages=3", "powers of 2"), AS_PRUNED);
    assert_int_equal(applies(&t, "what=latency path=bulk level=L2 tile=8192 stages=2", "one copy"), AS_PRUNED);
    assert_int_equal(applies(&t, "what=latency path=bulk level=memory tile=8192 stages=1", "one copy"), AS_PRUNED);
    assert_int_equal(applies(&t, "what=issue path=bulk level=L2 tile=1024 stages=1", "2 stages"), AS_PRUNED);
    assert_int_equal(applies(&t, "what=issue path=bulk level=memory tile=1024 stages=8", "level=L2"), AS_PRUNED);
    assert_int_equal(applies(&t, issue, NULL), AS_APPLIES);
    t.dev.info.warp = 1;
    assert_int_equal(applies(&t, issue, "one after another"), AS_INAPPLICABLE);
    t.dev.info.warp = 32;
    t.dev.info.workgroup_shared = 227 << 10;
    assert_int_equal(applies(&t, "what=bandwidth path=load level=L2 tile=32768 stages=4", "in registers"), AS_PRUNED);
    strcpy(t.dev.info.dialect, "hip");
    strcpy(t.dev.info.arch, "gfx1100");
    assert_int_equal(applies(&t, to_lds, "needs gfx9, this is gfx1100"), AS_INAPPLICABLE);
    strcpy(t.dev.info.arch, "gfx942");
    assert_int_equal(applies(&t, to_lds, NULL), AS_APPLIES);
    assert_int_equal(applies(&t, bulk, "this device has no path"), AS_PRUNED);
}

/* ---- a ring whose copies arrive when they are waited for ---- */

enum { SIZE = 8192, STAGES = 4, WORDS = SIZE / 4, THREADS = 256, ROUND_NS = 400 };

static struct toy toy;
static bool early; /* a tile is read before its copy arrived */

static uint32_t number(void *const *args, size_t i)
{
    uint32_t n;
    memcpy(&n, args[i], sizeof n);
    return n;
}

static uint32_t read_tile(const uint32_t *tile, uint32_t thread, uint32_t piece)
{
    return tile[(thread + piece * THREADS) % WORDS] * (2 * thread + 1);
}

static void run_group(void *const *args, uint32_t group, uint32_t tiles[STAGES][WORDS])
{
    uint32_t *sums = (uint32_t *)args[2] + (size_t)group * THREADS;
    const uint32_t mask = number(args, 5), first = number(args, 7) + group * number(args, 8),
                   turns = STAGES * (number(args, 9) + number(args, 10)), stride = 1 + group * number(args, 11);
    memset(sums, 0, THREADS * sizeof *sums);
    for (uint32_t t = 0; t < turns; t++) {
        const uint32_t piece = (first + t * stride) & mask;
        uint32_t *tile = tiles[t % STAGES];
        for (int pass = 0; pass < 2; pass++) {
            if (pass == (early ? 1 : 0))
                memcpy(tile, (const char *)args[3] + (size_t)piece * SIZE, SIZE);
            for (uint32_t thread = 0; thread < THREADS && pass == (early ? 0 : 1); thread++)
                sums[thread] += read_tile(tile, thread, piece);
        }
    }
}

static void run(const char *name, void *const *args)
{
    static uint32_t tiles[STAGES][WORDS];
    if (strcmp(name, "copy") != 0)
        return;
    for (uint32_t g = 0; g < toy.workgroups; g++)
        run_group(args, g, tiles);
    toy.launch_s = 1e-5 + (number(args, 9) + number(args, 10)) * ROUND_NS * 1e-9;
}

/* What a warp's instructions cost: the toy takes so long for each, beside the rest of a round. */
enum { ISSUE_STAGES = 8, ISSUE_TILE = 1024, ISSUE_NS = 3 };

static void run_issue(const char *name, void *const *args)
{
    if (strcmp(name, "copy") != 0)
        return;
    const uint32_t rounds = number(args, 9) + number(args, 10), copies = number(args, 4), first = number(args, 7);
    const uint32_t words = ISSUE_TILE / 4, threads = 32;
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint32_t *sum = (uint32_t *)args[2] + thread;
        *sum = 0;
        for (uint32_t t = 0; t < rounds * ISSUE_STAGES; t++) {
            const uint32_t piece = (first + t) & number(args, 5), word = (thread + piece * threads) % words;
            if (t % ISSUE_STAGES < copies - (early ? 1 : 0))
                *sum += ((uint32_t *)args[3])[(size_t)piece * words + word] * (2 * thread + 1);
        }
    }
    toy.launch_s = 1e-5 + rounds * (ROUND_NS + copies * ISSUE_NS) * 1e-9;
}

/* Does the check pass? value: that of the sample with most repetitions. */
static bool is_right(void (*kernel)(const char *name, void *const *args), const char *axes, bool read_early,
                     double *value)
{
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    char why[160];
    early = read_early;
    kernel_timer_toy(&toy);
    toy.kernel = kernel;
    toy.dev.info.warp = 32;
    toy.dev.info.compute_units = 2;
    toy.dev.info.caches_n = 1;
    toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 4 << 20};
    toy_prepare(&toy, &as_probe_async_copy, axes, &v, NULL);
    for (uint64_t reps = 1; reps < 200; reps = 5 * reps + 1)
        assert_int_equal(as_probe_async_copy.sample(v.state, reps, &out, &err), AS_OK);
    *value = out.value;
    const bool right = as_probe_async_copy.check(v.state, why, sizeof why);
    assert_non_null(strstr(why, right ? "those of its piece" : "other words"));
    toy_finish(&as_probe_async_copy, &v);
    assert_int_equal(toy.live, 0);
    return right;
}

/* A tile is 1 KiB: two instructions of a warp. */
UNIT_TEST(test_issue)
{
    static const char axes[] = "what=issue path=load level=L2 tile=1024 stages=8";
    double ns;
    assert_true(is_right(run_issue, axes, false, &ns));
    assert_true(fabs(ns - ISSUE_NS / 2.0) < 1e-3);
    assert_false(is_right(run_issue, axes, true, &ns));
}

/* A device whose kernels have no clock, and whose fused multiply-adds per cycle are published. */
enum { FMA = 128, TICK_STEPS = 192, TICK_CYCLES = 1024 * 4 / FMA, LATENCY_TILE = 1024, LATENCY_NS = 700 };
static const double CLOCK_HZ = 1.5e9;

static bool flat; /* operations take no time, so that none tell the clock */

/* A round takes so long, whatever a launch takes. */
static void run_unclocked(const char *name, void *const *args)
{
    uint32_t turns;
    const bool is_whole = strcmp(name, "whole_body") == 0;
    if (is_whole || strcmp(name, "half_body") == 0) {
        memcpy(&turns, args[6], sizeof turns);
        toy.launch_s = 2e-5 + !flat * turns * (TICK_STEPS / (is_whole ? 1 : 2.0)) * TICK_CYCLES / CLOCK_HZ;
        return;
    }
    if (strcmp(name, "copy") != 0)
        return;
    const uint32_t rounds = number(args, 9) + number(args, 10), words = LATENCY_TILE / 4, threads = LATENCY_TILE / 16;
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint32_t *sum = (uint32_t *)args[2] + thread;
        *sum = 0;
        for (uint32_t t = early ? 1 : 0; t < rounds; t++) {
            const uint32_t piece = (number(args, 7) + t) & number(args, 5), word = (thread + piece * threads) % words;
            *sum += ((uint32_t *)args[3])[(size_t)piece * words + word] * (2 * thread + 1);
        }
    }
    toy.launch_s = 5e-5 + rounds * LATENCY_NS * 1e-9;
}

static const char latency_axes[] = "what=latency path=load level=L2 tile=1024 stages=1";

static void unclocked_toy(void)
{
    early = flat = false;
    kernel_timer_toy(&toy);
    toy.dev.info.capabilities = AS_CAP_SOURCE;
    toy.dev.info.unit_fma = FMA;
    toy.dev.info.is_host_cpu = false;
    toy.dev.info.caches_n = 1;
    toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 4 << 20};
    strcpy(toy.dev.info.dialect, "metal");
    toy.kernel = run_unclocked;
}

/* By launches of two lengths, in cycles of the calibrated clock; as a bound, since a round has more than the copy. */
UNIT_TEST(test_latency_without_a_clock)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        struct toy_trial v;
        struct as_error err = {0};
        struct as_sample out;
        char why[160];
        unclocked_toy();
        early = wrong;
        assert_int_equal(applies(&toy, latency_axes, NULL), AS_APPLIES);
        toy_prepare(&toy, &as_probe_async_copy, latency_axes, &v, NULL);
        assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"at_most\":1"));
        assert_null(strstr(as_buf_get(&v.tc.detail), "clocked"));
        assert_int_equal(as_probe_async_copy.sample(v.state, 1000, &out, &err), AS_OK);
        assert_true(fabs(out.value - LATENCY_NS) < 1e-3);
        assert_true(fabs(out.clock_hz - CLOCK_HZ) < 1e-6 * CLOCK_HZ);
        assert_true(as_probe_async_copy.check(v.state, why, sizeof why) == !wrong);
        toy_finish(&as_probe_async_copy, &v);
        assert_int_equal(toy.live, 0);
        toy.dev.info.warp = 1;
        assert_int_equal(applies(&toy, latency_axes, "one after another"), AS_INAPPLICABLE);
    }
}

/* Where operations do not tell the clock, from the start or in a sample, the time counts all the same. */
UNIT_TEST(test_latency_without_calibration)
{
    for (int from_the_start = 0; from_the_start < 2; from_the_start++) {
        struct toy_trial v;
        struct as_error err = {0};
        struct as_sample out;
        unclocked_toy();
        flat = from_the_start;
        toy_prepare(&toy, &as_probe_async_copy, latency_axes, &v, NULL);
        assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"at_most\":1"));
        flat = true;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(as_probe_async_copy.sample(v.state, 1000, &out, &err), AS_OK);
            assert_true(fabs(out.value - LATENCY_NS) < 1e-3);
            assert_true(isnan(out.clock_hz));
        }
        toy_finish(&as_probe_async_copy, &v);
        assert_int_equal(toy.live, 0);
    }
}

UNIT_TEST(test_early_read)
{
    static const char axes[] = "what=bandwidth path=load level=L2 tile=8192 stages=4";
    double gb_s;
    assert_true(is_right(run, axes, false, &gb_s));
    assert_true(fabs(gb_s - (double)SIZE * STAGES / ROUND_NS) < 1e-6 * gb_s);
    assert_false(is_right(run, axes, true, &gb_s));
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(&as_probe_async_copy, AS_CAP_SOURCE, "what=bandwidth path=load level=L2 tile=8192 stages=1");
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"what=latency path=load level=L2 tile=1024 stages=1", 50},
        {"what=issue path=load level=L2 tile=1024 stages=8", 50},
        {"what=bandwidth path=load level=L2 tile=1024 stages=2", 50},
        {"what=bandwidth path=load level=L2 tile=4096 stages=4", 50},
        {"what=bandwidth path=load level=L2 tile=16384 stages=1", 20},
    };
    kernel_timer_trials("async_copy", trials, sizeof trials / sizeof *trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_early_read),
        cmocka_unit_test(test_issue),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_latency_without_a_clock),
        cmocka_unit_test(test_latency_without_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
