/* Every line of the data sheet beside a scripted truth: a machine that differs in whatever a line could confuse, each
 * axis of each cell, with decoys that look better than the truth. A line that is not in the table fails. */
#include "base/text.h"
#include "facts/facts.h"
#include "probe/probe.h"
#include "report/sheet.h"
#include "report/sheet_lines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KiB 1024.0
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)
enum { CELLS_MAX = 8192, THREADS = 4, DEVICES = 2 };
static const double HZ = 2e9;

static struct as_device_info devices[DEVICES];
static struct as_report_run run;

/* One measurement and what it is. Its value is the truth: nothing else of the machine has it. */
static const struct truth {
    const char *device, *probe, *unit, *axes;
    double value;
} truths[] = {
#define STREAM(op, threads, store, touch, allocator)                                                                   \
    "op=" op ";level=memory;size=4294967296;threads=" threads ";store=" store ";width=best;way=best;touch=" touch      \
    ";allocator=" allocator
    {"cpu", "roofline", "FLOP/s", "type=f64;threads=4;width=best", 101e9},
    {"cpu", "roofline", "FLOP/s", "type=f32;threads=4;width=best", 202e9},
    {"cpu", "roofline", "FLOP/s", "type=f16;threads=4;width=best", 404e9},
    {"cpu", "bandwidth", "GB/s", STREAM("read", "4", "regular", "cpu", "thp"), 61},
    {"cpu", "bandwidth", "GB/s", STREAM("read", "1", "regular", "cpu", "thp"), 21},
    {"cpu", "bandwidth", "GB/s", STREAM("write", "4", "nt", "cpu", "thp"), 62},
    {"cpu", "bandwidth", "GB/s", STREAM("write", "4", "regular", "cpu", "thp"), 32},
    {"cpu", "bandwidth", "GB/s", STREAM("copy", "4", "nt", "cpu", "thp"), 63},
    {"cpu", "bandwidth", "GB/s", STREAM("copy", "4", "regular", "cpu", "thp"), 33},
    {"cpu", "bandwidth", "GB/s", STREAM("triad", "4", "nt", "cpu", "thp"), 64},
    {"cpu", "bandwidth", "GB/s", STREAM("triad", "4", "regular", "cpu", "thp"), 34},
    {"cpu", "bandwidth", "GB/s", STREAM("triad", "1", "nt", "cpu", "thp"), 24},
    {"cpu", "loaded_latency", "ns", "op=read;delay=0;size=4294967296;threads=4;allocator=thp", 333},
#define SWEEP(size, threads)                                                                                           \
    "op=read;level=sweep;size=" size ";threads=" threads ";store=regular;width=best;way=best;touch=cpu;allocator=thp"
    {"cpu", "bandwidth", "GB/s", SWEEP("16384", "1"), 501},
    {"cpu", "bandwidth", "GB/s", SWEEP("65536", "4"), 2004},
    {"cpu", "bandwidth", "GB/s", SWEEP("393216", "1"), 251},
    {"cpu", "bandwidth", "GB/s", SWEEP("2097152", "4"), 1004},
    {"cpu", "bandwidth", "GB/s", SWEEP("12582912", "1"), 125},
    {"cpu", "bandwidth", "GB/s", SWEEP("12582912", "4"), 405},
    {"cpu", "bandwidth", "GB/s", SWEEP("100663296", "1"), 75},
    {"cpu", "bandwidth", "GB/s", SWEEP("100663296", "4"), 204},
    {"cpu", "launch", "ns", "what=roundtrip;wait=spin;threads=1", 1100},
    {"cpu", "launch", "ns", "what=submit;wait=block;threads=1", 520},
    {"cpu", "c2c", "ns", "peer=cpu;from=0;to=1;op=cas;pairs=some;allocator=malloc", 60},
    {"cpu", "c2c", "ns", "peer=cpu;from=0;to=2;op=cas;pairs=some;allocator=malloc", 50},
    {"cpu", "c2c", "ns", "peer=cpu;from=0;to=3;op=cas;pairs=some;allocator=malloc", 140},
    {"cpu", "atomics", "updates/s",
     "agent=cpu;elements=1024;type=u64;cpu_threads=1;device_threads=0;scope=system;order=relaxed;allocator=malloc",
     2e8},
    {"cpu", "alloc", "ns", "op=touch-again;allocator=mmap;size=16777216", 700},
    {"cpu", "alloc", "ns", "op=touch-mapped;allocator=mmap;size=16777216", 50},
#define AFTER(side, pass, allocator)                                                                                   \
    "op=read;touched=67108864;size=16777216;pattern=linear;stride=64;pass=" pass ";delay=0;allocator=" allocator       \
    ";side=" side ";control=launch"
    {"cpu", "residual", "x", AFTER("cpu", "1", "malloc"), 1.71},
    {"cpu", "residual", "x", AFTER("cpu", "2", "malloc"), 1.31},
#define BESIDE(victim, op, aggressor, allocator)                                                                       \
    "victim=" victim ";op=" op ";aggressor=" aggressor                                                                 \
    ";threads=0;buffers=separate;priority=normal;load=100;size=67108864;allocator=" allocator
    {"cpu", "interference", "x", BESIDE("cpu", "chase", "read", "thp"), 1.21},
    {"cpu", "interference", "x", BESIDE("cpu", "chase", "write", "thp"), 1.22},
    {"cpu", "interference", "x", BESIDE("cpu", "read", "write", "thp"), 1.23},
    {"cuda:0", "roofline", "FLOP/s", "type=f64;threads=0;width=best", 33e12},
    {"cuda:0", "roofline", "FLOP/s", "type=f32;threads=0;width=best", 66e12},
    {"cuda:0", "roofline", "FLOP/s", "type=f16;threads=0;width=best", 132e12},
#define GEMM(path, type, hold) "path=" path ";type=" type ";size=8192;operands=random;hold=" hold
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "f64", "burst"), 61e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "f64", "sustained"), 55e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("wgmma", "f64", "burst"), 50e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "tf32", "burst"), 390e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "tf32", "sustained"), 370e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("wgmma", "tf32", "burst"), 405e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "f16", "burst"), 780e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "f16", "sustained"), 719e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("wgmma", "f16", "burst"), 753e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "bf16", "burst"), 770e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "bf16", "sustained"), 701e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("wgmma", "bf16", "burst"), 760e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "e4m3", "burst"), 1500e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("library", "e4m3", "sustained"), 1400e12},
    {"cuda:0", "matmul", "FLOP/s", GEMM("wgmma", "e4m3", "burst"), 1510e12},
    {"cuda:0", "matmul", "OP/s", GEMM("library", "s8", "burst"), 1450e12},
    {"cuda:0", "matmul", "OP/s", GEMM("library", "s8", "sustained"), 1350e12},
    {"cuda:0", "matmul", "OP/s", GEMM("wgmma", "s8", "burst"), 1460e12},
    {"cuda:0", "bandwidth", "GB/s", STREAM("read", "0", "regular", "device", "cuMemAlloc"), 3170},
    {"cuda:0", "bandwidth", "GB/s", STREAM("write", "0", "regular", "device", "cuMemAlloc"), 3290},
    {"cuda:0", "bandwidth", "GB/s", STREAM("copy", "0", "regular", "device", "cuMemAlloc"), 3020},
    {"cuda:0", "bandwidth", "GB/s", STREAM("triad", "0", "regular", "device", "cuMemAlloc"), 3070},
    {"cuda:0", "l2_latency", "ns", "what=missed;compute_unit=0;filler=0", 345},
    {"cuda:0", "loaded_latency", "ns", "op=read;delay=0;size=4294967296;threads=0;allocator=cuMemAlloc", 1440},
    {"cuda:0", "onchip_bandwidth", "B/cycle", "what=common;size=16777216;width=128;stride=1;compute_units=every", 35},
    {"cuda:0", "onchip_bandwidth", "B/cycle", "what=own;size=65536;width=128;stride=1;compute_units=every", 127},
    {"cuda:0", "onchip_bandwidth", "B/cycle", "what=shared;size=0;width=128;stride=1;compute_units=every", 126},
