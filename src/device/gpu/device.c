/* GPUs: errors, discovery, open and close. */
#include "device/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status gpu_status_of(const struct as_gpu_api *api, int code)
{
    for (const struct as_gpu_status *s = api->statuses; s->code; s++)
        if (s->code == code)
            return s->status;
    return AS_FAILED;
}

static bool is_sticky(const struct as_gpu_api *api, int code)
{
    for (const int *s = api->sticky; *s; s++)
        if (*s == code)
            return true;
    return false;
}

enum as_status as_gpu_tell(const struct as_gpu_backend *backend, int code, const char *what, struct as_error *err)
{
    if (code == 0)
        return AS_OK;
    const struct as_gpu_api *api = backend->api;
    const char *name = NULL, *text = NULL;
    api->words(backend, code, &name, &text);
    return as_fail(err, gpu_status_of(api, code), "%s: %s: %.80s (%d): %.300s", api->name, what,
                   name && name[0] ? name : "unnamed error", code,
                   text && text[0] ? text : "the driver gives no description");
}

enum as_status as_gpu_check(struct as_gpu *gpu, int code, const char *what, struct as_error *err)
{
    struct as_error here = {0};
    enum as_status st = as_gpu_tell(gpu->backend, code, what, &here);
    if (!st)
        return AS_OK;
    if (!gpu->sticky && is_sticky(gpu->api, code)) {
        gpu->sticky = code;
        gpu->lost = here;
    }
    if (err)
        *err = here;
    return st;
}

enum as_status as_gpu_alive(const struct as_gpu *gpu, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    if (gpu->sticky)
        return as_fail(err, AS_FAILED, "%s: %s was lost before: %s", api->name, api->lost, gpu->lost.text);
    return as_gpu_tell(gpu->backend, api->enter(gpu, &gpu->here), api->enter_name, err);
}

void as_gpu_locate(struct as_gpu_found *found, const char *text, unsigned domain, unsigned bus, unsigned device)
{
    unsigned parts[4] = {0};
    if (sscanf(text, "%8x:%4x:%4x.%4x", &parts[0], &parts[1], &parts[2], &parts[3]) >= 3)
        domain = parts[0], bus = parts[1], device = parts[2];
    else
        parts[3] = 0;
    unsigned function = parts[3] & 7;
    bus &= 0xFF, device &= 0x1F;
    found->place = (uint64_t)domain << 16 | bus << 8 | device << 3 | function;
    snprintf(found->bus_id, sizeof found->bus_id, "%04x:%02x:%02x.%x", domain, bus, device, function);
}

static int gpu_by_place(const void *a, const void *b)
{
    const struct as_gpu_found *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void as_gpu_sort(struct as_gpu_backend *backend)
{
    qsort(backend->found, backend->found_n, sizeof *backend->found, gpu_by_place);
}

enum as_status as_gpu_check_index(const struct as_gpu_backend *backend, size_t index, struct as_error *err)
{
    const char *name = backend->api->name;
    if (index < backend->found_n)
        return AS_OK;
    return as_fail(err, AS_NOTFOUND, "there is no device '%s:%zu'; the last is '%s:%zu'", name, index, name,
                   backend->found_n - 1);
}

void as_gpu_init(struct as_gpu *gpu, struct as_gpu_backend *backend, size_t index)
{
    gpu->api = backend->api;
    gpu->f = &backend->functions;
    gpu->backend = backend;
    gpu->here.device = backend->found[index].id;
}

/* Streams that do not wait for the default stream, so that only their own order counts. The end event lets
 * a waiting thread sleep; a spinning thread polls the stream. */
enum as_status as_gpu_open(struct as_gpu *gpu, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, stream_create, &gpu->stream, api->non_blocking);
    if (!st)
        st = AS_GPU_DO(gpu, err, event_create, &gpu->start, 0);
    if (!st)
        st = AS_GPU_DO(gpu, err, event_create, &gpu->end, api->blocking_event);
    gpu->back.place = gpu->here;
    return st ? st : as_gpu_back_create(gpu, &gpu->back, err);
}

void as_gpu_close(struct as_gpu *gpu)
{
    const struct as_gpu_functions *f = gpu->f;
    as_gpu_members_close(gpu);
    gpu->api->enter(gpu, &gpu->here);
    if (!gpu->sticky)
        f->synchronize.call();
    as_gpu_forget_programs(gpu);
    as_gpu_forget_static(gpu);
    as_gpu_queues_close(gpu);
    as_gpu_back_destroy(gpu, &gpu->back);
    if (gpu->clock_out)
        f->host_free.call(gpu->clock_out);
    if (gpu->end)
        f->event_destroy.call(gpu->end);
    if (gpu->start)
        f->event_destroy.call(gpu->start);
    if (gpu->stream)
        f->stream_destroy.call(gpu->stream);
    as_gpu_peers_close(gpu);
}

enum as_status as_gpu_device_alive(struct as_device *dev, struct as_error *err)
{
    const enum as_status st = as_gpu_members_alive(dev->ctx, err);
    return st ? st : as_gpu_alive(dev->ctx, err);
}

enum as_status as_gpu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    size_t free = 0, total = 0;
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, memory_info, &free, &total);
    *bytes = st ? 0 : free;
    return st;
}
