/* Every kernel of the probes in the Metal Shading Language, compiled by the strict stand-in, without a Mac; and the
 * stand-in rejects what the language rejects. Skipped without a suitable clang++. */
#include "../kernel_trials.h"
#include "device/dialect/dialect.h"
#include "msl.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_stream[], as_kernel_roofline[], as_kernel_gemm_simple[];

/* ---- the kernels of the probes ---- */

static enum as_status compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT, translated = AS_BUF_INIT;
    (void)arch;
    as_dialect_source(AS_DIALECT_METAL, desc->source, &source);
    const struct msl_request r = {as_buf_get(&source), desc->defines, MSL_VERSION, false, &translated};
    enum as_status st = msl_compile(&r, NULL, err);
    if (!st) {
        *bytes = translated.len + 1;
        *code = malloc(*bytes);
        st = *code ? AS_OK : as_nomem(err, *bytes, "a program");
    }
    if (!st)
        memcpy(*code, as_buf_get(&translated), *bytes);
    as_buf_finish(&source);
    as_buf_finish(&translated);
    return st;
}

/* There is no machine code: checks only that the kernel exists. */
static enum as_status code_bytes(const unsigned char *code, size_t bytes, const char *kernel, uint64_t *n,
                                 struct as_error *err)
{
    char call[64];
    (void)bytes;
    *n = 0;
    snprintf(call, sizeof call, "\"%s\", msl_call_%s,", kernel, kernel);
    return strstr((const char *)code, call) ? AS_OK : as_fail(err, AS_NOTFOUND, "there is no kernel '%s'", kernel);
}

UNIT_TEST(test_probes)
{
    static const struct kernel_lack lacks[] = {{"roofline", "type=f64"},
                                               {"sharing", ""},
                                               {"onchip_lines", "level=L2"},
                                               {"atomics", "type=u64"},
                                               {"atomics", "type=f64"},
                                               {"atomics", "scope=system"},
                                               {"atomics_lost", "type=u64"},
                                               {"codegen", "op=atomic_add type=u64"},
                                               {"codegen", "type=f64"},
                                               {"codegen", "scope=system"},
                                               {"codegen", "scope=group"},
                                               {"codegen", "order=seq_cst"},
                                               {"onchip", "what=ifetch"},
                                               {"async_copy", "path=cp_async"},
                                               {"async_copy", "path=bulk"},
                                               {"async_copy", "path=tensor"},
                                               {"async_copy", "path=to_lds"},
                                               {"cluster_memory", ""},
                                               {"emulated_gemm", ""},
                                               {"emulated", "op=f64"},
                                               {"sync", "path=two_words"},
                                               {"sync", "result=kept"},
                                               {"sync", "op=max path=native result=dropped memory=shared"},
                                               {"sync", "op=min path=native result=dropped memory=shared"},
                                               {NULL, NULL}};
    static const struct kernel_compiler by = {.warp = 32,
                                              .kib_local = 32,
                                              .brief = true,
                                              .dialect = AS_DIALECT_METAL,
                                              .without = AS_CAP_FP64,
                                              .lacks = lacks,
                                              .compile = compile,
                                              .code_bytes = code_bytes};
    kernel_trials_check(&by, "apple9");
}

static enum as_status check(const char *text, const char *defines, unsigned version, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    as_dialect_source(AS_DIALECT_METAL, text, &source);
    const struct msl_request r = {as_buf_get(&source), defines, version, false, NULL};
    enum as_status st = msl_compile(&r, NULL, err);
    as_buf_finish(&source);
    return st;
}

/* Kernels that require f64 report it themselves. */
UNIT_TEST(test_f64)
{
    struct as_error err = {0};
    assert_int_equal(check(as_kernel_stream, "-DOP=0 -DPER_ITEM=1", MSL_VERSION, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "this device has no f64"));
    assert_int_equal(check(as_kernel_roofline, "-DTYPE=64 -DCHAINS=8 -DLANES=1", MSL_VERSION, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "this device has no f64"));
}

