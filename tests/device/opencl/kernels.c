/* Every kernel of the probes, every operation and every GEMM as OpenCL C of each version, with and without extensions,
 * compiled by clang for generic and GPU targets: what GPU drivers compile, without a GPU. Skipped without clang. */
#include "../kernel_trials.h"
#include "../ops_batch.h"
#include "base/buf.h"
#include "base/text.h"
#include "device/dialect/dialect.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char as_kernel_gemm_simple[];

enum { TEXT_MAX = 64 << 20, MET = 16, SIDE = 8, TOGETHER = OPS_BATCH_MOST };

static const char *clang_path(void)
{
    const char *path = getenv("ASSAY_CL_CLANG");
    return path && path[0] ? path : NULL;
}

static void need_clang(void)
{
    if (clang_path())
        return;
    print_message("skipped: no clang\n");
    skip();
}

/* The LLVM IR, or clang's messages; false: it does not compile. */
static bool compiles(const char *source, const char *options, struct as_buf *out)
{
    char log[40], path[] = "/tmp/assay-cl-XXXXXX";
    struct as_buf command = AS_BUF_INIT, text = AS_BUF_INIT;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(log, sizeof log, "%s.log", path);
    as_buf_printf(&command,
                  "'%s' -x cl -Xclang -finclude-default-header -Xclang -fdeclare-opencl-builtins -S -emit-llvm %s "
                  "-o %s - >%s 2>&1",
                  clang_path(), options, path, log);
    as_dialect_source(AS_DIALECT_OPENCL, source, &text);
    FILE *compiler = popen(as_buf_get(&command), "w");
    assert_non_null(compiler);
    bool written = fputs(as_buf_get(&text), compiler) >= 0;
    bool good = pclose(compiler) == 0 && written;
    as_buf_clear(out);
    assert_int_equal(as_buf_read_file(out, good ? path : log, TEXT_MAX, NULL), 0);
    unlink(path);
    unlink(log);
    as_buf_finish(&command);
    as_buf_finish(&text);
    return good;
}

/* ---- driver variants: language, target and extensions ---- */

/* The options are those of the driver's compiler; our own warnings are errors. */
#define STRICT " -Werror -Wno-pass-failed"
#define GENERIC " -target spir64 -O0"
#define NO_ATOMIC_FEATURES                                                                                             \
    ",-__opencl_c_atomic_order_acq_rel,-__opencl_c_atomic_order_seq_cst,-__opencl_c_atomic_scope_device,"              \
    "-__opencl_c_atomic_scope_all_devices"
static const struct variant {
    const char *name, *options;
    unsigned without; /* capabilities that its devices lack */
} variants[] = {
    {"3.0 with all extensions", "-cl-std=CL3.0 -Xclang -cl-ext=+all" GENERIC, AS_CAP_CYCLES | AS_CAP_CODE},
    {"2.0 with all extensions", "-cl-std=CL2.0 -Xclang -cl-ext=+all" GENERIC, AS_CAP_CYCLES | AS_CAP_CODE},
    {"1.2 with all extensions", "-cl-std=CL1.2 -Xclang -cl-ext=+all" GENERIC,
     AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_SVM_ATOMICS},
    {"3.0 with fp64 only",
     "-cl-std=CL3.0 -Xclang -cl-ext=-all,+cl_khr_fp64,+__opencl_c_fp64" NO_ATOMIC_FEATURES GENERIC,
     AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_FP16 | AS_CAP_SVM_ATOMICS},
    {"1.2 with fp64 only", "-cl-std=CL1.2 -Xclang -cl-ext=-all,+cl_khr_fp64" GENERIC,
     AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_FP16 | AS_CAP_SVM_ATOMICS},
    {"3.0 without extensions", "-cl-std=CL3.0 -Xclang -cl-ext=-all" NO_ATOMIC_FEATURES GENERIC,
     AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_FP16 | AS_CAP_FP64 | AS_CAP_SVM_ATOMICS},
    {"1.2 without extensions", "-cl-std=CL1.2 -Xclang -cl-ext=-all" GENERIC,
     AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_FP16 | AS_CAP_FP64 | AS_CAP_SVM_ATOMICS},
    /* with the clock of these GPUs, whose driver lacks fp16 and device-wide orders */
    {"1.2 for a GPU with a clock",
     "-cl-std=CL1.2 -Xclang -cl-ext=-all,+cl_khr_fp64,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics "
     "-target "
     "nvptx64-nvidia-nvcl -D__NV_CL_C_VERSION=120 -Dasm=__asm__ -O1",
     AS_CAP_CODE | AS_CAP_FP16 | AS_CAP_SVM_ATOMICS},
    {"2.0 for a GPU of wavefronts", "-cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O1",
     AS_CAP_CYCLES | AS_CAP_CODE},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* arch: the variant's options */
static enum as_status compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    struct as_buf out = AS_BUF_INIT, options = AS_BUF_INIT;
    as_buf_printf(&options, "%s%s %s", arch, STRICT, desc->defines ? desc->defines : "");
    enum as_status st = AS_OK;
    if (compiles(desc->source, as_buf_get(&options), &out)) {
        *bytes = out.len + 1;
        *code = malloc(*bytes);
        assert_non_null(*code);
        memcpy(*code, as_buf_get(&out), *bytes);
    } else {
        char complaint[300];
        as_dialect_complaint(as_buf_get(&out), complaint, sizeof complaint);
        st = as_fail(err, AS_FAILED, "%s", complaint);
    }
    as_buf_finish(&out);
    as_buf_finish(&options);
    return st;
}

