/* Operations: the table, known answers of the references, and the gate on machine code. */
#include "lib/ops/code.h"
#include "lib/ops/ops_reference.h"
#include "lib/ops/trial.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

UNIT_TEST(test_table)
{
    assert_true(as_ops_n > 0);
    for (size_t i = 0; i < as_ops_n; i++) {
        const struct as_op *op = &as_ops[i];
        assert_string_equal(as_op_words[i], op->name);
        assert_ptr_equal(as_op_find(op->name), op);
        assert_string_equal(as_op_about[i].name, op->name);
        if (!op->dialects && strcmp(op->kind, "core") != 0) /* only for native CPU instructions */
            fail_msg("no dialect has %s", op->name);
        assert_true(op->args >= 1 && op->args <= 3);
        assert_true((op->reference != NULL) != (op->group_reference != NULL));
        assert_true(!op->link || as_op_find(op->link));
        if (op->weave && (op->btype != op->type || (op->result != op->type && !op->link)))
            fail_msg("%s takes its own results in two places, of different types", op->name);
    }
    assert_null(as_op_about[as_ops_n].name);
    assert_null(as_op_words[as_ops_n]);
    assert_null(as_op_find("ffma33"));
}

/* Operands lie in their domain, and the rotating operands keep chains near their start. */
UNIT_TEST(test_operands)
{
    struct as_rng rng;
    as_rng_seed(&rng, 1);
    for (unsigned i = 0; i < 4000; i++) {
        union as_op_value v, w;
        as_op_draw(AS_OP_UNIT, AS_OP_F32, i, &rng, &v);
        assert_true(v.f32 >= 1 && v.f32 <= 2);
        as_op_draw(AS_OP_HALF, AS_OP_F64, i, &rng, &v);
        assert_true(v.f64 >= 0.25 && v.f64 <= 0.75);
        as_op_draw(AS_OP_DIVISOR, AS_OP_I32, i, &rng, &v);
        assert_in_range(v.u32, 3, 17);
        as_op_draw(AS_OP_ODD, AS_OP_I64, i, &rng, &v);
        assert_true(v.u64 & 1);
        as_op_draw(AS_OP_UNIT, AS_OP_F16X2, i, &rng, &v);
        assert_true(as_op_get_f16(&v, 0) >= 1 && as_op_get_f16(&v, 1) >= 1);
        as_op_draw(AS_OP_OPPOSITE, AS_OP_F32, 0, &rng, &v);
        as_op_draw(AS_OP_OPPOSITE, AS_OP_F32, 1, &rng, &w);
        assert_true(v.f32 + w.f32 == 0);
    }
}

/* ---- references ---- */

static union as_op_value evaluate(const char *name, union as_op_value a, union as_op_value b, union as_op_value c)
{
    const union as_op_value abc[3] = {a, b, c};
    union as_op_value r = {0};
    const struct as_op *op = as_op_find(name);
    assert_non_null(op);
    op->reference(abc, &r);
    return r;
}
#define I(x) ((union as_op_value){.u32 = (x)})
#define L(x) ((union as_op_value){.u64 = (x)})
#define F(x) ((union as_op_value){.f32 = (x)})
#define D(x) ((union as_op_value){.f64 = (x)})

