/* The fact of two instruments for one latency, on synthetic cells; and that a persistent walk makes no level of its
 * own. */
#include "base/text.h"
#include "facts/facts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS_MAX = 40 };
struct made {
    struct as_cell cells[CELLS_MAX];
    size_t n;
    struct as_fact *facts;
    size_t facts_n;
};

static void add(struct made *m, const char *instrument, uint64_t size, double median, double spread)
{
    char text[32];
    assert_true(m->n < CELLS_MAX);
    struct as_cell *c = &m->cells[m->n++];
    *c = (struct as_cell){.id = (int64_t)m->n, .status = AS_CELL_OK, .clock_hz = NAN, .limit = NAN};
    c->sum = (struct as_summary){
        .n = 30, .visits = 3, .median = median, .ci = {median * (1 - spread), median * (1 + spread)}, .modes = 1};
    as_copy_text(c->device, sizeof c->device, "card:0");
    as_copy_text(c->probe, sizeof c->probe, "latency");
    as_copy_text(c->unit, sizeof c->unit, "ns");
    snprintf(text, sizeof text, "%llu", (unsigned long long)size);
    assert_int_equal(as_axes_add(&c->axes, "size", text, NULL), AS_OK);
    assert_int_equal(as_axes_add(&c->axes, "pattern", "random", NULL), AS_OK);
    assert_int_equal(as_axes_add(&c->axes, "instrument", instrument, NULL), AS_OK);
}

static const struct as_fact *derive(struct made *m, const char *id)
{
    struct as_run run = {.id = 1};
    struct as_device_info info = {.id = "card:0", .backend = "card"};
    struct as_fact_input in = {&run, m->cells, m->n, &info, 1};
    free(m->facts);
    assert_int_equal(as_facts_derive(&in, &m->facts, &m->facts_n, NULL), AS_OK);
    return as_fact_find(m->facts, m->facts_n, "card:0", id);
}

/* Three places; the persistent walk of the last one is off by so much. */
static const struct as_fact *compare(struct made *m, double off, double spread)
{
    static const double levels[] = {16, 140, 600};
    *m = (struct made){.n = 0};
    for (int i = 0; i < 3; i++) {
        add(m, "timed", UINT64_C(16384) << (5 * i), levels[i], spread);
        add(m, "persistent", UINT64_C(16384) << (5 * i), levels[i] * (i == 2 ? off : 1.001), spread);
    }
    const struct as_fact *f = derive(m, "latency.instruments");
    assert_non_null(f);
    assert_true(fabs(f->value - (off > 1.001 || off < 1 / 1.001 ? off : 1.001)) < 1e-9);
    assert_int_equal(f->evidence_n, 6);
    return f;
}

static void test_verdicts(void **unused)
{
    static const struct {
        double off, spread;
        enum as_fact_verdict verdict;
        const char *words;
    } cases[] = {
        {1.01, 0.002, AS_SUPPORTED, "agree within 2% in 3 of 3 places, and differ by more in 0"},
        {0.99, 0.002, AS_SUPPORTED, "in 3 of 3 places"},
        {1.05, 0.002, AS_REFUTED, "in 2 of 3 places, and differ by more in 1"},
        {0.90, 0.002, AS_REFUTED, "in 2 of 3 places, and differ by more in 1"},
        {1.02, 0.005, AS_UNDECIDED, "in 2 of 3 places, and differ by more in 0"},
        {1.01, 0.100, AS_UNDECIDED, "in 0 of 3 places, and differ by more in 0"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        const struct as_fact *f = compare(&m, cases[i].off, cases[i].spread);
        if (f->verdict != cases[i].verdict || !strstr(f->sentence, cases[i].words))
            fail_msg("off by %g: %s, %s", cases[i].off, as_fact_verdict_word(f->verdict), f->sentence);
        free(m.facts);
    }
}

static void test_one_instrument_is_no_comparison(void **unused)
{
    struct made m = {.n = 0};
    (void)unused;
    add(&m, "timed", 16384, 16, 0.01);
    add(&m, "persistent", 32768, 16, 0.01);
    assert_null(derive(&m, "latency.instruments"));
    free(m.facts);
}

/* However long its curve is, levels come from the walk that is timed. */
static void test_levels_are_of_the_timed_walk(void **unused)
{
    struct made m = {.n = 0};
    (void)unused;
    for (int i = 0; i < 8; i++)
        add(&m, "timed", UINT64_C(4096) << i, i < 4 ? 10 : 100, 0.01);
    for (int i = 0; i < 16; i++)
        add(&m, "persistent", UINT64_C(4096) << i, i < 4 ? 20 : 200, 0.01);
    const struct as_fact *f = derive(&m, "cache.L1.latency");
    assert_non_null(f);
    assert_true(fabs(f->value - 10) < 0.5);
    free(m.facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts),
                                       cmocka_unit_test(test_one_instrument_is_no_comparison),
                                       cmocka_unit_test(test_levels_are_of_the_timed_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
