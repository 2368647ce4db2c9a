/* The rule that compares two instruments for one latency, on synthetic cells. */
#include "made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made gpu(double share)
{
    return (struct made){.info = {.id = "cuda:0", .backend = "cuda"}, .share = share};
}

static void add_place(struct made *m, const char *instrument, uint64_t size, double median)
{
    char axes[96];
    snprintf(axes, sizeof axes, "size=%llu pattern=random instrument=%s", (unsigned long long)size, instrument);
    made_add(m, "latency", "ns", median, axes);
}

/* Three sizes; at the last one the persistent chase differs by the factor `off`. */
static const struct as_fact *compare(struct made *m, double off, double spread)
{
    static const double levels[] = {16, 140, 600};
    *m = gpu(spread);
    for (int i = 0; i < 3; i++) {
        add_place(m, "timed", UINT64_C(16384) << (5 * i), levels[i]);
        add_place(m, "persistent", UINT64_C(16384) << (5 * i), levels[i] * (i == 2 ? off : 1.001));
    }
    made_derive(m);
    const struct as_fact *f = made_get(m, "latency.instruments");
    assert_true(fabs(f->value - (off > 1.001 || off < 1 / 1.001 ? off : 1.001)) < 1e-9);
    assert_int_equal(f->evidence_n, 6);
    return f;
}

UNIT_TEST(test_verdicts)
{
    static const struct {
        double off, spread;
        enum as_fact_verdict verdict;
        const char *words;
    } cases[] = {
        {1.01, 0.002, AS_SUPPORTED, "agree within 2% in 3 of 3 measurements; the largest"},
        {0.99, 0.002, AS_SUPPORTED, "in 3 of 3 measurements"},
        {1.05, 0.002, AS_REFUTED, "in 2 of 3 measurements, differ by more in 1; the"},
        {0.90, 0.002, AS_REFUTED, "in 2 of 3 measurements, differ by more in 1; the"},
        {1.02, 0.005, AS_UNDECIDED, "in 2 of 3 measurements, and are inconclusive in 1; the"},
        {1.01, 0.100, AS_UNDECIDED, "in 0 of 3 measurements, and are inconclusive in 3; the"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        const struct as_fact *f = compare(&m, cases[i].off, cases[i].spread);
        if (f->verdict != cases[i].verdict || !strstr(f->sentence, cases[i].words))
            fail_msg("off by %g: %s, %s", cases[i].off, as_fact_verdict_word(f->verdict), f->sentence);
        made_end(&m);
    }
}

UNIT_TEST(test_one_instrument_is_no_comparison)
{
    struct made m = gpu(0.01);
    add_place(&m, "timed", 16384, 16);
    add_place(&m, "persistent", 32768, 16);
    made_derive(&m);
    assert_null(made_find(&m, "latency.instruments"));
    made_end(&m);
}

/* Levels come from the timed chase, even if the persistent one has more points. */
UNIT_TEST(test_levels_are_of_the_timed_chase)
{
    struct made m = gpu(0.01);
    for (int i = 0; i < 8; i++)
        add_place(&m, "timed", UINT64_C(4096) << i, i < 4 ? 10 : 100);
    for (int i = 0; i < 16; i++)
        add_place(&m, "persistent", UINT64_C(4096) << i, i < 4 ? 20 : 200);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "cache.L1.latency");
    assert_true(fabs(f->value - 10) < 0.5);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_one_instrument_is_no_comparison),
        cmocka_unit_test(test_levels_are_of_the_timed_chase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
