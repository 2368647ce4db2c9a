/* Experiments on software matrix units with known arithmetic: they must find it. */
#include "lib/mma/discovery/find.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known {
    const char *name, *a, *b, *c;
    unsigned k;
    struct as_arithmetic how; /* how.nan 0: as the format defines */
    double overflow;          /* its value; 0: cannot be observed */
};

/* By default, ties go to even. */
#define CUT .cut = AS_ROUND_TOWARD_ZERO
#define STEPS(products, bits) .step = products, .kept = bits
#define NVIDIA(products, bits) STEPS(products, bits), CUT, .result = AS_ROUND_TOWARD_ZERO
#define FMA .step = 1, CUT
#define INF AS_OVERFLOW_VALUE_INFINITY
#define LARGEST AS_OVERFLOW_VALUE_LARGEST
#define NEVER 0

static const struct known compute_units[] = {
    {"binary64, one after another", "f64", "f64", "f64", 4, {FMA}, INF},
    {"binary64, another format of operands", "f64", "f64", "f64", 8, {FMA, .zero_plus = true, .payload = true}, INF},
    {"as V100", "f16", "f16", "f32", 8, {NVIDIA(4, 23), .zero_plus = true, .nan = 0x7fffffff}, NEVER},
    {"as A100", "f16", "f16", "f32", 16, {NVIDIA(8, 24), .zero_plus = true, .nan = 0x7fffffff}, NEVER},
    {"as H100", "f16", "f16", "f32", 16, {NVIDIA(16, 25), .nan = 0x7fffffff}, NEVER},
    {"bf16 with overflow to infinity",
     "bf16",
     "bf16",
     "f32",
     16,
     {NVIDIA(8, 24), .overflow = AS_OVERFLOW_INFINITY},
     INF},
    {"bf16 with overflow as rounded", "bf16", "bf16", "f32", 16, {NVIDIA(8, 24)}, LARGEST},
    {"bf16 that saturates", "bf16", "bf16", "f32", 8, {NVIDIA(8, 24), .overflow = AS_OVERFLOW_CLAMP}, LARGEST},
    {"tf32", "tf32", "tf32", "f32", 8, {NVIDIA(4, 24)}, LARGEST},
    {"e4m3 as H100", "e4m3", "e4m3", "f32", 32, {NVIDIA(32, 13), .digits = 13, .nan = 0x7fffffff}, NEVER},
    {"e4m3 and e5m2", "e4m3", "e5m2", "f32", 32, {NVIDIA(16, 13), .digits = 13}, NEVER},
    {"e5m2, sum stored whole", "e5m2", "e5m2", "f32", 32, {NVIDIA(32, 13)}, NEVER},
    {"e5m2 to f16", "e5m2", "e5m2", "f16", 32, {STEPS(32, 13), CUT}, INF},
    {"f16 to f16", "f16", "f16", "f16", 16, {STEPS(8, 24), CUT}, INF},
    {"f16 to f16, saturating", "f16", "f16", "f16", 16, {FMA, .overflow = AS_OVERFLOW_CLAMP}, LARGEST},
    {"one after another", "bf16", "bf16", "f32", 16, {FMA}, INF},
    {"one after another, toward zero",
     "f16",
     "f16",
     "f32",
     8,
     {.step = 1, .result = AS_ROUND_TOWARD_ZERO, .cut = AS_ROUND_TOWARD_ZERO},
     NEVER},
    {"one after another, up",
     "bf16",
     "bf16",
     "f32",
     8,
     {.step = 1, .result = AS_ROUND_UP, .cut = AS_ROUND_TOWARD_ZERO, .overflow = AS_OVERFLOW_INFINITY},
     INF},
    {"one after another, down",
     "f16",
     "f16",
     "f32",
     8,
     {.step = 1, .result = AS_ROUND_DOWN, .cut = AS_ROUND_TOWARD_ZERO},
     NEVER},
    {"one after another, ties away",
     "f16",
     "f16",
     "f32",
     8,
     {.step = 1, .result = AS_ROUND_NEAREST_AWAY, .cut = AS_ROUND_TOWARD_ZERO},
     NEVER},
    {"accumulator last", "bf16", "bf16", "f32", 8, {FMA, .start = AS_START_LAST}, INF},
    {"a narrow accumulator", "f16", "f16", "f32", 8, {FMA, .digits = 13}, NEVER},
    {"three guard bits", "f16", "f16", "f32", 8, {FMA, .kept = 26}, NEVER},
    {"cut to 13 before each addition", "f16", "f16", "f32", 8, {FMA, .kept = 13}, NEVER},
    {"pairs, subnormals flushed",
     "bf16",
     "bf16",
     "f32",
     16,
     {CUT, .step = 4, .inside = AS_SUM_PAIRS, .start = AS_START_EACH, .flush_a = true, .flush_b = true, .flush_c = true,
      .flush_d = true},
     INF},
    {"pairs of all",
     "f16",
     "f16",
     "f32",
     16,
     {CUT, .step = 16, .inside = AS_SUM_PAIRS, .start = AS_START_EACH, .flush_a = true, .flush_b = true},
     NEVER},
    {"sums of steps", "f16", "f16", "f32", 16, {NVIDIA(8, 24), .start = AS_START_EACH}, NEVER},
    {"steps, accumulator last", "f16", "f16", "f32", 16, {NVIDIA(4, 24), .start = AS_START_LAST}, NEVER},
    {"two sums, all flushed",
     "bf16",
     "bf16",
     "f32",
     32,
     {FMA, .sums = 2, .start = AS_START_LAST, .flush_a = true, .flush_b = true, .flush_c = true, .flush_d = true},
     INF},
    {"two sums of pairs of products", "f16", "f16", "f32", 4, {FMA, .sums = 2, .start = AS_START_LAST}, NEVER},
    {"four sums, four at once", "f16", "f16", "f32", 32, {NVIDIA(4, 24), .sums = 4, .start = AS_START_LAST}, NEVER},
    {"two at a time", "f16", "f16", "f32", 8, {NVIDIA(2, 24)}, NEVER},
    {"steps across", "f16", "f16", "f32", 8, {NVIDIA(4, 24), .of_step = {0, 1, 0, 1, 0, 1, 0, 1}}, NEVER},
    {"from the end", "bf16", "bf16", "f32", 8, {FMA, .of_step = {7, 6, 5, 4, 3, 2, 1, 0}}, INF},
    {"sum to nearest", "f16", "f16", "f32", 8, {STEPS(8, 26), CUT}, NEVER},
    {"sum to nearest, away", "f16", "f16", "f32", 8, {STEPS(8, 26), CUT, .result = AS_ROUND_NEAREST_AWAY}, NEVER},
    {"sum down", "f16", "f16", "f32", 8, {STEPS(8, 26), CUT, .result = AS_ROUND_DOWN}, NEVER},
    {"sum up", "f16", "f16", "f32", 8, {STEPS(8, 26), CUT, .result = AS_ROUND_UP}, NEVER},
    {"summands rounded",
     "f16",
     "f16",
     "f32",
     8,
     {STEPS(8, 23), .cut = AS_ROUND_NEAREST_EVEN, .result = AS_ROUND_TOWARD_ZERO},
     NEVER},
    {"summands cut as two's complements",
     "f16",
     "f16",
     "f32",
     8,
     {STEPS(8, 25), .cut = AS_ROUND_DOWN, .result = AS_ROUND_TOWARD_ZERO},
     NEVER},
    {"all digits kept", "f16", "f16", "f32", 8, {.step = 8, .kept = AS_KEPT_ALL, .cut = AS_ROUND_TOWARD_ZERO}, NEVER},
    {"products cut", "f16", "f16", "f32", 8, {NVIDIA(8, 24), .product = 16}, NEVER},
    {"a flushed", "f16", "f16", "f32", 8, {NVIDIA(8, 24), .flush_a = true}, NEVER},
    {"b flushed", "f16", "f16", "f16", 8, {FMA, .flush_b = true}, INF},
    {"accumulator flushed", "bf16", "bf16", "f32", 8, {FMA, .flush_c = true}, INF},
    {"result flushed", "bf16", "bf16", "f32", 8, {FMA, .flush_d = true}, INF},
    {"integers that wrap", "s8", "s8", "s32", 32, {.step = 32}, AS_OVERFLOW_VALUE_WRAPS},
    {"integers that saturate", "s8", "u8", "s32", 32, {.step = 32, .overflow = AS_OVERFLOW_CLAMP}, LARGEST},
    {"integers without sign", "u8", "u8", "s32", 32, {.step = 32}, AS_OVERFLOW_VALUE_WRAPS},
    {"e2m1", "e2m1", "e2m1", "f32", 64, {NVIDIA(64, 25)}, NEVER},
    {"aligned by factors", "f16", "f16", "f32", 16, {NVIDIA(16, 25), .by_factors = true}, NEVER},
    {"fp8 aligned by factors", "e4m3", "e4m3", "f32", 32, {NVIDIA(32, 13), .digits = 13, .by_factors = true}, NEVER},
};
enum { UNITS = sizeof compute_units / sizeof *compute_units };

