/* Parsing and formatting of numbers and sizes, and names. */
#include "base/buf.h"
#include "base/text.h"
#include "tests/unit_test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

UNIT_TEST(test_parse_size)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"123", 123},
                {"1KiB", 1024},
                {"64k", 65536},
                {"4 MiB", 4194304},
                {"1GB", 1000000000},
                {"1.5MiB", 1572864},
                {"0.5KiB", 512},
                {"2kB", 2000},
                {"1.250kB", 1250},
                {"7B", 7},
                {"1G", 1073741824},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "x",
                                      "-1",
                                      "1.5B",
                                      "1XB",
                                      "1.KiB",
                                      "1e3",
                                      "0.3KiB",
                                      "1 2",
                                      "17EiB",
                                      "18446744073709551616",
                                      "1KiBx",
                                      "99999999999999999999999999",
                                      " ",
                                      ".5K"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(as_parse_size(good[i].text, &v, NULL), AS_OK);
        assert_true(v == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_error err;
        v = 42;
        if (as_parse_size(bad[i], &v, &err) != AS_USAGE || v != 42)
            fail_msg("\"%s\" gave %llu", bad[i], (unsigned long long)v);
        assert_true(err.text[0]);
    }
}

UNIT_TEST(test_parse_numbers)
{
    uint64_t u;
    double d;
    assert_int_equal(as_parse_u64("42", &u, NULL), AS_OK);
    assert_int_equal(u, 42);
    static const char *const no_u64[] = {"", "-1", "+1", " 1", "1 ", "0x10", "18446744073709551616"};
    for (size_t i = 0; i < sizeof no_u64 / sizeof *no_u64; i++)
        assert_int_equal(as_parse_u64(no_u64[i], &u, NULL), AS_USAGE);
    assert_int_equal(as_parse_double("-1.5e3", &d, NULL), AS_OK);
    assert_true(d == -1500);
    static const char *const no_double[] = {"", "nan", "inf", "0x1p3", "1,5", "1e999", "1.5x", " 1", "."};
    for (size_t i = 0; i < sizeof no_double / sizeof *no_double; i++)
        assert_int_equal(as_parse_double(no_double[i], &d, NULL), AS_USAGE);
    static const struct {
        const char *text;
        double seconds;
    } durations[] = {{"60s", 60}, {"500ms", 0.5}, {"10m", 600}, {"1h", 3600}, {"2.5 s", 2.5}, {"0", 0}, {"3 min", 180}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        assert_int_equal(as_parse_duration(durations[i].text, &d, NULL), AS_OK);
        assert_true(fabs(d - durations[i].seconds) < 1e-12);
    }
    assert_int_equal(as_parse_duration("-1s", &d, NULL), AS_USAGE);
    assert_int_equal(as_parse_duration("1x", &d, NULL), AS_USAGE);
    assert_int_equal(as_parse_duration("5", &d, NULL), AS_USAGE); /* 5 s or 5 min? */
    assert_int_equal(as_parse_percent("1%", &d, NULL), AS_OK);
    assert_true(fabs(d - 0.01) < 1e-15);
    assert_int_equal(as_parse_percent("0.01", &d, NULL), AS_OK);
    assert_true(d == 0.01);
    assert_int_equal(as_parse_percent("100%", &d, NULL), AS_OK);
    assert_true(d == 1);
    assert_int_equal(as_parse_percent("1", &d, NULL), AS_USAGE); /* 1% or 100%? */
    assert_int_equal(as_parse_percent("x%", &d, NULL), AS_USAGE);
}

static const char *value(double v, const char *unit)
{
    static char out[64];
    struct as_buf b = AS_BUF_INIT;
    as_format_value(&b, v, unit);
    as_copy_text(out, sizeof out, as_buf_get(&b));
    as_buf_finish(&b);
    return out;
}

