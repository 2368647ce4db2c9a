#include "base/text.h"
#include "report/backends/backend_pairs.h"
#include "synth_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void cores_json(struct as_buf *b, unsigned cores, unsigned per_l3, unsigned *core)
{
    for (unsigned i = 0; i < cores / per_l3; i++) {
        as_buf_printf(b, "%s{\"type\":\"L3\",\"os_index\":%u,\"size\":33554432,\"children\":[", i ? "," : "", i);
        for (unsigned j = 0; j < per_l3; j++, (*core)++)
            as_buf_printf(
                b,
                "%s{\"type\":\"L2\",\"size\":1048576,\"children\":[{\"type\":\"L1d\",\"size\":32768,\"children\":[{"
                "\"type\":\"L1i\",\"size\":32768,\"children\":[{\"type\":\"core\",\"os_index\":%u,\"children\":[{"
                "\"type\":\"pu\",\"os_index\":%u},{\"type\":\"pu\",\"os_index\":%u}]}]}]}]}",
                j ? "," : "", *core, *core, *core + 128);
        as_buf_str(b, "]}");
    }
}

char *synth_machine_json(unsigned packages, unsigned cores, unsigned per_l3)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned core = 0;
    as_buf_str(&b, "{\"type\":\"machine\",\"children\":[");
    for (unsigned p = 0; p < packages; p++) {
        as_buf_printf(
            &b,
            "%s{\"type\":\"package\",\"os_index\":%u,\"children\":[{\"type\":\"memory\",\"os_index\":%u,\"size\":"
            "%llu},",
            p ? "," : "", p, p, packages > 1 ? 405300000000ULL : 8326406144ULL);
        cores_json(&b, cores, per_l3, &core);
        as_buf_str(&b, "]}");
    }
    as_buf_str(&b, "]}");
    return as_buf_take(&b);
}

/* A device with its own memory, whose driver reports no first-level cache. */
static struct as_device_info *gpu(struct as_report_run *r, unsigned number, unsigned of)
{
    char id[32];
    snprintf(id, sizeof id, "cuda:%u", number);
    struct as_device_info *d = synth_device(r, id, "cuda", "NVIDIA H200");
    snprintf(d->bus_id, sizeof d->bus_id, "0000:%02u:00.0", number + 1);
    snprintf(d->uuid, sizeof d->uuid, "GPU-5ede5d59-c949-3aca-4b28-%012u", number);
    as_copy_text(d->driver, sizeof d->driver, "driver 580.1, CUDA 13.0");
    d->compute_units = 132;
    d->siblings = of;
    d->compute_unit_shared = 233472;
    as_copy_text(d->dialect, sizeof d->dialect, "cuda");
    d->is_host_memory = false;
    d->memory_bytes = 150000000000;
    d->caches_n = 1;
    d->caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 62914560, .line = 128, .ways = 0, .shared = 132};
    r->topologies[r->devices_n - 1] =
        as_strdup("{\"type\":\"machine\",\"children\":[{\"type\":\"pci\",\"children\":[{\"type\":\"device\","
                  "\"children\":[{\"type\":\"core\",\"name\":\"SM\",\"count\":132}]}]}]}");
    return d;
}

