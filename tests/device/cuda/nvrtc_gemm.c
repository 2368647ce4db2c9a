/* GEMM kernels compiled by NVRTC, without a device: for each architecture and type of a path they compile, spill
 * nothing, and contain the expected instructions of the matrix unit. Skipped without NVRTC. */
#include "probes/apps/attention/attention.h"
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_gemm_simple[], as_kernel_gemm_mma[], as_kernel_gemm_wgmma[], as_kernel_gemm_wmma[];

static void check_program(const struct as_program_desc *desc, const char *kernel, const char *arch,
                          const char *operation, uint64_t wanted)
{
    struct as_error err = {0};
    struct as_instructions all = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    uint64_t n = 0, spilled = 0;
    if (nvrtc_compile(desc, arch, &cubin, &bytes, &err) || as_cubin_count(cubin, bytes, kernel, operation, &n, &err))
        fail_msg("%s with %s for %s: %s", kernel, desc->defines, arch, err.text);
    assert_int_equal(as_cubin_instructions(cubin, bytes, kernel, &all, &err), AS_OK);
    spilled = as_instructions_of(&all, "STL") + as_instructions_of(&all, "LDL");
    free(cubin);
    if (n < wanted || spilled)
        fail_msg("%s with %s for %s has %llu of %s, wanted are %llu, and %llu instructions that spill", kernel,
                 desc->defines, arch, (unsigned long long)n, operation, (unsigned long long)wanted,
                 (unsigned long long)spilled);
}

static void gemm_defines(enum as_gemm_type type, unsigned epilogue, unsigned cluster, char *out, size_t size)
{
    const struct as_gemm_format *f = &as_gemm_formats[type];
    snprintf(out, size, "-D%s -DOUT_BYTES=%u%s -DEPILOGUE=%u -DCLUSTER=%u -DTILED", f->define, f->out_bytes,
             type == AS_GEMM_BF16 ? " -DOUT_BF16" : "", epilogue, cluster);
}

static void check_tile(const char *source, const char *kernel, const char *arch, enum as_gemm_type type,
                       unsigned epilogue, unsigned cluster, const char *tile, const char *operation, uint64_t wanted)
{
    char defines[160];
    gemm_defines(type, epilogue, cluster, defines, sizeof defines);
    strcat(defines, tile);
    const struct as_program_desc desc = {.name = kernel, .source = source, .defines = defines};
    check_program(&desc, kernel, arch, operation, wanted);
}

static void check_kernel(const char *source, const char *kernel, const char *arch, enum as_gemm_type type,
                         unsigned epilogue, unsigned cluster, const char *operation, uint64_t wanted)
{
    check_tile(source, kernel, arch, type, epilogue, cluster, "", operation, wanted);
}

/* Every tile that a path may choose compiles, has its instructions and spills nothing. */
UNIT_TEST(test_tiles)
{
    static const struct {
        const char *source, *kernel;
        enum as_gemm_path path;
        const char *arch;
        unsigned wanted;
    } paths[] = {
        {as_kernel_gemm_mma, "gemm_mma", AS_GEMM_MMA, "sm_90a", 16},
        {as_kernel_gemm_wmma, "gemm_mma", AS_GEMM_WMMA, "sm_80", 16},
        {as_kernel_gemm_wgmma, "gemm_wgmma", AS_GEMM_WGMMA, "sm_90a", 4},
        {as_kernel_gemm_wgmma, "gemm_wgmma", AS_GEMM_PAIR, "sm_90a", 4},
    };
    static const enum as_gemm_type types[] = {AS_GEMM_F64, AS_GEMM_TF32, AS_GEMM_F16, AS_GEMM_BF16, AS_GEMM_S8};
    need_nvrtc();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (size_t t = paths[i].wanted == 4; t < sizeof types / sizeof *types; t++) {
            const struct as_device_info info = {.dialect = "cuda"};
            const struct as_gemm_desc d = {.path = paths[i].path, .type = types[t], .m = 1024, .n = 1024, .k = 1024};
            const unsigned cluster = paths[i].path == AS_GEMM_PAIR ? 2 : 1;
            struct as_gemm_tile tiles[AS_GEMM_TILES_MAX];
            const size_t n = as_gemm_tiles(&info, &d, tiles);
            assert_true(n >= 2);
            for (size_t k = 0; k < n; k++) {
                char tile[48];
                snprintf(tile, sizeof tile, " -DTILE_M=%u -DTILE_N=%u", tiles[k].m / cluster, tiles[k].n);
                check_tile(paths[i].source, paths[i].kernel, paths[i].arch, types[t], 0, cluster, tile, "matrix",
                           paths[i].wanted);
            }
        }
}

/* A step of 128 bytes of K is four instructions. */
UNIT_TEST(test_wgmma)
{
    static const struct {
        enum as_gemm_type type;
        unsigned epilogue, cluster;
    } cases[] = {{AS_GEMM_TF32, 0, 1}, {AS_GEMM_BF16, 1, 1}, {AS_GEMM_F16, 0, 1}, {AS_GEMM_F16, 2, 2},
                 {AS_GEMM_E4M3, 0, 2}, {AS_GEMM_E5M2, 0, 1}, {AS_GEMM_S8, 0, 2}};
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_kernel(as_kernel_gemm_wgmma, "gemm_wgmma", "sm_90a", cases[i].type, cases[i].epilogue, cases[i].cluster,
                     "matrix", 4);
}

