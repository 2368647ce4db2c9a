/* Coverage of the intervals on simulated machines. With a number of cells, prints the tables of docs/statistics.md:
 *     build/tests/stats/test_stats_calibration 4000 */
#include "world.h"

#include "stats/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mechanisms in use. */
struct how {
    bool normalise, weigh, moderate, trim, steady;
    size_t group; /* number of cells to which the prior is fitted */
};
static const struct how all = {true, true, true, true, true, WORLD_CELLS};

/* For all cells of some probes: distance of the truth from the middle in half-widths, and widths. */
struct tally {
    double *miss, *width;
    size_t n, room, inside;
};

static void count_coverage(struct tally *t, double value, struct as_interval ci, double truth)
{
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->miss = realloc(t->miss, t->room * sizeof *t->miss);
        t->width = realloc(t->width, t->room * sizeof *t->width);
        assert_true(t->miss && t->width);
    }
    double half = 0.5 * log(ci.hi / ci.lo), middle = 0.5 * log(ci.hi * ci.lo);
    assert_true(isfinite(half) && ci.lo <= value && value <= ci.hi);
    t->miss[t->n] = fabs(log(truth) - middle) / fmax(half, 1e-12);
    t->width[t->n] = 2 * half;
    t->inside += ci.lo <= truth && truth <= ci.hi;
    t->n++;
}

static void drop(struct tally *t)
{
    free(t->miss);
    free(t->width);
    *t = (struct tally){0};
}

/* Median width after stretching all intervals by the factor that gives 95% coverage. */
static double fair_width(const struct tally *t)
{
    return as_median(t->width, t->n) * as_quantile(t->miss, t->n, 0.95);
}

/* Student's interval of all trial medians, for comparison with trimming. */
static void untrimmed(struct world_cell *c, const struct as_norm *norm, struct as_estimate *e)
{
    double x[WORLD_TRIALS], mean = 0, ss = 0;
    size_t n = 0;
    for (size_t k = 0; k < c->n; k++) {
        struct as_estimate one;
        assert_int_equal(as_estimate_cell(&c->trials[k], 1, norm, NULL, NULL, &one, NULL), AS_OK);
        if (!(one.causes & AS_WIDE_CONTENTION))
            x[n++] = log(one.value);
    }
    for (size_t k = 0; k < n; k++)
        mean += x[k] / (double)n;
    if (n < 2)
        return;
    for (size_t k = 0; k < n; k++)
        ss += (x[k] - mean) * (x[k] - mean);
    double half = as_student((unsigned)n - 1, 0.95) * sqrt(ss / (double)(n * (n - 1)));
    e->ci = (struct as_interval){fmin(exp(mean - half), e->value), fmax(exp(mean + half), e->value)};
}

static double reference_of(struct world_probe *p)
{
    double *hz = malloc(sizeof p->hz), *weight = malloc(sizeof p->weight);
    size_t n = 0;
    assert_true(hz && weight);
    for (size_t c = 0; c < WORLD_CELLS; c++)
        for (size_t k = 0; k < p->cells[c].n; k++)
            for (size_t i = 0; i < p->cells[c].trials[k].n; i++, n++) {
                hz[n] = p->hz[c][k][i];
                weight[n] = p->weight[c][k][i];
            }
    double reference = as_reference_clock(hz, weight, n);
    free(hz);
    free(weight);
    return reference;
}

/* beta 1 and 0 are known by construction, others are fitted, as in a run. */
static bool norm_of(const struct world *w, struct world_probe *p, const struct how *how, struct as_norm *norm)
{
    struct as_cell_trials cells[WORLD_CELLS];
    struct as_exponent e;
    *norm = (struct as_norm){.beta = w->beta, .reference_hz = reference_of(p)};
    if (!how->normalise)
        return false;
    if (w->beta == 0 || w->beta == 1)
        return true;
    for (size_t c = 0; c < WORLD_CELLS; c++)
        cells[c] = (struct as_cell_trials){p->cells[c].trials, p->cells[c].n};
    assert_int_equal(as_exponent_fit(cells, WORLD_CELLS, false, &e, NULL), AS_OK);
    norm->beta = e.beta;
    return e.known;
}

