/* The rule of matrix fragments, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}};

UNIT_TEST(test_layouts)
{
    made_add(&m, "layout", "numbers", 0, "instruction=wgmma_f16_f32 n=8 operand=a");
    made_add(&m, "layout", "numbers", 0, "instruction=wgmma_f16_f32 n=8 operand=c");
    made_add(&m, "layout", "numbers", 4, "instruction=mma_m8n8k4_f64 n=8 operand=b");
    made_derive(&m);
    assert_int_equal(m.facts_n, 2);
    made_says(made_get(&m, "layout.documented"), ": wgmma_f16_f32 n=8");
    assert_int_equal(made_get(&m, "layout.documented")->evidence_n, 2);
    made_says(made_get(&m, "layout.elsewhere"), ": mma_m8n8k4_f64 n=8");
    assert_int_equal(made_get(&m, "layout.elsewhere")->verdict, AS_REFUTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_layouts, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