/* Of two devices only one direction of the link was measured. */
static void link_facts(struct maker *m, const char *id, unsigned number, unsigned of)
{
    synth_fact(m, id, "link:host-0", "link.host-0.to", 55.3, "GB/s", NAN, "The link to the host carries 55.3 GB/s.");
    synth_fact(m, id, "link:host-0", "link.host-0.from", 54.1, "GB/s", NAN,
               "The link from the host carries 54.1 GB/s.");
    synth_fact(m, id, "link:host-0", "link.latency.host-0.load", 1100, "ns", NAN,
               "A load from the host takes 1.10 µs.");
    synth_fact(m, id, "link:host-0", "link.latency.host-0.atomic", 1140, "ns", NAN, "An atomic takes 1.14 µs.");
    for (unsigned peer = 0; peer < of; peer++) {
        char object[32], to[64], load[64];
        if (peer == number || (of == 2 && number == 1))
            continue;
        snprintf(object, sizeof object, "link:%u", peer);
        snprintf(to, sizeof to, "link.%u.to", peer);
        snprintf(load, sizeof load, "link.latency.%u.load", peer);
        synth_fact(m, id, object, to, 368 + 2 * peer, "GB/s", NAN, "The link to the other device carries 368 GB/s.");
        synth_fact(m, id, object, load, 700 + 10 * peer, "ns", NAN, "A load from the other device takes 700 ns.");
    }
}

/* A cell with exactly this value, with a quantity's probe and axes. */
static void quantity_cell(struct maker *m, const struct as_probe *probe, const char *device, const char *unit,
                          const char *const (*axes)[2], double v)
{
    struct as_cell *c = synth_cell(m, probe, device);
    for (size_t i = 0; c && axes[i][0]; i++)
        synth_axis(c, axes[i][0], axes[i][1]);
    if (!c)
        return;
    as_copy_text(c->unit, sizeof c->unit, unit);
    c->sum = (struct as_summary){.n = 60, .trials = 3, .median = v, .ci = {v * 0.98, v * 1.02}, .modes = 1};
}

static void roof_cells(struct maker *m, const char *id)
{
    static const struct as_probe onchip = {.name = "onchip_bandwidth"};
    static const char *const read[][2] = {{"op", "read"},         {"level", "memory"},         {"threads", "0"},
                                          {"size", "8589934592"}, {"allocator", "cuMemAlloc"}, {0}},
                             *const sweep[][2] = {{"op", "read"},        {"level", "sweep"},          {"threads", "0"},
                                                  {"size", "268435456"}, {"allocator", "cuMemAlloc"}, {0}},
                             *const l1[][2] = {{"what", "own"}, {"size", "65536"}, {0}},
                             *const shared[][2] = {{"what", "shared"}, {"size", "0"}, {0}},
                             *const l2[][2] = {{"what", "common"}, {"size", "16777216"}, {0}};
    quantity_cell(m, &synth_bandwidth, id, "GB/s", read, 4570);
    quantity_cell(m, &synth_bandwidth, id, "GB/s", sweep, 4600);
    quantity_cell(m, &onchip, id, "B/cycle", l1, 128);
    quantity_cell(m, &onchip, id, "B/cycle", shared, 127);
    quantity_cell(m, &onchip, id, "B/cycle", l2, 37.8);
}

/* The second device has a peak but no valid bandwidth. */
static void roofline_cells(struct maker *m, const char *id, bool levels)
{
    static const char *const types[] = {"f64", "f32"}, *const names[] = {"memory", "L2", "L1", "shared"};
    static const double peaks[] = {30.8e12, 66.3e12}, gbs[] = {4570, 9879, 33454, 33193};
    for (int t = 0; t < 2; t++) {
        const char *const axes[][2] = {{"type", types[t]}, {"threads", "0"}, {"width", "best"}, {0}};
        char ridge[64];
        quantity_cell(m, &synth_roofline, id, "FLOP/s", axes, peaks[t]);
        for (int level = 0; level < 4 && levels; level++) {
            snprintf(ridge, sizeof ridge, "ridge.%s.%s", types[t], names[level]);
            synth_fact(m, id, "arithmetic", ridge, peaks[t] / gbs[level] * 1e-9, "FLOP/B", NAN,
                       "The ridge point lies there.");
        }
    }
    if (levels)
        roof_cells(m, id);
}

