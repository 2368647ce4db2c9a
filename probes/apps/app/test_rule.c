/* The rule of applications, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static struct as_metric_value metric(const char *name, const char *unit, double value)
{
    struct as_metric_value v = {.trials = 3, .value = value, .ci = {0.99 * value, 1.01 * value}};
    snprintf(v.name, sizeof v.name, "%s", name);
    snprintf(v.unit, sizeof v.unit, "%s", unit);
    return v;
}

/* Metrics: pairs of a name and a number, in ms or a ratio; ends with NULL. */
struct noted {
    const char *name;
    double value;
};
static struct as_cell *add(const char *axes, double ms, const struct noted *noted)
{
    struct as_cell *cell = made_add(&m, "app", "ns", ms * 1e6, axes);
    struct as_metric_value further[8];
    size_t n = 0;
    for (; noted && noted[n].name; n++)
        further[n] = strstr(noted[n].name, "against")  ? metric(noted[n].name, "x", noted[n].value)
                     : strstr(noted[n].name, "memory") ? metric(noted[n].name, "B", noted[n].value)
                                                       : metric(noted[n].name, "ns", noted[n].value * 1e6);
    assert_int_equal(as_cell_set_metrics(cell, further, n, NULL), AS_OK);
    return cell;
}
#define NOTED(...) ((const struct noted[]){__VA_ARGS__{NULL, 0}})
#define CELL(app, version, strategy, allocator)                                                                        \
    "app=" app " version=" version " strategy=" strategy " allocator=" allocator " size=1048576"

/* The ratio is that of neighbouring runs, not that of the cells' medians. */
UNIT_TEST(test_apps)
{
    add(CELL("hotspot", "explicit", "none", "cuMemAlloc"), 100, NOTED({"transfer", 30}, {"kernel", 20}, {"free", 5}, ));
    add(CELL("hotspot", "unified", "none", "managed"), 300,
        NOTED({"against_explicit", 0.8}, {"compute_against_explicit", 0.5}, {"peak_against_explicit", 0.6},
              {"transfer", 0.1}, {"kernel", 30}, {"free", 6}, ));
    add(CELL("nn", "unified", "none", "pinned"), 150,
        NOTED({"against_explicit", 1.5}, {"compute_against_explicit", 1.5}, ));
    add(CELL("backprop", "unified", "none", "pinned"), 150, NULL);
    made_derive(&m);
    made_near(&m, "app.hotspot.managed", 0.8, 1e-9);
    made_verdict(&m, "app.hotspot.managed", AS_SUPPORTED);
    const struct as_fact *f = made_get(&m, "app.hotspot.managed");
    made_says(f, "hotspot on managed: unified takes 0.800x (0.792 to 0.808x) the time of explicit, 0.500x from input "
                 "to output (0.495 to 0.505x), "
                 "with 40% less peak memory; phases: copies -30 ms, kernels +10 ms");
    assert_non_null(strstr(f->act, "Use one allocation for CPU and device: with copies, hotspot takes 1.25x"));
    made_verdict(&m, "app.nn.pinned", AS_REFUTED);
    f = made_get(&m, "app.nn.pinned");
    assert_null(strstr(f->sentence, "from input")); /* as the total */
    assert_non_null(strstr(f->act, "Copy between host and device explicitly: nn takes 1.50x"));
    assert_null(made_find(&m, "app.backprop.pinned")); /* no explicit version ran beside it */
}

/* Nothing is said of a ratio that may be anything. */
UNIT_TEST(test_open)
{
    add(CELL("nn", "explicit", "none", "cuMemAlloc"), 100, NULL);
    add(CELL("nn", "unified", "none", "pinned"), 150, NULL);
    add(CELL("nn", "unified", "hidden-allocator", "pinned"), 150, NULL);
    struct as_metric_value v = metric("against_explicit", "x", 0.9);
    v.ci = (struct as_interval){0.1, 8};
    assert_int_equal(as_cell_set_metrics(&m.cells[1], &v, 1, NULL), AS_OK);
    snprintf(v.name, sizeof v.name, "against_plain");
    assert_int_equal(as_cell_set_metrics(&m.cells[2], &v, 1, NULL), AS_OK);
    made_derive(&m);
    made_says(made_get(&m, "app.nn.pinned"), "nn on pinned: unified against explicit is inconclusive");
    made_says(made_get(&m, "strategy.nn.hidden-allocator.pinned"),
              "Whether nn on pinned is faster with an array that grows as a container does than with its final size");
}

/* One trial's peak says nothing, since counters of the system see others. */
UNIT_TEST(test_one_peak)
{
    add(CELL("nn", "unified", "none", "pinned"), 150, NOTED({"against_explicit", 0.5}, ));
    struct as_metric_value v[2] = {metric("against_explicit", "x", 0.5), metric("peak_against_explicit", "x", 0.02)};
    v[1].trials = 1;
    assert_int_equal(as_cell_set_metrics(&m.cells[0], v, 2, NULL), AS_OK);
    made_derive(&m);
    assert_null(strstr(made_get(&m, "app.nn.pinned")->sentence, "peak memory"));
}

