/* Internal header of the Metal backend.
 * Ownership: results of messages that begin with "new" or "copy" are released here; everything else belongs to the
 * pool that the calling function pushed. */
#ifndef AS_DEVICE_METAL_METAL_H
#define AS_DEVICE_METAL_METAL_H

#include "device/device.h"
#include "device/metal/api.h"

struct as_mtl_backend {
    struct as_mtl_api api;
    as_objc_id devices; /* an array */
    size_t devices_n;
};

/* A queue makes a caller wait for its 65th command buffer. */
enum { AS_MTL_OUTSTANDING = 64 };

struct as_mtl_queue {
    as_objc_id queue;
    as_objc_id outstanding[AS_MTL_OUTSTANDING]; /* committed command buffers, the oldest at `first` */
    size_t first, n;
};

/* Built programs stay until the device is closed, so that the second trial of a cell does not compile again. */
struct as_mtl_built {
    struct as_mtl_built *next;
    uint64_t key; /* hash of the source */
    as_objc_id library;
};

struct as_mtl_device {
    const struct as_mtl_api *api;
    as_objc_id device;
    struct as_mtl_queue queue;
    struct as_mtl_queue back; /* for a concurrent copy in the other direction; no queue before the first */
    struct as_mtl_queue more[AS_QUEUES_MAX];
    size_t more_n;
    struct as_mtl_built *built;
    uint64_t total; /* recommended maximum of bytes in use */
    bool unified;
    char lost[200]; /* why the device is lost for this process; "" if it is not */
};

struct as_program {
    struct as_mtl_built *built;
    char name[64];
};

struct as_kernel {
    as_objc_id pipeline;
    char name[64];
};

/* From the first start to the last end of command buffers, in GPU seconds; NAN before the first. */
struct as_mtl_times {
    double start, end;
};

/* ---- errors.c ---- */

/* "metal: <what>: <the error's text>" */
enum as_status as_mtl_fail(const struct as_mtl_api *m, as_objc_id error, const char *what, struct as_error *err);
/* AS_OK unless the finished command buffer failed. Remembers a lost device. */
enum as_status as_mtl_outcome(struct as_mtl_device *d, as_objc_id commands, const char *what, struct as_error *err);
enum as_status as_mtl_alive(const struct as_mtl_device *d, struct as_error *err);

/* ---- commands.c: command buffers of a queue ---- */

enum as_status as_mtl_queue_open(struct as_mtl_device *d, struct as_mtl_queue *q, struct as_error *err);
void as_mtl_queue_close(struct as_mtl_device *d, struct as_mtl_queue *q); /* waits; accepts one that was never opened */
/* A command buffer, owned by the pool. If the queue is full, waits for the oldest first and returns its failure. */
enum as_status as_mtl_begin(struct as_mtl_device *d, struct as_mtl_queue *q, as_objc_id *commands,
                            struct as_mtl_times *times, struct as_error *err);
void as_mtl_commit(struct as_mtl_device *d, struct as_mtl_queue *q, as_objc_id commands);
/* Waits for all of them and returns the first failure. times: (optional) widened by theirs. */
enum as_status as_mtl_drain(struct as_mtl_device *d, struct as_mtl_queue *q, enum as_wait how,
                            struct as_mtl_times *times, const char *what, struct as_error *err);
/* Waits for all queues, keeping the results for later waits. */
void as_mtl_settle(struct as_mtl_device *d);
double as_mtl_elapsed(const struct as_mtl_times *times); /* NAN if the GPU does not report it or it is implausible */

/* ---- the rest ---- */

enum as_status as_mtl_fill_info(struct as_device *dev, size_t index, struct as_error *err);
bool as_mtl_supports(const struct as_mtl_device *d, long family); /* MTLGPUFamily */
/* Sets the lanes of a simdgroup and the capabilities of the language. Fails if there is no compiler. */
enum as_status as_mtl_fill_language(struct as_mtl_device *d, struct as_device_info *info, struct as_error *err);
enum as_status as_mtl_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
enum as_status as_mtl_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);
/* Cores of the GPU from the I/O registry of macOS; 0 unknown. */
unsigned as_mtl_cores(const struct as_mtl_api *m, uint64_t registry_id);

/* Fills the allocators of a device, with reasons why some cannot be used. */
void as_mtl_list_allocators(struct as_device *dev);
as_objc_id as_mtl_buffer(const struct as_memory *mem);

/* A pipeline of a library's function; *pipeline is the caller's. */
enum as_status as_mtl_pipeline(struct as_mtl_device *d, as_objc_id library, const char *program, const char *function,
                               as_objc_id *pipeline, struct as_error *err);
enum as_status as_mtl_compile(struct as_mtl_device *d, const char *name, const char *source, as_objc_id *library,
                              struct as_error *err);
void as_mtl_forget_programs(struct as_mtl_device *d);

/* The queue of that number; NULL with AS_USAGE in err if there is none. */
struct as_mtl_queue *as_mtl_find_queue(struct as_mtl_device *d, unsigned queue, struct as_error *err);
enum as_status as_mtl_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err);
enum as_status as_mtl_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err);
enum as_status as_mtl_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err);

extern const struct as_memory_ops as_mtl_memory_ops;
extern const struct as_program_ops as_mtl_program_ops;
extern const struct as_queue_ops as_mtl_queue_ops;
extern const struct as_vendor_gemm_ops as_mtl_gemm_ops;

#endif
