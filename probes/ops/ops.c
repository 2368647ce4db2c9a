/* Operands, and agreement with the reference. */
#include "ops_reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    size_t bytes;
    unsigned lanes;
} types[AS_OP_TYPES] = {
    [AS_OP_I16] = {"i16", 2, 1},       [AS_OP_I32] = {"i32", 4, 1},     [AS_OP_I64] = {"i64", 8, 1},
    [AS_OP_I16X2] = {"i16x2", 4, 2},   [AS_OP_F16] = {"f16", 2, 1},     [AS_OP_BF16] = {"bf16", 2, 1},
    [AS_OP_F32] = {"f32", 4, 1},       [AS_OP_F64] = {"f64", 8, 1},     [AS_OP_F16X2] = {"f16x2", 4, 2},
    [AS_OP_BF16X2] = {"bf16x2", 4, 2}, [AS_OP_F32X2] = {"f32x2", 8, 2},
};

const struct as_op *as_op_find(const char *name)
{
    for (size_t i = 0; i < as_ops_n; i++)
        if (strcmp(as_ops[i].name, name) == 0)
            return &as_ops[i];
    return NULL;
}

bool as_op_on_amd(const struct as_op *op, const char *arch)
{
    size_t n = 0;
    for (const char *at = op->amd_chips; at && *at; at += n + strspn(at + n, " ")) {
        n = strcspn(at, " ");
        if (strncmp(arch, at, n) == 0)
            return true;
    }
    return !op->amd_chips;
}

size_t as_op_bytes(enum as_op_type type)
{
    return types[type].bytes;
}

unsigned as_op_lanes(enum as_op_type type)
{
    return types[type].lanes;
}

const char *as_op_type_word(enum as_op_type type)
{
    return types[type].word;
}

/* ---- operands ---- */

static double real_of(enum as_op_domain domain, enum as_op_type type, unsigned turn, double random)
{
    switch (domain) {
    case AS_OP_HALF:
        return 0.25 + random / 2;
    case AS_OP_OPPOSITE:
        return (turn % 2 ? -1 : 1) * 0.75; /* the same size in all turns, so that sums stay where they began */
    case AS_OP_INVERSE:
        return turn % 2 ? 1 / 1.375 : 1.375;
    case AS_OP_WHOLE:
        return type == AS_OP_F16 ? 1 + random : ldexp(1 + random, 20 + (int)(random * 7) % 2);
    default:
        return 1 + random;
    }
}

static void set_real(enum as_op_type type, double x, union as_op_value *out)
{
    if (type == AS_OP_F32 || type == AS_OP_F32X2)
        out->f32 = (float)x;
    else if (type == AS_OP_F64)
        out->f64 = x;
    else if (type == AS_OP_F16 || type == AS_OP_F16X2)
        as_op_set_f16(out, 0, x);
    else
        as_op_set_bf16(out, 0, x);
}

static uint64_t whole_of(enum as_op_domain domain, enum as_op_type type, uint64_t random)
{
    unsigned bits = 8 * (unsigned)as_op_bytes(type);
    switch (domain) {
    case AS_OP_ODD:
        return random | 1;
    case AS_OP_HIGH:
        return random | UINT64_C(0xffff) << (bits - 16) | 1;
    case AS_OP_DIVISOR:
        return 3 + random % 15;
    case AS_OP_SHIFT1:
        return 1 + random % 15;
    case AS_OP_SMALL5:
        return random & 15;
    case AS_OP_WIDTH:
        return 8 + random % 9;
    case AS_OP_BYTES:
        return random & 0x7777;
    case AS_OP_BYTES4:
        return random & 0x07070707;
    case AS_OP_MANTISSA:
        return type == AS_OP_I16 ? random & 0x3ff : random & 0x7fffff;
    case AS_OP_TWO:
        return 0x3f800000;
    case AS_OP_ONE:
        return 0x3f800000 | (random & 0x7f);
    case AS_OP_TWO64:
        return 0x3ff00000;
    case AS_OP_MANY:
        return 0x49800000;
    case AS_OP_MANY64:
        return 0x41300000 | (random & 0xfffff);
    default:
        return random;
    }
}

void as_op_draw(enum as_op_domain domain, enum as_op_type type, unsigned turn, struct as_rng *rng,
                union as_op_value *out)
{
    uint64_t random = as_rng_u64(rng);
    memset(out, 0, sizeof *out);
    if (type <= AS_OP_I16X2) {
        uint64_t x = whole_of(domain, type, random);
        if (type == AS_OP_I16)
            out->u16 = (uint16_t)x;
        else if (type != AS_OP_I64)
            out->u32 = (uint32_t)x;
        else
            out->u64 = x;
        return;
    }
    set_real(type, real_of(domain, type, turn, (double)(random >> 11) * 0x1p-53), out);
    if (as_op_lanes(type) == 2) {
        union as_op_value second = {0};
        set_real(type, real_of(domain, type, turn, (double)(as_rng_u64(rng) >> 11) * 0x1p-53), &second);
        if (type == AS_OP_F32X2)
            out->single[1] = second.f32;
        else
            out->half[1] = second.half[0];
    }
}

/* ---- agreement ---- */

static double number_of(enum as_op_type type, const union as_op_value *v, unsigned lane)
{
    if (type == AS_OP_F32 || type == AS_OP_F32X2)
        return (double)v->single[lane];
    if (type == AS_OP_F64)
        return v->f64;
    return type == AS_OP_F16 || type == AS_OP_F16X2 ? as_op_get_f16(v, lane) : as_op_get_bf16(v, lane);
}

/* Distance of a number to the next one of its type. */
static double unit_of(enum as_op_type type, double x)
{
    static const int mantissa[AS_OP_TYPES] = {
        [AS_OP_F16] = 10,   [AS_OP_BF16] = 7,   [AS_OP_F32] = 23,  [AS_OP_F64] = 52,
        [AS_OP_F16X2] = 10, [AS_OP_BF16X2] = 7, [AS_OP_F32X2] = 23};
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 1 - mantissa[type]);
}

bool as_op_agrees(const struct as_op *op, enum as_dialect dialect, const union as_op_value (*all)[3], unsigned lane_at,
                  unsigned lanes_n, const union as_op_value *r, char *why, size_t size)
{
    union as_op_value want = {0};
    const union as_op_value *abc = all[lane_at];
    if (op->reference)
        op->reference(abc, &want);
    else
        op->group_reference(all, lane_at, lanes_n, &want);
    size_t bytes = as_op_bytes(op->result);
    if (memcmp(&want, r, bytes) == 0)
        return true;
    uint64_t got = 0, should = 0;
    memcpy(&got, r, bytes);
    memcpy(&should, &want, bytes);
    unsigned lanes = as_op_lanes(op->result);
    bool near = op->result >= AS_OP_F16;
    for (unsigned lane = 0; lane < lanes && near; lane++) {
        double x = number_of(op->result, r, lane), y = number_of(op->result, &want, lane);
        near = x == y || fabs(x - y) <= op->ulp[dialect] * unit_of(op->result, y) + op->abs[dialect];
        snprintf(why, size, "%s of 0x%" PRIx64 ", 0x%" PRIx64 " gave %.9g (0x%" PRIx64 "), not %.9g (0x%" PRIx64 ")",
                 op->name, abc[0].u64, abc[1].u64, x, got, y, should);
    }
    if (op->result < AS_OP_F16)
        snprintf(why, size, "%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 " gave 0x%" PRIx64 ", not 0x%" PRIx64,
                 op->name, abc[0].u64, abc[1].u64, abc[2].u64, got, should);
    return near;
}
