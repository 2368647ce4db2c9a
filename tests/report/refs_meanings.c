#include "tests/report/refs_meanings.h"

#include "lib/ops/ops_reference.h"

#include <math.h>

/* ---- integers: operands and results unsigned, results as wide as the type ---- */

#define WHOLE(name, value)                                                                                             \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                                           \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }

static uint64_t reversed(uint64_t a)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}

/* Bits of a at even places, of b at odd ones. */
static uint64_t woven(uint64_t a, uint64_t b)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((i % 2 ? b : a) >> i / 2 & 1) << i;
    return r;
}

static uint64_t zeros_above(uint64_t a)
{
    uint64_t n = 0;
    while (n < 32 && !(a >> (31 - n) & 1))
        n++;
    return n;
}

static uint64_t ones(uint64_t a)
{
    uint64_t n = 0;
    for (; a; a >>= 1)
        n += a & 1;
    return n;
}

static uint64_t upper_product(uint64_t a, uint64_t b)
{
    const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX),
                   other = (a & UINT32_MAX) * (b >> 32);
    const uint64_t middle = (low >> 32) + (one & UINT32_MAX) + (other & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32) + (middle >> 32);
}

static uint64_t saturated(uint64_t a, uint64_t b)
{
    const double sum = (double)(int32_t)a + (double)(int32_t)b;
    return (uint32_t)(int32_t)fmax(INT32_MIN, fmin(INT32_MAX, sum));
}

WHOLE(bits_extracted, (a & 0x3fffff) >> 5)
WHOLE(bits_extracted_as_told, (a >> b) % (UINT64_C(1) << c))
WHOLE(bits_inserted_where_told, (b & ~(UINT64_C(8191) << c)) | a % 8192 << c)
WHOLE(bits_inserted_as_many_as_told, b % 128 | (a % (UINT64_C(1) << c)) << 7 | b >> (7 + c) << (7 + c))
WHOLE(bits_inserted, (b & 0xfff0007f) | (a << 7 & 0x000fff80))
WHOLE(bits_xor, (a | b) & ~(a & b))
WHOLE(bits_reversed, reversed(a))
WHOLE(bits_reversed16, reversed(a) >> 16)
WHOLE(bits_woven, woven(a, b))
WHOLE(leading_zeros, zeros_above(a))
WHOLE(bits_set, ones(a))
WHOLE(distance, a > b ? a - b : b - a)
WHOLE(sum, a + b)
WHOLE(sum_saturated, saturated(a, b))
WHOLE(select16, (int16_t)a < (int16_t)b ? c : a)
WHOLE(select32, (int32_t)a < (int32_t)b ? c : a)
WHOLE(product, a *b)
WHOLE(product_sum, a *b + c)
WHOLE(low_product_sum64, ((a & UINT32_MAX) * b & UINT32_MAX) + a)
WHOLE(wide_product_sum64, (a & UINT32_MAX) * b + a)
WHOLE(wide_product_sum32, a % 65536 * b + a)
WHOLE(high_product_sum16, (a * b >> 16) + c)
WHOLE(high_product32, a *b >> 32)
WHOLE(high_product_sum32, (a * b >> 32) + c)
WHOLE(high_product64, upper_product(a, b))
WHOLE(larger, (int32_t)a > (int32_t)b ? a : b)
WHOLE(smaller, (int32_t)a < (int32_t)b ? a : b)
WHOLE(mean_up, (a + b + 1) / 2)
WHOLE(rotated, (a << (b % 32) | a >> (32 - b % 32) % 32))
WHOLE(shifted_left, a << b)
WHOLE(shifted_right, a >> b)

/* ---- floats ---- */

#define REAL(name, value)                                                                                              \
    static double name(double a, double b, double c)                                                                   \
    {                                                                                                                  \
        (void)a, (void)b, (void)c;                                                                                     \
        return value;                                                                                                  \
    }