/* GEMM, whose programs are built outside trials. */
UNIT_TEST(test_products)
{
    static const char *const defines[] = {"-DIN_F32 -DEPILOGUE=0 -DTILED",  "-DIN_BF16 -DEPILOGUE=1 -DTILED",
                                          "-DIN_F16 -DEPILOGUE=2 -DTILED",  "-DIN_E4M3 -DEPILOGUE=2 -DTILED",
                                          "-DIN_E5M2 -DEPILOGUE=0 -DTILED", "-DIN_S8 -DEPILOGUE=0 -DTILED"};
    struct as_error err = {0};
    for (size_t i = 0; i < sizeof defines / sizeof *defines; i++)
        if (check(as_kernel_gemm_simple, defines[i], MSL_VERSION, &err))
            fail_msg("%s: %s", defines[i], err.text);
    assert_int_equal(check(as_kernel_gemm_simple, "-DIN_F64 -DEPILOGUE=0 -DTILED", MSL_VERSION, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "unknown type name 'f64'"));
}

/* ---- the words of the dialect ---- */

static const char words[] =
    "FUNCTION u32 twice(GLOBAL const u32 *p, u32 i) { return p[i] * 2; }\n"
    "CONSTANT u32 table[] = {1, 2, 3};\n"
    "KERNEL(all)(ARG_GLOBAL(0, u32, out), ARG_GLOBAL(1, atomic_u32, n), ARG_GLOBAL(2, atomic_f32, sum),\n"
    "            ARG_GLOBAL(3, u32x4, v), ARG_VALUE(4, u64, at), ARG_VALUE(5, f32, f) ARG_INDICES)\n"
    "{\n"
    "    LOCAL u32 l[64];\n"
    "    LOCAL atomic_u32 own;\n"
    "    l[THREAD] = twice(out, (u32)(GLOBAL_THREAD % GLOBAL_THREADS));\n"
    "    if (THREAD == 0)\n"
    "        ATOMIC_STORE(&own, 0u, ORDER_RELAXED, SCOPE_GROUP);\n"
    "    BARRIER();\n"
    "    LOCAL_POINTER(const u32) p = l + THREADS / 2;\n"
    "    CONSTANT_POINTER(u32) t = table + GROUP % 3;\n"
    "    u32 x = p[0] + t[0] + v[GROUPS].w + (u32)FOLLOW(at) + (u32)FOLLOW_READ_ONLY(at) + (u32)FOLLOW_SHARED(at);\n"
    "    LOOP_NOT_UNROLLED\n"
    "    for (u32 i = 0; i < 4; i++)\n"
    "        x += ATOMIC_ADD(&own, x, ORDER_RELAXED, SCOPE_GROUP);\n"
    "    x += ATOMIC_ADD(n, x, ORDER_RELAXED, SCOPE_DEVICE) + ATOMIC_MIN(n, x, ORDER_RELAXED, SCOPE_DEVICE);\n"
    "    x += ATOMIC_MAX(n, x, ORDER_RELAXED, SCOPE_DEVICE) + ATOMIC_EXCHANGE(n, x, ORDER_RELAXED, SCOPE_DEVICE);\n"
    "    x += ATOMIC_LOAD(n, ORDER_RELAXED, SCOPE_DEVICE) + (u32)ATOMIC_ADD_F32(sum, f, ORDER_RELAXED, SCOPE_DEVICE);\n"
    "    f16x2 h = FMA_F16X2(MAKE_F16X2(f, 1.5), MAKE_F16X2(0.5h, f), MAKE_F16X2(f, f));\n"
    "    out[GLOBAL_THREAD] = x + (u32)FMA_F32(f, h.x, h.y);\n"
    "}\n";

UNIT_TEST(test_words)
{
    static const unsigned versions[] = {230, 300, 310};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct as_error err = {0};
        if (check(words, NULL, versions[i], &err))
            fail_msg("version %u: %s", versions[i], err.text);
    }
}

/* ---- what is rejected ---- */

