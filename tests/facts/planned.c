#include "planned.h"

#include "base/text.h"
#include "device/backend.h"
#include "device/device.h"
#include "device/memory_cache.h"
#include "lib/pages/events.h"
#include "model/metrics.h"
#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct planned_start planned_starts[] = {{"mi300a", {"cpu", "hip:0"}, "apu mi300a"},
                                               {"mi300a", {"cpu", "hip:0"}, "apu mi300a xnack"},
                                               {"metal_benchmarks", {"metal:0"}, ""},
                                               {"rigel", {"metal:0"}, ""},
                                               {NULL, {NULL}, NULL}};
enum { KIB = 1 << 10, MIB = 1 << 20 };

static const double GIB = 1 << 30;

/* Latency by level, so that curves have knees. */
static const struct step {
    double size, cpu, device;
} steps[] = {{32.0 * KIB, 1, 57},   {1.0 * MIB, 5, 104},     {4.0 * MIB, 20, 104},
             {96.0 * MIB, 20, 210}, {256.0 * MIB, 120, 210}, {INFINITY, 240, 340}},
  apple_steps[] = {{8.0 * KIB, 1, 60}, {512.0 * KIB, 5, 120}, {48.0 * MIB, 20, 230}, {INFINITY, 120, 350}};

/* What facts are made of besides: the answer of a cell that finds something, and notes. axis: with this value. */
static const struct answer {
    const char *probe, *axis, *is;
    double value;
    const char *notes;
} answers[] = {
    {"app", "strategy", "static", 1000, "{\"static_modules\":1}"},
    {"app", "version", "host", 1000, "{\"host_arrays\":1}"},
    {"async_copy", "what", "latency", 1000, "{\"clocked\":1}"},
    {"cluster_memory", "what", "bandwidth", 1000, "{\"volatile_loads\":1}"},
    {"clockstate", NULL, NULL, 1000, "{\"modes\":1,\"p5\":999,\"p95\":1001,\"steady_s\":0}"},
    {"fault", "what", "control", 100, "{}"},
    {"fault", "scenario", "cpu-then-device", 1000, "{\"second_by_device\":1}"},
    {"host_bandwidth", "threads", "0", 1000, "{\"threads\":24}"},
    {"conversion", NULL, NULL, 2, "{\"result\":448}"}, /* saturates */
    {"matmul_peak", "chains", "1", 1000, "{\"chains\":1,\"teams\":1,\"operations\":24000}"},
    {"layout", NULL, NULL, 0, "{\"base_rows\":8,\"base_columns\":8}"},
    {"numerics", "property", "accumulator", 24, "{\"format_bits\":24}"},
};

static const struct answer *answer_of(const struct as_cell *c)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(c->probe, answers[i].probe) == 0 &&
            (!answers[i].axis || strcmp(as_axes_text(&c->axes, answers[i].axis), answers[i].is) == 0))
            return &answers[i];
    return NULL;
}

/* Workgroups of a compute unit with 96 warps and 60 KiB of shared memory, of which drivers report nothing else. */
static double made_resident(const struct as_cell *c)
{
    const double shared = as_axes_number(&c->axes, "shared"), threads = 3072 / as_axes_number(&c->axes, "threads");
    return floor(shared > 0 ? fmin(threads, 60.0 * KIB / shared) : threads);
}

/* One pipe executes all operations of a sequence ("recip32+4*ffma32"), one after the other. */
static double made_sequence(const char *mix)
{
    double operations = 0;
    for (const char *at = mix; *at; at += strcspn(at, "+"), at += *at == '+') {
        char *end;
        const double times = strtod(at, &end);
        operations += end > at && *end == '*' ? times : 1;
    }
    return 250 * operations;
}