UNIT_TEST(test_host)
{
    add(CELL("nn", "explicit", "none", "cuMemAlloc"), 100, NULL);
    add(CELL("nn", "unified", "none", "managed"), 200, NULL);
    struct as_cell *host = add(CELL("nn", "host", "none", "cuMemAlloc"), 700, NULL);
    made_derive(&m);
    assert_null(made_find(&m, "host.app.nn")); /* an older trial, which had no arrays */
    host->detail = strdup("{\"host_arrays\":1}");
    made_derive(&m);
    made_near(&m, "host.app.nn", 7, 1e-9);
    made_says(made_get(&m, "host.app.nn"), "the time on the device (explicit, cuMemAlloc)");
}

/* Older trials compiled the variables' modules in each timed run: nothing follows from their times. */
UNIT_TEST(test_compiled_statics)
{
    add(CELL("nn", "explicit", "none", "cuMemAlloc"), 100, NULL);
    add(CELL("nn", "unified", "none", "managed"), 90, NOTED({"against_explicit", 0.9}, ));
    add(CELL("nn", "unified", "static", "__managed__"), 60, NOTED({"against_explicit", 3}, {"against_plain", 4}, ));
    add(CELL("nn", "host", "none", "cuMemAlloc"), 900, NULL)->detail = strdup("{\"host_arrays\":1}");
    made_derive(&m);
    assert_null(made_find(&m, "app.nn.__managed__"));
    assert_null(made_find(&m, "strategy.nn.static.__managed__"));
    made_near(&m, "host.app.nn", 10, 1e-9);
    m.cells[2].detail = strdup("{\"static_modules\":1}");
    made_derive(&m);
    made_near(&m, "app.nn.__managed__", 3, 1e-9);
    made_near(&m, "strategy.nn.static.__managed__", 4, 1e-9);
    made_near(&m, "host.app.nn", 15, 1e-9);
}

/* The driver's step is no memory of the application. */
UNIT_TEST(test_peaks_of_managed_memory)
{
    static const struct {
        double peak; /* of arrays of 1 MiB */
        const char *allocator;
        bool said;
    } rows[] = {{2 << 20, "managed", false},
                {1.05 * (1 << 20), "managed", true},
                {0.8 * (1 << 20), "managed", false},
                {1 << 20, "__managed__", false},
                {2 << 20, "pinned", true}};
    m.info.allocators_n = 3;
    m.info.allocators[0] = (struct as_allocator){.name = "managed", .role = AS_ROLE_MANAGED};
    m.info.allocators[1] = (struct as_allocator){.name = "__managed__", .role = AS_ROLE_MANAGED_STATIC};
    m.info.allocators[2] = (struct as_allocator){.name = "pinned", .role = AS_ROLE_PINNED};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[160], id[64];
        const bool is_static = strcmp(rows[i].allocator, "__managed__") == 0;
        snprintf(axes, sizeof axes, "app=nn version=unified strategy=%s allocator=%s size=1048576",
                 is_static ? "static" : "none", rows[i].allocator);
        add(axes, 150,
            NOTED({"against_explicit", 0.5}, {"peak_against_explicit", 1.8}, {"peak_memory", rows[i].peak}, ))
            ->detail = strdup("{\"static_modules\":1}");
        made_derive(&m);
        snprintf(id, sizeof id, "app.nn.%s", rows[i].allocator);
        assert_int_equal(strstr(made_get(&m, id)->sentence, "80% more peak memory") != NULL, rows[i].said);
        made_end(&m);
    }
}

UNIT_TEST(test_strategies)
{
    m.info.allocators_n = 2;
    m.info.allocators[0] = (struct as_allocator){.name = "managed", .role = AS_ROLE_MANAGED};
    m.info.allocators[1] = (struct as_allocator){.name = "__managed__", .role = AS_ROLE_MANAGED_STATIC};
    add(CELL("heartwall", "unified", "double-buffering", "managed"), 80,
        NOTED({"against_plain", 0.8}, {"peak_against_plain", 1.5}, {"peak_memory", 1 << 20}, ));
    add(CELL("heartwall", "unified", "static", "__managed__"), 160, NOTED({"against_plain", 2}, ))->detail =
        strdup("{\"static_modules\":1}");
    add(CELL("dwt2d", "explicit", "partial-transfers", "cuMemAlloc"), 100, NOTED({"against_plain", 1}, ));
    add(CELL("nn", "unified", "hidden-allocator", "malloc"), 300, NULL); /* nothing ran beside it */
    made_derive(&m);
    made_near(&m, "strategy.heartwall.double-buffering.managed", 0.8, 1e-9);
    made_verdict(&m, "strategy.heartwall.double-buffering.managed", AS_SUPPORTED);
    made_says(
        made_get(&m, "strategy.heartwall.double-buffering.managed"),
        "heartwall on managed takes 0.800x (0.792 to 0.808x) as long with two buffers in turn as with one, with 50% "
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
        made_test(test_open, &m),
        made_test(test_one_peak, &m),
        made_test(test_host, &m),
        made_test(test_strategies, &m),
        made_test(test_compiled_statics, &m),
        made_test(test_peaks_of_managed_memory, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
