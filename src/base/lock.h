/* A lock on one byte of a file. It belongs to the open file description: the kernel releases it when the process ends,
 * and it applies to every process that opens the file, even from another container or over NFS. */
#ifndef AS_BASE_LOCK_H
#define AS_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* 0: locked; EAGAIN: held through another open file description; else the errno of the failure.
 * The byte may lie beyond the end of the file. fd must be open for writing. */
int as_lock_byte(int fd, int64_t at);
void as_unlock_byte(int fd, int64_t at);
/* Is the byte locked through another open file description? False where that cannot be found out. */
bool as_byte_is_locked(int fd, int64_t at);

#endif
