/* Common part of backends whose API has contexts or current devices, streams, events and modules: all but
 * what their libraries do differently, which is in struct as_gpu_api. Internal to such backends. */
#ifndef AS_DEVICE_GPU_GPU_H
#define AS_DEVICE_GPU_GPU_H

#include "device/device.h"
#include "device/dialect/dialect.h"
#include "device/gpu/functions.h"

enum { AS_GPUS_MAX = 64, AS_GPU_TENSOR_BYTES = 128 };

struct as_gpu;
struct as_gpu_allocator;
struct as_gpu_block;
struct as_gpu_backend;
struct as_gpu_collectives;

/* Location of memory and streams: this device or a peer. */
struct as_gpu_place {
    int device;                     /* the library's number */
    struct as_gpu_context *context; /* NULL if the API has none */
};

struct as_gpu_status {
    int code;
    enum as_status status;
};

/* One API: its constants, and functions that differ between libraries. Functions of type int return the library's error
 * code, 0 for none. */
struct as_gpu_api {
    const char *name; /* of the backend: "cuda" */
    const char *lost; /* what a sticky error destroys: "the context" */
    const char *unit; /* the vendor's term for a compute unit: "SM" */
    enum as_dialect dialect;
    const struct as_gpu_status *statuses; /* of errors other than AS_FAILED; terminated by code 0 */
    const int *sticky;                    /* errors after which the process cannot use the device; terminated by 0 */
    int not_ready, not_found, peer_already_enabled; /* errors that are answers */
    int capture_mode;                               /* does not restrict other threads */
    unsigned non_blocking;                          /* flag of a stream that does not wait for the default one */
    unsigned blocking_event, untimed_event;
    unsigned host_mapped, register_mapped; /* flags for device-accessible host memory */
    struct {
        int registers, shared_bytes, private_bytes, max_threads;
    } kernel; /* attributes of functions */

    struct {
        int rank, atomics, arrays;
    } peer; /* attributes of a pair of devices */

    /* Name and text of an error; either may stay NULL. */
    void (*words)(const struct as_gpu_backend *backend, int code, const char **name, const char **text);
    /* Makes the place current for the calling thread. */
    int (*enter)(const struct as_gpu *gpu, const struct as_gpu_place *place);
    const char *enter_name;
    /* (optional) Creates the context of another device; release frees it, and accepts a place without one. */
    enum as_status (*retain)(struct as_gpu *gpu, struct as_gpu_place *place, struct as_error *err);
    void (*release)(const struct as_gpu *gpu, struct as_gpu_place *place);
    /* Lets the current device access the memory of another. */
    int (*enable_peer)(const struct as_gpu *gpu, const struct as_gpu_place *place);
    const char *enable_peer_name;

    /* The device address of memory from host_alloc or host_register. */
    int (*host_address)(const struct as_gpu *gpu, void *host, unsigned long long *address);
    /* Queued on the GPU's stream, copy on any stream of the GPU or of a peer. Addresses are device addresses, except
     * host buffers of read and write, which must stay valid until the stream has been waited for. */
    int (*read)(const struct as_gpu *gpu, void *to, unsigned long long from, uint64_t bytes);
    int (*write)(const struct as_gpu *gpu, unsigned long long to, const void *from, uint64_t bytes);
    int (*copy)(const struct as_gpu *gpu, unsigned long long to, unsigned long long from, uint64_t bytes,
                struct as_gpu_stream *stream);
    /* (optional) see as_memory_ops.attributes; of managed memory and of the process's own */
    enum as_status (*attributes)(struct as_gpu *gpu, const struct as_gpu_block *b, struct as_page_attributes *out,
                                 struct as_error *err);
    const char *host_address_name, *read_name, *write_name, *copy_name;
    const struct as_gpu_allocator *allocators; /* in the order of as_device_info; terminated by a NULL name */

    /* (optional) Fills a tensor map, a kernel argument by value: AS_GPU_TENSOR_BYTES, with that alignment. */
    enum as_status (*tensor)(const struct as_gpu *gpu, const struct as_tensor *tensor, void *out, struct as_error *err);

    /* Instantiates a graph, freed by graph_exec_destroy; *out stays NULL on error. */
    enum as_status (*instantiate)(struct as_gpu *gpu, struct as_gpu_graph *graph, struct as_gpu_graph_exec **out,
                                  struct as_error *err);
    /* Allows a kernel this much dynamic shared memory; AS_UNSUPPORTED for more than the device has. */
    enum as_status (*allow_shared)(struct as_device *dev, struct as_kernel *kernel, size_t bytes, struct as_error *err);

