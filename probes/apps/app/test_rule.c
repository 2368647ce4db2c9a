/* The rule of applications, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void add_with_kernels(const char *axes, double ms, double transfer_ms, double kernel_ms, double peak)
{
    struct as_cell *cell = made_add(&m, "app", "ns", ms * 1e6, axes);
    const double transfer = transfer_ms * 1e6, kernel = kernel_ms * 1e6;
    const struct as_metric_value further[] = {
        {.name = "transfer", .unit = "ns", .trials = 3, .value = transfer, .ci = {transfer, transfer}},
        {.name = "kernel", .unit = "ns", .trials = 3, .value = kernel, .ci = {kernel, kernel}},
        {.name = "peak_memory", .unit = "B", .trials = 3, .value = peak, .ci = {peak, peak}},
    };
    assert_int_equal(as_cell_set_metrics(cell, further, peak > 0 ? 3 : kernel > 0 ? 2 : 1, NULL), AS_OK);
}

static void add(const char *axes, double ms, double transfer_ms, double peak)
{
    add_with_kernels(axes, ms, transfer_ms, 0, peak);
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
    made_says(f, " as long as explicit; copies are 20% of the explicit time"); /* memory was not counted */
    assert_non_null(strstr(f->act, "Copy between host and device explicitly: nn takes 1.50x"));
    assert_null(made_find(&m, "app.backprop.cuMemHostAlloc")); /* no explicit version beside it */
}

/* Memory in which kernels are slower than they were in the device's own. */
UNIT_TEST(test_why)
{
    add_with_kernels("app=nn version=explicit strategy=none allocator=cuMemAlloc size=1048576", 100, 20, 50, 0);
    add_with_kernels("app=nn version=unified strategy=none allocator=managed size=1048576", 200, 0, 150, 0);
    add_with_kernels("app=nn version=host strategy=none allocator=cuMemAlloc size=1048576", 700, 0, 0, 0);
    made_derive(&m);
    made_says(made_get(&m, "app.nn.managed"),
              "nn on managed: unified takes 2.00x (1.97 to 2.03x) as long as explicit; copies are 20% of the explicit "
              "time; kernels take 3.00x as long in this memory");
    made_near(&m, "host.app.nn", 7, 1e-9);
    made_says(made_get(&m, "host.app.nn"), "by one thread of the CPU as by the device (explicit, cuMemAlloc)");
}

UNIT_TEST(test_strategies)
{
    m.info.allocators_n = 2;
    m.info.allocators[0] = (struct as_allocator){.name = "managed", .role = AS_ROLE_MANAGED};
    m.info.allocators[1] = (struct as_allocator){.name = "__managed__", .role = AS_ROLE_MANAGED_STATIC};
#define CELL(app, version, strategy, allocator)                                                                        \
    "app=" app " version=" version " strategy=" strategy " allocator=" allocator " size=1048576"
    add(CELL("heartwall", "unified", "none", "managed"), 100, 0, 4e6);
    add(CELL("heartwall", "unified", "double-buffering", "managed"), 80, 0, 6e6);
    add(CELL("heartwall", "unified", "static", "__managed__"), 160, 0, 6e6);
    add(CELL("dwt2d", "explicit", "none", "cuMemAlloc"), 100, 40, 0);
    add(CELL("dwt2d", "explicit", "partial-transfers", "cuMemAlloc"), 100, 40, 0);
    add(CELL("nn", "unified", "hidden-allocator", "malloc"), 300, 0, 0); /* nothing beside it */
    made_derive(&m);
    made_near(&m, "strategy.heartwall.double-buffering.managed", 0.8, 1e-9);
    made_verdict(&m, "strategy.heartwall.double-buffering.managed", AS_SUPPORTED);
    made_says(
        made_get(&m, "strategy.heartwall.double-buffering.managed"),
        "heartwall on managed takes 0.800x (0.789 to 0.811x) as long with two buffers in turn as with one, with 50% "
        "more peak memory");
    made_near(&m, "strategy.heartwall.static.__managed__", 2, 1e-9);
    made_verdict(&m, "strategy.heartwall.static.__managed__", AS_REFUTED);
    made_verdict(&m, "strategy.dwt2d.partial-transfers.cuMemAlloc", AS_UNDECIDED);
    assert_null(made_find(&m, "strategy.nn.hidden-allocator.malloc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_apps, &m),
        made_test(test_why, &m),
        made_test(test_strategies, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
