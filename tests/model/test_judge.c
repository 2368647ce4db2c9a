/* From trials to numbers: each gate and each cause of width must detect its planted fault, and no other. */
#include "base/clock.h"
#include "device/device.h"
#include "model/gates.h"
#include "probe/probe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 8, TRIALS = 3, N = 30 };

/* One probe on one CPU: all cells are equal except the first, which gets the faults. */
struct scene {
    struct as_cell cells[CELLS];
    struct as_trials trials[CELLS];
    struct as_judge_device device;
    struct as_judge judge;
    struct as_judge_context context;
};

static double *filled(size_t n, double value)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

static void add_trial(struct scene *s, size_t cell, int number, struct as_rng *rng)
{
    struct as_error err = {0};
    struct as_trial v = {.number = number,
                         .n = N,
                         .samples = filled(N, 20),
                         .core_hz = filled(N, 4e9),
                         .weight = filled(N, 1),
                         .clock_hz = 4e9,
                         .limit = 25,
                         .limit_why = "a bus",
                         .checksum = AS_GATE_PASS,
                         .status = AS_CELL_OK,
                         .footprint = 256 << 20,
                         .claims_memory = 1,
                         .duration_s = 0.1};
    const double trial = 1 + 0.002 * as_rng_normal(rng);
    for (int i = 0; i < N; i++)
        v.samples[i] *= trial * (1 + 0.004 * as_rng_normal(rng));
    assert_int_equal(as_trials_add(&s->trials[cell], &v, &err), AS_OK);
}

static void set_up(struct scene *s)
{
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    *s = (struct scene){.device = {.id = "cpu", .is_cpu = true, .core_cache = 1 << 20, .memory_least = 32 << 20},
                        .context = {.largest_cache = 32 << 20, .memory_least = 128 << 20}};
    s->judge = (struct as_judge){.trials_asked = TRIALS, .reference_hz = NAN};
    for (size_t c = 0; c < CELLS; c++) {
        s->cells[c] = (struct as_cell){.device = "cpu", .probe = "bandwidth", .unit = "GB/s", .precision = 0.03};
        for (int t = 0; t < TRIALS; t++)
            add_trial(s, c, t, &rng);
    }
}

static void judge(struct scene *s)
{
    struct as_error err = {0};
    s->judge.devices = &s->device;
    s->judge.devices_n = 1;
    assert_int_equal(as_judge_learn(&s->judge, s->cells, s->trials, CELLS, &err), AS_OK);
    assert_int_equal(as_judge_cell(&s->judge, &s->cells[0], &s->trials[0], &s->context, &err), AS_OK);
}

static void finish(struct scene *s)
{
    for (size_t c = 0; c < CELLS; c++) {
        as_trials_finish(&s->trials[c]);
        as_cell_finish(&s->cells[c]);
    }
    as_judge_finish(&s->judge);
}

static int open_scene(void **state)
{
    struct scene *s = malloc(sizeof *s);
    *state = s;
    if (s)
        set_up(s);
    return s == NULL;
}

static int close_scene(void **state)
{
    finish(*state);
    free(*state);
    return 0;
}

static void test_all_well(void **state)
{
    struct scene *s = *state;
    judge(s);
    const struct as_cell *c = &s->cells[0];
    assert_int_equal(c->status, AS_CELL_OK);
    assert_string_equal(c->reason, "");
    assert_int_equal(c->sum.n, TRIALS * N);
    assert_int_equal(c->sum.trials, TRIALS);
    assert_true(fabs(c->sum.median - 20) < 0.2 && c->sum.ci.lo < c->sum.median && c->sum.median < c->sum.ci.hi);
    assert_true(c->raw_low < c->sum.median && c->sum.median < c->raw_high);
    assert_int_equal(c->gates[AS_GATE_CODE].state, AS_GATE_NA);
    assert_true(s->judge.reference_hz == 4e9);
}

/* A clock that may be off by a factor widens what counts in its cycles, and says so; nothing else. */
static void test_clock_by_calibration(void **state)
{
    static const struct {
        const char *unit, *note;
        double off;
        bool wide;
    } rows[] = {{"ops/cycle", "{\"clock_off\": 1.2}", 1.2, true},
                {"cycles", "{\"clock_off\": 1.001}", 1.001, false},
                {"cycles", "{\"clock_off\": 1.5}", 1.5, true},
                {"GB/s", "{\"clock_off\": 1.5}", 1, false}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct scene *s = *state;
        finish(s);
        set_up(s);
        strcpy(s->cells[0].unit, rows[r].unit);
        judge(s);
        const struct as_interval sure = s->cells[0].sum.ci;
        s->trials[0].v[1].detail = strdup(rows[r].note); /* the farthest of all trials counts */
        judge(s);
        const struct as_cell *c = &s->cells[0];
        if (fabs(c->sum.ci.lo * rows[r].off - sure.lo) > 1e-9 || fabs(c->sum.ci.hi / rows[r].off - sure.hi) > 1e-9)
            fail_msg("row %zu: %g to %g of %g to %g", r, c->sum.ci.lo, c->sum.ci.hi, sure.lo, sure.hi);
        assert_int_equal(c->status, rows[r].wide ? AS_CELL_WIDE : AS_CELL_OK);
        assert_int_equal(c->causes, rows[r].wide ? AS_WIDE_CLOCK : 0);
        assert_true(!rows[r].wide || strstr(c->reason, "requested: clock"));
    }
}

