/* A unit with two sums from zero, as Intel's manual defines TDPBF16PS (SDM, volume 2), independent of the model: the
 * experiments name its order, and the model that they find gives its results anywhere. Units with slightly different
 * orders are distinguished. */
#include "base/clock.h"
#include "f32_bits.h"
#include "lib/mma/discovery/find.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

enum sums_order {
    AS_THE_MANUAL, /* of the even and of the odd products; their sum is added to the accumulator */
    OF_HALVES,
    INTO_THE_EVEN,    /* the even sum begins with the accumulator */
    ONE_BY_ONE,       /* the even sum is added to the accumulator, then the odd one */
    ALL_BUT_THE_LAST, /* the last product is added to the even sum; the manual adds it to the odd one */
    SUMS_ORDERS
};
struct two_sums {
    struct as_matrix_unit unit; /* its ctx is this */
    enum sums_order order;
};

/* Inputs are flushed too. */
static float input(uint64_t code)
{
    return f32_flushed(f32_of(code));
}

/* k of a row, and of a column, n apart. */
static float add_two_sums(const struct two_sums *t, const uint64_t *a, const uint64_t *b, float c)
{
    const unsigned k = t->unit.k;
    float sum[2] = {t->order == INTO_THE_EVEN ? c : 0, 0};
    for (unsigned i = 0; i < k; i++) {
        unsigned to = t->order == OF_HALVES ? i >= k / 2 : i & 1;
        if (t->order == ALL_BUT_THE_LAST && i == k - 1)
            to = 0;
        sum[to] = f32_flushed(fmaf(input(a[i] << 16), input(b[(size_t)i * t->unit.n] << 16), sum[to]));
    }
    if (t->order == ONE_BY_ONE)
        return f32_flushed(f32_flushed(c + sum[0]) + sum[1]);
    float both = f32_flushed(sum[0] + sum[1]);
    return t->order == INTO_THE_EVEN ? both : f32_flushed(c + both);
}

static enum as_status multiply_two_sums(void *ctx, size_t count, const uint64_t *a, const uint64_t *b,
                                        const uint64_t *c, uint64_t *d, struct as_error *err)
{
    const struct two_sums *t = ctx;
    const struct as_matrix_unit *u = &t->unit;
    (void)err;
    for (size_t i = 0; i < count * u->m * u->n; i++) {
        size_t row = i / u->n, problem = row / u->m;
        float sum = add_two_sums(t, a + row * u->k, b + problem * u->k * u->n + i % u->n, input(c[i]));
        d[i] = isnan(sum) ? 0xffc00000 : f32_bits(sum);
    }
    return AS_OK;
}

static void two_sums_start(struct two_sums *t, enum sums_order order)
{
    *t = (struct two_sums){{.a = as_number_format("bf16"),
                            .b = as_number_format("bf16"),
                            .c = as_number_format("f32"),
                            .m = 4,
                            .n = 3,
                            .k = 32,
                            .multiply = multiply_two_sums,
                            .ctx = t},
                           order};
}

/* Any numbers, including those flushed on the way, which the experiments' own random problems lack. */
static void same_anywhere(const struct two_sums *t, const struct as_arithmetic *how)
{
    enum { PROBLEMS = 500, A = 4 * 32, B = 32 * 3, C = 4 * 3 };
    static uint64_t a[PROBLEMS * A], b[PROBLEMS * B], c[PROBLEMS * C], d[PROBLEMS * C], e[PROBLEMS * C];
    struct as_matrix_model model;
    struct as_error err;
    struct as_rng rng;
    as_rng_seed(&rng, 9);
    /* Few products, of 2^-133 to 2^-120 near the least normal number of 2^-126, and accumulators that are -0 or
     * small. */
    for (size_t i = 0; i < PROBLEMS * A; i++)
        a[i] = as_rng_below(&rng, 10) ? 0 : as_rng_u64(&rng) & 0x83ff;
    for (size_t i = 0; i < PROBLEMS * B; i++)
        b[i] = (as_rng_u64(&rng) & 0x83ff) | 0x3c00;
    for (size_t i = 0; i < PROBLEMS * C; i++)
        c[i] = i % 2 ? as_rng_u64(&rng) & 0x81ffffff : 0x80000000;
    assert_int_equal(as_matrix_model_start(&model, "bf16", "bf16", "f32", 4, 3, 32, how, &err), AS_OK);
    assert_int_equal(t->unit.multiply(t->unit.ctx, PROBLEMS, a, b, c, d, &err), AS_OK);
    assert_int_equal(model.unit.multiply(model.unit.ctx, PROBLEMS, a, b, c, e, &err), AS_OK);
    size_t none = 0, minus = 0;
    for (size_t i = 0; i < PROBLEMS * C; i++) {
        none += d[i] == 0;
        minus += d[i] == 0x80000000;
        if (d[i] != e[i])
            fail_msg("result %zu is %llx, of the model %llx", i, (unsigned long long)d[i], (unsigned long long)e[i]);
    }
    if (none < 50 || minus < 50)
        fail_msg("%zu results are 0, %zu -0: too few of either to tell", none, minus);
}

UNIT_TEST(test_two_sums)
{
    for (enum sums_order order = AS_THE_MANUAL; order < SUMS_ORDERS; order++) {
        struct two_sums t;
        struct as_matrix_found found;
        struct as_error err;
        two_sums_start(&t, order);
        assert_int_equal(as_arithmetic_find(&t.unit, 3, &found, &err), AS_OK);
        if (found.property[AS_PROPERTY_SUMS].seen != (order == AS_THE_MANUAL))
            fail_msg("order %d: %s", (int)order, found.property[AS_PROPERTY_SUMS].text);
        assert_true(found.property[AS_PROPERTY_ACCUMULATOR].value == 24);
        if (order != AS_THE_MANUAL) {
            assert_false(found.property[AS_PROPERTY_STEP].seen || found.property[AS_PROPERTY_EXPLAINED].seen);
            continue;
        }
        assert_true(found.property[AS_PROPERTY_SUMS].value == 2 && found.property[AS_PROPERTY_STEP].value == 1);
        assert_true(found.property[AS_PROPERTY_ROUNDING].value == AS_CUT_NEAREST_EVEN);
        assert_true(found.compared > 1000 && found.unequal == 0);
        same_anywhere(&t, &found.how);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
