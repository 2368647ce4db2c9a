/* The rule of sectors and ways, on synthetic cells of a known device. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>

UNIT_TEST(test_sector_and_ways)
{
    struct made *m = made_gpu();
    static const int distances[] = {8, 16, 24, 32, 48, 64, 128, 256};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=fetch level=L1 distance=%d lines=0", distances[i]);
        made_add(m, "onchip_lines", "ns", distances[i] < 32 ? 75 : 130, axes);
        snprintf(axes, sizeof axes, "what=fetch level=L2 distance=%d lines=0", distances[i]);
        made_add(m, "onchip_lines", "ns", distances[i] < 64 ? 250 : 390, axes);
    }
    for (int distance = 4096; distance <= 65536; distance *= 2)
        for (int lines = 2; lines <= 64; lines *= 2) {
            char axes[96];
            int ways = distance >= 16384 ? 4 : 16;
            snprintf(axes, sizeof axes, "what=ways level=L1 distance=%d lines=%d", distance, lines);
            made_add(m, "onchip_lines", "ns", lines <= ways ? 16 : 130, axes);
        }
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.sector"), 32);
    assert_true(made_get(m, "onchip.L1.sector")->value == 32);
    assert_true(made_get(m, "onchip.L2.sector")->value == 64);
    made_holds(made_get(m, "onchip.L1.ways"), 4);
    assert_true(made_get(m, "onchip.L1.ways")->ci.hi < 8);
    made_free(m);
}

/* By the medians there is a sector; by the intervals there is not. */
UNIT_TEST(test_wide_intervals)
{
    struct made *m = made_gpu();
    char axes[96];
    m->share = 0.4;
    for (int i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes, "what=fetch level=L2 distance=%d", 8 << i);
        made_add(m, "onchip_lines", "ns", i < 3 ? 100 : 130, axes);
    }
    made_derive(m);
    assert_null(made_find(m, "onchip.L2.sector"));
    made_free(m);
}

/* A hit beyond a miss is a contradiction, which the sentence states. */
UNIT_TEST(test_contradiction)
{
    struct made *m = made_gpu();
    char axes[96];
    for (int i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes, "what=fetch level=L2 distance=%d", 8 << i);
        made_add(m, "onchip_lines", "ns", i < 3 || i == 5 ? 250 : 390, axes);
    }
    made_derive(m);
    const struct as_fact *f = made_get(m, "onchip.L2.sector");
    made_says(f, "misses 64 B away and hits 256 B away");
    assert_true(isnan(f->value) && f->verdict == AS_UNDECIDED);
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_intervals),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_sector_and_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
