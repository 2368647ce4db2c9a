/* The rule of copies to shared memory, on synthetic cells of a known device. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Little's law, up to what the path can do. */
static double bandwidth(double flight, double latency_ns, double most)
{
    return fmin(flight / latency_ns, most);
}

static void add_path(struct made *m, const char *path, const char *level, double latency_ns, double most)
{
    for (int size = 1024; size <= 32768; size *= 2)
        for (int stages = 1; stages <= 8; stages *= 2) {
            char axes[96];
            snprintf(axes, sizeof axes, "what=bandwidth path=%s level=%s tile=%d stages=%d", path, level, size, stages);
            made_add(m, "async_copy", "GB/s", bandwidth(size * (double)stages, latency_ns, most), axes);
        }
}

static void add_latency(struct made *m, double ns, const char *path, int tile, bool timed)
{
    char axes[96];
    snprintf(axes, sizeof axes, "what=latency path=%s level=L2 tile=%d stages=1", path, tile);
    made_add(m, "async_copy", "ns", ns, axes)->detail = timed ? strdup("{\"clocked\":1}") : NULL;
}

UNIT_TEST(test_flight_and_gain)
{
    struct made *m = made_gpu();
    add_path(m, "load", "L2", 400, 60);
    add_path(m, "bulk", "L2", 500, 90);
    add_latency(m, 450, "load", 1024, true);
    add_latency(m, 600, "load", 8192, true);
    add_latency(m, 700, "bulk", 1024, true);
    add_latency(m, 100, "cp_async", 1024, false);
    made_derive(m);
    made_holds(made_get(m, "async.load.latency"), 450);
    made_says(made_get(m, "async.bulk.latency"), "A copy of 1 KiB from L2 to shared memory by bulk copies (TMA) takes");
    assert_null(made_find(m, "async.cp_async.latency")); /* less than that of a load: not timed by the clock */
    made_near(m, "async.bulk.L2.bandwidth", 90, 1e-3);
    const struct as_fact *flight = made_near(m, "async.bulk.L2.flight", 65536, 1e-9);
    assert_true(flight->ci.lo == 32768 && flight->ci.hi == 65536);
    made_says(flight,
              "64 KiB in flight per SM reach 90% of the bandwidth of bulk copies (TMA) from L2; 32 KiB reach 73%");
    const struct as_fact *gain = made_near(m, "async.bulk.L2.gain", 1.5, 1e-3);
    made_verdict(m, "async.bulk.L2.gain", AS_SUPPORTED);
    made_says(
        gain,
        "Bandwidth from L2 to shared memory by bulk copies (TMA), against loads through registers (both with 8 x ");
    made_acts(m, "async.bulk.L2.gain", "Fill shared memory by bulk copies (TMA): 1.50x");
    assert_null(made_find(m, "async.load.L2.gain"));
    assert_null(made_find(m, "async.bulk.memory.bandwidth"));
    made_free(m);
}

/* Without a clock in kernels it is a bound; a clock that may be off widens cycles only. */
UNIT_TEST(test_latency_in_cycles)
{
    struct made *m = made_gpu();
    m->share = 0.01;
    add_latency(m, 400, "load", 1024, true);
    m->cells[0].clock_hz = 1.5e9;
    free(m->cells[0].detail);
    m->cells[0].detail = strdup("{\"at_most\":1,\"clock_off\":1.5}");
    made_derive(m);
    const struct as_fact *f = made_near(m, "async.load.latency", 400, 1e-9);
    assert_true(f->ci.hi < 410);
    made_says(f, "at most 400");
    made_says(f, ", at most 909 cycles");
    made_free(m);
}

static void add_issue(struct made *m, const char *path, int stages, double ns, const char *notes)
{
    char axes[96];
    snprintf(axes, sizeof axes, "what=issue path=%s level=L2 tile=1024 stages=%d", path, stages);
    struct as_cell *cell = made_add(m, "async_copy", "ns", ns, axes);
    cell->detail = strdup(notes);
    cell->clock_hz = strcmp(path, "bulk") == 0 ? NAN : 2e9;
}

/* Beside a load with its store; the measurement with most in flight. */
UNIT_TEST(test_issue)
{
    static const char wide[] = "{\"bytes_per_instruction\": 512}", tile[] = "{\"bytes_per_instruction\": 1024}";
    struct made *m = made_gpu();
    add_issue(m, "bulk", 8, 20, tile);
    made_derive(m);
    made_says(made_get(m, "async.bulk.issue"), " per copy instruction of 1 KiB");
    made_end(m);
    add_issue(m, "bulk", 8, 20, tile);
    add_issue(m, "load", 4, 9, wide);
    add_issue(m, "load", 8, 8, wide);
    add_issue(m, "cp_async", 8, 4, wide);
    made_derive(m);
    made_near(m, "async.load.issue", 16, 1e-9);
    made_near(m, "async.cp_async.issue", 8, 1e-9);
    made_says(made_get(m, "async.load.issue"), "Issue cost of loads through registers: 16.0 cycles");
    made_says(made_get(m, "async.cp_async.issue"), "Issue cost of cp.async: 8.00 cycles");
    made_says(made_get(m, "async.bulk.issue"), "; load and store: 16.0 cycles");
    made_free(m);
}

/* Where every point is as fast as the best, nothing shows how few bytes would do; nor by wide intervals. */
UNIT_TEST(test_no_flight)
{
    struct made *m = made_gpu();
    add_path(m, "load", "L2", 1, 60);
    add_path(m, "bulk", "L2", 1, 40);
    made_derive(m);
    assert_null(made_find(m, "async.load.L2.flight"));
    made_verdict(m, "async.bulk.L2.gain", AS_REFUTED);
    made_says(made_get(m, "async.bulk.L2.gain"), "0.667x (");
    made_end(m);
    m->share = 0.4;
    add_path(m, "load", "memory", 400, 60);
    made_derive(m);
    assert_null(made_find(m, "async.load.memory.flight"));
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flight_and_gain),
        cmocka_unit_test(test_latency_in_cycles),
        cmocka_unit_test(test_issue),
        cmocka_unit_test(test_no_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
