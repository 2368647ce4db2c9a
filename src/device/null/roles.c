/* The roles of the allocators of scripts that do not say them. */
#include "device/null/null.h"

const struct as_role_name as_null_roles[] = {
    {AS_ROLE_PAGEABLE, "malloc"}, {AS_ROLE_BASE_PAGES, "mmap"},
    {AS_ROLE_HUGE_PAGES, "thp"},  {AS_ROLE_RESERVED_HUGE_PAGES, "hugetlb"},
    {AS_ROLE_DEVICE, "device"},   {AS_ROLE_PINNED, "pinned"},
    {AS_ROLE_MANAGED, "managed"}, {AS_ROLE_UNKNOWN, NULL},
};
