/* The real compiler, if installed, without a device: the probes' programs for the chip named by argv[1]. An old version
 * ends the process if it does not know the chip. */
#include "../check.h"
#include "../kernel_trials.h"
#include "device/hip/hip.h"

#include <stdio.h>
#include <stdlib.h>

static struct as_hiprtc_api rtc;
static struct as_hip_target target;

static enum as_status compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    (void)arch;
    return as_hip_compile(&rtc, desc, &target, code, bytes, err);
}

static void test_probes(void **state)
{
    const struct kernel_compiler by = {.warp = 64,
                                       .dialect = AS_DIALECT_HIP,
                                       .kib_local = 64,
                                       .loose = "what=ifetch",
                                       .brief = true,
                                       .lacks = hip_kernel_lacks(target.arch),
                                       .compile = compile,
                                       .count = as_hip_count_code,
                                       .code_bytes = as_hip_code_bytes};
    (void)state;
    kernel_trials_check(&by, target.arch);
}

static void test_managed_static(void **state)
{
    static const struct as_program_desc desc = {
        .name = "static",
        .source = "__attribute__((device, managed)) unsigned char as_static[100];\n"
                  "KERNEL(as_where)(ARG_GLOBAL(0, u64, out) ARG_INDICES) { out[0] = (u64)&as_static[0]; }\n"};
    unsigned char *code = NULL;
    size_t bytes = 0;
    struct as_error err = {0};
    (void)state;
    check_ok(as_hip_compile(&rtc, &desc, &target, &code, &bytes, &err), &err);
    free(code);
}

static void test_errors(void **state)
{
    static const struct as_program_desc desc = {.name = "wrong",
                                                .source = "KERNEL(k)(ARG_GLOBAL(0, u32, p)) { p = x; }"};
    unsigned char *code = NULL;
    size_t bytes = 0;
    struct as_error err = {0};
    (void)state;
    check_fails(as_hip_compile(&rtc, &desc, &target, &code, &bytes, &err), AS_FAILED, &err, "undeclared identifier");
    assert_null(code);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest kernels[] = {cmocka_unit_test(test_probes)},
                            words[] = {cmocka_unit_test(test_managed_static), cmocka_unit_test(test_errors)};
    struct as_hip_api api;
    struct as_error err = {0};
    if (argc != 3)
        return 2;
    as_hip_parse_target(argv[1], NULL, &target);
    target.wall_khz = 100000;
    /* The compiler without its runtime is enough. */
    void *runtime = as_hip_load(&api, &err) ? NULL : api.library;
    if (as_hiprtc_load(&rtc, runtime, &err)) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    return strcmp(argv[2], "kernels") == 0 ? cmocka_run_group_tests(kernels, NULL, NULL)
                                           : cmocka_run_group_tests(words, NULL, NULL);
}
