/* A libnccl or librccl for tests, whose ranks' memory is the host's. A group runs when it ends, and has to hold the
 * same collective of every rank. FAKE_NCCL in the environment is a list of words:
 *   old      its version is 2.7.8
 *   refuses  ranks cannot be joined
 *   fails    a group ends with an error
 *   late     an error shows only after the wait
 *   breaks   no stream ends after a group, until the ranks are aborted, for an error that shows while they are waited
 * for wrong    a sum of the last rank is off by one silent   errors have no text hang     a group never ends: once,
 * where FAKE_NCCL_ONCE names a file, which is removed */
#include "device/nccl/functions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) API result name parameters;
AS_NCCL_REQUIRED(DECLARE)

enum { CALLS_MAX = 8192, UNHANDLED = 1, SYSTEM = 2, USAGE = 5, REMOTE = 6 };
enum kind { REDUCE, SCATTER, GATHER, CAST, SEND, RECEIVE };
struct ncclComm {
    int rank, ranks;
};
static struct call {
    enum kind kind;
    const float *send;
    float *receive;
    size_t count;
    int peer;
    ncclComm_t comm;
} calls[CALLS_MAX];
static size_t calls_n;
static int depth; /* groups nest */
static int live;
static int patience; /* questions after errors until one is told */

/* The stand-ins for drivers know by it that no stream ends. */
static const char blocks[] = "FAKE_STREAMS_BLOCKED";
enum { PATIENCE = 20 };

/* Communicators that are neither destroyed nor aborted. */
API int fake_nccl_live(void);
int fake_nccl_live(void)
{
    return live;
}

static bool asked(const char *word)
{
    const char *list = getenv("FAKE_NCCL");
    return list && strstr(list, word);
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = asked("old") ? 2708 : 22703;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return asked("silent") ? NULL : result == SYSTEM ? "unhandled system error" : "some error";
}

ncclResult_t ncclCommInitAll(ncclComm_t *comm, int n, const int *devices)
{
    if (asked("refuses"))
        return SYSTEM;
    if (depth)
        return USAGE;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (devices[i] == devices[k])
                return USAGE;
    for (int i = 0; i < n; i++) {
        comm[i] = malloc(sizeof *comm[i]);
        *comm[i] = (struct ncclComm){.rank = i, .ranks = n};
        live++;
    }
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (depth)
        return USAGE;
    live--;
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    unsetenv(blocks);
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result)
{
    const bool broke = getenv(blocks) && --patience < 0;
    *result = (asked("late") || broke) && comm->rank == 1 ? REMOTE : getenv(blocks) ? ncclInProgress : ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
    calls_n = depth++ ? calls_n : 0;
    return ncclSuccess;
}

static ncclResult_t add(struct call call, ncclDataType_t type, const struct as_gpu_stream *stream)
{
    if (asked("denies") && call.comm->rank == 1)
        return SYSTEM;
    if (!depth || calls_n == CALLS_MAX || type != ncclFloat32 || !stream)
        return USAGE;
    calls[calls_n++] = call;
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, struct as_gpu_stream *stream)
{
    return op != ncclSum ? USAGE : add((struct call){REDUCE, send, receive, count, 0, comm}, type, stream);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, struct as_gpu_stream *stream)
{
    return op != ncclSum ? USAGE : add((struct call){SCATTER, send, receive, count, 0, comm}, type, stream);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           struct as_gpu_stream *stream)
{
    return add((struct call){GATHER, send, receive, count, 0, comm}, type, stream);
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, struct as_gpu_stream *stream)
{
    return add((struct call){CAST, send, receive, count, root, comm}, type, stream);
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      struct as_gpu_stream *stream)
{
    return add((struct call){SEND, send, NULL, count, peer, comm}, type, stream);
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      struct as_gpu_stream *stream)
{
    return add((struct call){RECEIVE, NULL, receive, count, peer, comm}, type, stream);
}

/* Of each rank in order, which every collective but all-to-all has. */
static void sum_parts(const struct call *c, size_t at)
{
    const int ranks = c->comm->ranks;
    for (size_t i = 0; i < c->count; i++) {
        float sum = asked("wrong") && c->comm->rank == ranks - 1 && i == c->count / 2 ? 1 : 0;
        for (int k = 0; k < ranks; k++)
            sum += calls[k].send[at + i];
        c->receive[i] = sum;
    }
}

static bool receive_one(const struct call *c)
{
    for (size_t i = 0; i < calls_n; i++)
        if (calls[i].kind == SEND && calls[i].peer == c->comm->rank && calls[i].comm->rank == c->peer &&
            calls[i].count == c->count) {
            memcpy(c->receive, calls[i].send, c->count * sizeof *c->receive);
            return true;
        }
    return false;
}

static bool run_call(const struct call *c)
{
    const size_t bytes = c->count * sizeof *c->receive;
    if (c->kind == REDUCE)
        sum_parts(c, 0);
    else if (c->kind == SCATTER)
        sum_parts(c, (size_t)c->comm->rank * c->count);
    else if (c->kind == CAST)
        memcpy(c->receive, calls[c->peer].send, bytes);
    else if (c->kind == GATHER)
        for (int k = 0; k < c->comm->ranks; k++)
            memcpy(c->receive + (size_t)k * c->count, calls[k].send, bytes);
    return c->kind != RECEIVE || receive_one(c);
}

static void hang(void)
{
    const char *once = getenv("FAKE_NCCL_ONCE");
    const bool hangs = !once || unlink(once) == 0;
    while (hangs)
        pause();
}

ncclResult_t ncclGroupEnd(void)
{
    const size_t ranks = calls_n ? (size_t)calls[0].comm->ranks : 0;
    if (--depth)
        return ncclSuccess;
    if (asked("denies"))
        return SYSTEM;
    if (asked("fails"))
        return UNHANDLED;
    if (asked("hang"))
        hang();
    if (asked("breaks")) {
        patience = PATIENCE;
        setenv(blocks, "1", 1);
        return ncclSuccess;
    }
    for (size_t i = 0; i < calls_n; i++)
        if (calls[i].kind < SEND &&
            (calls_n != ranks || calls[i].comm->rank != (int)i || calls[i].kind != calls[0].kind))
            return USAGE;
    for (size_t i = 0; i < calls_n; i++)
        if (!run_call(&calls[i]))
            return USAGE;
    return ncclSuccess;
}
