/* What the files of the HIP backend share. Nothing outside this folder includes it. */
#ifndef AS_DEVICE_HIP_HIP_H
#define AS_DEVICE_HIP_HIP_H

#include "device/device.h"
#include "device/hip/api.h"

enum { AS_HIP_DEVICES_MAX = 64 };

/* One device as found at open, in order of PCI address. */
struct as_hip_found {
    int id;
    uint64_t place; /* domain, bus, device and function as one number */
    char bus_id[24];
};

struct as_hip_backend {
    struct as_hip_api api;
    struct as_hiprtc_api rtc; /* loaded at the first program; library NULL before */
    struct as_hip_found found[AS_HIP_DEVICES_MAX];
    size_t found_n;
};

/* A program that was compiled stays until the device is closed, so that the second visit of a cell does not compile
 * again; its code object also lies in a cache folder, keyed by source, options, target and the versions of hiprtc and
 * runtime. */
struct as_hip_built {
    struct as_hip_built *next;
    uint64_t key, binary_hash;
    hipModule_t module;
    unsigned char *code; /* owned */
    size_t code_bytes;
};

/* The way back of copies: beside the first stream, on the device from whose memory they come. */
struct as_hip_back {
    int device;
    hipStream_t stream;
    hipEvent_t end;
};

/* What a kernel may do with a page that is not mapped: wait until it is ("XNACK"), or not. */
enum as_hip_xnack { AS_HIP_XNACK_NONE, AS_HIP_XNACK_OFF, AS_HIP_XNACK_ON };

/* What the runtime compiles for: "gfx90a:sramecc+:xnack-". */
struct as_hip_target {
    char name[64];
    char arch[16];       /* "gfx90a" */
    unsigned generation; /* 9, 10, 11, ...; 0 unknown */
    enum as_hip_xnack xnack;
    unsigned wall_khz; /* rate of the counter that NANOS() reads, 0 unknown */
};

struct as_hip_device {
    struct as_hip_backend *backend;
    const struct as_hip_api *api;
    int id;
    struct as_hip_target target;
    hipStream_t stream;
    hipEvent_t start, end;
    struct as_hip_back back;
    hipStream_t more[AS_QUEUES_MAX]; /* further queues */
    size_t more_n;
    struct as_hip_built *built;
    void *clock_out;                              /* host memory that clock_kernel writes to */
    hipFunction_t clock_kernel;                   /* see as_hip_clock; NULL before its first use */
    struct as_hip_back peers[AS_HIP_DEVICES_MAX]; /* of other devices whose memory this one reaches, in found's order */
    int sticky; /* an error after which nothing more is done here: every call fails with its text */
    struct as_error lost;
};

struct as_program {
    struct as_hip_built *built;
    char name[64];
};

struct as_kernel {
    const struct as_hip_built *built;
    hipFunction_t function;
    char name[64];
};

/* ---- errors.c ---- */

/* AS_OK for hipSuccess; else "hip: <what>: hipError... (2): <the runtime's words>". Memory that ran out is AS_NOMEM,
 * what a device cannot do AS_UNSUPPORTED, all else AS_FAILED. An error that outlives its call is noted in hip (which
 * may be NULL). */
enum as_status as_hip_check(const struct as_hip_api *api, struct as_hip_device *hip, hipError_t code, const char *what,
                            struct as_error *err);
/* To be called first by all that talks to the runtime for a device: AS_FAILED with the first words where the device was
 * lost before, else the device is made this thread's (another one may have been used in between). */
enum as_status as_hip_alive(const struct as_hip_device *hip, struct as_error *err);

/* ---- peers.c ---- */

/* Makes the memory of device `index` (in found's order) reachable from this one and the other way round. own: id of
 * this device, for the words. AS_UNSUPPORTED where the two have no path. */
enum as_status as_hip_reach_peer(struct as_hip_device *hip, size_t index, const char *own, struct as_error *err);
/* A second stream on that device, and the event that ends what is queued on it. Leaves the device this thread's. */
enum as_status as_hip_back_create(struct as_hip_device *hip, struct as_hip_back *back, int device,
                                  struct as_error *err);
/* Takes one that was never created, or not wholly. */
void as_hip_back_destroy(const struct as_hip_device *hip, struct as_hip_back *back);
/* The streams that copies have been queued on, all over. */
enum as_status as_hip_settle(struct as_hip_device *hip, struct as_error *err);
void as_hip_peers_close(struct as_hip_device *hip);

/* ---- target.c ---- */

/* "0000:01:00.0" from what the runtime gives, in lower case; *place for sorting. */
void as_hip_place(const struct as_hip_api *api, struct as_hip_found *found);
/* A device attribute, 0 where the runtime does not know it; one that counts is never less than 0. */
int as_hip_attribute(const struct as_hip_api *api, int id, int attribute);
unsigned as_hip_count(const struct as_hip_api *api, int id, int attribute);
/* Takes a target's name apart; environment: the value of HSA_XNACK or NULL, for names that leave it open. */
void as_hip_parse_target(const char *name, const char *environment, struct as_hip_target *out);
void as_hip_find_target(const struct as_hip_api *api, int id, struct as_hip_target *out);

/* ---- info.c ---- */

enum as_status as_hip_fill_info(struct as_device *dev, const struct as_hip_found *found, size_t index,
                                struct as_error *err);
enum as_status as_hip_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);

/* ---- allocators.c: the table of allocators, with why some cannot be used ---- */

void as_hip_list_allocators(struct as_device *dev);
/* Where a kernel sees it. */
void *as_hip_address(const struct as_memory *mem);
extern const struct as_memory_ops as_hip_memory_ops;

/* ---- rtc.c, program.c ---- */

/* Compiles dialect source to a code object without a device; *code is the caller's (free). hiprtc of some versions ends
 * the process where it does not know the target: only for workers and tests. */
enum as_status as_hip_compile(const struct as_hiprtc_api *rtc, const struct as_program_desc *desc,
                              const struct as_hip_target *target, unsigned char **code, size_t *bytes,
                              struct as_error *err);
void as_hip_forget_programs(struct as_hip_device *hip);
extern const struct as_program_ops as_hip_program_ops;

/* ---- code_object.c: a code object read as the ELF file that it is; every offset in it is checked ---- */

/* Bytes of the kernel's code. */
enum as_status as_hip_code_bytes(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err);

/* ---- queues.c: further queues ---- */

/* The stream of that number, 0 the device's own. */
enum as_status as_hip_stream(const struct as_hip_device *hip, unsigned queue, hipStream_t *out, struct as_error *err);
enum as_status as_hip_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err);
enum as_status as_hip_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err);
void as_hip_queues_close(struct as_hip_device *hip);

/* ---- queue.c, copy.c, clock.c ---- */

extern const struct as_queue_ops as_hip_queue_ops;
/* Seconds from the start event to the end event; NAN where the runtime tells nonsense. */
double as_hip_elapsed(const struct as_hip_device *hip);
enum as_status as_hip_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err);
/* The clock of a unit now: a kernel that reads cycle counter and timer together. */
enum as_status as_hip_clock(struct as_device *dev, double *hz, struct as_error *err);

#endif
