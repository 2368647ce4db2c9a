/* The operations on the host, from the kernel's own text, and their chains. */
#include "arithmetic.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define HOST
#define FUNCTION static inline __attribute__((unused))
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef float f32;
typedef double f64;
__extension__ typedef unsigned __int128 u128;
#include "emulated.kernel"

typedef struct as_emulated_number number;

static f32 as_f32(number n)
{
    f32 x;
    memcpy(&x, n.word, sizeof x);
    return x;
}

static number of_f32(f32 x)
{
    number n = {{0}};
    memcpy(n.word, &x, sizeof x);
    return n;
}

static f64 as_f64(number n)
{
    f64 x;
    memcpy(&x, n.word, sizeof x);
    return x;
}

static number of_f64(f64 x)
{
    number n = {{0}};
    memcpy(n.word, &x, sizeof x);
    return n;
}

static struct e8m48 as_e8m48(number n)
{
    struct e8m48 x;
    memcpy(&x, n.word, sizeof x);
    return x;
}

static number of_e8m48(struct e8m48 x)
{
    number n = {{0}};
    memcpy(n.word, &x, sizeof x);
    return n;
}

static u64 as_u64(number n)
{
    return n.word[0];
}

static number of_u64(u64 x)
{
    return (number){{x}};
}

static struct u64_pair as_pair(number n)
{
    return (struct u64_pair){n.word[0], n.word[1]};
}

static number of_pair(struct u64_pair x)
{
    return (number){{x.low, x.high}};
}

