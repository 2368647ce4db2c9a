/* How many samples a trial takes: on a toy with scripted launch times. */
#include "worker/measure.h"
#include "kernel_timer_trials.h"
#include "model/metrics.h"
#include "scripted_clock.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct toy toy;
static double launch_s, scatter; /* length of a launch, and the share by which every third is longer */
static double share_s = INFINITY;
static const char *probe_name = "bandwidth";
static unsigned launches, cell_bytes = 65536;

static const struct as_memory_ops *other_memory; /* replaces the toy's */

/* A GPU that writes, by the arguments of the kernels of 'bandwidth'. */
static void gpu(const char *name, void *const *args)
{
    bool fills = strcmp(name, "fill") == 0;
    double *memory = args[fills ? 0 : 1];
    uint64_t n;
    memcpy(&n, args[2], sizeof n);
    for (uint64_t i = 0; i < n; i++)
        if (fills)
            memory[i] = 0.5;
        else
            memcpy(&memory[i], args[4], sizeof *memory);
    toy.launch_s = launch_s * (1 + (launches++ % 3 == 0 ? scatter : 0));
    clock_pass(toy.launch_s);
}

static struct as_trial trial(bool alone)
{
    struct as_sensing none = {.read_s = NAN};
    struct as_reference reference = AS_REFERENCE_INIT;
    struct as_trial v;
    struct as_error err = {0};
    struct as_trial_order order = {.seed = 3, .precision = 0.05, .alone = alone, .share_s = share_s};
    clock_script(1e-7);
    char axes[160];
    as_copy_text(order.probe, sizeof order.probe, probe_name);
    snprintf(
        axes, sizeof axes,
        strcmp(probe_name, "calibrate") == 0
            ? "rule=babelstream op=triad size=%u threads=0 store=regular allocator=toy"
            : "op=write level=sweep size=%u threads=0 store=regular width=best allocator=toy touch=device way=best",
        cell_bytes);
    toy_axes(&order.axes, axes);
    toy_init_sm90(&toy, gpu);
    toy.dev.info.capabilities |= AS_CAP_FP64;
    toy.dev.info.is_host_memory = false;
    toy.free_bytes = UINT64_C(1) << 30;
    toy.launch_s = launch_s;
    if (other_memory)
        toy.dev.memory = other_memory;
    if (as_measure_trial(&toy.dev, &none, &reference, &order, &v, &err))
        fail_msg("%s", err.text);
    if (v.status != AS_CELL_OK && !other_memory)
        fail_msg("%s", v.reason);
    assert_int_equal(toy.live, 0);
    return v;
}

static size_t samples(bool alone)
{
    struct as_trial v = trial(alone);
    size_t n = v.n + v.warmup;
    as_trial_finish(&v);
    return n;
}

/* Long samples that agree need no more; short ones, scattered ones, and a single trial do. */
UNIT_TEST(test_how_many)
{
    launch_s = 1e-2;
    scatter = 1e-3;
    assert_int_equal(samples(false), AS_SAMPLES_MIN);
    assert_int_equal(samples(true), AS_SAMPLES_ALONE);
    scatter = 1e-2;
    assert_int_equal(samples(false), AS_SAMPLES_ALONE);
    scatter = 1e-3;
    launch_s = 1e-3;
    assert_int_equal(samples(false), AS_SAMPLES_ALONE);
}

static enum as_status read_status;
static enum as_status read_badly(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                 uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)mem, (void)offset, (void)to;
    return read_status == AS_NOMEM ? as_nomem(err, bytes, "a copy") : as_fail(err, read_status, "it cannot be read");
}

/* A check that lacked memory rejects nothing; one that compared does. */
UNIT_TEST(test_check_without_memory)
{
    static struct as_memory_ops failing;
    toy_init_sm90(&toy, gpu);
    failing = *toy.dev.memory;
    failing.read = read_badly;
    other_memory = &failing;
    launch_s = 1e-2;
    scatter = 1e-3;
    read_status = AS_NOMEM;
    struct as_trial v = trial(false);
    assert_int_equal(v.status, AS_CELL_UNSUPPORTED);
    assert_non_null(strstr(v.reason, "cannot be checked: out of memory for"));
    assert_int_not_equal(v.checksum, AS_GATE_FAIL);
    as_trial_finish(&v);
    read_status = AS_FAILED;
    v = trial(false);
    assert_int_equal(v.status, AS_CELL_OK);
    assert_int_equal(v.checksum, AS_GATE_FAIL);
    as_trial_finish(&v);
    other_memory = NULL;
}

