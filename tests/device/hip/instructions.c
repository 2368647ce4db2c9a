/* The machine code that clang makes of the dialect for AMD chips: every kernel of the probes, and one small kernel for
 * each thing that a compiler would rather do otherwise. Skipped where there is no such compiler. */
#include "../kernel_visits.h"
#include "assembly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *arch;

static const char source[] =
    "KERNEL(walk)(ARG_GLOBAL(0, u64, out), ARG_VALUE(1, u64, at) ARG_INDICES)\n"
    "{ at = FOLLOW(at); at = FOLLOW(at); at = FOLLOW_READ_ONLY(at); at = FOLLOW_SHARED(at); out[0] = at; }\n"
    "KERNEL(count)(ARG_GLOBAL(0, atomic_u32, n) ARG_INDICES)\n"
    "{ ATOMIC_ADD(n, 1u, ORDER_RELAXED, SCOPE_DEVICE); }\n"
    "KERNEL(most)(ARG_GLOBAL(0, atomic_u32, n), ARG_VALUE(1, u32, v) ARG_INDICES)\n"
    "{ ATOMIC_MAX(n, v, ORDER_RELAXED, SCOPE_DEVICE); }\n"
    "KERNEL(local)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n"
    "{ LOCAL atomic_u32 n; n = 0; BARRIER(); ATOMIC_ADD(&n, 1u, ORDER_RELAXED, SCOPE_GROUP); BARRIER(); out[0] = n; }\n"
    "KERNEL(long_count)(ARG_GLOBAL(0, atomic_u64, n) ARG_INDICES)\n"
    "{ ATOMIC_ADD_U64(n, (u64)1, ORDER_RELAXED, SCOPE_SYSTEM); }\n"
    "KERNEL(sum)(ARG_GLOBAL(0, atomic_f64, n) ARG_INDICES)\n"
    "{ ATOMIC_ADD_F64(n, 1.0, ORDER_RELAXED, SCOPE_SYSTEM); }\n"
    "KERNEL(pairs)(ARG_GLOBAL(0, f64x2, a) ARG_INDICES)\n"
    "{ STORE_ONCE_F64X2(a + THREAD + 512, LOAD_ONCE_F64X2(a + THREAD)); a[THREAD + 1024] = LOAD_SHARED_F64X2(a + "
    "THREAD); }\n"
    "KERNEL(clocks)(ARG_GLOBAL(0, u64, out) ARG_INDICES)\n"
    "{\n"
    "#if HAVE_CYCLES\n"
    "    out[0] = CYCLES();\n"
    "#endif\n"
    "    out[1] = NANOS();\n"
    "}\n"
    "typedef f16 f16x4 __attribute__((ext_vector_type(4)));\n"
    "typedef f32 f32x4 __attribute__((ext_vector_type(4)));\n"
    "KERNEL(matrix)(ARG_GLOBAL(0, f16x4, a), ARG_GLOBAL(1, f32x4, c) ARG_INDICES)\n"
    "{\n"
    "#if defined(__gfx90a__) || defined(__gfx942__)\n"
    "    c[THREAD] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[THREAD], a[THREAD + 64], c[THREAD], 0, 0, 0);\n"
    "#endif\n"
    "}\n";

