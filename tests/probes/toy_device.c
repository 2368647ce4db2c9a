#include "toy_device.h"

#include "base/host.h"
#include "base/text.h"
#include "tests/unit_test.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct as_program {
    const struct as_host_kernel *host;
};
struct as_kernel {
    char name[32];
    void (*run)(const struct as_host_call *call);
};
struct toy_running {
    pthread_t thread;
    struct toy *toy;
    char name[32];
    void *args[16];
    uint64_t values[16];
};
struct worker {
    pthread_t thread;
    struct as_host_call call;
    void (*run)(const struct as_host_call *call);
};

static struct toy *toy_of(struct as_device *dev)
{
    return dev->ctx;
}

static void toy_close(struct as_device *dev)
{
    (void)dev;
}

static enum as_status toy_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err)
{
    (void)err;
    *bytes = toy_of(dev)->free_bytes;
    return AS_OK;
}

/* Large blocks come from the kernel: zeroing them would take most of a test's time. */
static const size_t FROM_KERNEL = (size_t)16 << 20;

static size_t toy_bytes(uint64_t bytes)
{
    return (size_t)(bytes + 63) / 64 * 64;
}

static void *zeroed_block(size_t bytes)
{
    void *block = bytes < FROM_KERNEL ? aligned_alloc(64, bytes)
                                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    return block && bytes < FROM_KERNEL ? memset(block, 0, bytes) : block;
}

static void free_block(void *block, size_t bytes)
{
    if (bytes < FROM_KERNEL)
        free(block);
    else
        munmap(block, bytes);
}

static enum as_status toy_alloc(struct as_device *dev, const struct as_memory_desc *desc, struct as_memory **out,
                                struct as_error *err)
{
    struct toy *t = toy_of(dev);
    *out = NULL;
    if (t->deny_memory)
        return as_nomem(err, desc->bytes, "toy memory");
    struct as_memory *m = calloc(1, sizeof *m);
    if (!m || !(m->host = desc->at ? desc->at : zeroed_block(toy_bytes(desc->bytes)))) {
        free(m);
        return as_nomem(err, desc->bytes, "toy memory");
    }
    m->ctx = desc->at;
    m->bytes = desc->bytes;
    m->page_size = as_host_page();
    t->allocations++;
    t->live++;
    *out = m;
    return AS_OK;
}

static void toy_free(struct as_device *dev, struct as_memory *m)
{
    if (!m)
        return;
    toy_of(dev)->live--;
    if (!m->ctx) /* else it is the caller's */
        free_block(m->host, toy_bytes(m->bytes));
    free(m);
}

static enum as_status toy_map(struct as_device *dev, struct as_memory *m, struct as_error *err)
{
    (void)dev, (void)m, (void)err;
    return AS_OK;
}

static enum as_status toy_write(struct as_device *dev, struct as_memory *m, uint64_t at, const void *from,
                                uint64_t bytes, struct as_error *err)
{
    (void)dev, (void)err;
    memcpy((char *)m->host + at, from, bytes);
    return AS_OK;
}

static enum as_status toy_read(struct as_device *dev, struct as_memory *m, uint64_t at, void *to, uint64_t bytes,
                               struct as_error *err)
{
    (void)err;
    memcpy(to, (char *)m->host + at, bytes);
    if (toy_of(dev)->forget)
        memset(to, 0, bytes);
    return AS_OK;
}

static enum as_status toy_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes, size_t count,
                                     double *alloc_s, double *free_s, struct as_error *err)
{
    struct toy *t = toy_of(dev);
    (void)allocator, (void)bytes, (void)err;
    *alloc_s = t->alloc_s * (double)count + t->first_alloc_s;
    *free_s = 2 * t->alloc_s * (double)count;
    t->first_alloc_s = 0;
    return AS_OK;
}

static enum as_status toy_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                struct as_error *err)
{
    (void)dev;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return as_nomem(err, sizeof **out, "a program");
    (*out)->host = desc->host;
    return AS_OK;
}

static void toy_destroy(struct as_device *dev, struct as_program *p)
{
    (void)dev;
    free(p);
}