#define COPY(from, to, direction) "from=" from ";to=" to ";direction=" direction ";how=engine;size=67108864"
    {"cuda:0", "copy", "GB/s", COPY("cuMemHostAlloc", "cuMemAlloc", "one"), 50},
    {"cuda:0", "copy", "GB/s", COPY("host", "cuMemAlloc", "one"), 12},
    {"cuda:0", "copy", "GB/s", COPY("cuMemAlloc", "cuMemHostAlloc", "one"), 55},
    {"cuda:0", "copy", "GB/s", COPY("cuMemAlloc", "host", "one"), 16},
    {"cuda:0", "copy", "GB/s", COPY("cuMemAlloc", "cuMemHostAlloc", "both"), 85},
#define LOAD(what) "peer=host;node=0;allocator=cuMemHostAlloc;what=" what ";size=2097152;stride=128"
    {"cuda:0", "link_latency", "ns", LOAD("load"), 1200},
    {"cuda:0", "link_latency", "ns", LOAD("atomic"), 980},
    {"cuda:0", "launch", "ns", "what=roundtrip;wait=spin;threads=1", 10300},
    {"cuda:0", "launch", "ns", "what=submit;wait=block;threads=1", 3400},
    {"cuda:0", "launch", "ns", "what=graph-100;wait=block;threads=1", 1150},
    {"cuda:0", "c2c", "ns", "peer=compute_unit;from=0;to=1;op=load;pairs=every;allocator=cuMemAlloc", 585},
    {"cuda:0", "c2c", "ns", "peer=device;from=0;to=0;op=load;pairs=some;allocator=cuMemHostAlloc", 1210},
    {"cuda:0", "atomics", "updates/s",
     "agent=device;elements=1024;type=u64;cpu_threads=0;device_threads=65536;scope=device;order=relaxed;"
     "allocator=cuMemAlloc",
     3e10},
    {"cuda:0", "alloc", "ns", "op=alloc;allocator=cuMemAlloc;size=16777216", 58e3},
    {"cuda:0", "alloc", "ns", "op=free;allocator=cuMemAlloc;size=16777216", 48e3},
    {"cuda:0", "alloc", "ns", "op=alloc;allocator=cuMemHostAlloc;size=16777216", 9.9e6},
    {"cuda:0", "alloc", "ns", "op=free;allocator=cuMemHostAlloc;size=16777216", 2.5e6},
    {"cuda:0", "alloc", "ns", "op=alloc;allocator=cuMemAllocManaged;size=16777216", 10.8e3},
    {"cuda:0", "alloc", "ns", "op=free;allocator=cuMemAllocManaged;size=16777216", 12.8e3},
    {"cuda:0", "residual", "x", AFTER("cpu", "1", "cuMemAlloc"), 1.72},
    {"cuda:0", "residual", "x", AFTER("cpu", "2", "cuMemAlloc"), 1.32},
    {"cuda:0", "residual", "x", AFTER("device", "1", "cuMemAlloc"), 1.62},
    {"cuda:0", "interference", "x", BESIDE("cpu", "chase", "read", "cuMemHostAlloc"), 1.41},
    {"cuda:0", "interference", "x", BESIDE("cpu", "chase", "write", "cuMemAlloc"), 1.42},
    {"cuda:0", "interference", "x", BESIDE("cpu", "read", "d2h", "cuMemHostAlloc"), 1.43},
    {"cuda:0", "interference", "x", BESIDE("device", "read", "write", "cuMemAlloc"), 1.44},
};

