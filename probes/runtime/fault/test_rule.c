/* The rule of page faults, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.01};

static struct as_cell *fault(const char *scenario, const char *what, const char *allocator, int pages, double ns)
{
    char axes[160];
    snprintf(axes, sizeof axes, "scenario=%s;what=%s;allocator=%s;pages=%d;access=store", scenario, what, allocator,
             pages);
    struct as_cell *cell = made_add(&m, "fault", "ns", ns, axes);
    if (strcmp(scenario, "cpu-then-device") == 0)
        cell->detail = strdup("{\"second_by_device\": 1}");
    return cell;
}

/* Measurements that took off the moves of a second turn are no evidence. */
UNIT_TEST(test_turns_less_turns_are_left_out)
{
    fault("device-major", "fault", "managed", 10000, 440);
    struct as_cell *turns = fault("cpu-then-device", "fault", "managed", 10000, 22);
    free(turns->detail);
    turns->detail = strdup("{\"second_touch\": 733}");
    made_derive(&m);
    assert_null(made_find(&m, "fault.prefault.cpu-then-device.managed"));
    assert_null(made_find(&m, "fault.throughput.cpu-then-device.managed"));
}

UNIT_TEST(test_curve)
{
    struct as_cell *one = fault("cpu-one", "fault", "mmap", 1, 2000);
    one->detail = strdup("{\"mean_ns\": 2500, \"p95_ns\": 4000}");
    fault("cpu-one", "fault", "mmap", 1000, 1050);
    fault("cpu-one", "fault", "mmap", 100000, 1000);
    fault("cpu-one", "control", "mmap", 100000, 5);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "fault.latency.cpu-one.mmap");
    assert_true(f->value == 2000 && f->verdict == AS_SUPPORTED);
    made_says(made_get(&m, "fault.latency.cpu-one.mmap"), "mean 2.50 µs, 95th percentile 4.00 µs");
    assert_null(made_find(&m, "fault.p95.cpu-one.mmap")); /* stores of earlier versions have a note instead */
    f = made_near(&m, "fault.throughput.cpu-one.mmap", 1e6, 1e-6);
    assert_true(f->ci.lo < 1e6 && f->ci.hi > 1e6);
    assert_string_equal(f->unit, "pages/s");
    made_says(made_get(&m, "fault.throughput.cpu-one.mmap"), "1.00 M pages/s");
    made_says(made_get(&m, "fault.throughput.cpu-one.mmap"), "within 10% of it from 1000 pages on (");
}

/* "From N on" holds for all that follow, by median and interval. */
UNIT_TEST(test_ceiling_holds_from_there_on)
{
    fault("cpu-one", "fault", "mmap", 100, 900);
    struct as_cell *slow = fault("cpu-one", "fault", "mmap", 10000, 1325);
    slow->sum.ci = (struct as_interval){872, 2013};
    fault("cpu-one", "fault", "mmap", 100000, 910);
    fault("cpu-one", "fault", "mmap", 1000000, 920);
    fault("cpu-one", "fault", "thp", 100, 900);
    fault("cpu-one", "fault", "thp", 10000, 1325);
    made_derive(&m);
    made_says(made_get(&m, "fault.throughput.cpu-one.mmap"), "within 10% of it from 100000 pages on (");
    made_says(made_get(&m, "fault.throughput.cpu-one.thp"), " over 100 pages, the best of 2 sizes (");
}

/* Modes that percentiles do not show. */
UNIT_TEST(test_modes)
{
    struct as_cell *two = fault("device-major", "fault", "malloc", 1, 9500);
    two->detail = strdup("{\"bins\":\"8933.4:300 9742:420 10624:40 14263:2 15554:90 16962:150\"}");
    struct as_cell *one = fault("cpu-one", "fault", "malloc", 1, 2300);
    one->detail = strdup("{\"bins\":\"2048:200 2233.4:496 2435.5:300 2655.9:95 9742:9\"}");
    made_derive(&m);
    made_says(made_get(&m, "fault.latency.device-major.malloc"), "; two modes: 9.96 µs (79%) and 16.4 µs");
    assert_null(strstr(made_get(&m, "fault.latency.cpu-one.malloc")->sentence, "two modes"));
}

