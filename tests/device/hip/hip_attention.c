/* Attention on AMD's matrix units, on the stand-in, which emulates their instructions: correct by every path, and
 * planted faults are detected: a skipped block of keys, fragments from wrong places, maxima and sums not shared between
 * lanes. */
#include "../stand_in.h"

#include "probes/apps/attention/attention.h"

#include <stdlib.h>
#include <string.h>

static struct as_attention_desc desc_of(enum as_attention_path path)
{
    return (struct as_attention_desc){.path = path, .length = 256, .heads = 2, .seed = 42};
}

static void prepare(struct as_attention *a, struct opened *o, enum as_attention_path path)
{
    const struct as_attention_desc d = desc_of(path);
    struct as_error err = {0};
    assert_int_equal(as_attention_applies(&o->dev.info, &d, &err), AS_APPLIES);
    check_ok(as_attention_prepare(a, &o->dev, &d, &err), &err);
}

/* MFMA, whose lanes each hold separate elements, and WMMA, whose lanes hold factors in pairs. */
static const char *const chips[] = {"", "rdna3"};
enum { CHIPS = sizeof chips / sizeof *chips };

static void test_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHIPS; i++) {
        struct opened o;
        fake(chips[i]);
        open_gpu(&o, 0);
        for (int path = AS_ATTENTION_DECOMPOSED; path <= AS_ATTENTION_SPLIT; path++) {
            struct as_attention a;
            struct as_error err = {0};
            double seconds;
            char why[200];
            if (path == AS_ATTENTION_SCALAR) /* no matrix unit */
                continue;
            prepare(&a, &o, (enum as_attention_path)path);
            assert_true(a.scores ? a.score.desc.path == AS_GEMM_MMA : a.flash != NULL);
            check_ok(as_attention_run(&a, 1, &seconds, &err), &err);
            if (!as_attention_check(&a, why, sizeof why))
                fail_msg("%s on %s: %s", as_attention_path_words[path], o.dev.info.arch, why);
            as_attention_finish(&a);
        }
        close_gpu(&o);
    }
}

/* The kernel with one word of its text replaced. */
static void replace_word(struct as_attention *a, const char *word, const char *other)
{
    struct as_buf text = AS_BUF_INIT, wrong = AS_BUF_INIT;
    struct as_error err = {0};
    char defines[96];
    check_ok(as_attention_flash_program(&a->dev->info, &a->desc, &text, defines, sizeof defines, &err), &err);
    const char *at = strstr(as_buf_get(&text), word);
    if (!at)
        fail_msg("the kernel has no '%s'", word);
    as_buf_printf(&wrong, "%.*s%s%s", (int)(at - as_buf_get(&text)), as_buf_get(&text), other, at + strlen(word));
    const struct as_program_desc desc = {.name = "wrong", .source = as_buf_get(&wrong), .defines = defines};
    check_ok(as_buffers_keep_program(&a->own, &desc, &a->flash, &err), &err);
    check_ok(as_buffers_keep_kernel(&a->own, a->flash, "flash", &a->kernels[0], &err), &err);
    a->launches[0].kernel = a->kernels[0];
    as_buf_finish(&text);
    as_buf_finish(&wrong);
}

static void test_planted(void **state)
{
    static const struct {
        size_t chip;
        const char *word, *other;
    } planted[] = {
        {0, "step < count;", "step + 1 < count;"},
        {0, "row + A_ROW(lane, first)", "row + (A_ROW(lane, first) ^ 1)"},
        {1, "at + 2 * A_COLUMN(lane, first)", "at + (2 * A_COLUMN(lane, first) ^ 16)"},
        {0, "i * UNIT_K + B_ROW(lane, r)", "i * UNIT_K + (B_ROW(lane, r) ^ 2)"},
        {1, "out[row * WIDE + i * UNIT_M + C_ROW(lane, r)]", "out[row * WIDE + i * UNIT_M + (C_ROW(lane, r) ^ 1)]"},
        {0, "*values = (const u8 *)tiles[step % 2][1]", "*values = (const u8 *)tiles[0][1]"},
        {0, "u32 bit = UNIT_N", "u32 bit = LANES"},
        {1, "u32 bit = UNIT_N", "u32 bit = LANES"},
        {1, "u32 even = lane & UNIT_N ? other : mine", "u32 even = mine"},
        {0, "o[i].w[r] *= shrink", "o[i].w[r] *= 1"},
        {0, "s[j * OWN / C_REGISTERS].w + j * OWN % C_REGISTERS", "s[0].w"},
    };
    (void)state;
    for (size_t chip = 0; chip < CHIPS; chip++) {
        struct opened o;
        struct as_attention a;
        fake(chips[chip]);
        open_gpu(&o, 0);
        prepare(&a, &o, AS_ATTENTION_FLASH);
        for (size_t i = 0; i < sizeof planted / sizeof *planted; i += gpu_brief() ? 8 : 1) {
            char why[200] = "";
            if (planted[i].chip != chip)
                continue;
            replace_word(&a, planted[i].word, planted[i].other);
            if (as_attention_check(&a, why, sizeof why))
                fail_msg("nobody sees '%s': %s", planted[i].other, why);
            assert_non_null(strstr(why, ", not "));
        }
        as_attention_finish(&a);
        close_gpu(&o);
    }
}

/* One range of keys is not joined, or counts as the whole. */
static void test_ranges(void **state)
{
    struct opened o;
    struct as_attention a;
    char why[200];
    (void)state;
    fake("");
    open_gpu(&o, 0);
    prepare(&a, &o, AS_ATTENTION_SPLIT);
    assert_true(a.parts >= 2);
    a.args[1][3].u.u32 -= 1;
    assert_false(as_attention_check(&a, why, sizeof why));
    a.args[1][3].u.u32 += 1;
    assert_true(as_attention_check(&a, why, sizeof why));
    replace_word(&a, "limits[2 * row] = most", "limits[2 * row] = 0");
    assert_false(as_attention_check(&a, why, sizeof why));
    as_attention_finish(&a);
    close_gpu(&o);
}

/* A chip without such instructions. */
static void test_what_is_not(void **state)
{
    struct opened o;
    struct as_error err = {0};
    const struct as_attention_desc d = desc_of(AS_ATTENTION_FLASH);
    (void)state;
    fake("rdna2");
    open_gpu(&o, 0);
    assert_int_equal(as_attention_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "path flash needs CUDA"));
    close_gpu(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths), cmocka_unit_test(test_planted),
                                       cmocka_unit_test(test_ranges), cmocka_unit_test(test_what_is_not)};
    setenv("ASSAY_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
