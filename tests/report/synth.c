#include "base/clock.h"
#include "base/text.h"
#include "probe/probe.h"
#include "synth_internal.h"
#include "tests/facts/named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char synth_hostile_html[] =
    "<img src=x onerror=alert(1)>\"'&</td></script><script>document.title='owned'</script>";
const char synth_hostile_script[] = "</script><!--<script>\x1b[31m\xff\xfe\xc3(";
const char *const synth_scenarios[] = {"plain",       "two",     "three",      "server", "gpu",   "gpus",
                                       "eight",       "twins",   "operations", "matrix", "large", "empty",
                                       "unsupported", "hostile", "none",       NULL};

enum { SYNTH_DEVICES_MAX = 10 };

struct as_cell *synth_cell(struct maker *m, const struct as_probe *probe, const char *device)
{
    struct as_error err;
    if (as_grow((void **)&m->r->cells, &m->cells_cap, m->r->cells_n + 1, sizeof *m->r->cells, &err) != AS_OK) {
        m->failed = true;
        return NULL;
    }
    struct as_cell *c = &m->r->cells[m->r->cells_n];
    *c = (struct as_cell){.id = m->r->run.id * 100000 + (int64_t)m->r->cells_n + 1,
                          .run_id = m->r->run.id,
                          .index = (int)m->r->cells_n,
                          .lower_is_better = probe->lower_is_better,
                          .limit = NAN,
                          .clock_hz = 3.4e9,
                          .status = AS_CELL_OK,
                          .trials_done = 3};
    m->r->cells_n++;
    as_copy_text(c->backend, sizeof c->backend, "cpu");
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->probe, sizeof c->probe, probe->name);
    as_copy_text(c->metric, sizeof c->metric, probe->metric ? probe->metric : "value");
    as_copy_text(c->unit, sizeof c->unit, probe->unit ? probe->unit : "");
    return c;
}

void synth_axis(struct as_cell *c, const char *name, const char *text)
{
    struct as_error err;
    if (c)
        as_axes_add(&c->axes, name, text, &err);
}

void synth_axis_number(struct as_cell *c, const char *name, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    synth_axis(c, name, text);
}

void synth_measured(struct maker *m, struct as_cell *c, double v)
{
    if (!c)
        return;
    v *= (c->lower_is_better ? m->slower : 1 / m->slower) * (1 + 0.01 * as_rng_normal(&m->rng));
    double half = v * (0.004 + 0.02 * as_rng_double(&m->rng));
    c->sum = (struct as_summary){.n = 60,
                                 .trials = 3,
                                 .median = v,
                                 .ci = {v - half, v + half},
                                 .mad = half,
                                 .min = v - 2 * half,
                                 .max = v + 5 * half,
                                 .modes = 1};
    for (int g = 0; g < AS_GATE_N; g++)
        c->gates[g].state = g == AS_GATE_CODE ? AS_GATE_NA : AS_GATE_PASS;
    if (as_rng_double(&m->rng) < 0.06) {
        c->status = AS_CELL_REJECTED;
        c->gates[AS_GATE_CHECKSUM].state = AS_GATE_FAIL;
        as_copy_text(c->gates[AS_GATE_CHECKSUM].text, sizeof c->gates[0].text, "interval 7.2% wide, 5% requested");
        if (as_rng_double(&m->rng) < 0.3)
            c->gates[AS_GATE_FOOTPRINT].state = AS_GATE_FAIL;
    }
}

double synth_latency_at(double size)
{
    static const double knee[] = {48e3, 2e6, 200e6}, level[] = {1.46, 4.8, 29, 112};
    double v = level[0];
    for (int i = 0; i < 3; i++)
        v += (level[i + 1] - level[i]) / (1 + pow(knee[i] / size, 3));
    return v;
}

void synth_latency_cells(struct maker *m, const char *device, double scale, int steps)
{
    const char *const *patterns = synth_latency.axes[1].words;
    static const char *const allocators[] = {"malloc", "mmap THP"};
    for (int a = 0; a < 2; a++)
        for (int p = 0; p < 3; p++)
            for (int s = 0; s < 20 * steps; s++) {
                double size = 64 * round(1024 * pow(2, (double)s / steps) / 64);
                struct as_cell *c = synth_cell(m, &synth_latency, device);
                synth_axis(c, "allocator", allocators[a]);
                synth_axis(c, "pattern", patterns[p]);
                synth_axis_number(c, "size", (uint64_t)size);
                synth_axis_number(c, "stride", 64);
                synth_measured(m, c,
                               scale * synth_latency_at(size) *
                                   (p == 0 && a == 0 && size > 4e6 ? 1.3
                                    : p == 2                       ? 0.4
                                                                   : 1));
            }
}

