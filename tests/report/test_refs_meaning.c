/* Do published operations and those that stand beside them compute the same? Each published name has a definition
 * (refs_meanings.c), and both are evaluated on random operands. Which operand comes first, and signs and
 * absolute values of operands, cost an instruction nothing and do not count. Texts in each dialect are compared with
 * our reference by other tests. */
#include "report/operations/operations.h"
#include "tests/report/refs_meanings.h"
#include "tests/unit_test.h"

#include "base/clock.h"
#include "base/text.h"
#include "lib/ops/ops_reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 500, USED_MAX = 256 };

static uint64_t whole_of(enum as_op_type type, const union as_op_value *v)
{
    const size_t bytes = as_op_bytes(type);
    return bytes == 2 ? v->u16 : bytes == 4 ? v->u32 : v->u64;
}

/* Integers are signed here. */
static double real_of(enum as_op_type type, const union as_op_value *v)
{
    switch (type) {
    case AS_OP_F16:
        return as_op_get_f16(v, 0);
    case AS_OP_F32:
        return (double)v->f32;
    case AS_OP_F64:
        return v->f64;
    case AS_OP_I16:
        return (int16_t)v->u16;
    case AS_OP_I64:
        return (double)(int64_t)v->u64;
    default:
        return (int32_t)v->u32;
    }
}

static bool is_close(enum as_op_type type, double x, double y)
{
    const double share = type == AS_OP_F16 ? 0x1p-9 : type == AS_OP_F32 ? 0x1p-18 : 0x1p-48;
    return fabs(x - y) <= share * fmax(1, fabs(y));
}

static void draw(const struct as_op *op, unsigned turn, struct as_rng *rng, union as_op_value v[3])
{
    memset(v, 0, 3 * sizeof *v);
    as_op_draw(op->a, op->type, turn % 4, rng, &v[0]);
    as_op_draw(op->b, op->btype, turn % 4, rng, &v[1]);
    as_op_draw(op->c, op->ctype, turn % 4, rng, &v[2]);
    if (op->type == AS_OP_F32 && turn % 8 == 0) /* halves, which rounding modes treat differently */
        v[0].f32 = (float)(turn % 16) + 0.5f;
}

static bool agree_alone(const struct meaning *m, const struct as_op *op, const union as_op_value v[3])
{
    union as_op_value r = {0}, wanted = {0};
    if (!op->reference || (m->is_wide && as_op_bytes(op->result) != sizeof r.u64))
        return false;
    op->reference(v, &r);
    if (m->real)
        return is_close(op->result, real_of(op->result, &r),
                        m->real(real_of(op->type, &v[0]), real_of(op->btype, &v[1]), real_of(op->ctype, &v[2])));
    wanted.u64 = m->whole(whole_of(op->type, &v[0]), whole_of(op->btype, &v[1]), whole_of(op->ctype, &v[2]));
    return whole_of(op->result, &wanted) == whole_of(op->result, &r);
}

static bool agree_in_lanes(const struct meaning *m, const struct as_op *op, const lanes v)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        union as_op_value r = {0};
        if (!op->group_reference)
            return false;
        op->group_reference(v, lane, LANES, &r);
        const double got = op->result >= AS_OP_F16 ? real_of(op->result, &r) : (double)whole_of(op->result, &r);
        if (!is_close(op->result, got, m->of_lanes(v, lane)))
            return false;
    }
    return true;
}

static bool same_meaning(const struct meaning *m, const struct as_op *op)
{
    struct as_rng rng;
    lanes v;
    as_rng_seed(&rng, 7);
    for (unsigned i = 0; i < TIMES; i++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            draw(op, i, &rng, v[lane]);
        if (m->of_lanes ? !agree_in_lanes(m, op, (const union as_op_value(*)[3])v) : !agree_alone(m, op, v[0]))
            return false;
    }
    return true;
}

static const struct meaning *meaning_of(const char *group, const char *published)
{
    for (size_t i = 0; i < meanings_n; i++)
        if (strcmp(meanings[i].group, group) == 0 && strcmp(meanings[i].published, published) == 0)
            return &meanings[i];
    return NULL;
}

/* The operation that the report shows beside a published one. */
static const struct as_op *beside(const char *group, const char *published)
{
    struct as_ref ref = {.axes = ""};
    snprintf(ref.axes, sizeof ref.axes, "op=%s%s%s", published, group[0] ? " group=" : "", group);
    for (const struct as_op *op = as_ops; op->name; op++)
        if (as_ref_is_of(&ref, op->name))
            return op;
    return NULL;
}

static bool used[USED_MAX];

static void check_name(const char *group, const char *published)
{
    const struct as_op *op = beside(group, published);
    const struct meaning *m = op ? meaning_of(group, published) : NULL;
    if (!op)
        return;
    if (!m)
        fail_msg("'%s' stands beside '%s', and has no definition here", published, op->name);
    if (!used[m - meanings] && !same_meaning(m, op))
        fail_msg("'%s' stands beside '%s', which computes something else", published, op->name);
    used[m - meanings] = true;
}

UNIT_TEST(test_names)
{
    struct as_error err = {0};
    struct as_refs refs;
    for (size_t i = 0; as_refs_name(i); i++) {
        assert_int_equal(as_refs_load(as_refs_name(i), &refs, &err), AS_OK);
        for (size_t k = 0; k < refs.n; k++) {
            char name[sizeof refs.v->axes], group[sizeof refs.v->axes], *save = NULL;
            as_ref_axis(&refs.v[k], "group", group, sizeof group);
            as_ref_axis(&refs.v[k], "op", name, sizeof name);
            if (name[0])
                check_name(group, name);
            as_ref_axis(&refs.v[k], "mix", name, sizeof name);
            for (char *one = strtok_r(name, "+/", &save); one; one = strtok_r(NULL, "+/", &save))
                check_name("", one[0] >= '0' && one[0] <= '9' && strchr(one, '*') ? strchr(one, '*') + 1 : one);
        }
        as_refs_finish(&refs);
    }
    for (size_t i = 0; i < meanings_n; i++)
        if (!used[i])
            fail_msg("no figure stands beside an operation by the name '%s'", meanings[i].published);
}

/* Differences are detected. */
UNIT_TEST(test_differences)
{
    static const char *const pairs[][3] = {{"", "shl32", "rot32"},
                                           {"", "imad32_64", "imadw64"},
                                           {"", "bitwise32", "xor32"},
                                           {"", "imin32", "imax32"},
                                           {"", "rint32", "rndinf32"},
                                           {"", "imulw32", "imul32"},
                                           {"", "fadd32", "fmul32"},
                                           {"", "trunc32", "rint32"},
                                           {"simd", "ballot", "vote_any32"},
                                           {"quad", "sum_f32", "sum32"},
                                           {"simd", "prefix_isum_i32", "prefix_esum32"},
                                           {"simd", "prefix_eprod_f32", "prefix_fprod32"},
                                           {"quad", "prefix_esum_f32", "quad_prefix_fsum32"},
                                           {"", "bfidyn32", "bfilen32"},
                                           {"simd", "shuffle_norotate32", "shuffle_up32"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct meaning *m = meaning_of(pairs[i][0], pairs[i][1]);
        const struct as_op *op = as_op_find(pairs[i][2]);
        assert_non_null(m);
        assert_non_null(op);
        if (same_meaning(m, op))
            fail_msg("'%s' and '%s' differ", pairs[i][1], pairs[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
