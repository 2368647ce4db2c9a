/* Slow units and nodes of simulated fleets are found, and hardly any other: by known seeds, so that nothing is luck. */
#include "base/clock.h"
#include "stats/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit_test.h"

struct fleet {
    size_t nodes, each;
    double node_sd, unit_sd, error;
    size_t every;    /* each such unit is slow */
    size_t node_of;  /* each such node is slow as a whole, 0: none */
    double slowness; /* of the logarithm */
};
struct outcome {
    size_t planted, found, wrong;
};

static bool is_planted(const struct fleet *f, size_t i)
{
    return f->every && i % f->every == f->every / 2;
}

static bool is_planted_node(const struct fleet *f, size_t node)
{
    return f->node_of && node % f->node_of == f->node_of / 2;
}

static struct as_observation *made(const struct fleet *f, uint64_t seed)
{
    struct as_rng rng;
    struct as_observation *u = calloc(f->nodes * f->each, sizeof *u);
    assert_non_null(u);
    as_rng_seed(&rng, seed);
    for (size_t node = 0; node < f->nodes; node++) {
        const double of_node = f->node_sd * as_rng_normal(&rng);
        for (size_t k = 0; k < f->each; k++) {
            const size_t i = node * f->each + k;
            const double own = f->unit_sd * as_rng_normal(&rng) + f->error * as_rng_normal(&rng);
            u[i] = (struct as_observation){.y = log(3e12) + of_node + own, .error = f->error, .node = (uint32_t)node};
            u[i].y -= (is_planted(f, i) || is_planted_node(f, node)) ? f->slowness : 0;
        }
    }
    return u;
}

static void count(const struct as_deviation *d, bool planted, double below, struct outcome *o)
{
    const bool found = d->p <= below && d->effect < 0;
    o->planted += planted;
    o->found += planted && found;
    o->wrong += !planted && d->p <= below;
}

static struct outcome outcome_of(const struct fleet *f, uint64_t seed)
{
    const size_t n = f->nodes * f->each;
    struct as_observation *u = made(f, seed);
    struct as_deviation *d = calloc(n + f->nodes, sizeof *d);
    double *p = calloc(n + f->nodes, sizeof *p);
    struct outcome o = {0};
    assert_true(d && p);
    assert_int_equal(as_outliers_judge(u, n, f->nodes, 0.01, d, d + n, NULL), AS_OK);
    for (size_t i = 0; i < n + f->nodes; i++)
        p[i] = d[i].p;
    const double below = as_discoveries_below(p, n + f->nodes, n + f->nodes, 0.005);
    for (size_t i = 0; i < n; i++)
        count(&d[i], is_planted(f, i), below, &o);
    for (size_t i = 0; i < f->nodes; i++)
        count(&d[n + i], is_planted_node(f, i), below, &o);
    free(u);
    free(d);
    free(p);
    return o;
}

/* Of 80,000 GPUs, 80 are 5% slow and ten nodes as a whole. */
UNIT_TEST(test_large_fleet)
{
    const struct fleet f = {10000, 8, 0.004, 0.005, 0.003, 1000, 1000, 0.05};
    struct outcome all = {0};
    for (uint64_t seed = 45001; seed <= 45010; seed++) {
        const struct outcome o = outcome_of(&f, seed);
        all.planted += o.planted;
        all.found += o.found;
        all.wrong += o.wrong;
    }
    print_message("%zu of %zu found, %zu others\n", all.found, all.planted, all.wrong);
    assert_true((double)all.found >= 0.99 * (double)all.planted);
    assert_true((double)all.wrong <= 0.005 * (double)all.found);
}

static void assert_none_found(struct fleet *f)
{
    f->every = 0;
    for (uint64_t seed = 1; seed <= 50; seed++)
        assert_int_equal(outcome_of(f, seed).wrong, 0);
}

/* One node of eight, one of which is 4% slow; nothing planted: nothing found. */
UNIT_TEST(test_one_node)
{
    struct fleet f = {1, 8, 0, 0.001, 0.001, 8, 0, 0.04};
    struct outcome all = {0};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const struct outcome o = outcome_of(&f, seed);
        all.found += o.found;
        all.wrong += o.wrong;
    }
    assert_true(all.found >= 45);
    assert_int_equal(all.wrong, 0);
    assert_none_found(&f);
}

/* Sixteen nodes with one device each, one 10% slow: what four or sixteen ranks show. */
UNIT_TEST(test_one_each)
{
    struct fleet f = {16, 1, 0.003, 0, 0.003, 16, 0, 0.1};
    assert_int_equal(outcome_of(&f, 7).found, 1);
    assert_int_equal(outcome_of(&f, 7).wrong, 0);
    assert_none_found(&f);
}

/* Three alike tell nothing, and a number that is itself unsure proves nothing. */
UNIT_TEST(test_too_little)
{
    struct fleet f = {3, 1, 0.003, 0, 0.003, 3, 0, 0.5};
    assert_int_equal(outcome_of(&f, 1).found, 0);
    f = (struct fleet){16, 1, 0.003, 0, 0.003, 16, 0, 0.1};
    struct as_observation *u = made(&f, 7);
    struct as_deviation unit[16], node[16];
    u[8].error = 0.2;
    assert_int_equal(as_outliers_judge(u, 16, 16, 0.01, unit, node, NULL), AS_OK);
    assert_true(unit[8].p > 0.1 && unit[8].ci.hi > 0);
    free(u);
}

UNIT_TEST(test_scale)
{
    double x[] = {1, 2, 3, 4, 1000}, two[] = {1, 2};
    assert_true(as_robust_scale(x, 5) < 6);
    assert_true(fabs(as_robust_scale(two, 2) - 2.2191 * 0.399) < 1e-12);
    assert_true(as_robust_scale(x, 1) == 0);
    double p[] = {0.5, 0.001, 0.04};
    assert_true(as_discoveries_below(p, 3, 3, 0.01) == 0.001);
    assert_true(as_discoveries_below(p, 3, 3, 0.06) == 0.04);
    assert_true(as_discoveries_below(p, 3, 300, 0.01) < 0);
}

/* The smallest effect that counts, against tables of Student's t (Wallace has it within 3%). */
UNIT_TEST(test_least)
{
    static const struct {
        double df, p, t;
    } rows[] = {{1e6, 0.05, 1.960}, {30, 0.05, 2.042}, {10, 0.01, 3.169}, {5, 0.05, 2.571}, {5, 0.001, 6.869}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(as_outliers_least(0.01, rows[i].df, rows[i].p, 0) / (0.01 * rows[i].t) - 1) < 0.03);
    assert_true(as_outliers_least(0.001, 30, 0.05, 0.01) == 0.01);
    assert_true(isnan(as_outliers_least(NAN, NAN, 0.05, 0.01)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_fleet), cmocka_unit_test(test_one_node), cmocka_unit_test(test_one_each),
        cmocka_unit_test(test_too_little),  cmocka_unit_test(test_scale),    cmocka_unit_test(test_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