/* 4 x 4 fragments, two steps per 64 bytes; for some types two instructions. */
UNIT_TEST(test_mma)
{
    static const struct {
        const char *arch;
        enum as_gemm_type type;
        unsigned epilogue, wanted;
    } cases[] = {
        {"sm_80", AS_GEMM_F64, 0, 64},    {"sm_80", AS_GEMM_TF32, 0, 32},  {"sm_80", AS_GEMM_BF16, 1, 32},
        {"sm_80", AS_GEMM_F16, 2, 32},    {"sm_80", AS_GEMM_S8, 0, 32},    {"sm_90a", AS_GEMM_F64, 0, 16},
        {"sm_90a", AS_GEMM_E4M3, 0, 32},  {"sm_90a", AS_GEMM_E5M2, 0, 32}, {"sm_100a", AS_GEMM_F16, 0, 32},
        {"sm_100a", AS_GEMM_E4M3, 0, 32},
    };
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_kernel(as_kernel_gemm_mma, "gemm_mma", cases[i].arch, cases[i].type, cases[i].epilogue, 1, "matrix",
                     cases[i].wanted);
}

/* Conversions of operands tell an emulated type from a native one: an 8-bit fragment of A and one of B, 16 and 8
 * numbers per lane, two at a time. Those of results, at least one per two, do not count. */
UNIT_TEST(test_conversions)
{
    enum { FRAGMENTS = 4, STEPS = 2, EMULATED = FRAGMENTS * STEPS * (16 + 8) / 2 };
    static const struct {
        const char *source, *kernel, *arch;
        enum as_gemm_type type;
        unsigned operands, results;
    } cases[] = {
        {as_kernel_gemm_wgmma, "gemm_wgmma", "sm_90a", AS_GEMM_F16, 0, 64},
        {as_kernel_gemm_wgmma, "gemm_wgmma", "sm_90a", AS_GEMM_E4M3, 0, 64},
        {as_kernel_gemm_wgmma, "gemm_wgmma", "sm_90a", AS_GEMM_E5M2, 0, 64},
        {as_kernel_gemm_mma, "gemm_mma", "sm_80", AS_GEMM_BF16, 0, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_89", AS_GEMM_E4M3, 0, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_90a", AS_GEMM_F16, 0, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_90a", AS_GEMM_E4M3, EMULATED, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_90a", AS_GEMM_E5M2, EMULATED, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_100a", AS_GEMM_E4M3, EMULATED, 32},
        {as_kernel_gemm_mma, "gemm_mma", "sm_120a", AS_GEMM_E4M3, 0, 32},
    };
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = {0};
        unsigned char *cubin = NULL;
        size_t bytes = 0;
        uint64_t operands = 0, all = 0;
        char defines[160];
        gemm_defines(cases[i].type, 0, 1, defines, sizeof defines);
        const struct as_program_desc desc = {.name = cases[i].kernel, .source = cases[i].source, .defines = defines};
        if (nvrtc_compile(&desc, cases[i].arch, &cubin, &bytes, &err) ||
            as_cubin_count(cubin, bytes, cases[i].kernel, "convert", &all, &err) ||
            as_cubin_count(cubin, bytes, cases[i].kernel, "convert.operand", &operands, &err))
            fail_msg("%s with %s for %s: %s", cases[i].kernel, defines, cases[i].arch, err.text);
        free(cubin);
        if (operands != cases[i].operands || all < operands + cases[i].results)
            fail_msg(
                "%s with %s for %s: %llu conversions, %llu of operands; wanted are %u of operands and %u of results",
                cases[i].kernel, defines, cases[i].arch, (unsigned long long)all, (unsigned long long)operands,
                cases[i].operands, cases[i].results);
    }
}

UNIT_TEST(test_tiled)
{
    need_nvrtc();
    check_kernel(as_kernel_gemm_simple, "tiled", "sm_80", AS_GEMM_F32, 0, 1, "fma.f32", 16 * 64);
    check_kernel(as_kernel_gemm_simple, "tiled", "sm_90a", AS_GEMM_F64, 0, 1, "fma.f64", 16 * 16);
}

/* Attention. By mma.sync: 8 steps of 8 fragments of scores, 4 of 16 of values; by wgmma two products of 8 steps in the
 * loop, one of them also before it and after it. */
UNIT_TEST(test_flash)
{
    static const struct {
        const char *arch;
        enum as_attention_path path;
        unsigned wanted;
    } cases[] = {{"sm_80", AS_ATTENTION_FLASH, 128},       {"sm_90a", AS_ATTENTION_FLASH, 128},
                 {"sm_90a", AS_ATTENTION_SPLIT, 128},      {"sm_90a", AS_ATTENTION_FLASH_WGMMA, 32},
                 {"sm_90a", AS_ATTENTION_SPLIT_WGMMA, 32}, {"sm_100a", AS_ATTENTION_FLASH, 128}};
    need_nvrtc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_device_info info = {.dialect = "cuda", .capabilities = AS_CAP_SOURCE};
        const struct as_attention_desc d = {.path = cases[i].path, .length = 512, .heads = 1};
        struct as_buf source = AS_BUF_INIT;
        struct as_error err = {0};
        char defines[96];
        snprintf(info.arch, sizeof info.arch, "%s", cases[i].arch);
        assert_int_equal(as_attention_flash_steps(&info, d.path), cases[i].wanted);
        assert_int_equal(as_attention_flash_program(&info, &d, &source, defines, sizeof defines, &err), AS_OK);
        const struct as_program_desc desc = {.name = "flash", .source = as_buf_get(&source), .defines = defines};
        check_program(&desc, "flash", cases[i].arch, "matrix", cases[i].wanted);
        as_buf_finish(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wgmma), cmocka_unit_test(test_mma),
                                       cmocka_unit_test(test_tiled), cmocka_unit_test(test_flash),
                                       cmocka_unit_test(test_tiles), cmocka_unit_test(test_conversions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
