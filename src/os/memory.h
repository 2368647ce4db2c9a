/* How the system backs memory. */
#ifndef AS_OS_MEMORY_H
#define AS_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_page_advice { AS_PAGES_SMALL, AS_PAGES_HUGE };
/* 0, or -1 with errno if the system lacks or refuses the advice. */
int as_advise_pages(void *at, size_t bytes, enum as_page_advice advice);
/* Drops the physical pages of whole pages, so that the next touch faults and finds zeros. */
void as_drop_pages(void *at, size_t bytes);
/* Returns what the C library keeps of freed memory to the system, where the library can. */
void as_return_freed(void);
/* Backs these whole pages at once: 0, or -1 with errno (EINVAL if the system cannot). */
int as_back_pages(void *at, size_t bytes);
/* Anonymous memory; NULL with errno. */
void *as_map_reserve(size_t bytes);  /* without access */
void *as_map_huge(size_t bytes);     /* in huge pages, from the reserved pool if there is one */
const char *as_map_huge_limit(void); /* NULL if the system may have huge pages, else why it has none */
uint64_t as_map_huge_page(void);     /* bytes of such a page if no pool is needed, else 0 */
uint64_t as_transparent_page(void);  /* bytes of a transparent huge page; 0 none or unknown */
/* Whether transparent huge pages are allowed in this process (PR_SET_THP_DISABLE may be inherited). */
enum as_transparent { AS_TRANSPARENT_YES, AS_TRANSPARENT_IF_ADVISED, AS_TRANSPARENT_NO };
enum as_transparent as_transparent_allowed(void);
#define AS_NO_TRANSPARENT "this process gets no transparent huge pages (PR_SET_THP_DISABLE, inherited from its parent)"
/* Heap memory for internal use, on huge pages if granted, to save TLB misses. Freed by
 * free(); NULL with errno. */
void *as_take_large(size_t bytes);
/* Node of the page at an address; -1 unknown. */
int as_node_of(const void *address);
/* Node numbers are the system's, with gaps. */
enum { AS_NODES_MAX = 1024 };
/* Allocates new memory of the calling thread only from this node, or from any (-1). 0, or -1 with errno. */
int as_take_memory_of(int node);
/* Has someone chosen nodes for new memory of the calling thread, by as_take_memory_of or for the whole process? */
bool as_memory_has_place(void);
/* Binds this mapping to the node, or to none (-1). 0, or -1 with errno. */
int as_bind_memory(void *at, size_t bytes, int node);

#endif
