/* GEMM on the stand-in by matrices of the language and by the system's library, and attention: every type, with checked
 * results; what the library lacks or refuses is reported. */
#include "../stand_in.h"
#include "lib/gemm/gemm.h"
#include "probes/apps/attention/attention.h"

#include <string.h>

static struct opened o;
static const struct as_program_ops *stand_in_program;

static void open_stand_in(const char *words)
{
    fake(words);
    open_gpu(&o, 0);
}

static struct as_gemm_desc desc_of(enum as_gemm_path path, enum as_gemm_type type, uint64_t size)
{
    return (struct as_gemm_desc){.path = path, .type = type, .m = size, .n = size, .k = size, .seed = 3};
}

static void check_product(const struct as_gemm_desc *d, const char *library)
{
    struct as_gemm p;
    struct as_timing t;
    struct as_error err = {0};
    char why[200] = "";
    assert_int_equal(as_gemm_applies(&o.dev.info, d, &err), AS_APPLIES);
    check_ok(as_gemm_prepare(&p, &o.dev, d, &err), &err);
    check_ok(as_gemm_run(&p, 2, &t, &err), &err);
    assert_true(t.host_s > 0 && t.device_s > 0);
    if (!as_gemm_check(&p, why, sizeof why))
        fail_msg("%s of %s: %s", as_gemm_path_words[d->path], as_gemm_type_words[d->type], why);
    if (library)
        assert_non_null(strstr(o.dev.gemm->name(p.library), library));
    as_gemm_finish(&p);
}

/* Matrices that are not square, each with a different epilogue. */
static void test_units(void **state)
{
    static const enum as_gemm_type types[] = {AS_GEMM_F16, AS_GEMM_BF16, AS_GEMM_F32};
    (void)state;
    open_stand_in("");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct as_gemm_desc d = desc_of(AS_GEMM_MMA, types[i], 64);
        d.m = 128;
        d.n = 192;
        d.k = 96;
        d.epilogue = (enum as_gemm_epilogue)i;
        check_product(&d, NULL);
    }
    close_gpu(&o);
}

/* Each tile that a path tries, one after the other: the fastest alone would be checked. Returns the tiles. */
static size_t check_tiles(enum as_gemm_path path, const char *words)
{
    struct as_gemm_desc d = desc_of(path, AS_GEMM_F16, 128);
    struct as_gemm_tile tiles[AS_GEMM_TILES_MAX];
    struct as_gemm p;
    struct as_timing t;
    struct as_error err = {0};
    char why[200] = "";
    open_stand_in(words);
    d.n = 256;
    const size_t n = as_gemm_tiles(&o.dev.info, &d, tiles);
    check_ok(as_gemm_prepare(&p, &o.dev, &d, &err), &err);
    for (size_t i = 0; i < n; i++) {
        p.tile = tiles[i];
        check_ok(as_gemm_take_tile(&p, &err), &err);
        check_ok(as_gemm_spoil(&p, &err), &err);
        check_ok(as_gemm_run(&p, 1, &t, &err), &err);
        if (!as_gemm_check(&p, why, sizeof why))
            fail_msg("%s by %u x %u: %s", as_gemm_path_words[path], tiles[i].m, tiles[i].n, why);
        p.tile.m *= 2; /* launched for another tile than its own */
        const struct as_launch right = p.launch;
        p.launch.workgroups /= 2;
        check_ok(as_gemm_spoil(&p, &err), &err);
        check_ok(as_gemm_run(&p, 1, &t, &err), &err);
        assert_false(as_gemm_check(&p, why, sizeof why));
        p.launch = right;
    }
    as_gemm_finish(&p);
    d.m = d.n = 64;
    assert_int_equal(as_gemm_tiles(&o.dev.info, &d, tiles), 1);
    assert_true(tiles[0].m == 64 && tiles[0].n == 64);
    close_gpu(&o);
    return n;
}

static void test_tiles(void **state)
{
    (void)state;
    assert_int_equal(check_tiles(AS_GEMM_MMA, ""), 3);
    assert_int_equal(check_tiles(AS_GEMM_TENSOR, "metal4"), 3);
}

static void test_unit_types(void **state)
{
    struct as_error err = {0};
    (void)state;
    open_stand_in("");
    struct as_gemm_desc d = desc_of(AS_GEMM_MMA, AS_GEMM_S8, 64);
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no known matrix instruction of apple9 multiplies s8"));
    d = desc_of(AS_GEMM_MMA, AS_GEMM_F16, 96);
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "64 x 64, steps of 32"));
    d.m = d.n = d.k = 64;
    o.dev.info.capabilities &= ~(unsigned)AS_CAP_MATRIX;
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    close_gpu(&o);
}

