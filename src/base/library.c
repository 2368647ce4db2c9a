#include "base/library.h"

#include "base/text.h"

#include <dlfcn.h>
#include <string.h>

static void *library_open(const char *const *names, size_t n, int scope, const char **found, char *why, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        void *library = dlopen(names[i], RTLD_NOW | scope);
        const char *words = library || i ? NULL : dlerror();
        if (found)
            *found = names[i];
        if (words)
            as_copy_text(why, size, words);
        if (library)
            return library;
    }
    return NULL;
}

void *as_library_open(const char *const *names, size_t n, const char **found, char *why, size_t size)
{
    return library_open(names, n, RTLD_LOCAL, found, why, size);
}

void *as_library_open_global(const char *const *names, size_t n, const char **found, char *why, size_t size)
{
    return library_open(names, n, RTLD_GLOBAL, found, why, size);
}

void as_library_function(void *library, const char *name, void *function, const char **missing)
{
    void *symbol = dlsym(library, name);
    /* POSIX allows an object pointer to hold a function's address; ISO C requires a copy through memory. */
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol && missing && !*missing)
        *missing = name;
}
