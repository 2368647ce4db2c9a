/* Probe emulated: error bounds by exact arithmetic over random and hard operands, faults that the checks see, and
 * trials on OpenCL where available. */
#include "arithmetic.h"
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_emulated;

typedef struct as_emulated_number number;

/* ---- accuracy ---- */

enum { ENOUGH = 200000 };

static double worst_of(const struct as_emulated *op, number (*apply)(number a, number b, number c))
{
    struct as_rng rng;
    double worst = 0;
    as_rng_seed(&rng, 11);
    for (size_t i = 0; i < ENOUGH; i++) {
        number in[3];
        as_emulated_operands(op, &rng, i, in);
        worst = fmax(worst, as_emulated_error(op, in, apply(in[0], in[1], in[2])));
    }
    return worst;
}

/* Near the bound, or hard cases are missing; but what is proven of e8m48 may not be reached. */
UNIT_TEST(test_bounds)
{
    for (const struct as_emulated *op = as_emulated; op->name; op++) {
        const double worst = worst_of(op, op->apply);
        if (worst > op->bound || worst < op->bound / 2)
            fail_msg("%s: the largest error is 2^%.2f, the bound 2^%.2f", op->name, log2(worst), log2(op->bound));
    }
}

/* Where both neighbours are as far, the result is the even one. */
UNIT_TEST(test_ties)
{
    static const char *const ops[] = {"fp59_add", "fp59_mul", "fp59_fma"};
    enum { LAST = 1 << 5 };
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        const struct as_emulated *op = as_emulated_find(ops[o]);
        struct as_rng rng;
        size_t ties = 0;
        as_rng_seed(&rng, 3);
        for (size_t i = 0; i < ENOUGH; i++) {
            number in[3];
            as_emulated_operands(op, &rng, i, in);
            const number r = op->apply(in[0], in[1], in[2]), up = {{r.word[0] + LAST}}, down = {{r.word[0] - LAST}};
            const double error = as_emulated_error(op, in, r);
            if (error == 0 || (error != as_emulated_error(op, in, up) && error != as_emulated_error(op, in, down)))
                continue;
            assert_int_equal(r.word[0] & LAST, 0);
            ties++;
        }
        assert_true(ties > 100);
    }
}

/* The shorter addition, whose error has no bound where parts cancel. */
static number sloppy_add(number p, number q, number unused)
{
    (void)unused;
    float a[2], b[2], out[2];
    memcpy(a, p.word, sizeof a);
    memcpy(b, q.word, sizeof b);
    const volatile float high = a[0] + b[0], part = high - a[0], rest = (a[0] - (high - part)) + (b[0] - part);
    const volatile float low = rest + (a[1] + b[1]), sum = high + low;
    number r = {{0}};
    out[0] = sum;
    out[1] = low - (sum - high);
    memcpy(r.word, out, sizeof out);
    return r;
}

static number cut_mul(number p, number q, number unused)
{
    (void)unused;
    double a, b;
    memcpy(&a, p.word, sizeof a);
    memcpy(&b, q.word, sizeof b);
    const double r = a * b;
    number n = {{0}};
    memcpy(n.word, &r, sizeof r);
    n.word[0] &= ~(uint64_t)31;
    return n;
}

static number no_carry(number p, number q, number unused)
{
    (void)unused;
    return (number){{(p.word[0] + q.word[0]) & UINT64_MAX, p.word[1] + q.word[1]}};
}

static number low_half(number p, number q, number unused)
{
    (void)unused;
    return (number){{(p.word[0] * q.word[1]) | 1, (p.word[0] >> 32) * (q.word[1] >> 32) | 1}};
}

/* Rounded twice. */
static number two_roundings(number p, number q, number r)
{
    const number product = as_emulated_find("fp59_mul")->apply(p, q, r);
    return as_emulated_find("fp59_add")->apply(product, r, r);
}

