/* Probe accounting: the counters' files, which cells apply, and the table for the CPU: untouched memory does not change
 * the process's size, touched memory changes it in full. */
#include "lib/counters/sampled.h"

#include "base/text.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct as_probe as_probe_accounting;

static void write_file(const char *root, const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(name, 0700);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void remove_tree(const char *root)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

UNIT_TEST(test_files)
{
    char root[] = "/tmp/assay-accounting-XXXXXX";
    struct counter_reading r;
    struct toy t;
    assert_non_null(mkdtemp(root));
    toy_init(&t, 0);
    as_counters_read(root, &t.dev, &r);
    for (size_t i = 0; i < COUNTERS; i++)
        assert_true(isnan(r.bytes[i]) && r.why[i][0]);
    write_file(root, "/proc/meminfo", "MemFree: 1 kB\nNotMemAvailable: 5 kB\nMemAvailable:    200 kB\n");
    write_file(root, "/proc/self/status", "Name:\ta\nVmHWM:\t  900 kB\nVmRSS:\t  30 kB\n");
    write_file(root, "/proc/self/smaps_rollup", "00-ff ---p 0 00:00 0 [rollup]\nRss:     40 kB\nShared_Rss: 1 kB\n");
    write_file(root, "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 9 kB\nNode 0 MemFree:  5 kB\n");
    write_file(root, "/sys/devices/system/node/node12/meminfo", "Node 12 MemTotal: 9 kB\nNode 12 MemFree:  7 kB\n");
    write_file(root, "/sys/devices/system/node/possible", "0-12\n");
    t.dev.info.capabilities = AS_CAP_FREE_COUNT;
    t.free_bytes = 12345;
    as_counters_read(root, &t.dev, &r);
    assert_true(r.bytes[COUNTER_AVAILABLE] == -200 * 1024);
    assert_true(r.bytes[COUNTER_NODES] == -12 * 1024);
    assert_true(r.bytes[COUNTER_RSS] == 30 * 1024);
    assert_true(r.bytes[COUNTER_ROLLUP] == 40 * 1024);
    assert_true(r.bytes[COUNTER_DRIVER] == -12345);
    assert_int_equal(r.nodes_n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(r.node_bytes[i] == (r.node[i] == 12 ? -7 * 1024 : -5 * 1024));
    assert_true(isnan(r.bytes[COUNTER_VRAM]) && strstr(r.why[COUNTER_VRAM], "mem_info_vram_used"));
    as_copy_text(t.dev.info.bus_id, sizeof t.dev.info.bus_id, "0000:C1:00.0");
    assert_false(as_counters_have_files(root, &t.dev.info));
    write_file(root, "/sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "4096\n");
    write_file(root, "/sys/bus/pci/devices/0000:c1:00.0/mem_info_gtt_used", "8192\n");
    as_counters_read(root, &t.dev, &r);
    assert_true(as_counters_have_files(root, &t.dev.info));
    assert_true(r.bytes[COUNTER_VRAM] == 4096 && r.bytes[COUNTER_GTT] == 8192);
    write_file(root, "/proc/self/status", "VmRSS is not here\n");
    as_counters_read(root, &t.dev, &r);
    assert_true(isnan(r.bytes[COUNTER_RSS]));
    assert_non_null(strstr(r.why[COUNTER_RSS], "VmRSS"));
    remove_tree(root);
}

/* What rises between two readings, in each counter and node; what falls, or cannot be read, is no rise. */
UNIT_TEST(test_sampled)
{
    char root[] = "/tmp/assay-sampled-XXXXXX";
    struct counter_samples *s;
    struct counter_peaks peaks;
    struct toy t;
    assert_non_null(mkdtemp(root));
    toy_init(&t, AS_CAP_FREE_COUNT);
    t.free_bytes = 1 << 20;
    t.dev.info.is_host_memory = false;
    as_copy_text(t.dev.info.bus_id, sizeof t.dev.info.bus_id, "0000:c1:00.0");
    write_file(root, "/proc/meminfo", "MemAvailable: 200 kB\n");
    write_file(root, "/sys/devices/system/node/node0/meminfo", "Node 0 MemFree: 100 kB\n");
    write_file(root, "/sys/devices/system/node/node3/meminfo", "Node 3 MemFree: 100 kB\n");
    write_file(root, "/sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "1000\n");
    assert_int_equal(as_samples_start(root, &t.dev, 1e-3, &s, NULL), AS_OK);
    write_file(root, "/proc/meminfo", "MemAvailable: 150 kB\n");
    write_file(root, "/sys/devices/system/node/node3/meminfo", "Node 3 MemFree: 60 kB\n");
    write_file(root, "/sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "9000\n");
    t.free_bytes -= 4096; /* by the driver's count */
    as_samples_step(s);
    write_file(root, "/proc/meminfo", "MemAvailable: 300 kB\n");
    t.free_bytes += 4096;
    as_samples_step(s);
    as_samples_stop(s, &peaks);
    assert_true(peaks.bytes[COUNTER_AVAILABLE] == 50 * 1024 && peaks.bytes[COUNTER_DRIVER] == 4096);
    assert_true(peaks.in_use == 50 * 1024 + 4096);
    assert_true(peaks.bytes[COUNTER_VRAM] == 8000 && isnan(peaks.bytes[COUNTER_GTT]));
    assert_int_equal(peaks.nodes_n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(peaks.node_bytes[i] == (peaks.node[i] == 3 ? 40 * 1024 : 0));
    assert_true(peaks.readings >= 3);
    as_samples_stop(NULL, &peaks);
    assert_true(isnan(peaks.in_use));
    remove_tree(root);
}

/* A system without files, like macOS. */
UNIT_TEST(test_calls)
{
    struct as_system_memory memory = {.total = 900, .free = 100, .available = 300, .resident = 50};
    struct counter_reading r = {.nodes_n = 0};
    as_counters_of_calls(&memory, &r);
    assert_true(r.bytes[COUNTER_AVAILABLE] == -300 && r.bytes[COUNTER_RSS] == 50);
    assert_true(isnan(r.bytes[COUNTER_NODES]) && r.why[COUNTER_NODES][0]);
    assert_true(isnan(r.bytes[COUNTER_ROLLUP]) && r.why[COUNTER_ROLLUP][0]);
    assert_string_equal(r.why[COUNTER_RSS], "");
    memory.resident = 0;
    as_counters_of_calls(&memory, &r);
    assert_true(isnan(r.bytes[COUNTER_RSS]) && r.why[COUNTER_RSS][0]);
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE | AS_CAP_FREE_COUNT);
    cpu.dev.info.allocators[0].host_access = gpu.dev.info.allocators[0].host_access = true;
#define CELL(counter, moment) "allocator=toy;counter=" counter ";step=" moment ";size=67108864"
    assert_int_equal(toy_applies(&cpu, &as_probe_accounting, CELL("VmRSS", "cpu-touched"), &err), AS_APPLIES);
    assert_int_equal(toy_applies(&cpu, &as_probe_accounting, CELL("VmRSS", "device-touched"), &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_accounting, CELL("driver", "before"), &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no driver"));
    assert_int_equal(toy_applies(&gpu, &as_probe_accounting, CELL("driver", "freed"), &err), AS_APPLIES);
    assert_int_equal(toy_applies(&gpu, &as_probe_accounting, CELL("amdgpu VRAM", "allocated"), &err), AS_PRUNED);
    assert_int_equal(
        toy_applies(&gpu, &as_probe_accounting, "allocator=alloca counter=VmRSS step=allocated size=67108864", &err),
        AS_PRUNED);
    gpu.dev.info.allocators[0].host_access = false;
    assert_int_equal(toy_applies(&gpu, &as_probe_accounting, CELL("driver", "cpu-touched"), &err), AS_INAPPLICABLE);
    gpu.dev.info.capabilities = 0;
    assert_int_equal(toy_applies(&gpu, &as_probe_accounting, CELL("VmRSS", "device-touched"), &err), AS_INAPPLICABLE);
    assert_int_equal(toy_applies(&gpu, &as_probe_accounting, CELL("driver", "before"), &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "does not report free memory"));
}

/* The driver's count follows allocations; a kernel that touches nothing is detected. */
static enum as_status count_allocator(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    (void)err;
    const struct toy *t = dev->ctx;
    *bytes = (UINT64_C(1) << 30) - (uint64_t)t->live * (UINT64_C(4) << 20);
    return AS_OK;
}

static void touch_all(const char *name, void *const *args)
{
    uint64_t start, page, pages, mark;
    assert_string_equal(name, "touch");
    memcpy(&start, args[2], sizeof start);
    memcpy(&page, args[3], sizeof page);
    memcpy(&pages, args[4], sizeof pages);
    memcpy(&mark, args[5], sizeof mark);
    for (uint64_t i = 0; i < pages; i++)
        ((uint64_t *)args[1])[start + i * page] = mark + i;
}

static void touch_none(const char *name, void *const *args)
{
    (void)name, (void)args;
}

UNIT_TEST(test_device)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_FREE_COUNT);
    struct as_device_ops ops = *t.dev.device;
    ops.memory_free = count_allocator;
    t.dev.device = &ops;
    t.kernel = touch_all;
    toy_prepare(&t, &as_probe_accounting, "allocator=toy counter=driver step=device-touched size=4194304", &v, NULL);
    assert_int_equal(as_probe_accounting.sample(v.state, 1, &s, &err), AS_OK);
    assert_true(fabs(s.value - 2) < 1e-9);
    assert_true(as_probe_accounting.check(v.state, why, sizeof why));
    t.kernel = touch_none;
    assert_int_equal(as_probe_accounting.sample(v.state, 1, &s, &err), AS_OK);
    assert_false(as_probe_accounting.check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "does not hold"));
    toy_finish(&as_probe_accounting, &v);
    toy_prepare(&t, &as_probe_accounting, "allocator=toy counter=driver step=freed size=4194304", &v, NULL);
    assert_int_equal(as_probe_accounting.sample(v.state, 1, &s, &err), AS_OK);
    assert_true(fabs(s.value - 1) < 1e-9);
    toy_finish(&as_probe_accounting, &v);
    assert_int_equal(t.live, 0);
}

static double real(const char *device, const char *allocator, const char *counter, const char *moment)
{
    struct real r;
    char axes[160];
    snprintf(axes, sizeof axes, "allocator=%s;counter=%s;step=%s;size=67108864", allocator, counter, moment);
    return real_trial(&as_probe_accounting, device, axes, 1, 1, &r) ? r.sample.value : NAN;
}

static void expect(const char *device, const char *allocator, const char *counter, const char *moment, double want)
{
    double got = real(device, allocator, counter, moment);
    if (isfinite(got) && fabs(got - want) > 0.05) /* VmRSS lags by some pages per thread */
        fail_msg("%s, %s, %s, %s: %g and not %g", device, allocator, counter, moment, got, want);
}

UNIT_TEST(test_table_of_the_cpu)
{
    static const char *const allocators[] = {"malloc", "mmap", "thp"}, *const counters[] = {"VmRSS", "smaps_rollup"};
    /* AddressSanitizer's malloc adds memory to every block. */
    for (size_t a = TOY_MALLOC_IS_REAL ? 0 : 1; a < 3; a++)
        for (size_t c = 0; c < 2; c++) {
            expect("cpu", allocators[a], counters[c], "before", 1);
            expect("cpu", allocators[a], counters[c], "allocated", 1);
            expect("cpu", allocators[a], counters[c], "cpu-touched", 2);
            expect("cpu", allocators[a], counters[c], "freed", 1);
        }
    if (TOY_MALLOC_IS_REAL) {
        expect("cpu", "file", "VmRSS", "allocated", 1);
        expect("cpu", "file", "VmRSS", "cpu-touched", 2);
        expect("cpu", "file", "VmRSS", "freed", 1);
        expect("cpu", "alloca", "smaps_rollup", "before", 1);
        expect("cpu", "alloca", "smaps_rollup", "allocated", 1);
        expect("cpu", "alloca", "smaps_rollup", "cpu-touched", 2);
        expect("cpu", "alloca", "smaps_rollup", "freed", 2); /* the stack keeps its pages */
    }
    real_or_skip();
    /* Other processes allocate and free meanwhile: any number is accepted. */
    assert_true(isfinite(real("cpu", "mmap", "MemAvailable", "cpu-touched")));
    assert_true(isfinite(real("cpu", "mmap", "NUMA nodes", "cpu-touched")));
}

UNIT_TEST(test_table_of_opencl)
{
    if (!TOY_MALLOC_IS_REAL) {
        print_message("skipped: AddressSanitizer's malloc keeps what is freed\n");
        skip();
    }
    struct as_opened opened;
    struct as_error err = {0};
    bool host = !as_device_open("opencl:0", &opened, &err) && opened.device.info.is_host_cpu;
    as_device_close(&opened);
    if (!host) {
        print_message("skipped: no OpenCL device that is the host's CPU%s%s\n", err.text[0] ? ": " : "", err.text);
        skip();
    }
    expect("opencl:0", "clCreateBuffer", "smaps_rollup", "allocated", 1);
    expect("opencl:0", "clCreateBuffer", "smaps_rollup", "cpu-touched", 2);
    expect("opencl:0", "clCreateBuffer", "smaps_rollup", "device-touched", 2);
    expect("opencl:0", "clSVMAlloc fine", "VmRSS", "device-touched", 2);
    expect("opencl:0", "clSVMAlloc fine", "VmRSS", "freed", 1);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),           cmocka_unit_test(test_sampled), cmocka_unit_test(test_calls),
        cmocka_unit_test(test_which_cells),     cmocka_unit_test(test_device),  cmocka_unit_test(test_table_of_the_cpu),
        cmocka_unit_test(test_table_of_opencl),
    };
    real_leave_untouched();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