static void bandwidth_cells(struct maker *m, const char *device, int steps)
{
    const char *const *ops = synth_bandwidth.axes[0].words;
    for (int o = 0; ops[o]; o++)
        for (int threads = 1; threads <= 2; threads++)
            for (int s = 0; s < 9 * steps; s++) {
                double size = 64 * round(16384 * pow(4, (double)s / steps) / 64);
                struct as_cell *c = synth_cell(m, &synth_bandwidth, device);
                synth_axis(c, "op", ops[o]);
                synth_axis(c, "store", o == 3 && s % 2 ? "non-temporal" : "regular");
                synth_axis_number(c, "threads", (uint64_t)threads);
                synth_axis_number(c, "size", (uint64_t)size);
                synth_measured(m, c, threads * (300 / pow(synth_latency_at(size), 0.7)) * (1 - 0.1 * o));
            }
}

static void c2c_cells(struct maker *m, unsigned cores)
{
    const char *const *ops = synth_c2c.axes[3].words;
    for (int o = 0; ops[o]; o++)
        for (unsigned i = 0; i < cores; i++)
            for (unsigned j = i + 1; j < cores; j++) {
                struct as_cell *c = synth_cell(m, &synth_c2c, "cpu");
                synth_axis(c, "peer", "cpu");
                synth_axis_number(c, "from", i);
                synth_axis_number(c, "to", j);
                synth_axis(c, "op", ops[o]);
                synth_measured(m, c, (1 + 0.2 * o) * (i / 4 == j / 4 ? 32 : i / 12 == j / 12 ? 57 : 121));
            }
}

static void launch_cells(struct maker *m, const char *device)
{
    const char *const *whats = synth_launch.axes[0].words;
    static const char *const waits[] = {"block", "spin", "yield"};
    for (int h = 0; whats[h]; h++)
        for (int w = 0; w < 3; w++)
            for (unsigned threads = 1; threads <= 4096; threads *= 64) {
                struct as_cell *c = synth_cell(m, &synth_launch, device);
                synth_axis(c, "what", whats[h]);
                synth_axis(c, "wait", waits[w]);
                synth_axis_number(c, "threads", threads);
                synth_measured(m, c, (50e3 - 20e3 * h) * (1 - 0.2 * w) * (1 + threads / 9000.0));
            }
}

static void alloc_cells(struct maker *m, const char *device)
{
    const char *const *ops = synth_alloc.axes[0].words;
    static const char *const allocators[] = {"malloc", "mmap", "mmap THP"};
    for (int o = 0; ops[o]; o++)
        for (int a = 0; a < 3; a++)
            for (uint64_t size = 32; size <= 1u << 30; size *= 32) {
                struct as_cell *c = synth_cell(m, &synth_alloc, device);
                synth_axis(c, "op", ops[o]);
                synth_axis(c, "allocator", allocators[a]);
                synth_axis_number(c, "size", size);
                synth_measured(m, c, (o == 2 ? 1384 : 20 * (o + 1)) * (1 + a) * (1 + log2((double)size) / 8));
            }
}

static void without_number(struct maker *m, enum as_cell_status status, const char *reason, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct as_cell *c = synth_cell(m, &synth_latency, "opencl:0");
        if (!c)
            return;
        synth_axis(c, "allocator", "clSVMAlloc fine");
        synth_axis(c, "pattern", "random");
        synth_axis_number(c, "size", 1024u << (i % 20));
        c->status = status;
        as_copy_text(c->reason, sizeof c->reason, reason);
    }
}