/* Each replaces a valid line of the program below. */
static const struct {
    const char *scope, *argument, *line, *says;
} bad[] = {
    {.line = "u32 *p = 0;", .says = "pointer type must have explicit address space qualifier"},
    {.line = "u32 x = 1; u32 &r = x;", .says = "pointer type must have explicit address space qualifier"},
    {.line = "out[0] = *(u32 *)at;", .says = "pointer type must have explicit address space qualifier"},
    {.scope = "static inline u32 f(const u32 *p) { return *p; }",
     .says = "pointer type must have explicit address space qualifier"},
    {.line = "threadgroup u32 *p = out;", .says = "cannot initialize"},
    {.line = "threadgroup u32 *p = (threadgroup u32 *)out;", .says = "is not allowed"},
    {.line = "out[0] = *(thread u32 *)l;", .says = "is not allowed"},
    {.line = "thread u32 *p = l;", .says = "cannot initialize"},
    {.line = "n = 1;", .says = "const"},
    {.line = "table[0] = 1;", .says = "const"},
    {.line = "if (n) { threadgroup u32 inner[4]; inner[0] = 1; }", .says = "outermost block"},
    {.scope = "static inline void f(void) { threadgroup u32 own[4]; own[0] = 1; }", .says = "outermost block"},
    {.scope = "static u32 counter = 0;", .says = "constant memory"},
    {.argument = ", uint lane", .says = "argument 'lane' of kernel 'k' has no attribute"},
    {.argument = ", device u32 *more", .says = "has no attribute"},
    {.argument = ", device u32 *more [[buffer(31)]]", .says = "buffers 0 to 30"},
    {.argument = ", device u32 *more [[buffer(1)]]", .says = "the place of another"},
    {.argument = ", u32 more [[buffer(2)]]", .says = "must point to device or constant memory"},
    {.argument = ", uint lane [[lane]]", .says = "attribute 'lane'"},
    {.argument = ", float lane [[thread_position_in_grid]]", .says = "thread_position_in_grid"},
    {.line = "double d = 1;", .says = "'double' is not supported"},
    {.line = "long long d = 1;", .says = "'long long' is not supported"},
    {.line = "out[0] = (u32)1ull;", .says = "not supported"},
    {.line = "out[0] = (u32)__builtin_popcount(n);", .says = "'__builtin_popcount' is not supported"},
    {.line = "asm volatile(\"nop\");", .says = "'asm' is not supported"},
    {.line = "goto out; out: return;", .says = "'goto' is not supported"},
    {.line = "out[0] = (u32)sqrtf(1.0f);", .says = "undeclared identifier 'sqrtf'"},
    {.line = "out[0] = min(n, 1);", .says = "ambiguous"},
    {.line = "out[0] = simd_ballot(n != 0);", .says = "from incompatible type"},
    {.line = "out[0] = as_type<u32>(1.0h);", .says = "as_type between types of two sizes"},
    {.line = "atomic_fetch_add_explicit(out, 1u, memory_order_relaxed);", .says = "no matching function"},
    {.line = "atomic_fetch_add_explicit(a, 1u, memory_order_seq_cst);", .says = "undeclared identifier"},
};

static enum as_status refuse(const char *scope, const char *argument, const char *line, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text,
                  "%s\nconstant u32 table[2] = {1, 2};\n"
                  "kernel void k(device u32 *out [[buffer(0)]], constant u32 &n [[buffer(1)]],\n"
                  "    device atomic_uint *a [[buffer(3)]], constant u64 &at [[buffer(4)]]%s)\n"
                  "{\n    threadgroup u32 l[4];\n    l[0] = table[1] + n;\n    %s\n"
                  "    out[0] = l[0] + (u32)at + atomic_load_explicit(a, memory_order_relaxed);\n}\n",
                  scope ? scope : "", argument ? argument : "", line ? line : "");
    enum as_status st = check(as_buf_get(&text), NULL, MSL_VERSION, err);
    as_buf_finish(&text);
    return st;
}

