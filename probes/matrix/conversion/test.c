/* Host conversions in every known mode: the probe must identify each. */
#include "probes/matrix/conversion/find.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

struct way {
    const struct as_number_format *to;
    enum as_rounding rounding;
    enum as_overflow overflow;
    bool flush, keep_infinity;
    size_t broken; /* index of the input that gets a wrong code; 0: none */
};

static enum as_status convert(void *ctx, size_t n, const uint32_t *from, uint32_t *to, struct as_error *err)
{
    const struct way *w = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, &from[i], sizeof x);
        enum as_overflow overflow = w->keep_infinity && isinf(x) ? AS_OVERFLOW_FORMAT : w->overflow;
        uint64_t code = as_number_encode(w->to, (double)x, w->rounding, overflow);
        if (w->flush && fabs(as_number_decode(w->to, code)) < as_number_smallest_normal(w->to))
            code = as_number_nearest(w->to, signbit(x) ? -0.0 : 0.0);
        to[i] = (uint32_t)code ^ (w->broken && i == w->broken);
    }
    return AS_OK;
}

static void find(struct way *w, struct conversion_found *found)
{
    struct as_error err;
    const struct converter c = {w->to, convert, w};
    if (as_conversion_find(&c, found, &err))
        fail_msg("%s: %s", w->to->word, err.text);
}

UNIT_TEST(test_all_ways)
{
    static const char *const formats[] = {"e4m3", "e5m2", "e4m3fnuz", "e2m1", "e3m2", "f16", "bf16", "tf32"};
    static const double roundings[] = {[AS_ROUND_NEAREST_EVEN] = 2,
                                       [AS_ROUND_NEAREST_AWAY] = 3,
                                       [AS_ROUND_TOWARD_ZERO] = 1,
                                       [AS_ROUND_DOWN] = 4,
                                       [AS_ROUND_UP] = 5};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (enum as_rounding r = AS_ROUND_NEAREST_EVEN; r <= AS_ROUND_UP; r++)
            for (int flush = 0; flush < 2; flush++) {
                struct way w = {
                    .to = as_number_format(formats[i]), .rounding = r, .overflow = AS_OVERFLOW_CLAMP, .flush = flush};
                struct conversion_found found;
                find(&w, &found);
                assert_true(found.value[CONVERSION_ROUNDING] == roundings[r]);
                assert_true(found.value[CONVERSION_OVERFLOW] == 2);
                assert_true(found.value[CONVERSION_INFINITY] == 2);
                assert_true(found.value[CONVERSION_SUBNORMAL] == (flush ? 2 : 1));
                assert_true(found.value[CONVERSION_EXPLAINED] == 100);
            }
}

UNIT_TEST(test_ends)
{
    struct way w = {.to = as_number_format("e5m2"), .overflow = AS_OVERFLOW_FORMAT};
    struct conversion_found found;
    find(&w, &found);
    assert_true(found.value[CONVERSION_OVERFLOW] == 1 && found.value[CONVERSION_INFINITY] == 1);
    assert_true(found.value[CONVERSION_NAN] == 3);
    w.overflow = AS_OVERFLOW_CLAMP;
    w.keep_infinity = true;
    find(&w, &found);
    assert_true(found.value[CONVERSION_OVERFLOW] == 2 && found.value[CONVERSION_INFINITY] == 1);
    w = (struct way){.to = as_number_format("e4m3"), .overflow = AS_OVERFLOW_FORMAT};
    find(&w, &found);
    assert_true(found.value[CONVERSION_OVERFLOW] == 3 && found.value[CONVERSION_INFINITY] == 3);
    assert_non_null(strstr(found.text[CONVERSION_OVERFLOW], "448"));
    w.to = as_number_format("e2m1");
    find(&w, &found);
    assert_true(found.value[CONVERSION_NAN] == 2);
}

/* One wrong code: for an input that needs rounding it is counted; for a representable one it is a failure. */
UNIT_TEST(test_broken)
{
    /* Each code has four inputs with both signs: 96 is code 12 itself, 100 is half way to the next. */
    struct way w = {.to = as_number_format("e4m3"), .overflow = AS_OVERFLOW_CLAMP, .broken = 100};
    const struct converter c = {w.to, convert, &w};
    struct conversion_found found;
    struct as_error err;
    find(&w, &found);
    assert_int_equal(found.unequal, 1);
    assert_true(found.value[CONVERSION_EXPLAINED] < 100);
    w.broken = 96;
    assert_int_equal(as_conversion_find(&c, &found, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "e4m3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ways),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
