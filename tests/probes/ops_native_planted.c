/* Planted errors that the checks of native rows must find: a wrong reference, a chain broken by a constant, a body with
 * fewer steps, other instructions, other lanes. */
#include "native_rows.h"
#include "tests/unit_test.h"

#include <string.h>

static const struct as_native *adds;
static const struct as_native_body *chain_of_adds;

static bool check_with_bodies(const struct as_op *op, as_native_run *half, as_native_run *whole, char *why, size_t size)
{
    struct as_native_body body = *chain_of_adds;
    body.half = half ? half : body.half;
    body.whole = whole ? whole : body.whole;
    return as_native_check(adds, op, &body, 5, why, size);
}

/* In the long body one add of each turn adds a constant instead of the chain. */
static void broken(void *states, const void *operands, uint64_t turns)
{
    uint64_t x = 0, b[2 * AS_NATIVE_SLOT / sizeof(uint64_t)];
    memcpy(b, operands, sizeof b);
    for (uint64_t t = 0; t < turns; t++)
        for (unsigned s = 0; s < chain_of_adds->steps; s++)
            x = (s == 7 ? 42 : x) + b[s % 2 ? AS_NATIVE_SLOT / sizeof(uint64_t) : 0];
    memcpy(states, &x, sizeof x);
}

static void fewer(void *states, const void *operands, uint64_t turns)
{
    chain_of_adds->half(states, operands, turns);
}

UNIT_TEST(test_planted_errors)
{
    char why[256] = "";
    adds = as_native_find("iadd64", AS_NATIVE_SCALAR);
    if (!adds)
        skip();
    chain_of_adds = as_native_body(adds, 1);
    const struct as_op *right = as_op_find("iadd64");
    struct as_op wrong = *right;
    assert_true(check_with_bodies(right, NULL, NULL, why, sizeof why));
    wrong.reference = as_op_find("imul64")->reference;
    assert_false(check_with_bodies(&wrong, NULL, NULL, why, sizeof why));
    assert_non_null(strstr(why, "gave 0x"));
    assert_false(check_with_bodies(right, NULL, broken, why, sizeof why));
    assert_non_null(strstr(why, "long body"));
    assert_false(check_with_bodies(right, NULL, fewer, why, sizeof why));
    assert_non_null(strstr(why, "long body"));
    assert_false(check_with_bodies(right, chain_of_adds->whole, NULL, why, sizeof why));
    assert_non_null(strstr(why, "short body"));
}

/* The right one and the planted one, in every form that this CPU has. */
static const char *const operations[][2] = {
    {"shl32", "shr32"},
    {"shr32", "shl32"},
    {"rotl32", "shl32"},
    {"imin32", "imax32"},
    {"shuffle_up32", "shuffle_down32"},
    {"shuffle_xor32", "shuffle_up32"},
    {"prefix_sum32", "prefix_esum32"},
    {"prefix_esum32", "prefix_sum32"},
    {"prefix_fsum32", "prefix_fesum32"},
    {"reduce_and32", "reduce_or32"},
    {"reduce_min32", "reduce_max32"},
    {"quad_prefix_sum32", "quad_prefix_esum32"},
    {"shuffle_rotate32", "shuffle_xor32"},
    {"vote_all32", "vote_any32"},
    {"reduce_add64", "reduce_xor64"},
    {"reduce_min64", "reduce_max64"},
    {"reduce_and64", "reduce_or64"},
    {"ffmac32", "ffma32"},
    {"ffmac64", "ffma64"},
    {"idivshort32", "irem32"},
    {"idivshort64", "irem64"},
    {"irem64", "idiv64"},
    {"recip64_precise", "rsqrt64_precise"},
    {"rsqrt32_precise", "sqrt32_precise"},
    {"fract32", "trunc32"},
    {"fraction64", "recip64_precise"},
    {"fmed32", "fmin3_32"},
    {"fmax3_32", "fmed32"},
    {"imed32", "imax3_32"},
    {"imin3_32", "imed32"},
    {"iabsdiff32", "isub32"},
    {"imad32", "iadd3_32"},
    {"imulhi16", "imul16"},
    {"iabs64", "iadd64"},
    {"cvt_u8_f32", "cvt_i32_f32"},
    {"cvt_f32_bf16", "cvt_f32_f16"},
    {"fadd16", "fmul16"},
    {"ffma16", "ffmac16"},
    {"cvt_i16_f16", "brev16"},
};

