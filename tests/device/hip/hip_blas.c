/* GEMM by AMD's libraries, on stand-ins: each type is correct, the second library serves what the first lacks, and
 * errors are reported with a remedy. argv[1] selects what LD_LIBRARY_PATH leads to: "both", "rocblas", "none",
 * "foreign" (libraries without these functions), "damaged". */
#include "../stand_in.h"

#include "base/utf8.h"
#include "lib/gemm/gemm.h"

#include <stdlib.h>

static const char *there;
static struct opened o;
static uint64_t rows = 48;

/* From here on GEMMs have another size, for which no algorithm has been chosen yet. */
static void set_words(const char *words)
{
    setenv("FAKE_BLAS", words, 1);
    rows += 16;
}

static int setup(void **state)
{
    (void)state;
    fake("cdna3");
    set_words("");
    open_gpu(&o, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    const bool both = strcmp(there, "both") == 0;
    if (both)
        assert_int_equal(fake_live_of("libhipblaslt.so.1", "fake_hipblaslt_live"), 0);
    if (both || strcmp(there, "rocblas") == 0)
        assert_int_equal(fake_live_of("librocblas.so.5", "fake_rocblas_live"), 0);
    close_gpu(&o);
    return 0;
}

static enum as_status prepare_gemm(struct as_gemm *p, enum as_gemm_type type, struct as_error *err)
{
    const struct as_gemm_desc d = {.path = AS_GEMM_LIBRARY, .type = type, .m = rows, .n = 80, .k = 96, .seed = 42};
    *err = (struct as_error){0};
    return as_gemm_prepare(p, &o.dev, &d, err);
}

static void refuses(enum as_gemm_type type, enum as_status wanted, const char *part)
{
    struct as_gemm p;
    struct as_error err;
    enum as_status st = prepare_gemm(&p, type, &err);
    check_fails(st, wanted, &err, part);
    as_gemm_finish(&p);
}

static void is_right(enum as_gemm_type type, const char *library)
{
    struct as_gemm p;
    struct as_error err;
    struct as_timing t;
    char why[200];
    check_ok(prepare_gemm(&p, type, &err), &err);
    assert_false(as_gemm_check(&p, why, sizeof why)); /* earlier algorithms do not count */
    check_ok(as_gemm_run(&p, 2, &t, &err), &err);
    assert_true(t.host_s > 0 && t.device_s > 0);
    if (!as_gemm_check(&p, why, sizeof why))
        fail_msg("%s: %s", as_gemm_type_words[type], why);
    assert_non_null(strstr(o.dev.gemm->name(p.library), library));
    as_gemm_finish(&p);
}

static void test_both(void **state)
{
    static const char by_lt[] = "hipBLASLt 1.2.1, algorithm 3 of 3 proposed";
    (void)state;
    for (int type = 0; type < AS_GEMM_TYPES; type++)
        if (type != AS_GEMM_E4M3 && type != AS_GEMM_E5M2)
            is_right((enum as_gemm_type)type, by_lt);
    refuses(AS_GEMM_E4M3, AS_UNSUPPORTED, "rocBLAS has no GEMM of e4m3 with accumulation in f32");
    set_words("lacks");
    is_right(AS_GEMM_F16, "rocBLAS 4444");
    is_right(AS_GEMM_S8, "what it chooses itself");
    refuses(AS_GEMM_E4M3FNUZ, AS_UNSUPPORTED, "hipblasLtMatmulAlgoGetHeuristic: not supported (7); and rocBLAS has no");
    set_words("empty");
    is_right(AS_GEMM_F64, "rocBLAS");
    set_words("old");
    is_right(AS_GEMM_BF16, "rocBLAS");
    set_words("old rocblas-cannot");
    refuses(AS_GEMM_BF16, AS_UNSUPPORTED, "hipBLASLt 0.3.0 numbers types differently");
    refuses(AS_GEMM_F16, AS_UNSUPPORTED, "rocblas_gemm_ex: rocblas_status_not_implemented (2)");
    set_words("large");
    is_right(AS_GEMM_F32, "rocBLAS");
}

/* Algorithms are timed once per GEMM: later trials of it only multiply in their samples. */
static void test_one_choice(void **state)
{
    struct as_gemm p;
    struct as_error err;
    (void)state;
    set_words("");
    for (int trial = 0; trial < 3; trial++) {
        const int before = fake_live_of("libhipblaslt.so.1", "fake_hipblaslt_products");
        check_ok(prepare_gemm(&p, AS_GEMM_F16, &err), &err);
        assert_int_equal(fake_live_of("libhipblaslt.so.1", "fake_hipblaslt_products") > before, trial == 0);
        assert_non_null(strstr(o.dev.gemm->name(p.library), "algorithm 3 of 3"));
        as_gemm_finish(&p);
    }
}

/* Both messages are shortened at character boundaries. */
static void test_long_words(void **state)
{
    struct as_gemm p;
    struct as_error err;
    (void)state;
    set_words("lacks rocblas-wordy");
    check_fails(prepare_gemm(&p, AS_GEMM_F32, &err), AS_FAILED, &err, "not supported (7); and hip: rocblas_gemm_ex: x");
    as_gemm_finish(&p);
    for (size_t at = 0, n = strlen(err.text), one; at < n; at += one) {
        uint32_t character;
        one = as_utf8_decode(err.text + at, n - at, &character);
        assert_true(one > 0);
    }
    set_words("");
}

/* Errors other than an unsupported GEMM do not pass to the other library. */
static void test_failures(void **state)
{
    (void)state;
    set_words("many");
    refuses(AS_GEMM_F32, AS_FAILED, "hipBLASLt 1.2.1 proposed 9 algorithms, but 8 were requested");
    set_words("nameless");
    refuses(AS_GEMM_F32, AS_FAILED, "hipblasLtCreate: no description (99)");
    set_words("nomem");
    refuses(AS_GEMM_F32, AS_NOMEM, "hipblasLtCreate: out of memory (2)");
    set_words("fails");
    refuses(AS_GEMM_F32, AS_FAILED, "hipblasLtMatmul: a kernel failed (5)");
    set_words("lacks rocblas-speechless");
    refuses(AS_GEMM_F32, AS_FAILED, "rocblas_gemm_ex: no description (77)");
    set_words("");
}

static void test_wrong(void **state)
{
    struct as_gemm p;
    struct as_error err;
    struct as_timing t;
    char why[200];
    (void)state;
    set_words("");
    check_ok(prepare_gemm(&p, AS_GEMM_F64, &err), &err);
    setenv("FAKE_BLAS", "skips", 1);
    check_ok(as_gemm_run(&p, 1, &t, &err), &err);
    assert_false(as_gemm_check(&p, why, sizeof why));
    assert_non_null(strstr(why, "results are wrong"));
    setenv("FAKE_BLAS", "", 1);
    check_ok(as_gemm_run(&p, 1, &t, &err), &err);
    assert_true(as_gemm_check(&p, why, sizeof why));
    as_gemm_finish(&p);
}

/* A chip without tf32 would compute f32 under another name. */
static void test_tf32(void **state)
{
    (void)state;
    o.dev.device->close(&o.dev);
    fake("");
    open_device(&o, 0);
    refuses(AS_GEMM_TF32, AS_UNSUPPORTED, "gfx90a has no tf32");
    o.dev.device->close(&o.dev);
    fake("cdna3");
    open_device(&o, 0);
}

static void test_rocblas(void **state)
{
    (void)state;
    for (int type = 0; type < AS_GEMM_TYPES; type++)
        if (type < AS_GEMM_E4M3 || type == AS_GEMM_S8)
            is_right((enum as_gemm_type)type, "rocBLAS");
    refuses(AS_GEMM_E5M2FNUZ, AS_UNSUPPORTED, "hipBLASLt is a part of ROCm: install it, or name its folder");
}

static void test_missing(void **state)
{
    (void)state;
    if (strcmp(there, "foreign") == 0) {
        refuses(AS_GEMM_F32, AS_UNSUPPORTED, "libhipblaslt.so.1 has no function 'hipblasLtGetVersion'; it needs ROCm");
        refuses(AS_GEMM_F32, AS_UNSUPPORTED, "librocblas.so.5 has no function 'rocblas_create_handle'; it needs ROCm");
    } else {
        refuses(AS_GEMM_F32, AS_UNSUPPORTED, "libhipblaslt.so.1: ");
        refuses(AS_GEMM_F32, AS_UNSUPPORTED,
                "hipBLASLt is a part of ROCm: install it, or name its folder in LD_LIBRARY");
        refuses(AS_GEMM_F32, AS_UNSUPPORTED, "rocBLAS is a part of ROCm: install it, or name its folder in LD_LIBRARY");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest both[] = {cmocka_unit_test(test_both),       cmocka_unit_test(test_failures),
                                      cmocka_unit_test(test_long_words), cmocka_unit_test(test_wrong),
                                      cmocka_unit_test(test_one_choice), cmocka_unit_test(test_tf32)};
    const struct CMUnitTest rocblas[] = {cmocka_unit_test(test_rocblas)};
    const struct CMUnitTest missing[] = {cmocka_unit_test(test_missing)};
    setenv("ASSAY_CACHE", "off", 1);
    there = argc == 2 ? argv[1] : "";
    if (strcmp(there, "both") == 0)
        return cmocka_run_group_tests(both, setup, teardown);
    if (strcmp(there, "rocblas") == 0)
        return cmocka_run_group_tests(rocblas, setup, teardown);
    return cmocka_run_group_tests(missing, setup, teardown);
}
