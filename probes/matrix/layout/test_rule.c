/* The rule of matrix fragments, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}};

UNIT_TEST(test_layouts)
{
    made_add(&m, "layout", "numbers", 0, "instruction=wgmma_f16_f32 n=8 operand=a");
    made_add(&m, "layout", "numbers", 0, "instruction=wgmma_f16_f32 n=8 operand=c");
    made_add(&m, "layout", "numbers", 4, "instruction=mma_m8n8k4_f64 n=8 operand=b");
    made_add(&m, "layout", "numbers", 0, "instruction=mma_m16n8k16_f16_f32 n=8 operand=c")->detail =
        strdup("{\"base_rows\":8,\"base_columns\":8}");
    made_add(&m, "layout", "numbers", 0, "instruction=wmma_m16n16k16_f16_f32 n=0 operand=a")->detail =
        strdup("{\"compared_with\":\"its load instruction\"}");
    made_derive(&m);
    assert_int_equal(m.facts_n, 5);
    made_says(made_get(&m, "layout.loaded"), ": wmma_m16n16k16_f16_f32");
    made_says(made_get(&m, "layout.base.mma_m16n8k16_f16_f32_n_8.c.rows"),
              "The lane mapping of operand c of mma_m16n8k16_f16_f32 n=8 repeats every 8 rows");
    assert_true(made_get(&m, "layout.base.mma_m16n8k16_f16_f32_n_8.c.columns")->value == 8);
    made_says(made_get(&m, "layout.documented"), ": wgmma_f16_f32 n=8");
    assert_int_equal(made_get(&m, "layout.documented")->evidence_n, 3);
    made_says(made_get(&m, "layout.elsewhere"), ": mma_m8n8k4_f64 n=8");
    assert_int_equal(made_get(&m, "layout.elsewhere")->verdict, AS_REFUTED);
}

/* Elements without a lane: a block that skips them is not known to recur. */
UNIT_TEST(test_sparse_has_no_base)
{
    made_add(&m, "layout", "numbers", 0, "instruction=mma_sp_m16n8k32_f16_f32 n=8 operand=b")->detail =
        strdup("{\"base_rows\":1,\"base_columns\":8,\"lanes\":\"0 4 - - 0 4 - -\"}");
    made_derive(&m);
    assert_null(made_find(&m, "layout.base.mma_sp_m16n8k32_f16_f32_n_8.b.rows"));
    assert_null(made_find(&m, "layout.base.mma_sp_m16n8k32_f16_f32_n_8.b.columns"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_layouts, &m),
        made_test(test_sparse_has_no_base, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
