/* The rule of energy per operation: a known line is found, and insufficient data gives no fact. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void point(struct made *m, const char *op, unsigned share, double rate, double watts)
{
    char axes[64], note[64];
    snprintf(axes, sizeof axes, "op=%s share=%u warps=0", op, share);
    struct as_cell *cell = made_add(m, "power", "FLOP/s", rate, axes);
    free(cell->detail);
    cell->detail = NULL;
    if (watts > 0) {
        snprintf(note, sizeof note, "{\"power_w\": %.6f}", watts);
        cell->detail = malloc(strlen(note) + 1);
        assert_non_null(cell->detail);
        strcpy(cell->detail, note);
    }
}

/* 120 W and 5 pJ per operation, at up to 30 T operations per second. */
UNIT_TEST(test_line)
{
    struct made m = {.share = 0.001};
    for (unsigned share = 25; share <= 100; share += 25)
        point(&m, "ffma32", share, 30e12 * share / 100, 120 + 150.0 * share / 100 + (share % 50 ? 0.2 : -0.2));
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "power.energy.ffma32", 5, 0.01);
    made_says(f, "the board draws 270 W");
    made_says(f, "extrapolated to zero rate: 120 W");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(f->ci.lo < 5 && f->ci.hi > 5);
    assert_int_equal(f->evidence_n, 4);
    made_end(&m);
}

static void occupied(struct made *m, unsigned warps, double watts)
{
    struct as_error err = {0};
    char axes[64];
    snprintf(axes, sizeof axes, "op=ffma32 share=100 warps=%u", warps);
    struct as_cell *cell = made_add(m, "power", "FLOP/s", 1e12, axes);
    const struct as_metric_value power = {.name = "power_w",
                                          .unit = "W",
                                          .lower_is_better = true,
                                          .trials = 3,
                                          .value = watts,
                                          .ci = {watts - 1, watts + 1}};
    assert_int_equal(as_cell_set_metrics(cell, &power, 1, &err), AS_OK);
}

/* From one warp on every unit to all that fit. */
UNIT_TEST(test_warps)
{
    struct made m = {.share = 0.001, .clock_hz = 1.98e9};
    occupied(&m, 0, 640);
    occupied(&m, 16, 500);
    occupied(&m, 4, 300);
    made_derive(&m);
    assert_null(made_find(&m, "power.warps.ffma32")); /* not from one on */
    occupied(&m, 1, 160);
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "power.warps.ffma32", 480, 1e-6);
    assert_true(f->ci.lo == 478 && f->ci.hi == 482 && f->verdict == AS_SUPPORTED);
    made_says(
        f, "160 W (159 to 161 W) with 1 warp, 1.98 GHz; 300 W (299 to 301 W) with 4 warps; 500 W (499 to 501 W) with "
           "16 warps; and 640 W (639 to 641 W) at full occupancy, 1.98 GHz");
    assert_int_equal(f->evidence_n, 4);
    made_end(&m);
}

/* Points that lie on a line by luck, each known within 12%: so well only is the slope known. */
UNIT_TEST(test_wide_points)
{
    struct made m = {.share = 0.001};
    struct as_error err = {0};
    for (unsigned share = 25; share <= 100; share += 25) {
        const double watts = 120 + 150.0 * share / 100;
        const struct as_metric_value power = {.name = "power_w",
                                              .unit = "W",
                                              .lower_is_better = true,
                                              .trials = 2,
                                              .value = watts,
                                              .ci = {0.88 * watts, 1.12 * watts}};
        point(&m, "ffma32", share, 30e12 * share / 100, 0);
        assert_int_equal(as_cell_set_metrics(&m.cells[m.n - 1], &power, 1, &err), AS_OK);
    }
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "power.energy.ffma32", 5, 1e-6);
    assert_true(f->ci.lo < 3.8 && f->ci.hi > 6.2);
    made_end(&m);
}

UNIT_TEST(test_no_energy_is_below_zero)
{
    static const double watts[] = {190, 120, 180, 130}, half = 90;
    struct made m = {.share = 0.001};
    struct as_error err = {0};
    for (unsigned i = 0; i < 4; i++) {
        const struct as_metric_value power = {.name = "power_w",
                                              .unit = "W",
                                              .lower_is_better = true,
                                              .trials = 2,
                                              .value = watts[i],
                                              .ci = {watts[i] - half, watts[i] + half}};
        point(&m, "ffma32", 25 * (i + 1), 7.5e12 * (i + 1), 0);
        assert_int_equal(as_cell_set_metrics(&m.cells[m.n - 1], &power, 1, &err), AS_OK);
    }
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "power.energy.ffma32");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    assert_true(f->value == 0 && f->ci.lo == 0 && f->ci.hi > 0);
    made_end(&m);
}

