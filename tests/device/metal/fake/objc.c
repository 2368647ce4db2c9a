/* Objects, pools and messages of the stand-in. */
#include "objc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x0b1ec7, DEAD = 0xdead, TABLES_MAX = 8, CLASSES_MAX = 32, POOLED_MAX = 4096, SELECTORS_MAX = 256 };

static const struct fake_method *tables[TABLES_MAX];
static size_t tables_n;
static struct fake_class *classes[CLASSES_MAX];
static size_t classes_n;
static const char *selectors[SELECTORS_MAX];
static size_t selectors_n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int live;
static id gone;
static char broken[200];

API void *objc_getClass(const char *name);
API SEL sel_registerName(const char *name);
API void *objc_autoreleasePoolPush(void);
API void objc_autoreleasePoolPop(void *pool);
void (*fake_lookup(id self, SEL sel))(void);

/* ---- queries of tests ---- */

int fake_metal_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_ACQUIRE);
}

const char *fake_metal_broken(void)
{
    return broken;
}

void fake_metal_reset(void)
{
    broken[0] = 0;
}

bool fake_asked(const char *word)
{
    const char *words = getenv("FAKE_METAL");
    const size_t n = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == 0 || at[n] == ' '))
            return true;
    return false;
}

void fake_broke(const char *what, const char *name)
{
    pthread_mutex_lock(&lock);
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s: %s", name, what);
    pthread_mutex_unlock(&lock);
}

/* ---- objects ---- */

void fake_methods(const struct fake_method *table)
{
    if (tables_n == TABLES_MAX)
        abort();
    tables[tables_n++] = table;
}

void fake_classes(struct fake_class *const *list)
{
    for (; *list; list++) {
        if (classes_n == CLASSES_MAX)
            abort();
        (*list)->object = (struct fake_object){.magic = MAGIC, .references = 1};
        classes[classes_n++] = *list;
    }
}

id fake_new(const struct fake_class *of)
{
    id o = calloc(1, of->size);
    if (!o)
        abort();
    *o = (struct fake_object){.isa = of, .magic = MAGIC, .references = 1};
    __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return o;
}

id fake_retain(id object)
{
    if (object)
        __atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
    return object;
}

/* The object's memory stays, so that a late message is detected. */
void fake_drop(id object)
{
    if (object && object->magic != MAGIC)
        fake_broke("released once too often", object->isa->name);
    if (!object || object->magic != MAGIC || __atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (object->isa->dealloc)
        object->isa->dealloc(object);
    object->magic = DEAD;
    pthread_mutex_lock(&lock);
    object->gone = gone;
    gone = object;
    pthread_mutex_unlock(&lock);
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELEASE);
}

/* ---- autorelease pools: one stack per thread ---- */

static __thread id pooled[POOLED_MAX];
static __thread size_t pooled_n;

id fake_autorelease(id object)
{
    bool inside = false;
    for (size_t i = 0; i < pooled_n; i++)
        inside = inside || !pooled[i];
    if (!inside || pooled_n == POOLED_MAX) {
        fake_broke(inside ? "too many objects in the pool" : "autoreleased without a pool", object->isa->name);
        return object;
    }
    return pooled[pooled_n++] = object;
}

/* A mark of NULL begins a pool. */
void *objc_autoreleasePoolPush(void)
{
    if (pooled_n == POOLED_MAX)
        abort();
    pooled[pooled_n++] = NULL;
    return &pooled[pooled_n - 1];
}

void objc_autoreleasePoolPop(void *pool)
{
    id *mark = pool;
    if (mark < pooled || mark >= pooled + pooled_n || *mark) {
        fake_broke("popped but not pushed", "pool");
        return;
    }
    while (&pooled[--pooled_n] != mark) {
        if (!pooled[pooled_n])
            fake_broke("popped while an inner one is open", "pool");
        fake_drop(pooled[pooled_n]);
    }
}

/* ---- messages ---- */

void *objc_getClass(const char *name)
{
    for (size_t i = 0; i < classes_n; i++)
        if (strcmp(classes[i]->name, name) == 0)
            return classes[i];
    return NULL;
}

SEL sel_registerName(const char *name)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < selectors_n && strcmp(selectors[i], name) != 0)
        i++;
    if (i == SELECTORS_MAX)
        abort();
    if (i == selectors_n)
        selectors[selectors_n++] = strdup(name);
    pthread_mutex_unlock(&lock);
    return selectors[i];
}

static bool is_registered(SEL sel)
{
    for (size_t i = 0; i < selectors_n; i++)
        if (selectors[i] == sel)
            return true;
    return false;
}