static void start(const struct known *u, struct as_matrix_model *model)
{
    struct as_error err;
    struct as_arithmetic how = u->how;
    if (!how.nan)
        how.nan = as_number_nearest(as_number_format(u->c), NAN);
    assert_int_equal(as_matrix_model_start(model, u->a, u->b, u->c, 4, 3, u->k, &how, &err), AS_OK);
}

/* Experiments on each unit, once for all tests. */
static const struct as_matrix_found *found_of(size_t i)
{
    static struct as_matrix_found found[UNITS];
    static bool is_found[UNITS];
    struct as_matrix_model model;
    struct as_error err;
    start(&compute_units[i], &model);
    if (!is_found[i] && as_arithmetic_find(&model.unit, i + 1, &found[i], &err))
        fail_msg("%s: %s", compute_units[i].name, err.text);
    is_found[i] = true;
    return &found[i];
}

/* All units; under a sanitizer one of several, since the code is the same for all. */
static size_t next_of(size_t i)
{
    enum { BRIEF = 4 };
    return i + (getenv("ASSAY_BRIEF") ? BRIEF : 1);
}

static bool seen(const struct as_matrix_found *f, enum as_property p)
{
    return f->property[p].seen;
}

#define SAME(member)                                                                                                   \
    if (found->how.member != model->how.member)                                                                        \
    fail_msg("%s: " #member " is %llu, not %llu (%s; %s)", name, (unsigned long long)found->how.member,                \
             (unsigned long long)model->how.member, found->property[AS_PROPERTY_KEPT].text,                            \
             found->property[AS_PROPERTY_CUT].text)

