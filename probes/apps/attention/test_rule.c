/* The rule of attention, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

/* products: by which path the separate GEMMs run, NULL: unknown */
static void attention(const char *path, int length, int heads, double tera, const char *products)
{
    char axes[120];
    snprintf(axes, sizeof axes, "path=%s length=%d heads=%d", path, length, heads);
    struct as_cell *c = made_add(&m, "attention", "FLOP/s", tera * 1e12, axes);
    char note[64];
    snprintf(note, sizeof note, "{\"products\":\"%s\"}", products ? products : "");
    if (products)
        c->detail = strdup(note);
}

UNIT_TEST(test_attention)
{
    attention("decomposed", 8192, 16, 100, "mma");
    attention("decomposed", 512, 16, 50, "mma");
    attention("decomposed", 512, 1, 50, "mma");
    attention("flash", 8192, 16, 300, NULL);
    attention("flash", 512, 16, 40, NULL);
    attention("flash", 512, 1, 10, NULL);
    attention("flash_wgmma", 8192, 16, 600, NULL);
    attention("scalar", 8192, 16, 10, NULL);
    made_derive(&m);
    made_near(&m, "attention.flash.16_heads", 3, 1e-6);
    made_says(made_get(&m, "attention.flash.16_heads"), "faster at 1 of 2 lengths, the shortest 8192");
    made_verdict(&m, "attention.flash.16_heads", AS_SUPPORTED);
    made_acts(&m, "attention.flash.16_heads",
              "Fuse attention into one kernel: path flash runs 3.00x (2.96 to 3.04x) as fast as separate mma GEMMs and "
              "softmax");
    made_verdict(&m, "attention.flash.1_heads", AS_REFUTED);
    made_verdict(&m, "attention.scalar.16_heads", AS_REFUTED);
    made_says(made_get(&m, "attention.scalar.16_heads"), "faster at none");
    made_near(&m, "attention.flash_wgmma.16_heads", 6, 1e-6);
    assert_null(made_find(&m, "attention.split.16_heads"));
}

/* Fusion is one of two changes where the separate GEMMs use an older instruction. */
UNIT_TEST(test_attention_by_another_instruction)
{
    attention("decomposed", 8192, 16, 100, "mma");
    attention("flash_wgmma", 8192, 16, 600, NULL);
    attention("scalar", 8192, 16, 10, NULL);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "attention.flash_wgmma.16_heads");
    made_says(f, "Attention path flash_wgmma beats separate mma GEMMs and softmax: ");
    made_says(f, "; the two use different instructions");
    assert_true(isnan(f->gain));
    assert_string_equal(f->act, "");
    assert_true(isnan(made_get(&m, "attention.scalar.16_heads")->gain));
}

UNIT_TEST(test_attention_by_an_unknown_instruction)
{
    attention("decomposed", 8192, 16, 100, NULL);
    attention("flash", 8192, 16, 600, NULL);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "attention.flash.16_heads");
    made_says(f, "Attention path flash beats separate GEMMs and softmax: ");
    made_says(f, "; whether both use the same instructions is unknown");
    assert_string_equal(f->act, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_attention, &m),
        made_test(test_attention_by_another_instruction, &m),
        made_test(test_attention_by_an_unknown_instruction, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
