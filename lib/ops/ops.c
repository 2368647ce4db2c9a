/* Operands, and agreement with the reference. */
#include "ops_reference.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    size_t bytes;
    unsigned lanes;
} types[AS_OP_TYPES] = {
    [AS_OP_I16] = {2, 1},   [AS_OP_I32] = {4, 1},    [AS_OP_I64] = {8, 1},   [AS_OP_I16X2] = {4, 2},
    [AS_OP_F16] = {2, 1},   [AS_OP_BF16] = {2, 1},   [AS_OP_F32] = {4, 1},   [AS_OP_F64] = {8, 1},
    [AS_OP_F16X2] = {4, 2}, [AS_OP_BF16X2] = {4, 2}, [AS_OP_F32X2] = {8, 2},
};

const struct as_op *as_op_find(const char *name)
{
    for (size_t i = 0; i < as_ops_n; i++)
        if (strcmp(as_ops[i].name, name) == 0)
            return &as_ops[i];
    return NULL;
}

bool as_op_on_nvidia(const struct as_op *op, unsigned architecture)
{
    return architecture >= op->cuda_least && (!op->cuda_most || architecture <= op->cuda_most);
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

/* ---- operands ---- */

static double real_of(enum as_op_domain domain, enum as_op_type type, unsigned turn, double random)
{
    switch (domain) {
    case AS_OP_HALF:
        return 0.25 + random / 2;
    case AS_OP_OPPOSITE:
        return (turn % 2 ? -1 : 1) * 0.75; /* the same magnitude in all turns, so that sums stay bounded */
    case AS_OP_INVERSE:
        return turn % 2 ? 1 / 1.375 : 1.375;
    case AS_OP_WHOLE:
        return ldexp(1 + random, type == AS_OP_F16 ? 8 : 20 + (int)(random * 7) % 2);
    case AS_OP_NEUTRAL:
        return 1;
    case AS_OP_NEAR:
        return 0.875 + random / 4;
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

/* A domain of integers: `n` of them starting at `first`, or any with the `fixed` bits of `value`. */
static const struct {
    uint64_t first, n, fixed, value;
} wholes[] = {
    [AS_OP_ODD] = {.fixed = 1, .value = 1},
    [AS_OP_DIVISOR] = {.first = 3, .n = 15},
    [AS_OP_SHIFT1] = {.first = 1, .n = 15},
    [AS_OP_SMALL5] = {.fixed = ~UINT64_C(15)},
    [AS_OP_WIDTH] = {.first = 8, .n = 9},
    [AS_OP_BYTES] = {.fixed = ~UINT64_C(0x7777)},
    [AS_OP_BYTES4] = {.fixed = ~UINT64_C(0x07070707)},
    [AS_OP_MANTISSA] = {.fixed = ~UINT64_C(0x7fffff)},
    [AS_OP_NEUTRAL] = {.fixed = UINT64_MAX, .value = 1},
    [AS_OP_TWO] = {.fixed = UINT64_MAX, .value = 0x3f800000},
    [AS_OP_TWO64] = {.fixed = UINT64_MAX, .value = 0x3ff00000},
    [AS_OP_ONE] = {.fixed = ~UINT64_C(0x7f), .value = 0x3f800000},
    [AS_OP_MANY] = {.fixed = UINT64_MAX, .value = 0x49800000},
    [AS_OP_MANY64] = {.fixed = ~UINT64_C(0xfffff), .value = 0x41300000},
};

/* Of four bits in different places, so that lanes share few. */
static uint64_t sparse_of(uint64_t random)
{
    uint64_t bits = random;
    for (int i = 0; i < 3; i++) {
        random = random * UINT64_C(0x9e3779b97f4a7c15) + 1;
        bits &= random ^ random >> 32;
    }
    return bits;
}

static uint64_t whole_of(enum as_op_domain domain, enum as_op_type type, uint64_t random)
{
    if (domain == AS_OP_HIGH)
        return random | UINT64_C(0xffff) << (8 * as_op_bytes(type) - 16) | 1;
    if (domain == AS_OP_MANTISSA && type == AS_OP_I16)
        return random & 0x3ff;
    if (domain == AS_OP_TWO && type == AS_OP_I16)
        return 0x3c00;
    if (domain == AS_OP_SPARSE || domain == AS_OP_DENSE)
        return domain == AS_OP_DENSE ? ~sparse_of(random) : sparse_of(random);
    if (wholes[domain].n)
        return wholes[domain].first + random % wholes[domain].n;
    return (random & ~wholes[domain].fixed) | wholes[domain].value;
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

static double ops_number_of(enum as_op_type type, const union as_op_value *v, unsigned lane)
{
    if (type == AS_OP_F32 || type == AS_OP_F32X2)
        return (double)v->single[lane];
    if (type == AS_OP_F64)
        return v->f64;
    return type == AS_OP_F16 || type == AS_OP_F16X2 ? as_op_get_f16(v, lane) : as_op_get_bf16(v, lane);
}

/* The ulp of a number in its type. */
static double unit_of(enum as_op_type type, double x)
{
    static const int mantissa[AS_OP_TYPES] = {
        [AS_OP_F16] = 10,   [AS_OP_BF16] = 7,   [AS_OP_F32] = 23,  [AS_OP_F64] = 52,
        [AS_OP_F16X2] = 10, [AS_OP_BF16X2] = 7, [AS_OP_F32X2] = 23};
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 1 - mantissa[type]);
}

static uint64_t ops_bits_of(enum as_op_type type, const union as_op_value *v)
{
    uint64_t bits = 0;
    memcpy(&bits, v, as_op_bytes(type));
    return bits;
}

static void write_value(enum as_op_type type, const union as_op_value *v, unsigned lane, struct as_buf *out)
{
    if (type >= AS_OP_F16)
        as_buf_printf(out, "%.9g (0x%" PRIx64 ")", ops_number_of(type, v, lane), ops_bits_of(type, v));
    else
        as_buf_printf(out, "0x%" PRIx64, ops_bits_of(type, v));
}

/* "ffma32 of 0x3f800000, 0x3f000000, 0x3e800000 gave 1 (0x3f800000), not 0.75 (0x3f400000)" */
static void disagree(const struct as_op *op, const union as_op_value *abc, unsigned lane, const union as_op_value *r,
                     const union as_op_value *want, char *why, size_t size)
{
    const enum as_op_type types_of[] = {op->type, op->btype, op->ctype};
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s of", op->name);
    for (unsigned k = 0; k < 3 && k < op->args; k++)
        as_buf_printf(&b, "%s 0x%" PRIx64, k ? "," : "", ops_bits_of(types_of[k], &abc[k]));
    as_buf_str(&b, " gave ");
    write_value(op->result, r, lane, &b);
    as_buf_str(&b, ", not ");
    write_value(op->result, want, lane, &b);
    as_copy_text(why, size, as_buf_get(&b));
    as_buf_finish(&b);
}

bool as_op_agrees(const struct as_op *op, enum as_dialect dialect, const union as_op_value (*abc)[3], unsigned lane,
                  unsigned lanes, const union as_op_value *r, char *why, size_t size)
{
    union as_op_value want = {0};
    if (op->reference)
        op->reference(abc[lane], &want);
    else
        op->group_reference(abc, lane, lanes, &want);
    if (ops_bits_of(op->result, &want) == ops_bits_of(op->result, r))
        return true;
    bool near = op->result >= AS_OP_F16;
    unsigned number = 0, numbers = as_op_lanes(op->result);
    while (near && number < numbers) {
        double x = ops_number_of(op->result, r, number), y = ops_number_of(op->result, &want, number);
        near = x == y || fabs(x - y) <= op->ulp[dialect] * unit_of(op->result, y) + op->abs[dialect];
        number += near;
    }
    if (!near)
        disagree(op, abc[lane], number, r, &want, why, size);
    return near;
}
