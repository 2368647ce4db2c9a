/* How many samples a visit takes: on a toy whose launches are said to take as long as the test wants. */
#include "core/measure.h"
#include "scripted_clock.h"
#include "toy_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct toy toy;
static double launch_s, scatter; /* what a launch takes, and by which part of it every third one more */
static double share_s = INFINITY;
static unsigned launches;

/* A card that writes, by the arguments of the kernels of 'bandwidth'. */
static void card(const char *name, void *const *args)
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

static struct as_visit visit(bool alone)
{
    struct as_sensing none = {.read_s = NAN};
    struct as_host_core core;
    struct as_visit v;
    struct as_error err = {0};
    struct as_visit_order order = {
        .probe = "bandwidth", .seed = 3, .precision = 0.05, .alone = alone, .share_s = share_s};
    clock_script(1e-7);
    as_host_core_init(&core);
    toy_axes(&order.axes, "op=write level=memory size=65536 threads=0 store=regular width=best allocator=toy "
                          "touch=device way=best");
    toy_init_sm90(&toy, card);
    toy.dev.info.capabilities |= AS_CAP_FP64;
    toy.dev.info.is_host_memory = false;
    toy.free_bytes = UINT64_C(1) << 30;
    toy.launch_s = launch_s;
    if (as_measure_visit(&toy.dev, &none, &core, &order, &v, &err))
        fail_msg("%s", err.text);
    if (v.status != AS_CELL_OK)
        fail_msg("%s", v.reason);
    assert_int_equal(toy.live, 0);
    return v;
}

static size_t samples(bool alone)
{
    struct as_visit v = visit(alone);
    size_t n = v.n + v.warmup;
    as_visit_finish(&v);
    return n;
}

/* Long ones that agree need no more; short ones, such that differ, and a visit that is alone do. */
static void test_how_many(void **unused)
{
    (void)unused;
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

/* However short its share, a visit that is alone has samples enough; one of several has one. */
static void test_short_share(void **unused)
{
    (void)unused;
    launch_s = 2e-2;
    scatter = 1e-3;
    share_s = 1e-2;
    assert_int_equal(samples(true), AS_SAMPLES_ALONE);
    assert_int_equal(samples(false), 1);
    share_s = INFINITY;
}

/* ---- the host's core ---- */

static const struct as_memory_ops *toy_memory;
static struct as_memory_ops shared_memory;
static unsigned calls, phase;
static bool always;

/* Somebody comes and goes every 25 calls; while there, calls take 1.4 times as long. */
static bool company(void)
{
    return always || (calls / phase) % 2 == 0;
}

static enum as_status time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                 double *alloc_s, double *free_s, struct as_error *err)
{
    calls++;
    toy.alloc_s = company() ? 1.4e-6 : 1e-6;
    enum as_status s = toy_memory->time_alloc(dev, allocator, bytes, count, alloc_s, free_s, err);
    clock_pass(*alloc_s + *free_s);
    return s;
}

static unsigned readings;

static double core_takes(void)
{
    clock_pass(10e-6);
    return company() ? 19000 : 13000;
}

static double (*takes)(void) = core_takes;

static struct as_visit alloc_visit(unsigned capabilities, bool alone)
{
    struct as_sensing none = {.read_s = NAN};
    struct as_visit v;
    struct as_error err = {0};
    struct as_host_core core;
    struct as_visit_order order = {.probe = "alloc", .seed = 3, .precision = 0.05, .alone = alone, .share_s = 0.3};
    clock_script(1e-7);
    as_host_core_init(&core);
    core.read = takes;
    readings = 0;
    toy_axes(&order.axes, "op=alloc allocator=toy size=32");
    toy_init(&toy, capabilities);
    toy_memory = toy.dev.memory;
    shared_memory = *toy_memory;
    shared_memory.time_alloc = time_alloc;
    toy.dev.memory = &shared_memory;
    calls = 0;
    phase = 25;
    if (as_measure_visit(&toy.dev, &none, &core, &order, &v, &err))
        fail_msg("%s", err.text);
    if (v.status != AS_CELL_OK)
        fail_msg("%s", v.reason);
    return v;
}

/* Samples with company are left out, which the yardstick tells and not their value; where there always is some, all
 * count, and the cell's yardstick says what they are. */
static void test_company_on_the_core(void **unused)
{
    (void)unused;
    always = false;
    struct as_visit v = alloc_visit(AS_CAP_SOURCE, false);
    assert_true(v.n >= AS_SAMPLES_MIN);
    for (size_t i = 0; i < v.n; i++)
        assert_true(v.samples[i] > 900 && v.samples[i] < 1001);
    assert_non_null(strstr(v.detail, "\"samples_set_aside\":"));
    assert_non_null(strstr(v.detail, "\"set_aside_median\":1"));
    assert_non_null(strstr(v.detail, "\"set_aside_yardstick_ns\":19000"));
    assert_non_null(strstr(v.detail, "\"yardstick_ns\":13000"));
    as_visit_finish(&v);
    v = alloc_visit(AS_CAP_SOURCE, true);
    assert_true(v.n + v.warmup >= AS_SAMPLES_ALONE);
    assert_non_null(strstr(v.detail, "\"samples_set_aside\":"));
    as_visit_finish(&v);
    always = true;
    v = alloc_visit(AS_CAP_SOURCE, false);
    assert_true(v.n >= AS_SAMPLES_ALONE - 1);
    assert_true(v.samples[0] > 1300);
    assert_null(strstr(v.detail, "samples_set_aside"));
    assert_non_null(strstr(v.detail, "\"yardstick_ns\":19000"));
    as_visit_finish(&v);
}

static double free_once(void)
{
    return readings++ ? 19000 : 13000;
}

/* A visit does not wait to its end for company to leave. */
static void test_lasting_company(void **unused)
{
    (void)unused;
    always = true;
    takes = free_once;
    struct as_visit v = alloc_visit(AS_CAP_SOURCE, false);
    takes = core_takes;
    assert_true(v.n + v.warmup <= 2 * AS_SAMPLES_ALONE);
    assert_null(strstr(v.detail, "samples_set_aside"));
    as_visit_finish(&v);
}

/* A scripted device has a time of its own. */
static void test_no_core_of_a_script(void **unused)
{
    (void)unused;
    always = false;
    struct as_visit v = alloc_visit(AS_CAP_SOURCE | AS_CAP_SCRIPTED, false);
    assert_null(strstr(v.detail, "yardstick_ns"));
    assert_null(strstr(v.detail, "samples_set_aside"));
    as_visit_finish(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_many), cmocka_unit_test(test_short_share), cmocka_unit_test(test_company_on_the_core),
        cmocka_unit_test(test_lasting_company), cmocka_unit_test(test_no_core_of_a_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
