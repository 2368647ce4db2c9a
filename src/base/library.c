#include "base/library.h"

#include "base/text.h"

#include <dlfcn.h>
#include <string.h>

void *as_library_open(const char *const *names, size_t n, const char **found, char *why, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        const char *words = library || i ? NULL : dlerror();
        *found = names[i];
        if (words)
            as_copy_text(why, size, words);
        if (library)
            return library;
    }
    return NULL;
}

void as_library_function(void *library, const char *name, void *function, const char **missing)
{
    void *symbol = dlsym(library, name);
    /* POSIX allows an object pointer to hold a function's address; ISO C requires a copy through memory. */
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol && missing && !*missing)
        *missing = name;
}
