/* Exact arithmetic on the operands and results of emulated operations, in integers of 128 bits; and operands that are
 * hard to round. */
#include "arithmetic.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
typedef struct as_emulated_number number;

/* m * 2^e */
struct exact {
    i128 m;
    int e;
};
enum { EXACT_BITS = 126 };

static struct exact exact_of_float(double x)
{
    int e;
    const double m = frexp(x, &e);
    return (struct exact){(i128)(m * 0x1p53), x == 0 ? 0 : e - 53};
}

static int exact_bits(i128 m)
{
    u128 size = m < 0 ? -(u128)m : (u128)m;
    int n = 0;
    for (; size; size >>= 1)
        n++;
    return n;
}

/* Without the zeros at the end. */
static struct exact exact_reduced(struct exact x)
{
    for (; x.m && !(x.m & 1); x.m /= 2)
        x.e++;
    return x;
}

/* False: the integer would have too many bits. */
static bool exact_sum(struct exact x, struct exact y, struct exact *out)
{
    x = exact_reduced(x);
    y = exact_reduced(y);
    const struct exact low = !y.m || (x.m && x.e < y.e) ? x : y, high = !y.m || (x.m && x.e < y.e) ? y : x;
    const int shift = high.m ? high.e - low.e : 0;
    if (exact_bits(high.m) + shift > EXACT_BITS)
        return false;
    *out = (struct exact){low.m + high.m * ((i128)1 << shift), low.e};
    return true;
}

static bool exact_product(struct exact x, struct exact y, struct exact *out)
{
    x = exact_reduced(x);
    y = exact_reduced(y);
    if (exact_bits(x.m) + exact_bits(y.m) > EXACT_BITS)
        return false;
    *out = (struct exact){x.m * y.m, x.e + y.e};
    return true;
}

static bool exact_of(const struct as_emulated *op, number n, struct exact *out)
{
    float f[2];
    double d;
    memcpy(f, n.word, sizeof f);
    memcpy(&d, n.word, sizeof d);
    if (op->format == AS_EMULATED_F32 || op->format == AS_EMULATED_E8M48) {
        *out = exact_of_float((double)f[0]);
        return isfinite(f[0]) && (op->format == AS_EMULATED_F32 ||
                                  (isfinite(f[1]) && exact_sum(*out, exact_of_float((double)f[1]), out)));
    }
    *out = exact_of_float(d);
    return isfinite(d);
}

static double exact_size(struct exact x)
{
    return fabs(ldexp((double)x.m, x.e));
}

static bool exact_result(const struct as_emulated *op, const number operands[3], struct exact *out)
{
    struct exact x, y, z = {0, 0};
    const bool has_addend = op->what == AS_EMULATED_FMA;
    if (!exact_of(op, operands[0], &x) || !exact_of(op, operands[1], &y) ||
        (has_addend && !exact_of(op, operands[2], &z)))
        return false;
    if (op->what == AS_EMULATED_ADD)
        return exact_sum(x, y, out);
    return exact_product(x, y, out) && (!has_addend || exact_sum(*out, z, out));
}

static double float_error(const struct as_emulated *op, const number operands[3], number result)
{
    struct exact r, want, off;
    if (!exact_of(op, result, &r) || !exact_result(op, operands, &want))
        return INFINITY;
    r.m = -r.m;
    if (!exact_sum(want, r, &off))
        return INFINITY;
    if (!off.m)
        return 0;
    return want.m ? exact_size(off) / exact_size(want) : INFINITY;
}

static u128 wide_of(number n)
{
    return (u128)n.word[1] << 64 | n.word[0];
}

static double integer_error(const struct as_emulated *op, number a, number b, number result)
{
    const u128 p = op->bits > 64 ? wide_of(a) : a.word[0], q = op->bits > 64 ? wide_of(b) : b.word[0];
    u128 want = op->what == AS_EMULATED_ADD ? p + q : p * q;
    if (op->what == AS_EMULATED_WIDE)
        want = (u128)a.word[0] * b.word[1] | (u128)1 << 64 | 1;
    else if (op->bits == 64)
        want = (uint64_t)want;
    return wide_of(result) == want ? 0 : INFINITY;
}

double as_emulated_error(const struct as_emulated *op, const struct as_emulated_number operands[3],
                         struct as_emulated_number result)
{
    return op->format == AS_EMULATED_INTEGER ? integer_error(op, operands[0], operands[1], result)
                                             : float_error(op, operands, result);
}

/* ---- operands ---- */

static double random_float(struct as_rng *rng)
{
    const uint64_t bits = as_rng_u64(rng);
    const int exponent = (int)(as_rng_u64(rng) % 41) - 20;
    return ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent) * (bits & 1 ? -1 : 1);
}

