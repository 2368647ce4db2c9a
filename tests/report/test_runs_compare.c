/* Comparison of two runs: which cells are joined, what is compared, what counts as slower. */
#include "base/clock.h"
#include "base/text.h"
#include "report/sheet/runs_compare.h"
#include "summarize.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 3, EACH = 20, SAMPLES = TRIALS * EACH };

/* Adds a cell with samples around level, with noise that differs between runs. */
static struct as_cell *add_cell(struct as_report_run *s, const char *device, const char *size, double level, bool less,
                                uint64_t seed)
{
    struct as_rng rng;
    s->cells = realloc(s->cells, (s->cells_n + 1) * sizeof *s->cells);
    assert_non_null(s->cells);
    struct as_cell *c = &s->cells[s->cells_n++];
    *c = (struct as_cell){.id = (int64_t)s->cells_n, .lower_is_better = less, .status = AS_CELL_OK};
    as_copy_text(c->backend, sizeof c->backend, device);
    c->backend[strcspn(c->backend, ":")] = 0;
    as_copy_text(c->device, sizeof c->device, device);
    strcpy(c->probe, "latency");
    strcpy(c->metric, "latency");
    strcpy(c->unit, "ns");
    assert_int_equal(as_axes_add(&c->axes, "size", size, NULL), AS_OK);
    c->key = as_cell_key(c->probe, c->metric, &c->axes);
    c->samples = calloc(SAMPLES, sizeof(double));
    c->sample_trial = calloc(SAMPLES, sizeof(int));
    assert_true(c->samples && c->sample_trial);
    as_rng_seed(&rng, seed);
    for (int i = 0; i < SAMPLES; i++) {
        c->samples[i] = level * (1 + 0.002 * as_rng_normal(&rng));
        c->sample_trial[i] = i / EACH;
    }
    assert_true(summarize(c->samples, c->sample_trial, SAMPLES, &c->sum));
    return c;
}

struct fixture {
    struct as_report_run a, b;
    struct as_pairs pairs;
};

static void compare(struct fixture *f, double tolerance, double limit)
{
    struct as_error err = {0};
    as_pairs_finish(&f->pairs);
    assert_int_equal(as_compare_runs(&f->a, &f->b, tolerance, limit, &f->pairs, &err), AS_OK);
}

static void finish(struct fixture *f)
{
    as_pairs_finish(&f->pairs);
    as_report_run_finish(&f->a);
    as_report_run_finish(&f->b);
}

UNIT_TEST(test_verdicts)
{
    struct fixture f = {0};
    add_cell(&f.a, "cpu", "1024", 100, true, 1);
    add_cell(&f.a, "cpu", "2048", 100, true, 2);
    add_cell(&f.a, "cpu", "4096", 100, true, 3);
    add_cell(&f.a, "cpu", "8192", 100, false, 4); /* higher is better */
    add_cell(&f.b, "cpu", "8192", 90, false, 5);  /* in another order */
    add_cell(&f.b, "cpu", "4096", 90, true, 6);
    add_cell(&f.b, "cpu", "2048", 110, true, 7);
    add_cell(&f.b, "cpu", "1024", 100, true, 8);
    compare(&f, 0.03, 0.05);
    static const enum as_verdict want[] = {AS_SAME, AS_SLOWER, AS_FASTER, AS_SLOWER};
    static const bool regression[] = {false, true, false, true};
    assert_int_equal(f.pairs.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f.pairs.v[i].match, AS_MATCH_BOTH);
        assert_int_equal(f.pairs.v[i].comparison.verdict, want[i]);
        assert_int_equal(f.pairs.v[i].regression, regression[i]);
    }
    assert_int_equal(f.pairs.regressions, 2);
    assert_int_equal(f.pairs.verdicts[AS_SLOWER], 2);
    for (double limit = 0.095; limit < 0.115; limit += 2e-5) { /* the check agrees with the verdict */
        compare(&f, limit, limit);
        assert_int_equal(f.pairs.regressions, f.pairs.verdicts[AS_SLOWER]);
    }
    compare(&f, 0.03, 0.2); /* 10% is within a limit of 20% */
    assert_int_equal(f.pairs.regressions, 0);
    compare(&f, 0.03, -1); /* no limit to exceed */
    assert_int_equal(f.pairs.regressions, 0);
    finish(&f);
}

