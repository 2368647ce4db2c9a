#include "driver_base.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char broken[160], failed[64];
static unsigned long wanted, seen;
static int things;
static struct block *blocks;

/* ---- rules ---- */

bool fake_asked(const char *word)
{
    const char *list = getenv(fake_words);
    return list && strstr(list, word);
}

int fake_broke(const char *what, int code)
{
    pthread_mutex_lock(&lock);
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
    pthread_mutex_unlock(&lock);
    return code;
}

/* Giving back has to work, or the test could not tell what leaks. What asks for attributes has a default. */
static bool can_fail(const char *function)
{
    static const char *const never[] = {"Free",        "Destroy",  "Unload", "Unregister", "Release",   "Query",
                                        "ElapsedTime", "GetError", "Unmap",  "SetCurrent", "SetDevice", "fake_"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(function, never[i]))
            return false;
    return true;
}

bool fake_fails(const char *function)
{
    const char *words = getenv(fake_words), *word = words ? strstr(words, "fail=") : NULL;
    const unsigned long now = word ? strtoul(word + 5, NULL, 10) : 0;
    bool fails = false;
    pthread_mutex_lock(&lock);
    if (now && now != wanted) {
        seen = 0, failed[0] = 0;
        wanted = now;
    }
    if (now && can_fail(function) && ++seen == wanted) {
        snprintf(failed, sizeof failed, "%s", function);
        fails = true;
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

void fake_count(int n)
{
    __atomic_fetch_add(&things, n, __ATOMIC_SEQ_CST);
}

double fake_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int fake_driver_live(void)
{
    return things;
}

const char *fake_driver_broken(void)
{
    return broken;
}

const char *fake_driver_failed(void)
{
    return failed;
}

/* ---- devices ---- */

/* Which of the devices are visible, in which order. */
static int list_visible(int list[DEVICES])
{
    const char *text = getenv(fake_visible);
    int n = 0;
    if (!text)
        text = "0,1,2";
    for (; *text && n < DEVICES; text += *text == ',') {
        char *end;
        long i = strtol(text, &end, 10);
        if (end == text || i < 0 || i >= DEVICES)
            break;
        list[n++] = (int)i;
        text = end;
    }
    return fake_asked("zero") ? 0 : n;
}

int fake_devices(void)
{
    int list[DEVICES];
    return list_visible(list);
}

int fake_real(int device)
{
    int list[DEVICES] = {0}, n = list_visible(list);
    return device >= 0 && device < n ? list[device] : -1;
}

void fake_name(char *name, int size, int real)
{
    static const char *const names[] = {"<script>alert(1)</script>", "\x1B[31mred \xC0\xAF end"};
    if (real == 2)
        memset(name, 'A', (size_t)size);
    else
        snprintf(name, (size_t)size, "%s", names[real]);
}

void fake_bus_id(char *id, int size, int real)
{
    static const char *const ids[] = {"0000:C1:00.0", "no address", "0000:41:1F.7"};
    snprintf(id, (size_t)size, "%s", ids[real]);
}

bool fake_attribute(const struct fake_attribute *table, size_t n, int attribute, int real, int *value)
{
    *value = -7;
    for (size_t i = 0; i < n; i++)
        if (table[i].attribute == attribute) {
            *value = real == 2 ? -table[i].value : table[i].value;
            return true;
        }
    return false;
}

/* ---- memory ---- */

/* Where CPU and device share one memory its blocks are as the driver of an APU makes them: of huge pages, and with the
 * word "planted" also there from the start, up to a size that a host has in no time. */
static void back(const struct block *b)
{
    if ((b->kind != DEVICE_MEMORY && b->kind != PINNED) || !fake_asked("mi300a"))
        return;
    (void)madvise(b->at, b->size, MADV_HUGEPAGE);
    if (fake_asked("planted") && b->size <= (size_t)64 << 20)
        (void)madvise(b->at, b->size, MADV_POPULATE_WRITE);
}

struct block *fake_block(void **at, size_t size, enum kind kind, void *owner, unsigned flags)
{
    struct block *b = fake_asked("nomem") ? NULL : calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct block){.at = *at, .size = size, .kind = kind, .owner = owner, .flags = flags};
    if (kind != REGISTERED)
        b->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->at == MAP_FAILED) {
        free(b);
        return NULL;
    }
    back(b);
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
    fake_count(1);
    *at = b->at;
    return b;
}

struct block *fake_find(const void *at, size_t size)
{
    const char *from = at;
    pthread_mutex_lock(&lock);
    struct block *b = blocks;
    while (b && !(from >= b->at && size <= b->size && (size_t)(from - b->at) <= b->size - size))
        b = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

/* With the lock. */
static void unlink_block(struct block **link)
{
    struct block *b = *link;
    *link = b->next;
    if (b->kind != REGISTERED)
        munmap(b->at, b->size);
    free(b);
}

bool fake_drop(void *at, unsigned kinds, const void *owner)
{
    pthread_mutex_lock(&lock);
    struct block **link = &blocks;
    while (*link && !((*link)->at == at && kinds & 1u << (*link)->kind))
        link = &(*link)->next;
    const bool found = *link && (*link)->owner == owner && !(*link)->mapped;
    if (found) {
        unlink_block(link);
        fake_count(-1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void fake_driver_reset(void)
{
    fake_forget();
    pthread_mutex_lock(&lock);
    while (blocks)
        unlink_block(&blocks);
    pthread_mutex_unlock(&lock);
    things = 0;
    broken[0] = 0;
}