/* Metal 4: each type, with a different epilogue. */
static void test_tensors(void **state)
{
    static const enum as_gemm_type types[] = {AS_GEMM_F16,  AS_GEMM_BF16, AS_GEMM_F32,
                                              AS_GEMM_E4M3, AS_GEMM_E5M2, AS_GEMM_S8};
    (void)state;
    open_stand_in("apple10 metal41");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct as_gemm_desc d = desc_of(AS_GEMM_TENSOR, types[i], 64);
        d.m = 128;
        d.n = 192;
        d.k = 128;
        d.epilogue = (enum as_gemm_epilogue)(types[i] == AS_GEMM_S8 ? 0 : i % 3);
        check_product(&d, NULL);
    }
    close_gpu(&o);
}

static void tensors_refused(const char *words, enum as_gemm_type type, const char *says)
{
    const struct as_gemm_desc d = desc_of(AS_GEMM_TENSOR, type, 64);
    struct as_error err = {0};
    open_stand_in(words);
    assert_int_equal(as_gemm_applies(&o.dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, says));
    close_gpu(&o);
}

static void test_tensors_refused(void **state)
{
    (void)state;
    tensors_refused("", AS_GEMM_F16, "a kernel with tensor operations (Metal 4)");
    tensors_refused("metal4 nompp", AS_GEMM_F16, "a kernel with tensor operations (Metal 4)");
    tensors_refused("metal4", AS_GEMM_E4M3, "8-bit floats (Metal 4.1)");
}

/* A threadgroup with another number of threads than the operation requires computes nothing, nor do half tiles. */
static void test_wrong_launch(void **state)
{
    struct as_gemm_desc d = desc_of(AS_GEMM_TENSOR, AS_GEMM_F16, 128);
    struct as_gemm p;
    struct as_timing t;
    struct as_error err = {0};
    char why[200] = "";
    (void)state;
    open_stand_in("metal4");
    check_ok(as_gemm_prepare(&p, &o.dev, &d, &err), &err);
    const struct as_launch right = p.launch;
    for (int i = 0; i < 3; i++) {
        p.launch = right;
        p.launch.workgroup_size /= i == 0 ? 2 : 1;
        p.launch.workgroups /= i == 1 ? 2 : 1;
        check_ok(as_gemm_spoil(&p, &err), &err);
        check_ok(as_gemm_run(&p, 1, &t, &err), &err);
        assert_int_equal(as_gemm_check(&p, why, sizeof why), i == 2);
    }
    as_gemm_finish(&p);
    close_gpu(&o);
}

/* By two batched GEMMs, and by one kernel. */
static void test_attention(void **state)
{
    (void)state;
    open_stand_in("");
    for (int path = AS_ATTENTION_DECOMPOSED; path <= AS_ATTENTION_SPLIT; path++) {
        if (path == AS_ATTENTION_SCALAR)
            continue;
        const struct as_attention_desc d = {.path = (enum as_attention_path)path, .length = 256, .heads = 2, .seed = 5};
        struct as_attention a;
        struct as_error err = {0};
        double seconds = 0;
        char why[200] = "";
        assert_int_equal(as_attention_applies(&o.dev.info, &d, &err), AS_APPLIES);
        check_ok(as_attention_prepare(&a, &o.dev, &d, &err), &err);
        check_ok(as_attention_run(&a, 1, &seconds, &err), &err);
        if (!as_attention_check(&a, why, sizeof why))
            fail_msg("%s: %s", as_attention_path_words[path], why);
        as_attention_finish(&a);
    }
    close_gpu(&o);
}

/* ---- faults planted in the kernels: each must be detected by its check ---- */

