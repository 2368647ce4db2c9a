/* Loads on resources are recovered from the cost of sequences, and data that fits no set of resources is detected. */
#include "stats/pipes_fit.h"

#include "sim.h"

#include <math.h>
#include <string.h>

enum { MAX = 256, RESOURCES = 4, OPERATIONS = 8 };

/* Adders, a slow unit that also uses an adder, and register ports, which no operation uses alone: three operands of
 * one operation and two of another share them. */
static const double takes[OPERATIONS][RESOURCES] = {
    {0.25, 0, 0, 0.25}, {0.25, 0, 0, 0.25}, {0, 0.5, 0, 0.2}, {0, 0.5, 0, 0.42},
    {0, 0.5, 0, 0.1},   {0, 0.1, 2, 0.1},   {0, 0, 2, 0.3},   {0.25, 0.5, 0, 0.3},
};

struct made {
    struct as_pipes_sequence s[MAX];
    size_t n;
    struct as_rng rng;
    double noise;
};

static void add_pair(struct made *m, size_t a, unsigned an, size_t b, unsigned bn)
{
    struct as_pipes_sequence *s = &m->s[m->n++];
    double most = 0;
    *s = (struct as_pipes_sequence){.issued = an + bn, .error = m->noise};
    s->count[a] = (uint8_t)(s->count[a] + an);
    s->count[b] = (uint8_t)(s->count[b] + bn);
    for (size_t r = 0; r < RESOURCES; r++)
        most = fmax(most, an * takes[a][r] + bn * takes[b][r]);
    s->cost = fmax(most, 0.25 * (an + bn)) * (1 + m->noise * as_rng_normal(&m->rng));
}

/* Single operations, all pairs, and slow ones with several fast ones. */
static void make(struct made *m, double noise, uint64_t seed)
{
    *m = (struct made){.noise = noise};
    as_rng_seed(&m->rng, seed);
    for (size_t i = 0; i < OPERATIONS; i++)
        add_pair(m, i, 1, i, 0);
    for (size_t i = 0; i < OPERATIONS; i++)
        for (size_t j = 0; j < i; j++)
            add_pair(m, i, 1, j, 1);
    for (size_t i = 0; i < 5; i++)
        for (unsigned n = 2; n <= 6; n += 2) {
            add_pair(m, 5, 1, i, n);
            add_pair(m, 6, 1, i, n);
            add_pair(m, 0, n, i, 1);
        }
}

static void solve(const struct made *m, struct as_pipes_fit *fit)
{
    static struct as_pipes p;
    struct as_error err = {0};
    assert_int_equal(as_pipes_solve(m->s, m->n, OPERATIONS + 1, &p, &err), AS_OK);
    assert_int_equal(as_pipes_fit(m->s, m->n, OPERATIONS + 1, &p, fit, &err), AS_OK);
}

static void test_exact(void **unused)
{
    static struct made m;
    static struct as_pipes_fit fit;
    (void)unused;
    make(&m, 0, 1);
    solve(&m, &fit);
    assert_int_equal(fit.judged, m.n - OPERATIONS - 3); /* alone, and 0 with 0 three times */
    assert_true(fit.residual < 0.01);
    assert_true(fit.told > 0.8);
    assert_true(fit.loads <= 24);
}

static void test_noise(void **unused)
{
    static struct made m;
    static struct as_pipes_fit fit;
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        make(&m, 0.005, seed);
        solve(&m, &fit);
        assert_true(fit.residual < 0.03);
    }
}

/* Random costs are not explained, least of all those left out. */
static void test_no_reason(void **unused)
{
    static struct made m;
    static struct as_pipes_fit fit;
    (void)unused;
    make(&m, 0, 3);
    for (size_t k = OPERATIONS; k < m.n; k++)
        m.s[k].cost *= 1 + as_rng_double(&m.rng);
    solve(&m, &fit);
    assert_true(fit.residual > 0.05);
    assert_true(fit.told < 0.4);
}

static void test_nothing(void **unused)
{
    static struct made m;
    static struct as_pipes_fit fit;
    (void)unused;
    m = (struct made){.n = 0};
    solve(&m, &fit);
    assert_true(fit.judged == 0 && fit.loads == 0 && isnan(fit.residual) && isnan(fit.told));
}

/* A pair that is left out cannot be predicted if only it shows that two operations run concurrently. */
static void test_left_out(void **unused)
{
    static struct made m;
    static struct as_pipes_fit fit;
    (void)unused;
    m = (struct made){.n = 3};
    for (size_t k = 0; k < m.n; k++)
        m.s[k] = (struct as_pipes_sequence){.count = {k != 1, k != 0}, .cost = 1, .issued = NAN, .error = 0.001};
    solve(&m, &fit);
    assert_true(fit.judged == 1 && fit.residual < 0.01);
    assert_true(fit.told == 0);
}

/* The cost of a single operation is required, since any cost of its sequences would fit otherwise. */
static void test_unknown_alone(void **unused)
{
    static struct made m;
    static struct as_pipes_fit known, fit;
    (void)unused;
    make(&m, 0, 4);
    solve(&m, &known);
    for (size_t i = 0; i < 3; i++) {
        struct as_pipes_sequence *s = &m.s[m.n++];
        *s = (struct as_pipes_sequence){.count = {1}, .cost = 40, .issued = NAN, .error = NAN};
        s->count[OPERATIONS] = 1;
    }
    solve(&m, &fit);
    assert_int_equal(fit.sequences, known.sequences);
    assert_int_equal(fit.judged, known.judged);
    assert_true(fit.loads == known.loads && fit.worst == known.worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),   cmocka_unit_test(test_noise),    cmocka_unit_test(test_no_reason),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_left_out), cmocka_unit_test(test_unknown_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
