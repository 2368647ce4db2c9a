/* Description of a device, known without measuring: plain data, sent to the parent process and stored. */
#ifndef AS_DEVICE_INFO_H
#define AS_DEVICE_INFO_H

#include "base/buf.h"
#include "base/error.h"
#include "device/process_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capabilities of a device or its backend; probes name those they need. */
enum as_capability {
    AS_CAP_HOST_KERNELS = 1u << 0, /* runs as_host_kernel functions on pinned threads */
    AS_CAP_SOURCE = 1u << 1,       /* builds kernels from dialect source */
    AS_CAP_PIN = 1u << 2,          /* binds each workgroup to a chosen core */
    AS_CAP_CLOCK = 1u << 3,        /* reports its true clock */
    AS_CAP_FP64 = 1u << 4,
    AS_CAP_FP16 = 1u << 5,
    AS_CAP_SVM_ATOMICS = 1u << 6, /* host and device may use atomics on the same memory concurrently */
    AS_CAP_ASYNC = 1u << 7,       /* submit and wait are separate */
    AS_CAP_EVENTS = 1u << 8,      /* has device timestamps */
    AS_CAP_SIMULATED = 1u << 9,   /* times and code are those of another machine, of which this host's clocks, counters
                                    and   faults say nothing; a launch that ran before may be left out */
    AS_CAP_COPY = 1u << 10,       /* has copy engines */
    AS_CAP_GRAPHS = 1u << 11,     /* launches can be recorded once and submitted as one */
    AS_CAP_CODE = 1u << 12,       /* counts the instructions of its machine code */
    AS_CAP_CYCLES = 1u << 13,     /* kernels have CYCLES() and NANOS() */
    AS_CAP_FREE_COUNT = 1u << 14, /* memory_free is the driver's own count */
    AS_CAP_QUEUES = 1u << 15,     /* has further, independent queues */
    AS_CAP_DOT_4X8 = 1u << 16,    /* kernels have DOT_4X8_S8 */
    AS_CAP_PEERS = 1u << 17,      /* memory may lie on another device of the backend */
    AS_CAP_BF16 = 1u << 18,       /* kernels have bf16 */
    AS_CAP_MATRIX = 1u << 19,     /* kernels have the language's subgroup matrices */
    AS_CAP_TENSOR_OPS = 1u << 20, /* kernels have the language's tensor operations */
    AS_CAP_TENSOR_FP8 = 1u << 21, /* also on 8-bit floats */
    AS_CAP_TENSOR_FRAGMENTS = 1u << 22, /* with all operands in cooperative tensors */
    AS_CAP_SUBGROUPS = 1u << 23,        /* OpenCL: kernels have cl_khr_subgroups, and its extensions: */
    AS_CAP_SUBGROUP_BALLOT = 1u << 24,
    AS_CAP_SUBGROUP_SHUFFLE = 1u << 25,
    AS_CAP_SUBGROUP_ARITHMETIC = 1u << 26, /* non-uniform */
    AS_CAP_SUBGROUP_CLUSTERED = 1u << 27,
    AS_CAP_TOGETHER = 1u << 28,    /* kernels submitted as one need not wait for one another */
    AS_CAP_RECOMMENDED = 1u << 29, /* memory_bytes is the recommended maximum working set, not what there is */
    AS_CAP_TEAM = 1u << 30,        /* one process drives it and the backend's other devices at the same time */
};
const char *as_capability_word(unsigned bit); /* "svm atomics", as in stores; NULL for an unknown bit */
/* The bits in words: "a compiler for kernels, copy engines". */
void as_capability_phrases(unsigned bits, const char *between, struct as_buf *out);
/* Operations that can be counted in machine code (AS_CAP_CODE), independent of a chip's mnemonics: "load.global",
 * "store.global", "load.local", "load.const", "fma.f32", "fma.f64", ... "load.global.128" are those of 128 bits or
 * more, "atomic.generic" those with a generic address, "swap.global" and "swap.local" the compare-and-swaps
 * among them, "any" all except no-ops. Terminated by NULL. */
extern const char *const as_operation_words[];

