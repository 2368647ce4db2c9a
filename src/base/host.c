#include "base/host.h"

#include <unistd.h>

static cpu_set_t kept;
static bool is_kept;

bool as_usable_cpus(cpu_set_t *out)
{
    if (is_kept)
        *out = kept;
    return is_kept || sched_getaffinity(0, sizeof *out, out) == 0;
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
