/* What is known of a device without measuring: plain data, which travels to the parent process and into the store. */
#ifndef AS_DEVICE_INFO_H
#define AS_DEVICE_INFO_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a device or its backend can do; probes name what they need. */
enum as_capability {
    AS_CAP_HOST_KERNELS = 1u << 0, /* runs as_host_kernel functions on pinned threads */
    AS_CAP_SOURCE = 1u << 1,       /* builds kernels from dialect source */
    AS_CAP_PIN = 1u << 2,          /* binds each workgroup to a chosen core */
    AS_CAP_CLOCK = 1u << 3,        /* tells its true clock */
    AS_CAP_FP64 = 1u << 4,
    AS_CAP_FP16 = 1u << 5,
    AS_CAP_SVM_ATOMICS = 1u << 6, /* host and device may use atomics on the same memory at the same time */
    AS_CAP_ASYNC = 1u << 7,       /* asynchronous: submit and wait are separate */
    AS_CAP_EVENTS = 1u << 8,      /* has device time stamps */
    AS_CAP_SIMULATED = 1u << 9,   /* times and code are those of another machine, of which this host's clocks, counters
                                    and   faults say nothing; a launch that ran before may be left out */
    AS_CAP_COPY = 1u << 10,       /* has copy engines */
    AS_CAP_GRAPHS = 1u << 11,     /* launches can be recorded once and submitted as one */
    AS_CAP_CODE = 1u << 12,       /* counts the instructions of its machine code */
    AS_CAP_CYCLES = 1u << 13,     /* kernels have CYCLES() and NANOS() */
    AS_CAP_FREE_COUNT = 1u << 14, /* memory_free is what the driver itself counts */
    AS_CAP_QUEUES = 1u << 15,     /* has further, independent queues */
    AS_CAP_DOT_4X8 = 1u << 16,    /* kernels have DOT_4X8_S8 */
    AS_CAP_PEERS = 1u << 17,      /* memory may be of another device of the backend */
    AS_CAP_BF16 = 1u << 18,       /* kernels have bf16 */
    AS_CAP_MATRIX = 1u << 19,     /* kernels have the language's matrices that a subgroup holds */
    AS_CAP_TENSOR_OPS = 1u << 20, /* kernels have the language's operations on tensors */
    AS_CAP_TENSOR_FP8 = 1u << 21, /* of 8-bit floats, too */
    AS_CAP_TENSOR_FRAGMENTS = 1u << 22, /* with all operands in tensors that lanes hold */
};
const char *as_capability_word(unsigned bit); /* "svm atomics", as stores have it; NULL for an unknown bit */
/* What the bits stand for, for people: "a compiler for kernels, copy engines". */
void as_capability_phrases(unsigned bits, const char *between, struct as_buf *out);
/* Operations that can be counted in machine code (AS_CAP_CODE), whatever a chip calls its instructions: "load.global",
 * "store.global", "load.local", "load.const", "fma.f32", "fma.f64", ... "load.global.128" are those of 128 bits or
 * more, "atomic.generic" those whose address says at run time what memory it is of, "swap.global" those of
 * "atomic.global" that compare and swap, "any" all but those that do nothing. Ends with NULL. */
extern const char *const as_operation_words[];

/* What an allocator is for, the same word for equivalent allocators of different APIs: suites and rules choose by it.
 * Help and words: roles.c. */
enum as_role {
    AS_ROLE_UNKNOWN, /* of no role, or one that this build does not know */
    AS_ROLE_DEVICE,
    AS_ROLE_DEVICE_POOL,
    AS_ROLE_DEVICE_MAPPED,
    AS_ROLE_DEVICE_FINE,
    AS_ROLE_MANAGED,
    AS_ROLE_MANAGED_DEVICE,
    AS_ROLE_MANAGED_HOST,
    AS_ROLE_MANAGED_READ_MOSTLY,
    AS_ROLE_MANAGED_ACCESSED,
    AS_ROLE_MANAGED_PREFETCH,
    AS_ROLE_MANAGED_STATIC,
    AS_ROLE_SHARED_COARSE,
    AS_ROLE_SHARED_FINE,
    AS_ROLE_PINNED,
    AS_ROLE_PINNED_WC,
    AS_ROLE_PINNED_COHERENT,
    AS_ROLE_PINNED_NONCOHERENT,
    AS_ROLE_REGISTERED,
    AS_ROLE_PAGEABLE,
    AS_ROLE_BASE_PAGES,
    AS_ROLE_HUGE_PAGES,
    AS_ROLE_RESERVED_HUGE_PAGES,
    AS_ROLES_N
};
/* The role of an allocator by the API's own name: each backend has one table, which ends with a NULL allocator. */
struct as_role_name {
    enum as_role role;
    const char *allocator;
};
const char *as_role_word(enum as_role role); /* "pinned", as people and suites write it; "" for AS_ROLE_UNKNOWN */
const char *as_role_help(enum as_role role); /* what it is, in one line */
bool as_role_is_pinned(enum as_role role);   /* host memory that is pinned, by the driver itself or on request */
enum as_role as_role_find(const char *word); /* AS_ROLE_UNKNOWN when there is none */
/* Of an allocator in a backend's table (NULL: it has none); AS_ROLE_UNKNOWN when it is not there. */
enum as_role as_role_in(const struct as_role_name *table, const char *allocator);

