/* Memory of the process that no allocator of a device gives: the stack's, and a file's. */
#ifndef PROBES_ACCOUNTING_OWN_H
#define PROBES_ACCOUNTING_OWN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char *const as_accounting_own_words[]; /* words of the axis; ends with NULL */
enum own { OWN_NONE, OWN_ALLOCA, OWN_FILE };
enum own as_accounting_own(const char *allocator);

/* At most half of the stack that this process may have; 0 if that is not known. */
uint64_t as_accounting_stack_most(void);
/* Calls steps with so many bytes of the calling thread's stack. Its whole pages are dropped first, so that they fault
 * again. */
enum as_status as_accounting_on_stack(size_t bytes, enum as_status (*steps)(void *user, void *at, struct as_error *err),
                                      void *user, struct as_error *err);
/* A new file, already without a name, mapped and shared; as_accounting_file_release unmaps it. */
enum as_status as_accounting_file_get(size_t bytes, void **out, struct as_error *err);
void as_accounting_file_release(void *at, size_t bytes); /* accepts NULL */

#endif