static void add_counted(struct as_cell *cell, double watts)
{
    char note[96];
    snprintf(note, sizeof note, "%.*s, \"counted_w\": %.6f}", (int)strlen(cell->detail) - 1, cell->detail, watts);
    free(cell->detail);
    cell->detail = malloc(strlen(note) + 1);
    assert_non_null(cell->detail);
    strcpy(cell->detail, note);
}

/* Of two meters the counter counts, and is named, however its line scatters. */
UNIT_TEST(test_meters)
{
    static const double off[] = {0.1, 2}; /* of the counter, in W */
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        struct made m = {.share = 0.001};
        for (unsigned share = 25; share <= 100; share += 25) {
            const double line = 120 + 150.0 * share / 100, side = share % 50 ? 1 : -1;
            point(&m, "ffma32", share, 30e12 * share / 100, line + side);
            add_counted(&m.cells[m.n - 1], line - side * off[i]);
        }
        made_derive(&m);
        const struct as_fact *f = made_near(&m, "power.energy.ffma32", 5, 0.2);
        assert_true((f->ci.hi - f->ci.lo < 0.1) == (off[i] < 1));
        made_says(f, " W; by the energy counter");
        made_end(&m);
    }
}

UNIT_TEST(test_not_enough)
{
    struct made m = {.share = 0.001};
    point(&m, "ffma32", 50, 15e12, 200);
    point(&m, "ffma32", 100, 30e12, 270);
    point(&m, "ffma32", 75, 22e12, 0); /* no reading */
    made_derive(&m);
    assert_null(made_find(&m, "power.energy.ffma32"));
    /* the same rate at every share: no slope */
    for (unsigned share = 25; share <= 100; share += 25)
        point(&m, "recip32", share, 1e12, 150 + share);
    made_derive(&m);
    assert_null(made_find(&m, "power.energy.recip32"));
    made_end(&m);
}

/* Power that does not follow the rate: stated, but not as supported. */
UNIT_TEST(test_no_slope)
{
    struct made m = {.share = 0.001};
    const double watts[] = {200, 190, 203, 195};
    for (unsigned i = 0; i < 4; i++)
        point(&m, "iadd32", 25 * (i + 1), 1e12 * (i + 1), watts[i]);
    made_derive(&m);
    assert_int_equal(made_get(&m, "power.energy.iadd32")->verdict, AS_UNDECIDED);
    made_end(&m);
}

/* An idle board at 118 W, 0.8 W more with one warp; neither is on the line of full compute units. */
UNIT_TEST(test_ends)
{
    struct made m = {.share = 0.001};
    for (unsigned share = 25; share <= 100; share += 25)
        point(&m, "ffma32", share, 30e12 * share / 100, 120 + 150.0 * share / 100 + (share % 50 ? 0.2 : -0.2));
    made_add(&m, "power", "W", 118, "op=ffma32 share=0 warps=0");
    struct as_cell *warp = made_add(&m, "power", "FLOP/s", 60e9, "op=ffma32 share=1 warps=1");
    struct as_error err = {0};
    const struct as_metric_value watts = {
        .name = "power_w", .unit = "W", .lower_is_better = true, .trials = 3, .value = 118.8, .ci = {118.5, 119.1}};
    assert_int_equal(as_cell_set_metrics(warp, &watts, 1, &err), AS_OK);
    made_derive(&m);
    made_says(made_near(&m, "power.idle", 118, 1e-9), "The idle board draws 118");
    const struct as_fact *f = made_near(&m, "power.warp", 118.8, 1e-9);
    made_says(f, "0.8 W more than when idle");
    assert_true(f->ci.lo == 118.5 && f->ci.hi == 119.1);
    assert_int_equal(made_near(&m, "power.energy.ffma32", 5, 0.01)->evidence_n, 4);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),        cmocka_unit_test(test_warps),
        cmocka_unit_test(test_wide_points), cmocka_unit_test(test_no_energy_is_below_zero),
        cmocka_unit_test(test_meters),      cmocka_unit_test(test_not_enough),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_no_slope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
