/* The rule of conversions, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

static struct made m = {.info = {.id = "metal:0", .backend = "metal"}, .share = 0.01};

/* The published study: e4m3 clamps to 448, infinity too; f16 has an infinity. */
UNIT_TEST(test_published)
{
    made_add(&m, "conversion", "", 2, "op=f32_e4m3 property=overflow")->detail = strdup("{\"result\":448}");
    made_add(&m, "conversion", "", 2, "op=f32_e4m3 property=infinity")->detail = strdup("{\"result\":448}");
    made_add(&m, "conversion", "", 1, "op=f32_f16 property=overflow");
    made_add(&m, "conversion", "", 2, "op=f32_e5m2 property=overflow"); /* of which number is not noted */
    made_add(&m, "conversion", "", 2, "op=f32_e4m3 property=rounding");
    made_derive(&m);
    made_near(&m, "conversion.f32_e4m3.overflow", 448, 0);
    made_verdict(&m, "conversion.f32_e4m3.overflow", AS_SUPPORTED);
    made_near(&m, "conversion.f32_e4m3.infinity", 448, 0);
    made_says(made_get(&m, "conversion.f32_e4m3.infinity"), "f32_e4m3 saturates: infinity becomes 448");
    made_verdict(&m, "conversion.f32_f16.overflow", AS_SUPPORTED);
    made_says(made_get(&m, "conversion.f32_f16.overflow"),
              "f32_f16 does not saturate: a number far past the range becomes infinity");
    assert_null(made_find(&m, "conversion.f32_f16.infinity"));
    assert_null(made_find(&m, "conversion.f32_e5m2.overflow"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {made_test(test_published, &m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
