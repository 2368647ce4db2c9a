/* Libraries loaded at run time. They are never unloaded, since many leave threads and exit handlers that would
 * run in unmapped code. */
#ifndef AS_BASE_LIBRARY_H
#define AS_BASE_LIBRARY_H

#include <stddef.h>

/* Loads the first of n names that the dynamic linker finds, and sets *found (may be NULL) to it. NULL if there is
 * none; then `why` has the linker's message for the first name, the one to install. */
void *as_library_open(const char *const *names, size_t n, const char **found, char *why, size_t size);
/* The same for a library whose plug-ins take its symbols from the process. */
void *as_library_open_global(const char *const *names, size_t n, const char **found, char *why, size_t size);
/* Stores the address of the library's function in `function`, which points to a function pointer. If it is missing,
 * stores NULL and sets *missing to its name unless already set (missing NULL: the function is optional). */
void as_library_function(void *library, const char *name, void *function, const char **missing);

#endif
