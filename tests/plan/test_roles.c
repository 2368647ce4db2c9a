/* Roles of allocators in expressions: which allocators they stand for, and the message if there is none. */
#include "base/text.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct as_device_info machine(void)
{
    struct as_device_info i = {.id = "cpu",
                               .backend = "cpu",
                               .threads = 2,
                               .capabilities = AS_CAP_HOST_KERNELS,
                               .memory_bytes = 16ull << 30,
                               .memory_free = 8ull << 30,
                               .allocators_n = 3,
                               .allocators = {{.name = "malloc", .role = AS_ROLE_PAGEABLE},
                                              {.name = "thp", .role = AS_ROLE_HUGE_PAGES},
                                              {.name = "other", .role = AS_ROLE_HUGE_PAGES}}};
    as_copy_text(i.allocators[2].why_not, sizeof i.allocators[2].why_not, "not today");
    return i;
}

/* The values of an expression as one string. */
static const char *values(const char *expr, const struct as_device_info *info)
{
    static char out[256];
    struct as_axis_values v;
    struct as_error err = {0};
    if (as_axis_parse(as_probe_axis(as_probe_find("tlb"), "allocator"), expr, info, &v, &err))
        fail_msg("%s", err.text);
    out[0] = 0;
    for (size_t i = 0; i < v.n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "", v.v[i].text);
    as_axis_values_finish(&v);
    return out;
}

/* All allocators of a role by name, including unusable ones; none if the device has none. */
UNIT_TEST(test_expressions)
{
    struct as_device_info info = machine();
    assert_string_equal(values("pageable", &info), "malloc");
    assert_string_equal(values("huge_pages", &info), "thp other");
    assert_string_equal(values("other, huge_pages,malloc", &info), "other thp malloc");
    assert_string_equal(values("pinned", &info), "");
    assert_string_equal(values("pinned,pageable,device", &info), "malloc");
    assert_string_equal(values("all", &info), "malloc thp");
    as_copy_text(info.allocators[1].name, sizeof info.allocators[1].name, "pageable");
    assert_string_equal(values("pageable", &info), "pageable"); /* a name takes precedence over a role */
    info.allocators[1].role = AS_ROLE_UNKNOWN;
    assert_string_equal(values("huge_pages", &info), "other");
}

static enum as_status check_sets(const char *set, struct as_error *err)
{
    const struct as_device_info info = machine();
    struct as_suite suite;
    assert_int_equal(as_suite_find("probe:tlb", &suite, err), AS_OK);
    enum as_status st = as_plan_check_sets(&suite, 1, &info, 1, &set, 1, err);
    as_suite_finish(&suite);
    return st;
}

/* A role that no device has is reported, unless other allocators are named beside it. */
UNIT_TEST(test_requests)
{
    static const struct {
        const char *set, *why;
    } wrong[] = {{"allocator=pinned", "role 'pinned'; there are: pageable, huge_pages"},
                 {"allocator=pinned,device", "role 'pinned,device'; there are: pageable, huge_pages"},
                 {"allocator=pined", "did you mean 'pinned'?"},
                 {"allocator=pageable,maloc", "did you mean 'malloc'?"}};
    struct as_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(check_sets(wrong[i].set, &err), AS_USAGE);
        if (!strstr(err.text, wrong[i].why))
            fail_msg("'%s' does not say '%s'", err.text, wrong[i].why);
    }
    assert_int_equal(check_sets("allocator=pageable", &err), AS_OK);
    assert_int_equal(check_sets("allocator=pinned,huge_pages", &err), AS_OK);
    assert_int_equal(check_sets("allocator=pinned,first", &err), AS_OK);
}

/* Cells always have the API's name, and a stored cell never has a role. */
UNIT_TEST(test_cells)
{
    const struct as_device_info info = machine();
    struct as_suite suite;
    struct as_plan plan = {0};
    struct as_error err = {0};
    assert_int_equal(as_suite_parse("x", "[tlb]\npages = 64\nallocator = pinned, pageable\n", &suite, &err), AS_OK);
    assert_int_equal(as_plan_add(&plan, &suite, &info, NULL, 0, &err), AS_OK);
    assert_int_equal(plan.n, 1);
    assert_string_equal(as_axes_text(&plan.cells[0].axes, "allocator"), "malloc");
    assert_int_equal(as_plan_check_cell(&plan.cells[0], &info, &err), AS_OK);
    for (size_t i = 0; i < plan.cells[0].axes.n; i++)
        if (strcmp(plan.cells[0].axes.v[i].name, "allocator") == 0)
            as_copy_text(plan.cells[0].axes.v[i].text, sizeof plan.cells[0].axes.v[i].text, "pageable");
    assert_int_equal(as_plan_check_cell(&plan.cells[0], &info, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "'pageable' is not one of its values"));
    as_plan_finish(&plan);
    as_suite_finish(&suite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