/* What to do, unless a touch of present pages takes as long as the fault. */
UNIT_TEST(test_acts)
{
    fault("device-major", "fault", "shared", 1000, 900);
    fault("device-minor", "fault", "shared", 1000, 300);
    fault("cpu-all", "fault", "mmap", 1000, 100); /* faster on every machine */
    fault("cpu-one", "fault", "mmap", 1000, 1000);
    struct as_cell *control = fault("device-minor", "control", "shared", 1000, 30);
    made_derive(&m);
    assert_string_equal(made_get(&m, "fault.prefault.device-minor.shared")->act,
                        "Touch memory on the CPU first: the device's first access is then 3.00x (2.96 to "
                        "3.04x) as fast (shared, 1000 pages)");
    assert_string_equal(made_get(&m, "fault.threads.cpu-all.mmap")->act, "");
    control->sum.median = 18000;
    made_derive(&m);
    assert_string_equal(made_get(&m, "fault.prefault.device-minor.shared")->act, "");
    made_verdict(&m, "fault.prefault.device-minor.shared", AS_UNDECIDED);
    made_says(made_get(&m, "fault.prefault.device-minor.shared"), "touching a resident page takes longer");
    made_verdict(&m, "fault.throughput.device-minor.shared", AS_UNDECIDED);
    control->sum.median = 30;
    m.cells[0].detail = strdup("{\"second_touch\": 54000}");
    made_derive(&m);
    assert_string_equal(made_get(&m, "fault.prefault.device-minor.shared")->act, "");
}

UNIT_TEST(test_gains)
{
    fault("cpu-one", "fault", "mmap", 10000, 1000);
    fault("cpu-one", "fault", "thp", 10000, 100);
    fault("cpu-all", "fault", "mmap", 10000, 1200);
    fault("cpu-one", "first", "mmap", 10000, 1003);
    fault("device-major", "fault", "shared", 1000, 1);
    fault("device-minor", "fault", "shared", 1000, 1);
    fault("device-major", "fault", "shared", 100000, 900);
    fault("device-minor", "fault", "shared", 100000, 100);
    fault("cpu-one", "fault", "shared", 1, 100);
    fault("cpu-after-device", "fault", "shared", 1, 1000);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "fault.huge_pages.cpu-one.thp");
    assert_true(f->value == 10 && f->verdict == AS_SUPPORTED && f->evidence_n == 2);
    f = made_get(&m, "fault.threads.cpu-all.mmap");
    assert_true(f->verdict == AS_REFUTED && f->ci.hi < 1);
    made_says(made_get(&m, "fault.threads.cpu-all.mmap"), "1.20x slower than one (1.18 to 1.22x; mmap, 10000 pages)");
    f = made_get(&m, "fault.host_backing.cpu-one.mmap");
    assert_true(f->verdict == AS_UNDECIDED);
    made_near(&m, "fault.prefault.device-minor.shared", 9, 1e-9);
    made_says(made_get(&m, "fault.prefault.device-minor.shared"), "100000 pages");
    made_near(&m, "fault.return.cpu-after-device.shared", 0.1, 1e-9);
    made_says(made_get(&m, "fault.return.cpu-after-device.shared"),
              "Where the device touched first, the CPU's own first touch is 10.0x slower");
    made_says(made_get(&m, "fault.latency.cpu-after-device.shared"), "one CPU thread after the device");
}

static void add_p95(struct as_cell *cell, double ns)
{
    const struct as_metric_value v = {
        .name = "p95", .unit = "ns", .lower_is_better = 1, .trials = 3, .value = ns, .ci = {0.9 * ns, 1.1 * ns}};
    assert_int_equal(as_cell_set_metrics(cell, &v, 1, NULL), AS_OK);
}

