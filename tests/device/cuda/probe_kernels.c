/* Every kernel of the probes, compiled by NVRTC for the given architecture without a GPU; with "brief" each value of an
 * axis once. Skipped without NVRTC. */
#include "../kernel_trials.h"
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void test_arch(void **state)
{
    static const struct kernel_lack lacks[] = {{"async_copy", "path=to_lds"}, {NULL, NULL}},
                                    lacks_before_90[] = {{"async_copy", "path=to_lds"},
                                                         {"async_copy", "path=bulk"},
                                                         {"async_copy", "path=tensor"},
                                                         {"cluster_memory", ""},
                                                         {NULL, NULL}},
                                    lacks_of_120[] = {{"async_copy", "path=to_lds"},
                                                      {"cluster_memory", "what=multicast"},
                                                      {NULL, NULL}};
    char **words = *state;
    const unsigned long number = strtoul(words[1] + strlen("sm_"), NULL, 10);
    const struct kernel_compiler by = {.warp = 32,
                                       .dialect = AS_DIALECT_CUDA,
                                       .kib_local = 227,
                                       .brief = words[2] != NULL,
                                       .skips_long = words[2] != NULL,
                                       .lacks = number < 90    ? lacks_before_90
                                                : number < 120 ? lacks
                                                               : lacks_of_120,
                                       .compile = nvrtc_compile,
                                       .count = as_cubin_count,
                                       .code_bytes = as_cubin_code_bytes};
    need_nvrtc();
    kernel_trials_check(&by, words[1]);
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc > 2 && strcmp(argv[2], "brief") != 0))
        return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_trials_complete),
                                       cmocka_unit_test_prestate(test_arch, argv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
