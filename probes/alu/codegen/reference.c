/* The same computation as the copies, in plain C. */
#include "codegen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t as_codegen_type_bytes(enum codegen_type type)
{
    return type == TYPE_U32 || type == TYPE_F32 ? 4 : 8;
}

static void codegen_set(enum codegen_type type, union codegen_data *d, size_t i, double x)
{
    switch (type) {
    case TYPE_U32:
        d->u32[i] = (uint32_t)x;
        break;
    case TYPE_U64:
        d->u64[i] = (uint64_t)x;
        break;
    case TYPE_F32:
        d->f32[i] = (float)x;
        break;
    default:
        d->f64[i] = x;
    }
}

static double codegen_get(enum codegen_type type, const union codegen_data *d, size_t i)
{
    switch (type) {
    case TYPE_U32:
        return d->u32[i];
    case TYPE_U64:
        return (double)d->u64[i];
    case TYPE_F32:
        return (double)d->f32[i];
    default:
        return d->f64[i];
    }
}

/* Values that every copy changes and that the type represents exactly after all copies. */
static const double starts[OPS][CODEGEN_WORDS] = {
    [OP_ATOMIC_ADD] = {7, 5, 3, 2},       [OP_ATOMIC_MIN] = {7, 5, 3, 2},
    [OP_ATOMIC_MAX] = {7, 8, 9, 2},       [OP_ATOMIC_EXCHANGE] = {7, 5, 3, 2},
    [OP_ADD] = {7, 1.25, 0.1, 2},         [OP_MUL] = {7, 1.25, 1.01, 2},
    [OP_FMA] = {7, 1.25, 1.01, 0.5},      [OP_DIV] = {7, 4e9, 3, 2},
    [OP_POPCOUNT] = {7, 3.9e9, 2.7e9, 2}, [OP_MULHI] = {7, 0x1.fffe5p63, 0x1.fff1p63, 2},
};

void as_codegen_start(const struct codegen_case *c, union codegen_data *d)
{
    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < CODEGEN_WORDS; i++)
        codegen_set(c->type, d, i, starts[c->op][i]);
}

static uint64_t high_half(uint64_t a, uint64_t b)
{
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & UINT32_MAX);
    return ah * bh + (middle >> 32) + (other >> 32);
}

static uint64_t codegen_ones(uint64_t x)
{
    uint64_t n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}

#define AS_COPY_CASES(word)                                                                                            \
    case OP_ATOMIC_ADD:                                                                                                \
        old = d->word[0];                                                                                              \
        d->word[0] += operand;                                                                                         \
        break;                                                                                                         \
    case OP_ATOMIC_MIN:                                                                                                \
        old = d->word[0];                                                                                              \
        d->word[0] = operand < old ? operand : old;                                                                    \
        break;                                                                                                         \
    case OP_ATOMIC_MAX:                                                                                                \
        old = d->word[0];                                                                                              \
        d->word[0] = operand > old ? operand : old;                                                                    \
        break;                                                                                                         \
    case OP_ATOMIC_EXCHANGE:                                                                                           \
        old = d->word[0];                                                                                              \
        d->word[0] = operand;                                                                                          \
        break;                                                                                                         \
    case OP_DIV:                                                                                                       \
        old = d->word[1] / d->word[2];                                                                                 \
        break;

#define AS_DEFINE_COPY(word, type, more)                                                                               \
    static void copy_##word(const struct codegen_case *c, union codegen_data *d)                                       \
    {                                                                                                                  \
        type operand = c->dropped ? d->word[2] : d->word[1], old = 0;                                                  \
        switch (c->op) {                                                                                               \
            AS_COPY_CASES(word)                                                                                        \
            more default : break;                                                                                      \
        }                                                                                                              \
        if (!c->dropped)                                                                                               \
            d->word[1] = old;                                                                                          \
    }
#define AS_INTEGERS(word)                                                                                              \
    case OP_POPCOUNT:                                                                                                  \
        old = codegen_ones(d->word[1] ^ d->word[2]);                                                                   \
        break;
#define AS_FLOATS(word, fused)                                                                                         \
    case OP_ADD:                                                                                                       \
        old = d->word[1] + d->word[2];                                                                                 \
        break;                                                                                                         \
    case OP_MUL:                                                                                                       \
        old = d->word[1] * d->word[2];                                                                                 \
        break;                                                                                                         \
    case OP_FMA:                                                                                                       \
        old = fused(d->word[1], d->word[2], d->word[3]);                                                               \
        break;
AS_DEFINE_COPY(u32, uint32_t, case OP_POPCOUNT : old = (uint32_t)codegen_ones(d->u32[1] ^ d->u32[2]); break;)
AS_DEFINE_COPY(u64, uint64_t, AS_INTEGERS(u64) case OP_MULHI : old = high_half(d->u64[1], d->u64[2]); break;)
AS_DEFINE_COPY(f32, float, AS_FLOATS(f32, fmaf))
AS_DEFINE_COPY(f64, double, AS_FLOATS(f64, fma))

void as_codegen_expect(const struct codegen_case *c, union codegen_data *d)
{
    static void (*const by_type[TYPES])(const struct codegen_case *, union codegen_data *) = {copy_u32, copy_u64,
                                                                                              copy_f32, copy_f64};
    as_codegen_start(c, d);
    for (int i = 0; i < CODEGEN_MANY; i++)
        by_type[c->type](c, d);
}

/* Integers must match exactly; floats up to the rounding of a division. */
bool as_codegen_same(const struct codegen_case *c, const union codegen_data *got, const union codegen_data *want,
                     char *why, size_t why_size)
{
    static const char *const words[CODEGEN_WORDS] = {"memory", "value", "first operand", "second operand"};
    bool integer = c->type == TYPE_U32 || c->type == TYPE_U64;
    double share = c->op < OP_ADD ? 0 : c->type == TYPE_F32 ? 1e-5 : 1e-13;
    for (size_t i = 0; i < CODEGEN_WORDS; i++) {
        double g = codegen_get(c->type, got, i), w = codegen_get(c->type, want, i);
        size_t bytes = as_codegen_type_bytes(c->type);
        bool exact = memcmp((const char *)got + i * bytes, (const char *)want + i * bytes, bytes) == 0;
        if (exact || (!integer && fabs(g - w) <= share * fabs(w)))
            continue;
        snprintf(why, why_size, "after %d operations the %s is %.17g, not %.17g", (int)CODEGEN_MANY, words[i], g, w);
        return false;
    }
    return true;
}
