/* Recently freed pages lie in per-CPU lists, neither in use nor counted as free. Allocations take them first without
 * moving any system counter, so ballast empties the lists before a measurement. */
#ifndef PROBES_ACCOUNTING_BALLAST_H
#define PROBES_ACCOUNTING_BALLAST_H

#include "lib/pages/pages.h"

struct ballast {
    struct as_pages cpus;
    struct as_memory memory[2]; /* process memory in base pages, and in huge pages */
    uint64_t used[2];           /* touched bytes */
};
/* most: in bytes; threads: CPU threads whose lists the block may come from. After a failure the caller still finishes
 * b. */
enum as_status as_accounting_ballast_prepare(struct ballast *b, struct as_device *dev, unsigned threads, uint64_t most,
                                             struct as_error *err);
/* Touches more ballast on each of these CPUs until the system's free memory falls by the same amount; huge: also huge
 * pages, which have their own lists. AS_UNSUPPORTED when all ballast is used. */
enum as_status as_accounting_ballast_take(struct ballast *b, bool huge, struct as_error *err);
void as_accounting_ballast_finish(struct ballast *b); /* accepts a zeroed one */

#endif
