/* emulated_gemm: exact dot products, bounds that catch a lost slice, and small GEMMs on PoCL. */
#include "probes/alu/emulated_gemm/dot.h"
#include "probes/alu/emulated_gemm/products.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_emulated_gemm;

UNIT_TEST(test_exact)
{
    static const double a[] = {0x1p60, 1, -0x1p60, 3}, b[] = {1, 0x1p-53, 1, 0x1p-60};
    const struct as_dot d = as_dot_error(a, b, 4, 0x1p-53);
    assert_true(d.error == 3 * 0x1p-60); /* f64 loses both small terms beside 2^60 */
    assert_true(as_dot_error(a, b, 4, 0x1p-53 + 3 * 0x1p-60).error == 0);
    assert_true(d.largest == 0x1p61 * 2);
    assert_true(isinf(as_dot_error(a, b, 4, NAN).error));
    assert_true(as_dot_error(a, b, 2, 0x1p60).error == 0x1p-53);
}

/* Negative sums and carries through many words. */
UNIT_TEST(test_signs)
{
    double a[64], b[64];
    for (int i = 0; i < 64; i++) {
        a[i] = ldexp(i % 2 ? -1.0 : 1.0, i - 32);
        b[i] = ldexp(1.0, 32 - i);
    }
    assert_true(as_dot_error(a, b, 64, 0).error == 0);
    assert_true(as_dot_error(a, b, 63, 1).error == 0);
    assert_true(as_dot_error(a, b, 64, -0.5).error == 0.5);
}

/* A product of slices that is left out or one place too low is far outside; so is f32. */
UNIT_TEST(test_bound_catches)
{
    enum { N = 256 };
    double a[N], b[N], sum = 0;
    for (int i = 0; i < N; i++) {
        a[i] = sin(i + 1.0);
        b[i] = cos(3.0 * i);
        sum += a[i] * b[i];
    }
    const struct as_dot good = as_dot_error(a, b, N, sum), bad = as_dot_error(a, b, N, sum + 0x1p-40),
                        narrow = as_dot_error(a, b, N, (double)(float)sum);
    assert_true(good.error <= as_dot_bound(&good, N, 0) && good.error <= as_dot_bound(&good, N, 8));
    assert_true(bad.error > as_dot_bound(&bad, N, 8));
    assert_true(bad.error <= as_dot_bound(&bad, N, 6) * 0x1p6);
    assert_true(narrow.error > as_dot_bound(&narrow, N, 8) && narrow.error > as_dot_bound(&narrow, N, 0));
}

/* Without a path for one of the products nothing applies, with the reason. */
UNIT_TEST(test_products_apply)
{
    struct as_device_info info = {.capabilities = AS_CAP_FP64 | AS_CAP_SOURCE, .compute_units = 4};
    struct as_error err = {0};
    strcpy(info.dialect, "opencl");
    assert_int_equal(as_products_apply(&info, 256, 8, &err), AS_APPLIES);
    assert_int_equal(as_products_apply(&info, 100, 8, &err), AS_APPLIES); /* a library may have any size */
    info.capabilities = AS_CAP_SOURCE;
    assert_int_equal(as_products_apply(&info, 256, 0, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the device has no f64");
}

/* The plan knows what all slices take: half of the free memory, not three matrices of f64. */
UNIT_TEST(test_room)
{
    static const struct {
        const char *axes;
        double mib;
    } rows[] = {{"op=f64 slices=0 input=random size=4096", 384.1},
                {"op=s8_slices slices=9 input=random size=4096", 672.1},
                {"op=f64_gemm slices=0 input=random size=4096", 384.1},
                {"op=s8_gemm slices=9 input=random size=4096", 2400.1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        struct as_error err = {0};
        toy_init(&t, AS_CAP_FP64 | AS_CAP_SOURCE);
        strcpy(t.dev.info.dialect, "opencl");
        t.dev.info.memory_free = (uint64_t)(2 * rows[i].mib * (1 << 20));
        assert_int_equal(toy_applies(&t, &as_probe_emulated_gemm, rows[i].axes, &err), AS_APPLIES);
        t.dev.info.memory_free -= 1 << 20;
        assert_int_equal(toy_applies(&t, &as_probe_emulated_gemm, rows[i].axes, &err), AS_INAPPLICABLE);
        assert_non_null(strstr(err.text, "only half of the free"));
    }
}

UNIT_TEST(test_on_pocl)
{
    static const char *const cells[] = {
        "op=f64 slices=0 input=random size=64",
        "op=f64 slices=0 input=cancel size=64",
        "op=s8_slices slices=8 input=random size=64",
        "op=s8_slices slices=8 input=wide size=64",
        "op=s8_slices slices=8 input=cancel size=64",
        "op=s8_slices slices=2 input=random size=32",
        "op=s8_slices slices=9 input=wide size=32",
        "op=f64_gemm slices=0 input=cancel size=128", /* by the path tiled, whose tiles are 128 x 128 */
        "op=s8_gemm slices=8 input=random size=128",
        "op=s8_gemm slices=9 input=wide size=128",
        "op=s8_gemm slices=2 input=cancel size=128"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char axes[120];
        struct real r;
        snprintf(axes, sizeof axes, "allocator=clCreateBuffer %s", cells[i]);
        if (real_trial(&as_probe_emulated_gemm, "opencl", axes, 1, 1, &r))
            assert_true(r.sample.value > 0);
    }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact),         cmocka_unit_test(test_signs),
                                       cmocka_unit_test(test_bound_catches), cmocka_unit_test(test_products_apply),
                                       cmocka_unit_test(test_room),          cmocka_unit_test(test_on_pocl)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