UNIT_TEST(test_partial_overlap)
{
    struct fixture f = {0};
    add_cell(&f.a, "cpu", "1024", 100, true, 1);
    add_cell(&f.a, "cpu", "2048", 100, true, 2);
    add_cell(&f.b, "cpu", "2048", 100, true, 3);
    add_cell(&f.b, "cpu", "4096", 100, true, 4);
    compare(&f, 0.03, 0);
    assert_int_equal(f.pairs.matches[AS_MATCH_BOTH], 1);
    assert_int_equal(f.pairs.matches[AS_MATCH_ONLY_A], 1);
    assert_int_equal(f.pairs.matches[AS_MATCH_ONLY_B], 1);
    assert_string_equal(as_axes_text(&f.pairs.v[0].a->axes, "size"), "1024");
    assert_null(f.pairs.v[0].b);
    assert_string_equal(as_axes_text(&f.pairs.v[2].b->axes, "size"), "4096");
    finish(&f);
}

UNIT_TEST(test_rejected_is_not_compared)
{
    struct fixture f = {0};
    add_cell(&f.a, "cpu", "1024", 100, true, 1)->status = AS_CELL_REJECTED;
    add_cell(&f.b, "cpu", "1024", 300, true, 2);
    compare(&f, 0.03, 0);
    assert_int_equal(f.pairs.v[0].match, AS_MATCH_NO_NUMBER);
    assert_int_equal(f.pairs.regressions, 0);
    assert_true(isnan(f.pairs.v[0].comparison.ratio));
    finish(&f);
}

