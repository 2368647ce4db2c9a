/* Queues and command buffers of the stand-in: each queue is a thread that runs committed buffers in order. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct queue {
    struct fake_object object;
    pthread_t thread;
    struct commands *first, **last;
    unsigned outstanding;
    bool stop;
};
static unsigned committed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void drop_commands(struct commands *c)
{
    while (c->first) {
        struct command *next = c->first->next;
        fake_drop_command(c->first);
        free(c->first);
        c->first = next;
    }
    c->last = &c->first;
}

static void commands_dealloc(id self)
{
    struct commands *c = (struct commands *)self;
    drop_commands(c);
    fake_drop(c->error);
    fake_drop(&c->queue->object);
}

static void queue_dealloc(id self)
{
    struct queue *q = (struct queue *)self;
    __atomic_store_n(&q->stop, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&changed);
    if (pthread_equal(pthread_self(), q->thread))
        pthread_detach(q->thread);
    else
        pthread_join(q->thread, NULL);
}

struct fake_class fake_queue_class = {.name = "FakeQueue", .size = sizeof(struct queue), .dealloc = queue_dealloc};
static struct fake_class commands_class = {
    .name = "FakeCommandBuffer", .size = sizeof(struct commands), .dealloc = commands_dealloc};

/* ---- the GPU ---- */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *run_kernel(const struct command *c)
{
    void *at[BUFFERS] = {NULL};
    struct as_error err = {0};
    const struct function *f = c->pipeline->function;
    for (unsigned i = 0; i < BUFFERS; i++)
        at[i] = c->buffers[i]             ? c->buffers[i]->at + c->offsets[i]
                : (c->in_bytes >> i & 1u) ? (void *)(uintptr_t)c->bytes[i]
                                          : NULL;
    if (f->kernel->buffers & ~c->bound) {
        fake_broke("a kernel whose buffers are not all set", "dispatchThreadgroups:threadsPerThreadgroup:");
        return "Invalid Resource";
    }
    if (msl_run_on(&f->library->program, f->kernel, at, c->groups, c->threads, CORES, &err)) {
        fake_broke(err.text, f->kernel->name);
        return "Caused GPU Hang Error";
    }
    return NULL;
}

static const char *perform(const struct commands *c)
{
    const char *why = NULL;
    for (const struct command *k = c->first; k && !why; k = k->next) {
        if (k->what == DISPATCH)
            why = run_kernel(k);
        else if (k->what == PRODUCT)
            k->gemm.perform(&k->gemm);
        else if (k->what == COPY)
            memmove(k->to->at + k->to_at, k->from->at + k->from_at, k->size);
        else
            memcpy(k->from->shown, k->from->at, k->from->length);
    }
    return why;
}

static const char *planned_text(NSInteger code)
{
    return code == 2    ? "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)"
           : code == 3  ? "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)"
           : code == 4  ? "Ignored (for causing prior/excessive GPU errors) \x1b[31m"
           : code == 8  ? "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
           : code == 11 ? "Device removed"
                        : "Internal Error";
}

