/* GEMM on AMD's matrix units, on the stand-in, which emulates their instructions: correct for every type that a chip
 * supports, and a fragment from the wrong row, a skipped step and an instruction with another layout are detected. */
#include "../stand_in.h"

#include "lib/gemm/gemm.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <stdlib.h>

#define BIT(type) (1u << AS_GEMM_##type)
/* Types whose instruction differs from those of earlier chips. */
static const struct {
    const char *chip;
    unsigned types, count;
} chips[] = {{"", BIT(F64) | BIT(F32) | BIT(BF16) | BIT(F16) | BIT(S8), 5},
             {"cdna3", BIT(TF32) | BIT(E4M3FNUZ) | BIT(E5M2FNUZ) | BIT(S8), 4},
             {"rdna3", BIT(BF16) | BIT(F16) | BIT(S8), 3}};

static struct as_gemm_desc desc_of(enum as_gemm_type type)
{
    return (struct as_gemm_desc){.path = AS_GEMM_MMA,
                                 .type = type,
                                 .epilogue = type == AS_GEMM_F16 ? AS_GEMM_GELU : AS_GEMM_PLAIN,
                                 .m = 128,
                                 .n = 256, /* so that exchanged rows and columns show */
                                 .k = 192 / as_gemm_formats[type].in_bytes,
                                 .seed = 42};
}

static void prepare(struct as_gemm *p, struct opened *o, const struct as_gemm_desc *d)
{
    struct as_error err = {0};
    check_ok(as_gemm_prepare(p, &o->dev, d, &err), &err);
}

static bool is_right(struct as_gemm *p, char *why, size_t size)
{
    struct as_error err = {0};
    struct as_timing t;
    check_ok(as_gemm_run(p, 1, &t, &err), &err);
    return as_gemm_check(p, why, size);
}

static void test_chips(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        struct opened o;
        unsigned seen = 0;
        fake(chips[i].chip);
        open_gpu(&o, 0);
        for (int type = 0; type < AS_GEMM_TYPES; type++) {
            const struct as_gemm_desc d = desc_of((enum as_gemm_type)type);
            struct as_gemm p;
            char why[200] = "";
            if (!(chips[i].types >> type & 1) || as_gemm_applies(&o.dev.info, &d, NULL) != AS_APPLIES)
                continue;
            prepare(&p, &o, &d);
            assert_false(as_gemm_check(&p, why, sizeof why)); /* nothing has been computed yet */
            if (!is_right(&p, why, sizeof why))
                fail_msg("%s on %s: %s", as_gemm_type_words[type], o.dev.info.arch, why);
            as_gemm_finish(&p);
            seen++;
        }
        close_gpu(&o);
        assert_int_equal(seen, chips[i].count);
    }
}

/* Several products, consecutive in memory. */
static void test_batch(void **state)
{
    struct opened o;
    struct as_gemm one, two;
    struct as_error err = {0};
    unsigned char parts[2][64];
    char why[200];
    (void)state;
    fake("");
    open_gpu(&o, 0);
    struct as_gemm_desc d = desc_of(AS_GEMM_S8);
    d.m = 256, d.n = 128;
    prepare(&one, &o, &d);
    assert_true(is_right(&one, why, sizeof why));
    d.m = 128, d.batch = 2;
    d.a = one.a, d.d = one.d;
    check_ok(as_device_memory(&o.dev, 2 * one.b->bytes, &d.b, &err), &err);
    unsigned char *b = malloc(one.b->bytes);
    check_ok(o.dev.memory->read(&o.dev, one.b, 0, b, one.b->bytes, &err), &err);
    for (uint64_t i = 0; i < 2; i++)
        check_ok(o.dev.memory->write(&o.dev, d.b, i * one.b->bytes, b, one.b->bytes, &err), &err);
    free(b);
    for (uint64_t i = 0; i < 2; i++)
        check_ok(o.dev.memory->read(&o.dev, one.d, i * one.d->bytes / 2 + 640, parts[i], 64, &err), &err);
    assert_memory_not_equal(parts[0], parts[1], 64);
    prepare(&two, &o, &d);
    struct as_timing t;
    check_ok(as_gemm_run(&two, 1, &t, &err), &err);
    assert_true(as_gemm_check(&one, why, sizeof why));
    as_gemm_finish(&two);
    o.dev.memory->free(&o.dev, d.b);
    as_gemm_finish(&one);
    close_gpu(&o);
}

