/* The scripted device: opened, described, closed; its programs are native kernels. */
#include "base/text.h"
#include "device/arena.h"
#include "device/null/null.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_MAX = 1 << 20 };

static enum as_status program_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                    struct as_error *err)
{
    const enum as_status st = as_native_build(dev, desc, out, err);
    if (!st)
        as_null_trial(as_null(dev));
    return st;
}

static enum as_status program_count(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                                    struct as_error *err)
{
    (void)kernel;
    size_t i = 0;
    while (as_operation_words[i] && strcmp(as_operation_words[i], operation) != 0)
        i++;
    if (!as_operation_words[i] || i >= AS_NULL_OPERATIONS_MAX)
        return as_fail(err, AS_USAGE, "\"%s\" is no operation that can be counted", operation);
    *n = as_null(dev)->script.code[i];
    return AS_OK;
}

static const struct as_program_ops program_ops = {
    .build = program_build,
    .destroy = as_native_destroy,
    .kernel = as_native_kernel,
    .kernel_destroy = as_native_kernel_destroy,
    .count = program_count,
};

static void null_close(struct as_device *dev)
{
    struct as_null_device *n = dev->ctx;
    for (size_t i = 0; i < AS_NULL_DEVICES_MAX; i++)
        if (n->members[i].ctx)
            null_close(&n->members[i]);
    free(n);
    dev->ctx = NULL;
}

static enum as_status null_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    (void)err;
    uint64_t free_now = dev->info.memory_free, held = as_null(dev)->held;
    *bytes = (free_now > held ? free_now - held : 0) + as_arenas_idle(dev);
    return AS_OK;
}

static enum as_status null_clock(struct as_device *dev, double *hz, struct as_error *err)
{
    (void)err;
    *hz = as_null_clock(as_null(dev));
    return AS_OK;
}

static int outermost_first(const void *a, const void *b)
{
    const struct as_cache *x = a, *y = b;
    return x->level > y->level ? -1 : x->level < y->level;
}

/* Cores below their caches, each instance as often as the script's "shared" makes it. */
static void put_cores(const struct as_device_info *info, const struct as_cache *caches, size_t n, unsigned first,
                      unsigned cores, struct as_buf *json)
{
    if (n == 0) {
        for (unsigned i = 0; i < cores; i++)
            as_buf_printf(json,
                          "%s{\"type\":\"core\",\"os_index\":%u,\"children\":[{\"type\":\"pu\",\"os_index\":%u,"
                          "\"children\":[]}]}",
                          i ? "," : "", first + i, first + i);
        return;
    }
    const struct as_cache *c = &caches[0];
    unsigned share = c->shared && c->shared < cores ? c->shared : cores;
    const char *kind = c->level == 1 && c->kind == 'd' ? "d" : c->kind == 'i' ? "i" : "";
    for (unsigned i = 0; i < cores; i += share) {
        as_buf_printf(json, "%s{\"type\":\"L%u%s\",\"size\":%llu,\"line\":%u,\"children\":[", i ? "," : "", c->level,
                      kind, (unsigned long long)c->size, c->line);
        put_cores(info, caches + 1, n - 1, first + i, share < cores - i ? share : cores - i, json);
        as_buf_str(json, "]}");
    }
}

static enum as_status null_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_device_info *info = &dev->info;
    struct as_cache caches[AS_CACHES_MAX];
    memcpy(caches, info->caches, sizeof caches);
    qsort(caches, info->caches_n, sizeof caches[0], outermost_first);
    unsigned cores = info->compute_units && info->compute_units <= 4096 ? info->compute_units : 1;
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[{\"type\":\"package\",\"os_index\":0,\"name\":");
    as_buf_json_str(json, info->name);
    as_buf_printf(json, ",\"children\":[{\"type\":\"memory\",\"os_index\":0,\"size\":%llu,\"children\":[]},",
                  (unsigned long long)info->memory_bytes);
    put_cores(info, caches, info->caches_n, 0, cores, json);
    as_buf_str(json, "]}]}");
    return as_buf_check(json, err);
}

static double machine_now(struct as_device *dev)
{
    return as_null_now(as_null(dev));
}

static void machine_begin(struct as_device *dev, uint64_t seed)
{
    if (!as_null(dev)->machine.running)
        as_null_machine_start(as_null(dev), seed);
    as_null_trial(as_null(dev));
}

static uint64_t machine_preemptions(struct as_device *dev)
{
    return as_null(dev)->machine.preemptions;
}

static const struct as_device_ops device_ops = {
    .close = null_close,
    .memory_free = null_memory_free,
    .clock = null_clock,
    .topology = null_topology,
};
static const struct as_device_ops machine_ops = {
    .close = null_close,
    .memory_free = null_memory_free,
    .clock = null_clock,
    .topology = null_topology,
    .now = machine_now,
    .begin = machine_begin,
    .preemptions = machine_preemptions,
};

