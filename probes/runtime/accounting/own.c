#include "own.h"

#include "base/host.h"
#include "os/memory.h"

#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

const char *const as_accounting_own_words[] = {"alloca", "file", NULL};

enum own as_accounting_own(const char *allocator)
{
    return strcmp(allocator, "alloca") == 0 ? OWN_ALLOCA : strcmp(allocator, "file") == 0 ? OWN_FILE : OWN_NONE;
}

uint64_t as_accounting_stack_most(void)
{
    static const uint64_t most = UINT64_C(64) << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit))
        return 0;
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / 2 > most ? most : (uint64_t)limit.rlim_cur / 2;
}

/* Not inlined: the bytes are freed when it returns. */
__attribute__((noinline)) enum as_status
as_accounting_on_stack(size_t bytes, enum as_status (*steps)(void *user, void *at, struct as_error *err), void *user,
                       struct as_error *err)
{
    const uintptr_t page = as_host_page();
    char *at = alloca(bytes);
    const uintptr_t start = ((uintptr_t)at + page - 1) / page * page, end = ((uintptr_t)at + bytes) / page * page;
    if (end > start) /* an earlier block of the stack lay there */
        as_drop_pages(at + (start - (uintptr_t)at), end - start);
    return steps(user, at, err);
}

enum as_status as_accounting_file_get(size_t bytes, void **out, struct as_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[256];
    *out = NULL;
    snprintf(path, sizeof path, "%.200s/assay-mapped-XXXXXX", folder && folder[0] ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0)
        return as_fail(err, AS_FAILED, "cannot create '%s': %s", path, strerror(errno));
    unlink(path);
    void *at =
        ftruncate(file, (off_t)bytes) ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int why = errno;
    close(file);
    if (at == MAP_FAILED)
        return as_fail(err, AS_FAILED, "a file of %zu bytes cannot be mapped: %s", bytes, strerror(why));
    *out = at;
    return AS_OK;
}

void as_accounting_file_release(void *at, size_t bytes)
{
    if (at)
        munmap(at, bytes);
}
