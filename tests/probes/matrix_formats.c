/* Numeric formats: every code and its value, each rounding mode, both ends of the range. */
#include "lib/mma/instructions/formats.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

/* All codes of the short formats; for long ones all values of their upper 16 bits; no more digits than a double has. */
static uint64_t code_at(const struct as_number_format *f, uint64_t i)
{
    if (f->bits <= 16)
        return i;
    uint64_t low = i * UINT64_C(2654435761) & ((UINT64_C(1) << (f->bits - 16)) - 1);
    const unsigned unused = f->kind != AS_NUMBER_FLOAT && f->bits == 64 ? 11 : f->unused;
    return i << (f->bits - 16) | (low >> unused << unused);
}

static uint64_t codes_of(const struct as_number_format *f)
{
    return UINT64_C(1) << (f->bits > 16 ? 16 : f->bits);
}

UNIT_TEST(test_round_trip)
{
    for (const struct as_number_format *f = as_number_formats; f->word; f++)
        for (uint64_t i = 0; i < codes_of(f); i++) {
            uint64_t code = code_at(f, i);
            double v = as_number_decode(f, code);
            if (!isnan(v) && as_number_nearest(f, v) != code)
                fail_msg("%s: 0x%llx is %g, which is 0x%llx", f->word, (unsigned long long)code, v,
                         (unsigned long long)as_number_nearest(f, v));
        }
}

/* Between two neighbours each rounding mode chooses the one that it is defined to choose. */
static void between(const struct as_number_format *f, uint64_t lower, double low, double high)
{
    static const double shares[] = {0.25, 0.5, 0.75};
    for (unsigned i = 0; i < 3; i++) {
        double v = low + (high - low) * shares[i];
        bool odd = lower >> f->unused & 1, nearest = shares[i] > 0.5 || (shares[i] == 0.5 && odd);
        const double want[] = {[AS_ROUND_NEAREST_EVEN] = nearest ? high : low,
                               [AS_ROUND_NEAREST_AWAY] = shares[i] >= 0.5 ? high : low,
                               [AS_ROUND_TOWARD_ZERO] = low,
                               [AS_ROUND_DOWN] = low,
                               [AS_ROUND_UP] = high};
        const double want_minus[] = {[AS_ROUND_NEAREST_EVEN] = nearest ? high : low,
                                     [AS_ROUND_NEAREST_AWAY] = shares[i] >= 0.5 ? high : low,
                                     [AS_ROUND_TOWARD_ZERO] = low,
                                     [AS_ROUND_DOWN] = high,
                                     [AS_ROUND_UP] = low};
        for (enum as_rounding r = AS_ROUND_NEAREST_EVEN; r <= AS_ROUND_UP; r++) {
            uint64_t plus = as_number_encode(f, v, r, AS_OVERFLOW_FORMAT);
            assert_true(as_number_decode(f, plus) == want[r]);
            if (f->kind == AS_NUMBER_UNSIGNED || (f->special == AS_SPECIAL_MINUS && want_minus[r] == 0))
                continue;
            uint64_t minus = as_number_encode(f, -v, r, AS_OVERFLOW_FORMAT);
            assert_true(as_number_decode(f, minus) == -want_minus[r]);
        }
    }
}

static void test_rounding(void **unused)
{
    (void)unused;
    for (const struct as_number_format *f = as_number_formats; f->word; f++) {
        if (f->bits > 32)
            continue; /* half of its last digit is not a double */
        for (uint64_t i = 0; i < codes_of(f); i++) {
            uint64_t code = code_at(f, i), step = UINT64_C(1) << f->unused;
            double low = as_number_decode(f, code), high = as_number_decode(f, code + step);
            if (isfinite(low) && isfinite(high) && low >= 0 && high > low && !signbit(low))
                between(f, code, low, high);
        }
    }
}

