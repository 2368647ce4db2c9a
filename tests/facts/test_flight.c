/* Operations in flight, from rates of one probe and latencies of another, on synthetic cells. */
#include "made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda", .warp = 32, .compute_units = 132}, .share = 0.01};

static int empty_run(void **unused)
{
    (void)unused;
    made_end(&m);
    m.clock_hz = 0;
    return 0;
}

static struct as_cell *add_rate(const char *op, double value, unsigned ilp, unsigned warps, const char *detail)
{
    char axes[96];
    snprintf(axes, sizeof axes, "op=%s ilp=%u warps=%u operands=0 steps=0", op, ilp, warps);
    struct as_cell *c = made_add(&m, "alu", "ops/cycle", value, axes);
    if (detail)
        c->detail = strdup(detail);
    return c;
}

static struct as_cell *add_latency(const char *op, double value)
{
    char axes[96];
    snprintf(axes, sizeof axes, "op=%s operands=0 steps=0", op);
    struct as_cell *c = made_add(&m, "alu_latency", "cycles", value, axes);
    c->lower_is_better = true;
    return c;
}

static void one_chain(double last)
{
    for (unsigned warps = 1; warps <= 8; warps *= 2)
        add_rate("ffma32", 8 * warps, 1, warps, NULL);
    add_rate("ffma32", 128, 4, 0, NULL);
    add_rate("ffma32", last, 1, 16, NULL);
    add_latency("ffma32", 4);
}

UNIT_TEST(test_flight)
{
    one_chain(127);
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.flight.ffma32", 16, 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "up to 0.8% off");
    made_says(f, "512 in flight");
    made_add(&m, "alu", "ops/cycle", 64, "op=ffma32 ilp=1 warps=16 operands=3 steps=0");    /* registers share a port */
    made_add(&m, "alu", "ops/cycle", 70, "op=ffma32 ilp=1 warps=16 operands=0 steps=6144"); /* no cache for its loop */
    made_derive(&m);
    assert_int_equal(made_get(&m, "alu.flight.ffma32")->verdict, AS_SUPPORTED);
    made_end(&m);
    one_chain(96); /* a curve that saturates below Little's law */
    made_derive(&m);
    assert_int_equal(made_get(&m, "alu.flight.ffma32")->verdict, AS_REFUTED);
    made_end(&m);
    add_rate("ffma32", 1.9, 4, 0, NULL);
    add_latency("ffma32", 4);
    m.info.is_host_cpu = true; /* a core has no warps */
    made_derive(&m);
    assert_null(made_find(&m, "alu.flight.ffma32"));
    m.info.is_host_cpu = false;
}

/* Off the law by the medians, perhaps not by the intervals. */
UNIT_TEST(test_flight_of_wide_intervals)
{
    m.share = 0.3;
    one_chain(96);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "alu.flight.ffma32");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "too wide an interval to decide");
    m.share = 0.01;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_flight_of_wide_intervals, empty_run),
        cmocka_unit_test_teardown(test_flight, empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