void synth_fact(struct maker *m, const char *device, const char *object, const char *id, double v, const char *unit,
                double claimed, const char *sentence)
{
    struct as_error err;
    if (as_grow((void **)&m->r->facts, &m->facts_cap, m->r->facts_n + 1, sizeof *m->r->facts, &err) != AS_OK) {
        m->failed = true;
        return;
    }
    struct as_fact *f = &m->r->facts[m->r->facts_n++];
    *f = (struct as_fact){.verdict = isfinite(v) ? AS_SUPPORTED : AS_UNDECIDED,
                          .value = v,
                          .ci = {v * 0.97, v * 1.02},
                          .claimed = claimed,
                          .rule = "plateau of the latency curve (change points on log-log axes)",
                          .refuted_by = "a curve that rises before the size that is claimed",
                          .evidence_n = 6};
    if (isfinite(claimed) && isfinite(v) && fabs(v / claimed - 1) > 0.2)
        f->verdict = AS_REFUTED;
    m->failed |= !named_fact(f, id);
    as_copy_text(f->device, sizeof f->device, device);
    as_copy_text(f->object, sizeof f->object, object);
    as_copy_text(f->unit, sizeof f->unit, unit);
    as_copy_text(f->sentence, sizeof f->sentence, sentence);
    for (size_t i = 0; i < f->evidence_n; i++)
        f->evidence[i] = m->r->run.id * 100000 + 3 + (int64_t)(7 * i);
}

void synth_cpu_facts(struct maker *m)
{
    double s = m->slower;
    synth_fact(m, "cpu", "core", "clock.core", 3.41e9 / s, "Hz", 2.3e9,
               "The core runs at 3.41 GHz, not at the 2.3 GHz that the OS says.");
    synth_fact(m, "cpu", "L1", "cache.L1.size", 48 * 1024, "B", 48 * 1024, "L1 data holds 48 KiB.");
    synth_fact(m, "cpu", "L1", "cache.L1.latency", 1.46 * s, "ns", NAN, "A load that hits L1 takes 1.46 ns.");
    synth_fact(m, "cpu", "L1", "bandwidth.L1.read.all", 412 / s, "GB/s", NAN, "One thread reads 412 GB/s from L1.");
    synth_fact(m, "cpu", "L2", "cache.L2.size", 2.05 * 1048576, "B", 2097152, "L2 holds 2.05 MiB.");
    synth_fact(m, "cpu", "L2", "cache.L2.latency", 4.79 * s, "ns", NAN, "A load that hits L2 takes 4.79 ns.");
    synth_fact(m, "cpu", "L2", "bandwidth.L2.read.all", 121 / s, "GB/s", NAN, "One thread reads 121 GB/s from L2.");
    synth_fact(m, "cpu", "L3", "cache.L3.size", 190.0 * 1048576, "B", 260.0 * 1048576,
               "Of L3, 190 MiB are this machine's, of 260 MiB claimed.");
    synth_fact(m, "cpu", "L3", "cache.L3.latency", 29 * s, "ns", NAN, "A load that hits L3 takes 29.0 ns.");
    synth_fact(m, "cpu", "memory", "memory.latency", 112 * s, "ns", NAN, "A load from memory takes 112 ns.");
    synth_fact(m, "cpu", "memory", "bandwidth.memory.triad.all", 28.7 / s, "GB/s", NAN,
               "Two threads move 28.7 GB/s by triad.");
    synth_fact(m, "cpu", "memory", "bandwidth.memory.read.all", 22 / s, "GB/s", 76.8, "Two threads read 22.0 GB/s.");
    synth_fact(m, "cpu", "TLB", "tlb.reach", 6.1 * 1048576, "B", NAN, "The TLB reaches 6.10 MiB with pages of 4 KiB.");
    synth_fact(m, "cpu", "memory", "stores.nontemporal.copy.all", 1.46, "x", NAN,
               "Non-temporal stores speed up copy: it is 1.46 times as fast.");
    synth_fact(m, "cpu", "allocator:malloc", "memory.fault.malloc", 1384 * s, "ns", NAN,
               "First touch of a page costs 1.38 µs.");
    synth_fact(m, "cpu", "memory", "memory.host_backing.malloc", NAN, "ns", NAN,
               "Whether never-touched memory costs more than touched is not decided: the intervals overlap.");
}