static const struct fault {
    int path; /* of GEMM; -1: attention */
    const char *text, *becomes;
} faults[] = {
    {AS_GEMM_MMA, "LOAD_COLUMNS(fb[j], columns", "LOAD_ROWS(fb[j], columns"},
    {AS_GEMM_MMA, "j * UNIT_N + C_COLUMN(lane, r)", "j * UNIT_N + C_COLUMN(lane, 1 - r)"},
    {AS_GEMM_MMA, "i * UNIT_M + C_ROW(lane, r)", "i * UNIT_M + C_ROW(lane ^ 2u, r)"},
    {AS_GEMM_MMA, "if (done + ROW_WORDS * 16 < row_bytes)", "if (done + 2 * ROW_WORDS * 16 < row_bytes)"},
    {AS_GEMM_MMA, "step < SLICE;", "step < SLICE / 2;"},
    {AS_GEMM_MMA, "STORE(SHARE_B, right, next_b)\n        BARRIER();", "STORE(SHARE_B, right, next_b)"},
    {AS_GEMM_MMA, "n = tile / tiles_m * TILE_N;", "n = tile / tiles_m / 2 * TILE_N;"},
    {AS_GEMM_TENSOR, "false, true, false,", "false, false, false,"},
    {AS_GEMM_TENSOR, "to = n + (u32)at[0]", "to = n + (u32)at[1]"},
    {AS_GEMM_TENSOR, "all_b.slice(0, (int)n)", "all_b.slice(0, 0)"},
    {AS_GEMM_TENSOR, "static_cast<int>(dynamic_extent)", "64"},
    {-1, "now = most_of_row(now);", ""},
    {-1, "sum = sum * shrink + all;", "sum = sum + all;"},
    {-1, "EACH(2, ELEMENT(o[i], r) *= shrink)", "EACH(2, (void)r)"},
    {-1, "total = sum_of_row(sum)", "total = sum"},
    {-1, "if (step + 1 < count) {", "if (step + 2 < count) {"},
    {-1, "values + i * UNIT_N * VALUE_PITCH + j * UNIT_K", "values + i * UNIT_N * VALUE_PITCH"},
};
static const struct fault *planted;
static size_t plantings;

/* Builds the program with the fault, if it contains the fault's text. */
static enum as_status build_with_fault(struct as_device *dev, const struct as_program_desc *desc,
                                       struct as_program **out, struct as_error *err)
{
    const char *at = strstr(desc->source, planted->text);
    struct as_buf text = AS_BUF_INIT;
    struct as_program_desc other = *desc;
    if (!at)
        return stand_in_program->build(dev, desc, out, err);
    plantings++;
    as_buf_printf(&text, "%.*s%s%s", (int)(at - desc->source), desc->source, planted->becomes,
                  at + strlen(planted->text));
    other.source = as_buf_get(&text);
    enum as_status st = stand_in_program->build(dev, &other, out, err);
    as_buf_finish(&text);
    return st;
}

static bool product_is_right(void)
{
    struct as_gemm_desc d = desc_of((enum as_gemm_path)planted->path, AS_GEMM_F16, 128);
    d.n = 256; /* two tiles or more across, whichever is the fastest */
    struct as_gemm p;
    struct as_timing t;
    struct as_error err = {0};
    char why[200] = "";
    check_ok(as_gemm_prepare(&p, &o.dev, &d, &err), &err);
    check_ok(as_gemm_run(&p, 1, &t, &err), &err);
    const bool right = as_gemm_check(&p, why, sizeof why);
    as_gemm_finish(&p);
    return right;
}

static bool attention_is_right(void)
{
    const struct as_attention_desc d = {.path = AS_ATTENTION_FLASH, .length = 128, .heads = 1, .seed = 5};
    struct as_attention a;
    struct as_error err = {0};
    char why[200] = "";
    check_ok(as_attention_prepare(&a, &o.dev, &d, &err), &err);
    const bool right = as_attention_check(&a, why, sizeof why);
    as_attention_finish(&a);
    return right;
}

static void test_planted(void **state)
{
    (void)state;
    open_stand_in("metal4");
    struct as_program_ops ops = *o.dev.program;
    stand_in_program = o.dev.program;
    ops.build = build_with_fault;
    o.dev.program = &ops;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += gpu_brief() ? 4 : 1) {
        planted = &faults[i];
        plantings = 0;
        if (planted->path < 0 ? attention_is_right() : product_is_right())
            fail_msg("'%s' for '%s' is not seen", planted->becomes, planted->text);
        assert_true(plantings >= 1); /* once for each tile that is tried */
    }
    o.dev.program = stand_in_program;
    close_gpu(&o);
}

/* ---- the library ---- */

static void test_library(void **state)
{
    (void)state;
    open_stand_in("");
    for (int type = AS_GEMM_F32; type <= AS_GEMM_F16; type++) {
        struct as_gemm_desc d = desc_of(AS_GEMM_LIBRARY, (enum as_gemm_type)type, 48);
        d.m = 80;
        d.k = 112;
        if (type == AS_GEMM_F32 || type == AS_GEMM_F16)
            check_product(&d, "MPSMatrixMultiplication, Metal 3, macOS");
    }
    close_gpu(&o);
}