/* However small its share of time, a single trial takes enough samples; one of several takes at least one. */
UNIT_TEST(test_short_share)
{
    launch_s = 2e-2;
    scatter = 1e-3;
    share_s = 1e-2;
    assert_int_equal(samples(true), AS_SAMPLES_ALONE);
    assert_int_equal(samples(false), 1);
    share_s = INFINITY;
}

/* Another tool's rule fixes the number of samples: neither a small share of time nor agreeing samples end it
 * earlier. */
UNIT_TEST(test_fixed_number)
{
    probe_name = "calibrate";
    launch_s = 2e-2;
    scatter = 0;
    assert_int_equal(samples(false), 99);
    share_s = 1e-3;
    assert_int_equal(samples(true), 99);
    share_s = INFINITY;
    probe_name = "bandwidth";
}

/* Over all samples kept, and nothing else. */
UNIT_TEST(test_time_inside_samples)
{
    launch_s = 1e-2;
    scatter = 0;
    struct as_trial v = trial(true);
    assert_true(v.n > 0 && fabs(v.sampling_s - (double)v.n * v.sample_s) < 1e-12);
    assert_true(fabs(v.sample_s - launch_s) < 1e-12);
    as_trial_finish(&v);
}

/* A trial starts with the repetitions of the one before, even if samples have become much longer since. */
UNIT_TEST(test_repetitions_are_known)
{
    static const double lengths[] = {1e-4, 1e-4, 1}; /* per launch, whatever its number of repetitions */
    unsigned made[3];
    uint64_t reps[3];
    scatter = 0;
    cell_bytes *= 2; /* a different cell */
    for (int i = 0; i < 3; i++) {
        launch_s = lengths[i];
        launches = 0;
        struct as_trial v = trial(true);
        made[i] = launches;
        reps[i] = v.reps;
        as_trial_finish(&v);
    }
    cell_bytes /= 2;
    assert_true(reps[0] > 1000 && reps[1] == reps[0] && made[1] < made[0]);
    assert_true(reps[2] < reps[1] && reps[2] > 1000);
}

/* Updates of short launches, as calibration makes them, take four times as long. */
static void slow_at_first(const char *name, void *const *args)
{
    uint32_t turns = 0;
    if (strcmp(name, "able") == 0)
        *(uint32_t *)args[0] = 1;
    if (strcmp(name, "updates") == 0)
        memcpy(&turns, args[4], sizeof turns);
    toy.launch_s = 10e-6 + turns * (turns < 2000 ? 1000e-9 : 250e-9);
    clock_pass(toy.launch_s);
}

/* A further metric of samples is that of the counted ones. */
UNIT_TEST(test_further_metrics_leave_out_calibration)
{
    enum { THREADS = 4 };
    struct as_sensing none = {.read_s = NAN};
    struct as_reference reference = AS_REFERENCE_INIT;
    struct as_trial v;
    struct as_error err = {0};
    struct as_trial_order order = {.probe = "sync", .seed = 3, .precision = 0.05, .share_s = 0.3};
    clock_script(1e-7);
    toy_axes(&order.axes, "op=max path=native result=dropped memory=global elements=16 threads=4 compute_units=every");
    kernel_timer_toy(&toy);
    toy.kernel = slow_at_first;
    if (as_measure_trial(&toy.dev, &none, &reference, &order, &v, &err))
        fail_msg("%s", err.text);
    assert_int_equal(v.status, AS_CELL_OK);
    const double ns = as_median(v.samples, v.n), rate = as_detail_number(v.detail, "rate");
    assert_true(fabs(ns - 250) < 0.1);
    assert_true(fabs(rate * ns / 1e9 - THREADS * toy.dev.info.compute_units) < 1e-6);
    as_trial_finish(&v);
    toy_init_sm90(&toy, gpu);
}

