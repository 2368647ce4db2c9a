/* A kernel with larger pages, as tests see it: LD_PRELOAD it, and ASSAY_TEST_PAGE is the page size, a multiple of the
 * real one. Addresses that are no multiple of it are refused, lengths are rounded up to it, and new mappings begin at
 * one. */
#undef _FILE_OFFSET_BITS /* with it mmap is another name of mmap64 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static size_t page;

static void *next_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

/* ISO C has no conversion from void * to a function's address. */
#define NEXT(name, type, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real) {                                                                                                       \
        void *found = next_function(name);                                                                             \
        memcpy(&real, &found, sizeof real);                                                                            \
    }

static long real_page(void)
{
    NEXT("sysconf", long, int)
    return real(_SC_PAGESIZE);
}

static size_t page_size(void)
{
    if (!page) {
        const char *given = getenv("ASSAY_TEST_PAGE");
        const unsigned long long bytes = given ? strtoull(given, NULL, 10) : 0;
        const size_t least = (size_t)real_page();
        if (least == 0 || bytes < least || bytes % least || (bytes & (bytes - 1)))
            abort();
        page = (size_t)bytes;
    }
    return page;
}

static size_t rounded(size_t bytes)
{
    return bytes > SIZE_MAX - page_size() ? bytes : (bytes + page_size() - 1) / page_size() * page_size();
}

static int is_refused(const void *at)
{
    if ((uintptr_t)at % page_size() == 0)
        return 0;
    errno = EINVAL;
    return 1;
}

API long sysconf(int name)
{
    NEXT("sysconf", long, int)
    return name == _SC_PAGESIZE ? (long)page_size() : real(name);
}

API int getpagesize(void)
{
    return (int)page_size();
}

API unsigned long getauxval(unsigned long type)
{
    NEXT("getauxval", unsigned long, unsigned long)
    return type == AT_PAGESZ ? page_size() : real(type);
}

API int munmap(void *at, size_t bytes)
{
    NEXT("munmap", int, void *, size_t)
    return is_refused(at) ? -1 : real(at, rounded(bytes));
}

/* Where the kernel chooses: a larger range, whose ends are given back. */
API void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    NEXT("mmap64", void *, void *, size_t, int, int, int, off_t)
    static int (*unmap)(void *, size_t);
    void *found = next_function("munmap");
    memcpy(&unmap, &found, sizeof unmap);
    if (offset % (off_t)page_size()) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    const int is_fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (is_fixed && is_refused(at))
        return MAP_FAILED;
    const size_t whole = rounded(bytes);
    if (is_fixed || flags & MAP_HUGETLB || bytes == 0 || whole > SIZE_MAX - page_size())
        return real(at, bytes, protection, flags, file, offset);
    char *range = real(NULL, whole + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return MAP_FAILED;
    char *begin = range + (page_size() - (uintptr_t)range % page_size()) % page_size();
    char *end = range + whole + page_size();
    if (begin > range)
        unmap(range, (size_t)(begin - range));
    if (end > begin + whole)
        unmap(begin + whole, (size_t)(end - begin) - whole);
    void *mapped = real(begin, whole, protection, flags | MAP_FIXED, file, offset);
    if (mapped == MAP_FAILED) {
        const int why = errno;
        unmap(begin, whole);
        errno = why;
    }
    return mapped;
}

API void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return mmap64(at, bytes, protection, flags, file, offset);
}

API int mprotect(void *at, size_t bytes, int protection)
{
    NEXT("mprotect", int, void *, size_t, int)
    return is_refused(at) ? -1 : real(at, rounded(bytes), protection);
}

API int madvise(void *at, size_t bytes, int advice)
{
    NEXT("madvise", int, void *, size_t, int)
    return is_refused(at) ? -1 : real(at, rounded(bytes), advice);
}

/* A page is there when one of those that it is made of is. */
API int mincore(void *at, size_t bytes, unsigned char *resident)
{
    NEXT("mincore", int, void *, size_t, unsigned char *)
    const size_t each = page_size() / (size_t)real_page(), pages = rounded(bytes) / page_size();
    unsigned char *parts = is_refused(at) ? NULL : malloc(pages * each + 1);
    const int failed = parts ? real(at, rounded(bytes), parts) : -1;
    for (size_t i = 0; !failed && i < pages * each; i++)
        resident[i / each] = (i % each ? resident[i / each] : 0) | (parts[i] & 1);
    free(parts);
    return failed;
}
