/* Probe fault: which cells apply, what is subtracted, missing work and kept pages are detected; then on this machine's
 * CPU and on OpenCL where available. */
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "device/dialect/host_prelude.h"
#include "model/bins.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_fault;

_Thread_local struct as_host_item as_host_item;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "lib/pages/pages.kernel"
#pragma GCC diagnostic pop

#define CPU_AXES "scenario=cpu-one what=fault allocator=toy pages=100 access=store"
#define DEVICE_AXES "scenario=device-major what=fault allocator=toy pages=100 access="

static enum as_applies applies(const struct toy *t, const char *scenario, const char *rest, struct as_error *err)
{
    char axes[160];
    snprintf(axes, sizeof axes, "scenario=%s %s", scenario, rest);
    return toy_applies(t, &as_probe_fault, axes, err);
}

UNIT_TEST(test_which_cells)
{
    static const char *const plain = "what=fault allocator=toy pages=100 access=store";
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE);
    for (size_t i = 0; i < 2; i++)
        cpu.dev.info.allocators[i].host_access = gpu.dev.info.allocators[i].host_access = true;
    assert_int_equal(applies(&cpu, "cpu-one", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&cpu, "cpu-all", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&cpu, "cpu-all", "what=fault allocator=toy pages=3 access=store", &err), AS_PRUNED);
    assert_int_equal(applies(&cpu, "device-major", plain, &err), AS_PRUNED);
    assert_int_equal(applies(&gpu, "device-major", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "device-minor", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "cpu-one", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "cpu-one", "what=first allocator=toy pages=5000 access=store", &err), AS_PRUNED);
    assert_int_equal(applies(&cpu, "cpu-one", "what=first allocator=toy pages=5000 access=store", &err), AS_APPLIES);
    cpu.dev.info.threads = 24;
    assert_int_equal(applies(&cpu, "cpu-12", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&cpu, "cpu-12", "what=fault allocator=toy pages=11 access=store", &err), AS_PRUNED);
    cpu.dev.info.threads = 12; /* that of all threads */
    assert_int_equal(applies(&cpu, "cpu-12", plain, &err), AS_PRUNED);
    assert_int_equal(applies(&cpu, "cpu-then-device", plain, &err), AS_PRUNED);
    assert_int_equal(applies(&gpu, "cpu-then-device", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "cpu-then-device", "what=fault allocator=toy pages=100 access=load", &err),
                     AS_PRUNED);
    assert_int_equal(applies(&gpu, "cpu-then-device", "what=control allocator=toy pages=100 access=store", &err),
                     AS_PRUNED);
    assert_int_equal(applies(&cpu, "cpu-one", "what=first allocator=toy pages=10 access=store", &err), AS_PRUNED);
    assert_int_equal(applies(&cpu, "cpu-one", "what=control allocator=upfront pages=10 access=store", &err),
                     AS_APPLIES);
    assert_int_equal(applies(&cpu, "cpu-one", "what=fault allocator=upfront pages=10 access=store", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "before they are touched"));
    assert_int_equal(applies(&cpu, "cpu-one", "what=fault allocator=toy pages=1000000 access=store", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "half of the free 1 GiB"));
    gpu.dev.info.allocators[0].host_access = false;
    assert_int_equal(applies(&gpu, "device-minor", plain, &err), AS_INAPPLICABLE);
    assert_int_equal(applies(&gpu, "device-major", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "cpu-after-device", plain, &err), AS_INAPPLICABLE);
    gpu.dev.info.allocators[0].host_access = true;
    assert_int_equal(applies(&cpu, "cpu-after-device", plain, &err), AS_PRUNED);
    assert_int_equal(applies(&gpu, "cpu-after-device", plain, &err), AS_APPLIES);
    assert_int_equal(applies(&gpu, "cpu-after-device", "what=control allocator=toy pages=100 access=store", &err),
                     AS_PRUNED);
    gpu.dev.info.is_host_cpu = true;
    assert_int_equal(applies(&gpu, "cpu-one", plain, &err), AS_PRUNED);
    assert_int_equal(applies(&gpu, "device-minor", plain, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "page table"));
    assert_int_equal(applies(&gpu, "cpu-after-device", plain, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "page table"));
}

static void run_touch(const char *name, void *const *args)
{
    uint64_t v[4];
    assert_string_equal(name, "touch");
    for (size_t i = 0; i < 4; i++)
        memcpy(&v[i], args[i + 2], sizeof v[i]);
    for (u32 i = 0; i < 64; i++) {
        as_host_item = (struct as_host_item){i, 64, 0, 1, NULL};
        touch(args[0], args[1], v[0], v[1], v[2], v[3]);
    }
}

/* A kernel that skips the last page. */
static void run_short(const char *name, void *const *args)
{
    uint64_t fewer = 99;
    void *less[6] = {args[0], args[1], args[2], args[3], &fewer, args[5]};
    run_touch(name, less);
}