    /* Loads the run-time compiler if necessary and returns its version; AS_UNSUPPORTED if there is none. */
    enum as_status (*find_compiler)(struct as_gpu *gpu, int *major, int *minor, struct as_error *err);
    /* Machine code for this device; *code is the caller's (free). */
    enum as_status (*compile)(struct as_gpu *gpu, const struct as_program_desc *desc, unsigned char **code,
                              size_t *bytes, struct as_error *err);
    /* Bytes of one kernel in the machine code; 0 unknown. */
    enum as_status (*code_bytes)(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err);
    /* (optional, with AS_CAP_CODE) see as_program_ops.instructions */
    enum as_status (*instructions)(const unsigned char *code, size_t bytes, const char *name,
                                   struct as_instructions *out, struct as_error *err);
    /* (optional, with AS_CAP_CODE) see as_program_ops.count */
    enum as_status (*count)(const unsigned char *code, size_t bytes, const char *name, const char *operation,
                            uint64_t *n, struct as_error *err);
};

/* A device found when the backend was opened. */
struct as_gpu_found {
    int id;         /* the library's number */
    uint64_t place; /* domain, bus, device and function as one number */
    char bus_id[24];
};

/* The first member of every backend's own struct. */
struct as_gpu_backend {
    const struct as_gpu_api *api;
    struct as_gpu_functions functions;
    struct as_gpu_found found[AS_GPUS_MAX]; /* in order of PCI address */
    size_t found_n;
    /* The backend's own, for further devices of a team. */
    enum as_status (*open_device)(void *backend, size_t index, struct as_device *out, struct as_error *err);
    struct as_gpu_collectives *collectives; /* its library of collectives (device/nccl); NULL: none */
};

/* Compiled programs stay until the device is closed, so that the second trial of a cell does not compile
 * again; the machine code is also cached in a folder, keyed by source, options, target and the versions of compiler
 * and driver. */
struct as_gpu_built {
    struct as_gpu_built *next;
    uint64_t key, binary_hash;
    struct as_gpu_module *module;
    unsigned char *code; /* owned */
    size_t code_bytes;
};

/* The opposite direction of concurrent copies, queued on the device that they read from. */
struct as_gpu_back {
    struct as_gpu_place place;
    struct as_gpu_stream *stream; /* NULL if not created */
    struct as_gpu_event *end;     /* end of the work queued on it */
};

/* The first member of every backend's own struct of a device. */
struct as_gpu {
    const struct as_gpu_api *api;
    const struct as_gpu_functions *f;
    struct as_gpu_backend *backend;
    struct as_gpu_place here; /* the calling thread's place between calls of the backend */
    char target[64];          /* compilation target */
    bool in_host_memory;      /* its allocations use host memory, as the driver says */
    bool keeps_pages;         /* managed memory that is neither advised on nor prefetched stays where it is */
    bool host_uses;           /* the host can use them in place, as as_gpu_host_reads found */
    struct as_gpu_stream *stream;
    struct as_gpu_event *start, *end;
    struct as_gpu_back back;
    struct as_gpu_stream *more[AS_QUEUES_MAX]; /* further queues */
    size_t more_n;
    struct as_gpu_built *built;
    unsigned char *static_code;            /* module of the last static variable; NULL: none */
    uint64_t static_bytes;                 /* the size it was compiled for */
    void *clock_out;                       /* host memory that clock_kernel writes to */
    struct as_gpu_function *clock_kernel;  /* see as_gpu_clock; NULL before its first use */
    struct as_gpu_back peers[AS_GPUS_MAX]; /* of accessible peers, in found's order */
    struct as_device *members;             /* other devices of the backend, in found's order; NULL: none was opened */
    int sticky;                            /* the error with which every later call fails */
    struct as_error lost;
};

struct as_program {
    struct as_gpu_built *built;
    char name[64];
};

struct as_kernel {
    const struct as_gpu_built *built;
    struct as_gpu_function *function;
    char name[64];
};

/* ---- device.c, info.c, clock.c: errors; devices found, opened and closed ---- */

/* AS_OK for 0; else "<api>: <what>: <name of the error> (2): <the library's text>", with the status from the API's
 * table gives it. */
enum as_status as_gpu_tell(const struct as_gpu_backend *backend, int code, const char *what, struct as_error *err);
/* The same; also records a sticky error in GPU. */
enum as_status as_gpu_check(struct as_gpu *gpu, int code, const char *what, struct as_error *err);
/* Calls a function of struct as_gpu_functions and checks its result, naming it in errors. */
#define AS_GPU_DO(gpu, err, slot, ...) as_gpu_check((gpu), (gpu)->f->slot.call(__VA_ARGS__), (gpu)->f->slot.name, (err))
/* Must precede all calls of the library for a device: AS_FAILED with the first error if the device was
 * lost earlier; else makes the device current (another may have been used in between). */
enum as_status as_gpu_alive(const struct as_gpu *gpu, struct as_error *err);

