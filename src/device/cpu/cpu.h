/* Internal header of the CPU backend. */
#ifndef AS_DEVICE_CPU_CPU_H
#define AS_DEVICE_CPU_CPU_H

#include "device/cpu/machine.h"
#include "device/cpu/team.h"
#include "device/host_limits.h"
#include "device/native_program.h"

/* CPU allocators. */
enum as_cpu_allocator { AS_CPU_MALLOC, AS_CPU_MMAP, AS_CPU_THP, AS_CPU_HUGETLB, AS_CPU_ALLOCATORS_N };
struct as_cpu_block {
    void *address;
    uint64_t bytes;  /* usable, at least those requested */
    void *mapping;   /* including guard pages; NULL for the C library's heap */
    uint64_t mapped; /* bytes of mapping */
    enum as_cpu_allocator allocator;
    int node;
};
struct as_cpu_pages {
    uint64_t base, huge; /* bytes of a page; huge 0: none */
    uint64_t hugetlb;    /* bytes of a page of the reserved pool; 0: none */
    bool thp_always;     /* ordinary memory may get huge pages too */
    bool thp_never;
    bool thp_denied; /* to this process only */
};
void as_cpu_pages_read(struct as_cpu_pages *out);
void as_cpu_list_allocators(const struct as_cpu_pages *pages, struct as_device_info *info);
bool as_cpu_allocator_find(const char *name, enum as_cpu_allocator *out); /* false if there is none of this name */
/* Bytes that a block of this allocator occupies. 0: overflow. */
uint64_t as_cpu_block_size(const struct as_cpu_pages *pages, enum as_cpu_allocator allocator, uint64_t bytes);
enum as_status as_cpu_block_get(const struct as_cpu_pages *pages, enum as_cpu_allocator allocator, uint64_t bytes,
                                int node, struct as_cpu_block *out, struct as_error *err);
void as_cpu_block_release(struct as_cpu_block *block);
/* Drops the block's physical pages, so that its next touch faults. */
void as_cpu_block_forget(const struct as_cpu_pages *pages, struct as_cpu_block *block);
/* Backs every page. False: not enough memory. */
bool as_cpu_block_back(const struct as_cpu_pages *pages, struct as_cpu_block *block);
/* Current page size of the block; 0: unknown, nothing has been touched yet. A mixture counts as base pages. */
uint64_t as_cpu_block_page_size(const struct as_cpu_pages *pages, const struct as_cpu_block *block);

/* Blocks kept for the next trial. If there are too many, the oldest is freed first. */
enum { AS_CPU_POOL_MAX = 64 };
struct as_cpu_pool {
    struct as_cpu_block blocks[AS_CPU_POOL_MAX]; /* oldest first */
    size_t n;
    uint64_t bytes;
};
void as_cpu_pool_put(struct as_cpu_pool *pool, const struct as_cpu_block *block, uint64_t most);
bool as_cpu_pool_take(struct as_cpu_pool *pool, enum as_cpu_allocator allocator, uint64_t bytes, int node,
                      struct as_cpu_block *out);
void as_cpu_pool_trim(struct as_cpu_pool *pool, uint64_t most);

struct as_cpu_device {
    struct as_cpu_machine *machine;
    int *order; /* the CPUs that this process may use: see as_cpu_machine_order */
    size_t order_n;
    struct as_host_groups *groups;
    struct as_cpu_pages pages;
    struct as_cpu_pool pool;
    uint64_t held;           /* bytes allocated and kept, without the huge-page pool */
    uint64_t resident_start; /* of the process before the first block */
    struct as_team *team;
    int *clock_cpus; /* CPUs of the last launch, on which the clock is read */
    size_t clock_cpus_n, clock_cpus_cap;
    uint64_t ticks_start, ns_start; /* for the rate of the tick counter */
};

enum as_status as_cpu_fill_info(struct as_device *dev, struct as_error *err);
void as_cpu_clock_start(struct as_cpu_device *cpu);
enum as_status as_cpu_clock(struct as_device *dev, double *hz, struct as_error *err);
enum as_status as_cpu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
void *as_cpu_memory_address(struct as_memory *mem);
/* Sets mem->page_size to the block's current page size. */
void as_cpu_memory_look(struct as_cpu_device *cpu, struct as_memory *mem);
void as_cpu_memory_close(struct as_cpu_device *cpu);

extern const struct as_memory_ops as_cpu_memory_ops;
extern const struct as_queue_ops as_cpu_queue_ops;
extern const struct as_vendor_gemm_ops as_cpu_gemm_ops;

static inline struct as_cpu_device *as_cpu(struct as_device *dev)
{
    return dev->ctx;
}

#endif