static void same(const char *name, const struct as_matrix_found *found, const struct as_matrix_model *model)
{
    if (seen(found, AS_PROPERTY_STEP)) {
        SAME(step);
        SAME(inside);
        SAME(start);
        SAME(sums);
        SAME(kept);
        SAME(product);
        SAME(digits);
        assert_memory_equal(found->how.of_step, model->how.of_step, sizeof found->how.of_step);
    }
    if (seen(found, AS_PROPERTY_ALIGNED))
        SAME(by_factors);
    if (seen(found, AS_PROPERTY_CUT) && found->how.kept != AS_KEPT_ALL)
        SAME(cut);
    if (seen(found, AS_PROPERTY_ROUNDING))
        SAME(result);
    SAME(flush_a);
    SAME(flush_b);
    SAME(flush_c);
    SAME(flush_d);
    SAME(zero_plus);
    SAME(payload);
    SAME(nan);
}

UNIT_TEST(test_known)
{
    for (size_t i = 0; i < UNITS; i = next_of(i)) {
        struct as_matrix_model model;
        const struct as_matrix_found *found = found_of(i);
        start(&compute_units[i], &model);
        same(compute_units[i].name, found, &model);
        const struct as_property_found *o = &found->property[AS_PROPERTY_OVERFLOW];
        if (o->seen != (compute_units[i].overflow > 0) || (o->seen && o->value != compute_units[i].overflow))
            fail_msg("%s: overflow %s", compute_units[i].name, o->text);
        if (found->unequal || found->compared < 1000)
            fail_msg("%s: %s", compute_units[i].name, found->property[AS_PROPERTY_EXPLAINED].text);
    }
}

