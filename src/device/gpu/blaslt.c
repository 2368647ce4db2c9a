#include "device/gpu/blaslt.h"

#include "base/clock.h"
#include "device/gpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Workspace bytes per algorithm, and GEMMs timed per algorithm. */
enum { WORKSPACE = 64 << 20, TRIES = 3 };

enum as_status as_lt_find(const char *library, const struct as_lt_formats *gemms, size_t n,
                          const struct as_vendor_gemm_desc *d, const struct as_lt_formats **out, struct as_error *err)
{
    for (const struct as_lt_formats *p = gemms; p < gemms + n; p++)
        if (strcmp(p->in, d->in) == 0 && strcmp(p->sum, d->sum) == 0 && strcmp(p->out, d->out) == 0) {
            *out = p;
            return as_vendor_gemm_check(d, p->in_bytes, p->out_bytes, err);
        }
    *out = NULL;
    return as_fail(err, AS_UNSUPPORTED, "%s has no GEMM of %s with accumulation in %s and results in %s", library,
                   d->in, d->sum, d->out);
}

/* what: the function's name without the library's prefix. */
static enum as_status gpu_blaslt_check(const struct as_lt_gemm *g, int status, const char *what, struct as_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", g->lib->prefix, what);
    return g->lib->check(g->lib, status, name, err);
}

/* The library is column-major, so it sees our matrices transposed and
 * computes d' = b' x a'. Operands stored transposed already have its order. */
static enum as_status gpu_blaslt_describe(struct as_lt_gemm *g, const struct as_vendor_gemm_desc *d,
                                          const struct as_lt_formats *p, struct as_error *err)
{
    const struct as_lt_library *lib = g->lib;
    struct as_lt_call *c = &g->call;
    const int left = d->b_transposed ? lib->transposed : lib->plain;
    const int right = d->a_transposed ? lib->transposed : lib->plain;
    const signed char fast = 1;
    enum as_status st =
        gpu_blaslt_check(g, lib->operation_create(&c->operation, p->compute, p->scale), "MatmulDescCreate", err);
    const struct {
        int attribute;
        const void *value;
        size_t bytes;
    } wanted[] = {{lib->left_attribute, &left, sizeof left},
                  {lib->right_attribute, &right, sizeof right},
                  {lib->fast_attribute, &fast, sizeof fast}};
    for (size_t i = 0; i < 2 + (size_t)p->fast && !st; i++)
        st =
            gpu_blaslt_check(g, lib->operation_set(c->operation, wanted[i].attribute, wanted[i].value, wanted[i].bytes),
                             "MatmulDescSetAttribute", err);
    const uint64_t b[] = {d->b_transposed ? d->k : d->n, d->b_transposed ? d->n : d->k};
    const uint64_t a[] = {d->a_transposed ? d->m : d->k, d->a_transposed ? d->k : d->m};
    const struct {
        struct as_lt_layout **layout;
        int type;
        uint64_t rows, columns;
    } layouts[] = {
        {&c->left, p->in_type, b[0], b[1]}, {&c->right, p->in_type, a[0], a[1]}, {&c->result, p->out_type, d->n, d->m}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && !st; i++)
        st = gpu_blaslt_check(g,
                              lib->layout_create(layouts[i].layout, layouts[i].type, layouts[i].rows,
                                                 layouts[i].columns, (int64_t)layouts[i].rows),
                              "MatrixLayoutCreate", err);
    return st;
}

static enum as_status gpu_blaslt_put(void *ctx, struct as_error *err)
{
    const struct as_lt_gemm *g = ctx;
    int status = 0;
    for (uint64_t i = 0; i < g->reps && !status; i++)
        status = g->lib->multiply(g->lib, &g->call);
    return gpu_blaslt_check(g, status, "Matmul", err);
}

static enum as_status time_way(struct as_lt_gemm *g, double *seconds, struct as_error *err)
{
    struct as_gpu *gpu = g->dev->ctx;
    struct as_timing t;
    g->reps = 1; /* the first run loads the code */
    enum as_status st = as_gpu_time(gpu, gpu_blaslt_put, g, g->function, &t, err);
    g->reps = TRIES;
    if (!st)
        st = as_gpu_time(gpu, gpu_blaslt_put, g, g->function, &t, err);
    *seconds = st ? NAN : as_timing_seconds(&t);
    return st;
}

/* The first proposal is not always the fastest; proposals that fail are skipped. */
static enum as_status gpu_blaslt_choose(struct as_lt_gemm *g, const struct as_lt_way *ways, int n, const char *version,
                                        struct as_lt_choice *out, struct as_error *err)
{
    double best = INFINITY;
    enum as_status st = AS_OK;
    *out = (struct as_lt_choice){.proposed = n};
    for (int i = 0; i < n; i++) {
        double seconds;
        if (!ways[i].usable)
            continue;
        g->call.way = ways[i];
        st = time_way(g, &seconds, err);
        if (st && as_gpu_alive(g->dev->ctx, NULL))
            return st;
        if (!st && seconds < best) {
            best = seconds;
            out->way = ways[i];
            out->number = i + 1;
        }
    }
    if (out->number)
        return AS_OK;
    return st ? st
              : as_fail(err, AS_UNSUPPORTED, "%s %s has no algorithm for this GEMM on this device", g->lib->name,
                        version);
}

