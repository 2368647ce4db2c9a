#include "fibers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 << 10, THREADS_MAX = 1024, CORES_MAX = 8 };

/* A point where threads wait for each other. */
struct meeting {
    unsigned members, arrived, phase;
};
struct fiber {
    ucontext_t context;
    jmp_buf back;
    bool began;
    struct msl_item item;
    const struct meeting *waits_at; /* NULL: it is not waiting */
    unsigned phase;                 /* number of the meeting on arrival */
    bool done;
};
struct lanes {
    struct meeting meeting;
    unsigned char slots[2][MSL_LANES * MSL_SLOT]; /* a lane may be one value ahead of another that still reads */
};
/* One launch, whose workgroups the cores run one by one. */
struct launch {
    const struct msl_program *program;
    const struct msl_kernel *kernel;
    void *const *buffers;
    unsigned workgroups, threads;
    unsigned next;
    enum as_status status;
    struct as_error *err;
    pthread_mutex_t lock;
};
struct group {
    ucontext_t home;
    jmp_buf back;
    struct fiber *fibers, *now;
    struct lanes *lanes;
    struct meeting barrier;
    char *stacks;
    struct launch *launch;
    struct msl_runtime *runtime;
};
static __thread struct group *group;

/* Context switches save the signal mask by a system call each time, jumps do not; sanitizers know only contexts. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BY_CONTEXTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BY_CONTEXTS 1
#endif
#endif
#ifndef BY_CONTEXTS
#define BY_CONTEXTS 0
#endif

static void to_home(struct fiber *me)
{
    if (BY_CONTEXTS)
        swapcontext(&me->context, &group->home);
    else if (!_setjmp(me->back))
        _longjmp(group->back, 1);
}

static void to_fiber(struct fiber *f)
{
    const bool began = f->began;
    f->began = true;
    if (BY_CONTEXTS)
        swapcontext(&group->home, &f->context);
    else if (!_setjmp(group->back)) {
        if (began)
            _longjmp(f->back, 1);
        setcontext(&f->context);
    }
}

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
    to_home(me);
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
    group->launch->kernel->call(group->launch->buffers);
    group->now->done = true;
    to_home(group->now);
}

static void prepare(struct group *g, unsigned number)
{
    const unsigned threads = g->launch->threads;
    g->barrier = (struct meeting){.members = threads};
    for (unsigned i = 0; i < threads; i += MSL_LANES)
        g->lanes[i / MSL_LANES] =
            (struct lanes){.meeting = {.members = threads - i < MSL_LANES ? threads - i : MSL_LANES}};
    for (unsigned i = 0; i < threads; i++) {
        struct fiber *f = &g->fibers[i];
        f->item =
            (struct msl_item){.thread = i, .threads = threads, .group = number, .workgroups = g->launch->workgroups};
        f->waits_at = NULL;
        f->done = f->began = false;
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = g->stacks + (size_t)i * STACK_BYTES;
        f->context.uc_stack.ss_size = STACK_BYTES;
        f->context.uc_link = NULL;
        makecontext(&f->context, begin, 0);
    }
}

/* Runs each thread of the simdgroup that starts at `first`, in turn until it waits, while any can continue. Returns the
 * number that ended. */
static unsigned run_lanes(struct group *g, unsigned first, bool *moved)
{
    const unsigned threads = g->launch->threads, end = threads - first < MSL_LANES ? threads : first + MSL_LANES;
    unsigned ended = 0;
    for (bool moves = true; moves;) {
        moves = false;
        for (unsigned i = first; i < end; i++) {
            struct fiber *f = &g->fibers[i];
            if (f->done || (f->waits_at && f->waits_at->phase == f->phase))
                continue;
            moves = *moved = true;
            f->waits_at = NULL;
            g->now = f;
            g->runtime->item = &f->item;
            to_fiber(f);
            ended += f->done;
        }
    }
    return ended;
}

/* Lanes run as far ahead of others as barriers allow, so that a missing barrier shows. Returns the number of threads
 * that are stuck. */
static unsigned run_group(struct group *g)
{
    unsigned left = g->launch->threads;
    for (bool moves = true; moves && left > 0;) {
        moves = false;
        for (unsigned first = 0; first < g->launch->threads; first += MSL_LANES)
            left -= run_lanes(g, first, &moves);
    }
    return left;
}

