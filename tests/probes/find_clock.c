/* Clocks found from chains of operations: the fit on known times, and the whole on a toy device that knows its
 * operations. */
#include "lib/ops/find_clock.h"
#include "lib/ops/chains.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <string.h>

static const struct as_clock_range reported = {0.99e9, 2.02e9, 1.98e9}, unknown = {0.3e9, 3.5e9, 0};

static struct as_clock_fit fit(const double *cycles, size_t n, double hz, const struct as_clock_range *range)
{
    double seconds[AS_CLOCK_CHAINS];
    for (size_t i = 0; i < n; i++)
        seconds[i] = cycles[i] / hz;
    return as_clock_fit(seconds, n, range);
}

static void check_near(double x, double expected, double error)
{
    if (!(fabs(x - expected) <= error * expected))
        fail_msg("%.9g instead of %.9g", x, expected);
}

/* NVIDIA's latencies tell the clock wherever it is, also when two of them are no whole numbers. */
UNIT_TEST(test_fit)
{
    double cycles[] = {4, 5, 4, 4, 5, 4, 8, 23};
    for (double hz = 1.05e9; hz < 2e9; hz += 0.0973e9) {
        struct as_clock_fit f = fit(cycles, 8, hz, &reported);
        check_near(f.hz, hz, 1e-9);
        assert_int_equal(f.chains, 8);
        assert_int_equal(f.cycles[7], 23);
        check_near(f.off, 1, 1e-3);
        f = fit(cycles, 8, hz, &unknown);
        check_near(f.hz, hz, 1e-9);
    }
    cycles[2] = 4.4;
    cycles[4] = 5.06;
    const struct as_clock_fit f = fit(cycles, 8, 1.7e9, &reported);
    check_near(f.hz, 1.7e9, 1e-9);
    assert_int_equal(f.chains, 6);
    assert_int_equal(f.cycles[2], 0);
    assert_int_equal(f.cycles[4], 0);
    check_near(f.off, 1, 1e-3);
}

/* What the chains disagree about is in the factor. */
UNIT_TEST(test_scatter)
{
    const double cycles[] = {4.01, 5.005, 3.996, 4, 8.01, 22.99};
    const struct as_clock_fit f = fit(cycles, 6, 1.4e9, &reported);
    check_near(f.hz, 1.4e9, 2e-3);
    if (!(f.off > 1.001 && f.off < 1.006))
        fail_msg("off by %g", f.off);
}

/* Latencies with a common factor fit at other clocks, too: the nearest to the reported one counts, and the factor spans
 * the others. Without a reported clock the chains count in their common unit. */
UNIT_TEST(test_ambiguous)
{
    const double cycles[] = {4, 4, 16, 4, 8};
    struct as_clock_fit f = fit(cycles, 5, 1.9e9, &reported);
    check_near(f.hz, 1.9e9, 1e-9);
    check_near(f.off, 4 / 3.0, 1e-9);
    f = fit(cycles, 5, 1.9e9, &unknown);
    check_near(f.hz, 1.9e9 / 4, 1e-9);
    check_near(f.off, 7, 1e-9);
}

UNIT_TEST(test_no_fit)
{
    const double cycles[] = {4, 5.3, 4.45, 6.7, 9.6, 11.37};
    assert_true(isnan(fit(cycles, 6, 1.9e9, &reported).hz));
    assert_true(isnan(fit(cycles, 2, 1.9e9, &reported).hz));
}

/* Chains are enough when they tell one clock, or when those to come cannot make up for what misses. */
UNIT_TEST(test_decided)
{
    const double nvidia[] = {4, 4, 23, 6, 4}, common[] = {4, 4, 16, 4, 8}, some[] = {4.4, 4, 23, 6, 4.4};
    const double fast[] = {0.7, 2.8, 8.5, 2.1, 0.7}; /* beyond the highest clock */
    double seconds[AS_CLOCK_CHAINS];
    const struct {
        const double *cycles;
        size_t n, more;
        bool decided;
    } cases[] = {{nvidia, 5, 3, true}, {nvidia, 4, 4, false}, {common, 5, 3, false}, {some, 5, 3, false},
                 {fast, 2, 6, false},  {fast, 3, 5, false},   {fast, 5, 3, true},    {fast, 3, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < cases[i].n; k++)
            seconds[k] = cases[i].cycles[k] / 1.98e9;
        if (as_clock_is_decided(seconds, cases[i].n, cases[i].more, &reported) != cases[i].decided)
            fail_msg("case %zu", i);
    }
}

/* ---- a toy whose launches take the cycles of their operation ---- */

enum { KERNELS = 128, FMA = 100, SM_THREADS = 1024, FULL_CHAINS = 4, IMUL = 6 };
static const double LAUNCH_S = 20e-6;
static struct toy toy;
static const struct as_program_ops *toy_program;
static const struct as_queue_ops *toy_queue;
static double hz;
static bool odd; /* no operation takes whole cycles */
static struct {
    const struct as_kernel *kernel;
    char op[24];
    bool whole;
} known[KERNELS];
static size_t known_n;
static char built[24];
static unsigned programs;

static enum as_status build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                            struct as_error *err)
{
    strcpy(built, desc->name);
    programs++;
    return toy_program->build(dev, desc, out, err);
}

static enum as_status make_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                  struct as_kernel **out, struct as_error *err)
{
    const enum as_status st = toy_program->kernel(dev, program, name, out, err);
    size_t i = 0;
    while (i < known_n && known[i].kernel != *out)
        i++;
    known_n = i == known_n ? known_n + 1 : known_n;
    assert_in_range(known_n, 1, KERNELS);
    known[i].kernel = *out;
    known[i].whole = strcmp(name, "whole_body") == 0;
    strcpy(known[i].op, built);
    return st;
}