static void run_record(struct as_report_run *r, int64_t id)
{
    struct as_run *run = &r->run;
    *run = (struct as_run){.id = id,
                           .started_at = 1795252000 + 7200.0 * (double)id,
                           .state = AS_RUN_COMPLETE,
                           .seed = 7134211,
                           .precision = 0.05,
                           .budget_s = 60,
                           .trials = 3};
    run->ended_at = run->started_at + 57;
    snprintf(run->uuid, sizeof run->uuid, "5b1e9f0a-4be1-4f0e-9c40-0a4f2a9d1c%02lld", (long long)id);
    as_copy_text(run->suite, sizeof run->suite, "quick");
    as_copy_text(run->host, sizeof run->host, "lab-17");
    as_copy_text(run->tool_version, sizeof run->tool_version, "0.1.0");
    as_copy_text(run->tool_commit, sizeof run->tool_commit, "f8ca855d12aa");
    run->command = as_strdup("assay run quick --seed 7134211");
    run->provenance = as_strdup(
        "{\"tool\":{\"version\":\"0.1.0\",\"compiler\":\"gcc 12.2.0\",\"flags\":\"-O2 "
        "-g\"},\"host\":{\"name\":\"lab-17\","
        "\"os\":\"Debian GNU/Linux "
        "12\",\"kernel\":\"6.1.0-18-amd64\",\"virtualization\":\"kvm\"},\"cpu\":{\"model\":\"INTEL(R)"
        " XEON(R) PLATINUM 8581C CPU @ 2.30GHz\",\"microcode\":\"0xffffffff\",\"cores\":1,\"threads\":2,\"smt\":true},"
        "\"memory\":{\"total\":8326406144,\"page_size\":4096,\"thp\":\"madvise\",\"numa_nodes\":1},\"load\":{\"1m\":0."
        "31}}");
}

struct as_device_info *synth_device(struct as_report_run *r, const char *id, const char *backend, const char *name)
{
    struct as_device_info *d = &r->devices[r->devices_n++];
    *d = (struct as_device_info){
        .compute_units = 2,
        .threads = 2,
        .warp = 1,
        .memory_bytes = 8326406144,
        .page_size = 4096,
        .numa_nodes = 1,
        .is_host_memory = true,
        .caches_n = 4,
        .caches = {{.level = 1, .kind = 'd', .size = 49152, .line = 64, .ways = 12, .shared = 2},
                   {.level = 1, .kind = 'i', .size = 32768, .line = 64, .ways = 8, .shared = 2},
                   {.level = 2, .kind = 'u', .size = 2097152, .line = 64, .ways = 16, .shared = 2},
                   {.level = 3, .kind = 'u', .size = 272629760, .line = 64, .ways = 20, .shared = 2}},
        .allocators_n = 2};
    as_copy_text(d->id, sizeof d->id, id);
    as_copy_text(d->backend, sizeof d->backend, backend);
    as_copy_text(d->name, sizeof d->name, name);
    as_copy_text(d->vendor, sizeof d->vendor, "GenuineIntel");
    as_copy_text(d->allocators[0].name, sizeof d->allocators[0].name, "malloc");
    as_copy_text(d->allocators[1].name, sizeof d->allocators[1].name, "hugetlb");
    as_copy_text(d->allocators[1].why_not, sizeof d->allocators[1].why_not, "no huge pages are reserved");
    return d;
}

static void gpu_facts(struct maker *m, const char *id)
{
    synth_fact(m, id, "L1", "cache.L1.latency", 16.3, "ns", NAN, "L1 answers in 16.3 ns.");
    synth_fact(m, id, "L1", "bandwidth.L1.read.all", 33200, "GB/s", NAN, "All units read 33.2 TB/s from L1.");
    synth_fact(m, id, "L2", "cache.L2.size", 44e6, "B", 60.0 * 1048576, "L2 holds 44 MB for one unit.");
    synth_fact(m, id, "L2", "cache.L2.latency", 141, "ns", NAN, "L2 answers in 141 ns.");
    synth_fact(m, id, "L2", "bandwidth.L2.read.all", 9800, "GB/s", NAN, "L2 gives 9.80 TB/s.");
    synth_fact(m, id, "memory", "bandwidth.memory.triad.all", 4372, "GB/s", 4814, "Triad moves 4.37 TB/s.");
    synth_fact(m, id, "memory", "memory.latency", 333, "ns", NAN, "Memory answers in 333 ns.");
    synth_fact(m, id, "launch", "launch.roundtrip.spin", 8200, "ns", NAN, "A launch and its wait take 8.20 µs.");
}

