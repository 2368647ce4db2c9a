/* Probe roofline: which cells apply, native kernels of every width, the device's kernel as host C, and planted
 * faults. */
#include "device/dialect/host_prelude.h"
#include "probes/alu/roofline/native.h"
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_roofline;
_Thread_local struct as_host_item as_host_item;

/* Sanitizers slow down the compilation of the unrolled loops. */
#if defined(__clang__)
#pragma clang optimize off
#endif
#define CHAINS 4
#define PAIRS 128
#define LANES 1
#define TYPE 64
#define peak peak_f64
#define real real_f64
#define operand operand_f64
#define scalar scalar_f64
#include "probes/alu/roofline/roofline.kernel"
#undef TYPE
#undef peak
#undef real
#undef operand
#undef scalar
#undef REAL
#undef SET
#undef SMALL
#undef SCALE
#undef FMA
#undef CYCLES_NOW
#undef NANOS_NOW
#define TYPE 32
#define peak peak_f32
#define real real_f32
#define operand operand_f32
#define scalar scalar_f32
#include "probes/alu/roofline/roofline.kernel"
#undef peak
#undef real
#undef operand

/* A multiply-add with two roundings. */
static float rounded_twice(float x, float y, float z)
{
    volatile float product = x * y;
    return product + z;
}
#undef scalar
#undef REAL
#undef SET
#undef SMALL
#undef SCALE
#undef FMA
#undef CYCLES_NOW
#undef NANOS_NOW
#undef FMA_F32
#define FMA_F32(x, y, z) rounded_twice(x, y, z)
#define peak peak_unfused
#define real real_unfused
#define operand operand_unfused
#define scalar scalar_unfused
#include "probes/alu/roofline/roofline.kernel"
#if defined(__clang__)
#pragma clang optimize on
#endif
#undef peak
#undef real
#undef operand
#undef scalar

enum { THREADS_OF_TOY = 4 };

UNIT_TEST(test_which_cells)
{
    struct toy cpu, device;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE | AS_CAP_FP64);
    const struct as_probe *p = &as_probe_roofline;
    assert_int_equal(toy_applies(&cpu, p, "type=f32 threads=0 width=best", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, p, "type=f16 threads=1 width=best", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, p, "type=f32 threads=1 width=best", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, p, "type=f32 threads=0 width=256", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, p, "type=f64 threads=0 width=best", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&device, p, "type=f16 threads=0 width=best", &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the device has no f16");
}

static const char *const widths[] = {"scalar", "128", "256", "512", "sve"};

UNIT_TEST(test_native_kernels)
{
    struct scripted s;
    char axes[64], why[160];
    double value;
    unsigned ran = 0;
    scripted_open(&s, "{}");
    for (unsigned bits = 32; bits <= 64; bits += 32)
        for (size_t w = 0; w < AS_PEAK_WIDTHS; w++) {
            if (!as_peak_kernel(bits, (enum as_peak_width)w))
                continue;
            snprintf(axes, sizeof axes, "type=f%u threads=2 width=%s", bits, widths[w]);
            if (!scripted_check(&s, &as_probe_roofline, axes, 3, &value, why, sizeof why))
                fail_msg("%s: %s", axes, why);
            /* two threads, 12 or 18 chains, 64 pairs of 2 steps of 2 operations, in the script's one microsecond */
            double ops = 2.0 * (w == AS_PEAK_SVE ? 18 : 12) * as_peak_lanes(bits, (enum as_peak_width)w) * 64 * 4;
            assert_true(fabs(value / (ops / 1e-6) - 1) < 1e-9);
            ran++;
        }
    if (ran) { /* a CPU without fused multiply-adds has none */
        assert_true(
            scripted_check(&s, &as_probe_roofline, "type=f64 threads=1 width=best", 2, &value, why, sizeof why));
        assert_true(
            scripted_check(&s, &as_probe_roofline, "type=f32 threads=2 width=best", 2, &value, why, sizeof why));
    }
    scripted_close(&s);
    if (!ran) {
        print_message("skipped: this CPU has no fused multiply-adds\n");
        skip();
    }
}

UNIT_TEST(test_wrong_results_are_seen)
{
    static const char *const scripts[] = {"{\"faults\":[{\"do\":\"wrong\",\"probe\":\"roofline\"}]}",
                                          "{\"execute\":false}", "{\"execute\":\"once\"}"};
    char why[160];
    double value;
    if (!as_peak_kernel(64, AS_PEAK_SCALAR)) {
        print_message("skipped: this CPU has no fused multiply-adds\n");
        skip();
    }
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct scripted s;
        scripted_open(&s, scripts[i]);
        assert_false(
            scripted_check(&s, &as_probe_roofline, "type=f64 threads=1 width=scalar", 2, &value, why, sizeof why));
        assert_non_null(strstr(why, "ends at"));
        scripted_close(&s);
    }
}

/* Each thread of the device's kernel leaves its initial values plus the number of pairs. */
UNIT_TEST(test_device_kernel)
{
    double f64s[THREADS_OF_TOY * CHAINS];
    float f32s[THREADS_OF_TOY * CHAINS];
    uint64_t clocks[2] = {1, 1};
    for (uint32_t thread = 0; thread < THREADS_OF_TOY; thread++) {
        as_host_item = (struct as_host_item){thread, THREADS_OF_TOY, 0, 1, NULL};
        peak_f64(f64s, -1, 1234, 5, clocks);
        peak_f32(f32s, -1, 77, 3, clocks);
    }
    for (uint32_t i = 0; i < THREADS_OF_TOY * CHAINS; i++) {
        assert_true(f64s[i] == as_peak_start(1234, i) + 5.0 * PAIRS);
        assert_true(f32s[i] == (float)as_peak_start(77, i) + 3.0f * PAIRS);
    }
    assert_int_equal(clocks[0] + clocks[1], 0); /* the host dialect has no clock, and says so */
}

UNIT_TEST(test_fused_or_not_is_seen)
{
    float fused[CHAINS], unfused[CHAINS];
    uint64_t clocks[2];
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    peak_f32(fused, -1, 5, 2, clocks);
    peak_unfused(unfused, -1, 5, 2, clocks);
    for (uint32_t i = 0; i < CHAINS; i++) {
        assert_true(fused[i] == (float)as_peak_start(5, i) + 2.0f * PAIRS);
        assert_true(unfused[i] != fused[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_native_kernels),
        cmocka_unit_test(test_wrong_results_are_seen),
        cmocka_unit_test(test_device_kernel),
        cmocka_unit_test(test_fused_or_not_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
