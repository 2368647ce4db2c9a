/* Plans leave out what no run can measure: on HIP stand-ins the device refuses no planned allocation, and no counter is
 * planned that the system lacks. */
#include "device/device.h"
#include "lib/pages/events.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void plan_suite(const char *name, const struct as_device_info *info, struct as_plan *plan)
{
    struct as_suite suite;
    struct as_error err = {0};
    size_t i = 0;
    while (strcmp(as_suite_texts[i].name, name) != 0)
        i++;
    if (as_suite_parse(name, as_suite_texts[i].text, &suite, &err) || as_plan_add(plan, &suite, info, NULL, 0, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&suite);
}

/* One block, as of the first warm-up, and the two that the check has at the same time. */
static enum as_status allocate(struct as_device *dev, const struct as_axes *a, struct as_error *err)
{
    const struct as_memory_desc want = {
        .allocator = as_axes_text(a, "allocator"), .bytes = as_axes_u64(a, "size"), .node = -1, .fresh = true};
    struct as_memory *block[2] = {NULL, NULL};
    double alloc_s, free_s;
    enum as_status st = dev->memory->time_alloc(dev, want.allocator, want.bytes, 1, &alloc_s, &free_s, err);
    for (int b = 0; b < 2 && !st; b++)
        st = dev->memory->alloc(dev, &want, &block[b], err);
    for (int b = 0; b < 2; b++)
        dev->memory->free(dev, block[b]);
    return st;
}

/* The smallest and the largest blocks stand for those between. */
static size_t check_allocations(struct as_device *dev, const struct as_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct as_cell *c = &plan->cells[i];
        const double size = as_axes_number(&c->axes, "size");
        struct as_error err = {0};
        if (c->status != AS_CELL_PLANNED || strcmp(c->probe, "alloc") != 0 ||
            strcmp(as_axes_text(&c->axes, "op"), "alloc") != 0 || (size > 2 && size < 0x1p30))
            continue;
        if (allocate(dev, &c->axes, &err))
            fail_msg("%s of %s: %s", as_axes_text(&c->axes, "allocator"), as_axes_text(&c->axes, "size"), err.text);
        n++;
    }
    return n;
}

/* Reasons: static variables, capped allocators, a small reserved pool. */
UNIT_TEST(test_allocations)
{
    static const char *const devices[] = {"apu mi300a xnack", "card"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        struct as_opened o;
        struct as_error err = {0};
        setenv("FAKE_HIP", devices[d], 1);
        if (as_device_open("hip:0", &o, &err))
            fail_msg("%s", err.text);
        struct as_plan plan = {0};
        plan_suite("upm", &o.device.info, &plan);
        plan_suite("full", &o.device.info, &plan);
        assert_true(check_allocations(&o.device, &plan) >= 20);
        as_plan_finish(&plan);
        as_device_close(&o);
    }
}

/* A pool of few pages: what fits once, but not twice. */
UNIT_TEST(test_pool)
{
    struct as_device_info info = {
        .id = "hip:0",
        .backend = "hip",
        .memory_bytes = UINT64_C(64) << 30,
        .memory_free = UINT64_C(60) << 30,
        .allocators_n = 1,
        .allocators = {{.name = "hugetlb", .role = AS_ROLE_PAGEABLE_HUGETLB, .most = 6 << 20}}};
    static const struct {
        const char *size;
        enum as_applies applies;
    } cases[] = {
        {"1", AS_APPLIES}, {"2097152", AS_APPLIES}, {"2097153", AS_INAPPLICABLE}, {"4194304", AS_INAPPLICABLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_axes axes = {.n = 3,
                               .v = {{.name = "op", .text = "alloc"},
                                     {.name = "allocator", .text = "hugetlb"},
                                     {.name = "size", .number = atof(cases[i].size)}}};
        snprintf(axes.v[2].text, sizeof axes.v[2].text, "%s", cases[i].size);
        struct as_error err = {0};
        assert_int_equal(as_plan_applies(as_probe_find("alloc"), &axes, &info, &err), cases[i].applies);
    }
}

UNIT_TEST(test_counters)
{
    const char *why = as_events_why_not(AS_EVENT_TLB_MISSES);
    struct as_plan plan = {0};
    struct as_opened o;
    struct as_error err = {0};
    size_t planned = 0, refused = 0;
    if (as_device_open("cpu", &o, &err))
        fail_msg("%s", err.text);
    plan_suite("upm", &o.device.info, &plan);
    for (size_t i = 0; i < plan.n; i++) {
        const struct as_cell *c = &plan.cells[i];
        if (strcmp(c->probe, "page_events") != 0 || strcmp(as_axes_text(&c->axes, "what"), "misses") != 0)
            continue;
        planned += c->status == AS_CELL_PLANNED;
        refused += why[0] && strcmp(c->reason, why) == 0;
    }
    assert_true(why[0] ? refused > 0 && planned == 0 : planned > 0 && refused == 0);
    as_plan_finish(&plan);
    as_device_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