static const struct {
    const char *format;
    double value;
    enum as_rounding rounding;
    enum as_overflow overflow;
    uint64_t code;
} ends[] = {
    {"e4m3", 448, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7e},
    {"e4m3", 464, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7e},
    {"e4m3", 465, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7f},
    {"e4m3", -465, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0xff},
    {"e4m3", 1e9, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_FORMAT, 0x7e},
    {"e4m3", 1e9, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_INFINITY, 0x7f},
    {"e4m3", 1e9, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x7e},
    {"e4m3", INFINITY, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x7e},
    {"e4m3", -INFINITY, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0xfe},
    {"e4m3", NAN, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x7f},
    {"e5m2", 57344, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7b},
    {"e5m2", 61439, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7b},
    {"e5m2", 61440, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7c},
    {"e5m2", INFINITY, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x7b},
    {"e5m2", NAN, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7e},
    {"e4m3fnuz", 240, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7f},
    {"e4m3fnuz", 1000, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x80},
    {"e4m3fnuz", -1000, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x80},
    {"e4m3fnuz", -0.0, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0},
    {"e4m3fnuz", -1e-9, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0},
    {"e2m1", 100, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7},
    {"e2m1", NAN, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7},
    {"f16", 65519, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7bff},
    {"f16", 65520, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x7c00},
    {"f16", 65520, AS_ROUND_DOWN, AS_OVERFLOW_FORMAT, 0x7bff},
    {"f16", -65520, AS_ROUND_DOWN, AS_OVERFLOW_FORMAT, 0xfc00},
    {"f16", 0x1p-25, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0},
    {"f16", 0x1.8p-25, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 1},
    {"f16", -0.0, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x8000},
    {"tf32", 1, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x3f800000},
    {"tf32", 1 + 0x1p-10, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x3f802000},
    {"f64", 0x1p-1074, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 1},
    {"s8", 128, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x80},
    {"s8", 128, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x7f},
    {"s8", -129, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0x80},
    {"u8", -1, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, 0},
    {"s32", 2147483648.0, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, 0x80000000},
    {"s64", -3, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT, UINT64_MAX - 2},
    {"s64", INFINITY, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, INT64_MAX},
    {"s64", -INFINITY, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_CLAMP, UINT64_C(1) << 63},
};

UNIT_TEST(test_ends)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct as_number_format *f = as_number_format(ends[i].format);
        assert_non_null(f);
        uint64_t code = as_number_encode(f, ends[i].value, ends[i].rounding, ends[i].overflow);
        if (code != ends[i].code)
            fail_msg("%s of %g is 0x%llx, not 0x%llx", f->word, ends[i].value, (unsigned long long)code,
                     (unsigned long long)ends[i].code);
    }
    assert_null(as_number_format("f17"));
}

/* The compiler's binary32 and its conversion are an independent implementation of the same. */
UNIT_TEST(test_binary32)
{
    const struct as_number_format *f = as_number_format("f32");
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double v = ldexp((double)(state >> 11), (int)(state % 330) - 253);
        float narrow = (float)v;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        assert_int_equal(as_number_nearest(f, v), bits);
    }
}

/* Digits below 62 count through their sticky bit. */
UNIT_TEST(test_sticky)
{
    const struct as_number_format *f = as_number_format("f64");
    uint64_t half = (UINT64_C(1) << 60) + (UINT64_C(1) << 7);
    uint64_t one = as_number_nearest(f, 1);
    assert_int_equal(as_number_round(f, false, half, -60, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT), one);
    assert_int_equal(as_number_round(f, false, half | 1, -60, AS_ROUND_NEAREST_EVEN, AS_OVERFLOW_FORMAT), one + 1);
    assert_int_equal(as_number_round(f, false, half | 1, -60, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_FORMAT), one);
    assert_int_equal(as_number_round(f, false, 1, -2000, AS_ROUND_UP, AS_OVERFLOW_FORMAT), 1);
    assert_int_equal(as_number_round(f, true, 1, -2000, AS_ROUND_UP, AS_OVERFLOW_FORMAT), UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_rounding), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_binary32),   cmocka_unit_test(test_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
