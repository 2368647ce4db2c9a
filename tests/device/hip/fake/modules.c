/* Modules of the stand-in: host libraries labelled as AMD GPU code; and how their kernels run. */
#include "inside.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MACHINE_AMDGPU = 0xe0, MACHINE_HOST_AT = offsetof(Elf64_Ehdr, e_machine), STACK = (64 << 10) + 320 };

/* ---- modules ---- */

static struct as_gpu_function *symbols; /* of all modules, for the life of the process */

/* The image ends with its section table, which gives its length. */
static bool write_library(const char *path, const void *image)
{
    static const Elf64_Half host =
#ifdef __x86_64__
        EM_X86_64;
#else
        EM_AARCH64;
#endif
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != MACHINE_AMDGPU)
        return false;
    size_t bytes = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    head.e_machine = host;
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(&head, sizeof head, 1, f) == 1 &&
                fwrite((const char *)image + sizeof head, bytes - sizeof head, 1, f) == 1;
    return f && fclose(f) == 0 && good;
}

API hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    CAN_FAIL();
    char path[] = "/tmp/assay-fake-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return hipErrorUnknown;
    close(fd);
    void *library = write_library(path, image) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    (void)unlink(path);
    if (!library)
        return hipErrorInvalidImage;
    struct as_gpu_module *m = calloc(1, sizeof *m);
    m->library = library;
    m->table = dlsym(library, "fake_table");
    void *current = dlsym(library, "fake_current");
    memcpy(&m->current, &current, sizeof current);
    fake_count(1);
    *module = m;
    return hipSuccess;
}

API hipError_t hipModuleUnload(hipModule_t module)
{
    if (!module)
        return fake_broke(__func__, hipErrorInvalidHandle);
    for (struct as_gpu_function *s = symbols; s; s = s->next)
        s->entry = s->module == module ? NULL : s->entry;
    dlclose(module->library);
    free(module);
    fake_count(-1);
    return hipSuccess;
}

API hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
    CAN_FAIL();
    for (const struct fake_entry *e = module->table; e && e->name; e++) {
        if (strcmp(e->name, name) != 0 || e->count > 24)
            continue;
        struct as_gpu_function *s = calloc(1, sizeof *s);
        *s = (struct as_gpu_function){module, e, symbols};
        *function = symbols = s;
        return hipSuccess;
    }
    return hipErrorNotFound;
}

API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function)
{
    CAN_FAIL();
    *value = attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? GROUP_MOST
             : attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                                   : 0;
    return function && function->entry ? hipSuccess : fake_broke(__func__, hipErrorInvalidHandle);
}

API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function, int block_size,
                                                                  size_t dynamic_bytes)
{
    CAN_FAIL();
    if (!function || block_size < 1 || block_size > GROUP_MOST || dynamic_bytes > LOCAL_BYTES)
        return fake_broke(__func__, hipErrorInvalidValue);
    *blocks = 2048 / block_size > 16 ? 16 : 2048 / block_size;
    return hipSuccess;
}

/* ---- a workgroup: its work-items take turns on one thread, each until it ends or reaches a barrier ---- */

/* The compiler's own jumps: sanitizers intercept those of the C library, and expect a single stack. */
typedef void *place[5];

struct fiber {
    place at;
    struct fake_item item;
    char *stack;
    bool begun, over;
};
struct group {
    const struct launch *l;
    const struct fake_planted *planted;
    struct fiber *fibers;
    char *stacks; /* for all of them; mapped, so that only used pages cost anything */
    place back;
    unsigned running;
};
static __thread struct group *group;

/* A function may not contain both a jump and its target. */
static __attribute__((noinline, noreturn)) void jump(void **to)
{
    __builtin_longjmp(to, 1);
}

static void meet(void)
{
    struct fiber *f = &group->fibers[group->running];
    if (__builtin_setjmp(f->at) == 0)
        jump(group->back);
}

static void fiber_main(void)
{
    const struct launch *l = group->l;
    l->kernel->entry->call(l->kernel->entry->function, (void **)(uintptr_t)l->arguments);
    group->fibers[group->running].over = true;
    jump(group->back);
}

/* A jump to the entry of a function with a stack of its own. makecontext() would set the signal mask, two system calls
 * per item: a triad of 1 GiB has 25 million items. A jump takes frame, address and stack from its place in this order;
 * on entry to a function the stack of x86 is 8 bytes beyond a multiple of 16. */
static void begin(struct fiber *f)
{
    char *top = f->stack + STACK - 64;
#ifdef __x86_64__
    top -= 8;
#endif
    void (*entry)(void) = fiber_main;
    f->begun = true;
    f->at[0] = top;
    memcpy(&f->at[1], &entry, sizeof entry);
    f->at[2] = top;
}

static void resume(struct fiber *f)
{
    if (__builtin_setjmp(group->back) != 0)
        return;
    if (!f->begun)
        begin(f);
    jump(f->at);
}

/* The stack of an item that ended is reused. */
static void run_group(struct group *g, unsigned index, const struct fake_item **current)
{
    const struct launch *l = g->l;
    char *spare = NULL, *unused = g->stacks;
    unsigned left = l->threads;
    for (unsigned i = 0; i < l->threads; i++)
        g->fibers[i] =
            (struct fiber){.item = {i, l->threads, index, l->workgroups, meet, g->planted->step_ns, g->planted->loses}};
    while (left > 0)
        for (g->running = 0; g->running < l->threads; g->running++) {
            struct fiber *f = &g->fibers[g->running];
            if (f->over)
                continue;
            if (!f->stack) {
                f->stack = spare ? spare : unused;
                unused += spare ? 0 : STACK;
                spare = NULL;
            }
            *current = &f->item;
            resume(f);
            if (f->over) {
                spare = f->stack;
                left--;
            }
        }
}

struct share {
    struct launch *l;
    struct fake_planted planted;
    unsigned next;
};

static void *run_groups(void *context)
{
    struct share *s = context;
    const struct fake_item **current = s->l->kernel->module->current();
    const size_t bytes = (size_t)s->l->threads * STACK;
    struct group g = {.l = s->l, .planted = &s->planted, .fibers = malloc(s->l->threads * sizeof *g.fibers)};
    g.stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (g.stacks == MAP_FAILED)
        abort();
    group = &g;
    for (unsigned i; (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->l->workgroups;)
        run_group(&g, i, current);
    group = NULL;
    munmap(g.stacks, bytes);
    free(g.fibers);
    return NULL;
}

void fake_run(struct launch *l)
{
    struct share s = {.l = l};
    pthread_t others[UNITS - 1];
    unsigned n = 0;
    fake_plant(l, &s.planted);
    if (s.planted.skipped)
        return;
    while (n < UNITS - 1 && n + 1 < l->workgroups && pthread_create(&others[n], NULL, run_groups, &s) == 0)
        n++;
    run_groups(&s);
    while (n > 0)
        pthread_join(others[--n], NULL);
    fake_planted_ends(l, &s.planted);
}
