/* Figures from data sheets and from published measurements: each belongs to lines of the sheet. */
#include "base/text.h"
#include "quantity/quantity.h"
#include "refs/refs.h"
#include "tests/unit_test.h"

#include <string.h>

/* Every figure is for existing lines, with each of its labels and their unit. */
UNIT_TEST(test_figures_are_of_lines)
{
    static const char *const sets[] = {"gpus", "cpus"};
    for (size_t k = 0; k < 2; k++) {
        struct as_refs refs;
        struct as_error err;
        assert_int_equal(as_refs_load(sets[k], &refs, &err), AS_OK);
        for (size_t i = 0; i < refs.n; i++) {
            const struct as_ref *ref = &refs.v[i];
            size_t labels = 1, found = 0;
            for (const char *at = strchr(ref->quantity, '|'); at; at = strchr(at + 1, '|'))
                labels++;
            for (const struct as_quantity *q = as_quantities; q->name; q++) {
                if (q->beside || strcmp(q->group, ref->group) != 0 || !as_ref_has_quantity(ref, q->label))
                    continue;
                found++;
                if (!as_quantity_has_unit(q, ref->unit))
                    fail_msg("%s, %s: unit %s", ref->chip, ref->metric, ref->unit);
            }
            if (found != labels)
                fail_msg("%s: no line '%s' of '%s'", ref->chip, ref->quantity, ref->group);
            assert_true(ref->source[0] && ref->conditions[0]);
        }
        as_refs_finish(&refs);
    }
}

/* One specified and one published figure per line and device, whatever globs match its name. */
UNIT_TEST(test_one_figure_a_line)
{
    struct as_refs all, own;
    struct as_error err;
    assert_int_equal(as_refs_load("gpus", &all, &err), AS_OK);
    for (size_t i = 0; i < all.n; i++) {
        struct as_device_info info = {.id = "cuda:0", .compute_units = (unsigned)all.v[i].units};
        as_copy_text(info.name, sizeof info.name, all.v[i].match);
        info.name[strcspn(info.name, "*|")] = '\0'; /* a name that the glob matches */
        assert_int_equal(as_refs_of_device(&info, &own, &err), AS_OK);
        for (size_t a = 0; a < own.n; a++)
            for (size_t b = a + 1; b < own.n; b++)
                if (strcmp(own.v[a].kind, own.v[b].kind) == 0 && strcmp(own.v[a].group, own.v[b].group) == 0 &&
                    strcmp(own.v[a].quantity, own.v[b].quantity) == 0 && own.v[a].units == own.v[b].units)
                    fail_msg("'%s' has %s of %s and %s", info.name, own.v[a].metric, own.v[a].chip, own.v[b].chip);
        as_refs_finish(&own);
    }
    as_refs_finish(&all);
}

/* The sheet shows a published figure without its conditions: it is of a benchmark of that level. */
UNIT_TEST(test_memory_by_benchmarks_of_memory)
{
    struct as_refs all;
    struct as_error err;
    assert_int_equal(as_refs_load("gpus", &all, &err), AS_OK);
    for (size_t i = 0; i < all.n; i++)
        if (strcmp(all.v[i].group, "Memory") == 0 && strstr(all.v[i].conditions, "cache"))
            fail_msg("%s, %s: %s", all.v[i].chip, all.v[i].metric, all.v[i].conditions);
    as_refs_finish(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures_are_of_lines),
                                       cmocka_unit_test(test_one_figure_a_line),
                                       cmocka_unit_test(test_memory_by_benchmarks_of_memory)};
    return cmocka_run_group_tests_name("figures of the sheet", tests, NULL, NULL);
}