/* Only whether such a kernel exists. */
static enum as_status code_bytes(const unsigned char *code, size_t bytes, const char *kernel, uint64_t *n,
                                 struct as_error *err)
{
    char name[64];
    (void)bytes;
    *n = 0;
    snprintf(name, sizeof name, "@%s(", kernel);
    for (const char *at = (const char *)code; (at = strstr(at, "\ndefine ")); at++) {
        const char *found = strstr(at, name), *end = strchr(at + 1, '\n');
        if (found && end && found < end)
            return AS_OK;
    }
    return as_fail(err, AS_NOTFOUND, "there is no kernel '%s'", kernel);
}

/* Every trial has its kernels there. */
static bool is_whole(const struct variant *v)
{
    return strcmp(v->name, "3.0 with all extensions") == 0;
}

static void test_variant(void **state)
{
    /* No machine code to inspect, and a clock only on some GPUs, whose variant has one. */
    static const struct kernel_lack no_code[] = {{"codegen", ""}, {"cluster_memory", ""}, {NULL, NULL}};
    static const struct kernel_lack no_clock[] = {
        {"codegen", ""}, {"l2_latency", ""}, {"cluster_memory", ""}, {NULL, NULL}};
    static const struct kernel_lack no_f64[] = {
        {"codegen", ""}, {"l2_latency", ""}, {"cluster_memory", ""}, {"emulated_gemm", ""}, {NULL, NULL}};
    const struct variant *v = *state;
    const struct kernel_compiler by = {.warp = 32,
                                       .kib_local = 48,
                                       .brief = true,
                                       .dialect = AS_DIALECT_OPENCL,
                                       .without = v->without,
                                       .partial = true,
                                       .skips_long = !is_whole(v),
                                       .lacks = v->without & AS_CAP_FP64     ? no_f64
                                                : v->without & AS_CAP_CYCLES ? no_clock
                                                                             : no_code,
                                       .compile = compile,
                                       .code_bytes = code_bytes};
    need_clang();
    kernel_trials_check(&by, v->options);
}

/* Parts for a variant in its order. Language 1.2 has no subgroups. */
static size_t parts_of(const struct variant *v, const struct ops_batch_part *all, size_t n, struct ops_batch_part *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(v->name, "1.2", 3) != 0 || !all[i].sequence.part[0].op->subgroups)
            out[kept++] = all[i];
    return kept;
}

/* Operations whose types the variant lacks are skipped; a device with all extensions has all. */
UNIT_TEST(test_operations)
{
    const struct ops_batch dialect = {.dialect = AS_DIALECT_OPENCL};
    struct ops_batch_part part[TOGETHER], own[TOGETHER];
    size_t n = 0, seen = 0;
    need_clang();
    for (const struct as_op *op = as_ops; op->name || n; op += op->name != NULL) {
        if (op->name) {
            part[n] = (struct ops_batch_part){.sequence = as_op_alone(op, 0), .name = op->name, .ilp = 2};
            n += ops_batch_has_all(&dialect, &part[n].sequence);
        }
        if (n < TOGETHER && (op->name || !n))
            continue;
        for (size_t i = 0; i < VARIANTS; i++) {
            struct as_buf source = AS_BUF_INIT;
            struct as_error err = {0};
            unsigned char *code = NULL;
            size_t bytes;
            const size_t own_n = parts_of(&variants[i], part, n, own);
            ops_batch_source(own, own_n, false, &source);
            const struct as_program_desc desc = {.source = as_buf_get(&source), .defines = "-Wno-macro-redefined"};
            if (strstr(variants[i].name, "all extensions") && compile(&desc, variants[i].options, &code, &bytes, &err))
                fail_msg("%s to %s for %s: %s", part[0].name, part[n - 1].name, variants[i].name, err.text);
            as_buf_finish(&source);
            free(code);
        }
        seen += n;
        n = 0;
    }
    assert_true(seen > 100);
}

