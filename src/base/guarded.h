/* Access to memory that may have no page, or none of this process, where a plain load or store would end it. */
#ifndef AS_BASE_GUARDED_H
#define AS_BASE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

enum { AS_GUARDED_MAX = 4096 }; /* bytes of one access */
/* False: no access, or more bytes than that. */
bool as_read_guarded(const void *at, void *to, size_t bytes);
bool as_write_guarded(void *at, const void *from, size_t bytes);

#endif