UNIT_TEST(test_faults)
{
    static const struct {
        const char *op;
        number (*apply)(number a, number b, number c);
    } faults[] = {{"e8m48_add", sloppy_add},
                  {"fp59_mul", cut_mul},
                  {"i128_add", no_carry},
                  {"i64_wide", low_half},
                  {"fp59_fma", two_roundings}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct as_emulated *op = as_emulated_find(faults[i].op);
        if (worst_of(op, faults[i].apply) <= op->bound)
            fail_msg("%s: nothing shows the fault", op->name);
    }
}

/* ---- the probe, on a device that works as the host ---- */

enum { TURN_NS = 100, LAUNCH_NS = 10000 };
static struct toy toy;
static const struct as_emulated *running;
static enum fault { NONE, A_RESULT, A_CHAIN } fault;

static void run(const char *name, void *const *args)
{
    uint32_t n;
    memcpy(&n, args[2], sizeof n);
    const number *in = args[1];
    if (strcmp(name, "results") == 0)
        for (uint32_t i = 0; i < n; i++) {
            number *out = (number *)args[0] + i;
            *out = running->apply(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
            out->word[0] ^= (uint64_t)(fault == A_RESULT && i == n / 3) << 20;
        }
    if (strcmp(name, "chains") != 0)
        return;
    for (size_t i = 0; i < toy.workgroups * 256; i++)
        ((uint64_t *)args[0])[i] = as_emulated_chains(running, in + i % 4 * 8, n) + (fault == A_CHAIN && i == 1000);
    toy.launch_s = (LAUNCH_NS + n * (double)TURN_NS) * 1e-9;
}

static bool is_right(const char *op, enum fault planted, const char *why_not)
{
    char axes[32], why[160];
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    fault = planted;
    running = as_emulated_find(op);
    kernel_timer_toy(&toy);
    toy.kernel = run;
    toy.dev.info.compute_units = 1;
    snprintf(axes, sizeof axes, "op=%s", op);
    toy_prepare(&toy, &as_probe_emulated, axes, &v, NULL);
    assert_int_equal(as_probe_emulated.sample(v.state, 20, &out, &err), AS_OK);
    assert_true(fabs(out.value - 16.0 * running->passes * 8 * 256 / (TURN_NS * 1e-9)) < 1e-6 * out.value);
    const bool right = as_probe_emulated.check(v.state, why, sizeof why);
    if (why_not)
        assert_non_null(strstr(why, why_not));
    assert_true((strstr(as_buf_get(&v.tc.detail), "accuracy") != NULL) == (running->bound > 0));
    toy_finish(&as_probe_emulated, &v);
    assert_int_equal(toy.live, 0);
    return right;
}

UNIT_TEST(test_checks)
{
    assert_true(is_right("e8m48_mul", NONE, NULL));
    assert_true(is_right("i128_mul_pieces", NONE, NULL));
    assert_true(is_right("fp59_fma", NONE, NULL));
    assert_false(is_right("fp59_fma", A_RESULT, "the bound, 2^-48"));
    assert_false(is_right("e8m48_mul", A_RESULT, "exceeds the bound"));
    assert_false(is_right("fp59_add", A_RESULT, "the bound, 2^-48"));
    assert_false(is_right("i64_wide", A_RESULT, "not the exact one"));
    assert_false(is_right("fp59_add", A_CHAIN, "other numbers than the host's"));
}

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_emulated, "op=f64_add", &err), AS_INAPPLICABLE);
    t.dev.info.capabilities |= AS_CAP_FP64;
    assert_int_equal(toy_applies(&t, &as_probe_emulated, "op=f64_add", &err), AS_APPLIES);
    toy_check_no_memory(&as_probe_emulated, AS_CAP_SOURCE, "op=e8m48_add");
}

UNIT_TEST(test_runs)
{
    struct kernel_timer_trial trials[32];
    char axes[32][32];
    size_t n = 0;
    for (const struct as_emulated *op = as_emulated; op->name; op++, n++) {
        snprintf(axes[n], sizeof axes[n], "op=%s", op->name);
        trials[n] = (struct kernel_timer_trial){axes[n], 50};
    }
    kernel_timer_trials("emulated", trials, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_ties),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_checks), cmocka_unit_test(test_applies), cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
