/* Probe bandwidth on a toy device: which cells apply, and a trial. lib/stream has its own tests. */
#include "device/cpu/features.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_bandwidth;

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies on_cpu, on_device;
    } cases[] = {
        {"op=triad level=memory size=65536 threads=1 store=nt width=best touch=cpu", AS_APPLIES, AS_PRUNED},
        {"op=triad level=memory size=65536 threads=0 store=regular width=best touch=device", AS_PRUNED, AS_APPLIES},
        {"op=read level=sweep size=65536 threads=1 store=nt width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=128 threads=1 store=regular width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=384 threads=4 store=regular width=best touch=cpu", AS_PRUNED, AS_PRUNED},
        {"op=triad level=sweep size=768 threads=4 store=regular width=scalar touch=cpu", AS_APPLIES, AS_PRUNED},
        {"op=triad level=memory size=65536 threads=0 store=regular width=best touch=cpu way=best", AS_PRUNED,
         AS_APPLIES},
        {"op=triad level=memory size=65536 threads=1 store=nt width=best touch=cpu way=once-4x256", AS_PRUNED,
         AS_PRUNED},
    };
    struct toy cpu, device, poor;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE | AS_CAP_FP64);
    toy_init(&poor, AS_CAP_SOURCE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(toy_applies(&cpu, &as_probe_bandwidth, cases[i].axes, &err), cases[i].on_cpu);
        assert_int_equal(toy_applies(&device, &as_probe_bandwidth, cases[i].axes, &err), cases[i].on_device);
    }
    assert_int_equal(toy_applies(&poor, &as_probe_bandwidth, cases[1].axes, &err), AS_APPLIES); /* as f32 */
    device.dev.info.is_host_cpu = true; /* CPU memory, by either touch */
    assert_int_equal(toy_applies(&device, &as_probe_bandwidth, cases[1].axes, &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, &as_probe_bandwidth, cases[6].axes, &err), AS_APPLIES);
}

/* SVE cells apply to aarch64 CPUs with SVE. Other aarch64 CPUs get a reason; other architectures and devices have no
 * such cells. */
UNIT_TEST(test_which_sve)
{
    static const char on_cpu[] = "op=triad level=sweep size=65536 threads=1 store=regular width=sve touch=cpu",
                      on_device[] = "op=triad level=sweep size=65536 threads=0 store=regular width=sve touch=device";
    struct toy cpu, device;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE | AS_CAP_FP64);
    assert_int_equal(toy_applies(&device, &as_probe_bandwidth, on_device, &err), AS_PRUNED);
#if defined(__aarch64__)
    const bool sve = as_cpu_features().sve;
    assert_int_equal(toy_applies(&cpu, &as_probe_bandwidth, on_cpu, &err), sve ? AS_APPLIES : AS_INAPPLICABLE);
    if (!sve)
        assert_string_equal(err.text, "this CPU lacks SVE");
#else
    assert_int_equal(toy_applies(&cpu, &as_probe_bandwidth, on_cpu, &err), AS_PRUNED);
#endif
}

/* Ways are GPU kernels for f64: an APU's GPU has them; a GPU without f64 (Apple) and a CPU do not. */
UNIT_TEST(test_which_ways)
{
    static const char axes[] = "op=triad level=memory size=65536 threads=0 store=regular width=best touch=cpu "
                               "way=once-4x256";
    static const struct {
        unsigned capabilities;
        bool is_host_cpu, is_host_memory;
        enum as_applies applies;
    } cases[] = {{AS_CAP_SOURCE | AS_CAP_FP64, false, false, AS_APPLIES},
                 {AS_CAP_SOURCE | AS_CAP_FP64, false, true, AS_APPLIES},
                 {AS_CAP_SOURCE | AS_CAP_FP64, true, true, AS_PRUNED},
                 {AS_CAP_SOURCE, false, true, AS_PRUNED},
                 {AS_CAP_SOURCE, false, false, AS_PRUNED},
                 {AS_CAP_HOST_KERNELS | AS_CAP_FP64, false, true, AS_PRUNED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct as_error err = {0};
        toy_init(&t, cases[i].capabilities);
        t.dev.info.is_host_cpu = cases[i].is_host_cpu;
        t.dev.info.is_host_memory = cases[i].is_host_memory;
        assert_int_equal(toy_applies(&t, &as_probe_bandwidth, axes, &err), cases[i].applies);
    }
}

UNIT_TEST(test_trial)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {.value = NAN};
    struct as_error err = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, &as_probe_bandwidth,
                "op=add level=memory size=268435456 threads=2 store=regular width=128 allocator=toy touch=cpu", &v,
                NULL);
    assert_true(v.tc.claims_memory);
    assert_true(v.tc.footprint >= UINT64_C(250) << 20);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"variant\":\"128\""));
    assert_int_equal(as_probe_bandwidth.sample(v.state, 1, &s, &err), AS_OK);
    assert_true(s.value > 0);
    assert_true(as_probe_bandwidth.check(v.state, why, sizeof why));
    toy_finish(&as_probe_bandwidth, &v);
    t.free_bytes = UINT64_C(256) << 20;
    assert_int_equal(
        toy_prepare(&t, &as_probe_bandwidth,
                    "op=add level=memory size=268435456 threads=2 store=regular width=128 allocator=toy touch=cpu", &v,
                    &err),
        AS_UNSUPPORTED);
    toy_finish(&as_probe_bandwidth, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_which_sve),
        cmocka_unit_test(test_which_ways),
        cmocka_unit_test(test_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