/* The purpose of an allocator, one word for equivalent allocators of all APIs; suites and rules select by it.
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
    AS_ROLE_MANAGED_COARSE,
    AS_ROLE_MANAGED_PREFETCH,
    AS_ROLE_MANAGED_PREFETCH_HOST,
    AS_ROLE_MANAGED_STATIC,
    AS_ROLE_SHARED_COARSE,
    AS_ROLE_SHARED_FINE,
    AS_ROLE_PINNED,
    AS_ROLE_PINNED_WC,
    AS_ROLE_PINNED_COHERENT,
    AS_ROLE_PINNED_NONCOHERENT,
    AS_ROLE_PINNED_PORTABLE,
    AS_ROLE_REGISTERED,
    AS_ROLE_PAGEABLE,
    AS_ROLE_PAGEABLE_HUGE,
    AS_ROLE_PAGEABLE_HUGETLB,
    AS_ROLE_BASE_PAGES,
    AS_ROLE_HUGE_PAGES,
    AS_ROLE_RESERVED_HUGE_PAGES,
    AS_ROLES_N
};
/* The role of an allocator by the API's own name: one table per backend, terminated by a NULL allocator. */
struct as_role_name {
    enum as_role role;
    const char *allocator;
};
const char *as_role_word(enum as_role role); /* "pinned", as in suites; "" for AS_ROLE_UNKNOWN */
const char *as_role_help(enum as_role role); /* one-line description */
bool as_role_is_pinned(enum as_role role);   /* host memory allocated pinned or registered later */
bool as_role_is_managed(enum as_role role);  /* one address for CPU and device, moved by the driver */
bool as_role_is_pageable(enum as_role role); /* host memory of the process, of any page size, not pinned */
enum as_role as_role_find(const char *word); /* AS_ROLE_UNKNOWN if there is none */
/* The role of an allocator in a backend's table (NULL: no table); AS_ROLE_UNKNOWN if it is missing. */
enum as_role as_role_in(const struct as_role_name *table, const char *allocator);

struct as_allocator {
    char name[40];        /* the API's own name: "malloc", "clSVMAlloc fine", ... */
    char why_not[160];    /* why it cannot be used on this device; "" if it can */
    bool host_access;     /* the host accesses it directly, always or while it is mapped */
    bool on_demand;       /* backed at first touch */
    bool coherent;        /* a running kernel and the host see each other's atomic stores */
    char no_sharing[160]; /* why the host and a running kernel may not use atomics there concurrently; "" if they may */
    uint64_t most;        /* largest allocation when the device was opened; 0: all free memory */
    enum as_role role;
    char moves[160]; /* why its data may move from where it was allocated; "" if it cannot */
};

struct as_cache {
    unsigned level;  /* 1, 2, 3, ... */
    char kind;       /* 'd' data, 'i' instruction, 'u' unified */
    uint64_t size;   /* bytes of one instance, as reported */
    unsigned line;   /* bytes, 0 unknown */
    unsigned ways;   /* 0 unknown, (unsigned)-1 fully associative */
    unsigned shared; /* cores (logical CPUs on a CPU) per instance, 0 unknown */
    /* A memory-side cache, which the device's API does not report (device/memory_cache.h): */
    bool memory_side;
    char name[24];  /* "Infinity Cache" */
    char source[8]; /* the source: "kfd", "sysfs", "table" */
};

/* What the driver says of this device's access to the memory of another one of its backend. */
struct as_peer {
    unsigned device;   /* its number */
    bool access;       /* kernels of this device access its memory */
    bool atomics;      /* with atomics that are native to the link */
    bool arrays;       /* and its arrays */
    unsigned rank;     /* relative performance, 0 the best; its scale is the driver's */
    char why_not[160]; /* why there is no access */
};

/* Terms of a device's API for what every device has; each backend's record has one. */
struct as_vocabulary {
    char compute_unit[16];  /* "SM" */
    char workgroup[16];     /* "block" */
    char subgroup[16];      /* "warp" */
    char shared_memory[24]; /* "shared memory" */
    char queue[16];         /* "stream" */
};

enum { AS_CACHES_MAX = 8, AS_ALLOCATORS_MAX = 32, AS_PEERS_MAX = 31 };

