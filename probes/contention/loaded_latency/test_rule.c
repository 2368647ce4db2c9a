/* The rule of the loaded-latency curve, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>

static struct made m = {.info = {.id = "cpu",
                                 .backend = "cpu",
                                 .caches_n = 1,
                                 .caches = {{.level = 3, .kind = 'u', .size = 32 << 20}},
                                 .is_host_memory = true},
                        .share = 0.01};

static int clean(void **unused)
{
    (void)unused;
    made_end(&m);
    m.share = 0.01;
    return 0;
}

static struct as_cell *add(const char *op, int delay, int mib, int threads, double ns, double gbs)
{
    const struct as_metric_value v = {.name = "bandwidth",
                                      .unit = "GB/s",
                                      .counts = "bytes",
                                      .trials = 3,
                                      .value = gbs,
                                      .ci = {gbs * (1 - m.share), gbs * (1 + m.share)}};
    char axes[160];
    snprintf(axes, sizeof axes, "op=%s delay=%d size=%d threads=%d allocator=thp", op, delay, mib << 20, threads);
    struct as_cell *cell = made_add(&m, "loaded_latency", "ns", ns, axes);
    assert_int_equal(as_cell_set_metrics(cell, &v, 1, NULL), AS_OK);
    return cell;
}

/* 100 ns without load, 300 ns at 100 GB/s; twice the unloaded latency is half way between 60 and 90 GB/s. */
static void add_curve(const char *op)
{
    add("none", 0, 128, 1, 100, 0);
    add(op, 0, 128, 8, 300, 100);
    add(op, 256, 128, 8, 250, 90);
    add(op, 1024, 128, 8, 150, 60);
    add(op, 4096, 128, 8, 110, 20);
}

UNIT_TEST(test_curve)
{
    add_curve("read");
    made_derive(&m);
    made_holds(made_get(&m, "loaded_latency.unloaded.thp"), 100);
    made_says(made_get(&m, "loaded_latency.unloaded.thp"), "128 MiB");
    const struct as_fact *f = made_near(&m, "loaded_latency.peak.read.thp", 300, 1e-9);
    made_says(f, "100 GB/s");
    made_says(f, "3.00x");
    f = made_near(&m, "loaded_latency.doubles.read.thp", 75, 1e-9);
    made_verdict(&m, "loaded_latency.doubles.read.thp", AS_SUPPORTED);
    assert_true(fabs(f->ci.lo - 59.4) < 0.01 && fabs(f->ci.hi - 90.9) < 0.01);
    assert_int_equal(f->evidence_n, 5);
    made_says(f, "doubles at 75");
    made_says(f, "75.0 GB/s of 100 GB/s");
}

/* A buffer that may fit a cache does not count as memory, nor does one behind caches of unknown size. */
UNIT_TEST(test_not_of_memory)
{
    add("none", 0, 64, 1, 20, 0);
    add("read", 0, 64, 8, 60, 400);
    made_derive(&m);
    assert_null(made_find(&m, "loaded_latency.unloaded.thp"));
    assert_null(made_find(&m, "loaded_latency.peak.read.thp"));
    made_end(&m);
    m.share = 0.01;
    add("none", 0, 512, 1, 20, 0);
    m.info.caches_n = 0;
    made_derive(&m);
    m.info.caches_n = 1;
    assert_null(made_find(&m, "loaded_latency.unloaded.thp"));
}

/* Small buffers, fewer threads, and loads without an unloaded cell of the same buffer do not count. */
UNIT_TEST(test_which_curve)
{
    add_curve("read");
    add("none", 0, 8, 1, 10, 0);
    add("read", 0, 8, 8, 90, 500);
    add("read", 0, 128, 2, 120, 10);
    for (int i = 0; i < 4; i++)
        add("update", 1 << i, 64, 8, 300, 50);
    made_derive(&m);
    made_near(&m, "loaded_latency.unloaded.thp", 100, 1e-9);
    made_near(&m, "loaded_latency.peak.read.thp", 300, 1e-9);
    made_near(&m, "loaded_latency.doubles.read.thp", 75, 1e-9);
    assert_null(made_find(&m, "loaded_latency.peak.update.thp"));
}

/* If the highest load achieves less than the one before, the one before is the peak. */
UNIT_TEST(test_past_the_peak)
{
    add_curve("update");
    add("update", 64, 128, 8, 290, 120);
    made_derive(&m);
    made_says(made_near(&m, "loaded_latency.peak.update.thp", 290, 1e-9), "120 GB/s");
    made_near(&m, "loaded_latency.doubles.update.thp", 62.5, 1e-9);
}

UNIT_TEST(test_never_doubles)
{
    add("none", 0, 128, 1, 100, 0);
    for (int i = 0; i < 4; i++)
        add("read", i ? 64 << i : 0, 128, 8, 160 - 15 * i, 100 - 20 * i);
    made_derive(&m);
    made_says(made_get(&m, "loaded_latency.peak.read.thp"), "1.60x");
    assert_null(made_find(&m, "loaded_latency.doubles.read.thp"));
}

/* By the medians latency doubles, by the intervals perhaps not. */
UNIT_TEST(test_wide)
{
    add_curve("read");
    m.cells[1].sum.ci = (struct as_interval){150, 450};
    m.cells[2].sum.ci = (struct as_interval){150, 350};
    made_derive(&m);
    made_verdict(&m, "loaded_latency.doubles.read.thp", AS_UNDECIDED);
    const struct as_fact *f = made_near(&m, "loaded_latency.doubles.read.thp", 75, 1e-9);
    made_says(f, "may double");
    assert_true(f->ci.lo < 60 && f->ci.hi == 100);
}

/* Very wide intervals give no number, and a ratio that may be 1 decides nothing. */
UNIT_TEST(test_too_wide)
{
    m.share = 0.9;
    add_curve("read");
    made_derive(&m);
    made_verdict(&m, "loaded_latency.peak.read.thp", AS_UNDECIDED);
    made_says(made_get(&m, "loaded_latency.peak.read.thp"), "an unknown number of times the unloaded latency");
    made_verdict(&m, "loaded_latency.doubles.read.thp", AS_UNDECIDED);
    made_says(made_get(&m, "loaded_latency.doubles.read.thp"), "the intervals are too wide");
    assert_true(isnan(made_get(&m, "loaded_latency.doubles.read.thp")->value));
}

/* Two loads are too few for a curve, and cells of other stores may have no bandwidth. */
UNIT_TEST(test_too_little)
{
    add("none", 0, 128, 1, 100, 0);
    add("read", 0, 128, 8, 300, 100);
    add("read", 256, 128, 8, 150, 60);
    made_add(&m, "loaded_latency", "ns", 250, "op=read delay=64 size=134217728 threads=8 allocator=thp");
    made_derive(&m);
    made_get(&m, "loaded_latency.peak.read.thp");
    assert_null(made_find(&m, "loaded_latency.doubles.read.thp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_not_of_memory, clean), cmocka_unit_test_teardown(test_curve, clean),
        cmocka_unit_test_teardown(test_which_curve, clean),   cmocka_unit_test_teardown(test_past_the_peak, clean),
        cmocka_unit_test_teardown(test_never_doubles, clean), cmocka_unit_test_teardown(test_too_wide, clean),
        cmocka_unit_test_teardown(test_wide, clean),          cmocka_unit_test_teardown(test_too_little, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
