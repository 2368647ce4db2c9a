/* The library loaded, the devices opened and joined. */
#include "device/nccl/nccl.h"

#include "base/library.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

enum as_status as_nccl_check(const struct as_gpu *gpu, ncclResult_t code, const char *what, struct as_error *err)
{
    const struct as_gpu_collectives *c = gpu->backend->collectives;
    if (code == ncclSuccess)
        return AS_OK;
    const char *words = c->api.ncclGetErrorString(code);
    return as_fail(err, AS_FAILED, "%s: %s: %.120s (%d); set %s=WARN to see why", gpu->api->name, what,
                   words && words[0] ? words : "no description", code, c->source->debugger);
}

static enum as_status nccl_load(struct as_gpu_collectives *c, struct as_error *err)
{
    const struct as_nccl_source *source = c->source;
    char why[200] = "";
    const char *found = "", *missing = NULL;
    int v = 0;
    if (c->api.library)
        return AS_OK;
    struct as_nccl_api api = {0};
    void *library = as_library_open(source->files, source->files_n, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "%s; %s", why, source->remedy);
#define LOAD(result, name, parameters) as_library_function(library, #name, &api.name, &missing);
    AS_NCCL_REQUIRED(LOAD)
#undef LOAD
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs version 2.7 or later", found, missing);
    if (api.ncclGetVersion(&v))
        return as_fail(err, AS_UNSUPPORTED, "%s: ncclGetVersion failed; reinstall the library", found);
    /* 2708 is 2.7.8, 22703 is 2.27.3 */
    const int major = v < 10000 ? v / 1000 : v / 10000, minor = v < 10000 ? v % 1000 / 100 : v % 10000 / 100;
    snprintf(c->version, sizeof c->version, "%s %d.%d.%d", source->name, major, minor, v % 100);
    api.library = library;
    c->api = api;
    return AS_OK;
}

void as_nccl_describe(struct as_device *dev)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_gpu_collectives *c = gpu->backend->collectives;
    struct as_device_info *info = &dev->info;
    struct as_error err = {0};
    if (gpu->here.device != gpu->backend->found[0].id)
        return;
    if (gpu->backend->found_n < 2)
        as_fail(&err, AS_UNSUPPORTED, "%s needs at least two devices; backend '%s' has one", c->source->name,
                gpu->api->name);
    else if (!nccl_load(c, &err))
        as_copy_text(info->collectives, sizeof info->collectives, c->version);
    as_copy_text(info->collectives_why, sizeof info->collectives_why, err.text);
}

void as_nccl_leave(struct as_gpu_collectives *c, bool broken)
{
    for (size_t i = 0; i < c->n && c->comm; i++) {
        if (c->comm[i] && broken)
            c->api.ncclCommAbort(c->comm[i]);
        else if (c->comm[i])
            c->api.ncclCommDestroy(c->comm[i]);
        c->comm[i] = NULL;
    }
}

static void nccl_forget_ranks(struct as_gpu_collectives *c)
{
    free(c->comm);
    free(c->device);
    c->comm = NULL;
    c->device = NULL;
    c->n = 0;
}

void as_nccl_close(struct as_device *dev)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_gpu_collectives *c = gpu->backend->collectives;
    if (!c->n || !c->device || !c->device[0] || c->device[0]->ctx != gpu)
        return;
    as_nccl_leave(c, gpu->sticky != 0);
    nccl_forget_ranks(c);
}

static enum as_status nccl_open_others(struct as_device *dev, struct as_gpu_collectives *c, size_t n,
                                       struct as_error *err)
{
    c->n = n;
    c->device = calloc(n, sizeof(struct as_device *));
    c->comm = calloc(n, sizeof(ncclComm_t));
    enum as_status st = c->device && c->comm ? AS_OK : as_nomem(err, n * sizeof *c->device, "ranks");
    if (!st)
        c->device[0] = dev; /* a device that fails to open asks as_nccl_close whether it is this one */
    for (size_t i = 1; i < n && !st; i++)
        st = as_gpu_member(dev, i, &c->device[i], err);
    if (st)
        nccl_forget_ranks(c);
    return st;
}

static enum as_status nccl_join_all(struct as_device *dev, struct as_gpu_collectives *c, struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    int ids[AS_GPUS_MAX] = {0};
    for (size_t i = 0; i < c->n; i++)
        ids[i] = gpu->backend->found[i].id;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = as_nccl_check(gpu, c->api.ncclCommInitAll(c->comm, (int)c->n, ids), "ncclCommInitAll", err);
    if (!st)
        st = as_gpu_alive(gpu, err); /* the library may have left another device current */
    if (st)
        as_nccl_leave(c, true);
    return st;
}

enum as_status as_nccl_join(struct as_device *dev, struct as_ranks *out, struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_gpu_collectives *c = gpu->backend->collectives;
    const size_t n = gpu->backend->found_n;
    *out = (struct as_ranks){0};
    if (n < 2 || gpu->here.device != gpu->backend->found[0].id)
        return as_fail(err, AS_UNSUPPORTED, "%s needs two or more devices, and is started on the backend's first one",
                       c->source->name);
    enum as_status st = nccl_load(c, err);
    if (!st && !c->n)
        st = nccl_open_others(dev, c, n, err);
    if (st)
        return st;
    c->device[0] = dev;
    if (!c->comm[0])
        st = nccl_join_all(dev, c, err);
    if (!st)
        *out = (struct as_ranks){.device = c->device, .n = c->n};
    return st;
}