/* The properties that are printed. */
UNIT_TEST(test_numbers)
{
    static const struct {
        const char *name;
        enum as_property property;
        double value;
    } numbers[] = {
        {"binary64, one after another", AS_PROPERTY_ACCUMULATOR, 53},
        {"binary64, one after another", AS_PROPERTY_PRODUCT, 104},
        {"as H100", AS_PROPERTY_ACCUMULATOR, 24},
        {"as H100", AS_PROPERTY_PRODUCT, 20},
        {"as H100", AS_PROPERTY_KEPT, 25},
        {"as H100", AS_PROPERTY_CUT, AS_CUT_TOWARD_ZERO},
        {"as H100", AS_PROPERTY_ROUNDING, AS_CUT_TOWARD_ZERO},
        {"as H100", AS_PROPERTY_SUBNORMAL, 4},
        {"as H100", AS_PROPERTY_SPECIAL, 10},
        {"as H100", AS_PROPERTY_NAN, AS_NAN_VALUE_CANONICAL},
        {"as H100", AS_PROPERTY_ZERO, AS_ZERO_VALUE_IEEE},
        {"as A100", AS_PROPERTY_ZERO, AS_ZERO_VALUE_PLUS},
        {"e4m3 as H100", AS_PROPERTY_ACCUMULATOR, 14},
        {"e4m3 as H100", AS_PROPERTY_STEP, 32},
        {"e4m3 as H100", AS_PROPERTY_SUMS, 1},
        {"two sums, all flushed", AS_PROPERTY_STEP, 1},
        {"two sums, all flushed", AS_PROPERTY_SUMS, 2},
        {"two sums, all flushed", AS_PROPERTY_START, AS_START_VALUE_LAST},
        {"four sums, four at once", AS_PROPERTY_STEP, 4},
        {"a narrow accumulator", AS_PROPERTY_ACCUMULATOR, 14},
        {"f16 to f16", AS_PROPERTY_ACCUMULATOR, 11},
        {"f16 to f16", AS_PROPERTY_KEPT, 24},
        {"products cut", AS_PROPERTY_PRODUCT, 16},
        {"binary64, another format of operands", AS_PROPERTY_NAN, AS_NAN_VALUE_PAYLOAD},
        {"bf16 that saturates", AS_PROPERTY_SPECIAL, 7},
        {"integers that wrap", AS_PROPERTY_EXPLAINED, 100},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i = next_of(i)) {
        size_t u = 0;
        while (u < UNITS && strcmp(compute_units[u].name, numbers[i].name) != 0)
            u++;
        if (u == UNITS)
            fail_msg("no unit is called '%s'", numbers[i].name);
        const struct as_property_found *p = &found_of(u)->property[numbers[i].property];
        if (!p->seen || p->value != numbers[i].value)
            fail_msg("%s: %s is %g, not %g: %s", compute_units[u].name, as_properties[numbers[i].property].word,
                     p->value, numbers[i].value, p->text);
    }
}

/* ---- planted faults ---- */

UNIT_TEST(test_skipped_k)
{
    for (size_t i = 0; i < UNITS; i++) {
        struct as_matrix_model model;
        struct as_matrix_found found;
        struct as_error err;
        start(&compute_units[i], &model);
        model.skipped_k = compute_units[i].k;
        assert_int_equal(as_arithmetic_find(&model.unit, 1, &found, &err), AS_FAILED);
        assert_non_null(strstr(err.text, "small integers"));
    }
}

/* Another layout than documented: rows 0 and 1 of a exchanged, or columns of b, or c stored by columns. */
enum fault { SWAPPED_A, SWAPPED_B, TRANSPOSED_C };
struct faulty {
    struct as_matrix_model model;
    enum fault fault;
};

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t t = *a;
    *a = *b;
    *b = t;
}