/* What each line shows of it, in the line's unit. Of capacities, what the range holds. */
static const struct {
    const char *device, *group, *label;
    double value;
    const char *remark; /* which the line's has; NULL: any */
} lines[] = {
    {"cpu", "Clock", "core", 2e9, NULL},
    {"cpu", "Compute", "FP64", 101e9, NULL},
    {"cpu", "Compute", "FP32", 202e9, NULL},
    {"cpu", "Compute", "FP16", 404e9, NULL},
    {"cpu", "Memory", "read", 61, NULL},
    {"cpu", "Memory", "read, 1 thread", 21, NULL},
    {"cpu", "Memory", "write", 62, "non-temporal stores, regular stores 32.0 GB/s"},
    {"cpu", "Memory", "copy", 63, "non-temporal stores, regular stores 33.0 GB/s"},
    {"cpu", "Memory", "triad", 64, "non-temporal stores, regular stores 34.0 GB/s, 1 thread 24.0 GB/s"},
    {"cpu", "Memory", "latency", 110, "huge pages"},
    {"cpu", "Memory", "latency, base pages", 165, NULL},
    {"cpu", "Memory", "latency under full load", 333, "huge pages"},
    {"cpu", AS_SHEET_MEMORY_SIDE, "capacity", 256 * MiB, NULL},
    {"cpu", AS_SHEET_MEMORY_SIDE, "latency", 50, "100 cycles"},
    {"cpu", AS_SHEET_MEMORY_SIDE, "read", 204, "over 96 MiB"},
    {"cpu", AS_SHEET_MEMORY_SIDE, "read, 1 thread", 75, "over 96 MiB"},
    {"cpu", "L3", "capacity", 32 * MiB, NULL},
    {"cpu", "L3", "latency", 22, "44.0 cycles"},
    {"cpu", "L3", "read", 405, "over 12 MiB"},
    {"cpu", "L3", "read, 1 thread", 125, "over 12 MiB"},
    {"cpu", "L2", "capacity", MiB, NULL},
    {"cpu", "L2", "latency", 4.8, "9.60 cycles"},
    {"cpu", "L2", "read", 1004, "over 2 MiB"},
    {"cpu", "L2", "read, 1 thread", 251, "over 384 KiB"},
    {"cpu", "L1", "capacity", 32 * KiB, NULL},
    {"cpu", "L1", "latency", 1.5, "3.00 cycles"},
    {"cpu", "L1", "read", 2004, "over 64 KiB"},
    {"cpu", "L1", "read, 1 thread", 501, "over 16 KiB"},
    {"cpu", "Launch", "launch + sync", 1100, "submit 520 ns"},
    {"cpu", "Cache line", "core to core", 60, "nearest 50.0 ns, farthest 140 ns"},
    {"cpu", "Atomics", "64-bit add", 2e8, "1 thread"},
    {"cpu", "Page fault", "one page", 650, NULL},
    {"cpu", "Eviction", "CPU pass after 64 MiB", 1.71, "second pass 1.31x"},
    {"cpu", "Interference", "CPU chase", 1.21, "beside reads, beside writes 1.22x"},
    {"cpu", "Interference", "CPU read", 1.23, "beside writes"},
    {"cuda:0", "Clock", "core", 2e9, NULL},
    {"cuda:0", "Compute", "FP64", 33e12, NULL},
    {"cuda:0", "Compute", "FP32", 66e12, NULL},
    {"cuda:0", "Compute", "FP16", 132e12, NULL},
    {"cuda:0", "Matrix", "FP64", 61e12, "library"},
    {"cuda:0", "Matrix", "FP64 sustained", 55e12, "library"},
    {"cuda:0", "Matrix", "FP64 own kernel", 50e12, "wgmma"},
    {"cuda:0", "Matrix", "TF32", 390e12, "library"},
    {"cuda:0", "Matrix", "TF32 sustained", 370e12, "library"},
    {"cuda:0", "Matrix", "TF32 own kernel", 405e12, "wgmma"},
    {"cuda:0", "Matrix", "FP16", 780e12, "library"},
    {"cuda:0", "Matrix", "FP16 sustained", 719e12, "library"},
    {"cuda:0", "Matrix", "FP16 own kernel", 753e12, "wgmma"},
    {"cuda:0", "Matrix", "BF16", 770e12, "library"},
    {"cuda:0", "Matrix", "BF16 sustained", 701e12, "library"},
    {"cuda:0", "Matrix", "BF16 own kernel", 760e12, "wgmma"},
    {"cuda:0", "Matrix", "FP8", 1500e12, "library"},
    {"cuda:0", "Matrix", "FP8 sustained", 1400e12, "library"},
    {"cuda:0", "Matrix", "FP8 own kernel", 1510e12, "wgmma"},
    {"cuda:0", "Matrix", "INT8", 1450e12, "library"},
    {"cuda:0", "Matrix", "INT8 sustained", 1350e12, "library"},
    {"cuda:0", "Matrix", "INT8 own kernel", 1460e12, "wgmma"},
    {"cuda:0", "Memory", "read", 3170, NULL},
    {"cuda:0", "Memory", "write", 3290, NULL},
    {"cuda:0", "Memory", "copy", 3020, NULL},
    {"cuda:0", "Memory", "triad", 3070, NULL},
    {"cuda:0", "Memory", "latency", 345, NULL},
    {"cuda:0", "Memory", "latency under full load", 1440, NULL},
    {"cuda:0", "L2", "capacity", 50 * MiB, NULL},
    {"cuda:0", "L2", "latency", 130, "260 cycles"},
    {"cuda:0", "L2", "read", 35 * 2 * 100, "35.0 B/cycle"},
    {"cuda:0", "L1", "capacity", 256 * KiB * 1.07, NULL},
    {"cuda:0", "L1", "latency", 16.5, "33.0 cycles"},
    {"cuda:0", "L1", "read", 127 * 2 * 100, "127 B/cycle"},
    {"cuda:0", "Shared memory", "capacity", 228 * KiB, NULL},
    {"cuda:0", "Shared memory", "latency", 12, "24.0 cycles"},
    {"cuda:0", "Shared memory", "read", 126 * 2 * 100, "126 B/cycle"},
    {"cuda:0", "Host link", "to device", 50, "pageable 12.0 GB/s"},
    {"cuda:0", "Host link", "from device", 55, "pageable 16.0 GB/s"},
    {"cuda:0", "Host link", "bidirectional", 85, NULL},
    {"cuda:0", "Host link", "load latency", 1200, "atomic add 980 ns"},
    {"cuda:0", "Launch", "launch + sync", 10300, "submit 3.40 µs, 100-node graph: 1.15 µs per kernel"},
    {"cuda:0", "Cache line", "{unit} to {unit}", 585, NULL},
    {"cuda:0", "Cache line", "CPU to device", 1210, NULL},
    {"cuda:0", "Atomics", "64-bit add", 3e10, "65,536 threads"},
    {"cuda:0", "Allocate 16 MiB", "device", 58e3, "free 48.0 µs"},
    {"cuda:0", "Allocate 16 MiB", "pinned", 9.9e6, "free 2.50 ms"},
    {"cuda:0", "Allocate 16 MiB", "managed", 10.8e3, "free 12.8 µs"},
    {"cuda:0", "Eviction", "CPU pass after 64 MiB", 1.72, "second pass 1.32x"},
    {"cuda:0", "Eviction", "device pass after 64 MiB", 1.62, NULL},
    {"cuda:0", "Interference", "CPU chase", 1.41, "beside writes of device memory 1.42x"},
    {"cuda:0", "Interference", "CPU read", 1.43, "beside copies from the device"},
    {"cuda:0", "Interference", "device read", 1.44, "beside writes of the CPU"},
};