#define HOST_OPERATION(name, type, expression)                                                                         \
    static number host_##name(number p, number q, number r)                                                            \
    {                                                                                                                  \
        const __typeof__(as_##type(p)) a = as_##type(p), b = as_##type(q), c = as_##type(r);                           \
        (void)c;                                                                                                       \
        return of_##type(expression);                                                                                  \
    }
HOST_OPERATION(f32_add, f32, a + b)
HOST_OPERATION(f32_mul, f32, a *b)
HOST_OPERATION(f64_add, f64, a + b)
HOST_OPERATION(f64_mul, f64, a *b)
HOST_OPERATION(f32_fma, f32, FUSED_F32(a, b, c))
HOST_OPERATION(f64_fma, f64, FUSED_F64(a, b, c))
HOST_OPERATION(e8m48_add, e8m48, e8m48_add(a, b))
HOST_OPERATION(e8m48_mul, e8m48, e8m48_mul(a, b))
HOST_OPERATION(fp59_add, u64, fp59_add(a, b))
HOST_OPERATION(fp59_mul, u64, fp59_mul(a, b))
HOST_OPERATION(fp59_fma, u64, fp59_fma(a, b, c))
HOST_OPERATION(i64_add, u64, a + b)
HOST_OPERATION(i64_mul, u64, a *b)
HOST_OPERATION(i64_wide, pair, pair_odd(i64_wide(a.low, b.high)))
HOST_OPERATION(i64_add_pieces, u64, pieces_add(a, b))
HOST_OPERATION(i64_mul_pieces, u64, pieces_mul(a, b))
HOST_OPERATION(i64_wide_pieces, pair, pair_odd(pieces_wide(a.low, b.high)))
HOST_OPERATION(i128_add, pair, i128_add(a, b))
HOST_OPERATION(i128_mul, pair, i128_mul(a, b))
HOST_OPERATION(i128_add_pieces, pair, i128_add_pieces(a, b))
HOST_OPERATION(i128_mul_pieces, pair, i128_mul_pieces(a, b))

#define F32_ERROR 0x1p-24
#define F64_ERROR 0x1p-53
#define FP59_ERROR 0x1p-48
/* Of the published proofs: 3 u^2 / (1 - 4 u) and 4 u^2, where u is 2^-24. */
#define E8M48_ADD_ERROR (3 * 0x1p-48 * (1 + 0x1p-21))
#define E8M48_MUL_ERROR (4 * 0x1p-48)

#define OWN_PASSES 8
#define ROW(name, format, what, bits, type, call, bound) ROW_OF(name, format, what, bits, type, call, 1, bound)
#define OWN(name, format, what, bits, type, call, bound) ROW_OF(name, format, what, bits, type, call, OWN_PASSES, bound)
#define ROW_OF(name, format, what, bits, type, call, passes, bound)                                                    \
    {                                                                                                                  \
#name, AS_EMULATED_##format, AS_EMULATED_##what, bits, type, call, passes, bound, host_##name                  \
    }
const struct as_emulated as_emulated[] = {
    OWN(f32_add, F32, ADD, 0, "F32", "((a)+(b))", F32_ERROR),
    OWN(f32_mul, F32, MUL, 0, "F32", "MUL_F32(a,b)", F32_ERROR),
    OWN(f64_add, F64, ADD, 0, "F64", "((a)+(b))", F64_ERROR),
    OWN(f64_mul, F64, MUL, 0, "F64", "MUL_F64(a,b)", F64_ERROR),
    OWN(f32_fma, F32, FMA, 0, "F32", "FUSED_F32(a,b,c)", F32_ERROR),
    OWN(f64_fma, F64, FMA, 0, "F64", "FUSED_F64(a,b,c)", F64_ERROR),
    ROW(e8m48_add, E8M48, ADD, 0, "E8M48", "e8m48_add(a,b)", E8M48_ADD_ERROR),
    ROW(e8m48_mul, E8M48, MUL, 0, "E8M48", "e8m48_mul(a,b)", E8M48_MUL_ERROR),
    ROW(fp59_add, FP59, ADD, 0, "U64", "fp59_add(a,b)", FP59_ERROR),
    ROW(fp59_mul, FP59, MUL, 0, "U64", "fp59_mul(a,b)", FP59_ERROR),
    ROW(fp59_fma, FP59, FMA, 0, "U64", "fp59_fma(a,b,c)", FP59_ERROR),
    OWN(i64_add, INTEGER, ADD, 64, "U64", "((a)+(b))", 0),
    OWN(i64_mul, INTEGER, MUL, 64, "U64", "((a)*(b))", 0),
    ROW(i64_wide, INTEGER, WIDE, 64, "PAIR", "pair_odd(i64_wide((a).low,(b).high))", 0),
    ROW(i64_add_pieces, INTEGER, ADD, 64, "U64", "pieces_add(a,b)", 0),
    ROW(i64_mul_pieces, INTEGER, MUL, 64, "U64", "pieces_mul(a,b)", 0),
    ROW(i64_wide_pieces, INTEGER, WIDE, 64, "PAIR", "pair_odd(pieces_wide((a).low,(b).high))", 0),
    ROW(i128_add, INTEGER, ADD, 128, "PAIR", "i128_add(a,b)", 0),
    ROW(i128_mul, INTEGER, MUL, 128, "PAIR", "i128_mul(a,b)", 0),
    ROW(i128_add_pieces, INTEGER, ADD, 128, "PAIR", "i128_add_pieces(a,b)", 0),
    ROW(i128_mul_pieces, INTEGER, MUL, 128, "PAIR", "i128_mul_pieces(a,b)", 0),
    {0},
};

const struct as_emulated *as_emulated_find(const char *name)
{
    for (const struct as_emulated *op = as_emulated; op->name; op++)
        if (strcmp(op->name, name) == 0)
            return op;
    return NULL;
}

/* ---- chains ---- */

static uint64_t digest(number n)
{
    return n.word[0] + 31 * n.word[1];
}

uint64_t as_emulated_chains(const struct as_emulated *op, const struct as_emulated_number start[8], uint64_t turns)
{
    const bool weaves = op->format == AS_EMULATED_INTEGER;
    number x[4] = {start[0], start[1], start[2], start[3]};
    for (uint64_t t = 0; t < turns * op->passes; t++)
        for (size_t k = 0; k < 4; k++)
            for (size_t j = 0; j < 4; j++)
                x[j] = op->apply(x[j], weaves ? x[j ^ 1] : start[4 + k], weaves ? x[j] : start[4 + k]);
    return digest(x[0]) + 3 * digest(x[1]) + 5 * digest(x[2]) + 7 * digest(x[3]);
}

struct as_emulated_number as_emulated_of(const struct as_emulated *op, double x)
{
    switch (op->format) {
    case AS_EMULATED_F32:
        return of_f32((f32)x);
    case AS_EMULATED_F64:
        return of_f64(x);
    case AS_EMULATED_E8M48:
        return of_e8m48((struct e8m48){(f32)x, (f32)(x - (f64)(f32)x)});
    case AS_EMULATED_FP59:
        return of_u64(as_u64(of_f64(x)) & ~(((u64)1 << FP59_SPARE) - 1));
    case AS_EMULATED_INTEGER:
        break;
    }
    return of_u64(0);
}

/* Odd integers: their products stay odd. */
static number random_odd(struct as_rng *rng)
{
    const u64 low = as_rng_u64(rng) | 1, high = as_rng_u64(rng) | 1;
    return of_pair((struct u64_pair){low, high});
}

void as_emulated_start(const struct as_emulated *op, struct as_rng *rng, struct as_emulated_number start[8])
{
    for (size_t i = 0; i < 8; i += 2) {
        const f64 x = 1 + (f64)(as_rng_u64(rng) >> 12) * 0x1p-52, y = 1 + (f64)(as_rng_u64(rng) >> 12) * 0x1p-52;
        const f64 back = op->what == AS_EMULATED_ADD ? -x : 1 / x; /* the second operand of two undoes the first */
        const bool integers = op->format == AS_EMULATED_INTEGER;
        start[i] = integers ? random_odd(rng) : as_emulated_of(op, x);
        start[i + 1] = integers ? random_odd(rng) : as_emulated_of(op, i < 4 ? y : back);
    }
}