UNIT_TEST(test_refused)
{
    struct as_error err = {0};
    /* the same with valid lines */
    if (refuse("static inline u32 f(device const u32 *p) { return *p; }",
               ", device u32 *more [[buffer(2)]], uint lane [[thread_position_in_threadgroup]]",
               "threadgroup u32 *p = l; p[0] = lane + more[0]; u32 x = 1; thread u32 &r = x; r = (u32)1ul;"
               "out[1] = f((device u32 *)at) + min(n, 1u);",
               &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *what = bad[i].scope ? bad[i].scope : bad[i].argument ? bad[i].argument : bad[i].line;
        if (!refuse(bad[i].scope, bad[i].argument, bad[i].line, &err))
            fail_msg("'%s' is not refused", what);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s' is refused, but by '%s'", what, err.text);
    }
}

/* Matrices and tensors of the language: each line replaces a valid one. */
#define TENSORS                                                                                                        \
    "#include <metal_tensor>\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"                    \
    "using namespace mpp::tensor_ops;\n"
#define PRODUCT(m, element, data, sum)                                                                                 \
    "constexpr auto w = matmul2d_descriptor(" m ", 32, 16); matmul2d<w, execution_simdgroups<1>> o;"                   \
    "tensor<" element ", dextents<int32_t, 2>, tensor_inline> t((" data " *)out, dextents<int32_t, 2>(16, 16));"       \
    "auto s = o.get_destination_cooperative_tensor<decltype(t), decltype(t), " sum ">(); o.run(t, t, s);"
static const struct {
    unsigned version;
    const char *scope, *line, *says; /* says NULL: it is valid */
} units[] = {
    {310, "", "simdgroup_half8x8 a(1.0h); simdgroup_float8x8 c(0); simdgroup_multiply_accumulate(c, a, a, c);", NULL},
    {230, "",
     "simdgroup_float8x8 c; simdgroup_load(c, (device float *)out, 8); simdgroup_store(c, (device float *)out);", NULL},
    {310, "", "simdgroup_matrix<half, 4, 4> a;", "8 x 8 only"},
    {310, "", "simdgroup_matrix<u32, 8, 8> a;", "half, bfloat or float only"},
    {230, "", "simdgroup_bfloat8x8 a;", "simdgroup_bfloat8x8"},
    {310, "", "simdgroup_half8x8 a; simdgroup_load(a, (device float *)out, 8);", "no matching function"},
    {310, "", "simdgroup_half8x8 a; simdgroup_load(a, (device const half *)(constant half *)at, 8);", "not allowed"},
    {310, "", "simdgroup_half8x8 a; simdgroup_float8x8 b, c; simdgroup_multiply_accumulate(c, a, b, c);",
     "factors are of one type"},
    {310, "", "simdgroup_float8x8 a; simdgroup_half8x8 c; simdgroup_multiply_accumulate(c, a, a, c);",
     "type of the factors, or of float"},
    {400, TENSORS, PRODUCT("16", "device half", "device half", "float"), NULL},
    {410, TENSORS, PRODUCT("16", "device metal_fp8_e4m3_format", "device uchar", "float"), NULL},
    {310, TENSORS, "", "'metal_tensor' file not found"},
    {400, TENSORS, PRODUCT("16", "half", "device half", "float"), "must have an address space"},
    {400, TENSORS, PRODUCT("16", "device half", "device float", "float"), "no matching constructor"},
    {400, TENSORS, PRODUCT("16", "device half", "threadgroup half", "float"), "not allowed"},
    {400, TENSORS, PRODUCT("12", "device half", "device half", "float"), "cannot be divided"},
    {400, TENSORS, PRODUCT("16", "device float", "device float", "half"), "does not support this combination"},
    {400, TENSORS, PRODUCT("16", "device metal_fp8_e4m3_format", "device uchar", "float"), "metal_fp8_e4m3_format"},
};

UNIT_TEST(test_units)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct as_buf text = AS_BUF_INIT;
        struct as_error err = {0};
        as_buf_printf(&text,
                      "%s\nkernel void k(device u32 *out [[buffer(0)]], constant u64 &at [[buffer(1)]]) { %s }\n",
                      units[i].scope, units[i].line);
        enum as_status st = check(as_buf_get(&text), NULL, units[i].version, &err);
        as_buf_finish(&text);
        if (st && !units[i].says)
            fail_msg("'%s' is refused: %s", units[i].line, err.text);
        if (units[i].says && (!st || !strstr(err.text, units[i].says)))
            fail_msg("'%s' is %s", units[i].line, st ? err.text : "not refused");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_trials_complete),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_probes)};
    if (msl_missing()) {
        printf("skipped: %s\n", msl_missing());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