/* ---- contention on the host's core ---- */

static const struct as_memory_ops *toy_memory;
static struct as_memory_ops shared_memory;
static unsigned calls, phase;
static bool always;
static uint64_t preemptions;

/* A neighbour comes and goes every 20 calls. While present, it takes the core away and calls take 1.4 times as long. */
static bool contended(void)
{
    return always || (calls / phase) % 2 == 0;
}

static enum as_status time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                 double *alloc_s, double *free_s, struct as_error *err)
{
    calls++;
    preemptions += contended();
    toy.alloc_s = contended() ? 1.4e-6 : 1e-6;
    enum as_status st = toy_memory->time_alloc(dev, allocator, bytes, count, alloc_s, free_s, err);
    clock_pass(*alloc_s + *free_s);
    return st;
}

static void read_scripted(struct as_reference *r, struct as_device *dev, struct as_reference_reading *out)
{
    (void)dev;
    clock_pass(10e-6);
    *out = (struct as_reference_reading){.hz = 4e9, .preemptions = preemptions};
    r->fastest_hz = 4e9;
}

static struct as_trial alloc_trial(unsigned capabilities, bool alone)
{
    struct as_sensing none = {.read_s = NAN};
    struct as_trial v;
    struct as_error err = {0};
    struct as_reference reference = AS_REFERENCE_INIT;
    struct as_trial_order order = {.probe = "alloc", .seed = 3, .precision = 0.05, .alone = alone, .share_s = 0.3};
    clock_script(1e-7);
    reference.read = read_scripted;
    toy_axes(&order.axes, "op=alloc allocator=toy size=32");
    toy_init(&toy, capabilities);
    toy_memory = toy.dev.memory;
    shared_memory = *toy_memory;
    shared_memory.time_alloc = time_alloc;
    toy.dev.memory = &shared_memory;
    calls = 0;
    phase = 20;
    if (as_measure_trial(&toy.dev, &none, &reference, &order, &v, &err))
        fail_msg("%s", err.text);
    if (v.status != AS_CELL_OK)
        fail_msg("%s", v.reason);
    return v;
}

/* Samples beside a neighbour are kept with weight 0, detected by the reference loop and not by their value. */
UNIT_TEST(test_contended_samples_weigh_nothing)
{
    always = false;
    struct as_trial v = alloc_trial(AS_CAP_SOURCE, false);
    size_t counted = 0, left_out = 0;
    for (size_t i = 0; i < v.n; i++) {
        if (v.weight[i] > 0)
            assert_true(v.samples[i] > 900 && v.samples[i] < 1001);
        counted += v.weight[i] > 0;
        left_out += v.weight[i] == 0;
        assert_true(v.core_hz[i] == 4e9);
    }
    if (counted < AS_SAMPLES_MIN || left_out == 0)
        fail_msg("%zu samples count, %zu are left out", counted, left_out);
    assert_true(v.sampling_s > 0);
    as_trial_finish(&v);
}

/* A trial does not wait until its end for a neighbour to leave, and keeps its samples. */
UNIT_TEST(test_lasting_contention)
{
    always = true;
    struct as_trial v = alloc_trial(AS_CAP_SOURCE, false);
    assert_true(v.n + v.warmup <= 2 * AS_SAMPLES_ALONE);
    for (size_t i = 0; i < v.n; i++)
        assert_true(v.weight[i] == 0);
    as_trial_finish(&v);
}