/* Other values of each axis, which make another quantity. */
static const struct {
    const char *axis, *values;
} others[] = {
    {"op", "read write copy triad none update alloc free cas load chase first-touch"},
    {"level", "sweep memory"},
    {"size", "64 4096 524288 33554432"},
    {"threads", "0 1 2 3 4 16 1024"},
    {"store", "regular nt"},
    {"width", "scalar 32 128 256"},
    {"way", "once stay tile"},
    {"touch", "cpu device"},
    {"allocator", "malloc hugetlb cuMemAllocManaged cuMemAllocAsync"},
    {"delay", "32 4096"},
    {"what", "batch graph-1 near far found load atomic constant"},
    {"wait", "block spin yield"},
    {"peer", "cpu device compute_unit 1"},
    {"node", "1"},
    {"stride", "8 32 4096"},
    {"compute_unit", "1 7"},
    {"compute_units", "one"},
    {"filler", "1"},
    {"from", "cuMemAllocManaged"},
    {"to", "cuMemAllocManaged"},
    {"direction", "one both"},
    {"how", "kernel"},
    {"type", "u32 f32x2"},
    {"operands", "zeros"},
    {"hold", "sustained"},
    {"path", "tiled naive"},
    {"elements", "1 1048576"},
    {"cpu_threads", "2 16"},
    {"device_threads", "64 4096"},
    {"scope", "system none"},
    {"order", "seq_cst"},
    {"agent", "both"},
    {"touched", "0 1048576 268435456"},
    {"pattern", "random page stride"},
    {"pass", "3"},
    {"side", "device"},
    {"control", "wait"},
    {"victim", "none"},
    {"aggressor", "none atomic write_nt h2d"},
    {"buffers", "shared"},
    {"priority", "sched_idle"},
    {"load", "50"},
};