/* Another shift, lane, scan or reduction than the one that is named: in every form that this CPU has. */
UNIT_TEST(test_planted_operations)
{
    size_t seen = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (const struct as_native *n = as_natives; n->op; n++) {
            char why[256] = "";
            const struct as_op *other = as_op_find(operations[i][1]);
            if (strcmp(n->op, operations[i][0]) != 0 || !native_can_run(n))
                continue;
            assert_non_null(other);
            struct as_op named = *as_op_find(n->op);
            named.reference = other->reference;
            named.group_reference = other->group_reference;
            if (as_native_check(n, &named, &n->bodies[0], 3, why, sizeof why))
                fail_msg("%s in %s passes for %s", n->op, as_native_width_words[n->width], operations[i][1]);
            if (!strstr(why, "gave "))
                fail_msg("%s for %s: %s", n->op, operations[i][1], why);
            seen++;
        }
    print_message("%zu planted\n", seen);
    if (!as_natives[0].op)
        skip();
    assert_true(seen > 0);
}

/* SVE: the last lane of a result, or of the last chain, is another lane's, at any vector length. */
static const struct as_native *sve;
static const struct as_native_body *sve_body;

static size_t sve_bytes(void)
{
    return as_cpu_features().sve_bytes;
}

static void wrong_lane(void *states, const void *operands, uint64_t turns)
{
    unsigned char *p = states;
    sve->once(states, operands, turns);
    memcpy(p + sve_bytes() - 8, p, 8);
}

static void wrong_chain(void *states, const void *operands, uint64_t turns)
{
    unsigned char *last = (unsigned char *)states + AS_NATIVE_SLOT * (sve_body->chains - 1);
    sve_body->whole(states, operands, turns);
    memcpy(last + sve_bytes() - 8, last, 8);
}

/* As if a vector had 128 bits. */
static void short_vectors(void *states, const void *operands, uint64_t turns)
{
    unsigned char before[AS_NATIVE_SLOT];
    memcpy(before, states, sizeof before);
    sve->once(states, operands, turns);
    memcpy((unsigned char *)states + 16, before + 16, sizeof before - 16);
}

UNIT_TEST(test_planted_lanes)
{
    char why[256] = "";
    sve = as_native_find("fadd64", AS_NATIVE_SVE);
    if (!sve || !native_can_run(sve)) {
        print_message("skipped: this CPU has no SVE\n");
        skip();
    }
    sve_body = as_native_body(sve, 0);
    assert_int_equal(sve_body->chains, AS_NATIVE_CHAINS);
    assert_int_equal(8 * as_native_lanes(sve), sve_bytes());
    const struct as_op *op = as_op_find("fadd64");
    struct as_native wrong = *sve;
    struct as_native_body body = *sve_body;
    assert_true(as_native_check(&wrong, op, &body, 5, why, sizeof why));
    wrong.once = wrong_lane;
    assert_false(as_native_check(&wrong, op, &body, 5, why, sizeof why));
    assert_non_null(strstr(why, "gave "));
    wrong.once = short_vectors;
    assert_true(as_native_check(&wrong, op, &body, 5, why, sizeof why) == (sve_bytes() == 16));
    wrong = *sve;
    body.whole = wrong_chain;
    assert_false(as_native_check(&wrong, op, &body, 5, why, sizeof why));
    assert_non_null(strstr(why, "long body"));
}

