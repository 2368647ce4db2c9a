/* A trial that runs one kernel over a buffer: with native kernels on `threads` CPU threads, or on a whole device. The
 * axes `size`, `allocator` and `threads` choose both; the value is the buffer's bytes per second, in GB/s. A probe's
 * record takes all functions from here except prepare, which passes the kernels on. */
#ifndef AS_LIB_BUFFERS_BUFFER_TRIAL_H
#define AS_LIB_BUFFERS_BUFFER_TRIAL_H

#include "buffers.h"
#include "device/device.h"

/* The kernels' arguments: 0 the buffer, 1 its words of 4 bytes (u64), 2 a key (u32), which differs in each sample. */
struct as_buffer_work {
    const char *name;                  /* of the program */
    const char *source;                /* in the kernel dialect, for devices */
    const struct as_host_kernel *host; /* for CPUs */
    const char *operation;             /* instruction that the machine code must contain ("store.global") */
    uint32_t (*expected)(uint32_t key, uint64_t i); /* expected word i after a sample */
};
struct as_buffer_trial {
    struct as_buffers own;
    const struct as_buffer_work *work;
    struct as_kernel *kernel;
    struct as_memory *memory;
    uint32_t key; /* of the last sample */
    size_t workgroups, workgroup_size;
};
/* CPU: at least 1 thread, and 1 KiB for each; device: threads=0. */
enum as_applies as_buffer_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);
double as_buffer_patience(const struct as_device_info *info, const struct as_axes *a);
enum as_status as_buffer_prepare(struct as_trial_context *tc, struct as_buffer_trial *t,
                                 const struct as_buffer_work *work, const char *kernel, struct as_error *err);
enum as_status as_buffer_sample(void *trial, uint64_t reps, struct as_sample *out, struct as_error *err);
/* Compares the first and the last words of the buffer, and some random ones. */
bool as_buffer_check(void *trial, char *why, size_t why_size);
void as_buffer_finish(void *trial);

/* A thread's words in a native kernel; *n: their number. */
uint32_t *as_buffer_share(const struct as_host_call *call, uint64_t *n);
uint32_t as_buffer_key(const struct as_host_call *call);

#endif
