/* GEMM by Metal Performance Shaders: MPSMatrixMultiplication, which selects its kernels itself. */
#include "device/metal/metal.h"

#include "base/clock.h"
#include "base/library.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "/System/Library/Frameworks/MetalPerformanceShaders.framework/MetalPerformanceShaders",
    "MetalPerformanceShaders.dylib"};

/* GEMMs in one command buffer, see DISPATCHES_MAX of queue.c. */
enum { GEMMS_MAX = 64 };

/* Formats of a, b and d; MPSDataType of MPSCoreTypes.h. */
static const struct type {
    const char *word;
    unsigned bytes;
    uint32_t code;
} types[] = {{"f32", 4, 0x10000000u | 32}, {"f16", 2, 0x10000000u | 16}};
enum { TYPES = sizeof types / sizeof *types, MATRICES = 3 };

struct as_vendor_gemm {
    as_objc_id gemm, matrices[MATRICES]; /* a, b, d */
    char name[160];
};

static void mps_gemm_destroy(struct as_device *dev, struct as_vendor_gemm *g)
{
    const struct as_mtl_device *d = dev->ctx;
    if (!g)
        return;
    as_mtl_release(d->api, &g->gemm);
    for (size_t i = 0; i < MATRICES; i++)
        as_mtl_release(d->api, &g->matrices[i]);
    free(g);
}

static const struct type *find_type(const struct as_vendor_gemm_desc *desc, struct as_error *err)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i].word, desc->in) == 0 && strcmp(types[i].word, desc->out) == 0)
            return &types[i];
    as_fail(err, AS_UNSUPPORTED, "MPSMatrixMultiplication supports f32 and f16 only, not %s with results in %s",
            desc->in, desc->out);
    return NULL;
}

/* Loads the framework and checks that it supports the device. */
static enum as_status mps_load(const struct as_mtl_device *d, struct as_error *err)
{
    char why[300] = "";
    const char *found = "", *missing = NULL;
    as_objc_bool (*supports)(as_objc_id device) = NULL;
    void *library = as_library_open(names, sizeof names / sizeof *names, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "no Metal Performance Shaders on this system: %s", why);
    as_library_function(library, "MPSSupportsMTLDevice", &supports, &missing);
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'", found, missing);
    if (!d->api->get_class("MPSMatrixMultiplication") || !d->api->get_class("MPSMatrix") ||
        !d->api->get_class("MPSMatrixDescriptor"))
        return as_fail(err, AS_UNSUPPORTED, "%s has no MPSMatrixMultiplication", found);
    return supports(d->device) ? AS_OK
                               : as_fail(err, AS_UNSUPPORTED, "Metal Performance Shaders do not support this device");
}

static as_objc_id make_matrix(const struct as_mtl_device *d, const struct as_memory *mem, uint64_t rows,
                              uint64_t columns, const struct type *t)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id descriptor =
        AS_SEND_WITH(m, mps_describe, m->get_class("MPSMatrixDescriptor"), rows, columns, columns * t->bytes, t->code);
    as_objc_id made = AS_SEND(m, alloc, m->get_class("MPSMatrix"));
    return AS_SEND_WITH(m, mps_matrix, made, as_mtl_buffer(mem), descriptor);
}

static enum as_status mps_make(struct as_vendor_gemm *g, struct as_device *dev, const struct as_vendor_gemm_desc *desc,
                               const struct type *t, struct as_error *err)
{
    const struct as_mtl_device *d = dev->ctx;
    const struct as_mtl_api *m = d->api;
    g->matrices[0] =
        make_matrix(d, desc->a, desc->a_transposed ? desc->k : desc->m, desc->a_transposed ? desc->m : desc->k, t);
    g->matrices[1] =
        make_matrix(d, desc->b, desc->b_transposed ? desc->n : desc->k, desc->b_transposed ? desc->k : desc->n, t);
    g->matrices[2] = make_matrix(d, desc->d, desc->m, desc->n, t);
    as_objc_id made = AS_SEND(m, alloc, m->get_class("MPSMatrixMultiplication"));
    g->gemm = AS_SEND_WITH(m, mps_product, made, d->device, (as_objc_bool)desc->a_transposed,
                           (as_objc_bool)desc->b_transposed, desc->m, desc->n, desc->k, 1.0, 0.0);
    snprintf(g->name, sizeof g->name, "MPSMatrixMultiplication, %s", dev->info.driver);
    return g->gemm && g->matrices[0] && g->matrices[1] && g->matrices[2]
               ? AS_OK
               : as_fail(err, AS_FAILED, "metal: cannot create MPSMatrixMultiplication or its matrices for %s",
                         t->word);
}

static enum as_status mps_gemm_create(struct as_device *dev, const struct as_vendor_gemm_desc *desc,
                                      struct as_vendor_gemm **out, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    *out = NULL;
    const struct type *t = find_type(desc, err);
    if (!t)
        return AS_UNSUPPORTED;
    enum as_status st = as_vendor_gemm_check(desc, t->bytes, t->bytes, err);
    if (!st)
        st = as_mtl_alive(d, err);
    if (st)
        return st;
    struct as_vendor_gemm *g = calloc(1, sizeof *g);
    if (!g)
        return as_nomem(err, sizeof *g, "a GEMM");
    void *pool = d->api->pool_push();
    st = mps_load(d, err);
    if (!st)
        st = mps_make(g, dev, desc, t, err);
    d->api->pool_pop(pool);
    if (st)
        mps_gemm_destroy(dev, g);
    else
        *out = g;
    return st;
}

/* n GEMMs in one command buffer. The library creates the encoders. */
static enum as_status mps_put(struct as_mtl_device *d, const struct as_vendor_gemm *g, uint64_t n,
                              struct as_mtl_times *times, struct as_error *err)
{
    as_objc_id commands;
    void *pool = d->api->pool_push();
    enum as_status st = as_mtl_begin(d, &d->queue, &commands, times, err);
    for (uint64_t i = 0; i < n && !st; i++)
        AS_SEND_WITH(d->api, mps_encode, g->gemm, commands, g->matrices[0], g->matrices[1], g->matrices[2]);
    if (!st)
        as_mtl_commit(d, &d->queue, commands);
    d->api->pool_pop(pool);
    return st;
}

static enum as_status mps_gemm_run(struct as_device *dev, struct as_vendor_gemm *g, uint64_t reps,
                                   struct as_timing *out, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_mtl_times times = {NAN, NAN};
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = as_mtl_drain(d, &d->queue, AS_WAIT_BLOCK, NULL, "an earlier kernel", err);
    if (st)
        return st;
    const uint64_t t0 = as_now_ns();
    for (uint64_t done = 0; done < reps && !st; done += GEMMS_MAX)
        st = mps_put(d, g, reps - done < GEMMS_MAX ? reps - done : GEMMS_MAX, &times, err);
    enum as_status end = as_mtl_drain(d, &d->queue, AS_WAIT_BLOCK, &times, "MPSMatrixMultiplication", st ? NULL : err);
    const uint64_t t1 = as_now_ns();
    st = st ? st : end;
    if (!st) {
        out->host_s = (double)(t1 - t0) * 1e-9;
        out->device_s = as_mtl_elapsed(&times);
    }
    return st;
}

static const char *mps_gemm_name(const struct as_vendor_gemm *g)
{
    return g->name;
}

const struct as_vendor_gemm_ops as_mtl_gemm_ops = {
    .create = mps_gemm_create,
    .destroy = mps_gemm_destroy,
    .run = mps_gemm_run,
    .name = mps_gemm_name,
};
