#include "base/host.h"

#include <unistd.h>

uint64_t as_host_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uint64_t)page : 4096;
}