static bool trial(struct toy *t, const char *axes, int samples, struct as_sample *s, char *why, size_t size)
{
    struct toy_trial v;
    struct as_error err = {0};
    toy_prepare(t, &as_probe_fault, axes, &v, NULL);
    for (int i = 0; i < samples; i++)
        if (as_probe_fault.sample(v.state, 2, s, &err))
            fail_msg("%s", err.text);
    bool good = as_probe_fault.check(v.state, why, size);
    toy_finish(&as_probe_fault, &v);
    assert_int_equal(t->live, 0);
    return good;
}

UNIT_TEST(test_device)
{
    static const char *const kinds[] = {"store", "load"};
    struct toy t;
    struct as_sample s = {0};
    char why[160] = "", axes[160];
    for (size_t i = 0; i < 2; i++) {
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.allocators[0].host_access = true;
        t.kernel = run_touch;
        snprintf(axes, sizeof axes, DEVICE_AXES "%s", kinds[i]);
        if (!trial(&t, axes, 3, &s, why, sizeof why))
            fail_msg("%s", why);
        assert_true(isfinite(s.value) && s.seconds > 0);
        t.kernel = run_short;
        assert_false(trial(&t, axes, 3, &s, why, sizeof why));
        assert_non_null(strstr(why, i ? "add up" : "page 99 of 100"));
    }
}

/* The device stores into every page of a block once, before the CPU's timed touch. */
static unsigned device_touched;
static void run_counted(const char *name, void *const *args)
{
    device_touched++;
    run_touch(name, args);
}

UNIT_TEST(test_cpu_after_device)
{
    static const char *const kinds[] = {"store", "load"};
    for (size_t i = 0; i < 2; i++) {
        struct toy t;
        struct as_sample s = {0};
        char why[160] = "", axes[160];
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.allocators[0].host_access = true;
        t.kernel = run_counted;
        device_touched = 0;
        snprintf(axes, sizeof axes, "scenario=cpu-after-device what=fault allocator=toy pages=100 access=%s", kinds[i]);
        if (!trial(&t, axes, 3, &s, why, sizeof why))
            fail_msg("%s", why);
        assert_true(isfinite(s.value) && s.seconds > 0);
        assert_true(device_touched >= 2 * 3); /* two blocks per sample, and those of the warm-up */
    }
}

/* A device on which the first touch of 100 pages takes 300 us and the second 100 us. */
static struct toy *timed;
static void run_timed(const char *name, void *const *args)
{
    uint64_t start;
    memcpy(&start, args[2], sizeof start);
    timed->launch_s = ((const uint64_t *)args[1])[start] ? 100e-6 : 300e-6;
    run_touch(name, args);
}

UNIT_TEST(test_what_is_subtracted)
{
    struct toy t;
    struct as_sample s = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    t.kernel = run_timed;
    timed = &t;
    if (!trial(&t, DEVICE_AXES "store", 3, &s, why, sizeof why))
        fail_msg("%s", why);
    assert_true(fabs(s.value - 2000) < 1e-6);
    assert_true(fabs(s.seconds - 2 * 400e-6) < 1e-12);
}

/* A device of which every fourth fault takes 60 us and the others 20 us; a present page takes none of that. Percentiles
 * would show the slow faults, but not that there are none in between. */
static void run_bimodal(const char *name, void *const *args)
{
    static unsigned faults;
    uint64_t start;
    memcpy(&start, args[2], sizeof start);
    const bool present = ((const uint64_t *)args[1])[start];
    timed->launch_s = present ? 1e-6 : ++faults % 4 ? 21e-6 : 61e-6;
    run_touch(name, args);
}

