/* clang's machine code for the dialect on AMD chips: every kernel of the probes, and one small kernel for each
 * construct that compilers tend to change. Skipped without such a compiler. */
#include "device/hip/instructions.h"
#include "../kernel_trials.h"
#include "assembly.h"
#include "device/hip/hip.h"
#include "probe/probe.h"
#include "tests/unit_test.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *arch;
static bool brief; /* kernels of the probes: each value of an axis once */

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
    "}\n"
    /* constants after instructions, selects, branches, LDS and private memory */
    "KERNEL(mixed)(ARG_GLOBAL(0, u32, out), ARG_VALUE(1, u32, n), ARG_VALUE(2, f32, f) ARG_INDICES)\n"
    "{\n"
    "    LOCAL u32 l[256];\n"
    "    u32 x = (THREAD ^ 0x12345678u) * n, own[64];\n"
    "    for (u32 i = 0; i < 64; i++) own[i] = x + i * n;\n"
    "    for (u32 i = 0; i < n; i++) { x = own[x & 63] + (x >> 3); own[i & 63] = x; if (x == 77777u) break; }\n"
    "    l[THREAD] = x; BARRIER(); x += l[THREAD ^ 1]; l[THREAD] = x; BARRIER(); x += l[255 - THREAD];\n"
    "    x += (u32)__builtin_amdgcn_update_dpp(0, (int)x, 0x111, 0xf, 0xf, false) * 99999u;\n"
    "    f32 g = FMA_F32(f, 3.25f, 1.5f) * 0.333f + FMA_F32((f32)x, f, 7.75f);\n"
    "    f64 d = FMA_F64((f64)f, (f64)g, 1e-3) * 1.1 + (f64)x;\n"
    "    out[THREAD] = x + (u32)g + (u32)d + (u32)((u64)x * 1234567891234ull >> 32);\n"
    "}\n";

/* Number of instructions of these names in a kernel on a chip; "gfx" is any. */
static const struct wanted {
    const char *arch, *kernel, *names;
    unsigned least, most;
} wanted[] = {
    /* the vector unit chases, and the scalar unit loads only the arguments */
    {"gfx", "walk", "global_load_dwordx2 global_load_b64", 4, 4},
    {"gfx", "walk", "s_load_", 1, 2},
    {"gfx", "walk", "flat_", 0, 0},
    /* one operation per lane; additions of a whole wave are counted first */
    {"gfx", "count", "global_atomic_add", 1, 1},
    {"gfx", "count", "s_bcnt v_mbcnt", 0, 0},
    {"gfx", "most", "global_atomic_umax global_atomic_max_u32", 1, 1},
    {"gfx", "most", "v_cmpx s_and_saveexec v_mbcnt", 0, 0},
    {"gfx", "local", "ds_add_u32", 1, 1},
    {"gfx", "local", "s_bcnt v_mbcnt", 0, 0},
    {"gfx", "local", "s_barrier", 2, 2},
    {"gfx", "long_count", "global_atomic_add_x2 global_atomic_add_u64", 1, 1},
    /* float sums visible to the host: an instruction, or a loop */
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

/* The compiled source, owned by the caller; each is compiled once. */
static unsigned char *words(size_t *bytes)
{
    static unsigned char *compiled;
    static size_t n;
    const struct as_program_desc desc = {.name = "words", .source = source};
    struct as_error err = {0};
    if (!compiled && assembly_of(&desc, arch, &compiled, &n, &err))
        fail_msg("for %s: %s", arch, err.text);
    unsigned char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, compiled, n);
    *bytes = n;
    return copy;
}