void synth_gpus(struct maker *m, unsigned n)
{
    struct as_report_run *r = m->r;
    synth_device(r, "cpu", "cpu", "AMD EPYC 9654 96-Core Processor");
    r->topologies[0] = synth_machine_json(1, 8, 8);
    synth_cpu_facts(m);
    for (unsigned i = 0; i < n; i++) {
        const char *id = gpu(r, i, n)->id;
        synth_fact(m, id, "core", "clock.core", 1.98e9, "Hz", 1.98e9, "The core runs at 1.98 GHz.");
        synth_fact(m, id, "L1", "onchip.L1.latency", 32, "cycles", NAN, "A load from L1 takes 32 cycles.");
        synth_fact(m, id, "L1", "onchip.L1.sector", 32, "B", NAN, "L1 fetches 32 B per miss.");
        synth_fact(m, id, "shared", "onchip.shared.bandwidth", 127, "B/cycle", NAN,
                   "Each SM loads 127 B/cycle from shared memory.");
        synth_fact(m, id, "L2", "onchip.L2.latency", 323, "cycles", NAN, "A load from L2 takes 323 cycles.");
        synth_fact(m, id, "memory", "bandwidth.memory.read.all", 4570, "GB/s", 4814,
                   "Memory read bandwidth: 4.57 TB/s.");
        link_facts(m, id, i, n);
        roofline_cells(m, id, i == 0);
    }
    synth_latency_cells(m, "cuda:0", 1.6, 1);
}

static void twin_cell(struct maker *m, const struct as_probe *probe, const char *device, const char *allocator,
                      uint64_t size, double v)
{
    struct as_cell *c = synth_cell(m, probe, device);
    synth_axis(c, "allocator", allocator);
    synth_axis(c, probe == &synth_latency ? "pattern" : "op", probe == &synth_latency ? "random" : "copy");
    synth_axis_number(c, "size", size);
    if (c)
        c->sum = (struct as_summary){.n = 60, .trials = 3, .median = v, .ci = {v * 0.999, v * 1.001}, .modes = 1};
}

/* One GPU under two backends, whose latencies differ by 1.3 and whose bandwidths agree; also another GPU of the same
 * kind, and the CPU under a device API. */
void synth_twins(struct maker *m)
{
    struct as_report_run *r = m->r;
    struct as_error err;
    synth_device(r, "cpu", "cpu", "AMD EPYC 9654 96-Core Processor")->capabilities = AS_CAP_HOST_KERNELS;
    gpu(r, 0, 2);
    struct as_device_info *d = gpu(r, 1, 2);
    as_copy_text(d->id, sizeof d->id, "opencl:0");
    as_copy_text(d->backend, sizeof d->backend, "opencl");
    d = synth_device(r, "opencl:1", "opencl", "NVIDIA H200");
    d->is_host_memory = false;
    as_copy_text(d->uuid, sizeof d->uuid, "5ede5d59c9493aca4b28000000000000");
    synth_device(r, "opencl:2", "opencl", "pthread-genoa-AMD EPYC 9654")->is_host_cpu = true;
    for (uint64_t size = 4096; size <= 1u << 26; size *= 16) {
        twin_cell(m, &synth_latency, "cuda:0", "cuMemAlloc", size, synth_latency_at((double)size));
        twin_cell(m, &synth_latency, "cuda:0", "cuMemHostAlloc", size, 9 * synth_latency_at((double)size));
        twin_cell(m, &synth_latency, "opencl:0", "clCreateBuffer", size, 2 * synth_latency_at((double)size));
        twin_cell(m, &synth_latency, "opencl:1", "clCreateBuffer", size, 1.3 * synth_latency_at((double)size));
        twin_cell(m, &synth_bandwidth, "cuda:0", "malloc", size, 4000);
        twin_cell(m, &synth_bandwidth, "opencl:1", "malloc", size, 4001);
    }
    twin_cell(m, &synth_latency, "cpu", "malloc", 4096, 1.46);
    twin_cell(m, &synth_latency, "opencl:2", "malloc", 4096, 1.46);
    m->failed |= as_backend_pairs_make(r, &err) != AS_OK;
}
