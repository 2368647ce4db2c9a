/* The operands of native chains: where the time depends on them, every step of a chain has those that the note
 * describes, and no chain comes to subnormal numbers, infinities or NaN, which are slow on some CPUs. */
#include "lib/ops/ops_reference.h"
#include "native_rows.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWS = 16, STEPS = 64 };

struct range {
    double low, high;
};

/* Of a step: its operands and result in one lane. */
struct step {
    const struct as_native *native;
    const struct as_op *op;
    union as_op_value a, b, result;
};

static bool is_integer(enum as_op_type type)
{
    return type <= AS_OP_I16X2;
}

static double number(enum as_op_type type, const union as_op_value *v)
{
    switch (type) {
    case AS_OP_I16:
        return v->u16;
    case AS_OP_I32:
        return v->u32;
    case AS_OP_I64:
        return (double)v->u64;
    case AS_OP_F16:
        return as_op_get_f16(v, 0);
    case AS_OP_BF16:
        return as_op_get_bf16(v, 0);
    case AS_OP_F64:
        return v->f64;
    default:
        return (double)v->f32;
    }
}

/* What a note says of an operand: "divisor 3 to 31", "dividend 0.75", "dividend of any bits", "divisor with its upper
 * 16 bits set". False: it does not name it. */
static bool noted(const char *values, const char *name, enum as_op_type type, struct range *r)
{
    const double all = ldexp(1, 8 * (int)as_op_bytes(type));
    const char *at = strstr(values, name);
    if (!at)
        return false;
    at += strlen(name) + 1;
    const int n = sscanf(at, "%lf to %lf", &r->low, &r->high);
    if (n == 1)
        r->high = r->low;
    else if (strncmp(at, "of any bits", 11) == 0)
        *r = (struct range){0, all};
    else if (strncmp(at, "with its upper 16 bits set", 26) == 0)
        *r = (struct range){all - all / 65536, all};
    else if (n != 2)
        fail_msg("'%s': what of %s?", values, name);
    return true;
}

static void check_range(const struct step *s, const char *name, enum as_op_type type, double x)
{
    struct range r;
    if (noted(s->native->values, name, type, &r) && !(fabs(x) >= r.low && fabs(x) <= r.high))
        fail_msg("%s in %s: a %s of %g, not as in '%s'", s->op->name, as_native_width_words[s->native->width], name, x,
                 s->native->values);
}

/* The number of a quotient's bits decides the time of a division of integers. */
static void check_integer_quotient(const struct step *s)
{
    const double x = number(s->op->btype, &s->b), y = number(s->op->type, &s->a);
    const bool is_long = x / y >= ldexp(1, 8 * (int)as_op_bytes(s->op->type) - 6);
    const char *values = s->native->values;
    const bool agrees = strstr(values, ": a quotient of nearly all bits") ? is_long
                        : strstr(values, ": a quotient of 0")             ? x < y
                                                                          : false;
    if (!agrees)
        fail_msg("%s: a quotient of %g / %g, not as in '%s'", s->op->name, x, y, values);
}

static void check_values(const struct step *s)
{
    const double a = number(s->op->type, &s->a);
    assert_true(strstr(s->native->values, "divisor ") || strstr(s->native->values, "operand "));
    check_range(s, "divisor", s->op->type, a);
    check_range(s, "operand", s->op->type, a);
    check_range(s, "dividend", s->op->btype, number(s->op->btype, &s->b));
    if (is_integer(s->op->type))
        check_integer_quotient(s);
    else
        check_range(s, "quotient", s->op->result, number(s->op->result, &s->result));
}

/* Of a format with fewer exponents than double, as its smallest normal number tells. */
static bool is_normal(enum as_op_type type, double x)
{
    const double least = type == AS_OP_F16 ? 0x1p-14 : type == AS_OP_F64 ? 0x1p-1022 : 0x1p-126;
    return isfinite(x) && (x == 0 || fabs(x) >= least);
}

static void check_normal(const struct step *s)
{
    const double a = number(s->op->type, &s->a), r = number(s->op->result, &s->result);
    if ((!is_integer(s->op->type) && !is_normal(s->op->type, a)) ||
        (!is_integer(s->op->result) && !is_normal(s->op->result, r)))
        fail_msg("%s in %s: %g of %g", s->op->name, as_native_width_words[s->native->width], r, a);
}

/* A chain of single steps in the first lane, as the bodies run it: second operands in turn, then the link. */
static void check_chain(const struct as_native *n, const struct as_op *op, struct as_rng *rng)
{
    struct as_native_operands x;
    unsigned char result[AS_NATIVE_SLOT];
    as_native_draw(n, op, rng, &x);
    for (unsigned i = 0; i < STEPS; i++) {
        struct step s = {.native = n, .op = op};
        struct as_native_operands turn = x;
        memcpy(turn.others[0], x.others[i % 2], AS_NATIVE_SLOT);
        memcpy(result, x.states[0], AS_NATIVE_SLOT);
        n->once(result, turn.others, 1);
        memcpy(&s.a, x.states[0], as_op_bytes(op->type));
        memcpy(&s.b, turn.others[0], as_op_bytes(op->btype));
        memcpy(&s.result, result, as_op_bytes(op->result));
        if (n->values)
            check_values(&s);
        check_normal(&s);
        n->step(x.states[0], turn.others, 1);
    }
}

UNIT_TEST(test_chains_keep_their_operands)
{
    size_t with_note = 0, all = 0;
    struct as_rng rng;
    as_rng_seed(&rng, 11);
    for (const struct as_native *n = as_natives; n->op; n++) {
        const struct as_op *op = as_op_find(n->op);
        if (!op->reference || !native_can_run(n))
            continue;
        for (unsigned i = 0; i < DRAWS; i++)
            check_chain(n, op, &rng);
        with_note += n->values != NULL;
        all++;
    }
    print_message("%zu of %zu have a note\n", with_note, all);
    if (!as_natives[0].op)
        skip();
    assert_true(with_note > 0);
}

/* The time of divisions and roots depends on their operands, which their cells note. */
UNIT_TEST(test_values_are_noted)
{
    size_t divisions = 0;
    for (const struct as_native *n = as_natives; n->op; n++)
        if (strstr(n->wanted, "div") || strstr(n->wanted, "sqrt")) {
            const bool estimate = strstr(n->wanted, "rsqrt") != NULL;
            if (!n->values != estimate)
                fail_msg("%s in %s", n->op, as_native_width_words[n->width]);
            divisions++;
        }
    assert_true(divisions > 0 || !as_natives[0].op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_keep_their_operands),
        cmocka_unit_test(test_values_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
