/* Every operation as clang compiles it for AMD chips, without a device: the program compiles, every step of its chains
 * holds the instruction that the operation is about, and machine code has the names that the assembly has. Skipped
 * where there is no such compiler. */
#include "ops.h"
#include "assembly.h"
#include "code.h"
#include "device/hip/hip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char as_kernel_timed[];

/* Two chains, so that a compiler might do steps of both at once; one of what becomes many instructions. */
enum { WHOLE = 24, LONG = 8, TOGETHER = 24 };
static const char *const kernels[] = {"walk", "half_body", "whole_body", "once"};
static const char *arch;

static bool is_here(const struct as_op *op)
{
    return op->dialects & 1u << AS_DIALECT_HIP && as_op_on_amd(op, arch);
}

static unsigned chains_of(const struct as_op *op)
{
    return op->weight > LONG || op->alone ? 1 : 2;
}

/* Kernels of several operations in one source, which is compiled faster than each of them alone. */
static void add_operation(const struct as_op *op, struct as_buf *out)
{
    const struct as_op_sequence alone = as_op_alone(op, 0);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        as_buf_printf(out, "#undef %s\n#define %s %s_%s\n", kernels[k], kernels[k], op->name, kernels[k]);
    as_buf_str(out, "#undef LINK0\n");
    as_op_source(&alone, chains_of(op), WHOLE, false, out);
}

static void kernel_name(const struct as_op *op, const char *kernel, char *out, size_t size)
{
    snprintf(out, size, "%s_%s", op->name, kernel);
}

/* By the assembly. Machine code must say the same. */
static enum as_status count(const unsigned char *text, size_t bytes, const char *kernel, struct as_instructions *out,
                            struct as_error *err)
{
    size_t n;
    struct as_instructions code;
    const unsigned char *object = assembly_object(text, bytes, &n);
    enum as_status s = assembly_instructions(text, kernel, out, err);
    if (!s)
        s = as_hip_instructions(object, n, kernel, &code, err);
    for (size_t i = 0; i < out->n && !s; i++) {
        uint64_t in_code = as_instructions_of(&code, out->list[i].name);
        if (in_code != out->list[i].n)
            s = as_fail(err, AS_FAILED, "kernel %s has %s %llu times, in its machine code it is found %llu times",
                        kernel, out->list[i].name, (unsigned long long)out->list[i].n, (unsigned long long)in_code);
    }
    return s || code.n == out->n ? s : as_fail(err, AS_FAILED, "kernel %s: more names in machine code", kernel);
}

/* False with words where it is not as it should be. */
static bool holds(const unsigned char *text, size_t bytes, const struct as_op *op, char *why, size_t size)
{
    struct as_instructions half, whole;
    struct as_error err = {0};
    const struct as_op_sequence alone = as_op_alone(op, 0);
    char name[80];
    double each;
    kernel_name(op, "half_body", name, sizeof name);
    enum as_status s = count(text, bytes, name, &half, &err);
    kernel_name(op, "whole_body", name, sizeof name);
    if (!s)
        s = count(text, bytes, name, &whole, &err);
    if (!s)
        return as_op_code_agrees(&half, &whole, chains_of(op) * WHOLE / 2, &alone, AS_DIALECT_HIP, &each, why, size);
    snprintf(why, size, "%s", err.text);
    return false;
}

/* How many of them are not as they should be. */
static size_t check_together(const struct as_op *const *ops, size_t n)
{
    struct as_buf source = AS_BUF_INIT;
    struct as_error err = {0};
    unsigned char *text = NULL;
    size_t bytes = 0, wrong = 0;
    as_buf_str(&source, as_kernel_timed);
    for (size_t i = 0; i < n; i++)
        add_operation(ops[i], &source);
    const struct as_program_desc desc = {
        .name = "ops", .source = as_buf_get(&source), .defines = "-Wno-macro-redefined"};
    if (assembly_of(&desc, arch, &text, &bytes, &err))
        fail_msg("%s to %s for %s: %s", ops[0]->name, ops[n - 1]->name, arch, err.text);
    for (size_t i = 0; i < n; i++) {
        char why[600];
        bool good = holds(text, bytes, ops[i], why, sizeof why);
        wrong += !good;
        if (!good)
            print_error("%s for %s: %s\n", ops[i]->name, arch, why);
        else if (getenv("ASSAY_SHOW"))
            print_message("%s for %s: %s\n", ops[i]->name, arch, why);
    }
    as_buf_finish(&source);
    free(text);
    return wrong;
}

static void test_operations(void **state)
{
    const struct as_op *together[TOGETHER];
    size_t n = 0, seen = 0, wrong = 0;
    (void)state;
    for (size_t i = 0; i < as_ops_n; i++) {
        if (is_here(&as_ops[i])) {
            together[n++] = &as_ops[i];
            seen++;
        }
        if (n == TOGETHER || (n && i == as_ops_n - 1)) {
            wrong += check_together(together, n);
            n = 0;
        }
    }
    assert_true(seen > 100);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations)};
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
