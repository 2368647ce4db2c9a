/* Kernels that use extensions which no local device may have, compiled by clang for a generic OpenCL target: they
 * compile, and the builtins are called. */
#include "base/buf.h"
#include "device/dialect/dialect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const char as_kernel_gemm_simple[];

enum { TEXT_MAX = 64 << 20, MET = 16, SIDE = 8 };

/* The LLVM IR that clang generates; false: it does not compile. */
static bool compiles(const char *source, const char *options, struct as_buf *out)
{
    char command[400], path[] = "/tmp/assay-cl-XXXXXX";
    struct as_buf text = AS_BUF_INIT;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(command, sizeof command,
             "'%s' -x cl -Xclang -finclude-default-header -target spir64 -O2 -S -emit-llvm %s -o %s - 2>/dev/null",
             getenv("ASSAY_CL_CLANG"), options, path);
    as_dialect_source(AS_DIALECT_OPENCL, source, &text);
    FILE *compiler = popen(command, "w");
    assert_non_null(compiler);
    bool written = fputs(as_buf_get(&text), compiler) >= 0;
    bool good = pclose(compiler) == 0 && written;
    as_buf_clear(out);
    if (good)
        assert_int_equal(as_buf_read_file(out, path, TEXT_MAX, NULL), 0);
    unlink(path);
    as_buf_finish(&text);
    return good;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static void test_dot(void **unused)
{
    static const char *const languages[] = {"-cl-std=CL3.0", "-cl-std=CL2.0"};
    struct as_buf out = AS_BUF_INIT;
    char options[120];
    (void)unused;
    if (!getenv("ASSAY_CL_CLANG") || !getenv("ASSAY_CL_CLANG")[0]) {
        print_message("skipped: no clang\n");
        skip();
    }
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        snprintf(options, sizeof options, "%s -DIN_S8 -DEPILOGUE=0 -DTILED -DDOT", languages[i]);
        assert_true(compiles(as_kernel_gemm_simple, options, &out));
        /* each result of a thread in each word of a piece, and once one after the other */
        assert_int_equal(count(as_buf_get(&out), "call spir_func i32 @_Z20dot_4x8packed_ss_int"),
                         MET * SIDE * SIDE + 1);
        snprintf(options, sizeof options, "%s -DIN_S8 -DEPILOGUE=0 -DTILED", languages[i]);
        assert_true(compiles(as_kernel_gemm_simple, options, &out));
        assert_int_equal(count(as_buf_get(&out), "dot_4x8packed"), 0);
    }
    /* A compiler that does not report the extension rejects it. */
    assert_false(compiles(as_kernel_gemm_simple, "-cl-std=CL1.2 -DIN_S8 -DEPILOGUE=0 -DTILED -DDOT", &out));
    assert_true(compiles(as_kernel_gemm_simple, "-cl-std=CL1.2 -DIN_S8 -DEPILOGUE=0 -DTILED", &out));
    as_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
