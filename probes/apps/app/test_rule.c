/* The rule of applications, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void add(const char *axes, double ms, double transfer_ms, double peak)
{
    struct as_cell *cell = made_add(&m, "app", "ns", ms * 1e6, axes);
    const double transfer = transfer_ms * 1e6;
    const struct as_metric_value further[] = {
        {.name = "transfer", .unit = "ns", .trials = 3, .value = transfer, .ci = {transfer, transfer}},
        {.name = "peak_memory", .unit = "B", .trials = 3, .value = peak, .ci = {peak, peak}},
    };
    assert_int_equal(as_cell_set_metrics(cell, further, peak > 0 ? 2 : 1, NULL), AS_OK);
}

UNIT_TEST(test_apps)
{
    add("app=hotspot version=explicit allocator=cuMemAlloc size=1048576", 9, 1, 1e6);
    add("app=hotspot version=explicit allocator=cuMemAlloc size=67108864", 100, 30, 1e8);
    add("app=hotspot version=unified allocator=cuMemAllocManaged size=67108864", 80, 0, 6e7);
    add("app=nn version=explicit allocator=cuMemAlloc size=67108864", 100, 20, 0);
    add("app=nn version=unified allocator=cuMemHostAlloc size=67108864", 150, 0, 0);
    add("app=backprop version=unified allocator=cuMemHostAlloc size=67108864", 150, 0, 0);
    made_derive(&m);
    made_near(&m, "app.hotspot.cuMemAllocManaged", 0.8, 1e-9);
    made_verdict(&m, "app.hotspot.cuMemAllocManaged", AS_SUPPORTED);
    const struct as_fact *f = made_get(&m, "app.hotspot.cuMemAllocManaged");
    made_says(f, "hotspot on cuMemAllocManaged: unified takes 0.800x ");
    made_says(f, ", with 40% less peak memory; copies are 30% of the explicit time");
    assert_non_null(strstr(f->act, "Use one allocation for CPU and device: with copies, hotspot takes 1.25x"));
    made_verdict(&m, "app.nn.cuMemHostAlloc", AS_REFUTED);
    f = made_get(&m, "app.nn.cuMemHostAlloc");
    made_says(f, "; copies are 20% of the explicit time"); /* memory was not counted */
    assert_non_null(strstr(f->act, "Copy between host and device explicitly: nn takes 1.50x"));
    assert_null(made_find(&m, "app.backprop.cuMemHostAlloc")); /* no explicit version beside it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_apps, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