/* Text fields come from drivers: hostile until escaped. */
struct as_device_info {
    char id[32];               /* "cpu", "opencl:0": what --device takes */
    char backend[16];          /* "cpu", "opencl", "null" */
    char state[AS_STATE_SIZE]; /* of the process that describes it (process_state.h); "": as assay was started */
    char name[128];            /* as reported by the driver */
    char generation[96];       /* CPU: by what people call it ("AMD EPYC 9005 (Zen 5)"); "" unknown */
    char hypervisor[16];       /* CPU: "KVM"; "" none or unknown */
    char vendor[64];
    char driver[128];           /* driver, runtime or platform with its version */
    char uuid[48];              /* "" when there is none */
    char bus_id[24];            /* "0000:01:00.0", "" when there is none */
    char ignored[24];           /* what of its environment changes nothing: "HSA_XNACK", "HSA_XNACK=1"; "" none */
    char ignored_why[120];      /* "gfx1100 has no XNACK" */
    struct as_vocabulary words; /* read by as_info_words, empty where the backend has none */
    unsigned capabilities;
    unsigned compute_units;          /* cores, compute units, SMs */
    unsigned threads;                /* logical CPUs usable by this process; elsewhere the largest workgroup */
    unsigned warp;                   /* lanes of a warp, wavefront or subgroup; 1 on a CPU */
    unsigned vector_bytes;           /* SIMD width of one thread; 0 for scalar threads */
    unsigned compute_unit_threads;   /* resident threads per compute unit, 0 unknown */
    unsigned unit_threads_published; /* the same as published, where the driver reports none, else 0 */
    unsigned compute_unit_registers; /* 32-bit registers per compute unit, 0 unknown */
    uint64_t compute_unit_shared;    /* bytes of shared memory per compute unit, 0 unknown; maximum per workgroup: */
    uint64_t workgroup_shared;
    unsigned unit_fma; /* f32 fused multiply-adds per compute unit and cycle, as published, for clocks by calibration; 0
                          unknown */
    char arch[16];     /* "sm_90"; "" if there is none */
    char dialect[16];  /* of its kernels (as_dialect_word): "cuda"; "" if it builds none */
    double clock_max_hz;   /* as reported; 0 unknown */
    uint64_t memory_bytes; /* usable by this process (within its cgroup limit) */
    char memory_by[160];   /* what limits it below the host's memory (struct as_host_limits); "" if nothing */
    uint64_t memory_free;  /* when the device was opened */
    uint64_t max_alloc;    /* largest single allocation, 0 unknown */
    uint64_t page_size;    /* base page of the memory, 0 unknown */
    uint64_t huge_page;    /* transparent huge page, else one of the reserved pool; 0 none or unknown */
    double peak_bandwidth; /* bytes/s, physical peak when known, else 0 */
    bool is_host_cpu;      /* the host's CPU through a device API */
    bool is_host_memory;   /* its memory is the host's (integrated, PoCL) */
    unsigned siblings;     /* devices of its backend, including itself; 0 unknown */
    unsigned numa_nodes;
    unsigned memory_node; /* its memory is this memory node of the host (coherent link: GH200); 0: it is none */
    unsigned packages;    /* CPU: sockets with a usable core; 0 unknown */
    char near_cpus[64];   /* host CPUs nearest to it, as a list ("0-15,32"); "" unknown */
    /* set by the worker, not by backends: */
    char sensor[16];      /* its sensor ("nvml"), "" if none */
    char sensor_why[280]; /* why there is none, or what it cannot report */
    char demand[64];      /* sources of memory traffic counts ("uncore, gpm"), "" if none */
    char demand_why[280]; /* missing sources, with reasons */
    double sensor_read_s; /* duration of one reading, 0 unknown */
    char bus[24];         /* "PCIe 5.0 x16": its fastest link to the host, "" unknown */
    double power_limit;   /* W, as enforced when it was opened; 0 unknown */
    double bus_bandwidth; /* raw bytes/s of that link per direction; 0 unknown */
    char peer_bus[24]; /* "NVLink 4 x18": its links to one peer, or to the switch that joins them; "" none or unknown */
    double peer_bandwidth;     /* raw bytes/s of these per direction; 0 unknown */
    char collectives[48];      /* of a backend's first device: its library of collectives ("NCCL 2.27.3"); "" if none */
    char collectives_why[280]; /* why there is none, of a backend that knows one; "" */
    char unfit[160];           /* conditions at opening that distort measurements; "" if none */
    char caveats[512];         /* as_host_caveats */
    uint64_t host_cache;       /* devices other than the CPU: total last-level cache of the host's CPUs; 0 unknown */
    bool virtual_machine;      /* the hypervisor reports the host's caches */
    size_t caches_n;
    struct as_cache caches[AS_CACHES_MAX];
    size_t allocators_n;
    struct as_allocator allocators[AS_ALLOCATORS_MAX];
    size_t peers_n; /* 0 also where the API reports none */
    struct as_peer peers[AS_PEERS_MAX];
};

/* What is reported of the device of that number; NULL: nothing. */
const struct as_peer *as_info_peer(const struct as_device_info *info, unsigned device);
/* "cuda:1, cuda:2: access, native atomics, arrays, rank 0; cuda:3: no access: REASON"; "" without peers. */
void as_info_peers(const struct as_device_info *info, struct as_buf *out);
/* Bytes of the last data cache of the device's own cores (largest level, one instance), 0 when unknown; and of a given
 * level, which may be the memory-side cache. */
uint64_t as_info_last_cache(const struct as_device_info *info);
/* Whether this is a plausible size of one cache or of all caches of a host. Firmware and hypervisors report nonsense.
 */
