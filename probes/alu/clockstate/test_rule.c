/* The rule of single launches, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void launches(int size, const char *type, const char *detail)
{
    char axes[120];
    snprintf(axes, sizeof axes, "path=wgmma type=%s size=%d", type, size);
    made_add(&m, "clockstate", "FLOP/s", 1e12, axes)->detail = strdup(detail);
}

UNIT_TEST(test_launches)
{
    launches(512, "f16",
             "{\"modes\":2,\"mode_low\":1e12,\"mode_high\":2e12,\"mode_share\":0.3,\"p5\":1e12,\"p95\":2e12,"
             "\"steady_s\":0}");
    launches(1024, "f16", "{\"modes\":1,\"p5\":1e12,\"p95\":1.01e12,\"steady_s\":0.05}");
    launches(1024, "e4m3", "{\"modes\":1,\"p5\":1e12,\"p95\":1.01e12,\"steady_s\":0}");
    launches(1024, "s8", "{}");
    launches(2048, "e4m3", "{\"modes\":1,\"p5\":1e12,\"p95\":1.02e12,\"steady\":\"not within the series\"}");
    made_derive(&m);
    made_verdict(&m, "clockstate.wgmma.f16", AS_REFUTED);
    made_says(made_get(&m, "clockstate.wgmma.f16"),
              "two modes at size 512, 1.00 TFLOP/s (30% of launches) and 2.00 TFLOP/s; ");
    made_says(made_get(&m, "clockstate.wgmma.f16"), "steady after at most 50.0 ms (size 1024)");
    assert_true(made_get(&m, "clockstate.modes.wgmma.f16.512")->value == 2);
    made_says(made_get(&m, "clockstate.modes.wgmma.f16.1024"),
              "Times of single launches (wgmma, f16, size 1024) have one mode");
    assert_null(made_find(&m, "clockstate.modes.wgmma.s8.1024")); /* without notes */
    made_verdict(&m, "clockstate.wgmma.e4m3", AS_SUPPORTED);
    made_says(made_get(&m, "clockstate.wgmma.e4m3"),
              "one mode at 2 sizes, 90% of launches at 1.00 to 1.02 TFLOP/s (size 2048); no steady state within 300 "
              "launches at 1 of 2 sizes");
    assert_null(made_find(&m, "clockstate.wgmma.s8")); /* without notes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_launches, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