static void fill_plain(struct maker *m, const char *scenario)
{
    struct as_report_run *r = m->r;
    synth_device(r, "cpu", "cpu", "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz");
    r->topologies[0] = strcmp(scenario, "server") == 0 ? synth_machine_json(2, 64, 8) : synth_machine_json(1, 1, 1);
    struct as_device_info *d =
        synth_device(r, "opencl:0", "opencl", "pthread-sapphirerapids-INTEL(R) XEON(R) PLATINUM 8581C");
    as_copy_text(d->driver, sizeof d->driver, "Portable Computing Language 3.1");
    if (strcmp(scenario, "gpu") == 0) {
        as_copy_text(d->id, sizeof d->id, "cuda:0");
        as_copy_text(d->backend, sizeof d->backend, "cuda");
        as_copy_text(d->name, sizeof d->name, "NVIDIA H200");
        as_copy_text(d->bus_id, sizeof d->bus_id, "0000:01:00.0");
        d->compute_units = 132;
        d->is_host_memory = false;
        d->memory_bytes = 150000000000;
        d->caches_n = 2;
        d->caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 262144, .line = 128, .ways = 0, .shared = 1};
        d->caches[1] =
            (struct as_cache){.level = 2, .kind = 'u', .size = 62914560, .line = 128, .ways = 0, .shared = 132};
    }
    synth_cpu_facts(m);
    if (strcmp(scenario, "gpu") == 0)
        gpu_facts(m, "cuda:0");
    synth_latency_cells(m, "cpu", 1, 1);
    synth_latency_cells(m, d->id, 1.6, 1);
    bandwidth_cells(m, "cpu", 1);
    c2c_cells(m, strcmp(scenario, "server") == 0 ? 24 : 4);
    launch_cells(m, d->id);
    alloc_cells(m, "cpu");
    without_number(m, AS_CELL_UNSUPPORTED, "fine-grained SVM: the device has none", 20);
    without_number(m, AS_CELL_TIMEOUT, "no answer for 30 s; the worker was killed", 2);
    without_number(m, AS_CELL_PLANNED, "", 3);
}

/* An id that no rule makes. */
static void hostile_fact(struct maker *m, const char *device, const char *object, const char *unit, const char *text)
{
    synth_fact(m, device, object, "cache.L1.size", 5, unit, 5, text);
    if (!m->failed)
        as_copy_text(m->r->facts[m->r->facts_n - 1].id, sizeof m->r->facts->id, text);
}

static void fill_hostile(struct maker *m)
{
    struct as_report_run *r = m->r;
    struct as_device_info *d = synth_device(r, "cpu", "cpu", synth_hostile_html);
    as_copy_text(d->vendor, sizeof d->vendor, synth_hostile_script);
    as_copy_text(d->driver, sizeof d->driver, synth_hostile_html);
    as_copy_text(d->allocators[0].name, sizeof d->allocators[0].name, synth_hostile_html);
    as_copy_text(r->run.host, sizeof r->run.host, synth_hostile_script);
    as_copy_text(r->run.suite, sizeof r->run.suite, synth_hostile_html);
    as_copy_text(r->run.tool_version, sizeof r->run.tool_version, synth_hostile_html);
    free(r->run.command);
    r->run.command = as_strdup(synth_hostile_html);
    free(r->run.provenance);
    r->run.provenance =
        as_strdup("{\"<script>x</script>\":\"</script><script>document.title='owned'</script>\",\"n\":[1,{\"a\":"
                  "null}]}");
    r->topologies[0] =
        as_strdup("{\"type\":\"machine\",\"children\":[{\"type\":\"<b>\",\"name\":\"</svg><script>document.title="
                  "'owned'</script>\",\"children\":[{\"type\":\"package\",\"name\":5,\"children\":[{\"type\":"
                  "\"L3\",\"size\":-5,\"children\":[{\"type\":\"core\",\"name\":\"<i>\",\"os_index\":\"x\"}]},"
                  "{\"type\":\"memory\",\"name\":\"</text><script>1</script>\"},7,null,{\"children\":[]}]}]}]}");
    hostile_fact(m, "cpu", synth_hostile_html, "<u>", synth_hostile_html);
    hostile_fact(m, synth_hostile_script, "L1", "B", synth_hostile_script);
    for (int i = 0; i < 12; i++) {
        struct as_cell *c = synth_cell(m, i % 2 ? &synth_latency : &synth_bandwidth, i % 3 ? "cpu" : "</script><x>");
        if (!c)
            return;
        synth_axis(c, i % 4 ? "size" : "<h1>size", i % 5 ? "1024" : "</script><script>1");
        synth_axis(c, "__proto__", "constructor");
        synth_measured(m, c, i == 7 ? 1e308 : i == 8 ? -3 : i == 9 ? 0 : 5);
        if (i == 10)
            as_copy_text(c->unit, sizeof c->unit, "<s>&\"");
        if (i == 11)
            as_copy_text(c->probe, sizeof c->probe, "\"><script>no");
        c->gates[AS_GATE_LIMIT].state = AS_GATE_FAIL;
        c->status = AS_CELL_REJECTED;
        as_copy_text(c->gates[AS_GATE_LIMIT].text, sizeof c->gates[0].text, synth_hostile_html);
    }
    synth_hostile_operations(m);
    synth_hostile_matrix(m);
    without_number(m, AS_CELL_FAILED, synth_hostile_html, 2);
    without_number(m, AS_CELL_CRASHED, synth_hostile_script, 2);
}