/* A value within the interval's uncertainty is not impossible. */
static void test_interval_that_reaches_the_bound(void **state)
{
    struct scene *s = *state;
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] *= t == 0 ? 1 : t == 1 ? 1.5 : 1.3;
    judge(s);
    assert_true(s->cells[0].sum.median > 25 * 1.02);
    assert_int_equal(s->cells[0].gates[AS_GATE_LIMIT].state, AS_GATE_PASS);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
}

static void plant_wrong_result(struct scene *s)
{
    s->trials[0].v[1].checksum = AS_GATE_FAIL;
}

static void plant_missing_instructions(struct scene *s)
{
    s->trials[0].v[2].code = AS_GATE_FAIL;
}

static void plant_impossible_rate(struct scene *s)
{
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] *= 50;
}

/* No access can be faster than the limit. */
static void plant_impossible_time(struct scene *s)
{
    s->cells[0].lower_is_better = 1;
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].limit = 22;
}

static void plant_cache_that_claims_memory(struct scene *s)
{
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].footprint = 64 << 20;
}

static void test_gates(void **state)
{
    static const struct {
        void (*plant)(struct scene *s);
        enum as_gate gate;
    } rows[] = {{plant_wrong_result, AS_GATE_CHECKSUM},
                {plant_missing_instructions, AS_GATE_CODE},
                {plant_impossible_rate, AS_GATE_LIMIT},
                {plant_impossible_time, AS_GATE_LIMIT},
                {plant_cache_that_claims_memory, AS_GATE_FOOTPRINT}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct scene *s = *state;
        const char *name = as_gate_name(rows[r].gate);
        finish(s);
        set_up(s);
        rows[r].plant(s);
        judge(s);
        assert_int_equal(s->cells[0].status, AS_CELL_REJECTED);
        for (int g = 0; g < AS_GATE_N; g++)
            if ((s->cells[0].gates[g].state == AS_GATE_FAIL) != (g == (int)rows[r].gate))
                fail_msg("row %zu, gate %s: %s (%s)", r, as_gate_name((enum as_gate)g),
                         as_gate_state_word(s->cells[0].gates[g].state), s->cells[0].gates[g].text);
        assert_int_equal(strncmp(s->cells[0].reason, name, strlen(name)), 0);
    }
}

/* An APU whose L2 of 4 MiB has a cache of 256 MiB behind it. */
static struct as_device_info an_apu(void)
{
    return (struct as_device_info){
        .is_host_memory = true,
        .host_cache = 96 << 20,
        .caches_n = 2,
        .caches = {{.level = 2, .kind = 'u', .size = 4 << 20},
                   {.level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache"}}};
}

static void test_cache_behind_the_last(void **state)
{
    static const struct {
        uint64_t mib;
        enum as_gate_state want;
    } cases[] = {{18, AS_GATE_FAIL}, {512, AS_GATE_FAIL}, {1024, AS_GATE_PASS}};
    const struct as_device_info info = an_apu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = *state;
        finish(s);
        set_up(s);
        s->context = (struct as_judge_context){.largest_cache = as_info_largest_cache(&info, NULL, 1),
                                               .memory_least = as_info_memory_least(&info, NULL, 1),
                                               .largest_cache_name = as_info_largest_cache_name(&info, NULL, 1)};
        for (int t = 0; t < TRIALS; t++)
            s->trials[0].v[t].footprint = cases[i].mib << 20;
        judge(s);
        assert_int_equal(s->cells[0].gates[AS_GATE_FOOTPRINT].state, cases[i].want);
        assert_int_equal(s->cells[0].status == AS_CELL_REJECTED, cases[i].want == AS_GATE_FAIL);
        assert_non_null(strstr(s->cells[0].gates[AS_GATE_FOOTPRINT].text, "times the Infinity Cache of 256 MiB"));
    }
}

/* Trials that differ widen the interval, but do not reject. */
static void test_noise_is_width(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].samples[i] *= 1.15;
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_PLACEMENT);
    assert_true(s->cells[0].sum.ci.lo < 20 && s->cells[0].sum.ci.hi > 20);
    assert_true(as_cell_is_valid(&s->cells[0]));
}