static double made_value(const struct as_cell *c)
{
    const struct answer *a = answer_of(c);
    if (a)
        return a->value;
    if (strcmp(c->probe, "occupancy") == 0)
        return made_resident(c);
    if (strcmp(c->probe, "mix") == 0)
        return made_sequence(as_axes_text(&c->axes, "mix"));
    if (strcmp(as_axes_text(&c->axes, "what"), "ifetch") == 0)
        return as_axes_number(&c->axes, "size") > 12 * KIB ? 10 : 1;
    if (strcmp(c->probe, "alu") == 0 && as_axes_number(&c->axes, "warps") > 0)
        return 1000 * fmin(as_axes_number(&c->axes, "warps") / 16, 1); /* which fill a unit */
    if (strcmp(c->probe, "alu") == 0 && as_axes_number(&c->axes, "steps") > 0)
        return as_axes_number(&c->axes, "steps") > 960 ? 500 : 1000; /* beyond the instruction cache */
    const double size = as_axes_number(&c->axes, "size");
    if (strcmp(c->probe, "alloc") == 0 && size > 0)
        return 1000 * fmax(1, size / (16 * KIB)); /* in pieces of that size */
    const bool is_apple = strncmp(c->device, "metal", 5) == 0;
    const bool by_cpu = strcmp(c->device, "cpu") == 0 || strcmp(c->probe, "host_latency") == 0;
    const struct step *s = is_apple ? apple_steps : steps;
    const bool chases = strstr(c->probe, "latency") || (is_apple && strcmp(c->probe, "onchip") == 0);
    if (!chases || !(size > 0))
        return 1000;
    while (s->size < size)
        s++;
    return by_cpu ? s->cpu : s->device;
}

/* Their M1 Max, or an M4 Max by Metal 4.1. */
static void describe_apple(struct as_device_info *info, bool is_m4)
{
    const unsigned tensors = AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8;
    info->capabilities = ((info->capabilities | AS_CAP_MATRIX) & ~tensors) | (is_m4 ? tensors : 0);
    info->unit_fma = 128;
    info->unit_threads_published = is_m4 ? 0 : 3072;
    info->compute_units = is_m4 ? 40 : 32;
    info->memory_bytes = info->memory_free = (uint64_t)(64 * GIB);
    as_copy_text(info->sensor, sizeof info->sensor, "ioreport");
    as_copy_text(info->name, sizeof info->name, is_m4 ? "Apple M4 Max" : "Apple M1 Max");
    as_memory_cache_describe(info);
}

static void describe(struct as_device_info *info)
{
    static const struct as_cache of_cpu[] = {{.level = 1, .kind = 'd', .size = 32 * KIB, .line = 64},
                                             {.level = 2, .kind = 'u', .size = MIB, .line = 64},
                                             {.level = 3, .kind = 'u', .size = 96 * MIB, .line = 64}};
    info->memory_bytes = info->memory_free = (uint64_t)(128 * GIB);
    info->max_alloc = 0;
    info->host_cache = 96 * MIB;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return;
    info->threads = 24;
    info->caches_n = sizeof of_cpu / sizeof *of_cpu;
    memcpy(info->caches, of_cpu, sizeof of_cpu);
}

enum as_status planned_add(struct as_plan *plan, const char *name, const char *text, const struct planned_machine *m,
                           struct as_error *err)
{
    struct as_suite suite;
    enum as_status st = as_suite_parse(name, text, &suite, err);
    for (size_t i = 0; i < m->n && !st; i++)
        st = as_plan_add(plan, &suite, &m->info[i], NULL, 0, err);
    as_suite_finish(&suite);
    return st;
}

enum as_status planned_add_all(struct as_plan *plan, const struct planned_machine *m, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; as_suite_texts[i].name && !st; i++)
        st = planned_add(plan, as_suite_texts[i].name, as_suite_texts[i].text, m, err);
    for (const char *const *name = as_probe_names(); *name && !st; name++) {
        static const char *const apart[] = {"atomics", "atomics_lost", "matmul", "mix", "numerics", NULL};
        char text[64];
        size_t i = 0;
        while (apart[i] && strcmp(apart[i], *name) != 0)
            i++;
        if (apart[i] && i > 0)
            continue;
        snprintf(text, sizeof text, "[%s]\ngrids = full\n", *name);
        st = planned_add(plan, *name, text, m, err);
    }
    return st;
}

/* What the probe measures besides. */
static void measure_further(struct as_cell *c, double value)
{
    struct as_metric_value v[AS_METRICS_MAX];
    size_t n = 0;
    const struct as_probe *probe = as_probe_find(c->probe);
    for (const struct as_metric *m = probe ? probe->further : NULL; m && m->name && n < AS_METRICS_MAX; m++) {
        v[n] = (struct as_metric_value){
            .lower_is_better = m->lower_is_better, .value = value, .ci = {0.99 * value, 1.01 * value}, .trials = 3};
        as_copy_text(v[n].name, sizeof v[n].name, m->name);
        as_copy_text(v[n].unit, sizeof v[n].unit, m->unit);
        n++;
    }
    if (n && as_cell_set_metrics(c, v, n, NULL))
        fprintf(stderr, "# no metrics for %s\n", c->probe);
}