static void read_axes(const char *text, struct as_axes *out)
{
    char copy[256], *save = NULL;
    struct as_error err;
    as_copy_text(copy, sizeof copy, text);
    *out = (struct as_axes){0};
    for (char *one = strtok_r(copy, ";", &save); one; one = strtok_r(NULL, ";", &save)) {
        char *value = strchr(one, '=');
        *value++ = 0;
        assert_int_equal(as_axes_add(out, one, value, &err), AS_OK);
    }
}

static bool is_there(const char *device, const char *probe, const struct as_axes *axes)
{
    for (size_t i = 0; i < run.cells_n; i++)
        if (strcmp(run.cells[i].device, device) == 0 && strcmp(run.cells[i].probe, probe) == 0 &&
            as_cell_key(probe, "", &run.cells[i].axes) == as_cell_key(probe, "", axes))
            return true;
    return false;
}

static void add_cell(const char *device, const char *probe, const char *unit, const struct as_axes *axes, double value)
{
    assert_true(run.cells_n < CELLS_MAX);
    if (is_there(device, probe, axes))
        return;
    struct as_cell *c = &run.cells[run.cells_n++];
    *c = (struct as_cell){.id = (int64_t)run.cells_n,
                          .axes = *axes,
                          .status = AS_CELL_OK,
                          .precision = 0.1,
                          .clock_hz = HZ,
                          .lower_is_better = strcmp(unit, "ns") == 0 || strcmp(unit, "x") == 0,
                          .limit = NAN,
                          .sum = {.n = 10, .trials = 5, .median = value, .ci = {0.999 * value, 1.001 * value}}};
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
}

