/* Sections of suites that say fit = yes: what does not fit the memory is measured at the largest size that does. */
#include "apu.h"

#include <stdio.h>
#include <string.h>

static size_t planned_pages(const struct as_plan *plan, double pages, enum as_cell_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++)
        n += as_axes_number(&plan->cells[i].axes, "pages") == pages && plan->cells[i].status == status;
    return n;
}

/* A section may let what does not fit be measured at the largest of its halves that does, with that in its axes; what
 * is refused for another reason stays as it is. */
UNIT_TEST(test_fit)
{
    static const char asked[] = "[fault]\nscenario = device-major\nallocator = pageable\npages = 10000,10000000\n",
                      fits[] = "fit = yes\n",
                      other[] = "[atomics]\nagent = device\nelements = 1073741824\ntype = u64\ncpu_threads = 0\n"
                                "device_threads = 64\nallocator = hipMallocManaged\nfit = yes\n";
    const struct as_device_info before = apu;
    struct as_plan refused = {0}, fitted = {0}, whole = {0}, unfit = {0}, chosen = {0};
    struct as_suite suite;
    struct as_error err = {0};
    char text[256];
    snprintf(text, sizeof text, "%s%s", asked, fits);
    add(&whole, text);
    apu.memory_free = UINT64_C(16) << 30;
    add(&refused, asked);
    add(&fitted, text);
    add(&unfit, other);
    add_set(&chosen, text, "pages=10000000"); /* what a user asks for is never replaced */
    apu = before;
    assert_int_equal(planned_pages(&whole, 10000000, AS_CELL_PLANNED), 1);
    assert_int_equal(planned_pages(&refused, 10000000, AS_CELL_UNSUPPORTED), 1);
    assert_int_equal(planned_pages(&fitted, 10000000, AS_CELL_UNSUPPORTED), 0);
    assert_int_equal(planned_pages(&fitted, 1250000, AS_CELL_PLANNED), 1); /* 4.8 GiB: at most half of what is free */
    assert_int_equal(planned_pages(&fitted, 10000, AS_CELL_PLANNED), 1);
    assert_true(fitted.n == 2 && fitted.fitted == 1 && whole.fitted == 0 && refused.fitted == 0);
    assert_int_equal(planned_pages(&chosen, 10000000, AS_CELL_UNSUPPORTED), 1);
    assert_true(chosen.n == 1 && chosen.fitted == 0);
    assert_int_equal(unfit.n, 1);
    assert_int_equal(unfit.cells[0].status, AS_CELL_UNSUPPORTED);
    assert_true(as_axes_number(&unfit.cells[0].axes, "elements") == 1073741824);
    assert_non_null(strstr(unfit.cells[0].reason, "XNACK is on"));
    snprintf(text, sizeof text, "%sfit = perhaps\n", asked);
    assert_int_equal(as_suite_parse("planned", text, &suite, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "fit is 'yes' or 'no', not 'perhaps'"));
    as_plan_finish(&refused);
    as_plan_finish(&fitted);
    as_plan_finish(&whole);
    as_plan_finish(&unfit);
    as_plan_finish(&chosen);
}

/* What suite upm takes from the study of the MI300A is measured with less memory too. */
UNIT_TEST(test_study_in_less_memory)
{
    static const uint64_t gib[] = {128, 24, 12};
    const struct as_device_info before = apu;
    size_t i = 0;
    while (as_suite_texts[i].name && strcmp(as_suite_texts[i].name, "upm") != 0)
        i++;
    for (size_t k = 0; k < sizeof gib / sizeof *gib; k++) {
        struct as_plan plan = {0};
        apu.memory_free = gib[k] << 30;
        add(&plan, as_suite_texts[i].text);
        apu = before;
        for (size_t c = 0; c < plan.n; c++)
            if (plan.cells[c].status == AS_CELL_UNSUPPORTED && strstr(plan.cells[c].reason, "requested"))
                fail_msg("%s with %llu GiB: %s", plan.cells[c].probe, (unsigned long long)gib[k], plan.cells[c].reason);
        as_plan_finish(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fit), cmocka_unit_test(test_study_in_less_memory)};
    return cmocka_run_group_tests(tests, open_apu, NULL);
}