/* A store from another process may have notes with any text. */
UNIT_TEST(test_other_kernels)
{
    static const struct {
        const char *a, *b;
        double level;
        bool other;
    } cases[] = {{"{\"source_hash\":\"1f\"}", "{\"source_hash\":\"2f\"}", 110, true},
                 {"{\"source_hash\":\"1f\"}", "{\"source_hash\":\"2f\"}", 100, false}, /* nothing to explain */
                 {"{\"source_hash\":\"1f\"}", "{\"source_hash\":\"1f\"}", 110, false},
                 {"{\"source_hash\":\"1f\"}", "{}", 110, false},
                 {"{\"source_hash\":1}", "{\"source_hash\":2}", 110, false},
                 {"[", NULL, 110, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = {0};
        add_cell(&f.a, "cpu", "1024", 100, true, 1)->detail = as_strdup(cases[i].a);
        add_cell(&f.b, "cpu", "1024", cases[i].level, true, 2)->detail = cases[i].b ? as_strdup(cases[i].b) : NULL;
        compare(&f, 0.03, -1);
        assert_int_equal(f.pairs.v[0].other_kernel, cases[i].other);
        assert_int_equal(f.pairs.other_kernels, cases[i].other);
        finish(&f);
    }
}

UNIT_TEST(test_devices)
{
    struct fixture f = {0};
    add_cell(&f.a, "cpu", "1024", 100, true, 1);
    add_cell(&f.a, "opencl:0", "1024", 200, true, 2);
    add_cell(&f.b, "opencl:1", "1024", 200, true, 3); /* the only OpenCL device of b, which a does not have */
    add_cell(&f.b, "cpu", "1024", 100, true, 4);
    compare(&f, 0.03, -1);
    assert_int_equal(f.pairs.matches[AS_MATCH_BOTH], 2);
    assert_string_equal(f.pairs.v[1].b->device, "opencl:1");
    assert_string_equal(f.pairs.renamed, "opencl:0 with opencl:1");
    add_cell(&f.b, "opencl:2", "1024", 200, true, 5); /* now it is ambiguous */
    compare(&f, 0.03, -1);
    assert_int_equal(f.pairs.matches[AS_MATCH_BOTH], 1);
    assert_int_equal(f.pairs.matches[AS_MATCH_ONLY_A], 1);
    assert_int_equal(f.pairs.matches[AS_MATCH_ONLY_B], 2);
    assert_string_equal(f.pairs.renamed, "");
    finish(&f);
}

UNIT_TEST(test_nothing_and_doubles)
{
    struct fixture f = {0};
    compare(&f, 0.03, 0);
    assert_int_equal(f.pairs.n, 0);
    add_cell(&f.a, "cpu", "1024", 100, true, 1);
    add_cell(&f.a, "cpu", "1024", 100, true, 2); /* a damaged store: a duplicate cell */
    add_cell(&f.b, "cpu", "1024", 100, true, 3);
    compare(&f, 0.03, 0);
    assert_int_equal(f.pairs.matches[AS_MATCH_BOTH], 1);
    assert_int_equal(f.pairs.matches[AS_MATCH_ONLY_A], 1);
    f.b.cells[0].sum.n = 0; /* a number without samples */
    compare(&f, 0.03, 0);
    assert_int_equal(f.pairs.matches[AS_MATCH_NO_NUMBER], 1);
    finish(&f);
}

UNIT_TEST(test_own_errors)
{
    struct fixture f = {0};
    struct as_cell *a = add_cell(&f.a, "cuda:0", "1024", 100, true, 1);
    add_cell(&f.b, "cuda:0", "1024", 105, true, 2);
    a->exponent = f.b.cells[0].exponent = NAN;
    for (int i = 0; i < 2; i++) { /* two trials that agree to 0.01% */
        struct as_cell *c = i ? &f.b.cells[0] : &f.a.cells[0];
        c->sum.trials = 2;
        c->sum.ci = (struct as_interval){c->sum.median * 0.9999, c->sum.median * 1.0001};
    }
    compare(&f, 0.03, -1);
    assert_int_equal(f.pairs.v[0].comparison.verdict, AS_SLOWER); /* what is known of the runs' scatter decides */
    finish(&f);
}

/* A small chase of a sweep whose probe also gives the latency of memory varies between runs as a core does. */
UNIT_TEST(test_same)
{
    static const struct {
        double exponent;
        enum as_verdict want;
    } cases[] = {{1, AS_SAME}, {0, AS_CANNOT_TELL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = {0};
        add_cell(&f.a, "cpu", "1024", 100, true, 1)->exponent = cases[i].exponent;
        add_cell(&f.b, "cpu", "1024", 100.2, true, 2)->exponent = cases[i].exponent;
        f.a.run.provenance = as_strdup("{\"host\":{\"virtualization\":\"virtual machine\"}}");
        compare(&f, 0.03, -1);
        assert_int_equal(f.pairs.v[0].comparison.verdict, cases[i].want);
        const struct as_interval shown = as_comparison_interval(&f.pairs.v[0].comparison);
        assert_true(shown.lo == f.pairs.v[0].comparison.ci.lo); /* the ordinary one, also where inconclusive */
        finish(&f);
    }
}

/* Two runs of a host, known to 1%, do not tell a change of core to core from its two states; those of two hosts do. */
UNIT_TEST(test_two_states)
{
    static const struct {
        const char *probe, *device;
        double level;
        bool other_host;
        enum as_verdict want;
    } cases[] = {{"c2c", "cpu", 190, false, AS_CANNOT_TELL}, {"launch", "cpu", 190, false, AS_CANNOT_TELL},
                 {"c2c", "cpu", 190, true, AS_SLOWER},       {"c2c", "cpu", 130, false, AS_SLOWER},
                 {"latency", "cpu", 190, false, AS_SLOWER},  {"launch", "cuda:0", 190, false, AS_SLOWER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f = {0};
        struct as_cell *a = add_cell(&f.a, cases[i].device, "1024", 100, true, 1),
                       *b = add_cell(&f.b, cases[i].device, "1024", cases[i].level, true, 2);
        a->exponent = b->exponent = 1;
        as_copy_text(a->probe, sizeof a->probe, cases[i].probe);
        as_copy_text(b->probe, sizeof b->probe, cases[i].probe);
        as_copy_text(f.a.run.host, sizeof f.a.run.host, "one");
        as_copy_text(f.b.run.host, sizeof f.b.run.host, cases[i].other_host ? "other" : "one");
        compare(&f, 0.03, 0.05);
        assert_int_equal(f.pairs.v[0].comparison.verdict, cases[i].want);
        assert_int_equal(f.pairs.two_states, cases[i].want == AS_CANNOT_TELL);
        assert_int_equal(f.pairs.regressions, cases[i].want == AS_SLOWER);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_partial_overlap),
        cmocka_unit_test(test_rejected_is_not_compared),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_nothing_and_doubles),
        cmocka_unit_test(test_own_errors),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_two_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