/* A body whose code lacks the steps, and one of another instruction. */
UNIT_TEST(test_planted_code)
{
    char text[200];
    adds = as_native_find("iadd64", AS_NATIVE_SCALAR);
    if (!adds || as_native_codes_why[0])
        skip();
    struct as_native_body body = *as_native_body(adds, 1);
    struct as_native other = *adds;
    body.steps *= 2;
    assert_int_equal(as_native_code_gate(adds, &body, text, sizeof text), AS_GATE_FAIL);
    body = *as_native_body(adds, 1);
    body.instructions = 2;
    assert_int_equal(as_native_code_gate(adds, &body, text, sizeof text), AS_GATE_FAIL);
    assert_non_null(strstr(text, "not 2"));
    body = *as_native_body(adds, 1);
    other.wanted = "lea";
    assert_int_equal(as_native_code_gate(&other, &body, text, sizeof text), AS_GATE_FAIL);
    assert_non_null(strstr(text, "expected"));
    body.name = "as_native_none";
    assert_int_equal(as_native_code_gate(adds, &body, text, sizeof text), AS_GATE_NA);
}

/* ---- subgroups ---- */

/* Is the first agreed to, and refused as the second? False: this CPU has it not in this width. */
static bool tells_apart(const char *name, const struct as_op *other, enum as_native_width width)
{
    char why[200];
    const struct as_native *n = as_native_find(name, width);
    if (!n || !native_can_run(n))
        return false;
    assert_true(as_native_check(n, as_op_find(name), &n->bodies[0], 1, why, sizeof why));
    if (as_native_check(n, other, &n->bodies[0], 1, why, sizeof why))
        fail_msg("%s in %s passes as %s", name, as_native_width_words[width], other->name);
    return true;
}

static const struct {
    const char *right, *wrong;
    enum as_native_width from;
} subgroups[] = {{"quad_up32", "quad_down32", AS_NATIVE_128},
                 {"quad_xor32", "quad_rotate32", AS_NATIVE_128},
                 {"shuffle_rotate32", "shuffle_xor32", AS_NATIVE_256},
                 {"prefix_esum32", "prefix_sum32", AS_NATIVE_128},
                 {"reduce_min32", "reduce_max32", AS_NATIVE_128},
                 {"reduce_add16", "reduce_xor16", AS_NATIVE_128},
                 {"prefix_esum16", "prefix_sum16", AS_NATIVE_128},
                 {"sum32", "product32", AS_NATIVE_128},
                 {"prefix_fesum32", "prefix_fsum32", AS_NATIVE_128},
                 {"reduce_fmin16", "reduce_fmax16", AS_NATIVE_128},
                 {"sum16", "product16", AS_NATIVE_128},
                 {"quad_sum32", "sum32", AS_NATIVE_256},
                 {"quad_reduce_add16", "reduce_add16", AS_NATIVE_128},
                 {"quad_prefix_sum16", "prefix_sum16", AS_NATIVE_128},
                 {"quad_reduce_fmin32", "quad_reduce_fmax32", AS_NATIVE_128},
                 {"quad_fup32", "quad_fdown32", AS_NATIVE_128},
                 {"quad_fup16", "quad_fdown16", AS_NATIVE_128},
                 {"quad_xor16", "quad_rotate16", AS_NATIVE_128},
                 {"fshuffle_rotate32", "fshuffle_xor32", AS_NATIVE_256},
                 {"prefix_prod32", "prefix_eprod32", AS_NATIVE_128},
                 {"prefix_eprod16", "prefix_prod16", AS_NATIVE_128},
                 {"prefix_fprod32", "prefix_feprod32", AS_NATIVE_128},
                 {"prefix_feprod16", "prefix_fprod16", AS_NATIVE_128},
                 {"prefix_fesum16", "prefix_fsum16", AS_NATIVE_128},
                 {"prefix_sum16", "quad_prefix_sum16", AS_NATIVE_128},
                 {"quad_prefix_prod16", "prefix_prod16", AS_NATIVE_128},
                 {"quad_prefix_eprod32", "quad_prefix_prod32", AS_NATIVE_128},
                 {"quad_prefix_fesum16", "quad_prefix_fsum16", AS_NATIVE_128},
                 {"quad_prefix_feprod16", "quad_prefix_fprod16", AS_NATIVE_128},
                 {"quad_reduce_min16", "reduce_min16", AS_NATIVE_128},
                 {"shuffle_up16", "quad_up16", AS_NATIVE_128},
                 {"shuffle_up32", "quad_up32", AS_NATIVE_256},
                 {"shuffle_down32", "quad_down32", AS_NATIVE_256},
                 {"shuffle_down16", "quad_down16", AS_NATIVE_128},
                 {"broadcast16", "quad_broadcast16", AS_NATIVE_128},
                 {"shuffle_xor16", "quad_xor16", AS_NATIVE_128},
                 {"shuffle_rotate16", "quad_rotate16", AS_NATIVE_128},
                 {"quad_vote_any32", "vote_any32", AS_NATIVE_256},
                 {"vote_any32", "vote_all32", AS_NATIVE_128},
                 {"quad_vote_all32", "quad_vote_any32", AS_NATIVE_128},
                 {"quad_ballot32", "ballot32", AS_NATIVE_256},
                 {"fcmp_ballot32", "quad_fcmp_ballot32", AS_NATIVE_256},
                 {"quad_icmp_ballot32", "quad_ballot32", AS_NATIVE_128},
                 {"fshuffle_up16", "quad_fup16", AS_NATIVE_128},
                 {"fbroadcast16", "quad_fbroadcast16", AS_NATIVE_128}};