UNIT_TEST(test_known_answers)
{
    assert_int_equal(evaluate("iaddsat32", I(0x7fffffff), I(1), I(0)).u32, 0x7fffffff);
    assert_int_equal(evaluate("iaddsat32", I(0x80000000), I(0xffffffff), I(0)).u32, 0x80000000);
    assert_int_equal(evaluate("imulhi32", I(0xffffffff), I(0xffffffff), I(0)).u32, 0xfffffffe);
    assert_true(evaluate("imulhi64", L(UINT64_MAX), L(UINT64_MAX), L(0)).u64 == UINT64_MAX - 1);
    assert_true(evaluate("imulhi64", L(UINT64_C(0x123456789abcdef0)), L(UINT64_C(0xfedcba9876543210)), L(0)).u64 ==
                UINT64_C(0x121fa00ad77d7422));
    assert_true(evaluate("imulw32", I(0xffffffff), I(2), I(0)).u64 == UINT64_C(0x1fffffffe));
    assert_int_equal(evaluate("idp4a32", I(0x01020304), I(0x01010101), I(10)).u32, 20);
    assert_int_equal(evaluate("brev32", I(1), I(0), I(0)).u32, 0x80000000);
    assert_int_equal(evaluate("popc32", I(0xf0f00001), I(0), I(0)).u32, 9);
    assert_int_equal(evaluate("perm32", I(0x33221100), I(0x77665544), I(0x0741)).u32, 0x00774411);
    assert_int_equal(evaluate("funnel32", I(0x80000000), I(1), I(31)).u32, 3);
    assert_int_equal(evaluate("bfi32", I(0x1fff), I(0), I(0)).u32, 0x1fff << 7);
    assert_int_equal(evaluate("bfidyn32", I(0xffffffff), I(0), I(9)).u32, 0x1fff << 9);
    assert_int_equal(evaluate("bfilen32", I(0), I(0xffffffff), I(9)).u32, ~(0x1ffu << 7));
    assert_int_equal(evaluate("interleave16", I(0xffff), I(3), I(0)).u32, 0x5555555f);
    assert_int_equal(evaluate("imulhi16", I(0xffff), I(0xffff), I(0)).u16, 0xfffe);
    assert_int_equal(evaluate("imadhi16", I(0xffff), I(0xffff), I(3)).u16, 1);
    assert_int_equal(evaluate("imulw16", I(0xffff), I(0xffff), I(0)).u32, 0xfffe0001);
    assert_int_equal(evaluate("imadw32", I(0x20003), I(5), I(0)).u32, 0x20003 + 15);
    assert_true(evaluate("imulmix64", L(UINT64_C(1) << 40), I(5), L(0)).u64 == UINT64_C(5) << 40);
    assert_true(evaluate("imadmix64", L(UINT64_C(1) << 40), I(5), L(7)).u64 == (UINT64_C(5) << 40 | 7));
    assert_true(evaluate("iaddmix64", L(UINT32_MAX), I(1), L(0)).u64 == UINT64_C(1) << 32);
    assert_int_equal(evaluate("exponent32", F(12), F(0), F(0)).u32, 4);
    assert_int_equal(evaluate("brev16", I(1), I(0), I(0)).u16, 0x8000);
    assert_true(evaluate("ffma32", F(1 + 0x1p-12f), F(1 + 0x1p-12f), F(-1 - 0x1p-11f)).f32 == 0x1p-24f);
    assert_true(evaluate("fmuladd32", F(1 + 0x1p-12f), F(1 + 0x1p-12f), F(-1 - 0x1p-11f)).f32 == 0);
    assert_true(evaluate("fmed32", F(3), F(1), F(2)).f32 == 2);
    assert_true(evaluate("fdiv64", D(4), D(3), D(0)).f64 == 0.75);
    /* 1 + 2^-11 lies between two f16: rounds to the even one; 65520 is the first that overflows. */
    assert_int_equal(evaluate("cvt_f32_f16", F(1 + 0x1p-11f), F(0), F(0)).u16, 0x3c00);
    assert_int_equal(evaluate("cvt_f32_f16", F(1 + 3 * 0x1p-11f), F(0), F(0)).u16, 0x3c02);
    assert_int_equal(evaluate("cvt_f32_f16", F(65519), F(0), F(0)).u16, 0x7bff);
    assert_int_equal(evaluate("cvt_f32_f16", F(65520), F(0), F(0)).u16, 0x7c00);
    assert_int_equal(evaluate("cvt_f32_f16", F(0x1p-24f), F(0), F(0)).u16, 1);
    assert_int_equal(evaluate("cvt_f32_bf16", F(1 + 0x1p-8f), F(0), F(0)).u16, 0x3f80);
    assert_int_equal(evaluate("cvt_f32x2_e4m3x2", F(1000), F(-1.0625f), F(0)).u16, 0x7eb8);
    assert_int_equal(evaluate("cvt_f32x2_e5m2x2", F(1e9f), F(1.125f), F(0)).u16, 0x7b3c);
    assert_int_equal(evaluate("cvt_i32_i16", I(40000), I(0), I(0)).u16, 32767);
    assert_int_equal(evaluate("ffma2_f16", I(0x40003c00), I(0x40003c00), I(0x3c003c00)).u32, 0x45004000);
}