static enum as_status gpu_blaslt_propose(struct as_lt_gemm *g, const char *version, struct as_lt_choice *out,
                                         struct as_error *err)
{
    const struct as_lt_library *lib = g->lib;
    struct as_lt_preference *preference = NULL;
    struct as_lt_way ways[AS_LT_WAYS] = {{.usable = false}};
    const uint64_t workspace = WORKSPACE;
    int n = 0;
    enum as_status st = gpu_blaslt_check(g, lib->preference_create(&preference), "MatmulPreferenceCreate", err);
    if (!st)
        st =
            gpu_blaslt_check(g, lib->preference_set(preference, lib->workspace_attribute, &workspace, sizeof workspace),
                             "MatmulPreferenceSetAttribute", err);
    if (!st)
        st = lib->propose(lib, &g->call, preference, ways, &n, err);
    if (preference)
        lib->preference_destroy(preference);
    if (!st && (n < 0 || n > AS_LT_WAYS))
        st = as_fail(err, AS_FAILED, "%s %s proposed %d algorithms, but %d were requested", lib->name, version, n,
                     (int)AS_LT_WAYS);
    return st ? st : gpu_blaslt_choose(g, ways, n, version, out, err);
}

static uint64_t gemm_hash(const struct as_lt_gemm *g, const struct as_vendor_gemm_desc *d)
{
    char text[160];
    const int n = snprintf(text, sizeof text, "%s %s %s %s %ju %ju %ju %d %d", g->dev->info.id, d->in, d->sum, d->out,
                           (uintmax_t)d->m, (uintmax_t)d->n, (uintmax_t)d->k, d->a_transposed, d->b_transposed);
    return as_hash(text, (size_t)n);
}

/* The cached choice of an earlier trial, or a new one, which replaces the entry in its slot. */
static enum as_status recall(struct as_lt_gemm *g, const struct as_vendor_gemm_desc *desc, const char *version,
                             struct as_error *err)
{
    const uint64_t gemm = gemm_hash(g, desc);
    struct as_lt_choice *kept = &g->lib->chosen[gemm % AS_LT_CHOICES], found = *kept;
    if (kept->gemm != gemm) {
        enum as_status st = gpu_blaslt_propose(g, version, &found, err);
        if (st)
            return st;
        found.gemm = gemm;
        *kept = found;
    }
    g->call.way = found.way;
    snprintf(g->name, sizeof g->name, "%s %s, algorithm %d of %d proposed", g->lib->name, version, found.number,
             found.proposed);
    return AS_OK;
}

enum as_status as_lt_prepare(struct as_lt_gemm *g, struct as_device *dev, const struct as_lt_library *lib,
                             const struct as_vendor_gemm_desc *desc, const struct as_lt_formats *gemm,
                             struct as_error *err)
{
    const struct as_memory_desc room = {.allocator = dev->info.allocators[0].name, .bytes = WORKSPACE, .node = -1};
    char version[32] = "";
    *g = (struct as_lt_gemm){.dev = dev, .lib = lib};
    snprintf(g->function, sizeof g->function, "%sMatmul", lib->prefix);
    struct as_lt_call *c = &g->call;
    c->stream = ((const struct as_gpu *)dev->ctx)->stream;
    c->one = gemm->one;
    c->left_at = as_gpu_pointer(desc->b);
    c->right_at = as_gpu_pointer(desc->a);
    c->result_at = as_gpu_pointer(desc->d);
    c->workspace_bytes = WORKSPACE;
    enum as_status st = gpu_blaslt_check(g, lib->create(&c->handle), "Create", err);
    if (!st)
        st = lib->version(lib, c->handle, version, sizeof version, err);
    if (!st)
        st = dev->memory->alloc(dev, &room, &g->workspace, err);
    if (st)
        return st;
    c->workspace = as_gpu_pointer(g->workspace);
    st = gpu_blaslt_describe(g, desc, gemm, err);
    return st ? st : recall(g, desc, version, err);
}

void as_lt_finish(struct as_lt_gemm *g)
{
    const struct as_lt_library *lib = g->lib;
    struct as_lt_call *c = &g->call;
    struct as_lt_layout *const layouts[] = {c->left, c->right, c->result};
    if (!lib)
        return;
    as_gpu_alive(g->dev->ctx, NULL);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i])
            lib->layout_destroy(layouts[i]);
    if (c->operation)
        lib->operation_destroy(c->operation);
    if (c->handle)
        lib->destroy(c->handle);
    g->dev->memory->free(g->dev, g->workspace);
    *g = (struct as_lt_gemm){.lib = NULL};
}

enum as_status as_lt_run(struct as_lt_gemm *g, uint64_t reps, struct as_timing *out, struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = as_gpu_alive(g->dev->ctx, err);
    g->reps = reps;
    return st ? st : as_gpu_time(g->dev->ctx, gpu_blaslt_put, g, g->function, out, err);
}