REAL(add, a + b)
REAL(multiply, a *b)
REAL(multiply_add, a *b + c)
REAL(minimum, a < b ? a : b)
REAL(maximum, a > b ? a : b)
REAL(median, a + b + c - fmin(a, fmin(b, c)) - fmax(a, fmax(b, c)))
REAL(select, a < b ? c : b)
REAL(fraction, a - floor(a))
REAL(nearest_even, nearbyint(a))
REAL(nearest_away, a < 0 ? -floor(0.5 - a) : floor(a + 0.5))
REAL(without_fraction, a < 0 ? ceil(a) : floor(a))
REAL(reciprocal, 1 / a)
REAL(inverse_root, pow(a, -0.5))
REAL(root, pow(a, 0.5))
REAL(power_of_2, pow(2, -a))
REAL(power_of_e, exp(-a))
REAL(power_of_10, pow(10, -a))
REAL(log_of_2, log(fabs(a)) / log(2))
REAL(log_of_e, log(fabs(a)))
REAL(log_of_10, log(fabs(a)) / log(10))
REAL(sine, sin(a))
REAL(cosine, cos(a))
REAL(sine_of_turns, sin(acos(-1) * a))
REAL(quotient, b / a)
REAL(itself, a)

/* ---- lanes of a subgroup, with separate operands ---- */

#define OVER(name, type, start, first, n, step)                                                                        \
    static double name(const lanes v, unsigned lane)                                                                   \
    {                                                                                                                  \
        type r = start;                                                                                                \
        (void)lane;                                                                                                    \
        for (unsigned i = (first); i < (first) + (n); i++)                                                             \
            step;                                                                                                      \
        return (double)r;                                                                                              \
    }
#define ALL 0, LANES
#define UP_TO 0, lane + 1
#define BEFORE 0, lane
#define FOUR lane / 4 * 4, 4
#define FOUR_UP_TO lane / 4 * 4, lane % 4 + 1
#define FOUR_BEFORE lane / 4 * 4, lane % 4
#define ADDED(name, lanes, x) OVER_LANES(name, double, 0, lanes, r += (double)(x))
#define TIMES_ALL(name, lanes, x) OVER_LANES(name, double, 1, lanes, r *= (double)(x))
#define OVER_LANES(...) OVER(__VA_ARGS__)
#define WORD v[i][0].u32
#define FLOAT v[i][0].f32
#define HALF as_op_get_f16(&v[i][0], 0)
OVER(ballot, uint32_t, 0, 0, LANES, r |= (v[i][0].u32 % 2) << i)
OVER(ballot_less, uint32_t, 0, 0, LANES, r |= (uint32_t)(v[i][0].u32 < v[i][1].u32) << i)
OVER(ballot_less_f32, uint32_t, 0, 0, LANES, r |= (uint32_t)(v[i][0].f32 < v[i][1].f32) << i)
OVER_LANES(quad_ballot, uint32_t, 0, FOUR, r |= (v[i][0].u32 % 2) << i % 4)
OVER_LANES(quad_ballot_less, uint32_t, 0, FOUR, r |= (uint32_t)(v[i][0].u32 < v[i][1].u32) << i % 4)
OVER_LANES(quad_ballot_less_f32, uint32_t, 0, FOUR, r |= (uint32_t)(v[i][0].f32 < v[i][1].f32) << i % 4)
OVER(reduced, uint32_t, 0, 0, LANES, r ^= v[i][0].u32)
OVER_LANES(quad_reduced, uint32_t, 0, FOUR, r ^= v[i][0].u32)
OVER(total, uint32_t, 0, 0, LANES, r += v[i][0].u32)
OVER(total_i16, uint16_t, 0, 0, LANES, r = (uint16_t)(r + v[i][0].u16))
OVER(factors, uint32_t, 1, 0, LANES, r *= v[i][0].u32)
OVER(factors_i16, uint16_t, 1, 0, LANES, r = (uint16_t)((uint32_t)r * v[i][0].u16))
OVER_LANES(running_total, uint32_t, 0, UP_TO, r += WORD)
OVER_LANES(total_before, uint32_t, 0, BEFORE, r += WORD)
ADDED(total_f32, ALL, FLOAT)
ADDED(total_f16, ALL, HALF)
TIMES_ALL(product_f32, ALL, FLOAT)
TIMES_ALL(product_f16, ALL, HALF)
ADDED(running_total_f32, UP_TO, FLOAT)
ADDED(total_before_f32, BEFORE, FLOAT)
TIMES_ALL(running_product_f32, UP_TO, FLOAT)
TIMES_ALL(product_before_f32, BEFORE, FLOAT)
OVER_LANES(quad_total_i32, uint32_t, 0, FOUR, r += WORD)
OVER_LANES(quad_total_i16, uint16_t, 0, FOUR, r = (uint16_t)(r + v[i][0].u16))
OVER_LANES(quad_factors, uint32_t, 1, FOUR, r *= WORD)
OVER_LANES(quad_factors_i16, uint16_t, 1, FOUR, r = (uint16_t)((uint32_t)r * v[i][0].u16))
OVER_LANES(quad_running_total, uint32_t, 0, FOUR_UP_TO, r += WORD)
OVER_LANES(quad_total_before, uint32_t, 0, FOUR_BEFORE, r += WORD)
ADDED(quad_total, FOUR, FLOAT)
ADDED(quad_total_f16, FOUR, HALF)
TIMES_ALL(quad_product_f32, FOUR, FLOAT)
TIMES_ALL(quad_product_f16, FOUR, HALF)
ADDED(quad_running_total_f32, FOUR_UP_TO, FLOAT)
ADDED(quad_total_before_f32, FOUR_BEFORE, FLOAT)
TIMES_ALL(quad_running_product_f32, FOUR_UP_TO, FLOAT)
TIMES_ALL(quad_product_before_f32, FOUR_BEFORE, FLOAT)

