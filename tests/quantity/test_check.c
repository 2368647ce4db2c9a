/* Faults planted in sources of quantities are detected. */
#include "base/text.h"
#include "tests/quantity/table_check.h"
#include "tests/unit_test.h"

#include <string.h>

static const struct as_bound_line no_bounds[] = {{0}};

UNIT_TEST(test_planted)
{
    static const struct {
        const char *from, *cells, *said; /* said: text in the message; NULL: there is no fault */
    } cases[] = {
        {"launch what=submit wait=block threads=1", NULL, NULL},
        {"bandwidth op=read threads=@all allocator=@pinned", NULL, NULL},
        {"cache.L2.size", "latency", NULL},
        {"memory.fault.@base_pages", NULL, NULL},
        {"cache.L22.size", "latency", "no fact can be 'cache.L22.size'"},
        {"bandwith.memory.read.all", NULL, "no fact can be 'bandwith.memory.read.all'"},
        {"onchip.whole.L2.sise", NULL, "no fact can be 'onchip.whole.L2.sise'"},
        {"c2c.units.median", NULL, "no fact can be 'c2c.units.median'"},
        {"lauch what=submit", NULL, "unknown probe 'lauch'"},
        {"cache.L2.size", "latencies", "unknown probe 'latencies'"},
        {"launch wat=submit", NULL, "probe 'launch' has no axis 'wat'"},
        {"launch what=submitted", NULL, "axis 'what' of probe 'launch' has no value 'submitted'"},
        {"launch threads=one", NULL, "axis 'threads' of probe 'launch' has no value 'one'"},
        {"bandwidth allocator=@pined", NULL, "axis 'allocator' of probe 'bandwidth' has no value '@pined'"},
        {"bandwidth size=@every", NULL, NULL},
        {"interference aggressor=@worst", NULL, NULL},
        {"bandwidth op=read,triad", NULL, NULL},
        {"bandwidth op=read,tried", NULL, "axis 'op' of probe 'bandwidth' has no value 'read,tried'"},
        {"bandwidth op=", NULL, "axis 'op' of probe 'bandwidth' has no value ''"},
        {"launch what=@worst", NULL, "axis 'what' of probe 'launch' has no value '@worst'"},
        {"launch what=@every", NULL, "axis 'what' of probe 'launch' has no value '@every'"},
        {"bandwidth size=@all", NULL, "axis 'size' of probe 'bandwidth' has no value '@all'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct as_quantity_source sources[] = {{.from = cases[i].from, .cells = cases[i].cells}, {0}};
        const struct as_quantity table[] = {{.name = "a.quantity", .sources = sources}, {0}};
        struct as_error err = {0};
        assert_int_equal(table_check(table, no_bounds, &err), cases[i].said ? AS_FAILED : AS_OK);
        if (cases[i].said)
            assert_non_null(strstr(err.text, cases[i].said));
    }
}

UNIT_TEST(test_planted_bounds)
{
    static const struct {
        const char *cells, *said; /* said: text in the message; NULL: there is no fault */
    } cases[] = {
        {"matmul type=f16", NULL},
        {"bandwidth op=read,dot allocator=@of_host", NULL},
        {"copy from=@own to=host size=@memory", NULL},
        {"migration pass=1", NULL},
        {"migration pass=first", "axis 'pass' of probe 'migration' has no value 'first'"},
        {"mattmul type=f16", "unknown probe 'mattmul'"},
        {"matmul type=f17", "axis 'type' of probe 'matmul' has no value 'f17'"},
        {"bandwidth op=read,dott", "axis 'op' of probe 'bandwidth' has no value 'read,dott'"},
        {"bandwidth op=@own", "axis 'op' of probe 'bandwidth' has no value '@own'"},
        {"copy from=@ownn", "axis 'from' of probe 'copy' has no value '@ownn'"},
        {"copy from=@memory", "axis 'from' of probe 'copy' has no value '@memory'"},
    };
    static const struct as_quantity none[] = {{0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct as_bound_line bounds[] = {{.cells = cases[i].cells, .label = "a line"}, {0}};
        struct as_error err = {0};
        assert_int_equal(table_check(none, bounds, &err), cases[i].said ? AS_FAILED : AS_OK);
        if (cases[i].said)
            assert_non_null(strstr(err.text, cases[i].said));
    }
}

/* The line of a sheet is found by its label, whatever word the device has for its compute units. */
UNIT_TEST(test_lines_by_label)
{
    static const char *const words[] = {"SM", "CU", "compute unit"};
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (size_t w = 0; w < sizeof words / sizeof *words && !q->beside; w++) {
            struct as_buf label = AS_BUF_INIT;
            const char *rest = q->label, *unit;
            for (; (unit = strstr(rest, "{unit}")); rest = unit + strlen("{unit}")) {
                as_buf_add(&label, rest, (size_t)(unit - rest));
                as_buf_str(&label, words[w]);
            }
            as_buf_str(&label, rest);
            assert_ptr_equal(as_quantity_of_line(q->group, as_buf_get(&label)), q);
            as_buf_finish(&label);
        }
}

/* A quantity is better in the direction in which its cells are. */
UNIT_TEST(test_directions)
{
    size_t compared = 0;
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *s = q->sources; s->from; s++) {
            struct as_axes axes = {.n = 0};
            char text[256], *rest = text, *word;
            as_copy_text(text, sizeof text, s->from);
            const struct as_probe *probe = as_probe_find(strsep(&rest, " "));
            while (probe && (word = strsep(&rest, " "))) {
                const char *name = strsep(&word, "=");
                assert_int_equal(as_axes_add(&axes, name, word, NULL), AS_OK);
            }
            const struct as_metric metric = probe ? as_probe_metric(probe, &axes) : (struct as_metric){.unit = ""};
            if (!as_quantity_has_unit(q, metric.unit))
                continue;
            compared++;
            if (metric.lower_is_better != as_quantity_lower_is_better(q))
                fail_msg("%s: lower is better: %d, of its cells: %d", q->name, as_quantity_lower_is_better(q),
                         metric.lower_is_better);
        }
    assert_true(compared > 50);
}

UNIT_TEST(test_own)
{
    struct as_error err = {0};
    assert_int_equal(table_check(as_quantities, as_bound_lines, &err), AS_OK);
    assert_non_null(as_quantity_named("memory.read.all"));
    assert_null(as_quantity_named("memory.read.some"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted), cmocka_unit_test(test_planted_bounds),
                                       cmocka_unit_test(test_lines_by_label), cmocka_unit_test(test_directions),
                                       cmocka_unit_test(test_own)};
    return cmocka_run_group_tests_name("the table of quantities", tests, NULL, NULL);
}