/* Each lane's result is the sum of its own four, and of all; in groups of 64 only the first 32 lanes have bits. */
UNIT_TEST(test_of_larger_groups)
{
    union as_op_value v[AS_OP_GROUP_MOST][3] = {{{0}}}, r = {0};
    const union as_op_value(*all)[3] = (const union as_op_value(*)[3])v;
    for (unsigned i = 0; i < AS_OP_GROUP_MOST; i++)
        v[i][0].f32 = (float)i;
    as_op_find("quad_sum32")->group_reference(all, 42, AS_OP_GROUP_MOST, &r);
    assert_true(r.f32 == 40 + 41 + 42 + 43);
    as_op_find("sum32")->group_reference(all, 42, AS_OP_GROUP_MOST, &r);
    assert_true(r.f32 == 2016);
    as_op_find("prefix_fesum32")->group_reference(all, 42, AS_OP_GROUP_MOST, &r);
    assert_true(r.f32 == 41 * 21);
}

UNIT_TEST(test_of_lanes)
{
    union as_op_value v[32][3] = {{{0}}}, r = {0};
    const union as_op_value(*all)[3] = (const union as_op_value(*)[3])v;
    for (unsigned i = 0; i < 32; i++)
        v[i][0].u32 = i + 1;
    as_op_find("ballot32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 0x55555555);
    as_op_find("match_any32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 1 << 3);
    for (unsigned i = 0; i < 32; i++)
        v[i][1].u32 = 8;
    as_op_find("icmp_ballot32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 0x7f);
    as_op_find("reduce_add32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 528);
    as_op_find("prefix_sum32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 10);
    as_op_find("prefix_esum32")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u32, 6);
    as_op_find("prefix_eprod32")->group_reference(all, 0, 32, &r);
    assert_int_equal(r.u32, 1);
    as_op_find("prefix_prod16")->group_reference(all, 3, 32, &r);
    assert_int_equal(r.u16, 24);
    as_op_find("quad_prefix_sum32")->group_reference(all, 6, 32, &r);
    assert_int_equal(r.u32, 5 + 6 + 7);
    as_op_find("quad_reduce_mul32")->group_reference(all, 6, 32, &r);
    assert_int_equal(r.u32, 5 * 6 * 7 * 8);
    as_op_find("quad_ballot32")->group_reference(all, 6, 32, &r);
    assert_int_equal(r.u32, 5);
    as_op_find("shuffle_rotate32")->group_reference(all, 31, 32, &r);
    assert_int_equal(r.u32, 1);
    as_op_find("quad_rotate32")->group_reference(all, 7, 32, &r);
    assert_int_equal(r.u32, 5);
    as_op_find("shuffle_up32")->group_reference(all, 0, 32, &r);
    assert_int_equal(r.u32, 1);
    for (unsigned i = 0; i < 32; i++)
        v[i][0].f32 = (float)i;
    as_op_find("sum32")->group_reference(all, 7, 32, &r);
    assert_true(r.f32 == 496);
    as_op_find("quad_sum32")->group_reference(all, 7, 32, &r);
    assert_true(r.f32 == 22);
}

/* Of the results of a lane some differ, and its operands from its neighbour's: else a constant, or another lane's
 * value, would pass for the operation. */
static void operands_can_tell(const struct as_op *op, unsigned lanes, struct as_rng *rng)
{
    enum { DRAWS = 64 };
    union as_op_value v[AS_OP_GROUP_MOST][3], r[DRAWS] = {{0}};
    const union as_op_value(*const all)[3] = (const union as_op_value(*)[3])v;
    bool differ = false, apart = false;
    for (int draw = 0; draw < DRAWS; draw++) {
        for (unsigned l = 0; l < lanes; l++) {
            as_op_draw(op->a, op->type, 0, rng, &v[l][0]);
            as_op_draw(op->b, op->btype, 0, rng, &v[l][1]);
            apart = apart || memcmp(&v[l][0], &v[0][0], sizeof v[l][0]) != 0;
        }
        op->group_reference(all, lanes - 1, lanes, &r[draw]);
        differ = differ || memcmp(&r[draw], &r[0], sizeof r[draw]) != 0;
    }
    if (!differ || !apart)
        fail_msg("%s of %u lanes: %s", op->name, lanes, differ ? "all have the same operands" : "it has one result");
}

static bool is_match(const struct as_op *op)
{
    return strncmp(op->name, "match_", 6) == 0;
}

/* A match takes the longer the more different values the lanes have: they are as many with every seed, and after
 * every step. */
UNIT_TEST(test_values_of_matches)
{
    enum { LANES = 32, SEEDS = 20, STEPS = 8 };
    for (const struct as_op *op = as_ops; op->name; op++)
        for (unsigned seed = 0; is_match(op) && seed < SEEDS; seed++) {
            union as_op_value v[LANES][3] = {{{0}}}, r[LANES] = {{0}};
            struct as_rng rng;
            as_rng_seed(&rng, seed);
            for (unsigned l = 0; l < LANES; l++)
                as_op_draw(op->a, op->type, l % 4, &rng, &v[l][0]);
            for (unsigned step = 0; step < STEPS; step++) {
                for (unsigned l = 0; l < LANES; l++)
                    op->group_reference((const union as_op_value(*)[3])v, l, LANES, &r[l]);
                const unsigned equal = (unsigned)__builtin_popcount(r[0].u32);
                assert_true(equal == 1 || equal == LANES);
                for (unsigned l = 0; l < LANES; l++) {
                    assert_int_equal(__builtin_popcount(r[l].u32), equal);
                    v[l][0].u32 = r[l].u32 ^ 0x5a5a5a5a;
                }
            }
        }
}

/* powf returns early for a base of 1, and for results that overflow. */
UNIT_TEST(test_powers_stay_on_one_path)
{
    enum { SEEDS = 20, STEPS = 10000 };
    const struct as_op *op = as_op_find("pow32_precise");
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        union as_op_value v[3] = {{0}}, b[4];
        struct as_rng rng;
        as_rng_seed(&rng, seed);
        as_op_draw(op->a, op->type, 0, &rng, &v[0]);
        for (unsigned i = 0; i < 4; i++)
            as_op_draw(op->b, op->btype, i, &rng, &b[i]);
        for (unsigned step = 0; step < STEPS; step++) {
            v[1] = b[step % 4];
            op->reference(v, &v[0]);
            assert_true(v[0].f32 > 1 && v[0].f32 < 4);
        }
    }
}

UNIT_TEST(test_operands_of_lanes)
{
    struct as_rng rng;
    as_rng_seed(&rng, 3);
    for (size_t i = 0; i < as_ops_n; i++)
        for (unsigned lanes = 8; as_ops[i].group_reference && !is_match(&as_ops[i]) && lanes <= AS_OP_GROUP_MOST;
             lanes *= 2)
            operands_can_tell(&as_ops[i], lanes, &rng);
}

/* One wrong bit is detected if results are exact; within a tolerance it is not. */
UNIT_TEST(test_agreement)
{
    const union as_op_value abc[1][3] = {{I(5), I(7), I(0)}};
    const struct as_op *add = as_op_find("iadd32"), *rsqrt = as_op_find("rsqrt32");
    union as_op_value r = I(12);
    char why[256] = "";
    assert_true(as_op_agrees(add, AS_DIALECT_CUDA, abc, 0, 1, &r, why, sizeof why));
    r.u32 = 13;
    assert_false(as_op_agrees(add, AS_DIALECT_CUDA, abc, 0, 1, &r, why, sizeof why));
    assert_string_equal(why, "iadd32 of 0x5, 0x7 gave 0xd, not 0xc");
    const union as_op_value four[1][3] = {{F(4), F(0), F(0)}};
    for (int compute_units = 0; compute_units < 8; compute_units++) {
        r.f32 = 0.5f + (float)compute_units * 0x1p-24f;
        bool agrees = as_op_agrees(rsqrt, AS_DIALECT_CUDA, four, 0, 1, &r, why, sizeof why);
        assert_int_equal(agrees, compute_units <= rsqrt->ulp[AS_DIALECT_CUDA]);
    }
    r.f32 = NAN;
    assert_false(as_op_agrees(rsqrt, AS_DIALECT_CUDA, four, 0, 1, &r, why, sizeof why));
    const union as_op_value three[1][3] = {{F(1), F(0.5f), F(0.25f)}};
    r.f32 = 1;
    assert_false(as_op_agrees(as_op_find("ffma32"), AS_DIALECT_CUDA, three, 0, 1, &r, why, sizeof why));
    assert_string_equal(why, "ffma32 of 0x3f800000, 0x3f000000, 0x3e800000 gave 1 (0x3f800000), not 0.75 (0x3f400000)");
}

/* ---- machine code ---- */

static void set_count(struct as_instructions *list, const char *name, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        as_instructions_add(list, name);
}

/* For an operation whose steps require one of these. */
static bool code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                        const char *wanted, char *text, size_t size)
{
    struct as_op op = *as_op_find("ffma32");
    double each;
    op.sass = wanted;
    const struct as_op_sequence alone = as_op_alone(&op, 0);
    return as_op_code_agrees(half, whole, steps, &alone, AS_DIALECT_CUDA, &each, text, size);
}

UNIT_TEST(test_code)
{
    static struct as_instructions half, whole;
    char text[160];
    half.n = whole.n = 0;
    set_count(&half, "FFMA", 50);
    set_count(&half, "BRA", 3);
    set_count(&whole, "FFMA", 98);
    set_count(&whole, "BRA", 3);
    assert_true(code_agrees(&half, &whole, 48, "FFMA", text, sizeof text));
    assert_string_equal(text, "each step is 1 FFMA");
    assert_true(code_agrees(&half, &whole, 48, NULL, text, sizeof text));
    /* strength reduction: another instruction */
    assert_false(code_agrees(&half, &whole, 48, "MUFU", text, sizeof text));
    assert_non_null(strstr(text, "MUFU"));
    /* two steps merged */
    assert_false(code_agrees(&half, &whole, 96, "FFMA", text, sizeof text));
    /* folded to a constant */
    assert_false(code_agrees(&half, &half, 48, "FFMA", text, sizeof text));
    assert_string_equal(text, "the compiler removed the steps");
    /* names must match whole words */
    assert_false(code_agrees(&half, &whole, 48, "FFMA2 XFFMA", text, sizeof text));
    /* an instruction that the long body has fewer of does not reduce the others */
    set_count(&half, "PRMT", 9);
    set_count(&whole, "PRMT", 2);
    assert_true(code_agrees(&half, &whole, 48, NULL, text, sizeof text));
    assert_string_equal(text, "each step is 1 FFMA");
    /* compilers alternate between equivalent instructions */
    set_count(&half, "IADD3", 20);
    set_count(&whole, "IADD3", 45);
    set_count(&half, "IMAD.IADD", 24);
    set_count(&whole, "IMAD.IADD", 47);
    assert_true(code_agrees(&half, &whole, 96, "FFMA IADD3 IMAD.IADD", text, sizeof text));
    assert_non_null(strstr(text, "IADD3"));
    assert_non_null(strstr(text, "IMAD.IADD"));
    assert_false(code_agrees(&half, &whole, 96, "FFMA IADD3", text, sizeof text));
    /* more names than fit are still counted */
    for (unsigned i = 0; i < 2 * AS_INSTRUCTIONS_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "N%u", i);
        as_instructions_add(&half, name);
    }
    assert_int_equal(half.n, AS_INSTRUCTIONS_MAX);
    assert_true(as_instructions_of(&half, "others") > AS_INSTRUCTIONS_MAX);
}

/* ---- sequences ---- */

UNIT_TEST(test_sequences)
{
    static const struct {
        const char *text;
        enum as_status status;
    } wrong[] = {
        {"", AS_USAGE},
        {"ffma32+", AS_USAGE},
        {"ffma33", AS_UNSUPPORTED},
        {"0*ffma32", AS_USAGE},
        {"17*ffma32", AS_USAGE},
        {"ffma32+18446744073709551615*iadd32", AS_USAGE},
        {"ffma32+-1*iadd32", AS_UNSUPPORTED},
        {"fadd32+fmul32+ffma32+iadd32+imul32+xor32+and32", AS_USAGE},
    };
    struct as_op_sequence s;
    struct as_error err = {0};
    assert_int_equal(as_op_sequence_parse("imul32+3*ffma32+2*imul32", &s, &err), AS_OK);
    assert_int_equal(s.n, 2);
    assert_ptr_equal(s.part[0].op, as_op_find("imul32"));
    assert_int_equal(s.part[0].count, 3);
    assert_int_equal(s.part[1].count, 3);
    assert_int_equal(as_op_sequence_count(&s), 6);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (as_op_sequence_parse(wrong[i].text, &s, &err) != wrong[i].status)
            fail_msg("'%s'", wrong[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_of_lanes),
        cmocka_unit_test(test_operands_of_lanes),
        cmocka_unit_test(test_values_of_matches),
        cmocka_unit_test(test_powers_stay_on_one_path),
        cmocka_unit_test(test_of_larger_groups),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