size_t planned_measure(struct as_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        struct as_cell *c = &plan->cells[i];
        /* the machine in question counts TLB misses, whatever this one does */
        if (c->status == AS_CELL_UNSUPPORTED && c->reason[0] &&
            strcmp(c->reason, as_events_why_not(AS_EVENT_TLB_MISSES)) == 0)
            c->status = AS_CELL_PLANNED;
        if (c->status != AS_CELL_PLANNED)
            continue;
        const double value = made_value(c);
        c->status = AS_CELL_OK;
        c->id = (int64_t)i + 1;
        c->sum = (struct as_summary){.n = 30,
                                     .trials = 3,
                                     .median = value,
                                     .ci = {0.99 * value, 1.01 * value},
                                     .min = value,
                                     .max = value,
                                     .modes = 1};
        if (strncmp(c->device, "metal", 5) == 0) /* by calibration */
            c->clock_hz = 1e9;
        if (answer_of(c))
            c->detail = strdup(answer_of(c)->notes);
        measure_further(c, value);
        c->gates[AS_GATE_FOOTPRINT].state = AS_GATE_PASS;
        n++;
    }
    return n;
}

/* Describes a device in a state, "" for none, of which nothing stays in this process. */
static enum as_status open_in_state(const struct planned_start *start, const char *device, const char *state,
                                    struct as_device_info *info, struct as_error *err)
{
    struct as_opened o;
    enum as_status st = state[0] ? as_state_enter(device, state, err) : AS_OK;
    if (!st)
        st = as_device_open(device, &o, err);
    for (const char *const *v = as_backend_find(device)->environment; v && *v; v++)
        unsetenv(*v);
    if (st)
        return st;
    *info = o.device.info;
    as_device_close(&o);
    as_copy_text(info->state, sizeof info->state, state);
    if (strcmp(start->refs, "mi300a") == 0)
        describe(info);
    else
        describe_apple(info, strcmp(start->refs, "rigel") == 0);
    return AS_OK;
}

static enum as_status find_states(const struct as_device_info *info, struct as_state_list *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; as_suite_texts[i].name && !st; i++) {
        struct as_suite suite;
        st = as_suite_parse(as_suite_texts[i].name, as_suite_texts[i].text, &suite, err);
        if (!st)
            st = as_plan_states(&suite, info, NULL, 0, out, err);
        as_suite_finish(&suite);
    }
    return st;
}

enum as_status planned_open(const struct planned_start *start, struct planned_machine *m, struct as_error *err)
{
    enum as_status st = AS_OK;
    *m = (struct planned_machine){.n = 0};
    setenv("FAKE_HIP", start->stand_in, 1);
    for (; start->devices[m->n] && !st; m->n++)
        st = open_in_state(start, start->devices[m->n], "", &m->info[m->n], err);
    m->devices_n = m->n;
    for (size_t i = 0; i < m->devices_n && !st; i++) {
        struct as_state_list states = {0};
        st = find_states(&m->info[i], &states, err);
        for (size_t k = 0; k < states.n && m->n < PLANNED_INFOS_MAX && !st; k++)
            if (strncmp(states.v[k], "ASSAY_", 6) != 0) /* of simulated devices */
                st = open_in_state(start, start->devices[i], states.v[k], &m->info[m->n++], err);
    }
    return st;
}

enum as_status planned_derive(const struct as_plan *plan, const struct planned_machine *m, struct as_fact **facts,
                              size_t *n, struct as_error *err)
{
    const struct as_run run = {.id = 1};
    const struct as_fact_input in = {&run, plan->cells, plan->n, m->info, m->devices_n};
    return as_facts_derive(&in, facts, n, err);
}

bool planned_has(const struct as_ref_cells *cells, const struct as_ref *ref)
{
    struct as_ref_cell found;
    return as_ref_cells_find(cells, ref, &found);
}
