/* The facts by the rules of STREAM and BabelStream, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>

static struct made m;

static void add(const char *rule, const char *op, const char *store, double mib, double median, double best)
{
    struct as_metric_value v = {.name = "best_rate", .unit = "GB/s", .trials = 3, .value = best, .ci = {best, best}};
    struct as_error err = {0};
    char axes[160];
    snprintf(axes, sizeof axes, "rule=%s op=%s size=%.0f threads=4 store=%s allocator=malloc", rule, op, mib * 0x1p20,
             store);
    struct as_cell *cell = made_add(&m, "calibrate", "GB/s", median, axes);
    assert_int_equal(as_cell_set_metrics(cell, &v, 1, &err), AS_OK);
}

UNIT_TEST(test_tables)
{
    made_cpu(&m);
    add("stream", "triad", "regular", 128, 17.5, 19.5);
    add("stream", "copy", "nt", 128, 25, 29.25);
    add("stream", "copy", "regular", 128, 18, 18.25);
    add("babelstream", "mul", "regular", 100, 25, 25.5);
    add("babelstream", "triad", "regular", 100, 30, 30.25);
    add("babelstream", "dot", "regular", 100, 24, 24.75);
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "calibrate.stream.triad", 19.5, 0);
    assert_string_equal(
        f->sentence, "By the rules of STREAM with arrays of 128 MiB, the best of 9: copy 18.2 GB/s, triad 19.5 GB/s");
    f = made_near(&m, "calibrate.babelstream.triad", 30.25, 0); /* 100 MiB beside an L3 of 32 MiB */
    made_says(f, "the best of 99: mul 25.5 GB/s, triad 30.2 GB/s, dot 24.8 GB/s; an array is under 4 times the "
                 "last-level caches");
    made_end(&m);
}

UNIT_TEST(test_no_triad)
{
    made_cpu(&m);
    add("stream", "copy", "regular", 128, 18, 18.25);
    made_add(&m, "calibrate", "GB/s", 9, "rule=stream op=triad size=4096 threads=4 store=regular allocator=malloc");
    made_derive(&m);
    assert_null(made_find(&m, "calibrate.stream.triad"));
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_no_triad),
    };
    return cmocka_run_group_tests_name("rule of calibrate", tests, NULL, NULL);
}
