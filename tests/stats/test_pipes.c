/* Pipes of simulated units: shared pipes are recovered from the cost of pairs. */
#include "stats/pipes.h"

#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 256, TRIALS = 200, PIPES = 6 };

/* Cycles that an operation takes in each pipe, and its number of instructions. */
struct operation {
    const char *name;
    double use[PIPES];
    double issued;
};
enum { FMA, ALU, WIDE, SLOW };
enum { FFMA, FADD, IADD, XOR, DFMA, RECIP, POPC, BOTH, OPERATIONS };
/* A slow function also uses another pipe, and one operation is split evenly between two. */
static const struct operation unit[OPERATIONS] = {
    [FFMA] = {"ffma", {[FMA] = 0.25}, 1}, [FADD] = {"fadd", {[FMA] = 0.25}, 1},
    [IADD] = {"iadd", {[ALU] = 0.5}, 1},  [XOR] = {"xor", {[ALU] = 0.5}, 1},
    [DFMA] = {"dfma", {[WIDE] = 0.5}, 1}, [RECIP] = {"recip", {[SLOW] = 2, [ALU] = 0.5}, 2},
    [POPC] = {"popc", {[SLOW] = 2}, 1},   [BOTH] = {"both", {[FMA] = 0.25, [ALU] = 0.5}, 2},
};
static const int pipe_of[OPERATIONS] = {FMA, FMA, ALU, ALU, WIDE, SLOW, SLOW, ALU};

struct made {
    struct as_pipes_sequence s[MAX];
    size_t n;
    struct as_rng rng;
    double noise, issue;
};

static struct as_pipes_sequence *add_sequence(struct made *m, const struct operation *ops, const unsigned *counts)
{
    struct as_pipes_sequence *s = &m->s[m->n++];
    double pipes[PIPES] = {0}, most = 0;
    *s = (struct as_pipes_sequence){.error = m->noise};
    for (size_t i = 0; i < OPERATIONS; i++) {
        s->count[i] = (uint8_t)counts[i];
        s->issued += counts[i] * ops[i].issued;
        for (size_t k = 0; k < PIPES; k++)
            pipes[k] += counts[i] * ops[i].use[k];
    }
    for (size_t k = 0; k < PIPES; k++)
        most = fmax(most, pipes[k]);
    s->cost = fmax(most, m->issue * s->issued) * (1 + m->noise * as_rng_normal(&m->rng));
    return s;
}

static void add_two(struct made *m, const struct operation *ops, size_t a, unsigned an, size_t b, unsigned bn)
{
    unsigned counts[OPERATIONS] = {0};
    counts[a] += an;
    counts[b] += bn;
    add_sequence(m, ops, counts);
}

/* Single operations, all pairs, and sequences that distinguish slow from fast ones. */
static void add_all(struct made *m, const struct operation *ops)
{
    for (size_t a = 0; a < OPERATIONS; a++)
        for (size_t b = a; b < OPERATIONS; b++)
            add_two(m, ops, a, 1, b, b > a);
    for (size_t a = RECIP; a <= POPC; a++)
        for (size_t b = FFMA; b <= XOR; b++)
            add_two(m, ops, a, 1, b, 4);
    static const unsigned busy[][OPERATIONS] = {
        {[FFMA] = 3, [IADD] = 1, [DFMA] = 1}, {[FADD] = 2, [XOR] = 2, [DFMA] = 2}, {[FFMA] = 1, [FADD] = 1, [XOR] = 1}};
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        add_sequence(m, ops, busy[i]);
}

static void make_sequences(struct made *m, double noise, uint64_t seed)
{
    m->n = 0;
    m->noise = noise;
    m->issue = 0.25;
    as_rng_seed(&m->rng, seed);
}

static bool same_pipes(const struct as_pipes *p)
{
    for (size_t a = 0; a < OPERATIONS; a++)
        for (size_t b = 0; b < OPERATIONS; b++)
            if (p->home[a] < 0 || (p->home[a] == p->home[b]) != (pipe_of[a] == pipe_of[b]))
                return false;
    return true;
}

static void test_exact(void **unused)
{
    static struct made m;
    static struct as_pipes p;
    struct as_error err = {0};
    (void)unused;
    make_sequences(&m, 0, 1);
    add_all(&m, unit);
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pipes, 4);
    assert_true(same_pipes(&p));
    assert_true(fabs(p.issue - 0.25) < 1e-12);
    assert_true(p.issue_bound > 0);
    assert_int_equal(p.pair[FFMA][FADD].relation, AS_PIPES_AT_ISSUE);
    assert_int_equal(p.pair[FFMA][IADD].relation, AS_PIPES_SEPARATE);
    assert_int_equal(p.pair[XOR][IADD].relation, AS_PIPES_SHARED);
    assert_int_equal(p.pair[RECIP][IADD].relation, AS_PIPES_PARTLY);
    assert_true(fabs(p.use[RECIP][p.home[IADD]] - 0.5) < 1e-9);
}

static void test_noise(void **unused)
{
    static struct made m;
    static struct as_pipes p;
    size_t right = 0;
    (void)unused;
    for (uint64_t t = 0; t < TRIALS; t++) {
        struct as_error err = {0};
        make_sequences(&m, 0.01, t);
        add_all(&m, unit);
        assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
        right += same_pipes(&p) && p.pipes == 4;
    }
    print_message("noise of 1%%: %zu of %d machines found again\n", right, TRIALS);
    assert_true(right >= 0.95 * TRIALS);
}

/* All operations share one pipe, at different costs. */
static void test_ends(void **unused)
{
    static struct operation same[OPERATIONS], own[OPERATIONS];
    static struct made m;
    static struct as_pipes p;
    struct as_error err = {0};
    (void)unused;
    for (size_t i = 0; i < OPERATIONS; i++) {
        same[i] = (struct operation){"", {1}, 1};
        own[i] = (struct operation){"", {0}, 1};
        own[i].use[i % PIPES] = 1;
    }
    make_sequences(&m, 0.002, 5);
    add_all(&m, same);
    m.issue = 0;
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pipes, 1);
    make_sequences(&m, 0.002, 6);
    add_all(&m, own);
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pipes, PIPES);
    assert_int_equal(p.home[0], p.home[PIPES]);
}

static void test_little(void **unused)
{
    static struct made m;
    static struct as_pipes p;
    struct as_error err = {0};
    (void)unused;
    make_sequences(&m, 0.001, 8);
    add_two(&m, unit, FFMA, 1, FADD, 0);
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pipes, 0);
    assert_int_equal(p.placed, 0);
    assert_true(isnan(p.alone[IADD]));
    add_two(&m, unit, IADD, 1, FADD, 0); /* a pair without other pairs is inconclusive */
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pipes, 0);
    assert_int_equal(p.pair[FFMA][IADD].relation, AS_PIPES_UNMEASURED);
    add_two(&m, unit, POPC, 1, FADD, 0);
    add_two(&m, unit, POPC, 8, FFMA, 1); /* the fast one is hidden by the slow ones */
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_OK);
    assert_int_equal(p.pair[FFMA][POPC].relation, AS_PIPES_HIDDEN);
    m.s[0].cost = 0;
    assert_int_equal(as_pipes_solve(m.s, m.n, OPERATIONS, &p, &err), AS_USAGE);
    assert_int_equal(as_pipes_solve(m.s, m.n, AS_PIPES_OPS + 1, &p, &err), AS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