static const struct fake_method *find(id self, SEL sel)
{
    const bool by_class = !self->isa;
    const void *of = by_class ? (const void *)self : (const void *)self->isa;
    for (size_t t = 0; t < tables_n; t++)
        for (const struct fake_method *m = tables[t]; m->name; m++)
            if (m->by_class == by_class && (!m->of || (const void *)m->of == of) && strcmp(m->name, sel) == 0)
                return m;
    return NULL;
}

/* 0 in the integer and float registers. */
struct nothing {
    long whole;
    double real;
};
static struct nothing to_nil(void)
{
    return (struct nothing){0, 0};
}

__attribute__((used)) void (*fake_lookup(id self, SEL sel))(void)
{
    if (!self)
        return (void (*)(void))to_nil;
    if (self->magic != MAGIC) {
        fake_broke("a message to an object that is gone", is_registered(sel) ? sel : "?");
        return (void (*)(void))to_nil;
    }
    const struct fake_method *m = is_registered(sel) ? find(self, sel) : NULL;
    if (m)
        return m->function;
    fprintf(stderr, "-[%s %s]: unrecognized selector\n",
            self->isa ? self->isa->name : ((struct fake_class *)self)->name, sel);
    abort();
}

/* Integer and float arguments are saved during method look-up; structs passed by value lie on the sender's stack, where
 * the method finds them. */
#if defined __x86_64__
#define SEND(name, self, sel)                                                                                          \
    __asm__(".text\n.globl " name "\n.type " name ",@function\n" name ":\n"                                            \
            "push %rbp\n mov %rsp,%rbp\n sub $192,%rsp\n"                                                              \
            "mov %rdi,0(%rsp)\n mov %rsi,8(%rsp)\n mov %rdx,16(%rsp)\n mov %rcx,24(%rsp)\n"                            \
            "mov %r8,32(%rsp)\n mov %r9,40(%rsp)\n mov %rax,48(%rsp)\n"                                                \
            "movups %xmm0,64(%rsp)\n movups %xmm1,80(%rsp)\n movups %xmm2,96(%rsp)\n movups %xmm3,112(%rsp)\n"         \
            "movups %xmm4,128(%rsp)\n movups %xmm5,144(%rsp)\n movups %xmm6,160(%rsp)\n movups %xmm7,176(%rsp)\n"      \
            "mov " self "(%rsp),%rdi\n mov " sel "(%rsp),%rsi\n call fake_lookup\n mov %rax,%r11\n"                    \
            "mov 0(%rsp),%rdi\n mov 8(%rsp),%rsi\n mov 16(%rsp),%rdx\n mov 24(%rsp),%rcx\n"                            \
            "mov 32(%rsp),%r8\n mov 40(%rsp),%r9\n mov 48(%rsp),%rax\n"                                                \
            "movups 64(%rsp),%xmm0\n movups 80(%rsp),%xmm1\n movups 96(%rsp),%xmm2\n movups 112(%rsp),%xmm3\n"         \
            "movups 128(%rsp),%xmm4\n movups 144(%rsp),%xmm5\n movups 160(%rsp),%xmm6\n movups 176(%rsp),%xmm7\n"      \
            "leave\n jmp *%r11\n .size " name ",.-" name "\n")
SEND("objc_msgSend", "0", "8");
SEND("objc_msgSend_stret", "8", "16"); /* the address for the result comes before the object */
#elif defined __aarch64__
__asm__(".text\n.globl objc_msgSend\n.type objc_msgSend,%function\nobjc_msgSend:\n"
        "stp x29,x30,[sp,#-208]!\n stp x0,x1,[sp,#16]\n stp x2,x3,[sp,#32]\n stp x4,x5,[sp,#48]\n stp x6,x7,[sp,#64]\n"
        "str x8,[sp,#80]\n stp d0,d1,[sp,#96]\n stp d2,d3,[sp,#112]\n stp d4,d5,[sp,#128]\n stp d6,d7,[sp,#144]\n"
        "bl fake_lookup\n mov x16,x0\n"
        "ldp x0,x1,[sp,#16]\n ldp x2,x3,[sp,#32]\n ldp x4,x5,[sp,#48]\n ldp x6,x7,[sp,#64]\n ldr x8,[sp,#80]\n"
        "ldp d0,d1,[sp,#96]\n ldp d2,d3,[sp,#112]\n ldp d4,d5,[sp,#128]\n ldp d6,d7,[sp,#144]\n"
        "ldp x29,x30,[sp],#208\n br x16\n .size objc_msgSend,.-objc_msgSend\n");
#endif