/* A wrong direction, another lane, a scan that is exclusive where an inclusive one is meant, lanes of another size, and
 * quads where the whole register is meant, which are the same in 128 bits. */
UNIT_TEST(test_planted_subgroups)
{
    size_t ran = 0;
    for (size_t i = 0; i < sizeof subgroups / sizeof *subgroups; i++)
        for (unsigned w = subgroups[i].from; w <= AS_NATIVE_512; w++)
            ran += tells_apart(subgroups[i].right, as_op_find(subgroups[i].wrong), (enum as_native_width)w);
    if (!ran)
        skip();
}

static void always_0(const union as_op_value (*v)[3], unsigned lane, unsigned lanes, union as_op_value *r)
{
    (void)v, (void)lane, (void)lanes;
    r->u64 = 0;
}

static void always_1(const union as_op_value (*v)[3], unsigned lane, unsigned lanes, union as_op_value *r)
{
    (void)v, (void)lane, (void)lanes;
    r->u64 = 1;
}

/* Votes and bitwise reductions that have one result however many lanes there are. */
UNIT_TEST(test_planted_constants)
{
    size_t ran = 0;
    for (unsigned w = AS_NATIVE_128; w <= AS_NATIVE_512; w++)
        for (int i = 0; i < 2; i++) {
            struct as_op any = *as_op_find("vote_any32"), all = *as_op_find("vote_all32"), both;
            any.group_reference = all.group_reference = i ? always_1 : always_0;
            both = *as_op_find("reduce_and16");
            both.group_reference = always_0;
            ran += tells_apart("vote_any32", &any, (enum as_native_width)w);
            ran += tells_apart("vote_all32", &all, (enum as_native_width)w);
            ran += tells_apart("reduce_and16", &both, (enum as_native_width)w);
        }
    if (!ran)
        skip();
}

/* One lane after the other. */
static void sum_in_a_row(const union as_op_value (*v)[3], unsigned lane, unsigned lanes, union as_op_value *r)
{
    (void)lane;
    r->f32 = 0;
    for (unsigned i = 0; i < lanes; i++)
        r->f32 += v[i][0].f32;
}

/* f32 sums have an order: halves first. */
UNIT_TEST(test_planted_order)
{
    struct as_op other = *as_op_find("sum32");
    size_t ran = 0;
    other.group_reference = sum_in_a_row;
    for (unsigned w = AS_NATIVE_128; w <= AS_NATIVE_512; w++)
        ran += tells_apart("sum32", &other, (enum as_native_width)w);
    if (!ran)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_errors),    cmocka_unit_test(test_planted_operations),
        cmocka_unit_test(test_planted_lanes),     cmocka_unit_test(test_planted_code),
        cmocka_unit_test(test_planted_subgroups), cmocka_unit_test(test_planted_constants),
        cmocka_unit_test(test_planted_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
