/* Clocks by calibration, on a toy device whose launch times follow a known clock. */
#include "lib/mma/rate/peak.h"
#include "lib/ops/chains.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <string.h>

enum { STEPS = 240, TICK_STEPS = 192, FMA = 128, OPERATION_CYCLES = 5, TICK_CYCLES = 1024 * 4 / FMA };
static const double LAUNCH_S = 20e-6;

static struct toy toy;
static double hz;
static const void *records;       /* of the operation under test, which is launched first */
static uint32_t tick_turns;       /* of the last launch of a tick */
static double slow_half = 1;      /* how much slower a step of the short body is */
static bool same, slow_half_once; /* once, the long body is not slower than the short one */

static void run(const char *name, void *const *args)
{
    uint32_t turns;
    memcpy(&turns, args[6], sizeof turns);
    records = records ? records : args[0];
    const bool tick = args[0] != records, whole = strcmp(name, "whole_body") == 0;
    const double steps = (tick ? TICK_STEPS : STEPS) / (whole || same ? 1.0 : 2.0);
    toy.launch_s = LAUNCH_S + turns * steps * (tick ? TICK_CYCLES : OPERATION_CYCLES) / hz;
    if (!tick && !whole && slow_half_once) {
        toy.launch_s *= 10;
        slow_half_once = false;
    }
    toy.launch_s += tick || whole ? 0 : (toy.launch_s - LAUNCH_S) * (slow_half - 1);
    tick_turns = tick ? turns : tick_turns;
}

static struct as_chains_desc setup(struct as_trial_context *tc)
{
    toy_init(&toy, AS_CAP_SOURCE);
    toy.kernel = run;
    toy.dev.info.warp = 32;
    toy.dev.info.threads = 1024;
    toy.dev.info.compute_units = 10;
    toy.dev.info.unit_fma = FMA;
    toy.dev.info.is_host_cpu = false;
    strcpy(toy.dev.info.dialect, "metal");
    hz = 1.4e9;
    records = NULL;
    same = slow_half_once = false;
    *tc = (struct as_trial_context){.dev = &toy.dev, .seed = 7, .limit = NAN};
    return (struct as_chains_desc){
        .sequence = as_op_alone(as_op_find("imul32"), 3), .ilp = 1, .steps = STEPS, .threads = 32};
}

static void check_number(double x, double expected)
{
    if (!(fabs(x - expected) <= 1e-6 * expected))
        fail_msg("%.9g instead of %.9g", x, expected);
}

/* Cycles stay constant when the clock changes between samples, and launch overhead does not count. */
UNIT_TEST(test_cycles)
{
    static const double clocks[] = {1.4e9, 0.7e9, 1.578e9};
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_apply(&toy.dev.info, &d, &err), AS_APPLIES);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    assert_non_null(strstr(as_buf_get(&tc.detail), "by calibration"));
    assert_non_null(strstr(as_buf_get(&tc.detail), "128 ffma32"));
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        hz = clocks[i];
        assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
        check_number(t.clock_hz, hz);
        check_number(t.cycles, OPERATION_CYCLES);
    }
    slow_half_once = true; /* a preempted launch is repeated */
    assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
    check_number(t.cycles, OPERATION_CYCLES);
    as_chains_finish(&c);
    as_buf_finish(&tc.detail);
    assert_int_equal(toy.live, 0);
}

/* Warps beyond a workgroup's share their compute unit in equal workgroups, as far as it holds them. */
UNIT_TEST(test_warps)
{
    static const struct {
        unsigned reported, published, warps; /* threads per compute unit, 0: unknown */
        size_t workgroups, size;             /* 0: not held */
    } cases[] = {{2048, 0, 1, 1, 32},   {2048, 0, 32, 1, 1024}, {2048, 0, 48, 2, 768}, {2048, 0, 64, 2, 1024},
                 {2048, 0, 88, 0, 0},   {1536, 0, 64, 0, 0},    {0, 0, 64, 2, 1024},   {0, 0, 88, 0, 0},
                 {0, 3072, 88, 4, 704}, {0, 3072, 96, 3, 1024}, {0, 3072, 128, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_trial_context tc;
        struct as_chains c;
        struct as_error err = {0};
        struct as_chains_desc d = setup(&tc);
        toy.dev.info.compute_unit_threads = cases[i].reported;
        toy.dev.info.unit_threads_published = cases[i].published;
        d.threads = 32 * cases[i].warps;
        d.every_unit = true;
        assert_int_equal(as_chains_apply(&toy.dev.info, &d, &err), cases[i].workgroups ? AS_APPLIES : AS_PRUNED);
        if (!cases[i].workgroups)
            continue;
        assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
        assert_int_equal(c.resident_workgroups, cases[i].workgroups);
        assert_int_equal(c.workgroup_size, cases[i].size);
        assert_int_equal(c.workgroups, 10 * cases[i].workgroups);
        as_chains_finish(&c);
        as_buf_finish(&tc.detail);
    }
}

/* A short body whose code is worse: the long one counts, less an empty launch. */
UNIT_TEST(test_uneven_bodies)
{
    static const double worse[] = {0.9, 1, 1.1};
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++) {
        struct as_trial_context tc;
        struct as_chains c;
        struct as_error err = {0};
        struct as_chains_time t;
        const struct as_chains_desc d = setup(&tc);
        assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
        slow_half = worse[i];
        assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
        slow_half = 1;
        check_number(t.cycles, OPERATION_CYCLES);
        check_number(t.raw, OPERATION_CYCLES);
        as_chains_finish(&c);
        as_buf_finish(&tc.detail);
    }
}

