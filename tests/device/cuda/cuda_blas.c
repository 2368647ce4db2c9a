/* GEMM by cuBLASLt on a stand-in: each type is correct, and errors are reported. */
#include "../stand_in.h"

#include "lib/gemm/gemm.h"

#include <stdlib.h>

static struct opened o;

static int setup(void **state)
{
    (void)state;
    fake("");
    setenv("FAKE_BLAS", "", 1);
    open_gpu(&o, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(fake_live_of("libcublasLt.so.13", "fake_cublaslt_live"), 0);
    close_gpu(&o);
    return 0;
}

/* The driver stand-in's memory is host memory, read and written like any device's. */
static enum as_status multiply(enum as_gemm_type type, uint64_t n, struct as_vendor_gemm **g, struct as_memory *m[3],
                               struct as_error *err)
{
    const struct as_gemm_format *f = &as_gemm_formats[type];
    const struct as_vendor_gemm_desc d = {.in = f->in,
                                          .sum = f->sum,
                                          .out = f->out,
                                          .m = 16,
                                          .n = n,
                                          .k = 48,
                                          .b_transposed = true,
                                          .a = m[0],
                                          .b = m[1],
                                          .d = m[2]};
    *err = (struct as_error){0};
    return o.dev.gemm->create(&o.dev, &d, g, err);
}

static void set(struct as_memory *m, const struct as_number_format *f, unsigned count, unsigned seed)
{
    unsigned char all[48 * 32 * 8];
    const unsigned bytes = f->bits / 8;
    for (unsigned i = 0; i < count; i++) {
        uint64_t code = as_number_nearest(f, (double)(i * 7 % 11 + seed) - 5);
        memcpy(all + i * bytes, &code, bytes);
    }
    assert_int_equal(o.dev.memory->write(&o.dev, m, 0, all, count * bytes, NULL), AS_OK);
}

static void check_type(enum as_gemm_type type, struct as_memory *m[3])
{
    const struct as_gemm_format *f = &as_gemm_formats[type];
    const struct as_number_format *out = as_number_format(f->out);
    unsigned char got[16 * 32 * 8];
    struct as_vendor_gemm *g = NULL;
    struct as_error err;
    struct as_timing t;
    set(m[0], as_number_format(f->in), 16 * 48, 0);
    set(m[1], as_number_format(f->in), 32 * 48, 1);
    check_ok(multiply(type, 32, &g, m, &err), &err);
    assert_non_null(strstr(o.dev.gemm->name(g), "cuBLASLt 13.1.2, algorithm 3 of 3 proposed"));
    memset(got, 0, sizeof got);
    check_ok(o.dev.memory->write(&o.dev, m[2], 0, got, sizeof got, &err), &err);
    check_ok(o.dev.gemm->run(&o.dev, g, 2, &t, &err), &err);
    assert_true(t.host_s > 0);
    o.dev.gemm->destroy(&o.dev, g);
    check_ok(o.dev.memory->read(&o.dev, m[2], 0, got, sizeof got, &err), &err);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 32; j++) {
            double sum = 0;
            uint64_t code = 0;
            for (unsigned k = 0; k < 48; k++)
                sum += ((double)((i * 48 + k) * 7 % 11) - 5) * ((double)((j * 48 + k) * 7 % 11 + 1) - 5);
            memcpy(&code, got + (i * 32 + j) * f->out_bytes, f->out_bytes);
            assert_true(as_number_decode(out, code) == as_number_decode(out, as_number_nearest(out, sum)));
        }
}

static void test_library(void **state)
{
    struct as_memory *m[3];
    struct as_vendor_gemm *g = NULL;
    struct as_error err = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct as_memory_desc want = {
            .allocator = o.dev.info.allocators[0].name, .bytes = 48 * 32 * 8, .node = -1};
        check_ok(o.dev.memory->alloc(&o.dev, &want, &m[i], &err), &err);
    }
    for (int type = 0; type < AS_GEMM_TYPES; type++)
        if (type != AS_GEMM_E4M3FNUZ && type != AS_GEMM_E5M2FNUZ)
            check_type((enum as_gemm_type)type, m);
    check_fails(multiply(AS_GEMM_E4M3FNUZ, 32, &g, m, &err), AS_UNSUPPORTED, &err, "cuBLASLt has no GEMM of e4m3fnuz");
    static const struct {
        const char *words, *part;
        enum as_status status;
    } wrong[] = {{"lacks", "cublasLtMatmulAlgoGetHeuristic: it says why (15)", AS_UNSUPPORTED},
                 {"empty", "cuBLASLt 13.1.2 has no algorithm for this GEMM", AS_UNSUPPORTED},
                 {"many", "cuBLASLt 13.1.2 proposed 9 algorithms, but 8 were requested", AS_FAILED},
                 {"nomem", "cublasLtCreate: it says why (3)", AS_NOMEM},
                 {"nameless", "cublasLtCreate: no description (99)", AS_FAILED},
                 {"fails", "cublasLtMatmul: it says why (13)", AS_FAILED}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("FAKE_BLAS", wrong[i].words, 1);
        check_fails(multiply(AS_GEMM_F32, 16, &g, m, &err), wrong[i].status, &err, wrong[i].part);
        assert_null(g);
    }
    setenv("FAKE_BLAS", "", 1);
    /* algorithms were timed with the first GEMM of this kind: from then on only samples multiply */
    const int before = fake_live_of("libcublasLt.so.13", "fake_cublaslt_products");
    check_type(AS_GEMM_F32, m);
    assert_int_equal(fake_live_of("libcublasLt.so.13", "fake_cublaslt_products"), before + 2);
    for (size_t i = 0; i < 3; i++)
        o.dev.memory->free(&o.dev, m[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_library)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
