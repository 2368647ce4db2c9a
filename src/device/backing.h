/* By which pages the system backs memory of this process. */
#ifndef AS_DEVICE_BACKING_H
#define AS_DEVICE_BACKING_H

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
/* The memory node of these CPUs (as_device_info.near_cpus) for pages that a CPU touches first; -1 where it is unknown,
 * the only one, or nodes are chosen for the calling thread. */
int as_backing_near_node(const char *near_cpus);
/* Drops the pages of a block of the heap, in whole pages: they may be those of an earlier block. */
void as_backing_drop_pages(void *at, uint64_t bytes);
/* New pages come from this node, whoever touches them first; -1: from the node of the first touch. Existing pages
 * stay. */
void as_backing_want_node(void *at, uint64_t bytes, int node);

#endif