/* The kernel with one word of its text replaced. */
static void replace_word(struct as_gemm *p, const char *word, const char *other)
{
    struct as_buf text = AS_BUF_INIT, wrong = AS_BUF_INIT;
    struct as_error err = {0};
    char defines[96];
    check_ok(as_gemm_unit_program(as_gemm_unit(&p->dev->info, p->desc.type), &p->desc, p->tile, &text, defines,
                                  sizeof defines, &err),
             &err);
    const char *at = strstr(as_buf_get(&text), word);
    if (!at)
        fail_msg("the kernel has no '%s'", word);
    as_buf_printf(&wrong, "%.*s%s%s", (int)(at - as_buf_get(&text)), as_buf_get(&text), other, at + strlen(word));
    const struct as_program_desc desc = {.name = "wrong", .source = as_buf_get(&wrong), .defines = defines};
    check_ok(as_buffers_keep_program(&p->own, &desc, &p->plain, &err), &err);
    check_ok(as_buffers_keep_kernel(&p->own, p->plain, "gemm_mma", &p->kernel, &err), &err);
    p->launch.kernel = p->kernel;
    as_buf_finish(&text);
    as_buf_finish(&wrong);
}

static void test_wrong(void **state)
{
    static const struct {
        enum as_gemm_type type;
        const char *word, *other;
    } planted[] = {
        {AS_GEMM_F16, "row + A_ROW(lane, r)", "row + (A_ROW(lane, r) ^ 1)"},
        {AS_GEMM_BF16, "at + B_ROW(lane, r)", "at + (B_ROW(lane, r) ^ 2)"},
        {AS_GEMM_S8, "at <= row_bytes", "at < row_bytes"},
        {AS_GEMM_F32, "row + i * UNIT_M + C_ROW(lane, r)", "row + i * UNIT_M + (C_ROW(lane, r) ^ 4)"},
    };
    struct opened o;
    (void)state;
    fake("");
    open_gpu(&o, 0);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i += gpu_brief() ? 4 : 1) {
        struct as_gemm p;
        char why[200] = "";
        struct as_gemm_desc d = desc_of(planted[i].type);
        d.epilogue = AS_GEMM_PLAIN;
        prepare(&p, &o, &d);
        replace_word(&p, planted[i].word, planted[i].other);
        assert_false(is_right(&p, why, sizeof why));
        assert_non_null(strstr(why, "results are wrong"));
        as_gemm_finish(&p);
    }
    close_gpu(&o);
}

/* A chip without such instructions, and a size that is not a multiple of the tile. */
static void test_what_is_not(void **state)
{
    struct opened o;
    struct as_gemm p;
    struct as_error err = {0};
    struct as_gemm_desc d = desc_of(AS_GEMM_F16);
    (void)state;
    fake("rdna2");
    open_gpu(&o, 0);
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    check_fails(as_gemm_prepare(&p, &o.dev, &d, &err), AS_UNSUPPORTED, &err,
                "no known matrix instruction of gfx1030 multiplies f16 and accumulates in f32");
    as_gemm_finish(&p);
    close_gpu(&o);
    fake("");
    open_gpu(&o, 0);
    d.n = 192;
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "not a multiple of the tiles of path"));
    close_gpu(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chips), cmocka_unit_test(test_batch),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_what_is_not)};
    setenv("ASSAY_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
