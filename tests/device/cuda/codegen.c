/* The compiler's code for probe codegen's kernels on the given architecture, with known answers: additions in global
 * memory of every type are one instruction without a loop, whether their result is used or not. Skipped without
 * NVRTC. */
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdlib.h>

extern const char as_kernel_codegen[];

enum { MORE = 8 }; /* copies in the longer kernel minus those in the shorter */
#define ATOMIC(value, element, add, order, scope, dropped, op)                                                         \
    "-DOP=" op " -DVALUE=" value " -DELEMENT=" element " -DADD=" add " -DHAS_ADD=1 -DFMA=FMA_F32 -DORDER=ORDER_" order \
    " -DSCOPE=SCOPE_" scope " -DDROPPED=" dropped " -DNEEDS_ORDER=1 -DNEEDS_SEQ_CST=0 -DNEEDS_SYSTEM=1 -DNEEDS_F64=0"
#define PLAIN(value, fma, op)                                                                                          \
    "-DOP=" op " -DVALUE=" value " -DELEMENT=u32 -DADD=ATOMIC_ADD -DHAS_ADD=1 -DFMA=" fma                              \
    " -DORDER=ORDER_RELAXED -DSCOPE=0 -DDROPPED=0 -DNEEDS_ORDER=0 -DNEEDS_SEQ_CST=0 -DNEEDS_SYSTEM=0 -DNEEDS_F64=1"
static const struct {
    const char *defines, *word;
    int exact; /* instructions for one operation; 0: more than one */
} rows[] = {
    {ATOMIC("u32", "atomic_u32", "ATOMIC_ADD", "RELAXED", "DEVICE", "0", "0"), "atomic.global", 1},
    {ATOMIC("u64", "atomic_u64", "ATOMIC_ADD_U64", "RELAXED", "SYSTEM", "0", "0"), "atomic.global", 1},
    {ATOMIC("f32", "atomic_f32", "ATOMIC_ADD_F32", "RELAXED", "DEVICE", "0", "0"), "atomic.global", 1},
    {ATOMIC("f64", "atomic_f64", "ATOMIC_ADD_F64", "RELAXED", "SYSTEM", "0", "0"), "atomic.global", 1},
    {ATOMIC("f64", "atomic_f64", "ATOMIC_ADD_F64", "RELAXED", "SYSTEM", "1", "0"), "atomic.global", 1},
    {ATOMIC("u32", "atomic_u32", "ATOMIC_ADD", "SEQ_CST", "SYSTEM", "0", "0"), "atomic.global", 0},
    {ATOMIC("u32", "atomic_u32", "ATOMIC_ADD", "RELAXED", "DEVICE", "0", "1"), "atomic.global", 1},
    {ATOMIC("u32", "atomic_u32", "ATOMIC_ADD", "RELAXED", "DEVICE", "0", "3"), "atomic.global", 1},
    {PLAIN("f32", "FMA_F32", "4"), "add.f32", 1},
    {PLAIN("f64", "FMA_F64", "5"), "mul.f64", 1},
    {PLAIN("f32", "FMA_F32", "6"), "fma.f32", 1},
    {PLAIN("f64", "FMA_F64", "6"), "fma.f64", 1},
    {PLAIN("f64", "FMA_F64", "7"), NULL, 0},
    {PLAIN("u64", "FMA_F64", "7"), NULL, 0},
};

static int extra_instructions(const unsigned char *cubin, size_t bytes, const char *word)
{
    uint64_t few = 0, many = 0;
    assert_int_equal(as_cubin_count(cubin, bytes, "few", word, &few, NULL), AS_OK);
    assert_int_equal(as_cubin_count(cubin, bytes, "many", word, &many, NULL), AS_OK);
    return (int)many - (int)few;
}

static void test_arch(void **state)
{
    const char *arch = *state;
    struct as_error err = {0};
    need_nvrtc();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct as_program_desc desc = {
            .name = "codegen", .source = as_kernel_codegen, .defines = rows[i].defines};
        unsigned char *cubin = NULL;
        size_t bytes = 0;
        if (nvrtc_compile(&desc, arch, &cubin, &bytes, &err))
            fail_msg("row %zu for %s: %s", i, arch, err.text);
        int all = extra_instructions(cubin, bytes, "any");
        print_message("%s, row %zu: %g instructions\n", arch, i, (double)all / MORE);
        if (rows[i].exact ? all != MORE * rows[i].exact : all <= MORE)
            fail_msg("row %zu for %s: %d instructions more for %d operations", i, arch, all, (int)MORE);
        if (rows[i].word && extra_instructions(cubin, bytes, rows[i].word) != MORE)
            fail_msg("row %zu for %s: not one %s each", i, arch, rows[i].word);
        assert_int_equal(extra_instructions(cubin, bytes, "swap.global"), 0);
        free(cubin);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_arch, argv[1])};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
