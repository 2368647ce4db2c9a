/* Streams, events, graphs and copies of the fake HIP: each stream is a thread that executes its queue in order. */
#include "inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum what { LAUNCH, COPY, STAMP, AWAIT };
struct work {
    struct work *next;
    enum what what;
    struct launch launch;
    void *to;
    const void *from;
    size_t bytes;
    hipEvent_t event;
    unsigned turn; /* of the event */
};
struct as_gpu_event {
    unsigned asked, done; /* times recorded on a stream, and completed */
    double seconds;
    struct as_gpu_stream *from; /* recorded on it during a capture; NULL: not captured */
};
enum { BRANCHES_MAX = 256 };
struct as_gpu_graph {
    struct work *first, **last;
    struct as_gpu_stream *branches[BRANCHES_MAX]; /* that take part beside the stream that began it */
    unsigned branches_n, open;                    /* open: not joined again */
};
struct as_gpu_graph_exec {
    struct work *first;
};
struct as_gpu_stream {
    int device;
    pthread_t thread;
    struct work *first, **last;
    bool busy, stop;
    struct as_gpu_graph *capture;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool counting; /* a launch of "count" was not waited for */

/* 0.1 GB/s: no host copies so slowly. Larger copies only fill arrays of reference measurements. */
static const double ENGINE_NS_PER_BYTE = 10;
static const size_t ENGINE_SLOW_MAX = (size_t)512 << 10;

/* Without the lock. */
static void perform(struct work *w)
{
    const char *sdma = getenv("HSA_ENABLE_SDMA");
    if (w->what == LAUNCH)
        fake_run(&w->launch);
    else if (w->what == COPY) {
        const double end = fake_now() + 1e-9 * ENGINE_NS_PER_BYTE * (double)w->bytes;
        memmove(w->to, w->from, w->bytes);
        const bool slow = w->bytes <= ENGINE_SLOW_MAX && fake_asked("sdma") && !(sdma && strcmp(sdma, "0") == 0);
        while (slow && fake_now() < end)
            usleep(20);
    }
}

static void *stream_main(void *context)
{
    hipStream_t s = context;
    pthread_mutex_lock(&lock);
    while (!s->stop || s->first) {
        struct work *w = s->first;
        bool ready = w && (w->what != AWAIT || (int)(w->event->done - w->turn) >= 0);
        if (!ready) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        s->first = w->next;
        if (!s->first)
            s->last = &s->first;
        s->busy = true;
        pthread_mutex_unlock(&lock);
        perform(w);
        pthread_mutex_lock(&lock);
        if (w->what == STAMP) {
            w->event->seconds = fake_now();
            w->event->done = w->turn;
        }
        s->busy = false;
        free(w);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct work *make(enum what what)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->what = what;
    return w;
}

static void put(hipStream_t s, struct work *w)
{
    pthread_mutex_lock(&lock);
    if (s->capture && w->what == LAUNCH) {
        *s->capture->last = w;
        s->capture->last = &w->next;
    } else {
        *s->last = w;
        s->last = &w->next;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

/* Every wait ends when all enqueued work has completed, or with a lost device. */
static hipError_t waited(void)
{
    const char *once = getenv("FAKE_HIP_ONCE");
    bool now_or_never = counting && once && unlink(once) == 0;
    counting = false;
    while (now_or_never && fake_asked("hang"))
        pause();
    if (fake_asked("fault") || (now_or_never && fake_asked("lose")))
        fake_lose();
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

/* ---- streams ---- */

API hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
    CAN_FAIL();
    struct as_gpu_stream *s = calloc(1, sizeof *s);
    s->last = &s->first;
    s->device = fake_current;
    fake_count(1);
    *stream = s;
    if (pthread_create(&s->thread, NULL, stream_main, s) || flags != hipStreamNonBlocking)
        return fake_broke(__func__, hipErrorInvalidValue);
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CAN_FAIL();
    *least = fake_asked("equal") ? 0 : 1;
    *greatest = fake_asked("equal") ? 0 : -1;
    return hipSuccess;
}

/* All streams are equal here: priorities have no effect. */
API hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority)
{
    CAN_FAIL();
    if (priority < -1 || priority > 1)
        return fake_broke(__func__, hipErrorInvalidValue);
    return hipStreamCreateWithFlags(stream, flags);
}

API hipError_t hipStreamDestroy(hipStream_t stream)
{
    pthread_mutex_lock(&lock);
    stream->stop = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    fake_count(-1);
    return hipSuccess;
}

/* Where it fails it has waited: what was copied to may be gone when the caller hears of it. */
/* As the stand-in for RCCL says. */
static bool is_blocked(void)
{
    return getenv("FAKE_STREAMS_BLOCKED");
}

API hipError_t hipStreamSynchronize(hipStream_t stream)
{
    while (is_blocked())
        pause();
    pthread_mutex_lock(&lock);
    while (stream->first || stream->busy)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CAN_FAIL();
    return stream->capture ? fake_broke(__func__, hipErrorInvalidHandle) : waited();
}

API hipError_t hipStreamQuery(hipStream_t stream)
{
    pthread_mutex_lock(&lock);
    bool over = !stream->first && !stream->busy && !is_blocked();
    pthread_mutex_unlock(&lock);
    return over ? waited() : hipErrorNotReady;
}

API hipError_t hipDeviceSynchronize(void)
{
    CAN_FAIL();
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
    CAN_FAIL();
    if (event->from) { /* takes part in the capture, or is joined again */
        hipGraph_t capture = event->from->capture;
        if (flags || !capture || (stream->capture && stream->capture != capture) || capture->branches_n == BRANCHES_MAX)
            return fake_broke(__func__, hipErrorInvalidValue);
        capture->open += stream->capture ? -1u : 1u;
        if (!stream->capture)
            capture->branches[capture->branches_n++] = stream;
        stream->capture = capture;
        return hipSuccess;
    }
    if (flags || event->asked == 0)
        return fake_broke(__func__, hipErrorInvalidValue);
    struct work *w = make(AWAIT);
    w->event = event;
    w->turn = event->asked;
    put(stream, w);
    return hipSuccess;
}

/* ---- events ---- */

API hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
    CAN_FAIL();
    *event = calloc(1, sizeof **event);
    fake_count(1);
    return flags & ~(unsigned)(hipEventBlockingSync | hipEventDisableTiming)
               ? fake_broke(__func__, hipErrorInvalidValue)
               : hipSuccess;
}

API hipError_t hipEventDestroy(hipEvent_t event)
{
    free(event);
    fake_count(-1);
    return hipSuccess;
}

API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    CAN_FAIL();
    if (fake_real(stream->device) != fake_real(fake_current))
        return fake_broke(__func__, hipErrorInvalidHandle);
    event->from = stream->capture ? stream : NULL;
    if (event->from)
        return hipSuccess;
    struct work *w = make(STAMP);
    w->event = event;
    w->turn = ++event->asked;
    put(stream, w);
    return fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

API hipError_t hipEventSynchronize(hipEvent_t event)
{
    pthread_mutex_lock(&lock);
    while (event->done != event->asked)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CAN_FAIL();
    return waited();
}

API hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t end)
{
    *milliseconds = (float)((end->seconds - start->seconds) * 1e3);
    return start->done && end->done ? hipSuccess : fake_broke(__func__, hipErrorInvalidHandle);
}

/* ---- copies ---- */

static hipError_t copy(void *to, const void *from, size_t bytes, hipStream_t stream)
{
    if (fake_is_lost())
        return hipErrorIllegalAddress;
    struct work *w = make(COPY);
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    put(stream, w);
    return hipSuccess;
}

API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream)
{
    CAN_FAIL();
    if (fake_asked("apart")) /* as if it went to memory that the host does not see there */
        return hipSuccess;
    return copy(to, from, bytes, stream);
}

API hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream)
{
    CAN_FAIL();
    return copy(to, from, bytes, stream);
}

API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream)
{
    CAN_FAIL();
    if (kind != hipMemcpyDefault || fake_real(stream->device) != fake_real(fake_current))
        return fake_broke(__func__, hipErrorInvalidValue);
    return copy(to, from, bytes, stream);
}

/* ---- launches ---- */

API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                     unsigned int block_z, unsigned int dynamic_bytes, hipStream_t stream,
                                     void **parameters, void **extra)
{
    CAN_FAIL();
    if (!function || !function->entry || !grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_x > GROUP_MOST ||
        block_y != 1 || block_z != 1 || dynamic_bytes > LOCAL_BYTES || extra ||
        fake_real(stream->device) != fake_real(fake_current))
        return fake_broke(__func__, hipErrorInvalidValue);
    if (fake_is_lost())
        return hipErrorIllegalAddress;
    const struct fake_entry *e = function->entry;
    struct work *w = make(LAUNCH);
    struct launch *l = &w->launch;
    l->kernel = function;
    l->workgroups = grid_x;
    l->threads = block_x;
    for (unsigned i = 0; i < e->count; i++) {
        memcpy(l->values[i], parameters[i], e->sizes[i]);
        l->arguments[i] = l->values[i];
    }
    counting |= strcmp(e->name, "count") == 0;
    put(stream, w);
    return hipSuccess;
}