static double cycles_of(const char *op)
{
    static const struct {
        const char *op;
        double cycles;
    } table[] = {{"ffma32", 4}, {"iadd32", 5}, {"imul32", IMUL}, {"shladd32", 5}, {"recip32", 23}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(op, table[i].op) == 0)
            return odd ? table[i].cycles * (1 + 0.037 * (double)(i + 1)) : table[i].cycles;
    return odd ? 4.41 : 4;
}

static enum as_status launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                             struct as_error *err)
{
    size_t i = 0;
    while (i < known_n && known[i].kernel != l->kernel)
        i++;
    const double full = (double)SM_THREADS * FULL_CHAINS / FMA;
    const double each = i == known_n ? 0 : l->workgroup_size == SM_THREADS ? full : cycles_of(known[i].op);
    toy.launch_s = LAUNCH_S + l->work.accesses * each * (i < known_n && known[i].whole ? 1 : 0.5) / hz;
    return toy_queue->launch(dev, l, out, err);
}

static void run(const char *name, void *const *args)
{
    (void)name, (void)args;
}

static struct as_chains_desc setup(struct as_trial_context *tc)
{
    static struct as_program_ops program;
    static struct as_queue_ops queue;
    toy_init(&toy, AS_CAP_SOURCE);
    toy.kernel = run;
    toy_program = toy.dev.program;
    toy_queue = toy.dev.queue;
    program = *toy_program;
    queue = *toy_queue;
    program.build = build;
    program.kernel = make_kernel;
    queue.launch = launch;
    toy.dev.program = &program;
    toy.dev.queue = &queue;
    toy.dev.info.warp = 32;
    toy.dev.info.threads = SM_THREADS;
    toy.dev.info.compute_units = 10;
    toy.dev.info.clock_max_hz = 1.5e9;
    toy.dev.info.is_host_cpu = false;
    strcpy(toy.dev.info.dialect, "metal");
    hz = 1.4e9;
    known_n = 0;
    programs = 0;
    odd = false;
    *tc = (struct as_trial_context){.dev = &toy.dev, .seed = 7, .limit = NAN};
    return (struct as_chains_desc){.sequence = as_op_alone(as_op_find("imul32"), 3), .ilp = 1, .threads = 32};
}

static void finish(struct as_trial_context *tc, struct as_chains *c)
{
    as_chains_finish(c);
    as_buf_finish(&tc->detail);
    assert_int_equal(toy.live, 0);
}

/* Cycles stay the same when the clock changes after it was found. */
UNIT_TEST(test_found)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_apply(&toy.dev.info, &d, &err), AS_APPLIES);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    assert_non_null(strstr(as_buf_get(&tc.detail), "operations take whole cycles"));
    assert_non_null(strstr(as_buf_get(&tc.detail), "clock_off"));
    check_near(toy.dev.found.fma, FMA, 1e-6);
    check_near(toy.dev.found.off, 1, 1e-3);
    for (hz = 1.4e9; hz > 0.3e9; hz /= 1.7) {
        assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
        check_near(t.cycles, IMUL, 1e-6);
        check_near(t.clock_hz, hz, 1e-6);
    }
    finish(&tc, &c);
}

/* A compiler may take a second per kernel: no more are made than decide. Beside those of the finder are the chains that
 * are measured, and their clock. */
UNIT_TEST(test_few)
{
    static const double clocks[] = {1.4e9, 9e9}; /* of a reported 1.5 GHz */
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct as_trial_context tc;
        struct as_chains c;
        struct as_error err = {0};
        const struct as_chains_desc d = setup(&tc);
        hz = clocks[i];
        assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
        assert_in_range(programs, 2 + 1 + 3, 2 + 1 + 5);
        assert_true(i ? toy.dev.found.off == 1.5 : toy.dev.found.off < 1.005);
        finish(&tc, &c);
    }
}

/* It is found once. */
UNIT_TEST(test_kept)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    const struct as_chains_desc d = setup(&tc);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    const unsigned first = toy.launches;
    as_chains_finish(&c);
    assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
    assert_true(toy.launches - first < first / 2);
    finish(&tc, &c);
}

/* Rates per second do not need it: without a fit the reported clock counts, and what is plausible without that. */
UNIT_TEST(test_guessed)
{
    struct as_trial_context tc;
    struct as_chains c;
    struct as_error err = {0};
    struct as_chains_time t;
    for (int reports = 1; reports >= 0; reports--) {
        const struct as_chains_desc d = setup(&tc);
        odd = true;
        toy.dev.info.clock_max_hz *= reports;
        assert_int_equal(as_chains_prepare(&c, &tc, &d, &err), AS_OK);
        assert_non_null(strstr(as_buf_get(&tc.detail), reports ? "reported by the driver" : "clock unknown"));
        assert_true(reports ? toy.dev.found.off == 1.5 : toy.dev.found.off > 3);
        assert_int_equal(as_chains_measure(&c, 1000, &t, &err), AS_OK);
        const double each_s = cycles_of("imul32") / hz; /* of one warp */
        check_near(t.cycles / t.clock_hz, each_s, 1e-6);
        check_near(t.rate, 32 / each_s, 0.05); /* over whole launches */
        assert_true(t.clock_hz > hz / toy.dev.found.off && t.clock_hz < hz * toy.dev.found.off);
        finish(&tc, &c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),    cmocka_unit_test(test_scatter), cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_no_fit), cmocka_unit_test(test_decided), cmocka_unit_test(test_found),
        cmocka_unit_test(test_few),    cmocka_unit_test(test_kept),    cmocka_unit_test(test_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
