/* The rule of lost updates, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void start(struct made *m)
{
    *m = (struct made){.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};
}

static struct as_cell *lost(struct made *m, double value, const char *type, const char *op, int cpu)
{
    char axes[200];
    snprintf(axes, sizeof axes,
             "agent=device elements=1 type=%s cpu_threads=%d device_threads=64 scope=system order=relaxed "
             "allocator=pinned op=%s",
             type, cpu, op);
    struct as_cell *c = made_add(m, "atomics_lost", "updates", value, axes);
    c->detail = strdup("{\"updates_by_cpu\":1000,\"updates_by_device\":524}");
    return c;
}

UNIT_TEST(test_lost_updates)
{
    struct made m;
    start(&m);
    lost(&m, 0, "u32", "add", 0);
    lost(&m, 0, "f32", "add", 0);
    lost(&m, 0, "u32", "add", 2);
    lost(&m, 0, "u64", "add", 2)->sum.max = 3; /* in one run only */
    lost(&m, 500, "u64", "plain", 2);
    lost(&m, 0, "u64", "plain", 0);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "lost.device.pinned");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_int_equal(f->evidence_n, 2);
    made_says(f,
              "Atomics on 'pinned' memory by device threads: no update lost in about 91.4 thousand, in 2 measurements");
    assert_int_equal(made_get(&m, "lost.both.pinned")->verdict, AS_SUPPORTED);
    made_says(made_get(&m, "lost.both.pinned"), "Some kinds of atomics on 'pinned' memory by CPU and device");
    made_says(made_get(&m, "lost.both.pinned"), "(u32 system)");
    f = made_get(&m, "lost.both.pinned.u64.system");
    assert_int_equal(f->verdict, AS_REFUTED);
    assert_true(f->value == 3);
    made_says(f, "UPDATES ARE LOST in 'pinned' where CPU and device concurrently increment one u64, scope system: "
                 "up to 3 per sample, in 1 measurement");
    made_acts(&m, f->id,
              "Do not use u64 atomics by CPU and device concurrently on 'pinned': up to 3 updates per sample are lost");
    f = made_get(&m, "lost.control.both.pinned");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "up to 500 per sample, so losses are detected");
    f = made_get(&m, "lost.control.device.pinned");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_end(&m);
}

static void updates_of(struct as_cell *cell, const char *detail)
{
    free(cell->detail);
    cell->detail = strdup(detail);
}

/* Of two sides those updates count that the other side's may have met: what one side makes alone proves nothing. */
UNIT_TEST(test_few_concurrent_updates)
{
    struct made m;
    start(&m);
    updates_of(lost(&m, 0, "u32", "add", 2), "{\"updates_by_cpu\":2,\"updates_by_device\":131072}");
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "lost.both.pinned");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "Whether atomics on 'pinned' memory by CPU and device concurrently lose updates is inconclusive: none "
                 "lost in 1 measurement (u32 system), only about 120 concurrent updates");
    lost(&m, 0, "u64", "add", 2);
    made_derive(&m);
    f = made_get(&m, "lost.both.pinned");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_int_equal(f->evidence_n, 1);
    made_says(f,
              "Some kinds of atomics on 'pinned' memory by CPU and device concurrently: no update lost in about 31.4 "
              "thousand concurrent updates, in 1 measurement (u64 system); inconclusive in 1 measurement (u32 "
              "system), only about 120 concurrent updates");
    made_end(&m);
}

/* A kind that loses with any number of threads is not safe with others. */
UNIT_TEST(test_one_kind_is_lost_or_not)
{
    struct made m;
    start(&m);
    lost(&m, 0, "f64", "add", 2);
    lost(&m, 7, "f64", "add", 8);
    const struct as_metric_value share = {"lost_share", "%", .trials = 2, .value = 45.1, .ci = {20, 90}};
    assert_int_equal(as_cell_set_metrics(&m.cells[1], &share, 1, NULL), AS_OK);
    made_derive(&m);
    assert_null(made_find(&m, "lost.both.pinned"));
    const struct as_fact *f = made_get(&m, "lost.both.pinned.f64.system");
    made_says(f, "up to 7 per sample (median 45% of the updates), in 1 of 2 measurements");
    assert_int_equal(f->evidence_n, 2);
    made_end(&m);
}

/* Losses are expected where the scope excludes the CPU or the driver says that the memory is not shared, and the
 * sentence says why. Elsewhere they are unexpected. */
UNIT_TEST(test_expected_losses)
{
    struct made m;
    start(&m);
    m.info.allocators_n = 1;
    m.info.allocators[0] = (struct as_allocator){.name = "pinned"};
    lost(&m, 7, "u32", "add", 2);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "lost.both.pinned.u32.system");
    assert_int_equal(f->verdict, AS_REFUTED);
    made_says(f, "UPDATES ARE LOST");
    strcpy(m.info.allocators[0].no_sharing, "no atomics over the bus");
    made_derive(&m);
    f = made_get(&m, "lost.both.pinned.u32.system");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "Updates are lost in 'pinned'");
    made_says(f, "; the driver says: no atomics over the bus");
    assert_string_equal(f->act, "");
    made_end(&m);
}

/* Cells that fail a gate are not used, and without cells there are no facts. */
UNIT_TEST(test_rejected_cells_say_nothing)
{
    struct made m;
    start(&m);
    lost(&m, 7, "u64", "add", 2)->status = AS_CELL_REJECTED;
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_updates),
        cmocka_unit_test(test_few_concurrent_updates),
        cmocka_unit_test(test_one_kind_is_lost_or_not),
        cmocka_unit_test(test_expected_losses),
        cmocka_unit_test(test_rejected_cells_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
