/* Memory of the stand-in: every block knows its kind. It does not use malloc, which fills its blocks in tests
 * (MALLOC_PERTURB_): touching 2 MiB costs more than a test does. */
#include "inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static hipError_t add(void **at, size_t size, enum kind kind, unsigned flags)
{
    struct block *b = fake_asked("nomem") ? NULL : calloc(1, sizeof *b);
    if (fake_is_lost() || !b) {
        free(b);
        return fake_is_lost() ? hipErrorIllegalAddress : hipErrorOutOfMemory;
    }
    *b = (struct block){.at = *at, .size = size, .kind = kind, .flags = flags};
    if (kind != REGISTERED)
        b->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->at == MAP_FAILED) {
        free(b);
        return hipErrorOutOfMemory;
    }
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
    fake_count(1);
    *at = b->at;
    return hipSuccess;
}

static hipError_t drop(void *at, const char *what, unsigned kinds)
{
    hipError_t code = hipErrorInvalidValue;
    pthread_mutex_lock(&lock);
    for (struct block **link = &blocks; *link; link = &(*link)->next) {
        struct block *b = *link;
        if (b->at != at || !(kinds & 1u << b->kind))
            continue;
        *link = b->next;
        if (b->kind != REGISTERED)
            munmap(b->at, b->size);
        free(b);
        fake_count(-1);
        code = hipSuccess;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code ? fake_broke(what, code) : fake_is_lost() ? hipErrorIllegalAddress : hipSuccess;
}

const struct block *fake_find(const void *at, size_t size)
{
    const char *from = at;
    pthread_mutex_lock(&lock);
    const struct block *b = blocks;
    while (b && !(from >= b->at && size <= b->size && (size_t)(from - b->at) <= b->size - size))
        b = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

API hipError_t hipMalloc(void **address, size_t bytes)
{
    CAN_FAIL();
    return add(address, bytes, DEVICE_MEMORY, 0);
}

API hipError_t hipExtMallocWithFlags(void **address, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipDeviceMallocFinegrained)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(address, bytes, DEVICE_MEMORY, flags);
}

API hipError_t hipMallocManaged(void **address, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipMemAttachGlobal || bytes > (size_t)1 << 30)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(address, bytes, MANAGED, 0);
}

API hipError_t hipFree(void *address)
{
    return drop(address, __func__, 1u << DEVICE_MEMORY | 1u << MANAGED);
}

API hipError_t hipHostMalloc(void **host, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    unsigned coherence = flags & (hipHostMallocCoherent | hipHostMallocNonCoherent);
    *host = NULL;
    if ((flags & ~coherence) != hipHostMallocMapped || coherence == (hipHostMallocCoherent | hipHostMallocNonCoherent))
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(host, bytes, PINNED, flags);
}

API hipError_t hipHostFree(void *host)
{
    return drop(host, __func__, 1u << PINNED);
}

API hipError_t hipHostRegister(void *host, size_t bytes, unsigned int flags)
{
    CAN_FAIL();
    if (flags != hipHostRegisterMapped || (uintptr_t)host % 4096 || bytes % 4096)
        return fake_broke(__func__, hipErrorInvalidValue);
    return add(&host, bytes, REGISTERED, flags);
}

API hipError_t hipHostUnregister(void *host)
{
    return drop(host, __func__, 1u << REGISTERED);
}

API hipError_t hipHostGetDevicePointer(void **address, void *host, unsigned int flags)
{
    CAN_FAIL();
    const struct block *b = fake_find(host, 1);
    *address = host;
    return !flags && b && (b->kind == PINNED || b->kind == REGISTERED) ? hipSuccess
                                                                       : fake_broke(__func__, hipErrorInvalidValue);
}
