/* The rule of attention, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static void attention(const char *path, int length, int heads, double tera)
{
    char axes[120];
    snprintf(axes, sizeof axes, "path=%s length=%d heads=%d", path, length, heads);
    made_add(&m, "attention", "FLOP/s", tera * 1e12, axes);
}

UNIT_TEST(test_attention)
{
    attention("decomposed", 8192, 16, 100);
    attention("decomposed", 512, 16, 50);
    attention("decomposed", 512, 1, 50);
    attention("flash", 8192, 16, 300);
    attention("flash", 512, 16, 40);
    attention("flash", 512, 1, 10);
    attention("flash_wgmma", 8192, 16, 600);
    attention("scalar", 8192, 16, 10);
    made_derive(&m);
    made_near(&m, "attention.flash.16_heads", 3, 1e-6);
    made_says(made_get(&m, "attention.flash.16_heads"), "faster at 1 of 2 lengths, the shortest 8192");
    made_verdict(&m, "attention.flash.16_heads", AS_SUPPORTED);
    made_acts(&m, "attention.flash.16_heads", "Fuse attention into one kernel: path flash runs 3.0");
    made_verdict(&m, "attention.flash.1_heads", AS_REFUTED);
    made_verdict(&m, "attention.scalar.16_heads", AS_REFUTED);
    made_says(made_get(&m, "attention.scalar.16_heads"), "faster at none");
    made_near(&m, "attention.flash_wgmma.16_heads", 6, 1e-6);
    assert_null(made_find(&m, "attention.split.16_heads"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_attention, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