/* ---- graphs: rows of launches ---- */

static void free_row(struct work *w)
{
    while (w) {
        struct work *next = w->next;
        free(w);
        w = next;
    }
}

API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    CAN_FAIL();
    if (mode != hipStreamCaptureModeThreadLocal || stream->capture)
        return fake_broke(__func__, hipErrorInvalidValue);
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->last = &stream->capture->first;
    return hipSuccess;
}

static void drop_graph(hipGraph_t graph)
{
    free_row(graph->first);
    free(graph);
    fake_count(-1);
}

/* Where it fails, the stream captures no longer. */
API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
    hipGraph_t captured = stream->capture;
    stream->capture = *graph = NULL;
    if (!captured || captured->open)
        return fake_broke(__func__, hipErrorInvalidValue);
    for (unsigned i = 0; i < captured->branches_n; i++)
        captured->branches[i]->capture = NULL;
    fake_count(1);
    if (fake_fails(__func__)) {
        drop_graph(captured);
        return hipErrorNotSupported;
    }
    *graph = captured;
    return hipSuccess;
}

/* The launches, each with its arguments beside it. */
static struct work *copy_row(const struct work *from)
{
    struct work *first = NULL, **last = &first;
    for (; from; from = from->next) {
        struct work *w = make(LAUNCH);
        w->launch = from->launch;
        for (unsigned i = 0; i < w->launch.kernel->entry->count; i++)
            w->launch.arguments[i] = w->launch.values[i];
        *last = w;
        last = &w->next;
    }
    return first;
}

API hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *wrong, char *log,
                                   size_t log_bytes)
{
    CAN_FAIL();
    (void)wrong, (void)log, (void)log_bytes;
    *exec = calloc(1, sizeof **exec);
    (*exec)->first = copy_row(graph->first);
    fake_count(1);
    return hipSuccess;
}

API hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
    CAN_FAIL();
    struct work *row = copy_row(exec->first);
    while (row) {
        struct work *next = row->next;
        row->next = NULL;
        put(stream, row);
        row = next;
    }
    return hipSuccess;
}

API hipError_t hipGraphExecDestroy(hipGraphExec_t exec)
{
    free_row(exec->first);
    free(exec);
    fake_count(-1);
    return hipSuccess;
}

API hipError_t hipGraphDestroy(hipGraph_t graph)
{
    drop_graph(graph);
    return hipSuccess;
}