/* What the study of the MI300A found: threads, pre-faulting as one total, and the tail of single faults. */
UNIT_TEST(test_threads_and_totals)
{
    fault("cpu-one", "fault", "malloc", 1000000, 1147);
    fault("cpu-12", "fault", "malloc", 1000000, 270);
    fault("device-major", "fault", "malloc", 1000000, 909);
    fault("cpu-then-device", "fault", "malloc", 1000000, 413);
    fault("device-major", "fault", "managed", 10000, 909);
    fault("cpu-then-device", "fault", "managed", 10000, 1818);
    add_p95(fault("device-minor", "fault", "malloc", 1, 16000), 20000);
    fault("cpu-one", "fault", "malloc", 1, 9000);
    made_derive(&m);
    made_says(made_near(&m, "fault.device.device-minor.malloc", 16. / 9, 1e-9),
              "A single page fault of the device takes 1.78x");
    assert_null(made_find(&m, "fault.device.cpu-one.malloc"));
    made_near(&m, "fault.threads.cpu-12.malloc", 1147. / 270, 1e-9);
    made_says(made_get(&m, "fault.threads.cpu-12.malloc"), "12 CPU threads together fault pages 4.25x");
    made_near(&m, "fault.throughput.cpu-12.malloc", 3.7037e6, 1e-4);
    made_near(&m, "fault.prefault.cpu-then-device.malloc", 909. / 413, 1e-9);
    made_says(made_get(&m, "fault.prefault.cpu-then-device.malloc"),
              "Touching pages on the CPU and then on the device is 2.20x");
    assert_non_null(strstr(made_get(&m, "fault.prefault.cpu-then-device.malloc")->act, "even where nothing overlaps"));
    assert_non_null(strstr(made_get(&m, "fault.prefault.cpu-then-device.managed")->act,
                           "only where that overlaps other work: both in turn are 2.00x"));
    made_near(&m, "fault.p95.device-minor.malloc", 20000, 1e-9);
    made_says(made_get(&m, "fault.p95.device-minor.malloc"), "One page fault in 20 takes 20.0 µs");
}

/* Of the process, by a device: the names are those of its API. */
UNIT_TEST(test_huge_pages_of_a_device)
{
    struct made gpu = {.info = {.id = "hip:0", .backend = "hip"}, .share = 0.01};
    made_add(&gpu, "fault", "ns", 909, "scenario=device-major;what=fault;allocator=malloc;pages=10240;access=store");
    made_add(&gpu, "fault", "ns", 90.9,
             "scenario=device-major;what=fault;allocator=malloc huge pages;pages=10240;access=store");
    made_derive(&gpu);
    made_says(made_near(&gpu, "fault.huge_pages.device-major.malloc_huge_pages", 10, 1e-9),
              "Transparent huge pages make first touches 10.0x");
    made_end(&gpu);
}

/* Of the reserved pool: in the CPU's own memory, and in memory of the process that a device touches. */
UNIT_TEST(test_reserved_huge_pages)
{
    struct made cpu = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.01};
    struct made gpu = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};
    made_add(&cpu, "fault", "ns", 250, "scenario=cpu-one;what=fault;allocator=mmap;pages=10240;access=store");
    made_add(&cpu, "fault", "ns", 50, "scenario=cpu-one;what=fault;allocator=hugetlb;pages=10240;access=store");
    made_derive(&cpu);
    made_says(made_near(&cpu, "fault.huge_pages.cpu-one.hugetlb", 5, 1e-9),
              "Reserved huge pages make first touches 5.00x");
    made_end(&cpu);
    made_add(&gpu, "fault", "ns", 909, "scenario=device-major;what=fault;allocator=malloc;pages=10240;access=store");
    made_add(&gpu, "fault", "ns", 303, "scenario=device-major;what=fault;allocator=hugetlb;pages=10240;access=store");
    made_add(&gpu, "fault", "ns", 20000, "scenario=device-major;what=fault;allocator=malloc;pages=1;access=store");
    made_add(&gpu, "fault", "ns", 60000, "scenario=device-major;what=fault;allocator=hugetlb;pages=1;access=store");
    made_derive(&gpu);
    made_says(made_near(&gpu, "fault.huge_pages.device-major.hugetlb", 3, 1e-9),
              "Reserved huge pages make first touches 3.00x");
    made_end(&gpu);
}

/* Memory requested on a node has a fact of its own, and is not taken for that of the nearest one. */
UNIT_TEST(test_nodes)
{
    made_add(&m, "fault", "ns", 250, "scenario=cpu-one what=fault allocator=mmap pages=10000 access=store node=near");
    made_add(&m, "fault", "ns", 500, "scenario=cpu-one what=fault allocator=mmap pages=10000 access=store node=2");
    made_add(&m, "fault", "ns", 900, "scenario=cpu-one what=fault allocator=mmap pages=1 access=store node=2");
    made_derive(&m);
    made_near(&m, "fault.throughput.cpu-one.mmap", 4e6, 1e-9);
    assert_null(made_find(&m, "fault.latency.cpu-one.mmap"));
    made_says(made_near(&m, "fault.node.2.cpu-one.mmap", 2, 1e-9),
              "Page faults on node 2 take 2.00x as long as by default placement (1.97 to 2.03x; one CPU thread, mmap, "
              "10000 pages)");
}