/* Operands near what a format of p bits cannot hold. */
static void hard_floats(struct as_rng *rng, int p, size_t i, double *a, double *b)
{
    const double one_more = ldexp(1, -p), last = ldexp(1, 1 - p);
    const uint64_t bits = as_rng_u64(rng);
    switch (i % 8) {
    case 0: /* cancellation, complete or of the first bits */
        *b = -*a * (bits % 4 ? 1 + ldexp(1, -1 - (int)(bits / 4 % 52)) : 1);
        break;
    case 1: /* ties of sums: half of the last place, and next to it */
        *a = 1 + last * (double)(bits % 4);
        *b = one_more * (bits & 4 ? 1 : -1) * (bits & 8 ? 1 : 1 + 0x1p-20);
        break;
    case 2: /* ones, and a carry through all of them */
        *a = 2 - last;
        *b = last * (double)(bits % 3) / 2;
        break;
    case 3:
        *a = ldexp(1, (int)(bits % 41) - 20);
        *b = ldexp(bits & 64 ? -1 : 1, (int)(bits / 128 % 41) - 20);
        break;
    case 4:
        *(bits & 1 ? a : b) = 0;
        break;
    case 5: /* far from each other */
        *a = ldexp(*a < 0 ? -1.75 : 1.25, 20);
        *b = ldexp(*b < 0 ? -1 - last : 1 + last, -20);
        break;
    case 6: /* ties of products */
        *a = 1 + ldexp((double)(bits % 8), -p / 2);
        *b = 1 + ldexp((double)(bits / 8 % 8), -(p + 1) / 2);
        break;
    default: /* the largest second part of two */
        *a = 1 + 0x1p-24 + (bits & 1 ? 0 : last);
        *b = (bits & 2 ? -1 : 1) * (1 + 0x1p-23 - 0x1p-47);
        break;
    }
}

static uint64_t hard_integer(struct as_rng *rng)
{
    static const uint64_t hard[] = {0,
                                    1,
                                    UINT64_C(0x7fffffff),
                                    UINT64_C(0x80000000),
                                    UINT64_C(0xffffffff),
                                    UINT64_C(0x100000000),
                                    UINT64_C(0x100000001),
                                    UINT64_C(0xffffffff00000000),
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(0x8000000000000000),
                                    UINT64_MAX};
    return hard[as_rng_u64(rng) % (sizeof hard / sizeof *hard)];
}

static number integer_operand(struct as_rng *rng, bool is_hard, bool has_high)
{
    number n = {{is_hard ? hard_integer(rng) : as_rng_u64(rng), is_hard ? hard_integer(rng) : as_rng_u64(rng)}};
    n.word[1] = has_high ? n.word[1] : 0;
    return n;
}

/* An addend to a product of numbers of p bits: near it, the nearest number to its negative, or far above one that has
 * few bits. All sums have at most EXACT_BITS. */
static double addend(struct as_rng *rng, int p, size_t i, double *a, double *b)
{
    const uint64_t bits = as_rng_u64(rng);
    const int room = EXACT_BITS - 2 * p - 4 < 40 ? EXACT_BITS - 2 * p - 4 : 40;
    int e, unused;
    (void)frexp(*a * *b, &e);
    const double near = ldexp(frexp(random_float(rng), &unused), e + (int)(bits % (unsigned)room) - room / 2);
    if (i % 2 == 0)
        return near;
    (void)frexp(*a, &e);
    switch (i / 2 % 4) {
    case 0:
        return -*a * *b; /* rounded to the format: what remains is the product's error */
    case 1:
        *b = bits & 1 ? -1 : 1;
        return ldexp(bits & 2 ? -1 : 1, e + p + (int)(bits / 4 % 8)); /* beyond the last place of the sum */
    case 2:
        return 0;
    default:
        *b = 1;
        return ldexp(*a < 0 ? 1 : -1, e - 1 - p + (int)(bits % 4)); /* half of the last place */
    }
}

void as_emulated_operands(const struct as_emulated *op, struct as_rng *rng, size_t i,
                          struct as_emulated_number operands[3])
{
    static const int precision[] = {[AS_EMULATED_F32] = 24,
                                    [AS_EMULATED_F64] = 53,
                                    [AS_EMULATED_E8M48] = 48,
                                    [AS_EMULATED_FP59] = 48,
                                    [AS_EMULATED_INTEGER] = 0};
    if (op->format == AS_EMULATED_INTEGER) {
        const bool has_high = op->bits > 64 || op->what == AS_EMULATED_WIDE;
        operands[0] = integer_operand(rng, i % 2, has_high);
        operands[1] = integer_operand(rng, i % 2, has_high);
        operands[2] = (number){{0}};
        return;
    }
    const int p = precision[op->format];
    double x = random_float(rng), y = random_float(rng), z = 0;
    if (op->what == AS_EMULATED_FMA)
        z = addend(rng, p, i, &x, &y);
    else if (i % 2)
        hard_floats(rng, p, i / 2, &x, &y);
    operands[0] = as_emulated_of(op, x);
    operands[1] = as_emulated_of(op, y);
    operands[2] = as_emulated_of(op, z);
}