/* Fills bus_id ("0000:01:00.0") and place from the library's text or, if that is malformed, from the numbers. */
void as_gpu_locate(struct as_gpu_found *found, const char *text, unsigned domain, unsigned bus, unsigned device);
/* Sorts by PCI address. */
void as_gpu_sort(struct as_gpu_backend *backend);
/* AS_NOTFOUND unless index is below the number of devices found. */
enum as_status as_gpu_check_index(const struct as_gpu_backend *backend, size_t index, struct as_error *err);
/* Prepares a found device for opening. GPU is zeroed; backend must outlive it. */
void as_gpu_init(struct as_gpu *gpu, struct as_gpu_backend *backend, size_t index);
/* Creates streams and events of a device whose place is set. as_gpu_close frees them, also after an error. */
enum as_status as_gpu_open(struct as_gpu *gpu, struct as_error *err);
/* Closes all but the place itself. Works also after the device was lost: then the library refuses, and the process
 * should exit. */
void as_gpu_close(struct as_gpu *gpu);

/* Sets id, backend, PCI address and fields derived from it. index: in found's order. */
void as_gpu_fill_info(struct as_device *dev, size_t index);
/* For struct as_device_ops. */
enum as_status as_gpu_device_alive(struct as_device *dev, struct as_error *err);
enum as_status as_gpu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
enum as_status as_gpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);
/* The current clock of a compute unit, by a kernel that reads cycle counter and timer together. */
enum as_status as_gpu_clock(struct as_device *dev, double *hz, struct as_error *err);

/* ---- peers.c ---- */

/* Enables access between this device and device `index` (in found's order), in both directions. own: id of
 * this device, for messages. AS_UNSUPPORTED if the two have no path. */
enum as_status as_gpu_reach_peer(struct as_gpu *gpu, size_t index, const char *own, struct as_error *err);
/* Describes the device's access to the backend's other devices, as the driver reports it. */
void as_gpu_fill_peers(struct as_device *dev, size_t index);
/* Creates a stream at back->place and its end event. The thread stays at that place. */
enum as_status as_gpu_back_create(struct as_gpu *gpu, struct as_gpu_back *back, struct as_error *err);
/* Accepts one that was never or only partly created. */
void as_gpu_back_destroy(const struct as_gpu *gpu, struct as_gpu_back *back);
/* Waits for all streams on which copies have been queued. */
enum as_status as_gpu_settle(struct as_gpu *gpu, struct as_error *err);
void as_gpu_peers_close(struct as_gpu *gpu);

/* ---- team.c ---- */

extern const struct as_team_ops as_gpu_team_ops;
enum as_status as_gpu_member(struct as_device *dev, size_t index, struct as_device **out, struct as_error *err);
/* An error if one of those opened was lost: the process can no longer use it. */
enum as_status as_gpu_members_alive(const struct as_gpu *gpu, struct as_error *err);
void as_gpu_members_close(struct as_gpu *gpu);

/* ---- program.c, queue.c, copy.c ---- */

extern const struct as_program_ops as_gpu_program_ops;
void as_gpu_forget_programs(struct as_gpu *gpu);
void as_gpu_forget_static(struct as_gpu *gpu);
/* Puts a program's machine code into the cache without loading it. Needs GPU's api, its target
 * and the compiler's part of its backend, and dev's info. */
enum as_status as_gpu_compile_ahead(struct as_device *dev, const struct as_program_desc *desc, struct as_error *err);

/* ---- compile_only.c: devices that only compile (as_backend.open_compiler) ---- */

/* GPU is the first member of an allocated block, which close frees. */
void as_gpu_become_compiler(struct as_gpu *gpu, const struct as_device_info *info, struct as_device *out);

extern const struct as_queue_ops as_gpu_queue_ops;
/* Seconds from the start event to the end event; NAN if implausible. */
double as_gpu_elapsed(const struct as_gpu *gpu);
/* Times the work that `put` queues on the GPU's stream, and waits for it. name: for messages. */
enum as_status as_gpu_time(struct as_gpu *gpu, enum as_status (*put)(void *ctx, struct as_error *err), void *ctx,
                           const char *name, struct as_timing *out, struct as_error *err);
enum as_status as_gpu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err);
/* AS_USAGE for a copy that does not fit its memory. */
enum as_status as_gpu_copy_check(const struct as_gpu *gpu, const struct as_copy *copy, struct as_error *err);
/* The stream of the copies back; NULL where there are none. */
const struct as_gpu_back *as_gpu_copy_back(const struct as_gpu *gpu, const struct as_copy *c);
/* Queues repetition i, with the start event before the first and the end event after the last. Both directions
 * alternate, so that neither stream waits for the host. The end event waits for the copy back. */
int as_gpu_copy_put(const struct as_gpu *gpu, const struct as_copy *c, const struct as_gpu_back *back, uint64_t i);
/* Replaces the further queues, which must be empty. */
void as_gpu_queues_close(struct as_gpu *gpu);

#endif
