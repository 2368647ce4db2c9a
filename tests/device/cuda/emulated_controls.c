/* The language's own operations in probe emulated, with which emulated ones are compared, run at the rate of the
 * device: as NVRTC compiles them, the loop's own instructions are under 5% of a turn. Skipped without NVRTC. */
#include "probes/alu/emulated/arithmetic.h"
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>

extern const char as_kernel_emulated[];

enum { PASS_OPERATIONS = 16, LOOP_INSTRUCTIONS = 6 /* counter, comparison, branch, and moves of constants */ };

static void check_control(const char *name, const char *instruction)
{
    const struct as_emulated *op = as_emulated_find(name);
    struct as_error err = {0};
    struct as_instructions found = {.n = 0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    char defines[200];
    assert_non_null(op);
    snprintf(defines, sizeof defines, "-DIN_%s -DOP(a,b,c)=%s -DCLASSES=4 -DPASSES=%u%s", op->number, op->call,
             op->passes, op->format == AS_EMULATED_INTEGER ? " -DWEAVES" : "");
    const struct as_program_desc desc = {.name = name, .source = as_kernel_emulated, .defines = defines};
    if (nvrtc_compile(&desc, "sm_90a", &cubin, &bytes, &err) ||
        as_cubin_instructions(cubin, bytes, "chains", &found, &err))
        fail_msg("%s: %s", name, err.text);
    const uint64_t n = as_instructions_of(&found, instruction);
    for (size_t i = 0; getenv("ASSAY_SHOW") && i < found.n; i++)
        print_message("%s: %llu %s\n", name, (unsigned long long)found.list[i].n, found.list[i].name);
    free(cubin);
    if (n < PASS_OPERATIONS * op->passes || n < 19 * LOOP_INSTRUCTIONS)
        fail_msg("%s: a turn has %llu %s", name, (unsigned long long)n, instruction);
}

UNIT_TEST(test_controls)
{
    need_nvrtc();
    check_control("f32_add", "FADD");
    check_control("f32_mul", "FMUL");
    check_control("f32_fma", "FFMA");
    check_control("f64_fma", "DFMA");
    check_control("i64_add", "IADD3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_controls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