UNIT_TEST(test_format)
{
    assert_string_equal(value(5, "a\x1b[2J\xff"), "5.00 a\\x1b[2J\\xff"); /* a stored unit may be any text */
    assert_string_equal(value(112.3, "ns"), "112 ns");
    assert_string_equal(value(15321, "ns"), "15.3 µs");
    assert_string_equal(value(1380, "ns"), "1.38 µs");
    assert_string_equal(value(153.2, "GB/s"), "153 GB/s");
    assert_string_equal(value(4372, "GB/s"), "4.37 TB/s");
    assert_string_equal(value(0.0123, "GB/s"), "12.3 MB/s");
    assert_string_equal(value(3.4e9, "Hz"), "3.40 GHz");
    assert_string_equal(value(1.5, "x"), "1.50x");
    assert_string_equal(value(NAN, "ns"), "-");
    assert_string_equal(value(-3, "ns"), "-3.00 ns");
    assert_string_equal(value(0, "ns"), "0 ns");
    assert_string_equal(value(9.996, "cycles"), "10.0 cycles");
    assert_string_equal(value(16384, "events"), "16384 events");
    assert_string_equal(value(16383.9999, "events"), "16384 events");
    assert_string_equal(value(0.5, "updates"), "0.5 updates");
    assert_string_equal(value(4095.7, "ops/cycle"), "4096 ops/cycle");
    assert_string_equal(value(127.53, "B/cycle"), "128 B/cycle");
    assert_string_equal(value(65536, "ops/cycle"), "65536 ops/cycle");
    assert_string_equal(value(1234567, "ops/cycle"), "1230000 ops/cycle");
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {1536, "1.5 KiB"},
                 {33554432, "32 MiB"},
                 {1179648, "1.125 MiB"},
                 {23168, "22.6 KiB"},
                 {220416, "215 KiB"},
                 {371200, "362.5 KiB"},
                 {1048575, "1 MiB"},
                 {46341, "45.3 KiB"},
                 {UINT64_MAX, "16 EiB"},
                 {272629760, "260 MiB"}};
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        as_buf_clear(&b);
        as_format_size(&b, sizes[i].bytes);
        assert_string_equal(as_buf_get(&b), sizes[i].text);
    }
    static const struct {
        uint64_t a, b;
        const char *text;
    } pairs[] = {{UINT64_C(8) << 30, UINT64_C(4) << 30, "8 GiB, 4 GiB"},
                 {(UINT64_C(8) << 30) + 1, UINT64_C(8) << 30, "8589934593 B, 8589934592 B"},
                 {UINT64_C(8) << 30, (UINT64_C(8) << 30) - 4096, "8589934592 B, 8589930496 B"},
                 {(UINT64_C(5) << 30) + 4096, (UINT64_C(5) << 30) + 8192, "5368713216 B, 5368717312 B"},
                 {46341, 46342, "46341 B, 46342 B"},
                 {1024, 1024, "1 KiB, 1 KiB"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct as_buf other = AS_BUF_INIT;
        as_buf_clear(&b);
        as_format_sizes(&b, pairs[i].a, &other, pairs[i].b);
        as_buf_printf(&b, ", %s", as_buf_get(&other));
        assert_string_equal(as_buf_get(&b), pairs[i].text);
        as_buf_finish(&other);
    }
    static const struct {
        double seconds;
        const char *text;
    } durations[] = {{0.85, "850 ms"}, {42, "42 s"}, {200, "3 min 20 s"}, {3900, "1 h 5 min"}, {4.24, "4.2 s"},
                     {59.7, "1 min"},  {-1, "-"}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        as_buf_clear(&b);
        as_format_duration(&b, durations[i].seconds);
        assert_string_equal(as_buf_get(&b), durations[i].text);
    }
    as_buf_finish(&b);
}

