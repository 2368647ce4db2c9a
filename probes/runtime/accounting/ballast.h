/* Pages that were freed lately lie in lists of each CPU, where they are no longer in use and do not count as free yet:
 * who takes memory then takes those first, and no counter of the system moves. So those lists are emptied before. */
#ifndef PROBES_ACCOUNTING_BALLAST_H
#define PROBES_ACCOUNTING_BALLAST_H

#include "lib/pages/pages.h"

struct ballast {
    struct as_pages cpus;
    struct as_memory memory[2]; /* plain memory of this process: of base pages, and of huge ones */
    uint64_t used[2];           /* bytes of it that were touched */
};
/* most: bytes; threads: of the CPU, on whose lists the block could come from. What is left in b after a failure is the
 * caller's too. */
enum as_status ballast_prepare(struct ballast *b, struct as_device *dev, unsigned threads, uint64_t most,
                               struct as_error *err);
/* Touches more of it on each of these CPUs until what the system has free falls by as much; huge: huge pages too, which
 * have lists of their own. AS_UNSUPPORTED when all of it is used. */
enum as_status ballast_take(struct ballast *b, bool huge, struct as_error *err);
void ballast_finish(struct ballast *b); /* takes one of zeros */

#endif
