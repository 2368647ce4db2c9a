/* Every kernel of the probes as NVRTC compiles it for three generations, without a GPU. Skipped where there is no
 * NVRTC. */
#include "../kernel_visits.h"
#include "device/cuda/cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct as_nvrtc_api nvrtc;

static enum as_status compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    return as_cu_compile(&nvrtc, desc, arch, code, bytes, err);
}

static void test_arch(void **state)
{
    static const struct kernel_compiler by = {32, 227, NULL, false, compile, as_cubin_count, as_cubin_code_bytes};
    struct as_error err = {0};
    if (!nvrtc.library && as_nvrtc_load(&nvrtc, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    kernel_visits_check(&by, *state);
}

int main(void)
{
    static char old[] = "sm_80", middle[] = "sm_90a", recent[] = "sm_100";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_visits_complete), cmocka_unit_test_prestate(test_arch, old),
        cmocka_unit_test_prestate(test_arch, middle), cmocka_unit_test_prestate(test_arch, recent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