/* How many instructions of these names a kernel has for a chip; "gfx" is any. */
static const struct wanted {
    const char *arch, *kernel, *names;
    unsigned least, most;
} wanted[] = {
    /* vectors walk, and the scalar unit loads no more than the arguments */
    {"gfx", "walk", "global_load_dwordx2 global_load_b64", 4, 4},
    {"gfx", "walk", "s_load_", 1, 2},
    {"gfx", "walk", "flat_", 0, 0},
    /* one operation a lane: what is added for a whole wave is counted first */
    {"gfx", "count", "global_atomic_add", 1, 1},
    {"gfx", "count", "s_bcnt v_mbcnt", 0, 0},
    {"gfx", "most", "global_atomic_umax global_atomic_max_u32", 1, 1},
    {"gfx", "most", "v_cmpx s_and_saveexec v_mbcnt", 0, 0},
    {"gfx", "local", "ds_add_u32", 1, 1},
    {"gfx", "local", "s_bcnt v_mbcnt", 0, 0},
    {"gfx", "local", "s_barrier", 2, 2},
    {"gfx", "long_count", "global_atomic_add_x2 global_atomic_add_u64", 1, 1},
    /* floating sums that the host sees: an instruction, or a loop */
    {"gfx942", "sum", "global_atomic_add_f64", 1, 1},
    {"gfx942", "sum", "global_atomic_cmpswap", 0, 0},
    {"gfx90a", "sum", "global_atomic_add_f64", 0, 0},
    {"gfx90a", "sum", "global_atomic_cmpswap_x2", 1, 1},
    {"gfx90a", "sum", "s_cbranch", 1, 9},
    {"gfx1100", "sum", "global_atomic_cmpswap_b64", 1, 1},
    {"gfx", "pairs", "global_load_dwordx4 global_load_b128", 1, 1},
    {"gfx", "pairs", "global_load_dwordx2 global_load_b64", 2, 2},
    {"gfx", "pairs", "global_store_dwordx4 global_store_b128", 2, 2},
    {"gfx90a", "clocks", "s_memtime", 1, 1},
    {"gfx942", "clocks", "s_memtime", 1, 1},
    {"gfx90a", "clocks", "s_memrealtime", 1, 1},
    {"gfx942", "clocks", "s_memrealtime", 1, 1},
    {"gfx1100", "clocks", "s_sendmsg_rtn_b64", 1, 1},
    {"gfx90a", "matrix", "v_mfma_f32_16x16x16f16 v_mfma_f32_16x16x16_f16", 1, 1},
    {"gfx942", "matrix", "v_mfma_f32_16x16x16f16 v_mfma_f32_16x16x16_f16", 1, 1},
};

static void test_words(void **state)
{
    const struct as_program_desc desc = {.name = "words", .source = source};
    unsigned char *text = NULL;
    size_t bytes = 0;
    struct as_error err = {0};
    (void)state;
    if (assembly_of(&desc, arch, &text, &bytes, &err))
        fail_msg("for %s: %s", arch, err.text);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct wanted *w = &wanted[i];
        uint64_t n = 0;
        if (strcmp(w->arch, "gfx") != 0 && strcmp(w->arch, arch) != 0)
            continue;
        if (assembly_count(text, w->kernel, w->names, &n, &err))
            fail_msg("for %s: %s", arch, err.text);
        if (n < w->least || n > w->most)
            fail_msg("for %s: kernel '%s' has %llu of '%s', not %u to %u", arch, w->kernel, (unsigned long long)n,
                     w->names, w->least, w->most);
    }
    free(text);
}

/* Past a unit's own cache, and marked as not needed again: bits of the instruction, by other names on each chip. */
static void test_paths(void **state)
{
    static const char *const shared[][2] = {{"gfx90a", " glc"}, {"gfx942", " sc1"}, {"gfx1100", " glc"}};
    static const char *const once[][2] = {{"gfx90a", " slc"}, {"gfx942", " nt"}, {"gfx1100", " slc"}};
    const struct as_program_desc desc = {.name = "words", .source = source};
    unsigned char *text = NULL;
    size_t bytes = 0;
    struct as_error err = {0};
    (void)state;
    if (assembly_of(&desc, arch, &text, &bytes, &err))
        fail_msg("for %s: %s", arch, err.text);
    unsigned past = 0, marked = 0;
    const char *at = strstr((const char *)text, "\npairs:");
    const char *end = at ? strstr(at, "\n.Lfunc_end") : NULL;
    assert_non_null(end);
    for (; at < end; at = strchr(at + 1, '\n')) {
        char line[160];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        for (size_t k = 0; k < 3; k++) {
            past += strcmp(shared[k][0], arch) == 0 && strstr(line, "global_load") && strstr(line, shared[k][1]) &&
                    !strstr(line, once[k][1]);
            marked += strcmp(once[k][0], arch) == 0 && strstr(line, "global_") && strstr(line, once[k][1]);
        }
    }
    assert_int_equal(past, 2);
    assert_int_equal(marked, 2);
    free(text);
}

static void test_probes(void **state)
{
    /* Of thousands of operations in a row, clang takes the last few apart to add in pairs what they multiplied. */
    static const struct kernel_compiler by = {
        64, 64, "what=code", assembly_of, assembly_operations, assembly_code_bytes};
    (void)state;
    kernel_visits_check(&by, arch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_visits_complete), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_paths), cmocka_unit_test(test_probes)};
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
