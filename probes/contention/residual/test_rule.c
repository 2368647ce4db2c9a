/* The rule of cache eviction, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS}, .share = 0.005};

static void add_cell(const char *differs, double times)
{
    static const struct {
        const char *axis, *usual;
    } axes[] = {{"op", "read"},   {"touched", "67108864"}, {"size", "16777216"}, {"pattern", "linear"},
                {"stride", "64"}, {"pass", "1"},           {"delay", "0"},       {"allocator", "malloc"},
                {"side", "cpu"},  {"control", "launch"}};
    char text[256] = "";
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s=", axes[i].axis);
        const char *other = strstr(differs, name);
        const size_t n = strlen(text);
        if (other)
            snprintf(text + n, sizeof text - n, "%.*s ", (int)strcspn(other, " "), other);
        else
            snprintf(text + n, sizeof text - n, "%s%s ", name, axes[i].usual);
    }
    text[strlen(text) - 1] = '\0';
    struct as_error err;
    /* the control takes 2 ns per line */
    const struct as_metric_value after = {.name = "after_touch",
                                          .unit = "ns",
                                          .lower_is_better = true,
                                          .trials = 10,
                                          .value = 2 * times,
                                          .ci = {1.99 * times, 2.01 * times}};
    assert_int_equal(as_cell_set_metrics(made_add(&m, "residual", "x", times, text), &after, 1, &err), AS_OK);
}

static void add(int touched, int pass, double times)
{
    char differs[64];
    snprintf(differs, sizeof differs, "touched=%d pass=%d", touched << 20, pass);
    add_cell(differs, times);
}

#define ID(what) "residual." what ".cpu.read.linear.malloc.16777216.64"

/* Numbers of the published study of the M4 Pro. */
UNIT_TEST(test_evicted)
{
    add(1, 1, 1.001);
    add(16, 1, 1.01);
    add(64, 1, 1.31);
    add(512, 1, 1.63);
    add(512, 2, 1.2);
    add(512, 3, 1.005);
    made_derive(&m);
    made_says(made_near(&m, ID("begins"), 64 << 20, 1e-9),
              "Eviction begins at 16 to 64 MiB: the CPU's first linear pass over 16 MiB slows down after another "
              "core read 64 MiB or less");
    made_says(made_near(&m, ID("slowdown_64mib"), 1.31, 1e-9), "as long after another core read 64 MiB as after");
    made_acts(&m, ID("slowdown_512mib"), "Finish with cached data before another core streams through memory: ");
    made_says(made_near(&m, ID("slowdown_512mib"), 1.63, 1e-9), "as long after another core read 512 MiB as after");
    assert_null(made_find(&m, ID("slowdown"))); /* the largest footprint has its own fact already */
    made_says(made_near(&m, ID("rewarm_512mib"), 100 * (1 - 1.2 / 1.63), 1e-9),
              "shortens the CPU's second linear pass");
    made_says(made_near(&m, ID("recovers"), 3, 1e-9), "The slowdown ends at pass 3 after another core read 512 MiB");
}

UNIT_TEST(test_not_evicted)
{
    add(1, 1, 1.0);
    add(16, 1, 1.0);
    add(64, 1, 1.003);
    add(64, 2, 1.0);
    made_derive(&m);
    made_says(made_get(&m, ID("begins")), "is at most 2% slower after another core read 64 MiB");
    made_verdict(&m, ID("begins"), AS_SUPPORTED);
    made_verdict(&m, ID("slowdown_64mib"), AS_SUPPORTED);
    assert_null(made_find(&m, ID("recovers")));
    assert_null(made_find(&m, ID("rewarm_64mib")));
}

UNIT_TEST(test_undecided)
{
    add(1, 1, 1.0);
    add(16, 1, 1.0);
    add(64, 1, 1.02); /* 1.015 to 1.025 */
    made_derive(&m);
    made_says(made_get(&m, ID("begins")), "is not clearly slower");
    made_verdict(&m, ID("begins"), AS_UNDECIDED);
}

UNIT_TEST(test_device_after_cpu)
{
    add_cell("touched=1048576 side=device", 1.0);
    add_cell("touched=2097152 side=device", 1.0);
    add_cell("touched=33554432 side=device", 1.2);
    made_derive(&m);
    made_says(made_near(&m, "residual.slowdown.device.read.linear.malloc.16777216.64", 1.2, 1e-9),
              "The device's first linear pass over 16 MiB takes 1.2");
    made_says(made_get(&m, "residual.begins.device.read.linear.malloc.16777216.64"), "after the CPU read 32 MiB");
}

UNIT_TEST(test_delay)
{
    add_cell("", 1.4);
    add_cell("delay=10", 1.39);
    add_cell("delay=1000", 1.3);
    add_cell("delay=100000", 1.1);
    made_derive(&m);
    made_says(made_near(&m, ID("half_life"), 1e8, 1e-9), "halves after 1.00 to 100 ms");
}

UNIT_TEST(test_it_stays)
{
    add_cell("", 1.4);
    add_cell("delay=10", 1.4);
    add_cell("delay=100000", 1.4);
    made_derive(&m);
    made_says(made_get(&m, ID("half_life")),
              "Waiting 100 ms does not halve the slowdown of the CPU's first linear pass");
    made_verdict(&m, ID("half_life"), AS_SUPPORTED);
}

UNIT_TEST(test_stride)
{
    add_cell("", 1.1);
    add_cell("stride=4096", 1.3);
    add_cell("stride=8192", 1.6);
    add_cell("stride=16384", 1.2);
    made_derive(&m);
    made_says(made_near(&m, "residual.stride.cpu.read.linear.malloc.16777216.8192", 8192, 1e-9),
              "A pass with a stride of 8 KiB shows eviction most: 1.6");
}

UNIT_TEST(test_control)
{
    add_cell("touched=0", 1.001); /* 0.996 to 1.006 */
    add_cell("touched=0 op=write", 1.1);
    made_derive(&m);
    assert_null(made_find(&m, ID("control"))); /* as it should be */
    const char *id = "residual.control.cpu.write.linear.malloc.16777216.64";
    made_says(made_near(&m, id, 1.1, 1e-9), "After loads within one page, the CPU's first linear pass");
    made_verdict(&m, id, AS_REFUTED);
}

/* A cell against another control says nothing about eviction. */
UNIT_TEST(test_other_control)
{
    add_cell("touched=1048576 control=wait", 1.0);
    add_cell("control=wait", 1.5);
    made_derive(&m);
    assert_null(made_find(&m, ID("slowdown_64mib")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_evicted, &m),          made_test(test_not_evicted, &m),   made_test(test_undecided, &m),
        made_test(test_device_after_cpu, &m), made_test(test_delay, &m),         made_test(test_it_stays, &m),
        made_test(test_stride, &m),           made_test(test_other_control, &m), made_test(test_control, &m),
    };
    return cmocka_run_group_tests_name("rule of cache eviction", tests, NULL, NULL);
}
