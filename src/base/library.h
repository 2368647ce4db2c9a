/* Libraries that are found at run time. They are never unloaded: many leave threads and exit handlers behind that would
 * run in unmapped code. */
#ifndef AS_BASE_LIBRARY_H
#define AS_BASE_LIBRARY_H

#include <stddef.h>

/* The first of n names under which the dynamic linker finds a library, *found says which; NULL when there is none, and
 * `why` has the linker's message for the first name, the one to install. */
void *as_library_open(const char *const *names, size_t n, const char **found, char *why, size_t size);
/* Puts the address of the library's function into `function`, which points to a pointer to one: NULL where it has none,
 * whose name goes to *missing if that is still NULL (missing may be NULL: it is optional). */
void as_library_function(void *library, const char *name, void *function, const char **missing);

#endif