UNIT_TEST(test_modes_of_single_faults)
{
    static const char axes[] = "scenario=device-major what=fault allocator=toy pages=1 access=store";
    struct toy t;
    struct toy_trial v;
    struct as_sample s;
    struct as_error err = {0};
    struct as_bins bins;
    char why[160] = "";
    double mode[2], share;
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    t.kernel = run_bimodal;
    timed = &t;
    toy_prepare(&t, &as_probe_fault, axes, &v, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(as_probe_fault.sample(v.state, 25, &s, &err), AS_OK);
    if (!as_probe_fault.check(v.state, why, sizeof why))
        fail_msg("%s", why);
    as_buf_char(&v.tc.detail, '}');
    const struct as_cell cell = {.detail = (char *)as_buf_get(&v.tc.detail)};
    assert_true(as_bins_of(&cell, &bins));
    assert_int_equal(as_bins_total(&bins), 100);
    assert_true(as_bins_two_modes(&bins, mode, &share));
    assert_true(mode[0] > 18e3 && mode[0] < 22e3 && mode[1] > 55e3 && mode[1] < 65e3 && fabs(share - 0.75) < 0.06);
    toy_finish(&as_probe_fault, &v);
}

/* The device's touch of present pages takes 100 us: of 100 pages 1 us each, and the CPU's time comes on top. */
UNIT_TEST(test_cpu_then_device)
{
    static const char axes[] = "scenario=cpu-then-device what=fault allocator=toy pages=100 access=store";
    struct toy t;
    struct as_sample s = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    t.dev.info.is_host_cpu = true; /* no faults of this process are expected of a simulated one */
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    t.kernel = run_timed;
    timed = &t;
    if (!trial(&t, axes, 3, &s, why, sizeof why))
        fail_msg("%s", why);
    assert_true(s.seconds > 2 * 200e-6);
    t.kernel = run_short; /* the CPU's store of the last page is not taken for the device's */
    assert_false(trial(&t, axes, 3, &s, why, sizeof why));
    assert_non_null(strstr(why, "page 99 of 100"));
}

/* A device that takes 300 us to get 100 pages which the CPU wrote last, and 100 us for its own. */
static void run_migrating(const char *name, void *const *args)
{
    static uint64_t own;
    uint64_t start;
    memcpy(&start, args[2], sizeof start);
    timed->launch_s = ((const uint64_t *)args[1])[start] == own ? 100e-6 : 300e-6;
    run_touch(name, args);
    own = ((const uint64_t *)args[1])[start];
}

/* The control of pages that moved to the device is the device's, since the CPU's would move them back. */
UNIT_TEST(test_in_turn_subtracts_no_move)
{
    static const char axes[] = "scenario=cpu-then-device what=fault allocator=toy pages=100 access=store";
    struct toy t;
    struct as_sample s = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    t.dev.info.is_host_cpu = true; /* no faults of this process are expected of a simulated one */
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    t.kernel = run_migrating;
    timed = &t;
    if (!trial(&t, axes, 3, &s, why, sizeof why))
        fail_msg("%s", why);
    assert_true(s.value >= 2000); /* the CPU's own time comes on top */
}

/* The toy's memory is zeroed when allocated: its pages are present, and no fault is counted. */
UNIT_TEST(test_kept_pages_are_seen)
{
    struct toy t;
    struct as_sample s = {0};
    char why[160] = "";
    if (!TOY_MALLOC_IS_REAL) {
        print_message("skipped: AddressSanitizer's malloc gives pages that nobody touched\n");
        skip();
    }
    if (getenv("ASSAY_EMULATED")) {
        print_message("skipped: the kernel counts the emulator's faults too\n");
        skip();
    }
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.dev.info.allocators[0].host_access = true;
    assert_false(trial(&t, CPU_AXES, 3, &s, why, sizeof why));
    assert_non_null(strstr(why, "the kernel counted 0 faults"));
    assert_true(
        trial(&t, "scenario=cpu-one what=control allocator=toy pages=100 access=store", 3, &s, why, sizeof why));
    assert_true(s.value > 0);
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    assert_true(trial(&t, CPU_AXES, 3, &s, why, sizeof why));
}

/* ---- this machine ---- */

static double real(const char *device, const char *axes, double *control)
{
    struct real r;
    *control = NAN;
    if (!real_trial(&as_probe_fault, device, axes, 1, 20, &r))
        return NAN;
    const char *at = strstr(r.detail, "\"second_touch\":");
    *control = at ? strtod(at + strlen("\"second_touch\":"), NULL) : NAN;
    return r.sample.value;
}

/* The kernel counted faults, or check would fail. */
UNIT_TEST(test_cpu)
{
    double control;
    double one = real("cpu", "scenario=cpu-one what=fault allocator=mmap pages=2000 access=store", &control);
    assert_true(isfinite(one) && control > 0);
    (void)real("cpu", "scenario=cpu-one what=fault allocator=mmap pages=1 access=store", &control);
    (void)real("cpu", "scenario=cpu-one what=fault allocator=malloc pages=300 access=store", &control);
    (void)real("cpu", "scenario=cpu-one what=fault allocator=mmap pages=2000 access=load", &control);
    (void)real("cpu", "scenario=cpu-one what=fault allocator=thp pages=5000 access=store", &control);
    (void)real("cpu", "scenario=cpu-12 what=fault allocator=mmap pages=2000 access=store", &control);
    (void)real("cpu", "scenario=cpu-all what=fault allocator=mmap pages=2000 access=store", &control);
    (void)real("cpu", "scenario=cpu-one what=first allocator=mmap pages=2000 access=store", &control);
    (void)real("cpu", "scenario=cpu-all what=control allocator=mmap pages=2000 access=load", &control);
}

/* The C library serves blocks of any size from its heap, and keeps blocks freed in the middle of it. */
static void keep_heap(void)
{
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

UNIT_TEST(test_opencl)
{
    static const char *const cells[] = {
        "scenario=device-major what=fault allocator=clCreateBuffer pages=2000 access=store",
        "scenario=device-major what=control allocator=clCreateBuffer pages=2000 access=load",
        "scenario=device-major what=fault allocator=clCreateBuffer pages=2000 access=load"};
    double control;
    keep_heap();
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        (void)real("opencl:0", cells[i], &control);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_cpu_after_device),
        cmocka_unit_test(test_what_is_subtracted),
        cmocka_unit_test(test_modes_of_single_faults),
        cmocka_unit_test(test_cpu_then_device),
        cmocka_unit_test(test_in_turn_subtracts_no_move),
        cmocka_unit_test(test_kept_pages_are_seen),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_opencl),
    };
    real_leave_untouched();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
