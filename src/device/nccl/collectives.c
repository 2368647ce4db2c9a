/* Collectives queued on the streams of all ranks, and waited for. */
#include "device/nccl/nccl.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>

/* One rank's part of a call. */
struct rank_call {
    const struct as_nccl_api *api;
    const void *send;
    void *receive;
    size_t count;
    int ranks;
    ncclComm_t comm;
    struct as_gpu_stream *stream;
};

static ncclResult_t put_all_reduce(const struct rank_call *r)
{
    return r->api->ncclAllReduce(r->send, r->receive, r->count, ncclFloat32, ncclSum, r->comm, r->stream);
}

static ncclResult_t put_all_gather(const struct rank_call *r)
{
    return r->api->ncclAllGather(r->send, r->receive, r->count, ncclFloat32, r->comm, r->stream);
}

static ncclResult_t put_reduce_scatter(const struct rank_call *r)
{
    return r->api->ncclReduceScatter(r->send, r->receive, r->count, ncclFloat32, ncclSum, r->comm, r->stream);
}

/* The library has none of its own: sends and receives of a group run together. */
static ncclResult_t put_all_to_all(const struct rank_call *r)
{
    ncclResult_t code = ncclSuccess;
    for (int peer = 0; peer < r->ranks && !code; peer++) {
        const size_t at = (size_t)peer * r->count * sizeof(float);
        code = r->api->ncclSend((const char *)r->send + at, r->count, ncclFloat32, peer, r->comm, r->stream);
        if (!code)
            code = r->api->ncclRecv((char *)r->receive + at, r->count, ncclFloat32, peer, r->comm, r->stream);
    }
    return code;
}

static ncclResult_t put_broadcast(const struct rank_call *r)
{
    return r->api->ncclBroadcast(r->send, r->receive, r->count, ncclFloat32, 0, r->comm, r->stream);
}

static const struct collective {
    ncclResult_t (*put)(const struct rank_call *r);
    const char *name; /* for messages */
} collectives[AS_COLLECTIVES_N] = {
    [AS_ALL_REDUCE] = {put_all_reduce, "ncclAllReduce"},
    [AS_ALL_GATHER] = {put_all_gather, "ncclAllGather"},
    [AS_REDUCE_SCATTER] = {put_reduce_scatter, "ncclReduceScatter"},
    [AS_ALL_TO_ALL] = {put_all_to_all, "ncclSend and ncclRecv"},
    [AS_BROADCAST] = {put_broadcast, "ncclBroadcast"},
};

/* All ranks in one group, without which the first would wait for the others forever. */
static ncclResult_t put_group(const struct as_gpu_collectives *c, const struct as_collective_call *call)
{
    ncclResult_t code = c->api.ncclGroupStart();
    if (code)
        return code;
    for (size_t i = 0; i < c->n && !code; i++) {
        const struct as_gpu *gpu = c->device[i]->ctx;
        const struct rank_call r = {.api = &c->api,
                                    .send = as_gpu_pointer(call->send[i]),
                                    .receive = as_gpu_pointer(call->receive[i]),
                                    .count = call->elements,
                                    .ranks = (int)c->n,
                                    .comm = c->comm[i],
                                    .stream = gpu->stream};
        code = collectives[call->what].put(&r);
    }
    const ncclResult_t ended =
        c->api.ncclGroupEnd(); /* also after an error: groups nest, and this one would stay open */
    return code ? code : ended;
}

/* Errors that the library meets in the background: a broken link, a rank that is gone. */
static enum as_status nccl_check_background(const struct as_gpu_collectives *c, const char *name, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < c->n && !st; i++) {
        const struct as_gpu *gpu = c->device[i]->ctx;
        ncclResult_t late = ncclSuccess;
        st = as_nccl_check(gpu, c->api.ncclCommGetAsyncError(c->comm[i], &late), "ncclCommGetAsyncError", err);
        if (!st && late != ncclInProgress)
            st = as_nccl_check(gpu, late, name, err);
    }
    return st;
}

/* After such an error no stream ends before the ranks are aborted, so a wait by the driver would not return. */
static enum as_status nccl_wait(const struct as_gpu_collectives *c, const char *name, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < c->n && !st; i++) {
        struct as_gpu *gpu = c->device[i]->ctx;
        int code = gpu->api->not_ready;
        st = as_gpu_alive(gpu, err);
        while (!st && (code = gpu->f->stream_query.call(gpu->stream)) == gpu->api->not_ready) {
            st = nccl_check_background(c, name, err);
            as_relax();
        }
        if (!st)
            st = as_gpu_check(gpu, code, gpu->f->stream_query.name, err);
    }
    return st ? st : nccl_check_background(c, name, err);
}

static enum as_status nccl_check_call(const struct as_gpu_collectives *c, const struct as_collective_call *call,
                                      struct as_error *err)
{
    const uint64_t bytes = call->elements * sizeof(float);
    const bool parts = call->what == AS_REDUCE_SCATTER || call->what == AS_ALL_TO_ALL;
    const bool gathers = call->what == AS_ALL_GATHER || call->what == AS_ALL_TO_ALL;
    if (c->n == 0 || !c->comm[0] || call->elements == 0 || call->reps == 0)
        return as_fail(err, AS_USAGE, "a collective needs ranks that have joined, elements and repetitions");
    for (size_t i = 0; i < c->n; i++)
        if (call->send[i]->bytes < bytes * (parts ? c->n : 1) || call->receive[i]->bytes < bytes * (gathers ? c->n : 1))
            return as_fail(err, AS_USAGE, "a collective of %llu elements does not fit the memory of rank %zu",
                           (unsigned long long)call->elements, i);
    return AS_OK;
}

static enum as_status nccl_run(struct as_device *dev, const struct as_collective_call *call, struct as_timing *out,
                               struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_gpu_collectives *c = gpu->backend->collectives;
    const char *name = collectives[call->what].name;
    *out = (struct as_timing){.host_s = NAN, .device_s = NAN, .cycles = NAN};
    enum as_status st = nccl_check_call(c, call, err);
    if (st)
        return st;
    st = as_gpu_alive(gpu, err);
    if (st)
        return st;
    ncclResult_t code = ncclSuccess;
    const uint64_t t0 = as_now_ns();
    for (uint64_t i = 0; i < call->reps && !code; i++)
        code = put_group(c, call);
    st = as_nccl_check(gpu, code, name, err);
    if (!st)
        st = nccl_wait(c, name, err);
    const uint64_t t1 = as_now_ns();
    if (st)
        as_nccl_leave(c, true);
    else
        st = as_gpu_alive(gpu, err);
    if (!st)
        out->host_s = (double)(t1 - t0) * 1e-9;
    return st;
}

const struct as_collective_ops as_nccl_ops = {.join = as_nccl_join, .run = nccl_run};