UNIT_TEST(test_words)
{
    size_t bytes;
    unsigned char *text = words(&bytes);
    struct as_error err = {0};
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

/* Loads that bypass the compute unit's own cache, and are marked as not reused: bits with different names on each
 * chip. */
UNIT_TEST(test_paths)
{
    static const char *const shared[][2] = {{"gfx90a", " glc"}, {"gfx942", " sc1"}, {"gfx1100", " glc"}};
    static const char *const once[][2] = {{"gfx90a", " slc"}, {"gfx942", " nt"}, {"gfx1100", " slc"}};
    size_t bytes;
    unsigned char *text = words(&bytes);
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

/* From the assembly. The machine code must agree. */
static enum as_status count_both_ways(const unsigned char *text, size_t bytes, const char *kernel,
                                      const char *operation, uint64_t *n, struct as_error *err)
{
    enum as_status st = assembly_compare(text, bytes, kernel, err);
    return st ? st : assembly_operations(text, kernel, operation, n, err);
}

static enum as_status code_bytes(const unsigned char *text, size_t bytes, const char *kernel, uint64_t *n,
                                 struct as_error *err)
{
    size_t object_bytes;
    const unsigned char *object = assembly_object(text, bytes, &object_bytes);
    return as_hip_code_bytes(object, object_bytes, kernel, n, err);
}

/* If comgr knows the chip, every word has the same count as in the assembly. */
UNIT_TEST(test_counts)
{
    static const char *const kernels[] = {"walk", "count", "most",   "local",  "long_count",
                                          "sum",  "pairs", "clocks", "matrix", "mixed"};
    size_t bytes, n, known = 0;
    unsigned char *text = words(&bytes);
    struct as_error err = {0};
    const unsigned char *object = assembly_object(text, bytes, &n);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (assembly_compare(text, bytes, kernels[k], &err))
            fail_msg("for %s: %s", arch, err.text);
        for (size_t w = 0; as_operation_words[w]; w++) {
            uint64_t named = 0, coded = 0;
            if (assembly_operations(text, kernels[k], as_operation_words[w], &named, &err))
                continue;
            known++;
            if (!as_hip_count_code(object, n, kernels[k], as_operation_words[w], &coded, &err) && named != coded)
                fail_msg("kernel '%s' for %s has %llu '%s' by its code and %llu by its assembly", kernels[k], arch,
                         (unsigned long long)coded, as_operation_words[w], (unsigned long long)named);
        }
    }
    assert_int_equal(known, 25 * sizeof kernels / sizeof *kernels);
    free(text);
}

/* The gate as used by probes, on a program with one kernel. */
static struct {
    unsigned char *text;
    size_t bytes;
} gated;

static enum as_status count_gated(struct as_device *dev, struct as_kernel *k, const char *operation, uint64_t *n,
                                  struct as_error *err)
{
    (void)dev, (void)k;
    return count_both_ways(gated.text, gated.bytes, "loop", operation, n, err);
}

/* A loop with an unused result is removed, and the gate detects it. */
UNIT_TEST(test_folded)
{
    static const struct as_program_ops ops = {.count = count_gated};
    static const struct {
        const char *defines;
        enum as_gate_state wanted;
    } rows[] = {{"-DKEEP=x", AS_GATE_PASS}, {"-DKEEP=1.0f", AS_GATE_FAIL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct as_program_desc desc = {
            .name = "loop",
            .defines = rows[i].defines,
            .source = "KERNEL(loop)(ARG_GLOBAL(0, f32, out), ARG_VALUE(1, f32, y) ARG_INDICES)\n"
                      "{ f32 x = y; for (u32 i = 0; i < 64; i++) x = FMA_F32(x, y, y); out[THREAD] = KEEP; }\n"};
        struct as_device dev = {.info = {.capabilities = AS_CAP_CODE}, .program = &ops};
        struct as_trial_context tc = {.dev = &dev};
        struct as_error err = {0};
        if (assembly_of(&desc, arch, &gated.text, &gated.bytes, &err))
            fail_msg("for %s: %s", arch, err.text);
        as_expect_code(&tc, NULL, "fma.f32", 64);
        if (tc.code != rows[i].wanted)
            fail_msg("%s for %s: %s", rows[i].defines, arch, tc.code_text);
        as_buf_finish(&tc.detail);
        free(gated.text);
    }
}

/* The count of each instruction, by its name on every generation. */
UNIT_TEST(test_names)
{
    static const struct {
        const char *instruction, *word;
        unsigned n;
    } rows[] = {
        {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "fma.f32", 2},
        {"v_pk_fma_f16 v0, v1, v2, v3", "fma.f16", 1},
        {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5", "fma.f32", 1},
        {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5", "add.f32", 1},
        {"v_dual_mul_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", "mul.f32", 2},
        {"v_dual_mul_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", "any", 1},
        {"ds_read2_b32 v[0:1], v2 offset1:1", "load.local", 2},
        {"ds_load_2addr_stride64_b64 v[0:3], v4", "load.local", 2},
        {"ds_store_b32 v0, v1", "store.local", 1},
        {"ds_wrxchg_rtn_b32 v0, v1, v2", "store.local", 0},
        {"ds_wrxchg_rtn_b32 v0, v1, v2", "atomic.local", 1},
        {"global_load_lds_dword v[0:1], off", "load.global", 0},
        {"global_load_lds_dword v[0:1], off", "load.async", 1},
        {"global_load_dword v[0:1], off lds", "load.global", 0},
        {"global_load_dword v[0:1], off lds", "load.async", 1},
        {"global_load_dword v1, v[0:1], off", "load.async", 0},
        {"flat_load_b128 v[0:3], v[4:5]", "load.global.128", 1},
        {"s_barrier_signal -1", "barrier", 1},
        {"s_barrier_wait -1", "barrier", 0},
        {"s_nop 0", "any", 0},
        {"s_code_end", "any", 0},
        {"v_add_f32_e32 v0, v1, v2", "no word", 0},
    };
    static const char *const names[][2] = {{"v_add_f32_e32 v0, v1, v2", "v_add_f32"},
                                           {"v_mov_b32_e64_dpp v0, v1 row_shr:1", "v_mov_b32"},
                                           {"v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", "v_dual_mov_b32"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (as_amd_does(rows[i].instruction, rows[i].word) != rows[i].n)
            fail_msg("'%s' is not %u of '%s'", rows[i].instruction, rows[i].n, rows[i].word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct as_instructions list = {.n = 0};
        as_amd_add_names(names[i][0], &list);
        assert_int_equal(as_instructions_of(&list, names[i][1]), 1);
    }
}

/* If some bytes are not an instruction, there is no count. */
UNIT_TEST(test_lost)
{
    static const unsigned char constant[] = {0x78, 0x56, 0x34, 0x12}, none[] = {0xff, 0xff, 0xff, 0xff};
    size_t bytes, n;
    unsigned char *text = words(&bytes);
    struct as_error err = {0};
    uint64_t whole, out = 1;
    unsigned char *object = text + (assembly_object(text, bytes, &n) - text);
    enum as_status st = as_hip_count_code(object, n, "mixed", "any", &whole, &err);
    assert_true(st == AS_OK ? whole > 50 : st == AS_UNSUPPORTED && whole == 0);
    unsigned char *at = memmem(object, n, constant, sizeof constant);
    assert_non_null(at);
    memcpy(at - sizeof none, none, sizeof none);
    assert_int_equal(as_hip_count_code(object, n, "mixed", "any", &out, &err), AS_UNSUPPORTED);
    assert_int_equal(out, 0);
    if (!st)
        assert_non_null(strstr(err.text, "cannot decode the kernel at byte"));
    object[offsetof(Elf64_Ehdr, e_flags)] = 0x01;
    assert_int_equal(as_hip_count_code(object, n, "mixed", "any", &out, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "for another chip"));
    free(text);
}

UNIT_TEST(test_probes)
{
    /* In a sequence of thousands of operations, clang splits the last few to add their products in pairs. */
    const struct kernel_compiler by = {.warp = 64,
                                       .dialect = AS_DIALECT_HIP,
                                       .kib_local = 64,
                                       .loose = "what=ifetch",
                                       .brief = brief,
                                       .skips_long = brief,
                                       .lacks = hip_kernel_lacks(arch),
                                       .compile = assembly_of,
                                       .count = count_both_ways,
                                       .code_bytes = code_bytes};
    kernel_trials_check(&by, arch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_trials_complete),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_paths),
                                       cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_folded),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_probes)};
    const char *clang = getenv("ASSAY_HIP_CLANG");
    if (argc < 2 || (argc > 2 && strcmp(argv[2], "brief") != 0))
        return 2;
    arch = argv[1];
    brief = argc > 2;
    if (!clang || !clang[0]) {
        puts("skipped: no clang of version 17 or later, which compiles for AMD chips; install clang-19");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