static enum as_status multiply_wrong(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                                     uint64_t *d, struct as_error *err)
{
    const struct faulty *f = ctx;
    const struct as_matrix_unit *u = &f->model.unit;
    uint64_t x[4 * 32], y[32 * 3], z[4 * 3];
    for (size_t p = 0; p < count; p++) {
        memcpy(x, a + p * u->m * u->k, sizeof *x * u->m * u->k);
        memcpy(y, b + p * u->k * u->n, sizeof *y * u->k * u->n);
        memcpy(z, c + p * u->m * u->n, sizeof *z * u->m * u->n);
        for (unsigned k = 0; k < u->k && f->fault == SWAPPED_A; k++)
            swap(&x[k], &x[u->k + k]);
        for (unsigned k = 0; k < u->k && f->fault == SWAPPED_B; k++)
            swap(&y[k * u->n], &y[k * u->n + 1]);
        for (unsigned i = 0; i < u->m && f->fault == TRANSPOSED_C; i++)
            for (unsigned j = 0; j < u->n; j++)
                z[i * u->n + j] = c[p * u->m * u->n + j * u->m + i];
        enum as_status st = u->multiply(u->ctx, 1, x, y, z, d + p * u->m * u->n, err);
        if (st)
            return st;
    }
    return AS_OK;
}

UNIT_TEST(test_wrong_fragments)
{
    for (enum fault fault = SWAPPED_A; fault <= TRANSPOSED_C; fault++) {
        struct faulty f = {.fault = fault};
        struct as_matrix_found found;
        struct as_error err;
        start(&compute_units[3], &f.model);
        struct as_matrix_unit unit = f.model.unit;
        f.model.unit.ctx = &f.model;
        unit.multiply = multiply_wrong;
        unit.ctx = &f;
        assert_int_equal(as_arithmetic_find(&unit, 1, &found, &err), AS_FAILED);
    }
}

/* A unit with a narrower accumulator at one place, and one that adds in an order without a name. */
static enum as_status multiply_narrowed(void *ctx, size_t count, const uint64_t *a, const uint64_t *b,
                                        const uint64_t *c, uint64_t *d, struct as_error *err)
{
    const struct as_matrix_unit *u = &((struct as_matrix_model *)ctx)->unit;
    enum as_status st = u->multiply(ctx, count, a, b, c, d, err);
    for (size_t i = 0; i < count * u->m * u->n; i++)
        d[i] &= ~UINT64_C(7);
    return st;
}

UNIT_TEST(test_narrowed)
{
    struct as_matrix_model model;
    struct as_matrix_found found;
    struct as_error err;
    start(&compute_units[3], &model);
    struct as_matrix_unit unit = model.unit;
    unit.multiply = multiply_narrowed;
    assert_int_equal(as_arithmetic_find(&unit, 1, &found, &err), AS_OK);
    assert_true(found.property[AS_PROPERTY_ACCUMULATOR].value == 21);
    assert_true(found.property[AS_PROPERTY_KEPT].value == 24);
    /* Three digits are dropped from the result, not from intermediate sums: a model with one width does not explain
     * it. */
    assert_true(found.unequal > 0);
    assert_true(found.property[AS_PROPERTY_EXPLAINED].value < 100);
    assert_true(found.first[0] != '\0');
}

UNIT_TEST(test_refused)
{
    struct as_matrix_model model;
    struct as_matrix_found found;
    struct as_error err;
    struct as_arithmetic how = as_arithmetic_of_fma(as_number_format("f32"));
    assert_int_equal(as_matrix_model_start(&model, "f16", "f17", "f32", 8, 8, 8, &how, &err), AS_USAGE);
    assert_int_equal(as_matrix_model_start(&model, "f16", "f16", "f32", 8, 8, 512, &how, &err), AS_UNSUPPORTED);
    assert_int_equal(as_matrix_model_start(&model, "f16", "f16", "f32", 8, 8, 1, &how, &err), AS_OK);
    how.sums = 2;
    assert_int_equal(as_matrix_model_start(&model, "f16", "f16", "f32", 8, 8, 8, &how, &err), AS_USAGE);
    how.sums = 0;
    how.step = 0;
    assert_int_equal(as_matrix_model_start(&model, "f16", "f16", "f32", 8, 8, 8, &how, &err), AS_USAGE);
    how.step = 1;
    assert_int_equal(as_matrix_model_start(&model, "f16", "f16", "f32", 8, 8, 1, &how, &err), AS_OK);
    assert_int_equal(as_arithmetic_find(&model.unit, 1, &found, &err), AS_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),           cmocka_unit_test(test_numbers),  cmocka_unit_test(test_skipped_k),
        cmocka_unit_test(test_wrong_fragments), cmocka_unit_test(test_narrowed), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
