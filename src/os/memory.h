/* How the system backs memory. */
#ifndef AS_OS_MEMORY_H
#define AS_OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_page_advice { AS_PAGES_SMALL, AS_PAGES_HUGE };
/* 0, else -1 with errno: the system has no such advice, or refuses it. */
int as_advise_pages(void *at, size_t bytes, enum as_page_advice advice);
/* Whole pages: drops what backs them, so that the next touch faults and finds zeros. */
void as_drop_pages(void *at, size_t bytes);
/* Backs all of these whole pages at once: 0, else -1 with errno, EINVAL where the system cannot. */
int as_back_pages(void *at, size_t bytes);
/* Anonymous memory; NULL with errno. */
void *as_map_reserve(size_t bytes);  /* without access */
void *as_map_huge(size_t bytes);     /* in huge pages, of a reserved pool where the system has one */
const char *as_map_huge_limit(void); /* NULL where the system may have huge pages, else why it has none */
uint64_t as_map_huge_page(void);     /* bytes of a page of the latter where they need no pool, else 0 */
uint64_t as_transparent_page(void);  /* bytes of a transparent huge page; 0 none, or unknown */
/* Does this process, by itself or by inheritance, go without transparent huge pages? */
enum as_transparent { AS_TRANSPARENT_YES, AS_TRANSPARENT_IF_ADVISED, AS_TRANSPARENT_NO };
enum as_transparent as_transparent_allowed(void);
#define AS_NO_TRANSPARENT "this process gets no transparent huge pages (PR_SET_THP_DISABLE, inherited from its parent)"
/* Heap memory for the process's own use on huge pages where the system grants them, which saves TLB misses. Freed by
 * free(); NULL with errno. */
void *as_take_large(size_t bytes);
/* Node of the page of an address; -1 unknown. */
int as_node_of(const void *address);
/* Nodes are numbered as the system does, with gaps. */
enum { AS_NODES_MAX = 1024 };
/* New memory of the calling thread only from this node, or from any again (-1): 0, else -1 with errno. */
int as_take_memory_of(int node);
/* Pages of this mapping only from this node: 0, else -1 with errno. */
int as_bind_memory(void *at, size_t bytes, int node);

#endif
