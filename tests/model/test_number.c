/* How measured numbers are printed. */
#include "tests/unit_test.h"

#include "model/number.h"

#include <math.h>
#include <string.h>

static const struct {
    struct as_number n;
    const char *text, *precision, *prose;
} cases[] = {
    {{.value = 4.26e9, .ci = {NAN, NAN}, .unit = "Hz"}, "4.26 GHz", "", "4.26 GHz"},
    {{.value = 58.97, .ci = {53, 65}, .unit = "GB/s", .trials = 6}, "59 GB/s", "10%", "59 GB/s (53 to 65 GB/s)"},
    {{.value = 3.487, .ci = {3.42, 3.55}, .unit = "ns"}, "3.49 ns", "1.9%", "3.49 ns (3.42 to 3.55 ns)"},
    {{.value = 16.2, .ci = {16.1999, 16.2001}, .unit = "ns"}, "16.2 ns", "<0.1%", "16.2 ns"},
    {{.value = 157, .ci = {148, 166}, .unit = "ns"}, "157 ns", "5.7%", "157 ns (148 to 166 ns)"},
    /* beyond 25% a range, whose ends have no more digits than its width */
    {{.value = 60, .ci = {27.04, 120.7}, .unit = "ns", .trials = 5}, "27 to 121 ns", "", "27 to 121 ns"},
    {{.value = 15300, .ci = {8811, 29300}, .unit = "ns"}, "8.8 to 29 µs", "", "8.8 to 29 µs"},
    {{.value = 27, .ci = {20, 130}, .unit = "ns", .trials = 5, .modes = 2, .mode = {27.1, 120.8}, .share0 = 0.6},
     "27 ns in 60% of samples, 120 ns in 40%",
     "",
     "27 ns in 60% of samples, 120 ns in 40%"},
    {{.value = 900, .ci = {500, 2600}, .unit = "ns", .trials = 5, .modes = 2, .mode = {700, 2500}, .share0 = 0.3},
     "2.5 µs in 70% of samples, 700 ns in 30%",
     "",
     "2.5 µs in 70% of samples, 700 ns in 30%"},
    /* two modes near each other */
    {{.value = 27, .ci = {26, 29}, .unit = "ns", .trials = 5, .modes = 2, .mode = {26, 29}, .share0 = 0.6},
     "27.0 ns",
     "7.4%",
     "27.0 ns (26.0 to 29.0 ns)"},
    {{.value = 1.53e3, .ci = {180, 17000}, .unit = "ns", .trials = 2},
     "about 1.5 µs, 2 trials",
     "2 trials",
     "about 1.5 µs (2 trials)"},
    {{.value = 1.53e3, .ci = {700, 3100}, .unit = "ns", .trials = 1},
     "about 1.5 µs, one trial",
     "one trial",
     "about 1.5 µs (one trial)"},
    {{.value = 1.53e3, .ci = {180, 17000}, .unit = "ns", .trials = 12},
     "too noisy, 12 trials",
     "12 trials",
     "0.18 to 17.0 µs (too noisy: 12 trials)"},
    {{.value = 41, .ci = {37, 45}, .unit = "GB/s", .trials = 1}, "41 GB/s", "one trial", "41 GB/s (one trial)"},
    {{.value = 41, .ci = {37, 45}, .unit = "GB/s", .trials = 1, .tried = 5},
     "41 GB/s",
     "1 of 5 trials",
     "41 GB/s (1 of 5 trials)"},
    {{.value = 41, .ci = {37, 45}, .unit = "GB/s", .trials = 1, .tried = 1},
     "41 GB/s",
     "one trial",
     "41 GB/s (one trial)"},
    {{.value = 41, .ci = {2, 450}, .unit = "GB/s", .trials = 2, .tried = 5},
     "about 41 GB/s, 2 of 5 trials",
     "2 of 5 trials",
     "about 41 GB/s (2 of 5 trials)"},
    /* the interval of one of several trials holds what the others saw */
    {{.value = 28, .ci = {14.7, 56}, .unit = "GB/s", .trials = 1, .tried = 7},
     "15 to 56 GB/s, 1 of 7 trials",
     "1 of 7 trials",
     "15 to 56 GB/s (1 of 7 trials)"},
    {{.value = 203, .ci = {14.7, 406}, .unit = "GB/s", .trials = 1, .tried = 2},
     "about 200 GB/s, 1 of 2 trials",
     "1 of 2 trials",
     "about 200 GB/s (1 of 2 trials)"},
    {{.value = 41, .ci = {NAN, NAN}, .unit = "GB/s", .trials = 1}, "41.0 GB/s", "one trial", "41.0 GB/s (one trial)"},
    /* ratios */
    {{.value = 1.6, .ci = {1.45, 1.72}, .unit = "x"}, "1.60x", "9.4%", "1.60x (1.45 to 1.72x)"},
    {{.value = 2.1, .ci = {1.15, 3.3}, .unit = "x"}, "1.1 to 3.3x", "", "1.1 to 3.3x"},
    {{.value = 3.21, .ci = {1.09, 9.2}, .unit = "x"}, "over 1.1x", "", "over 1.1x"},
    {{.value = 0.05, .ci = {0.00341, 0.12}, .unit = "x"}, "under 0.12x", "", "under 0.12x"},
    {{.value = -0.02, .ci = {-0.05, 0.01}, .unit = "x"}, "under 0.010x", "", "under 0.010x"},
    {{.value = 2.12, .ci = {0.0644, 69.6}, .unit = "x"}, "inconclusive", "", "inconclusive"},
    {{.value = 32.5, .ci = {0.016, 66200}, .unit = "x"}, "inconclusive", "", "inconclusive"},
    /* bounds */
    {{.value = 14.3, .ci = {13.1, 464}, .unit = "GB/s", .trials = 3, .bound = 1},
     "at least 13 GB/s",
     "",
     "at least 13 GB/s"},
    {{.value = 7, .ci = {0.41, 7.2}, .unit = "ns", .trials = 1, .bound = -1}, "at most 7.2 ns", "", "at most 7.2 ns"},
    /* sizes are ranges, counts exact without an interval */
    {{.value = 41000, .ci = {32768, 65536}, .unit = "B", .trials = 3}, "32 to 64 KiB", "", "32 to 64 KiB"},
    {{.value = 49152, .ci = {49152, 49152}, .unit = "B"}, "48 KiB", "<0.1%", "48 KiB"},
    {{.value = 3548974, .ci = {NAN, NAN}, .unit = "updates"}, "3548974 updates", "", "3548974 updates"},
    {{.value = 3530376.5, .ci = {3.4e6, 3.66e6}, .unit = "updates"},
     "3530000 updates",
     "",
     "3530000 updates (3400000 to 3660000 updates)"},
    {{.value = 4096, .ci = {4095.7, 4096.2}, .unit = "ops/cycle"}, "4096 ops/cycle", "<0.1%", "4096 ops/cycle"},
};