static enum as_status toy_kernel(struct as_device *dev, struct as_program *p, const char *name, struct as_kernel **out,
                                 struct as_error *err)
{
    struct as_kernel *k = *out = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel");
    as_copy_text(k->name, sizeof k->name, name);
    if (dev->info.capabilities & AS_CAP_SOURCE)
        return AS_OK;
    for (size_t i = 0; p->host && p->host[i].name; i++)
        if (strcmp(p->host[i].name, name) == 0)
            k->run = p->host[i].run;
    if (k->run)
        return AS_OK;
    free(k);
    *out = NULL;
    return as_fail(err, AS_FAILED, "toy: no native kernel '%s'", name);
}

static void toy_kernel_destroy(struct as_device *dev, struct as_kernel *k)
{
    (void)dev;
    free(k);
}

static void fill_args(const struct as_launch *l, void **args, uint64_t *values)
{
    for (size_t i = 0; i < l->args_n; i++) {
        memcpy(&values[i], &l->args[i].u, sizeof values[i]);
        args[i] = l->args[i].kind == AS_ARG_MEMORY ? l->args[i].u.memory->host : (void *)&values[i];
    }
}

/* Threads that wait for each other must not share a CPU, or each pass between them costs a scheduler time slice. */
static int start_thread(pthread_t *thread, int cpu, void *(*run)(void *), void *arg)
{
    cpu_set_t one;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return -1;
    CPU_ZERO(&one);
    if (cpu >= 0)
        CPU_SET((size_t)cpu, &one);
    int failed = cpu >= 0 && pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    failed = failed || pthread_create(thread, &attr, run, arg);
    pthread_attr_destroy(&attr);
    return failed;
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    w->run(&w->call);
    return NULL;
}

static enum as_status toy_launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                                 struct as_error *err)
{
    struct toy *t = toy_of(dev);
    void *args[16] = {0};
    uint64_t values[16];
    struct worker workers[8];
    fill_args(l, args, values);
    *out = (struct as_timing){.host_s = 0, .device_s = NAN, .cycles = NAN};
    t->launches++;
    t->workgroups = l->workgroups;
    t->shared_bytes = l->shared_bytes;
    if (t->lose_launches > 0) {
        t->lose_launches--;
        out->host_s = 1e-9;
        return AS_OK;
    }
    double start = as_now();
    if (!l->kernel->run)
        t->kernel(l->kernel->name, args);
    for (unsigned i = 0; l->kernel->run && i < l->workgroups; i++) {
        workers[i] =
            (struct worker){.call = {.args = args, .thread = i, .threads = (unsigned)l->workgroups, .reps = l->reps},
                            .run = l->kernel->run};
        if (start_thread(&workers[i].thread, l->cpus ? l->cpus[i] : -1, run_worker, &workers[i]))
            return as_fail(err, AS_FAILED, "toy: no thread");
    }
    for (unsigned i = 0; l->kernel->run && i < l->workgroups; i++)
        pthread_join(workers[i].thread, NULL);
    out->host_s = t->launch_s > 0 ? t->launch_s : as_now() - start;
    return AS_OK;
}

static void *run_device(void *arg)
{
    struct toy_running *r = arg;
    r->toy->kernel(r->name, r->args);
    return NULL;
}

static enum as_status toy_submit(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    struct toy *t = toy_of(dev);
    t->launches++;
    t->workgroups = l->workgroups;
    t->shared_bytes = l->shared_bytes;
    if (t->lose_launches > 0) {
        t->lose_launches--;
        return AS_OK;
    }
    struct toy_running *r = t->running = calloc(1, sizeof *r);
    if (!r)
        return as_nomem(err, sizeof *r, "a launch");
    r->toy = t;
    as_copy_text(r->name, sizeof r->name, l->kernel->name);
    fill_args(l, r->args, r->values);
    return start_thread(&r->thread, t->device_cpu, run_device, r) ? as_fail(err, AS_FAILED, "toy: no thread") : AS_OK;
}

static enum as_status toy_wait(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    struct toy *t = toy_of(dev);
    (void)how, (void)err;
    if (t->running)
        pthread_join(t->running->thread, NULL);
    free(t->running);
    t->running = NULL;
    return AS_OK;
}