/* The objects that the command buffer held are released before it counts as completed. */
static void finish(struct commands *c, const char *why, double start, double took)
{
    pthread_mutex_lock(&lock);
    if (why || c->planned) {
        struct error *e = (struct error *)fake_new(&fake_error_class);
        e->text = fake_string(c->planned ? planned_text(c->planned) : why);
        e->code = c->planned ? c->planned : 1;
        c->error = &e->object;
    }
    c->start = c->timeless ? 0 : c->number ? c->number : start;
    c->end = c->timeless ? 0 : c->number ? c->number + 0.5 : start + took;
    drop_commands(c);
    c->queue->outstanding--;
    __atomic_store_n(&c->status, c->error ? FAILED : COMPLETED, __ATOMIC_RELEASE);
    fake_drop(&c->object);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *queue_main(void *context)
{
    struct queue *q = context;
    pthread_mutex_lock(&lock);
    while (!__atomic_load_n(&q->stop, __ATOMIC_ACQUIRE)) {
        struct commands *c = q->first;
        if (!c || c->hangs) {
            struct timespec soon;
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
            soon.tv_sec += soon.tv_nsec < 1000000;
            pthread_cond_timedwait(&changed, &lock, &soon); /* releases queues without holding the lock */
            continue;
        }
        q->first = c->next;
        if (!q->first)
            q->last = &q->first;
        pthread_mutex_unlock(&lock);
        /* Whoever else uses the processor must not make a command look longer. */
        const double start = seconds_of(CLOCK_MONOTONIC), before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        const char *why = c->planned ? NULL : perform(c);
        finish(c, why, start, seconds_of(CLOCK_THREAD_CPUTIME_ID) - before);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- queues and command buffers ---- */

static id device_queue(id self, SEL sel)
{
    (void)self, (void)sel;
    if (fake_asked("noqueue"))
        return NULL;
    struct queue *q = (struct queue *)fake_new(&fake_queue_class);
    q->last = &q->first;
    if (pthread_create(&q->thread, NULL, queue_main, q))
        abort();
    return &q->object;
}

static id queue_commands(id self, SEL sel)
{
    (void)sel;
    if (fake_asked("nocommands"))
        return NULL;
    struct commands *c = (struct commands *)fake_new(&commands_class);
    c->queue = (struct queue *)fake_retain(self);
    c->last = &c->first;
    return fake_autorelease(&c->object);
}

static id commands_encoder(struct commands *c, bool compute, const char *sel)
{
    if (c->encoding || c->status)
        fake_broke(c->status ? "the command buffer is committed" : "the encoder before has not ended", sel);
    if (fake_asked("noencoder"))
        return NULL;
    struct encoder *e = (struct encoder *)fake_new(&fake_encoder_class);
    e->commands = (struct commands *)fake_retain(&c->object);
    e->compute = compute;
    c->encoding = true;
    return fake_autorelease(&e->object);
}

static id commands_compute(id self, SEL sel, NSUInteger type)
{
    if (type > 1)
        fake_broke("the dispatch type is neither serial nor concurrent", sel);
    return commands_encoder((struct commands *)self, true, sel);
}

static id commands_blit(id self, SEL sel)
{
    return commands_encoder((struct commands *)self, false, sel);
}

/* If FAKE_METAL_ONCE names a file, the fault happens once: to the process that removes it. */
static bool happens(const char *word)
{
    const char *once = getenv("FAKE_METAL_ONCE");
    return fake_asked(word) && (!once || unlink(once) == 0);
}

static NSInteger planned(void)
{
    static const struct {
        const char *word;
        NSInteger code;
    } faults[] = {{"timeout", 2}, {"fault", 3}, {"revoked", 4}, {"oom", 8}, {"removed", 11}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (happens(faults[i].word))
            return faults[i].code;
    return 0;
}

static void commands_commit(id self, SEL sel)
{
    struct commands *c = (struct commands *)self;
    if (c->status || c->encoding)
        fake_broke(c->status ? "committed twice" : "an encoder has not ended", sel);
    if (c->status)
        return;
    c->planned = planned();
    c->hangs = happens("hang");
    c->timeless = fake_asked("timeless");
    c->number = fake_asked("scripted") ? ++committed : 0;
    pthread_mutex_lock(&lock);
    if (++c->queue->outstanding > 64)
        fake_broke("a 65th command buffer on a queue", sel);
    fake_retain(self);
    c->status = COMMITTED;
    *c->queue->last = c;
    c->queue->last = &c->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void commands_wait(id self, SEL sel)
{
    struct commands *c = (struct commands *)self;
    if (!c->status)
        fake_broke("not committed", sel);
    pthread_mutex_lock(&lock);
    while (c->status && c->status < COMPLETED)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static NSUInteger commands_status(id self, SEL sel)
{
    (void)sel;
    const NSUInteger status = __atomic_load_n(&((struct commands *)self)->status, __ATOMIC_ACQUIRE);
    /* ThreadSanitizer does not see into this library; the lock shows it that the queue thread's results are
     * complete. */
    if (status >= COMPLETED) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return status;
}

static id commands_error(id self, SEL sel)
{
    struct commands *c = (struct commands *)self;
    (void)sel;
    return fake_asked("speechless") || !c->error ? NULL : fake_autorelease(fake_retain(c->error));
}

static double commands_start(id self, SEL sel)
{
    struct commands *c = (struct commands *)self;
    if (c->status < COMPLETED)
        fake_broke("not completed", sel);
    return fake_asked("backwards") ? c->end : c->start;
}

static double commands_end(id self, SEL sel)
{
    struct commands *c = (struct commands *)self;
    if (c->status < COMPLETED)
        fake_broke("not completed", sel);
    return fake_asked("backwards") ? c->start : c->end;
}

static const struct fake_method methods[] = {
    FAKE_METHOD(&fake_device_class, "newCommandQueue", device_queue),
    FAKE_METHOD(&fake_queue_class, "commandBuffer", queue_commands),
    FAKE_METHOD(&commands_class, "computeCommandEncoderWithDispatchType:", commands_compute),
    FAKE_METHOD(&commands_class, "blitCommandEncoder", commands_blit),
    FAKE_METHOD(&commands_class, "commit", commands_commit),
    FAKE_METHOD(&commands_class, "waitUntilCompleted", commands_wait),
    FAKE_METHOD(&commands_class, "status", commands_status),
    FAKE_METHOD(&commands_class, "error", commands_error),
    FAKE_METHOD(&commands_class, "GPUStartTime", commands_start),
    FAKE_METHOD(&commands_class, "GPUEndTime", commands_end),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&fake_queue_class, &commands_class, NULL};
    fake_classes(list);
    fake_methods(methods);
}
