/* The kernels for products of matrices as NVRTC compiles them, without a device: for each architecture and type that a
 * path has, they compile, spill nothing, and hold the instructions of the matrix unit that they are about. Skipped
 * where there is no NVRTC. */
#include "gemm.h"
#include "real_nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char as_kernel_gemm_simple[], as_kernel_gemm_mma[], as_kernel_gemm_wgmma[], as_kernel_flash[];

static void check(const char *source, const char *kernel, const char *arch, enum as_product_type type,
                  unsigned epilogue, unsigned cluster, const char *operation, uint64_t wanted)
{
    const struct as_product_format *f = &as_product_formats[type];
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    char defines[128];
    uint64_t n = 0, spilled = 0;
    snprintf(defines, sizeof defines, "-D%s -DOUT_BYTES=%u%s -DEPILOGUE=%u -DCLUSTER=%u -DTILED", f->define,
             f->out_bytes, type == AS_PRODUCT_BF16 ? " -DOUT_BF16" : "", epilogue, cluster);
    const struct as_program_desc desc = {.name = kernel, .source = source, .defines = defines};
    if (nvrtc_compile(&desc, arch, &cubin, &bytes, &err) || as_cubin_count(cubin, bytes, kernel, operation, &n, &err))
        fail_msg("%s of %s for %s: %s", kernel, f->word, arch, err.text);
    struct as_instructions all = {0};
    assert_int_equal(as_cubin_instructions(cubin, bytes, kernel, &all, &err), AS_OK);
    spilled = as_instructions_of(&all, "STL") + as_instructions_of(&all, "LDL");
    free(cubin);
    if (n < wanted || spilled)
        fail_msg("%s of %s for %s has %llu of %s, wanted are %llu, and %llu instructions that spill", kernel, f->word,
                 arch, (unsigned long long)n, operation, (unsigned long long)wanted, (unsigned long long)spilled);
}

/* A step of 128 bytes of K is four instructions. */
static void test_wgmma(void **state)
{
    static const struct {
        enum as_product_type type;
        unsigned epilogue, cluster;
    } cases[] = {{AS_PRODUCT_TF32, 0, 1}, {AS_PRODUCT_BF16, 1, 1}, {AS_PRODUCT_F16, 0, 1}, {AS_PRODUCT_F16, 2, 2},
                 {AS_PRODUCT_E4M3, 0, 2}, {AS_PRODUCT_E5M2, 0, 1}, {AS_PRODUCT_S8, 0, 2}};
    (void)state;
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(as_kernel_gemm_wgmma, "gemm_wgmma", "sm_90a", cases[i].type, cases[i].epilogue, cases[i].cluster,
              "matrix", 4);
}

/* 4 x 4 fragments, two steps in a piece of 64 bytes; some are two instructions of another type. */
static void test_mma(void **state)
{
    static const struct {
        const char *arch;
        enum as_product_type type;
        unsigned epilogue, wanted;
    } cases[] = {
        {"sm_80", AS_PRODUCT_F64, 0, 64},   {"sm_80", AS_PRODUCT_TF32, 0, 32},  {"sm_80", AS_PRODUCT_BF16, 1, 32},
        {"sm_80", AS_PRODUCT_F16, 2, 32},   {"sm_80", AS_PRODUCT_S8, 0, 32},    {"sm_90a", AS_PRODUCT_F64, 0, 16},
        {"sm_90a", AS_PRODUCT_E4M3, 0, 32}, {"sm_90a", AS_PRODUCT_E5M2, 0, 32}, {"sm_100", AS_PRODUCT_F16, 0, 32},
        {"sm_100", AS_PRODUCT_E4M3, 0, 32},
    };
    (void)state;
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(as_kernel_gemm_mma, "gemm_mma", cases[i].arch, cases[i].type, cases[i].epilogue, 1, "matrix",
              cases[i].wanted);
}

static void test_tiled(void **state)
{
    (void)state;
    need_nvrtc();
    check(as_kernel_gemm_simple, "tiled", "sm_80", AS_PRODUCT_F32, 0, 1, "fma.f32", 16 * 64);
    check(as_kernel_gemm_simple, "tiled", "sm_90a", AS_PRODUCT_F64, 0, 1, "fma.f64", 16 * 16);
}

/* Attention: 8 steps of 8 fragments of scores, 4 of 16 of values. */
static void test_flash(void **state)
{
    (void)state;
    need_nvrtc();
    check(as_kernel_flash, "flash", "sm_80", AS_PRODUCT_F16, 0, 1, "matrix", 128);
    check(as_kernel_flash, "flash", "sm_90a", AS_PRODUCT_F16, 0, 1, "matrix", 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wgmma), cmocka_unit_test(test_mma),
                                       cmocka_unit_test(test_tiled), cmocka_unit_test(test_flash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