/* ---- packed bytes ---- */

static size_t count_words(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

UNIT_TEST(test_dot)
{
    static const char *const languages[] = {"-cl-std=CL3.0", "-cl-std=CL2.0"};
    struct as_buf out = AS_BUF_INIT;
    char options[160];
    need_clang();
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        snprintf(options, sizeof options, "-target spir64 -O2 %s -DIN_S8 -DEPILOGUE=0 -DTILED -DDOT", languages[i]);
        assert_true(compiles(as_kernel_gemm_simple, options, &out));
        /* each result of a thread in each word of a vector, and once sequentially */
        assert_int_equal(count_words(as_buf_get(&out), "call spir_func i32 @_Z20dot_4x8packed_ss_int"),
                         MET * SIDE * SIDE + 1);
        snprintf(options, sizeof options, "-target spir64 -O2 %s -DIN_S8 -DEPILOGUE=0 -DTILED", languages[i]);
        assert_true(compiles(as_kernel_gemm_simple, options, &out));
        assert_int_equal(count_words(as_buf_get(&out), "dot_4x8packed"), 0);
    }
    /* A compiler that does not report the extension rejects it. */
    assert_false(compiles(as_kernel_gemm_simple,
                          "-target spir64 -cl-std=CL1.2 -Xclang -cl-ext=-all -DIN_S8 -DEPILOGUE=0 -DTILED -DDOT",
                          &out));
    assert_true(compiles(as_kernel_gemm_simple, "-target spir64 -cl-std=CL1.2 -DIN_S8 -DEPILOGUE=0 -DTILED", &out));
    as_buf_finish(&out);
}

/* ---- steps on a CPU ---- */

static bool is_opaque(const struct as_op *op)
{
    return op->result <= AS_OP_I64 || op->result == AS_OP_F32 || op->result == AS_OP_F64;
}

/* Each step's result is opaque to a CPU's compiler, which computes several steps at once otherwise. */
UNIT_TEST(test_steps)
{
    const struct ops_batch dialect = {.dialect = AS_DIALECT_OPENCL};
    struct ops_batch_part part[TOGETHER];
    struct as_buf source = AS_BUF_INIT, out = AS_BUF_INIT;
    size_t n = 0, seen = 0;
    need_clang();
    for (const struct as_op *op = as_ops; op->name || n; op += op->name != NULL) {
        if (op->name) {
            part[n] = (struct ops_batch_part){.sequence = as_op_alone(op, 0), .name = op->name, .ilp = 1};
            n += ops_batch_has_all(&dialect, &part[n].sequence) && !op->subgroups && is_opaque(op);
        }
        if (n < TOGETHER && (op->name || !n))
            continue;
        as_buf_clear(&source);
        ops_batch_source(part, n, false, &source);
        if (!compiles(as_buf_get(&source),
                      "-cl-std=CL3.0 -Xclang -cl-ext=+all -target x86_64-linux-gnu -O2 -Wno-macro-redefined", &out))
            fail_msg("%s to %s: %s", part[0].name, part[n - 1].name, as_buf_get(&out));
        /* the short and the long body, and the kernel of one step */
        if (count_words(as_buf_get(&out), "asm sideeffect \"\"") < n * (OPS_BATCH_STEPS / 2 + OPS_BATCH_STEPS + 1))
            fail_msg("%s to %s: steps are missing", part[0].name, part[n - 1].name);
        seen += n;
        n = 0;
    }
    assert_true(seen > 100);
    as_buf_finish(&source);
    as_buf_finish(&out);
}

int main(void)
{
    enum { FIRST = 4 };
    struct CMUnitTest tests[VARIANTS + FIRST] = {cmocka_unit_test(kernel_trials_complete), cmocka_unit_test(test_dot),
                                                 cmocka_unit_test(test_operations), cmocka_unit_test(test_steps)};
    for (size_t i = 0; i < VARIANTS; i++)
        tests[i + FIRST] = (struct CMUnitTest){
            .name = variants[i].name, .test_func = test_variant, .initial_state = (void *)(uintptr_t)&variants[i]};
    return _cmocka_run_group_tests("OpenCL", tests, VARIANTS + FIRST, NULL, NULL);
}