/* axes without the size, whose name comes last: "what=global;stride=64;size" */
static void add(const char *device, const char *probe, const char *unit, double value, const char *without, double size)
{
    char text[256];
    struct as_axes axes;
    snprintf(text, sizeof text, "%s=%.0f", without, size);
    read_axes(text, &axes);
    add_cell(device, probe, unit, &axes, value);
}

/* Curves, from which levels follow: what a chase of so many bytes takes. */
static void add_curves(void)
{
    for (double size = 4 * KiB; size <= 4 * GiB; size *= 2) {
        const double ns = size <= 32 * KiB    ? 1.5
                          : size <= MiB       ? 4.8
                          : size <= 32 * MiB  ? 22
                          : size <= 256 * MiB ? 50
                                              : 110;
        add("cpu", "latency", "ns", ns, "pattern=random;allocator=thp;stride=64;instrument=timed;size", size);
        add("cpu", "latency", "ns", 1.5 * ns, "pattern=random;allocator=mmap;stride=64;instrument=timed;size", size);
    }
    for (int k = 0; k <= 64; k++) {
        const double size = round(4 * KiB * exp2(k / 4.0));
        const double ns = size <= 256 * KiB ? 16.5 : size <= 50 * MiB ? 130 : 345;
        add("cuda:0", "onchip", "ns", ns, "what=global;stride=64;shared=0;size", size);
        if (size >= 4 * MiB)
            add("cuda:0", "onchip", "ns", ns + 100, "what=atomic;stride=64;shared=0;size", size);
    }
    add("cuda:0", "onchip", "ns", 12, "what=shared;stride=64;shared=0;size", 4096);
    static const double requests[] = {1024, 2048, 4096, 8192, 16384, 32768, 57000, 75000, 110000, 131072};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) /* 1 KiB of each workgroup is the system's */
        add("cuda:0", "occupancy", "workgroups", fmin(32, floor(228 * KiB / (requests[i] + KiB))),
            "threads=32;values=0;shared", requests[i]);
    add("cuda:0", "occupancy", "workgroups", 32, "threads=32;values=0;shared", 0);
}

