/* Every AMD matrix instruction, compiled by clang without a device: the program compiles, every step of the peak
 * kernels is the expected machine instruction, and machine code and assembly have the same names. Skipped without such
 * a compiler. */
#include "lib/mma/instructions/matrix.h"
#include "assembly.h"
#include "lib/ops/code.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_record[];

static const struct as_matrix_body body = {.chains = 2, .steps = 8};
static const char *arch;

/* From the assembly. The machine code must agree. */
static void count(const struct as_matrix *m, const unsigned char *text, size_t bytes, const char *kernel,
                  struct as_instructions *out)
{
    struct as_error err = {0};
    if (assembly_instructions(text, kernel, out, &err) || assembly_compare(text, bytes, kernel, &err))
        fail_msg("%s: %s", m->name, err.text);
}

static void check(const struct as_matrix *m)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_instructions half, whole;
    struct as_error err = {0};
    const struct as_code_want want = {m->code, 1};
    unsigned char *code = NULL;
    size_t bytes = 0;
    char why[300];
    double each;
    as_buf_str(&text, as_kernel_record);
    as_matrix_source(m, 0, &body, &text);
    const struct as_program_desc desc = {.name = m->name, .source = as_buf_get(&text)};
    if (assembly_of(&desc, arch, &code, &bytes, &err))
        fail_msg("%s for %s: %s", m->name, arch, err.text);
    count(m, code, bytes, "half_body", &half);
    count(m, code, bytes, "whole_body", &whole);
    if (!as_code_agrees(&half, &whole, body.chains * body.steps / 2, &want, 1, 0, &each, why, sizeof why))
        fail_msg("%s for %s: %s", m->name, arch, why);
    if (getenv("ASSAY_SHOW"))
        print_message("%s for %s: %s\n", m->name, arch, why);
    as_buf_finish(&text);
    free(code);
}

UNIT_TEST(test_instructions)
{
    struct as_device_info info = {.dialect = "hip"};
    size_t seen = 0;
    snprintf(info.arch, sizeof info.arch, "%s", arch);
    for (size_t i = 0; i < as_matrices_n; i++)
        if (as_matrix_applies(&as_matrices[i], &info, NULL) == AS_APPLIES) {
            check(&as_matrices[i]);
            seen++;
        }
    assert_true(seen >= 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions)};
    const char *clang = getenv("ASSAY_HIP_CLANG");
    if (argc != 2)
        return 2;
    arch = argv[1];
    if (!clang || !clang[0]) {
        puts("skipped: no clang of version 17 or later, which compiles for AMD chips; install clang-19");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