void toy_init(struct toy *t, unsigned capabilities)
{
    static const struct as_device_ops device = {.close = toy_close, .memory_free = toy_memory_free};
    static const struct as_memory_ops memory = {.alloc = toy_alloc,
                                                .free = toy_free,
                                                .map = toy_map,
                                                .unmap = toy_map,
                                                .write = toy_write,
                                                .read = toy_read,
                                                .time_alloc = toy_time_alloc};
    static const struct as_program_ops program = {
        .build = toy_build, .destroy = toy_destroy, .kernel = toy_kernel, .kernel_destroy = toy_kernel_destroy};
    static const struct as_queue_ops queue = {.launch = toy_launch, .submit = toy_submit, .wait = toy_wait};
    *t = (struct toy){.dev = {.device = &device, .memory = &memory, .program = &program, .queue = &queue},
                      .device_cpu = -1,
                      .alloc_s = 1e-6,
                      .free_bytes = UINT64_C(1) << 30};
    t->dev.ctx = t;
    t->dev.info = (struct as_device_info){.id = "toy",
                                          .capabilities = capabilities,
                                          .threads = 4,
                                          .page_size = as_host_page(),
                                          .memory_bytes = UINT64_C(1) << 31,
                                          .memory_free = UINT64_C(1) << 30,
                                          .is_host_memory = true,
                                          .allocators_n = 2,
                                          .allocators = {{.name = "toy", .on_demand = true}, {.name = "upfront"}}};
    t->dev.info.allocators[0].coherent = true;
}

void toy_init_sm90(struct toy *t, void (*kernel)(const char *name, void *const *args))
{
    toy_init(t, AS_CAP_SOURCE | AS_CAP_CYCLES | AS_CAP_EVENTS);
    t->kernel = kernel;
    t->dev.info.compute_units = 2;
    t->dev.info.warp = 32;
    t->dev.info.threads = 1024;
    snprintf(t->dev.info.dialect, sizeof t->dev.info.dialect, "cuda");
    snprintf(t->dev.info.arch, sizeof t->dev.info.arch, "sm_90");
}

void toy_axes(struct as_axes *axes, const char *text)
{
    char copy[256], *save = NULL;
    const char *const between = strchr(text, ';') ? ";" : " ";
    as_copy_text(copy, sizeof copy, text);
    *axes = (struct as_axes){0};
    for (char *item = strtok_r(copy, between, &save); item; item = strtok_r(NULL, between, &save)) {
        char *equals = strchr(item, '=');
        *equals = 0;
        if (as_axes_add(axes, item, equals + 1, NULL))
            abort();
    }
}

enum as_status toy_prepare(struct toy *t, const struct as_probe *probe, const char *axes, struct toy_trial *v,
                           struct as_error *err)
{
    struct as_error why = {0};
    *v = (struct toy_trial){0};
    toy_axes(&v->axes, axes);
    v->tc = (struct as_trial_context){.dev = &t->dev,
                                      .axes = &v->axes,
                                      .seed = 7,
                                      .deadline = as_now() + 0.05,
                                      .limit = NAN,
                                      .min_reps = 1,
                                      .max_reps = UINT64_C(1) << 40};
    enum as_status st = as_probe_prepare(probe, &v->tc, &v->state, &why);
    if (st && !err) {
        fprintf(stderr, "%s: %s\n", probe->name, why.text);
        abort();
    }
    if (err)
        *err = why;
    return st;
}

void toy_finish(const struct as_probe *probe, struct toy_trial *v)
{
    as_probe_finish(probe, v->state);
    as_buf_finish(&v->tc.detail);
}

void toy_check_no_memory(const struct as_probe *probe, unsigned capabilities, const char *axes)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    toy_init(&t, capabilities);
    t.deny_memory = true;
    assert_int_equal(toy_prepare(&t, probe, axes, &v, &err), AS_NOMEM);
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

enum as_applies toy_applies(const struct toy *t, const struct as_probe *probe, const char *axes, struct as_error *err)
{
    struct as_axes a;
    toy_axes(&a, axes);
    return probe->applies(&t->dev.info, &a, err);
}