/* Cells that differ from the truth in one axis, and look better than it. */
static void add_decoys(const struct truth *t)
{
    struct as_axes axes;
    const bool time = strcmp(t->unit, "ns") == 0 || strcmp(t->unit, "x") == 0;
    read_axes(t->axes, &axes);
    for (size_t a = 0; a < axes.n; a++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            char values[160], *save = NULL;
            const bool end = strcmp(axes.v[a].name, "from") == 0 || strcmp(axes.v[a].name, "to") == 0;
            if (strcmp(others[k].axis, axes.v[a].name) != 0 || (end && strcmp(t->probe, "copy") != 0))
                continue; /* another pair of cores is of the same quantity */
            as_copy_text(values, sizeof values, others[k].values);
            for (char *v = strtok_r(values, " ", &save); v; v = strtok_r(NULL, " ", &save)) {
                struct as_axes other = {0};
                struct as_error err;
                for (size_t i = 0; i < axes.n; i++)
                    assert_int_equal(as_axes_add(&other, axes.v[i].name, i == a ? v : axes.v[i].text, &err), AS_OK);
                add_cell(t->device, t->probe, t->unit, &other, time ? t->value / 3 : t->value * 3);
            }
        }
}

static int start(void **state)
{
    (void)state;
    devices[0] = (struct as_device_info){
        .id = "cpu",
        .backend = "cpu",
        .compute_units = THREADS,
        .threads = THREADS,
        .page_size = 4096,
        .capabilities = AS_CAP_HOST_KERNELS | AS_CAP_FP64,
        .caches_n = 4,
        .caches = {
            {.level = 1, .kind = 'd', .size = 32 << 10, .line = 64, .shared = 1},
            {.level = 2, .kind = 'u', .size = 1 << 20, .line = 64, .shared = 1},
            {.level = 3, .kind = 'u', .size = 32 << 20, .line = 64, .shared = THREADS},
            {.level = 4, .kind = 'u', .size = 256 << 20, .shared = THREADS, .memory_side = true, .name = "SLC"}}};
    devices[1] = (struct as_device_info){.id = "cuda:0",
                                         .backend = "cuda",
                                         .compute_units = 100,
                                         .capabilities = AS_CAP_SOURCE | AS_CAP_COPY | AS_CAP_FP64,
                                         .compute_unit_shared = 228 << 10,
                                         .caches_n = 1,
                                         .caches = {{.level = 2, .kind = 'u', .size = 50 << 20, .shared = 0}}};
    run = (struct as_report_run){.devices = devices, .devices_n = DEVICES};
    run.cells = calloc(CELLS_MAX, sizeof *run.cells);
    assert_non_null(run.cells);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct as_axes axes;
        read_axes(truths[i].axes, &axes);
        add_cell(truths[i].device, truths[i].probe, truths[i].unit, &axes, truths[i].value);
    }
    add_curves();
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        add_decoys(&truths[i]);
    struct as_error err;
    const struct as_fact_input input = {
        .run = &run.run, .cells = run.cells, .cells_n = run.cells_n, .devices = devices, .devices_n = DEVICES};
    assert_int_equal(as_facts_derive(&input, &run.facts, &run.facts_n, &err), AS_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(run.cells);
    free(run.facts);
    return 0;
}