/* For single pages: the cost of a larger page, not a refuted expectation. */
UNIT_TEST(test_one_page)
{
    fault("cpu-one", "fault", "mmap", 1, 1000);
    fault("cpu-one", "fault", "thp", 1, 47000);
    made_derive(&m);
    assert_null(made_find(&m, "fault.huge_pages.cpu-one.thp"));
    made_verdict(&m, "fault.huge_page_cost.cpu-one.thp", AS_SUPPORTED);
    made_says(made_near(&m, "fault.huge_page_cost.cpu-one.thp", 47, 1e-9),
              "The first touch of a huge page takes 47.0x as long as that of a base page (");
}

/* By the medians better, by the interval perhaps not. */
UNIT_TEST(test_tied)
{
    static const char *const ids[] = {"fault.huge_pages.cpu-one.thp", "fault.threads.cpu-all.mmap",
                                      "fault.host_backing.cpu-one.mmap", "fault.prefault.device-minor.shared"};
    m.share = 0.1;
    fault("cpu-one", "fault", "mmap", 10000, 1000);
    fault("cpu-one", "fault", "thp", 10000, 950);
    fault("cpu-all", "fault", "mmap", 10000, 1050);
    fault("cpu-one", "first", "mmap", 10000, 1050);
    fault("device-major", "fault", "shared", 10000, 100);
    fault("device-minor", "fault", "shared", 10000, 105);
    made_derive(&m);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct as_fact *f = made_get(&m, ids[i]);
        assert_int_equal(f->verdict, AS_UNDECIDED);
        made_says(f, "statistically tied");
    }
    m.share = 4; /* intervals that exclude next to nothing are no tie */
    for (size_t i = 0; i < 6; i++)
        m.cells[i].sum.ci = (struct as_interval){m.cells[i].sum.median / 5, 5 * m.cells[i].sum.median};
    made_derive(&m);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        made_says(made_get(&m, ids[i]), " cannot be compared");
        made_says(made_get(&m, ids[i]), "the intervals are too wide (");
    }
    m.share = 0.01;
}

/* A size whose interval reaches beyond 10% more is not surely near the highest rate. */
UNIT_TEST(test_ceiling)
{
    fault("cpu-one", "fault", "mmap", 1000, 1050)->sum.ci = (struct as_interval){950, 1200};
    fault("cpu-one", "fault", "mmap", 10000, 1040);
    fault("cpu-one", "fault", "mmap", 100000, 1000);
    made_derive(&m);
    made_says(made_get(&m, "fault.throughput.cpu-one.mmap"), "within 10% of it from 10000 pages on (");
    m.cells[1].sum.median = 2000; /* still rising at the largest size */
    m.cells[1].sum.ci = (struct as_interval){1900, 2100};
    made_derive(&m);
    made_says(made_get(&m, "fault.throughput.cpu-one.mmap"), "over 100000 pages, the most measured (");
    m.cells[1].sum =
        m.cells[2].sum; /* falling again: no number of the largest size, which published figures may name */
    m.cells[2].sum.median = 1500;
    m.cells[2].sum.ci = (struct as_interval){1450, 1550};
    made_derive(&m);
    assert_true(made_get(&m, "fault.throughput.cpu-one.mmap")->most[1] == 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_modes, &m),
        made_test(test_one_page, &m),
        made_test(test_tied, &m),
        made_test(test_ceiling, &m),
        made_test(test_curve, &m),
        made_test(test_ceiling_holds_from_there_on, &m),
        made_test(test_turns_less_turns_are_left_out, &m),
        made_test(test_acts, &m),
        made_test(test_gains, &m),
        made_test(test_threads_and_totals, &m),
        made_test(test_nodes, &m),
        cmocka_unit_test(test_huge_pages_of_a_device),
        cmocka_unit_test(test_reserved_huge_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