static void note(struct launch *l, unsigned left, unsigned number)
{
    pthread_mutex_lock(&l->lock);
    if (l->status == AS_OK)
        l->status = as_fail(l->err, AS_FAILED, "%u threads of group %u of '%s' wait for others that do not come", left,
                            number, l->kernel->name);
    pthread_mutex_unlock(&l->lock);
}

static void run_groups(struct group *g)
{
    struct launch *l = g->launch;
    group = g;
    g->runtime = l->program->here();
    *g->runtime = (struct msl_runtime){.barrier = barrier, .share = share};
    for (unsigned i; (i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->workgroups;) {
        prepare(g, i);
        const unsigned left = run_group(g);
        if (left) {
            note(l, left, i);
            break;
        }
    }
    group = NULL;
}

/* Stacks are kept for the next launch: new pages cost more than a small kernel. */
static struct {
    char *at;
    size_t bytes;
} kept[CORES_MAX];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static char *take_stacks(size_t *bytes)
{
    char *at = NULL;
    pthread_mutex_lock(&kept_lock);
    for (size_t i = 0; i < CORES_MAX && !at; i++)
        if (kept[i].at && kept[i].bytes >= *bytes) {
            at = kept[i].at;
            *bytes = kept[i].bytes;
            kept[i].at = NULL;
        }
    pthread_mutex_unlock(&kept_lock);
    return at ? at : mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void keep_stacks(char *at, size_t bytes)
{
    pthread_mutex_lock(&kept_lock);
    for (size_t i = 0; i < CORES_MAX && at; i++)
        if (!kept[i].at) {
            kept[i].at = at;
            kept[i].bytes = bytes;
            at = NULL;
        }
    pthread_mutex_unlock(&kept_lock);
    if (at)
        munmap(at, bytes);
}

static void *core(void *context)
{
    struct launch *l = context;
    size_t bytes = (size_t)l->threads * STACK_BYTES; /* of which only used pages cost anything */
    struct group g = {.launch = l,
                      .fibers = calloc(l->threads, sizeof *g.fibers),
                      .lanes = calloc((l->threads + MSL_LANES - 1) / MSL_LANES, sizeof *g.lanes)};
    g.stacks = take_stacks(&bytes);
    if (!g.fibers || !g.lanes || g.stacks == MAP_FAILED)
        abort();
    run_groups(&g);
    free(g.fibers);
    free(g.lanes);
    keep_stacks(g.stacks, bytes);
    return NULL;
}

const struct msl_kernel *msl_find(const struct msl_program *p, const char *name)
{
    const struct msl_kernel *k = p->kernels;
    while (k->name && strcmp(k->name, name) != 0)
        k++;
    return k->name ? k : NULL;
}

enum as_status msl_run_on(const struct msl_program *p, const struct msl_kernel *kernel, void *const *buffers,
                          unsigned workgroups, unsigned threads, unsigned cores, struct as_error *err)
{
    struct launch l = {.program = p,
                       .kernel = kernel,
                       .buffers = buffers,
                       .workgroups = workgroups,
                       .threads = threads,
                       .err = err,
                       .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t others[CORES_MAX];
    unsigned n = 0;
    if (threads == 0 || threads > THREADS_MAX)
        return as_fail(err, AS_USAGE, "%u threads are no group", threads);
    while (n + 1 < cores && n + 1 < workgroups && n < CORES_MAX && pthread_create(&others[n], NULL, core, &l) == 0)
        n++;
    core(&l);
    while (n > 0)
        pthread_join(others[--n], NULL);
    return l.status;
}

enum as_status msl_run(const struct msl_program *p, const char *kernel, void *const *buffers, unsigned workgroups,
                       unsigned threads, struct as_error *err)
{
    const struct msl_kernel *k = msl_find(p, kernel);
    return k ? msl_run_on(p, k, buffers, workgroups, threads, 1, err)
             : as_fail(err, AS_NOTFOUND, "there is no kernel '%s'", kernel);
}

enum as_status msl_open(const char *path, struct msl_program *out, struct as_error *err)
{
    *out = (struct msl_program){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!out->library)
        return as_fail(err, AS_FAILED, "%s", dlerror());
    void *here = dlsym(out->library, "msl_runtime_here");
    memcpy(&out->here, &here, sizeof here);
    out->kernels = dlsym(out->library, "msl_kernels");
    if (here && out->kernels)
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
