/* GEMM and attention on AMD's matrix units, compiled by clang without a device: for each type with an instruction on
 * the chip the kernel compiles, spills nothing, and its loop contains the expected number of that instruction, in
 * assembly and machine code; every other type gives a reason. Skipped without such a compiler. */
#include "assembly.h"
#include "device/hip/hip.h"
#include "lib/ops/code.h"
#include "probes/apps/attention/attention.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_device_info info = {.dialect = "hip", .capabilities = AS_CAP_SOURCE | AS_CAP_FP64};

/* Types for which each chip has an instruction: architectures' manuals, "Matrix Arithmetic Instructions" and "WMMA". */
static const struct {
    const char *arch;
    unsigned types;
} has[] = {
#define BIT(type) (1u << AS_GEMM_##type)
    {"gfx90a", BIT(F64) | BIT(F32) | BIT(BF16) | BIT(F16) | BIT(S8)},
    {"gfx942", BIT(F64) | BIT(F32) | BIT(TF32) | BIT(BF16) | BIT(F16) | BIT(E4M3FNUZ) | BIT(E5M2FNUZ) | BIT(S8)},
    {"gfx1100", BIT(BF16) | BIT(F16) | BIT(S8)},
    {"gfx1030", 0},
};

static void check_code(const char *kernel, const struct as_matrix *m, uint64_t wanted, const unsigned char *code,
                       size_t bytes)
{
    struct as_instructions text = {.n = 0};
    struct as_error err = {0};
    uint64_t spills = 0;
    if (assembly_instructions(code, kernel, &text, &err) || assembly_compare(code, bytes, kernel, &err) ||
        assembly_count(code, kernel, "scratch_ buffer_load buffer_store", &spills, &err))
        fail_msg("%s", err.text);
    if (as_code_count(&text, m->code) != wanted || spills)
        fail_msg("%s by %s for %s: %llu of %s, wanted are %llu; %llu instructions that spill", kernel, m->name,
                 info.arch, (unsigned long long)as_code_count(&text, m->code), m->code, (unsigned long long)wanted,
                 (unsigned long long)spills);
    if (getenv("ASSAY_SHOW"))
        print_message("%s by %s for %s: %llu of %s\n", kernel, m->name, info.arch, (unsigned long long)wanted, m->code);
}

static void check_kernel(const char *kernel, enum as_gemm_type type, uint64_t wanted,
                         const struct as_program_desc *desc)
{
    struct as_error err = {0};
    unsigned char *code = NULL;
    size_t bytes = 0;
    if (assembly_of(desc, info.arch, &code, &bytes, &err))
        fail_msg("%s of %s for %s: %s", kernel, as_gemm_type_words[type], info.arch, err.text);
    check_code(kernel, as_gemm_unit(&info, type), wanted, code, bytes);
    free(code);
}

static void check_product(const struct as_gemm_desc *d)
{
    const struct as_matrix *m = as_gemm_unit(&info, d->type);
    struct as_buf source = AS_BUF_INIT;
    struct as_error err = {0};
    char defines[96];
    const struct as_gemm_tile tile = {128, 128};
    assert_int_equal(as_gemm_unit_program(m, d, tile, &source, defines, sizeof defines, &err), AS_OK);
    const struct as_program_desc desc = {.name = "gemm_mma", .source = as_buf_get(&source), .defines = defines};
    check_kernel("gemm_mma", d->type, as_gemm_unit_steps(m, d->type, tile), &desc);
    as_buf_finish(&source);
}

UNIT_TEST(test_compiles)
{
    for (int type = 0; type < AS_GEMM_TYPES; type++) {
        const struct as_gemm_desc d = {.path = AS_GEMM_MMA,
                                       .type = (enum as_gemm_type)type,
                                       .epilogue = type == AS_GEMM_F16 ? AS_GEMM_GELU : AS_GEMM_PLAIN,
                                       .m = 128,
                                       .n = 128,
                                       .k = 128};
        if (as_gemm_applies(&info, &d, NULL) == AS_APPLIES)
            check_product(&d);
    }
}

UNIT_TEST(test_attention)
{
    for (int path = AS_ATTENTION_FLASH; path <= AS_ATTENTION_SPLIT; path++) {
        const struct as_attention_desc d = {.path = (enum as_attention_path)path, .length = 512, .heads = 1};
        struct as_buf source = AS_BUF_INIT;
        struct as_error err = {0};
        char defines[96];
        assert_int_equal(as_attention_applies(&info, &d, &err), AS_APPLIES);
        assert_int_equal(as_attention_flash_program(&info, &d, &source, defines, sizeof defines, &err), AS_OK);
        const struct as_program_desc desc = {.name = "flash", .source = as_buf_get(&source), .defines = defines};
        check_kernel("flash", AS_GEMM_F16, as_attention_flash_steps(&info, d.path), &desc);
        as_buf_finish(&source);
    }
}

UNIT_TEST(test_what_applies)
{
    struct as_device_info other = info;
    struct as_error err = {0};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        for (int type = 0; type < AS_GEMM_TYPES; type++) {
            const struct as_gemm_desc d = {
                .path = AS_GEMM_MMA, .type = (enum as_gemm_type)type, .m = 256, .n = 128, .k = 128};
            snprintf(other.arch, sizeof other.arch, "%s", has[i].arch);
            enum as_applies can = as_gemm_applies(&other, &d, &err);
            if ((can == AS_APPLIES) != (has[i].types >> type & 1))
                fail_msg("%s on %s: %s", as_gemm_type_words[type], other.arch, err.text);
            if (can != AS_APPLIES)
                assert_non_null(strstr(err.text, other.arch));
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_applies), cmocka_unit_test(test_compiles),
                                       cmocka_unit_test(test_attention)};
    const char *clang = getenv("ASSAY_HIP_CLANG");
    if (argc != 2)
        return 2;
    snprintf(info.arch, sizeof info.arch, "%s", argv[1]);
    if (!clang || !clang[0]) {
        puts("skipped: no clang of version 17 or later, which compiles for AMD chips; install clang-19");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