static double from_next(const lanes v, unsigned lane)
{
    return v[(lane + 1) % LANES][0].u32;
}

static double from_next_of_four(const lanes v, unsigned lane)
{
    return v[lane % 4 == 3 ? lane - 3 : lane + 1][0].u32;
}

static double from_above_of_four(const lanes v, unsigned lane)
{
    return v[lane % 4 == 3 ? lane : lane + 1][0].u32;
}

static double from_any_of_four(const lanes v, unsigned lane)
{
    return v[lane / 4 * 4 + v[lane][1].u32 % 4][0].u32;
}

static double from_above(const lanes v, unsigned lane)
{
    return v[lane + 1 < LANES ? lane + 1 : lane][0].u32;
}

static double from_anywhere(const lanes v, unsigned lane)
{
    return v[v[lane][1].u32 % LANES][0].u32;
}

/* ---- the published names ---- */

const struct meaning meanings[] = {
#define W(name, f)                                                                                                     \
    {                                                                                                                  \
        "", name, .whole = f                                                                                           \
    }
#define W64(name, f)                                                                                                   \
    {                                                                                                                  \
        "", name, .whole = f, .is_wide = true                                                                          \
    }
#define R(name, f)                                                                                                     \
    {                                                                                                                  \
        "", name, .real = f                                                                                            \
    }
#define L(group, name, f)                                                                                              \
    {                                                                                                                  \
        group, name, .of_lanes = f                                                                                     \
    }
    W("bfe32", bits_extracted),
    W("bfi32", bits_inserted),
    W("bitwise32", bits_xor), /* any of and, or and xor */
    W("bfedyn32", bits_extracted_as_told),
    W("bfidyn32", bits_inserted_where_told),
    W("bfilen32", bits_inserted_as_many_as_told),
    W("interleave16", bits_woven),
    W("brev16", bits_reversed16),
    W("brev32", bits_reversed),
    W("clz32", leading_zeros),
    W("popc32", bits_set),
    W("iabsdiff32", distance),
    W("iadd16", sum),
    W("iadd32", sum),
    W("iadd64", sum),
    W64("iadd64_32", sum),
    W64("iaddw32", sum),
    W("iaddsat32", sum_saturated),
    W("icmpsel16", select16),
    W("icmpsel32", select32),
    W("imul16", product),
    W("imul32", product),
    W("imul64", product),
    W64("imul64_32", product),
    W("imulw16", product),
    W64("imulw32", product),
    W("imad16", product_sum),
    W("imad32", product_sum),
    W("imad64", product_sum),
    W("imadw16", wide_product_sum32), /* (16 x 16 = 32) + 32 */
    W64("imad64_32", product_sum),
    W64("imad32_64", low_product_sum64), /* (32 x 32 = 32) + 64 */
    W64("imadw32", wide_product_sum64),  /* (32 x 32 = 64) + 64 */
    W("imulhi32", high_product32),
    W("imulhi64", high_product64),
    W("imadhi16", high_product_sum16),
    W("imadhi32", high_product_sum32),
    W("imax32", larger),
    W("imin32", smaller),
    W("irhadd16", mean_up),
    W("irhadd32", mean_up),
    W("rot32", rotated),
    W("shift32", shifted_left), /* either way */
    W("shl32", shifted_left),
    W("shr32", shifted_right),
    R("fadd16", add),
    R("fadd32", add),
    R("fadd64", add),
    R("fmul16", multiply),
    R("fmul32", multiply),
    R("ffma16", multiply_add),
    R("ffma32", multiply_add),
    R("ffma64", multiply_add),
    R("fmin32", minimum),
    R("fmax32", maximum),
    R("fmed16", median),
    R("fmed32", median),
    R("fcmpsel16", select),
    R("fcmpsel32", select),
    R("fract32", fraction),
    R("rint32", nearest_even),
    R("rndinf32", nearest_away),
    R("trunc32", without_fraction),
    R("recip16", reciprocal),
    R("recip32", reciprocal),
    R("recip32_precise", reciprocal),
    R("rsqrt16", inverse_root),
    R("rsqrt32", inverse_root),
    R("rsqrt32_precise", inverse_root),
    R("sqrt16", root),
    R("sqrt32", root),
    R("sqrt32_precise", root),
    R("exp2_16", power_of_2),
    R("exp2_32", power_of_2),
    R("exp2_32_precise", power_of_2),
    R("exp_32", power_of_e),
    R("exp10_32", power_of_10),
    R("log2_16", log_of_2),
    R("log2_32", log_of_2),
    R("log2_32_precise", log_of_2),
    R("log_32", log_of_e),
    R("log10_32", log_of_10),
    R("sin16", sine),
    R("sin32", sine),
    R("sin32_precise", sine),
    R("cos32", cosine),
    R("sinpi16", sine_of_turns),
    R("sinpi32", sine_of_turns),
    R("sinpi32_precise", sine_of_turns),
    R("div16", quotient),
    R("div32", quotient),
    R("div32_precise", quotient),
    R("cvt_f32_i32", without_fraction),
    R("cvt_f32_i64", without_fraction),
    R("cvt_i32_f32", itself),
    L("simd", "ballot", ballot),
    L("simd", "icmp_ballot", ballot_less),
    L("simd", "fcmp_ballot", ballot_less_f32),
    L("simd", "bitwise_reduce16", reduced), /* any of and, or and xor */
    L("simd", "bitwise_reduce32", reduced), /* any of and, or and xor */
    L("simd", "sum_i16", total_i16),
    L("simd", "sum_i32", total),
    L("simd", "product_i16", factors_i16),
    L("simd", "product_i32", factors),
    L("simd", "prefix_isum_i32", running_total),
    L("simd", "prefix_esum_i32", total_before),
    L("simd", "sum_f16", total_f16),
    L("simd", "sum_f32", total_f32),
    L("simd", "product_f16", product_f16),
    L("simd", "product_f32", product_f32),
    L("simd", "prefix_isum_f32", running_total_f32),
    L("simd", "prefix_esum_f32", total_before_f32),
    L("simd", "prefix_iprod_f32", running_product_f32),
    L("simd", "prefix_eprod_f32", product_before_f32),
    L("simd", "shuffle_rotate32", from_next), /* either way */
    L("simd", "shuffle_norotate32", from_above),
    L("simd", "shuffle_random_diff32", from_anywhere),
    L("quad", "ballot", quad_ballot),
    L("quad", "icmp_ballot", quad_ballot_less),
    L("quad", "fcmp_ballot", quad_ballot_less_f32),
    L("quad", "bitwise_reduce16", quad_reduced), /* any of and, or and xor */
    L("quad", "bitwise_reduce32", quad_reduced), /* any of and, or and xor */
    L("quad", "sum_i16", quad_total_i16),
    L("quad", "sum_i32", quad_total_i32),
    L("quad", "product_i16", quad_factors_i16),
    L("quad", "product_i32", quad_factors),
    L("quad", "prefix_isum_i32", quad_running_total),
    L("quad", "prefix_esum_i32", quad_total_before),
    L("quad", "sum_f16", quad_total_f16),
    L("quad", "sum_f32", quad_total),
    L("quad", "product_f16", quad_product_f16),
    L("quad", "product_f32", quad_product_f32),
    L("quad", "prefix_isum_f32", quad_running_total_f32),
    L("quad", "prefix_esum_f32", quad_total_before_f32),
    L("quad", "prefix_iprod_f32", quad_running_product_f32),
    L("quad", "prefix_eprod_f32", quad_product_before_f32),
    L("quad", "shuffle_rotate32", from_next_of_four),  /* either way */
    L("quad", "shuffle_downup32", from_above_of_four), /* either way */
    L("quad", "shuffle_random_diff32", from_any_of_four),
};
#undef W
#undef W64
#undef R
#undef L
const size_t meanings_n = sizeof meanings / sizeof *meanings;
