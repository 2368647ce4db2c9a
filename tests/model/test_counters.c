/* Counters of links over all trials of a cell: growth within a process, and resets, which are no growth. */
#include "model/counters.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct noted {
    int worker;
    double after, grown;
};

/* A cell with these trials, ten seconds apart. */
static void make_cell(struct as_cell *cell, const struct noted *noted, size_t n, double from)
{
    struct as_trial trials[16] = {{0}};
    char detail[16][80];
    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) {
        snprintf(detail[i], sizeof detail[i], "{\"link_replays\":%g,\"link_replays_new\":%g}", noted[i].after,
                 noted[i].grown);
        trials[i] = (struct as_trial){.number = (int)i,
                                      .worker = noted[i].worker,
                                      .started_at = from + 10 * (double)i,
                                      .duration_s = 1,
                                      .detail = detail[i]};
    }
    *cell = (struct as_cell){.detail = strdup(detail[n - 1])};
    assert_int_equal(as_counters_gather(cell, &(struct as_trials){.v = trials, .n = n}, NULL), AS_OK);
}

static struct as_counter_growth growth_of(const struct noted *noted, size_t n)
{
    struct as_cell cell;
    struct as_counter_readings readings = {0};
    struct as_counter_growth g;
    make_cell(&cell, noted, n, 1e9);
    assert_int_equal(as_counters_of(&cell, "link_replays", &readings, NULL), AS_OK);
    assert_true(as_counters_grown(&readings, &g));
    assert_null(strstr(cell.detail, "pcie"));
    free(readings.v);
    as_cell_finish(&cell);
    return g;
}
#define GROWTH_OF(...)                                                                                                 \
    growth_of((const struct noted[]){__VA_ARGS__}, sizeof(const struct noted[]){__VA_ARGS__} / sizeof(struct noted))

UNIT_TEST(test_growth)
{
    assert_true(GROWTH_OF({1, 7, 0}, {1, 7, 0}, {1, 7, 0}).grown == 0);
    struct as_counter_growth g = GROWTH_OF({1, 5, 2}, {1, 9, 0}, {1, 9, 0}); /* not only of the last trial */
    assert_true(g.grown == 6 && g.first == 3 && g.last == 9 && g.resets == 0);
    g = GROWTH_OF({1, 5, 1}, {2, 9, 0}, {2, 12, 1}); /* also between trials and between processes */
    assert_true(g.grown == 8 && g.first == 4 && g.last == 12 && g.resets == 0);
}

UNIT_TEST(test_reset)
{
    struct as_counter_growth g = GROWTH_OF({1, 900, 0}, {2, 0, 0}, {2, 3, 3}); /* resumed after a reboot */
    assert_true(g.grown == 3 && g.resets == 1 && g.before == 900 && g.after == 0);
    g = GROWTH_OF({1, 900, 0}, {1, 0, 0}); /* of a process that lives on */
    assert_true(g.grown == 0 && g.resets == 1);
}

/* Trials of two cells take turns. */
UNIT_TEST(test_cells)
{
    struct as_cell a, b;
    struct as_counter_readings readings = {0};
    struct as_counter_growth g;
    make_cell(&a, (const struct noted[]){{1, 2, 1}, {1, 6, 0}, {2, 0, 0}}, 3, 1000);
    make_cell(&b, (const struct noted[]){{1, 4, 1}, {1, 7, 1}, {2, 1, 1}}, 3, 1005);
    assert_int_equal(as_counters_of(&b, "link_replays", &readings, NULL), AS_OK);
    assert_int_equal(as_counters_of(&a, "link_replays", &readings, NULL), AS_OK);
    assert_true(as_counters_grown(&readings, &g));
    assert_true(g.grown == 6 + 1 && g.resets == 1 && g.before == 7 && g.after == 0);
    free(readings.v);
    as_cell_finish(&a);
    as_cell_finish(&b);
}

UNIT_TEST(test_damaged)
{
    static const char *const damaged[] = {"{\"link_replays_readings\":\"\"}",
                                          "{\"link_replays_readings\":\"1:2\"}",
                                          "{\"link_replays_readings\":\"1:nan:3 1:inf:2 1:5:-1 x\"}",
                                          "{\"link_replays_readings\":7}",
                                          "{\"link_replays_readings",
                                          "{}"};
    struct as_counter_readings readings = {0};
    struct as_counter_growth g;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct as_cell cell = {.detail = strdup(damaged[i])};
        assert_int_equal(as_counters_of(&cell, "link_replays", &readings, NULL), AS_OK);
        as_cell_finish(&cell);
    }
    assert_int_equal(as_counters_of(&(struct as_cell){.detail = NULL}, "link_replays", &readings, NULL), AS_OK);
    assert_false(as_counters_grown(&readings, &g));
    assert_true(as_counter_has_note("pcie_replays_readings"));
    assert_false(as_counter_has_note("pcie_replays") || as_counter_has_note("_readings"));
    free(readings.v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth), cmocka_unit_test(test_reset),
                                       cmocka_unit_test(test_cells), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
