/* Every probe's record is complete, a broken one is named, and every grid and suite can be planned. */
#include "lib/checks/checks.h"
#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_records(void **unused)
{
    size_t n = 0;
    (void)unused;
    for (; as_probes[n]; n++) {
        struct as_error err = {0};
        if (as_probe_check(as_probes[n], &err))
            fail_msg("%s", err.text);
        assert_ptr_equal(as_probe_find(as_probes[n]->name), as_probes[n]);
        assert_true(strlen(as_probe_texts[n]) > 200);
        if (strlen(as_probes[n]->counts) >= sizeof((struct as_cell *)0)->counts)
            fail_msg("%s: what it counts does not fit a cell", as_probes[n]->name);
    }
    assert_true(n > 0);
    assert_null(as_probe_find("no such probe"));
    assert_null(as_probe_axis(as_probe_find("latency"), "no such axis"));
}

static void expect_fault(const struct as_probe *p, const char *text)
{
    struct as_error err = {0};
    assert_int_equal(as_probe_check(p, &err), AS_FAILED);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not name '%s'", err.text, text);
}

static void test_broken_records(void **unused)
{
    static const struct as_axis nameless_default[] = {{.name = "size", .help = "bytes", .type = AS_AXIS_SIZE}, {0}};
    static const struct as_axis no_words[] = {{.name = "op", .help = "what", .type = AS_AXIS_WORD, .def = "a"}, {0}};
    static const char *const words[] = {"one", "all", NULL};
    static const struct as_axis reserved[] = {
        {.name = "units", .help = "how many", .type = AS_AXIS_WORD, .def = "one", .words = words}, {0}};
    const struct as_probe good = *as_probe_find("latency");
    struct as_probe p = good;
    (void)unused;
    p.sample = NULL;
    expect_fault(&p, "sample");
    p = good;
    p.counts = NULL;
    expect_fault(&p, "counts");
    p = good;
    p.axes = nameless_default;
    expect_fault(&p, "size");
    p.axes = no_words;
    expect_fault(&p, "op");
    p.axes = reserved;
    expect_fault(&p, "'all' is every word of axis 'units'");
}

enum { CPU, PORTABLE, CARD, NODES, DEVICES };

static void make_infos(struct as_device_info infos[DEVICES])
{
    infos[0] = (struct as_device_info){
        .id = "cpu",
        .backend = "cpu",
        .capabilities = AS_CAP_HOST_KERNELS | AS_CAP_PIN | AS_CAP_CLOCK | AS_CAP_FP64 | AS_CAP_ASYNC,
        .compute_units = 2,
        .threads = 2,
        .memory_bytes = UINT64_C(16) << 30,
        .memory_free = UINT64_C(14) << 30,
        .page_size = 4096,
        .caches_n = 3,
        .caches = {{.level = 1, .kind = 'd', .size = 32 << 10, .line = 64, .ways = 8, .shared = 1},
                   {.level = 2, .kind = 'u', .size = 1 << 20, .line = 64, .ways = 8, .shared = 1},
                   {.level = 3, .kind = 'u', .size = 32 << 20, .line = 64, .ways = 16, .shared = 2}},
        .allocators_n = 4,
        .allocators = {{.name = "malloc"},
                       {.name = "mmap"},
                       {.name = "thp"},
                       {.name = "hugetlb", .why_not = "no huge pages are reserved"}}};
    infos[1] = infos[0];
    snprintf(infos[1].id, sizeof infos[1].id, "opencl:0");
    snprintf(infos[1].backend, sizeof infos[1].backend, "opencl");
    infos[1].capabilities = AS_CAP_SOURCE | AS_CAP_FP64 | AS_CAP_ASYNC | AS_CAP_EVENTS;
    infos[1].threads = 4096;
    infos[1].max_alloc = UINT64_C(4) << 30;
    infos[1].allocators_n = 2;
    snprintf(infos[1].allocators[0].name, sizeof infos[1].allocators[0].name, "clCreateBuffer");
    snprintf(infos[1].allocators[1].name, sizeof infos[1].allocators[1].name, "clSVMAlloc coarse");
    infos[2] = infos[1];
    snprintf(infos[2].id, sizeof infos[2].id, "cuda:0");
    snprintf(infos[2].backend, sizeof infos[2].backend, "cuda");
    infos[2].capabilities |=
        AS_CAP_COPY | AS_CAP_GRAPHS | AS_CAP_CODE | AS_CAP_CYCLES | AS_CAP_FP16 | AS_CAP_RECOMMENDED;
    infos[2].compute_units = 132;
    infos[2].threads = 1024;
    infos[2].warp = 32;
    snprintf(infos[2].allocators[0].name, sizeof infos[2].allocators[0].name, "cuMemAlloc");
    snprintf(infos[2].allocators[1].name, sizeof infos[2].allocators[1].name, "cuMemHostAlloc");
    infos[2].allocators[1].host_access = true;
    snprintf(infos[2].allocators[2].name, sizeof infos[2].allocators[2].name, "cuMemAllocManaged");
    infos[2].allocators[2].host_access = infos[2].allocators[2].on_demand = true;
    infos[2].allocators_n = 3;
    snprintf(infos[2].collectives, sizeof infos[2].collectives, "NCCL 2.27.3");
    infos[3] = (struct as_device_info){.id = "mpi", .backend = "mpi"};
    for (int i = 0; i < DEVICES; i++)
        for (size_t k = 0; k < infos[i].allocators_n; k++)
            infos[i].allocators[k].role = as_allocator_role(infos[i].backend, infos[i].allocators[k].name);
}