/* Each operand plain and transposed; the other is an identity matrix. */
static void check_transposed(bool a_transposed, bool b_transposed)
{
    enum { M = 3, N = 5, K = 4 };
    struct as_error err = {0};
    struct as_vendor_gemm *g = NULL;
    struct as_timing t;
    struct as_memory *x[3];
    float a[M * K], b[K * N], d[M * N];
    const struct as_memory_desc want = {.allocator = "MTLStorageModeShared", .bytes = sizeof b, .node = -1};
    for (int i = 0; i < 3; i++)
        check_ok(o.dev.memory->alloc(&o.dev, &want, &x[i], &err), &err);
    for (int i = 0; i < M * K; i++)
        a[a_transposed ? i % K * M + i / K : i] = (float)(i + 1);
    for (int i = 0; i < K * N; i++)
        b[b_transposed ? i % N * K + i / N : i] = i / N == i % N;
    check_ok(o.dev.memory->write(&o.dev, x[0], 0, a, sizeof a, &err), &err);
    check_ok(o.dev.memory->write(&o.dev, x[1], 0, b, sizeof b, &err), &err);
    const struct as_vendor_gemm_desc desc = {.in = "f32",
                                             .sum = "f32",
                                             .out = "f32",
                                             .m = M,
                                             .n = N,
                                             .k = K,
                                             .a_transposed = a_transposed,
                                             .b_transposed = b_transposed,
                                             .a = x[0],
                                             .b = x[1],
                                             .d = x[2]};
    check_ok(o.dev.gemm->create(&o.dev, &desc, &g, &err), &err);
    check_ok(o.dev.gemm->run(&o.dev, g, 65, &t, &err), &err); /* more than fits a command buffer */
    check_ok(o.dev.memory->read(&o.dev, x[2], 0, d, sizeof d, &err), &err);
    for (int i = 0; i < M * N; i++)
        assert_true(d[i] == (i % N < K ? (float)(i / N * K + i % N + 1) : 0));
    o.dev.gemm->destroy(&o.dev, g);
    for (int i = 0; i < 3; i++)
        o.dev.memory->free(&o.dev, x[i]);
}

static void test_transposed(void **state)
{
    (void)state;
    open_stand_in("");
    for (int i = 0; i < 4; i++)
        check_transposed(i & 1, i & 2);
    close_gpu(&o);
}

static void refused(const char *words, enum as_gemm_type type, enum as_status code, const char *says)
{
    const struct as_gemm_desc d = desc_of(AS_GEMM_LIBRARY, type, 64);
    struct as_gemm p;
    struct as_error err = {0};
    open_stand_in("");
    fake(words);
    check_fails(as_gemm_prepare(&p, &o.dev, &d, &err), code, &err, says);
    as_gemm_finish(&p);
    close_gpu(&o);
}

static void test_refused(void **state)
{
    (void)state;
    refused("", AS_GEMM_BF16, AS_UNSUPPORTED, "supports f32 and f16 only, not bf16");
    refused("", AS_GEMM_S8, AS_UNSUPPORTED, "supports f32 and f16 only, not s8 with results in s32");
    refused("nomps", AS_GEMM_F16, AS_UNSUPPORTED, "do not support this device");
    refused("noproduct", AS_GEMM_F32, AS_FAILED, "for f32");
}

/* A GPU failure is reported by the GEMM. */
static void test_fails(void **state)
{
    const struct as_gemm_desc d = desc_of(AS_GEMM_LIBRARY, AS_GEMM_F32, 64);
    struct as_gemm p;
    struct as_timing t;
    struct as_error err = {0};
    (void)state;
    open_stand_in("");
    check_ok(as_gemm_prepare(&p, &o.dev, &d, &err), &err);
    fake("fault");
    check_fails(as_gemm_run(&p, 3, &t, &err), AS_FAILED, &err, "MPSMatrixMultiplication failed: Caused GPU Address");
    fake("");
    as_gemm_finish(&p);
    close_gpu(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),      cmocka_unit_test(test_unit_types),      cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_tensors),    cmocka_unit_test(test_tensors_refused), cmocka_unit_test(test_wrong_launch),
        cmocka_unit_test(test_planted),    cmocka_unit_test(test_attention),       cmocka_unit_test(test_library),
        cmocka_unit_test(test_transposed), cmocka_unit_test(test_refused),         cmocka_unit_test(test_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