UNIT_TEST(test_scales)
{
    static const struct {
        double v;
        const char *unit, *shown;
    } rows[] = {{999, "ns", "ns"},
                {1000, "ns", "µs"},
                {-2e9, "ns", "s"},
                {5e3, "us", "ms"},
                {1e-12, "s", "ns"},
                {0.5, "GB/s", "MB/s"},
                {1048576, "B", "MiB"},
                {2e9, "OP/s", "GOP/s"},
                {2e12, "FLOP/s", "TFLOP/s"},
                {1500, "pages/s", "k pages/s"},
                {0.25, "x", "×"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(as_scale_of(rows[i].v, rows[i].unit)->shown, rows[i].shown);
    }
    assert_null(as_scale_of(1, "updates"));
}

static const char *range(double lo, double hi, double v, const char *unit)
{
    static char out[64];
    struct as_buf b = AS_BUF_INIT;
    as_format_range(&b, lo, hi, v, unit, 3);
    as_copy_text(out, sizeof out, as_buf_get(&b));
    as_buf_finish(&b);
    return out;
}

/* Both ends have the prefix of the value, even if one alone would have another; of sizes each has its own. */
UNIT_TEST(test_range)
{
    assert_string_equal(range(8800, 9300, 9040, "ns"), "8.80 to 9.30 µs");
    assert_string_equal(range(950, 1200, 1010, "ns"), "0.950 to 1.20 µs");
    assert_string_equal(range(950, 1200, 990, "ns"), "950 to 1200 ns");
    assert_string_equal(range(0.677, 1.1, 0.848, "x"), "0.677 to 1.10x");
    assert_string_equal(range(49152, 65536, 57344, "B"), "48 to 64 KiB");
    assert_string_equal(range(32768, 16777216, 65536, "B"), "32 KiB to 16 MiB");
    assert_string_equal(range(32768, 1048576, 181019, "B"), "32 KiB to 1 MiB");
    assert_string_equal(range(786432, 2097152, NAN, "B"), "768 KiB to 2 MiB");
    assert_string_equal(range(0, 3, 0, "updates"), "0 to 3 updates");
    assert_string_equal(range(4000, 4200, 4096, "ops/cycle"), "4000 to 4200 ops/cycle");
    assert_string_equal(range(NAN, 3, NAN, "ns"), "- to 3.00 ns");
}

/* Rates of floats are in FLOP/s; one integer factor makes it an integer rate. */
UNIT_TEST(test_rate_unit)
{
    static const struct {
        const char *unit, *type, *shown;
    } rows[] = {{"ops/s", "f16", "FLOP/s"},
                {"ops/s", "bf16", "FLOP/s"},
                {"ops/s", "e4m3", "FLOP/s"},
                {"ops/s", "wgmma_bf16_f32", "FLOP/s"},
                {"ops/s", "", "FLOP/s"},
                {"ops/s", "s8", "OP/s"},
                {"ops/s", "u64", "OP/s"},
                {"ops/s", "mma_m16n8k16_u8_s8_s32", "OP/s"},
                {"ops/s", "mma_m16n8k256_b1_s32", "OP/s"},
                {"GB/s", "s8", "GB/s"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(as_rate_unit(rows[i].unit, rows[i].type), rows[i].shown);
}

/* A locale with decimal commas changes nothing. */
UNIT_TEST(test_locale)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", NULL};
    const char *set = NULL;
    for (size_t i = 0; commas[i] && !set; i++)
        set = setlocale(LC_ALL, commas[i]);
    if (!set)
        skip(); /* no such locale is installed */
    struct as_buf b = AS_BUF_INIT;
    double d;
    as_buf_printf(&b, "%.2f", 1.5);
    assert_string_equal(as_buf_get(&b), "1.50");
    assert_string_equal(value(112.3, "x"), "112x");
    assert_string_equal(value(1.23, "x"), "1.23x");
    assert_int_equal(as_parse_double("1.5", &d, NULL), AS_OK);
    assert_true(d == 1.5);
    as_buf_finish(&b);
    setlocale(LC_ALL, "C");
}

UNIT_TEST(test_names)
{
    assert_int_equal(as_edit_distance("latency", "latecny"), 1);
    assert_int_equal(as_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(as_edit_distance("", "abc"), 3);
    static const char *const names[] = {"latency", "bandwidth", "launch", "c2c", NULL};
    assert_string_equal(as_nearest("latncy", names), "latency");
    assert_string_equal(as_nearest("band", names), "bandwidth");
    assert_string_equal(as_nearest("lunch", names), "launch");
    assert_null(as_nearest("zebra", names));
    assert_null(as_nearest("", names));
    char small[6];
    assert_string_equal(as_copy_text(small, sizeof small, "abc"), "abc");
    assert_string_equal(as_copy_text(small, sizeof small, "abcd\xc3\xa9"), "abcd");
    assert_string_equal(as_copy_text(small, sizeof small, NULL), "");
    char clean[16];
    assert_string_equal(as_copy_clean(clean, sizeof clean, "  a b  "), "a b");
    assert_string_equal(as_copy_clean(clean, sizeof clean, "   "), "");
    assert_string_equal(as_copy_clean(clean, sizeof clean, "a\xff\xc3\xa9\xed\xa0\x80"), /* the last: a surrogate */
                        "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(as_copy_clean(small, sizeof small, "abc\xff"), "abc"); /* no room for a replacement */
    assert_string_equal(as_copy_clean(small, 1, "abc"), "");
    assert_null(as_strdup(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_size), cmocka_unit_test(test_parse_numbers), cmocka_unit_test(test_format),
        cmocka_unit_test(test_scales),     cmocka_unit_test(test_range),         cmocka_unit_test(test_rate_unit),
        cmocka_unit_test(test_locale),     cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