/* Empty launches that were disturbed while the chain was prepared. */
UNIT_TEST(test_slow_empty)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    c.empty_s = 1;
    assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
    check_number(t.cycles, OPERATION_CYCLES);
    as_chains_finish(&c);
    as_buf_finish(&tc.detail);
}

/* The shortest sample is long compared with the scatter of launches, and not much longer. */
UNIT_TEST(test_enough)
{
    static const double clocks[] = {1.4e9, 1e6};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct as_trial_context tc;
        struct as_chains c;
        struct as_error err = {0};
        uint32_t turns;
        const struct as_chains_desc d = setup(&tc);
        hz = clocks[i];
        assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
        assert_int_equal(as_chains_enough(&c, &turns, &err), AS_OK);
        const double each = STEPS / 2.0 * OPERATION_CYCLES / hz;
        assert_true(turns * each >= 200e-6 && (turns == 1 || turns * each < 1e-3));
        as_chains_finish(&c);
        as_buf_finish(&tc.detail);
    }
}

/* Measuring the clock takes about as long as the sample. */
UNIT_TEST(test_lengths)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    for (uint32_t turns = 100000; turns >= 10000; turns /= 10) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(as_chains_measure(&c, turns, &t, &err), AS_OK);
        const double took = 2 * LAUNCH_S + tick_turns * 1.5 * TICK_STEPS * TICK_CYCLES / hz;
        assert_true(took > 0.4 * t.seconds && took < 2.5 * t.seconds);
    }
    as_chains_finish(&c);
    as_buf_finish(&tc.detail);
}

/* Matrix instructions: cycles of a step of all workgroups of the launch together. */
enum { PEAK_CYCLES = 640 };
static struct as_peak peak;

static void run_peak(const char *name, void *const *args)
{
    uint32_t turns;
    records = records ? records : args[0];
    const bool tick = args[0] != records;
    memcpy(&turns, args[tick ? 6 : 4], sizeof turns);
    const double steps = (tick ? TICK_STEPS : peak.body.steps) / (strcmp(name, "whole_body") == 0 ? 1.0 : 2.0);
    toy.launch_s = LAUNCH_S + turns * steps * (tick ? TICK_CYCLES : PEAK_CYCLES) / hz;
}

UNIT_TEST(test_matrix)
{
    static const double clocks[] = {1.4e9, 0.7e9, 1.578e9};
    struct as_trial_context tc;
    struct as_error err = {0};
    struct as_peak_time t;
    struct as_peak_desc d = {.matrix = as_matrix_find("simdgroup_m8n8k8_f32")};
    (void)setup(&tc);
    toy.kernel = run_peak;
    assert_non_null(d.matrix);
    as_peak_usual(&toy.dev.info, &d);
    assert_int_equal(as_peak_prepare(&peak, &tc, &d, &err), AS_OK);
    assert_non_null(strstr(as_buf_get(&tc.detail), "by calibration"));
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        hz = clocks[i];
        assert_int_equal(as_peak_measure(&peak, 100, &t, &err), AS_OK);
        check_number(t.clock_hz, hz);
        check_number(t.cycles, PEAK_CYCLES);
        /* a tenth of the workgroups: the device has ten compute units */
        check_number(t.operations, 2.0 * 8 * 8 * 8 * peak.body.chains * (double)(peak.teams * peak.workgroups) / 10);
    }
    as_peak_finish(&peak);
    as_buf_finish(&tc.detail);
    assert_int_equal(toy.live, 0);
}

UNIT_TEST(test_no_longer_body)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    same = true;
    assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "take no longer than"));
    as_chains_finish(&c);
    as_buf_finish(&tc.detail);
    assert_int_equal(toy.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cycles),         cmocka_unit_test(test_warps),      cmocka_unit_test(test_uneven_bodies),
        cmocka_unit_test(test_enough),         cmocka_unit_test(test_lengths),    cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_no_longer_body), cmocka_unit_test(test_slow_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
