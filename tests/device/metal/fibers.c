#include "fibers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 << 10, THREADS_MAX = 1024 };

/* Where threads wait for each other. */
struct meeting {
    unsigned members, arrived, phase;
};
struct fiber {
    ucontext_t context;
    struct msl_item item;
    const struct meeting *waits_at; /* NULL: it does not wait */
    unsigned phase;                 /* of the meeting when it came */
    bool done;
};
struct lanes {
    struct meeting meeting;
    unsigned char slots[2][MSL_LANES * MSL_SLOT]; /* a lane may be one value ahead of another that still reads */
};
struct group {
    ucontext_t home;
    struct fiber *fibers, *now;
    struct lanes *lanes;
    struct meeting barrier;
    char *stacks;
    unsigned threads;
    const struct msl_kernel *kernel;
    void *const *buffers;
    struct msl_runtime *runtime;
};
static struct group *group;

static void meet(struct meeting *m)
{
    struct fiber *me = group->now;
    me->phase = m->phase;
    if (++m->arrived == m->members) {
        m->arrived = 0;
        m->phase++;
        return;
    }
    me->waits_at = m;
    swapcontext(&me->context, &group->home);
}

static void barrier(void)
{
    meet(&group->barrier);
}

static const unsigned char *share(const void *value, unsigned bytes)
{
    unsigned thread = group->now->item.thread;
    struct lanes *l = &group->lanes[thread / MSL_LANES];
    unsigned char *slots = l->slots[l->meeting.phase % 2];
    memcpy(slots + thread % MSL_LANES * MSL_SLOT, value, bytes);
    meet(&l->meeting);
    return slots;
}

static void begin(void)
{
    group->kernel->call(group->buffers);
    group->now->done = true;
    swapcontext(&group->now->context, &group->home);
}

static void prepare(struct group *g, unsigned number, unsigned workgroups)
{
    g->barrier = (struct meeting){.members = g->threads};
    for (unsigned i = 0; i < g->threads / MSL_LANES; i++)
        g->lanes[i].meeting = (struct meeting){.members = MSL_LANES};
    for (unsigned i = 0; i < g->threads; i++) {
        struct fiber *f = &g->fibers[i];
        f->item = (struct msl_item){.thread = i, .threads = g->threads, .group = number, .workgroups = workgroups};
        f->waits_at = NULL;
        f->done = false;
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = g->stacks + (size_t)i * STACK_BYTES;
        f->context.uc_stack.ss_size = STACK_BYTES;
        f->context.uc_link = NULL;
        makecontext(&f->context, begin, 0);
    }
}

/* Each thread in turn until it waits, as long as one can go on. */
static enum as_status run_group(struct group *g, unsigned number, struct as_error *err)
{
    unsigned left = g->threads;
    for (bool moves = true; moves && left > 0;) {
        moves = false;
        for (unsigned i = 0; i < g->threads; i++) {
            struct fiber *f = &g->fibers[i];
            if (f->done || (f->waits_at && f->waits_at->phase == f->phase))
                continue;
            moves = true;
            f->waits_at = NULL;
            g->now = f;
            g->runtime->item = &f->item;
            swapcontext(&g->home, &f->context);
            left -= f->done;
        }
    }
    return left == 0 ? AS_OK
                     : as_fail(err, AS_FAILED, "%u threads of group %u of '%s' wait for others that do not come", left,
                               number, g->kernel->name);
}

static const struct msl_kernel *find(const struct msl_program *p, const char *name)
{
    const struct msl_kernel *k = p->kernels;
    while (k->name && strcmp(k->name, name) != 0)
        k++;
    return k->name ? k : NULL;
}

enum as_status msl_run(const struct msl_program *p, const char *kernel, void *const *buffers, unsigned workgroups,
                       unsigned threads, struct as_error *err)
{
    struct group g = {.threads = threads, .kernel = find(p, kernel), .buffers = buffers, .runtime = p->runtime};
    const size_t bytes = (size_t)threads * STACK_BYTES; /* of which only what is used costs anything */
    enum as_status s = AS_OK;
    if (!g.kernel)
        return as_fail(err, AS_NOTFOUND, "there is no kernel '%s'", kernel);
    if (threads == 0 || threads % MSL_LANES || threads > THREADS_MAX)
        return as_fail(err, AS_USAGE, "%u threads are not so many whole SIMD groups", threads);
    g.fibers = calloc(threads, sizeof *g.fibers);
    g.lanes = calloc(threads / MSL_LANES, sizeof *g.lanes);
    g.stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!g.fibers || !g.lanes || g.stacks == MAP_FAILED)
        s = as_nomem(err, bytes, "stacks");
    group = &g;
    *p->runtime = (struct msl_runtime){.barrier = barrier, .share = share};
    for (unsigned i = 0; i < workgroups && !s; i++) {
        prepare(&g, i, workgroups);
        s = run_group(&g, i, err);
    }
    group = NULL;
    free(g.fibers);
    free(g.lanes);
    if (g.stacks != MAP_FAILED)
        munmap(g.stacks, bytes);
    return s;
}

enum as_status msl_open(const char *path, struct msl_program *out, struct as_error *err)
{
    *out = (struct msl_program){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!out->library)
        return as_fail(err, AS_FAILED, "%s", dlerror());
    out->runtime = dlsym(out->library, "msl_runtime");
    out->kernels = dlsym(out->library, "msl_kernels");
    if (out->runtime && out->kernels)
        return AS_OK;
    msl_close(out);
    return as_fail(err, AS_FAILED, "'%s' has no table of kernels", path);
}

void msl_close(struct msl_program *p)
{
    if (p->library)
        dlclose(p->library);
    *p = (struct msl_program){0};
}