/* The label of a line as the table writes it. */
static const struct as_sheet_row *row_of(const struct as_sheet *s, const char *group, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(as_sheet_lines[s->rows[i].line].group, group) == 0 &&
            strcmp(as_sheet_lines[s->rows[i].line].label, label) == 0)
            return &s->rows[i];
    return NULL;
}

static void test_lines(void **state)
{
    (void)state;
    struct as_error err;
    int bad = 0;
    for (size_t d = 0; d < DEVICES; d++) {
        struct as_sheet s;
        assert_int_equal(as_sheet_make(&run, devices[d].id, &s, &err), AS_OK);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            if (strcmp(lines[i].device, devices[d].id) != 0)
                continue;
            const struct as_sheet_row *row = row_of(&s, lines[i].group, lines[i].label);
            const double truth = lines[i].value;
            if (!row)
                bad++, print_error("%s: no line %s %s\n", devices[d].id, lines[i].group, lines[i].label);
            else if (strcmp(row->unit, "B") == 0 ? row->ci.lo > truth || row->ci.hi < truth
                                                 : fabs(row->value / truth - 1) > 0.02)
                bad++, print_error("%s: %s %s is %g (%g to %g) %s, not %g; %s\n", devices[d].id, lines[i].group,
                                   lines[i].label, row->value, row->ci.lo, row->ci.hi, row->unit, truth, row->remark);
            else if (lines[i].remark && !strstr(row->remark, lines[i].remark))
                bad++, print_error("%s: %s %s says '%s', not '%s'\n", devices[d].id, lines[i].group, lines[i].label,
                                   row->remark, lines[i].remark);
        }
        as_sheet_finish(&s);
    }
    assert_int_equal(bad, 0);
}

static bool is_tested(const char *device, const struct as_sheet_line *line)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(lines[i].device, device) == 0 && strcmp(lines[i].group, line->group) == 0 &&
            strcmp(lines[i].label, line->label) == 0)
            return true;
    return false;
}

/* Each line of the table on each side that has it. */
static void test_no_line_is_forgotten(void **state)
{
    (void)state;
    for (const struct as_sheet_line *line = as_sheet_lines; line->group; line++)
        for (size_t i = 0; i < AS_SHEET_SOURCES && line->from[i].from; i++) {
            const enum as_sheet_side side = line->from[i].side;
            const bool cpu = is_tested("cpu", line), device = is_tested("cuda:0", line);
            const bool l3 = strcmp(line->group, "L3") == 0 && cpu; /* the same sources as L2, which this GPU has */
            if (!l3 && (side == AS_SHEET_BOTH ? !cpu && !device : side == AS_SHEET_CPU ? !cpu : !device))
                fail_msg("%s %s has no truth", line->group, line->label);
        }
}

/* An axis that the truth does not name could be confused unseen. */
static void test_no_axis_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const struct as_probe *probe = as_probe_find(truths[i].probe);
        struct as_axes axes;
        read_axes(truths[i].axes, &axes);
        assert_non_null(probe);
        for (const struct as_axis *axis = probe->axes; axis->name; axis++)
            if (!as_axes_get(&axes, axis->name))
                fail_msg("%s: %s has no %s", truths[i].probe, truths[i].axes, axis->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_no_line_is_forgotten),
                                       cmocka_unit_test(test_no_axis_is_forgotten)};
    return cmocka_run_group_tests_name("data sheet beside the truth", tests, start, end);
}
