/* Several devices of the backend that work at the same time, each on its own stream. */
#include "device/gpu/gpu.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum as_status as_gpu_member(struct as_device *dev, size_t index, struct as_device **out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_gpu_backend *backend = gpu->backend;
    *out = dev;
    enum as_status st = as_gpu_check_index(backend, index, err);
    if (st || backend->found[index].id == gpu->here.device)
        return st;
    if (!gpu->members)
        gpu->members = calloc(backend->found_n, sizeof *gpu->members);
    if (!gpu->members)
        return as_nomem(err, backend->found_n * sizeof *gpu->members, "the backend's other devices");
    *out = &gpu->members[index];
    if ((*out)->ctx)
        return AS_OK;
    st = backend->open_device(backend, index, *out, err);
    enum as_status again = as_gpu_alive(gpu, st ? NULL : err);
    return st ? st : again;
}

enum as_status as_gpu_members_alive(const struct as_gpu *gpu, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < gpu->backend->found_n && gpu->members && !st; i++)
        if (gpu->members[i].ctx)
            st = as_gpu_alive(gpu->members[i].ctx, err);
    return st;
}

void as_gpu_members_close(struct as_gpu *gpu)
{
    for (size_t i = 0; i < gpu->backend->found_n && gpu->members; i++)
        if (gpu->members[i].ctx)
            gpu->members[i].device->close(&gpu->members[i]);
    free(gpu->members);
    gpu->members = NULL;
}

static uint64_t part_reps(const struct as_part *part)
{
    return part->copy ? part->copy->reps : part->launch->reps;
}

static enum as_status team_check(const struct as_part *parts, size_t n, struct as_error *err)
{
    for (size_t k = 0; k < n; k++) {
        const struct as_gpu *gpu = parts[k].dev->ctx;
        for (size_t i = 0; i < k; i++)
            if (parts[i].dev == parts[k].dev)
                return as_fail(err, AS_USAGE, "%s: '%s' appears twice in concurrent work; each device takes one part",
                               gpu->api->name, parts[k].dev->info.id);
        enum as_status st = parts[k].copy ? as_gpu_copy_check(gpu, parts[k].copy, err) : as_gpu_alive(gpu, err);
        if (st)
            return st;
    }
    return AS_OK;
}

static enum as_status put_launch(struct as_device *dev, const struct as_launch *launch, uint64_t i,
                                 struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    struct as_launch one = *launch;
    one.reps = 1;
    enum as_status st = i == 0 ? AS_GPU_DO(gpu, err, event_record, gpu->start, gpu->stream) : AS_OK;
    if (!st)
        st = dev->queue->submit(dev, &one, err);
    return st || i + 1 < launch->reps ? st : AS_GPU_DO(gpu, err, event_record, gpu->end, gpu->stream);
}

/* A thread must enter a device to queue work on it. */
static enum as_status put_part(const struct as_part *part, uint64_t i, struct as_error *err)
{
    struct as_gpu *gpu = part->dev->ctx;
    enum as_status st = as_gpu_alive(gpu, err);
    if (st)
        return st;
    if (!part->copy)
        return put_launch(part->dev, part->launch, i, err);
    const struct as_gpu_back *back = as_gpu_copy_back(gpu, part->copy);
    return as_gpu_check(gpu, as_gpu_copy_put(gpu, part->copy, back, i), gpu->api->copy_name, err);
}

/* The devices take turns, so that all start with the first repetition. */
static enum as_status put_parts(const struct as_part *parts, size_t n, struct as_error *err)
{
    uint64_t max_reps = 0;
    enum as_status st = AS_OK;
    for (size_t k = 0; k < n; k++)
        max_reps = part_reps(&parts[k]) > max_reps ? part_reps(&parts[k]) : max_reps;
    for (uint64_t i = 0; i < max_reps && !st; i++)
        for (size_t k = 0; k < n && !st; k++)
            st = i < part_reps(&parts[k]) ? put_part(&parts[k], i, err) : AS_OK;
    return st;
}

static enum as_status wait_part(const struct as_part *part, struct as_error *err)
{
    struct as_gpu *gpu = part->dev->ctx;
    enum as_status st = as_gpu_alive(gpu, err);
    return st ? st : AS_GPU_DO(gpu, err, stream_synchronize, gpu->stream);
}

static double part_seconds(const struct as_part *part, double whole)
{
    const struct as_gpu *gpu = part->dev->ctx;
    const double own = as_gpu_alive(gpu, NULL) ? NAN : as_gpu_elapsed(gpu);
    return isnan(own) ? whole : own;
}

static enum as_status team_run(struct as_part *parts, size_t n, struct as_timing *out, struct as_error *err)
{
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = team_check(parts, n, err);
    if (st)
        return st;
    const uint64_t t0 = as_now_ns();
    st = put_parts(parts, n, err);
    for (size_t k = 0; k < n && !st; k++)
        st = wait_part(&parts[k], err);
    const uint64_t t1 = as_now_ns();
    for (size_t k = 0; k < n && st; k++) /* what is queued ends before the caller frees the memory */
        if (!as_gpu_alive(parts[k].dev->ctx, NULL))
            as_gpu_settle(parts[k].dev->ctx, NULL);
    if (st)
        return st;
    out->host_s = (double)(t1 - t0) * 1e-9;
    for (size_t k = 0; k < n; k++)
        parts[k].seconds = part_seconds(&parts[k], out->host_s);
    return AS_OK;
}

const struct as_team_ops as_gpu_team_ops = {.member = as_gpu_member, .run = team_run};
