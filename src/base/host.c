#include "base/host.h"

#include <unistd.h>

static struct as_cpus kept;
static bool is_kept;

bool as_usable_cpus(struct as_cpus *out)
{
    if (is_kept)
        *out = kept;
    return is_kept || as_thread_cpus(out);
}

void as_usable_cpus_keep(void)
{
    is_kept = as_usable_cpus(&kept);
}

void as_usable_cpus_forget(void)
{
    is_kept = false;
}

uint64_t as_host_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uint64_t)page : 4096;
}