struct as_allocator {
    char name[40];        /* by the API's own name: "malloc", "clSVMAlloc fine", ... */
    char why_not[160];    /* empty: can be used; else why it cannot on this device */
    bool host_access;     /* the host reads and writes it directly while it is mapped or always */
    bool on_demand;       /* physical memory comes at first touch */
    bool coherent;        /* while a kernel runs, it and the host see what the other stores there atomically */
    char no_sharing[160]; /* empty: the host and a running kernel may use atomics there at once; else why they may not
                           */
    uint64_t most;        /* largest allocation, as seen when the device was opened; 0: as much as is free */
    enum as_role role;    /* what it is for */
    char moves[160];      /* empty: its data stays where it is allocated; else why a kernel may find it elsewhere */
};

struct as_cache {
    unsigned level;  /* 1, 2, 3, ... */
    char kind;       /* 'd' data, 'i' instruction, 'u' unified */
    uint64_t size;   /* bytes of one instance, as the OS or driver says */
    unsigned line;   /* bytes, 0 unknown */
    unsigned ways;   /* 0 unknown, (unsigned)-1 fully associative */
    unsigned shared; /* how many cores (logical CPUs on a CPU) share one instance, 0 unknown */
    /* In front of memory, for all that use this memory; what a device's API does not tell (device/memory_cache.h): */
    bool memory_side;
    char name[24];  /* "Infinity Cache" */
    char source[8]; /* where that is known from: "kfd", "sysfs", "table" */
};

/* What the documents of a device's API call what every device has; each backend's record has one. */
struct as_vocabulary {
    char compute_unit[16];  /* "SM" */
    char workgroup[16];     /* "block" */
    char subgroup[16];      /* "warp" */
    char shared_memory[24]; /* "shared memory" */
    char queue[16];         /* "stream" */
};

enum { AS_CACHES_MAX = 8, AS_ALLOCATORS_MAX = 32 };

/* What is known of a device without measuring. Text fields come from drivers: hostile until escaped. */
struct as_device_info {
    char id[32];      /* "cpu", "opencl:0": what --device takes */
    char backend[16]; /* "cpu", "opencl", "null" */
    char name[128];   /* as the driver says */
    char vendor[64];
    char driver[128];           /* driver, runtime or platform with its version */
    char uuid[48];              /* "" when there is none */
    char bus_id[24];            /* "0000:01:00.0", "" when there is none */
    struct as_vocabulary words; /* read by as_info_words, empty where the backend has none */
    unsigned capabilities;
    unsigned compute_units;          /* cores, compute units, SMs */
    unsigned threads;                /* logical CPUs usable by this process; elsewhere the largest workgroup */
    unsigned warp;                   /* lanes of a warp, wavefront or subgroup; 1 on a CPU */
    unsigned vector_bytes;           /* SIMD width of one thread; 0 for scalar threads */
    unsigned compute_unit_threads;   /* resident threads per compute unit, 0 unknown */
    unsigned compute_unit_registers; /* 32-bit registers per compute unit, 0 unknown */
    uint64_t compute_unit_shared;    /* bytes of shared memory per compute unit, 0 unknown; maximum per workgroup: */
    uint64_t workgroup_shared;
    unsigned unit_fma; /* f32 fused multiply-adds per compute unit and cycle, as published, for clocks by calibration; 0
                          unknown */
    char arch[16];     /* "sm_90"; "" when there is none */
    char dialect[16];  /* of its kernels (as_dialect_word): "cuda"; "" when it builds none */
    double clock_max_hz;   /* as claimed; 0 unknown */
    uint64_t memory_bytes; /* usable by this process (cgroup limit counted in) */
    char memory_by[160];   /* what keeps it below the host's memory (struct as_host_limits); "" nothing */
    uint64_t memory_free;  /* at the time of asking */
    uint64_t max_alloc;    /* largest single allocation, 0 unknown */
    uint64_t page_size;    /* base page of the memory, 0 unknown */
    uint64_t huge_page;    /* transparent huge page, else one of the reserved pool; 0 none or unknown */
    double peak_bandwidth; /* bytes/s, physical peak when known, else 0 */
    bool is_host_cpu;      /* the host's CPU through a device API */
    bool is_host_memory;   /* its memory is the host's (integrated, PoCL) */
    unsigned siblings;     /* devices of its backend, itself counted; 0 unknown */
    unsigned numa_nodes;
    unsigned packages;  /* of a CPU: sockets with a core that this process may use; 0 unknown */
    char near_cpus[64]; /* host CPUs nearest to it, as a list ("0-15,32"); "" unknown */
    /* filled in by the worker, not by backends: */
    char sensor[16];      /* its sensor ("nvml"), "" none */
    char sensor_why[280]; /* why there is none, or what it does not report */
    char demand[64];      /* what tells the traffic of memories ("uncore, gpm"), "" nothing does */
    char demand_why[280]; /* what does not, with reasons */
    double sensor_read_s; /* what one reading costs, 0 unknown */
    char bus[24];         /* "PCIe 5.0 x16": its best link to the host, "" unknown */
    double bus_bandwidth; /* raw bytes/s of that link per direction; 0 unknown */
    char unfit[160];      /* conditions at opening that distort measurements; "" none */
    char caveats[512];    /* as_host_caveats */
    uint64_t host_cache;  /* last-level caches of the host's CPUs together, for other devices; 0 unknown */
    bool virtual_machine; /* the host is a guest: its caches are what the hypervisor says */
    size_t caches_n;
    struct as_cache caches[AS_CACHES_MAX];
    size_t allocators_n;
    struct as_allocator allocators[AS_ALLOCATORS_MAX];
};

