/* The rules of page faults and of who counts memory, on synthetic cells. */
#include "base/text.h"
#include "facts/facts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS_MAX = 256 };
static struct as_cell cells[CELLS_MAX];
static size_t cells_n;
static struct as_fact *facts;
static size_t facts_n;
static const struct as_device_info info = {.id = "cpu", .backend = "cpu"};

/* axes: "name=text;name=text", since names of allocators hold spaces; share: half the width of the interval */
static struct as_cell *add(const char *probe, const char *unit, double median, double share, const char *axes)
{
    assert_true(cells_n < CELLS_MAX);
    struct as_cell *c = &cells[cells_n++];
    *c = (struct as_cell){.id = (int64_t)cells_n, .status = AS_CELL_OK, .clock_hz = NAN, .limit = NAN};
    snprintf(c->device, sizeof c->device, "cpu");
    snprintf(c->probe, sizeof c->probe, "%s", probe);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    c->sum = (struct as_summary){.n = 30,
                                 .visits = 3,
                                 .median = median,
                                 .ci = {median * (1 - share), median * (1 + share)},
                                 .min = median,
                                 .max = median};
    char text[256], *save = NULL;
    snprintf(text, sizeof text, "%s", axes);
    for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        char *value = strchr(part, '=');
        *value++ = 0;
        assert_int_equal(as_axes_add(&c->axes, part, value, NULL), AS_OK);
    }
    return c;
}

static void derive(void)
{
    struct as_run run = {.id = 1};
    struct as_fact_input in = {&run, cells, cells_n, &info, 1};
    assert_int_equal(as_facts_derive(&in, &facts, &facts_n, NULL), AS_OK);
}

static int clean(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < cells_n; i++)
        free(cells[i].detail);
    free(facts);
    facts = NULL;
    facts_n = cells_n = 0;
    return 0;
}

static const struct as_fact *get(const char *id)
{
    const struct as_fact *f = as_fact_find(facts, facts_n, "cpu", id);
    for (size_t i = 0; !f && i < facts_n; i++)
        print_message("have %s: %s\n", facts[i].id, facts[i].sentence);
    if (!f)
        fail_msg("no fact %s", id);
    assert_true(f->rule[0] && f->evidence_n > 0);
    return f;
}

static void says(const char *id, const char *part)
{
    const struct as_fact *f = get(id);
    if (!strstr(f->sentence, part))
        fail_msg("%s: '%s' is not in: %s", id, part, f->sentence);
}

static struct as_cell *fault(const char *scenario, const char *what, const char *allocator, int pages, double ns)
{
    char axes[160];
    snprintf(axes, sizeof axes, "scenario=%s;what=%s;allocator=%s;pages=%d;access=store", scenario, what, allocator,
             pages);
    return add("fault", "ns", ns, 0.01, axes);
}

static void test_curve(void **unused)
{
    (void)unused;
    struct as_cell *one = fault("cpu-one", "fault", "mmap", 1, 2000);
    one->detail = strdup("{\"mean_ns\": 2500, \"p95_ns\": 4000}");
    fault("cpu-one", "fault", "mmap", 1000, 1050);
    fault("cpu-one", "fault", "mmap", 100000, 1000);
    fault("cpu-one", "control", "mmap", 100000, 5);
    derive();
    const struct as_fact *f = get("fault.latency.cpu-one.mmap");
    assert_true(f->value == 2000 && f->verdict == AS_SUPPORTED);
    says("fault.latency.cpu-one.mmap", "2500 ns on average, one of twenty more than 4000 ns");
    f = get("fault.throughput.cpu-one.mmap");
    assert_true(fabs(f->value - 1e6) < 1 && f->ci.lo < 1e6 && f->ci.hi > 1e6);
    assert_string_equal(f->unit, "pages/s");
    says("fault.throughput.cpu-one.mmap", "1.00 million pages/s");
    says("fault.throughput.cpu-one.mmap", "from 1000 pages on");
}

static void test_gains(void **unused)
{
    (void)unused;
    fault("cpu-one", "fault", "mmap", 10000, 1000);
    fault("cpu-one", "fault", "thp", 10000, 100);
    fault("cpu-all", "fault", "mmap", 10000, 1200);
    fault("cpu-one", "first", "mmap", 10000, 1003);
    fault("device-major", "fault", "shared", 1000, 1);
    fault("device-minor", "fault", "shared", 1000, 1);
    fault("device-major", "fault", "shared", 100000, 900);
    fault("device-minor", "fault", "shared", 100000, 100);
    derive();
    const struct as_fact *f = get("fault.huge_pages.cpu-one.thp");
    assert_true(f->value == 10 && f->verdict == AS_SUPPORTED && f->evidence_n == 2);
    f = get("fault.threads.cpu-all.mmap");
    assert_true(f->verdict == AS_REFUTED && f->ci.hi < 1);
    says("fault.threads.cpu-all.mmap", "no more faults than one");
    f = get("fault.host_backing.cpu-one.mmap");
    assert_true(f->verdict == AS_UNDECIDED);
    f = get("fault.prefault.device-minor.shared");
    assert_true(fabs(f->value - 9) < 1e-9);
    says("fault.prefault.device-minor.shared", "100000 pages");
}

static void counted(const char *allocator, const char *counter, const char *moment, double seen)
{
    char axes[160];
    snprintf(axes, sizeof axes, "allocator=%s;counter=%s;moment=%s;size=67108864", allocator, counter, moment);
    add("accounting", "x", 1 + seen, 0.01, axes);
}

static void test_who_counts(void **unused)
{
    (void)unused;
    counted("malloc", "VmRSS", "before", 0);
    counted("malloc", "VmRSS", "allocated", 0);
    counted("malloc", "VmRSS", "cpu-touched", 1);
    counted("malloc", "VmRSS", "freed", 0);
    counted("malloc", "MemAvailable", "allocated", 0.01);
    counted("malloc", "MemAvailable", "cpu-touched", 0.98);
    counted("malloc", "MemAvailable", "freed", 0.97);
    counted("malloc", "driver", "allocated", 0);
    counted("malloc", "driver", "cpu-touched", 0);
    counted("cuMemAlloc", "driver", "allocated", 1);
    counted("cuMemAlloc", "driver", "device-touched", 1);
    counted("cuMemAlloc", "VmRSS", "allocated", 0);
    counted("cuMemAlloc", "VmRSS", "device-touched", 0);
    counted("odd one", "VmRSS", "allocated", 0);
    counted("odd one", "VmRSS", "device-touched", 0.4);
    derive();
    assert_string_equal(
        get("accounting.malloc")->sentence,
        "malloc is counted when the CPU touches it by MemAvailable, VmRSS; never by driver; still after "
        "freeing by MemAvailable");
    assert_string_equal(get("accounting.cuMemAlloc")->sentence,
                        "cuMemAlloc is counted at allocating by driver; never by VmRSS");
    assert_string_equal(get("accounting.odd_one")->sentence,
                        "odd one is counted in part by VmRSS (40%, device-touched)");
    assert_true(isnan(get("accounting.malloc")->value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_curve, clean),
        cmocka_unit_test_teardown(test_gains, clean),
        cmocka_unit_test_teardown(test_who_counts, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