static bool fill(struct as_report_run *r, const char *scenario, int64_t id, double slower)
{
    struct maker m = {.r = r, .slower = slower};
    as_rng_seed(&m.rng, (uint64_t)id);
    run_record(r, id);
    r->devices = calloc(SYNTH_DEVICES_MAX, sizeof *r->devices);
    r->topologies = calloc(SYNTH_DEVICES_MAX, sizeof *r->topologies);
    if (!r->devices || !r->topologies)
        return false;
    if (strcmp(scenario, "hostile") == 0) {
        fill_hostile(&m);
    } else if (strcmp(scenario, "gpus") == 0 || strcmp(scenario, "eight") == 0) {
        synth_gpus(&m, strcmp(scenario, "gpus") == 0 ? 2 : 8);
    } else if (strcmp(scenario, "twins") == 0) {
        synth_twins(&m);
    } else if (strcmp(scenario, "operations") == 0) {
        synth_operations(&m);
    } else if (strcmp(scenario, "matrix") == 0) {
        synth_matrix(&m);
    } else if (strcmp(scenario, "large") == 0) {
        synth_device(r, "cpu", "cpu", "A machine with 10,000 cells");
        r->topologies[0] = synth_machine_json(1, 2, 2);
        synth_cpu_facts(&m);
        synth_latency_cells(&m, "cpu", 1, 40);
        bandwidth_cells(&m, "cpu", 72);
        launch_cells(&m, "cpu");
        synth_latency_cells(&m, "opencl:0", 1, 1);
    } else if (strcmp(scenario, "unsupported") == 0) {
        synth_device(r, "opencl:0", "opencl", "a device that cannot");
        without_number(&m, AS_CELL_UNSUPPORTED, "the device has no SVM", 40);
    } else if (strcmp(scenario, "empty") != 0) {
        fill_plain(&m, scenario);
    }
    r->run.cells = (int)r->cells_n;
    return !m.failed;
}

struct synth *synth_make(const char *scenario)
{
    size_t known = 0;
    while (synth_scenarios[known] && strcmp(synth_scenarios[known], scenario) != 0)
        known++;
    struct synth *s = synth_scenarios[known] ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->n = strcmp(scenario, "none") == 0    ? 0
           : strcmp(scenario, "two") == 0   ? 2
           : strcmp(scenario, "three") == 0 ? 3
                                            : 1;
    for (size_t i = 0; i < s->n; i++) {
        if (!fill(&s->runs[i], scenario, (int64_t)(3 + i), i == 1 ? 1.2 : 1)) {
            synth_free(s);
            return NULL;
        }
    }
    return s;
}

void synth_free(struct synth *s)
{
    if (!s)
        return;
    for (size_t r = 0; r < s->n; r++) {
        struct as_report_run *rr = &s->runs[r];
        as_cells_free(rr->cells, rr->cells_n);
        for (size_t i = 0; i < rr->devices_n && rr->topologies; i++)
            free(rr->topologies[i]);
        free(rr->topologies);
        free(rr->devices);
        free(rr->facts);
        free(rr->backend_pairs);
        as_run_finish(&rr->run);
    }
    free(s);
}