/* One trial of one sample has a number and a finite interval. */
static void test_out_of_time(void **state)
{
    struct scene *s = *state;
    for (int t = 1; t < TRIALS; t++)
        as_trial_finish(&s->trials[0].v[t]);
    s->trials[0].n = 1;
    s->trials[0].v[0].n = 1;
    judge(s);
    assert_true(as_cell_is_valid(&s->cells[0]));
    assert_true(isfinite(s->cells[0].sum.ci.lo) && isfinite(s->cells[0].sum.ci.hi));
    if (s->cells[0].status == AS_CELL_WIDE)
        assert_true(s->cells[0].causes & AS_WIDE_TIME);
}

/* A number that follows the core's clock is normalised to the usual clock, however fast it ran. */
static void test_clock_of_a_core(void **state)
{
    struct scene *s = *state;
    for (size_t c = 0; c < CELLS; c++)
        for (int t = 0; t < TRIALS; t++)
            s->trials[c].v[t].footprint = 16 << 10, s->trials[c].v[t].claims_memory = 0;
    for (int i = 0; i < N; i++) {
        s->trials[0].v[1].core_hz[i] *= 0.8;
        s->trials[0].v[1].samples[i] *= 0.8;
    }
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].exponent == 1);
    assert_true(fabs(s->cells[0].sum.median - 20) < 0.2);
}

/* Memory has its own clock. */
static void test_clock_beside_memory(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].core_hz[i] *= 0.8;
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].exponent == 0);
}

/* The first n samples of each trial of cell 0 lose their weight and are scaled. */
static void contend(struct scene *s, int n, double by)
{
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < n; i++) {
            s->trials[0].v[t].weight[i] = 0;
            s->trials[0].v[t].samples[i] *= by;
        }
    judge(s);
}

static void test_contended_samples(void **state)
{
    struct scene *s = *state;
    contend(s, N / 2, 0.6);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(fabs(s->cells[0].sum.median - 20) < 0.2);
    assert_true(as_cell_is_evidence(&s->cells[0]));
}

/* Other work in every trial leaves a bound: the interval is open on the better side, and the number is no evidence. */
static void test_contended_throughout(void **state)
{
    struct scene *s = *state;
    const struct as_cell *c = &s->cells[0];
    contend(s, N, 1.0 / 6); /* a rate */
    assert_true(as_cell_is_valid(c) && as_cell_is_busy(c) && !as_cell_is_evidence(c));
    assert_int_equal(c->status, AS_CELL_WIDE);
    assert_true(c->sum.ci.hi > 20 && c->sum.ci.lo > 0.9 * 20 / 6);
    assert_true(strncmp(c->reason, "other work in every trial: contention, ", 39) == 0);
    s->device.is_cpu = false; /* threads of its driver may be the other work */
    judge(s);
    assert_true(!as_cell_is_busy(c) && c->sum.ci.hi < 20);
}

static void test_throttled(void **state)
{
    struct scene *s = *state;
    for (int i = 0; i < N; i++)
        s->trials[0].v[1].samples[i] *= 0.8;
    struct as_readings *r = &s->trials[0].v[1].readings;
    as_readings_clear(r);
    strcpy(r->sensor, "nvml");
    r->throttle = AS_THROTTLE_POWER_CAP;
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_CLOCK);
    assert_non_null(strstr(s->cells[0].reason, "throttled: power cap"));
    s->context.own_power = true;
    judge(s);
    assert_null(strstr(s->cells[0].reason, "throttled"));
}

/* Another process on the device disturbs every sample, so their scatter does not show it. */
static void test_shared_device(void **state)
{
    struct scene *s = *state;
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    for (size_t t = 0; t < s->trials[0].n; t++) {
        struct as_readings *r = &s->trials[0].v[t].readings;
        as_readings_clear(r);
        strcpy(r->sensor, "nvml");
        r->users = 1;
    }
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
    assert_true(s->cells[0].causes & AS_WIDE_CONTENTION);
    assert_true(s->cells[0].sum.ci.lo <= s->cells[0].sum.min && s->cells[0].sum.ci.hi >= s->cells[0].sum.max);
    assert_non_null(strstr(s->cells[0].reason, "another process on the device in "));
}

/* Measurements before a crash count; a cell without any number gives the reason. */
static void test_crash(void **state)
{
    struct scene *s = *state;
    struct as_trial *last = &s->trials[0].v[TRIALS - 1];
    as_trial_finish(last);
    last->status = AS_CELL_CRASHED;
    strcpy(last->reason, "killed by signal 9");
    judge(s);
    assert_true(as_cell_is_valid(&s->cells[0]));
    assert_int_equal(s->cells[0].sum.trials, TRIALS - 1);
    assert_non_null(strstr(s->cells[0].reason, "killed by signal 9"));
    for (int t = 0; t < TRIALS - 1; t++)
        as_trial_finish(&s->trials[0].v[t]);
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_CRASHED);
    assert_string_equal(s->cells[0].reason, "killed by signal 9");
}