bool as_cache_is_possible(uint64_t bytes);
/* Drops caches of implausible size, which makes them unknown. */
void as_info_drop_caches(struct as_device_info *info);
/* Its memory-side cache; NULL if none is known. */
const struct as_cache *as_info_memory_side(const struct as_device_info *info);
/* The data cache of a level, including the memory-side one, or NULL; and its name: "L2", "Infinity Cache". */
const struct as_cache *as_info_cache_at(const struct as_device_info *info, unsigned level);
void as_cache_label(const struct as_cache *cache, char out[static 24]);
/* The source of a memory-side cache in words: "the KFD topology". */
const char *as_cache_source_text(const struct as_cache *cache);
/* The part of a fact's id that names it: "L2", "memory_side". */
void as_cache_key(const struct as_cache *cache, char out[static 16]);
/* Bytes of the largest cache on the path to memory, 0 if unknown. Counted are the device's own (as many instances as
 * `threads` threads reach; NAN: one), the memory-side cache and, if the device or the allocator uses host memory
 * (allocator NULL: the device decides) or CPU threads use the memory (as_used_by_cpu instead of an allocator), the
 * last-level caches of the host's CPUs. */
extern const char as_used_by_cpu[];
uint64_t as_info_largest_cache(const struct as_device_info *info, const char *allocator, double threads);
/* Its name: "last-level cache", "Infinity Cache", "last-level cache of the CPU". */
const char *as_info_largest_cache_name(const struct as_device_info *info, const char *allocator, double threads);
/* Minimum working set for a DRAM claim: four times that cache, 256 MiB if its size is unknown. In a virtual machine,
 * whose reported caches may be wrong: at least 256 MiB, at most the larger of 1 GiB and twice that cache, and 512 MiB
 * where one cache is reported to have over 128 MiB, since a guest has only a share of it. Symbol "DRAM1" of axes (NULL,
 * one thread). */
uint64_t as_info_memory_least(const struct as_device_info *info, const char *allocator, double threads);
/* Whether a working set reaches that minimum. */
bool as_info_is_memory(const struct as_device_info *info, const char *allocator, double threads, double bytes);
/* Bytes of a working set in main memory for all threads that also fills a launch: symbol "DRAM" of axes. */
uint64_t as_info_memory_set(const struct as_device_info *info);
uint64_t as_info_cache(const struct as_device_info *info, unsigned level);
/* Bytes of a base page of the memory it uses: symbol "page" of axes. The host's page for host memory; a
 * GPU's own memory has page sizes that do not depend on the host, the smallest 4 KiB. */
uint64_t as_info_page(const struct as_device_info *info);
/* Bytes of a huge page: symbol "huge_page" of axes. 2 MiB, the most common size, if the device reports none. */
uint64_t as_info_huge_page(const struct as_device_info *info);
/* Whether both describe the same hardware, driven by two APIs or listed twice by one. UUIDs decide if both have one,
 * since partitions of a GPU share its bus address; else the bus address. how: the evidence, in both cases. */
bool as_info_same_hardware(const struct as_device_info *a, const struct as_device_info *b, char *how, size_t size);
const struct as_allocator *as_info_allocator(const struct as_device_info *info, const char *name);
/* Whether kernels may be functions of the host; and whether they can be nothing else, for want of a run-time compiler.
 */
static inline bool as_info_has_host_kernels(const struct as_device_info *info)
{
    return (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
}
static inline bool as_info_only_host_kernels(const struct as_device_info *info)
{
    return as_info_has_host_kernels(info) && !(info->capabilities & AS_CAP_SOURCE);
}
/* Whether a process state (process_state.h) sets a variable that has no effect on the device. */
bool as_info_ignores(const struct as_device_info *info, const char *state);
/* AS_USAGE, listing its allocators, if it has none of this name. */
enum as_status as_info_no_allocator(const struct as_device_info *info, const char *name, struct as_error *err);
/* JSON text of info, and back; unknown members are ignored, missing ones are 0. */
void as_info_to_json(const struct as_device_info *info, struct as_buf *out);
enum as_status as_info_from_json(const char *json, struct as_device_info *info, struct as_error *err);
/* The device's own words, those of its backend where the description is older than words, common ones where that has
 * none. info may be NULL. */
/* The name that texts print: the generation where it is known, else the reported name. */
const char *as_info_title(const struct as_device_info *info);
const struct as_vocabulary *as_info_words(const struct as_device_info *info);
/* The role of an allocator of a device ("cuda:0") or backend ("cuda") by its name, also of a description without roles;
 * and the first allocator of a role, "" when the backend has none. */
enum as_role as_allocator_role(const char *id, const char *allocator);
const char *as_role_allocator(const char *id, enum as_role role);

#endif