static enum as_status null_read_script(struct as_device *dev, const char *path, struct as_error *err)
{
    struct as_null_device *n = as_null(dev);
    struct as_buf text = AS_BUF_INIT;
    char place[300];
    enum as_status st = as_buf_read_file(&text, path, SCRIPT_MAX, err);
    as_copy_text(place, sizeof place, path);
    if (!st)
        st = as_null_script_read(as_buf_get(&text), place, &n->script, &dev->info, err);
    as_buf_finish(&text);
    if (!st && n->script.why_not[0])
        st = as_fail(err, AS_UNSUPPORTED, "%s", n->script.why_not);
    if (!st)
        st = as_null_act(&n->script.open, "opening the device", err);
    return st;
}

/* Differs between processes also where the script has a seed. */
static double process_factor(const struct as_null_script *script)
{
    struct as_rng rng;
    as_rng_seed(&rng, as_hash(&(uint64_t[]){script->seed, (uint64_t)getpid()}, 2 * sizeof(uint64_t)));
    return fmax(1 + script->process_sd * as_rng_normal(&rng), 0.01);
}

/* Of the script's faults those of this device. */
static void keep_own_faults(struct as_null_script *script, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < script->faults_n; i++)
        if (fnmatch(script->faults[i].device, id, 0) == 0)
            script->faults[n++] = script->faults[i];
    script->faults_n = n;
}

static const struct as_device null_device = {
    .device = &device_ops,
    .memory = &as_null_memory_ops,
    .program = &program_ops,
    .queue = &as_null_queue_ops,
    .collective = &as_null_collective_ops,
    .team = &as_null_team_ops,
};

/* Its script and info are set. */
static void null_start(struct as_device *dev, size_t index)
{
    struct as_null_device *n = as_null(dev);
    as_rng_seed(&n->rng, n->script.seed ? n->script.seed : as_rng_entropy());
    n->index = index;
    if (index)
        snprintf(dev->info.id, sizeof dev->info.id, "null:%zu", index);
    keep_own_faults(&n->script, dev->info.id);
    if (n->script.has_machine)
        dev->device = &machine_ops;
    n->opened = as_null_now(n);
    n->process_factor = process_factor(&n->script) * as_null_device_factor(n);
    as_null_trial(n);
}

enum as_status as_null_open_member(const struct as_device *dev, size_t index, struct as_device *out,
                                   struct as_error *err)
{
    struct as_null_device *n = calloc(1, sizeof *n);
    if (!n)
        return as_nomem(err, sizeof *n, "a scripted device");
    *out = null_device;
    out->info = dev->info;
    out->ctx = n;
    snprintf(out->info.id, sizeof out->info.id, "null");
    n->script = ((const struct as_null_device *)dev->ctx)->script;
    null_start(out, index);
    return AS_OK;
}

static enum as_status open_device(void *backend, size_t index, struct as_device *out, struct as_error *err)
{
    *out = null_device;
    out->ctx = calloc(1, sizeof(struct as_null_device));
    if (!out->ctx)
        return as_nomem(err, sizeof(struct as_null_device), "the scripted device");
    enum as_status st = null_read_script(out, backend, err);
    if (st)
        null_close(out);
    else
        null_start(out, index);
    return st;
}

static enum as_status backend_open(void **backend, struct as_error *err)
{
    const char *path = getenv("ASSAY_NULL");
    if (!path || !path[0])
        return as_fail(err, AS_UNSUPPORTED,
                       "no script: a device for tests, set ASSAY_NULL to a file that says how it behaves");
    *backend = as_strdup(path);
    return *backend ? AS_OK : as_nomem(err, strlen(path), "the script's path");
}

static void backend_close(void *backend)
{
    free(backend);
}

/* Of a script that cannot be read there is one, whose opening says why. */
static size_t backend_count(void *backend)
{
    struct as_null_script *script = calloc(1, sizeof *script);
    struct as_device_info *info = calloc(1, sizeof *info);
    struct as_buf text = AS_BUF_INIT;
    const bool read = script && info && !as_buf_read_file(&text, backend, SCRIPT_MAX, NULL) &&
                      !as_null_script_read(as_buf_get(&text), backend, script, info, NULL);
    const size_t n =
        read && script->devices >= 1 && script->devices <= AS_NULL_DEVICES_MAX ? (size_t)script->devices : 1;
    as_buf_finish(&text);
    free(script);
    free(info);
    return n;
}

static const char *const mpi_queries[] = {"assay_query_null_support", NULL};

extern const struct as_backend as_backend_null;
const struct as_backend as_backend_null = {
    .abi = AS_DEVICE_ABI,
    .name = "null",
    .title = "scripted device, for tests",
    .roles = as_null_roles,
    .open = backend_open,
    .close = backend_close,
    .count = backend_count,
    .open_device = open_device,
    .sensor = &as_null_sensor,
    .mpi_queries = mpi_queries,
    .on_request = true,
    .single = true,
};
