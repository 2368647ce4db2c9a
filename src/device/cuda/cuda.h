/* What the files of the CUDA backend share. Nothing outside this folder includes it. */
#ifndef AS_DEVICE_CUDA_CUDA_H
#define AS_DEVICE_CUDA_CUDA_H

#include "device/cuda/api.h"
#include "device/device.h"

enum { AS_CU_DEVICES_MAX = 64 };

/* One device as found at open, in order of PCI address. */
struct as_cu_found {
    CUdevice id;
    uint64_t place; /* domain, bus, device and function as one number */
    char bus_id[24];
};

struct as_cu_backend {
    struct as_cu_api api;      /* the driver */
    struct as_nvrtc_api nvrtc; /* loaded at the first program; library NULL before */
    struct as_cu_found found[AS_CU_DEVICES_MAX];
    size_t found_n;
};

/* A program that was compiled stays until the device is closed, so that the second visit of a cell does not compile
 * again; its cubin also lies in a cache folder, keyed by source, options, architecture and the versions of NVRTC and
 * driver. */
struct as_cu_built {
    struct as_cu_built *next;
    uint64_t key, binary_hash;
    CUmodule module;
    unsigned char *cubin; /* owned */
    size_t cubin_bytes;
};

/* The way back of copies: beside the first stream, driven by the device from whose memory they come. */
struct as_cu_back {
    CUcontext context;
    CUstream stream;
    CUevent end;
};

struct as_cu_device {
    struct as_cu_backend *backend;
    const struct as_cu_api *api;
    CUdevice id;
    CUcontext context; /* the primary one; current on the device's thread */
    CUstream stream;
    CUevent start, end;
    struct as_cu_back back;
    CUstream more[AS_QUEUES_MAX]; /* further queues */
    size_t more_n;
    struct as_cu_built *built;
    void *clock_out;                            /* host memory that clock_kernel writes to */
    CUfunction clock_kernel;                    /* see as_cu_clock; NULL before its first use */
    struct as_cu_back peers[AS_CU_DEVICES_MAX]; /* of other devices whose memory this one reaches, in found's order */
    int sticky; /* an error after which the context is lost: every call fails with its text */
    struct as_error lost;
};

struct as_program {
    struct as_cu_built *built;
    char name[64];
};

struct as_kernel {
    const struct as_cu_built *built;
    CUfunction function;
    char name[64];
};

/* ---- errors.c ---- */

/* AS_OK for CUDA_SUCCESS; else "cuda: <what>: CUDA_ERROR_... (2): <the driver's words>". Memory that ran out is
 * AS_NOMEM, what a device cannot do AS_UNSUPPORTED, all else AS_FAILED. An error that loses the context is noted in cu
 * (which may be NULL). */
enum as_status as_cu_check(const struct as_cu_api *api, struct as_cu_device *cu, CUresult code, const char *what,
                           struct as_error *err);
/* To be called first by all that talks to the driver for a device: AS_FAILED with the first words where the context was
 * lost before, else the context is made current on this thread (another device may have been used in between). */
enum as_status as_cu_alive(const struct as_cu_device *cu, struct as_error *err);

/* ---- peers.c ---- */

/* Makes the memory of device `index` (in found's order) reachable from this one and the other way round. own: id of
 * this device, for the words. AS_UNSUPPORTED where the two have no path. */
enum as_status as_cu_reach_peer(struct as_cu_device *cu, size_t index, const char *own, struct as_error *err);
/* A second stream in this context, and the event that ends what is queued on it. Leaves the context current. */
enum as_status as_cu_back_create(struct as_cu_device *cu, struct as_cu_back *back, struct as_error *err);
/* Takes one that was never created, or not wholly. */
void as_cu_back_destroy(const struct as_cu_device *cu, struct as_cu_back *back);
/* The streams that copies have been queued on, all over. */
enum as_status as_cu_settle(struct as_cu_device *cu, struct as_error *err);
void as_cu_peers_close(struct as_cu_device *cu);

/* ---- info.c ---- */

/* "0000:01:00.0" from what the driver gives, in lower case; *place for sorting. */
void as_cu_place(const struct as_cu_api *api, struct as_cu_found *found);

enum as_status as_cu_fill_info(struct as_device *dev, const struct as_cu_found *found, size_t index,
                               struct as_error *err);
enum as_status as_cu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);
/* A device attribute, 0 where the driver does not know it. */
int as_cu_attribute(const struct as_cu_api *api, CUdevice id, int attribute);
/* "sm_90" */
void as_cu_arch(const struct as_cu_api *api, CUdevice id, char *out, size_t size);

/* ---- allocators.c: the table of allocators, with why some cannot be used ---- */

void as_cu_list_allocators(struct as_device *dev);
enum as_status as_cu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
/* Where a kernel sees it. */
CUdeviceptr as_cu_address(const struct as_memory *mem);
extern const struct as_memory_ops as_cu_memory_ops;

/* ---- program.c ---- */

/* Compiles dialect source to a cubin for an architecture ("sm_90a") without a device; *cubin is the caller's (free).
 * Used by tests where there is NVRTC and no GPU. */
enum as_status as_cu_compile(struct as_nvrtc_api *nvrtc, const struct as_program_desc *desc, const char *arch,
                             unsigned char **cubin, size_t *bytes, struct as_error *err);
void as_cu_forget_programs(struct as_cu_device *cu);
extern const struct as_program_ops as_cu_program_ops;

/* ---- cubin.c: a cubin read as the ELF file that it is; every offset in it is checked ---- */

/* How many instructions of kernel `name` do `operation` (as_operation_words). */
enum as_status as_cubin_count(const unsigned char *cubin, size_t bytes, const char *name, const char *operation,
                              uint64_t *n, struct as_error *err);
/* Bytes of the kernel's code. */
enum as_status as_cubin_code_bytes(const unsigned char *cubin, size_t bytes, const char *name, uint64_t *n,
                                   struct as_error *err);

/* ---- queues.c: further queues ---- */

/* The stream of that number, 0 the device's own. */
enum as_status as_cu_stream(const struct as_cu_device *cu, unsigned queue, CUstream *out, struct as_error *err);
enum as_status as_cu_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err);
enum as_status as_cu_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err);
void as_cu_queues_close(struct as_cu_device *cu);

/* ---- queue.c, copy.c, clock.c ---- */

extern const struct as_queue_ops as_cu_queue_ops;
/* Seconds from the start event to the end event; NAN where the driver tells nonsense. */
double as_cu_elapsed(const struct as_cu_device *cu);
/* Lets a kernel take so much dynamic shared memory. */
enum as_status as_cu_allow_local(struct as_cu_device *cu, struct as_kernel *kernel, size_t bytes, struct as_error *err);
enum as_status as_cu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                          struct as_error *err);
/* The SM clock now: a kernel that reads cycle counter and global timer together. */
enum as_status as_cu_clock(struct as_device *dev, double *hz, struct as_error *err);

#endif