/* Bytes of the last data cache of the device's own cores (largest level, one instance), 0 when unknown; and of a given
 * level, which may be the memory-side cache. */
uint64_t as_info_last_cache(const struct as_device_info *info);
/* Is this a plausible size of a cache, or of all caches of a host? Firmware and hypervisors report nonsense. */
bool as_cache_is_possible(uint64_t bytes);
/* Drops caches of implausible size: they count as unknown. */
void as_info_drop_caches(struct as_device_info *info);
/* Its memory-side cache; NULL where none is known. */
const struct as_cache *as_info_memory_side(const struct as_device_info *info);
/* The data cache of a level, the memory-side one included; NULL. And what it is called: "L2", "Infinity Cache". */
const struct as_cache *as_info_cache_at(const struct as_device_info *info, unsigned level);
void as_cache_label(const struct as_cache *cache, char out[static 24]);
/* Who knows of a memory-side cache, for people: "the KFD topology". */
const char *as_cache_source_text(const struct as_cache *cache);
/* The part of a fact's id that names it: "L2", "memory_side". */
void as_cache_key(const struct as_cache *cache, char out[static 16]);
/* Bytes of the largest cache on the way to memory, on either side, 0 when unknown: the device's own, as many of them as
 * this many threads reach (NAN: one), the memory-side cache, and where the memory is the host's (the device's own, or
 * that of the allocator; NULL: the device's) the last-level caches of the host's CPUs. */
uint64_t as_info_largest_cache(const struct as_device_info *info, const char *allocator, double threads);
/* What it is called, for people: "last-level cache", "Infinity Cache", "last-level cache of the CPU". */
const char *as_info_largest_cache_name(const struct as_device_info *info, const char *allocator, double threads);
/* Minimum working set for a DRAM claim: four times that cache, 256 MiB if its size is unknown. In a virtual machine,
 * whose reported caches may be wrong: at least 256 MiB, at most the larger of 1 GiB and twice that cache, and 512 MiB
 * where one cache is reported to have over 128 MiB, since a guest has only a share of it. Symbol "DRAM1" of axes (NULL,
 * one thread). */
uint64_t as_info_memory_least(const struct as_device_info *info, const char *allocator, double threads);
/* Does a working set touch as much? */
bool as_info_is_memory(const struct as_device_info *info, const char *allocator, double threads, double bytes);
/* Bytes of a working set in main memory for all threads that is also long enough for a launch: symbol "DRAM" of axes.
 */
uint64_t as_info_memory_set(const struct as_device_info *info);
uint64_t as_info_cache(const struct as_device_info *info, unsigned level);
/* Bytes of a base page of the memory it uses: symbol "page" of axes. That of the host where the memory is the host's; a
 * GPU's own memory has page sizes that do not depend on the host, the smallest 4 KiB. */
uint64_t as_info_page(const struct as_device_info *info);
/* Bytes of a huge page: symbol "huge_page" of axes. The commonest size, 2 MiB, where the device tells none. */
uint64_t as_info_huge_page(const struct as_device_info *info);
/* Do both describe one piece of hardware, driven by two APIs or listed twice by one? UUIDs decide where both have one,
 * since partitions of a GPU share its bus address; else the bus address. how: by what it is known, also where not. */
bool as_info_same_hardware(const struct as_device_info *a, const struct as_device_info *b, char *how, size_t size);
const struct as_allocator *as_info_allocator(const struct as_device_info *info, const char *name);
/* AS_USAGE: it has no allocator of this name, and which it has. */
enum as_status as_info_no_allocator(const struct as_device_info *info, const char *name, struct as_error *err);
/* JSON text of info, and back; unknown members are ignored, missing ones are 0. */
void as_info_to_json(const struct as_device_info *info, struct as_buf *out);
enum as_status as_info_from_json(const char *json, struct as_device_info *info, struct as_error *err);

#endif