/* Where a trial uses the device, its driver may first compile a kernel for this long. */
static void check_patience(const struct as_plan *plan, const struct as_device_info *card)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct as_cell *c = &plan->cells[i];
        const struct as_probe *p = as_probe_find(c->probe);
        const bool by_host = strncmp(c->probe, "host_", 5) == 0;
        if (strcmp(c->device, card->id) != 0 || c->status != AS_CELL_PLANNED || !p->patience || by_host)
            continue;
        if (!(p->patience(card, &c->axes) >= as_compile_patience(card, &c->axes)))
            fail_msg("%s allows a trial %g s", p->name, p->patience(card, &c->axes));
    }
}

static size_t plan_suite(const struct as_suite *suite, size_t by_device[DEVICES])
{
    struct as_device_info infos[DEVICES];
    struct as_plan plan = {0};
    struct as_error err = {0};
    make_infos(infos);
    for (int i = 0; i < DEVICES; i++) {
        size_t before = plan.n;
        if (as_plan_add(&plan, suite, &infos[i], NULL, 0, &err))
            fail_msg("%s: %s", suite->name, err.text);
        by_device[i] = plan.n - before;
    }
    check_patience(&plan, &infos[CARD]);
    size_t n = plan.n;
    as_plan_finish(&plan);
    return n;
}

static void test_suites(void **unused)
{
    size_t suites = 0;
    (void)unused;
    for (; as_suite_texts[suites].name; suites++) {
        struct as_suite suite;
        struct as_error err = {0};
        size_t by_device[DEVICES];
        if (as_suite_parse(as_suite_texts[suites].name, as_suite_texts[suites].text, &suite, &err))
            fail_msg("%s", err.text);
        size_t n = plan_suite(&suite, by_device);
        print_message("suite %s: %zu cells, %zu of them on the CPU, %zu on the GPU\n", suite.name, n, by_device[CPU],
                      by_device[CARD]);
        assert_true(by_device[CARD] > 0);
        if (strcmp(suite.name, "quick") == 0 || strcmp(suite.name, "full") == 0)
            assert_true(by_device[CPU] > 0 && by_device[PORTABLE] > 0);
        as_suite_finish(&suite);
    }
    assert_true(suites > 0);
}

/* Every visible probe has cells on a CPU or a device with its own grids. */
static void test_grids(void **unused)
{
    (void)unused;
    for (const char *const *name = as_probe_names(); *name; name++)
        for (int full = 0; full < 2; full++) {
            char text[128];
            struct as_suite suite;
            struct as_error err = {0};
            size_t by_device[DEVICES];
            snprintf(text, sizeof text, "[%s]\ngrids = %s\n", *name, full ? "full" : "quick");
            if (as_suite_parse(*name, text, &suite, &err))
                fail_msg("%s", err.text);
            assert_true(plan_suite(&suite, by_device) > 0);
            as_suite_finish(&suite);
        }
}

static bool varies(const char *device, const char *probe, const char *axis, const char *allocator)
{
    struct as_cell cell = {.axes = {.n = 1}};
    snprintf(cell.device, sizeof cell.device, "%s", device);
    snprintf(cell.probe, sizeof cell.probe, "%s", probe);
    snprintf(cell.axes.v[0].name, sizeof cell.axes.v[0].name, "%s", axis);
    snprintf(cell.axes.v[0].text, sizeof cell.axes.v[0].text, "%s", allocator);
    return as_varies_by_process(&cell);
}

/* Driver calls and links always; others if a device uses memory that its driver pinned. */
static void test_processes(void **unused)
{
    static const char *const always[] = {"launch",       "concurrency", "copy",  "link",
                                         "link_latency", "collective",  "alloc", "fault"};
    (void)unused;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        assert_true(varies("cuda:0", always[i], "", ""));
    assert_true(varies("cuda:0", "bandwidth", "allocator", as_role_allocator("cuda:0", AS_ROLE_PINNED)));
    assert_true(varies("hip:1", "latency", "allocator", as_role_allocator("hip:1", AS_ROLE_REGISTERED)));
    assert_false(varies("cuda:0", "bandwidth", "allocator", as_role_allocator("cuda:0", AS_ROLE_DEVICE)));
    assert_false(varies("cpu", "latency", "allocator", "malloc"));
    assert_false(varies("cpu", "no such probe", "", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records), cmocka_unit_test(test_broken_records),
                                       cmocka_unit_test(test_suites), cmocka_unit_test(test_grids),
                                       cmocka_unit_test(test_processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
