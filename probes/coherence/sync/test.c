/* Probe sync: which cells apply, every kernel on OpenCL where available, and a toy device whose updates go wrong. */
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_sync;

#define CELL(op, path, result, memory, elements, threads)                                                              \
    "op=" op " path=" path " result=" result " memory=" memory " elements=" elements " threads=" threads               \
    " compute_units=every"

UNIT_TEST(test_applies)
{
    static const struct {
        const char *axes;
        enum as_applies applies;
    } cells[] = {{CELL("max", "native", "kept", "global", "1024", "256"), AS_APPLIES},
                 {CELL("max", "native", "kept", "global", "1000", "256"), AS_PRUNED},
                 {CELL("max", "native", "kept", "shared", "4096", "256"), AS_APPLIES},
                 {CELL("max", "two_words", "kept", "shared", "4096", "256"), AS_INAPPLICABLE},
                 {CELL("barrier", "native", "dropped", "shared", "1", "1024"), AS_APPLIES},
                 {CELL("barrier", "native", "dropped", "global", "1", "1024"), AS_PRUNED},
                 {CELL("barrier", "two_words", "dropped", "shared", "1", "1024"), AS_PRUNED}};
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_int_equal(toy_applies(&t, &as_probe_sync, cells[i].axes, &err), cells[i].applies);
    t.dev.info.is_host_cpu = true;
    assert_int_equal(toy_applies(&t, &as_probe_sync, cells[4].axes, &err), AS_INAPPLICABLE);
}

/* Metal's 64-bit atomics are known before anything runs: updates of device memory by newer GPUs, without a result. */
UNIT_TEST(test_metal)
{
    static const struct {
        const char *arch, *axes, *why; /* NULL: it applies */
    } cells[] = {
        {"apple8", CELL("max", "native", "dropped", "global", "1024", "256"), NULL},
        {"apple10", CELL("min", "native", "dropped", "global", "1", "256"), NULL},
        {"apple7", CELL("max", "native", "dropped", "global", "1024", "256"), "before family apple8"},
        {"mac2", CELL("max", "native", "dropped", "global", "1024", "256"), "before family apple8"},
        {"apple9", CELL("max", "native", "kept", "global", "1024", "256"), "return no value"},
        {"apple9", CELL("max", "native", "dropped", "shared", "1024", "256"), "in device memory only"},
        {"apple9", CELL("max", "two_words", "dropped", "global", "1024", "256"), "a lock needs acquire and release"},
        {"apple7", CELL("barrier", "native", "dropped", "shared", "1", "256"), NULL},
    };
    struct toy t;
    kernel_timer_toy(&t);
    snprintf(t.dev.info.dialect, sizeof t.dev.info.dialect, "metal");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct as_error err = {0};
        snprintf(t.dev.info.arch, sizeof t.dev.info.arch, "%s", cells[i].arch);
        const enum as_applies applies = toy_applies(&t, &as_probe_sync, cells[i].axes, &err);
        assert_int_equal(applies, cells[i].why ? AS_INAPPLICABLE : AS_APPLIES);
        if (cells[i].why && !strstr(err.text, cells[i].why))
            fail_msg("%s %s: %s", cells[i].arch, cells[i].axes, err.text);
    }
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {CELL("max", "native", "kept", "global", "1024", "64"), 5000},
        {CELL("min", "native", "dropped", "global", "1", "64"), 5000},
        {CELL("max", "two_words", "kept", "global", "1024", "64"), 5000},
        {CELL("min", "two_words", "dropped", "global", "16", "1"), 200000},
        {CELL("max", "native", "dropped", "shared", "1024", "64"), 5000},
        {CELL("min", "native", "kept", "shared", "16", "64"), 5000},
        {CELL("max", "two_words", "dropped", "shared", "16", "64"), 5000},
        {CELL("min", "two_words", "kept", "shared", "1", "64"), 5000},
        {CELL("barrier", "native", "dropped", "shared", "1", "64"), 5000},
    };
    kernel_timer_trials("sync", trials, sizeof trials / sizeof *trials);
}

/* ---- a toy that updates 16 elements by its own loop ---- */

enum { ELEMENTS = 16, THREADS = 4, UPDATE_NS = 250 };
static struct toy toy;
static enum { RIGHT, SKIPS_LAST, IS_MINIMUM, OFF_BY_ONE_ELEMENT, NOT_ABLE } fault;

static void toy_updates(uint64_t *array, uint64_t seed, uint32_t turns, uint64_t low, uint32_t rise)
{
    const size_t threads = toy.workgroups * THREADS;
    for (uint64_t thread = 0; thread < threads; thread++) {
        uint64_t x = (seed ^ (thread + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
        for (uint32_t t = 0; t < turns; t++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            uint64_t *at = &array[((x >> 40) + (fault == OFF_BY_ONE_ELEMENT)) % ELEMENTS];
            const uint64_t value = (uint64_t)rise * (t + 1) << 31 | (x >> 1 & low);
            if (!(fault == SKIPS_LAST && thread + 1 == threads) && (*at < value) == (fault != IS_MINIMUM))
                *at = value;
        }
    }
}

static void run(const char *name, void *const *args)
{
    if (strcmp(name, "able") == 0)
        *(uint32_t *)args[0] = fault != NOT_ABLE;
    if (strcmp(name, "updates") != 0)
        return;
    uint64_t seed, low;
    uint32_t turns, rise;
    memcpy(&seed, args[2], sizeof seed);
    memcpy(&turns, args[4], sizeof turns);
    memcpy(&low, args[5], sizeof low);
    memcpy(&rise, args[6], sizeof rise);
    assert_true(turns <= 40 || rise == 1); /* timed updates go on to change elements */
    toy_updates(args[1], seed, turns, low, rise);
    toy.launch_s = 10e-6 + turns * UPDATE_NS * 1e-9;
}

UNIT_TEST(test_wrong)
{
    static const char axes[] = CELL("max", "native", "dropped", "global", "16", "4");
    for (int f = RIGHT; f <= NOT_ABLE; f++) {
        struct toy_trial v;
        struct as_error err = {0};
        struct as_sample out;
        char why[160];
        fault = f;
        kernel_timer_toy(&toy);
        toy.kernel = run;
        toy.dev.info.capabilities = AS_CAP_SOURCE;
        toy.dev.info.compute_units = 3;
        const enum as_status st = toy_prepare(&toy, &as_probe_sync, axes, &v, &err);
        assert_int_equal(st, f == NOT_ABLE ? AS_UNSUPPORTED : AS_OK);
        if (f == NOT_ABLE)
            assert_non_null(strstr(err.text, "no 64-bit atomic minimum and maximum"));
        for (uint64_t reps = 10; reps <= 1000 && !st; reps *= 10) {
            assert_int_equal(as_probe_sync.sample(v.state, reps, &out, &err), AS_OK);
            assert_true(out.value > UPDATE_NS - 1e-6 && out.value < UPDATE_NS + 1e-6);
            assert_string_equal(out.further[0].name, "rate");
            assert_true(fabs(out.further[0].value - 48e6) < 1);
        }
        if (!st)
            assert_int_equal(as_probe_sync.check(v.state, why, sizeof why), f == RIGHT);
        toy_finish(&as_probe_sync, &v);
        assert_int_equal(toy.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_metal),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