UNIT_TEST(test_texts)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_buf b = AS_BUF_INIT;
        as_number_text(&cases[i].n, &b);
        assert_string_equal(as_buf_get(&b), cases[i].text);
        as_buf_clear(&b);
        as_number_precision(&cases[i].n, &b);
        assert_string_equal(as_buf_get(&b), cases[i].precision);
        as_buf_clear(&b);
        as_number_prose(&cases[i].n, "", "", &b);
        assert_string_equal(as_buf_get(&b), cases[i].prose);
        as_buf_finish(&b);
    }
}

UNIT_TEST(test_notes)
{
    const struct as_number narrow = {.value = 10.84, .ci = {10.7, 11}, .unit = "ns"},
                           wide = {.value = 10.84, .ci = {5, 20}, .unit = "ns"};
    struct as_buf b = AS_BUF_INIT;
    as_number_prose(&narrow, " per load", "21 cycles", &b);
    assert_string_equal(as_buf_get(&b), "10.8 ns per load (10.7 to 11.0 ns; 21 cycles)");
    as_buf_clear(&b);
    as_number_prose(&wide, " per load", "21 cycles", &b);
    assert_string_equal(as_buf_get(&b), "5.0 to 20.0 ns per load (21 cycles)");
    as_buf_finish(&b);
}

UNIT_TEST(test_brief)
{
    static const struct {
        struct as_number n;
        const char *wanted;
    } tables[] = {
        {{.value = 27, .ci = {20, 130}, .unit = "ns", .trials = 5, .modes = 2, .mode = {27.1, 120.8}, .share0 = 0.6},
         "27 or 120 ns"},
        {{.value = 900, .ci = {500, 2600}, .unit = "ns", .trials = 5, .modes = 2, .mode = {700, 2500}, .share0 = 0.3},
         "700 ns or 2.5 µs"},
        {{.value = 1530, .ci = {180, 17000}, .unit = "ns", .trials = 2}, "about 1.5 µs"},
        {{.value = 60, .ci = {27, 121}, .unit = "ns", .trials = 5}, "27 to 121 ns"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct as_buf b = AS_BUF_INIT;
        as_number_brief(&tables[i].n, &b);
        assert_string_equal(as_buf_get(&b), tables[i].wanted);
        as_buf_finish(&b);
    }
}

/* The rule: two digits of a half width that begins with less than 36, else one. */
UNIT_TEST(test_digits)
{
    assert_int_equal(as_number_digits(157, 9), 3);
    assert_int_equal(as_number_digits(58.97, 6), 2);
    assert_int_equal(as_number_digits(1.25, 0.106), 3);
    assert_int_equal(as_number_digits(192, 46), 2);
    assert_int_equal(as_number_digits(2, 70), 1);
    assert_int_equal(as_number_digits(2, 0), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_notes),
                                       cmocka_unit_test(test_brief), cmocka_unit_test(test_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