static void switch_off(struct world_probe *p, const struct how *how)
{
    for (size_t c = 0; c < WORLD_CELLS; c++)
        for (size_t k = 0; k < p->cells[c].n; k++)
            for (size_t i = 0; i < p->cells[c].trials[k].n; i++) {
                double *weight = &p->weight[c][k][i];
                if (!how->weigh || (!how->steady && *weight > 0))
                    *weight = 1;
            }
}

/* The first cells have the requested trials; with fewer than three, the other half has three, so that the group is
 * known. */
static void probe(const struct world *w, size_t trials, const struct how *how, struct as_rng *r, struct tally *t)
{
    static struct world_probe p;
    struct as_estimate e[WORLD_CELLS];
    size_t n[WORLD_CELLS], counted = trials < 3 ? WORLD_CELLS / 2 : WORLD_CELLS;
    struct as_norm norm;
    struct as_prior prior;
    for (size_t c = 0; c < WORLD_CELLS; c++)
        n[c] = c < counted ? trials : 3;
    world_measure(w, n, WORLD_SAMPLES, r, &p);
    switch_off(&p, how);
    const struct as_norm *use = norm_of(w, &p, how, &norm) ? &norm : NULL;
    for (size_t c = 0; c < WORLD_CELLS; c++)
        assert_int_equal(as_estimate_cell(p.cells[c].trials, n[c], use, NULL, NULL, &e[c], NULL), AS_OK);
    assert_int_equal(as_prior_fit_cells(e + WORLD_CELLS - how->group, how->group, &prior, NULL), AS_OK);
    for (size_t c = 0; c < counted; c++) {
        if (how->moderate)
            assert_int_equal(as_estimate_cell(p.cells[c].trials, n[c], use, &prior, NULL, &e[c], NULL), AS_OK);
        if (!how->trim)
            untrimmed(&p.cells[c], use, &e[c]);
        double truth = p.cells[c].truth * pow(4.1e9 / norm.reference_hz, w->beta);
        count_coverage(t, e[c].value, e[c].ci, truth);
    }
}

static struct tally simulate(const struct world *w, size_t trials, const struct how *how, size_t cells)
{
    struct tally t = {0};
    struct as_rng r;
    as_rng_seed(&r, trials + 100 * (uint64_t)(w - worlds));
    while (t.n < cells)
        probe(w, trials, how, &r, &t);
    return t;
}

/* Trials continue until the interval is narrow enough, from three to all; the group is known from three. */
static void probe_until(const struct world *w, double width, bool stopped, struct as_rng *r, struct tally *t)
{
    static struct world_probe p;
    struct as_estimate e[WORLD_CELLS];
    struct as_norm norm;
    struct as_prior prior;
    size_t n[WORLD_CELLS];
    for (size_t c = 0; c < WORLD_CELLS; c++)
        n[c] = WORLD_TRIALS;
    world_measure(w, n, WORLD_SAMPLES, r, &p);
    const struct as_norm *use = norm_of(w, &p, &all, &norm) ? &norm : NULL;
    for (size_t c = 0; c < WORLD_CELLS; c++)
        assert_int_equal(as_estimate_cell(p.cells[c].trials, 3, use, NULL, NULL, &e[c], NULL), AS_OK);
    assert_int_equal(as_prior_fit_cells(e, WORLD_CELLS, &prior, NULL), AS_OK);
    for (size_t c = 0; c < WORLD_CELLS; c++) {
        const struct as_aim aim = {.width = width, .stopped = stopped};
        e[c].wide = true;
        for (size_t k = 3; k <= WORLD_TRIALS && e[c].wide; k++)
            assert_int_equal(as_estimate_cell(p.cells[c].trials, k, use, &prior, &aim, &e[c], NULL), AS_OK);
        count_coverage(t, e[c].value, e[c].ci, p.cells[c].truth * pow(4.1e9 / norm.reference_hz, w->beta));
    }
}

static struct tally simulate_until(const struct world *w, double width, bool stopped, size_t cells)
{
    struct tally t = {0};
    struct as_rng r;
    as_rng_seed(&r, 7 + 100 * (uint64_t)(w - worlds));
    while (t.n < cells)
        probe_until(w, width, stopped, &r, &t);
    return t;
}