static void test_isolated_trials_do_not_count(void **state)
{
    struct scene *s = *state;
    s->trials[0].v[2].excluded = 1;
    s->trials[0].v[2].number = AS_ISOLATED_TRIAL;
    for (int i = 0; i < N; i++)
        s->trials[0].v[2].samples[i] = 1;
    s->judge.trials_asked = 2; /* further trials would widen the interval */
    judge(s);
    assert_int_equal(s->cells[0].sum.trials, 2);
    assert_true(s->cells[0].sum.min > 15);
    const struct as_interval with = s->cells[0].sum.ci;
    as_trial_finish(&s->trials[0].v[--s->trials[0].n]);
    judge(s);
    assert_true(s->cells[0].sum.ci.lo == with.lo && s->cells[0].sum.ci.hi == with.hi);
}

static void test_counts_are_exact(void **state)
{
    struct scene *s = *state;
    strcpy(s->cells[0].unit, "updates");
    for (int t = 0; t < TRIALS; t++) {
        s->trials[0].v[t].limit = NAN;
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] = 0;
    }
    judge(s);
    assert_int_equal(s->cells[0].status, AS_CELL_OK);
    assert_true(s->cells[0].sum.median == 0 && s->cells[0].sum.ci.lo == 0 && s->cells[0].sum.ci.hi == 0);
}

static void test_causes_in_words(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    unsigned back;
    as_causes_text(AS_WIDE_TIME | AS_WIDE_MODES, &b);
    assert_string_equal(as_buf_get(&b), "time, modes");
    assert_int_equal(as_causes_parse("time, modes", &back, NULL), AS_OK);
    assert_int_equal(back, AS_WIDE_TIME | AS_WIDE_MODES);
    assert_int_equal(as_causes_parse("", &back, NULL), AS_OK);
    assert_int_equal(back, 0);
    assert_int_equal(as_causes_parse("luck", &back, NULL), AS_FORMAT);
    assert_non_null(as_cause_help("drift"));
    assert_null(as_cause_help("luck"));
    as_buf_finish(&b);
}

/* A probe's expectation, on a device that counts instructions and on one that does not. */
static enum as_status count_some(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                                 struct as_error *err)
{
    (void)dev, (void)kernel;
    *n = strcmp(operation, "load.global") == 0 ? 64 : 0;
    return strcmp(operation, "nonsense") ? AS_OK : as_fail(err, AS_USAGE, "no such operation");
}

static void test_expectations(void **state)
{
    (void)state;
    static const struct as_program_ops programs = {.count = count_some};
    struct as_device dev = {.program = &programs};
    struct as_trial_context tc = {.dev = &dev};
    as_expect_code(&tc, NULL, "load.global", 1);
    assert_int_equal(tc.code, AS_GATE_NA);
    assert_string_equal(tc.code_text, "this backend does not give the machine code to count in");
    assert_int_equal(tc.detail.len, 0);
    dev.info.capabilities = AS_CAP_CODE;
    as_expect_code(&tc, NULL, "nonsense", 1);
    assert_int_equal(tc.code, AS_GATE_NA);
    as_expect_code(&tc, NULL, "load.global", 64);
    assert_int_equal(tc.code, AS_GATE_PASS);
    as_expect_code(&tc, NULL, "store.global", 0);
    assert_int_equal(tc.code, AS_GATE_PASS);
    assert_non_null(strstr(tc.code_text, "; 0 store.global"));
    as_expect_code(&tc, NULL, "fma.f64", 1);
    assert_int_equal(tc.code, AS_GATE_FAIL);
    as_expect_code(&tc, NULL, "load.global", 1); /* the worst counts */
    assert_int_equal(tc.code, AS_GATE_FAIL);
    assert_string_equal(tc.code_text, "0 fma.f64 in the machine code, at least 1 wanted");
    assert_non_null(strstr(as_buf_get(&tc.detail), "\"code_load_global\":64"));
    as_buf_finish(&tc.detail);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        TEST(test_clock_by_calibration),
        TEST(test_all_well),
        TEST(test_interval_that_reaches_the_bound),
        TEST(test_gates),
        TEST(test_cache_behind_the_last),
        TEST(test_noise_is_width),
        TEST(test_out_of_time),
        TEST(test_clock_of_a_core),
        TEST(test_clock_beside_memory),
        TEST(test_contended_samples),
        TEST(test_contended_throughout),
        TEST(test_throttled),
        TEST(test_shared_device),
        TEST(test_crash),
        TEST(test_isolated_trials_do_not_count),
        TEST(test_counts_are_exact),
        cmocka_unit_test(test_causes_in_words),
        cmocka_unit_test(test_expectations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
