/* By which pages the system backs memory of this process. */
#ifndef AS_DEVICE_BACKING_H
#define AS_DEVICE_BACKING_H

#include "base/error.h"

#include <stdint.h>

/* Bytes of the pages behind a range. A mixture counts as base pages. 0: nothing has been touched yet, or unknown. */
uint64_t as_backing_page(const void *at, uint64_t bytes);
/* Asks for base pages in the whole pages of a range before their first touch, whatever the system's policy. A system
 * without huge pages refuses, and needs no advice. */
void as_backing_want_base_pages(void *at, uint64_t bytes);
/* Bytes of the transparent huge pages that this process may have; 0: none. */
uint64_t as_backing_huge_page(void);
/* Asks for them in a range before its first touch. */
void as_backing_want_huge_pages(void *at, uint64_t bytes);
/* Bytes of a page of the reserved pool (hugetlb); 0: the system has none. */
uint64_t as_backing_pool_page(void);
/* Bytes that the pool can still give, with those that the kernel may add on demand; UINT64_MAX: these pages need no
 * pool. */
uint64_t as_backing_pool_free(void);
/* Why this process gets no page of the pool; NULL: it gets some. */
const char *as_backing_pool_limit(void);
/* AS_UNSUPPORTED if the pool has fewer bytes free on that node: a first touch that is bound to it would kill the
 * process. */
enum as_status as_backing_pool_check(int node, uint64_t bytes, struct as_error *err);
/* Whole pages of the pool, mapped but not touched; NULL with errno. */
void *as_backing_pool_map(uint64_t bytes);
void as_backing_pool_unmap(void *at, uint64_t bytes);
/* The memory node of these CPUs (as_device_info.near_cpus) for pages that a CPU touches first; -1 where it is unknown,
 * the only one, or nodes are chosen for the calling thread. */
int as_backing_near_node(const char *near_cpus);
/* Drops the pages of a block of the heap, in whole pages: they may be those of an earlier block. */
void as_backing_drop_pages(void *at, uint64_t bytes);
/* New pages come from this node, whoever touches them first; -1: from the node of the first touch. Existing pages
 * stay. */
void as_backing_want_node(void *at, uint64_t bytes, int node);

#endif