static const size_t trial_counts[] = {1, 2, 3, 6, 12};
enum { COUNTS = sizeof trial_counts / sizeof *trial_counts };

static double coverage_of(const struct tally *t)
{
    return (double)t->inside / (double)t->n;
}

static void test_coverage(void **state)
{
    (void)state;
    for (size_t i = 0; i < worlds_n; i++)
        for (size_t k = 0; k < COUNTS; k++) {
            const struct world *w = &worlds[i];
            struct tally t = simulate(w, trial_counts[k], &all, 640);
            double coverage = coverage_of(&t);
            drop(&t);
            if (coverage < w->least || (w->plain && trial_counts[k] >= 3 && coverage > 0.98))
                fail_msg("%s, %zu trials: %.1f%% covered", w->name, trial_counts[k], 100 * coverage);
        }
}

/* Trials stop when the interval reaches the typical width of six trials. */
static void test_stopping(void **state)
{
    (void)state;
    for (size_t i = 0; i < worlds_n; i++) {
        if (!worlds[i].plain)
            continue;
        struct tally fixed = simulate(&worlds[i], 6, &all, 320);
        struct tally t = simulate_until(&worlds[i], as_median(fixed.width, fixed.n), true, 640);
        if (coverage_of(&t) < 0.93)
            fail_msg("%s: %.1f%% covered", worlds[i].name, 100 * coverage_of(&t));
        drop(&fixed);
        drop(&t);
    }
}

static void print_coverage(size_t cells)
{
    for (size_t i = 0; i < worlds_n; i++) {
        printf("| %s |", worlds[i].name);
        for (size_t k = 0; k < COUNTS; k++) {
            struct tally t = simulate(&worlds[i], trial_counts[k], &all, cells);
            printf(" %.0f%% (%.2g%%) |", 100 * coverage_of(&t), 100 * as_median(t.width, t.n));
            drop(&t);
        }
        printf("\n");
    }
}

static void print_ablation(size_t cells)
{
    static const struct {
        const char *name;
        struct how how;
    } rows[] = {{"all", {true, true, true, true, true, WORLD_CELLS}},
                {"no normalisation", {false, true, true, true, true, WORLD_CELLS}},
                {"contended samples count", {true, false, true, true, true, WORLD_CELLS}},
                {"unsteady samples count in full", {true, true, true, true, false, WORLD_CELLS}},
                {"no pooling", {true, true, false, true, true, WORLD_CELLS}},
                {"pooled over four cells", {true, true, true, true, true, 4}},
                {"no pooling, no trimming", {true, true, false, false, true, WORLD_CELLS}}};
    for (size_t i = 0; i < worlds_n; i++)
        for (size_t h = 0; h < sizeof rows / sizeof *rows; h++) {
            printf("| %s | %s |", worlds[i].name, rows[h].name);
            for (size_t k = rows[h].how.trim ? 0 : 3; k < COUNTS; k++) {
                struct tally t = simulate(&worlds[i], trial_counts[k], &rows[h].how, cells);
                printf(" %.0f%% (%.2g%%) |", 100 * coverage_of(&t), 100 * fair_width(&t));
                drop(&t);
            }
            printf("\n");
        }
}

/* The factor by which intervals are too narrow if trials stop at 0.7 to 2.7 times the typical width of six. */
static void print_stopping(size_t cells)
{
    for (size_t i = 0; i < worlds_n; i++) {
        struct tally fixed = simulate(&worlds[i], 6, &all, cells);
        printf("| %s |", worlds[i].name);
        for (double f = 0.7; f < 3; f *= 1.4) {
            struct tally t = simulate_until(&worlds[i], f * as_median(fixed.width, fixed.n), false, cells);
            printf(" %.2f |", as_quantile(t.miss, t.n, 0.95));
            drop(&t);
        }
        printf("\n");
        drop(&fixed);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        size_t cells = (size_t)strtoul(argv[1], NULL, 10);
        print_coverage(cells);
        print_ablation(cells);
        print_stopping(cells);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coverage), cmocka_unit_test(test_stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
