/* The processes of a program. */
#ifndef AS_CLI_MEMORY_PROCESSES_H
#define AS_CLI_MEMORY_PROCESSES_H

#include "base/error.h"

#include <stddef.h>

/* A process and its descendants. A process whose parent has ended is not found any more. root: prefix of /proc. *list
 * is the caller's (free). */
enum as_status as_memory_processes(const char *root, long program, long **list, size_t *n, struct as_error *err);

#endif