/* A low clock that one sample alone had is contention: a number must not be raised by it. One that lasts is a clock. */
UNIT_TEST(test_low_clocks)
{
    enum { SAMPLES = 4 };
    static const struct {
        double hz[SAMPLES + 1], last_hz;
        unsigned counted; /* bit i: sample i */
    } cases[] = {
        {{4e9, 4e9, 4e9, 4e9, 4e9}, 0, 0xf},
        {{4e9, 4e9, 3.08e9, 3.08e9, 4e9}, 0, 0x1},
        {{3.08e9, 3.08e9, 3.08e9, 3.08e9, 4e9}, 0, 0xf},
        {{3.08e9, 3.08e9, 4e9, 4e9, 4e9}, 3.08e9, 0xf},
        {{4e9, 3.9e9, 4e9, 4e9, 4e9}, NAN, 0xf},
        {{4e9, 3.08e9, 3.08e9, 3.08e9, 4e9}, 0, 0xf},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct as_reference reference = AS_REFERENCE_INIT;
        struct as_reference_reading readings[SAMPLES + 1] = {{0}};
        double hz[SAMPLES], weight[SAMPLES];
        reference.fastest_hz = 4e9;
        as_reference_end_trial(&reference, &(struct as_reference_reading){.hz = cases[c].last_hz});
        for (size_t i = 0; i <= SAMPLES; i++)
            readings[i].hz = cases[c].hz[i];
        as_reference_weigh(&reference, readings, SAMPLES, hz, weight);
        for (size_t i = 0; i < SAMPLES; i++)
            if ((weight[i] > 0) != (cases[c].counted >> i & 1))
                fail_msg("case %zu, sample %zu: %g Hz, weight %g", c, i, hz[i], weight[i]);
    }
}

/* A sample of half a second is always preempted: what counts is the time that it lost. */
UNIT_TEST(test_short_preemptions)
{
    static const struct {
        double took_s, cpu_s;
        uint64_t preemptions;
        bool counts;
    } cases[] = {
        {0.5, 0.4995, 3, true}, {0.5, 0.49, 3, false},           {0.5, NAN, 3, false},   {0, 0, 1, false},
        {0.5, 0.1, 0, true},    /* waits */ {5e-3, 0, 1, false}, {5e-3, 0.01, 1, false}, /* a clock in steps of 10 ms */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct as_reference reference = AS_REFERENCE_INIT;
        const struct as_reference_reading readings[] = {{.hz = 4e9, .now_s = 7, .cpu_s = 2},
                                                        {.hz = 4e9,
                                                         .now_s = 7 + cases[c].took_s,
                                                         .cpu_s = 2 + cases[c].cpu_s,
                                                         .preemptions = cases[c].preemptions}};
        double hz, weight;
        as_reference_weigh(&reference, readings, 1, &hz, &weight);
        if ((weight > 0) != cases[c].counts)
            fail_msg("case %zu: weight %g", c, weight);
    }
}

/* A clock between whose values trials of one sample alternate is no contention. */
UNIT_TEST(test_clocks_of_trials)
{
    struct as_reference reference = AS_REFERENCE_INIT;
    const double ended[] = {2.88e9, 3e9, 2.95e9};
    for (size_t i = 0; i < 3; i++)
        as_reference_end_trial(&reference, &(struct as_reference_reading){.hz = ended[i]});
    reference.fastest_hz = 3e9;
    double hz, weight;
    as_reference_weigh(&reference, (struct as_reference_reading[]){{.hz = 3e9}, {.hz = 2.88e9}}, 1, &hz, &weight);
    assert_true(weight > 0);
    as_reference_weigh(&reference, (struct as_reference_reading[]){{.hz = 3e9}, {.hz = 2.5e9}}, 1, &hz, &weight);
    assert_true(weight == 0);
}

/* A scripted device has its own time. */
UNIT_TEST(test_no_core_of_a_script)
{
    always = false;
    struct as_trial v = alloc_trial(AS_CAP_SOURCE | AS_CAP_SIMULATED, false);
    assert_null(v.core_hz);
    assert_null(v.weight);
    as_trial_finish(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check_without_memory),
                                       cmocka_unit_test(test_how_many),
                                       cmocka_unit_test(test_short_share),
                                       cmocka_unit_test(test_fixed_number),
                                       cmocka_unit_test(test_time_inside_samples),
                                       cmocka_unit_test(test_repetitions_are_known),
                                       cmocka_unit_test(test_further_metrics_leave_out_calibration),
                                       cmocka_unit_test(test_contended_samples_weigh_nothing),
                                       cmocka_unit_test(test_lasting_contention),
                                       cmocka_unit_test(test_low_clocks),
                                       cmocka_unit_test(test_short_preemptions),
                                       cmocka_unit_test(test_clocks_of_trials),
                                       cmocka_unit_test(test_no_core_of_a_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
