/* What is measured first suffices for the data sheet: in stored runs of the suites, every line based on all cells also
 * exists when only the cells measured first count. */
#include "base/text.h"
#include "facts/facts.h"
#include "report/model/load.h"
#include "report/sheet/sheet.h"
#include "run/engine.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 100 };

struct shown {
    char text[LINES_MAX][96];
    size_t n;
};

static void require_ok(enum as_status st, const struct as_error *err)
{
    if (st)
        fail_msg("%s", err->text);
}

static void show(const struct as_report_run *run, struct shown *out)
{
    struct as_error err = {0};
    out->n = 0;
    for (size_t i = 0; i < run->devices_n; i++) {
        struct as_sheet sheet;
        require_ok(as_sheet_make(run, run->devices[i].id, &sheet, &err), &err);
        for (size_t k = 0; k < sheet.n && out->n < LINES_MAX; k++)
            snprintf(out->text[out->n++], sizeof out->text[0], "%s %s %s", run->devices[i].id, sheet.rows[k].group,
                     sheet.rows[k].label);
        as_sheet_finish(&sheet);
    }
}

static void load_run(const char *name, struct as_report_run *run)
{
    struct as_buf path = AS_BUF_INIT;
    struct as_store *store;
    struct as_error err = {0};
    as_buf_printf(&path, "%s/%s.db", getenv("ASSAY_SAMPLES"), name);
    require_ok(as_store_open(as_buf_get(&path), AS_STORE_READ, &store, &err), &err);
    require_ok(as_report_load(store, NULL, run, &err), &err);
    as_store_close(store);
    as_buf_finish(&path);
}

/* Keeps only the numbers of the cells measured first; returns their share of all trials' time. */
static double keep_first(struct as_report_run *run)
{
    struct as_error err = {0};
    struct as_engine e = {.cells = run->cells, .cells_n = run->cells_n, .sentinels_first = run->cells_n};
    double first_s = 0, all_s = 0;
    e.progress = calloc(run->cells_n, sizeof *e.progress);
    e.slots = calloc(run->devices_n, sizeof *e.slots);
    assert_non_null(e.progress);
    assert_non_null(e.slots);
    for (e.slots_n = 0; e.slots_n < run->devices_n; e.slots_n++)
        e.slots[e.slots_n].info = run->devices[e.slots_n];
    require_ok(as_engine_rank(&e, &err), &err);
    for (size_t i = 0; i < run->cells_n; i++) {
        struct as_cell *c = &run->cells[i];
        all_s += c->duration_s;
        first_s += e.progress[i].first ? c->duration_s : 0;
        if (!e.progress[i].first && c->status <= AS_CELL_REJECTED)
            c->status = AS_CELL_SKIPPED;
    }
    free(e.progress);
    free(e.slots);
    const struct as_fact_input input = {.run = &run->run,
                                        .cells = run->cells,
                                        .cells_n = run->cells_n,
                                        .devices = run->devices,
                                        .devices_n = run->devices_n};
    free(run->facts);
    require_ok(as_facts_derive(&input, &run->facts, &run->facts_n, &err), &err);
    return first_s / all_s;
}

static bool shows_text(const struct shown *s, const char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->text[i], text) == 0)
            return true;
    return false;
}

static void suffices(const char *name)
{
    struct as_report_run run;
    static struct shown all, first;
    size_t missing = 0;
    load_run(name, &run);
    show(&run, &all);
    const double share = keep_first(&run);
    show(&run, &first);
    assert_true(all.n > 3);
    print_message("%s: %zu lines, %.0f%% of the time\n", name, all.n, 100 * share);
    for (size_t i = 0; i < all.n; i++)
        if (!shows_text(&first, all.text[i])) {
            print_error("%s: '%s' rests on other cells\n", name, all.text[i]);
            missing++;
        }
    assert_int_equal(missing, 0);
    assert_true(share < 0.75); /* else nothing comes first */
    as_report_run_finish(&run);
}

UNIT_TEST(test_quick)
{
    suffices("h100-quick");
    suffices("h200-quick");
}

UNIT_TEST(test_full)
{
    suffices("h100-full");
    suffices("h200-full");
}

UNIT_TEST(test_shared_memory)
{
    suffices("h100-residual");
    suffices("h200-upm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quick), cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_shared_memory)};
    return cmocka_run_group_tests_name("run: what comes first", tests, NULL, NULL);
}
