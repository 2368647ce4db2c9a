/* The roles of the allocators of the CPU. */
#include "device/cpu/roles.h"

const struct as_role_name as_cpu_roles[] = {
    {AS_ROLE_PAGEABLE, "malloc"}, {AS_ROLE_BASE_PAGES, "mmap"},
    {AS_ROLE_HUGE_PAGES, "thp"},  {AS_ROLE_RESERVED_HUGE_PAGES, "hugetlb"},
    {AS_ROLE_UNKNOWN, NULL},
};
