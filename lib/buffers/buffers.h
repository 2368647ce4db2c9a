/* What a trial owns on a device: programs, their kernels and blocks of memory, released together. The first failure is
 * kept, and later calls then do nothing: prepare checks the status once, at its end. */
#ifndef AS_LIB_BUFFERS_BUFFERS_H
#define AS_LIB_BUFFERS_BUFFERS_H

#include "device/device.h"
#include "lib/checks/checks.h"

enum { AS_BUFFERS_MAX = 40 };
struct as_buffers {
    struct as_device *dev;
    enum as_status status;      /* of the first call that failed */
    struct as_program *program; /* the last that was built */
    struct as_program *programs[AS_BUFFERS_MAX];
    struct as_kernel *kernels[AS_BUFFERS_MAX];
    struct as_memory *blocks[AS_BUFFERS_MAX];
    size_t programs_n, kernels_n, blocks_n;
};
/* Builds the first program. */
void as_buffers_open(struct as_buffers *b, struct as_device *dev, const struct as_program_desc *program,
                     struct as_error *err);
/* A kernel of the last program; NULL after a failure. */
struct as_kernel *as_buffers_kernel(struct as_buffers *b, const char *name, struct as_error *err);
/* A block of memory, of the device's first allocator where `allocator` is NULL; NULL after a failure. */
struct as_memory *as_buffers_memory(struct as_buffers *b, const char *allocator, uint64_t bytes, struct as_error *err);
/* The same from a full description. */
struct as_memory *as_buffers_alloc(struct as_buffers *b, const struct as_memory_desc *desc, struct as_error *err);
/* The same without the kept status, which they neither read nor change: for callers that check each step. dev must be
 * set. */
enum as_status as_buffers_keep_program(struct as_buffers *b, const struct as_program_desc *desc,
                                       struct as_program **out, struct as_error *err);
enum as_status as_buffers_keep_kernel(struct as_buffers *b, struct as_program *of, const char *name,
                                      struct as_kernel **out, struct as_error *err);
enum as_status as_buffers_keep_memory(struct as_buffers *b, const char *allocator, uint64_t bytes,
                                      struct as_memory **out, struct as_error *err);
/* Writes the start of a block. */
void as_buffers_write(struct as_buffers *b, struct as_memory *to, const void *from, uint64_t bytes,
                      struct as_error *err);
/* The host's CPU: dev if it is that, else opened beside it. as_device_close(opened) ends it in either case. */
enum as_status as_cpu_beside(struct as_device *dev, struct as_opened *opened, struct as_device **out,
                             struct as_error *err);
/* A block of the device's first allocator, which the caller frees. */
enum as_status as_device_memory(struct as_device *dev, uint64_t bytes, struct as_memory **out, struct as_error *err);
void as_buffers_finish(void *state); /* accepts one that was never opened */

/* For check: a copy of the start of a block, which the caller frees. NULL, with the reason in `why`. */
void *as_check_copy(struct as_device *dev, struct as_memory *from, uint64_t bytes, char *why, size_t why_size);

static inline struct as_arg as_memory_arg(struct as_memory *m)
{
    return (struct as_arg){.kind = AS_ARG_MEMORY, .u.memory = m};
}
static inline struct as_arg as_u32_arg(uint64_t v) /* v: below 2^32 */
{
    return (struct as_arg){.kind = AS_ARG_U32, .u.u32 = (uint32_t)v};
}
static inline struct as_arg as_u64_arg(uint64_t v)
{
    return (struct as_arg){.kind = AS_ARG_U64, .u.u64 = v};
}
/* A native kernel's argument that points to host memory, and back. */
static inline struct as_arg as_pointer_arg(const void *p)
{
    return as_u64_arg((uint64_t)(uintptr_t)p);
}
static inline void *as_pointer_in(const void *arg)
{
    uint64_t p;
    memcpy(&p, arg, sizeof p);
    return (void *)(uintptr_t)p;
}
/* A launch without repetitions; the caller sets other fields afterwards. */
static inline struct as_launch as_launch_of(struct as_kernel *kernel, const struct as_arg *args, size_t n,
                                            size_t workgroups, size_t workgroup_size)
{
    return (struct as_launch){.kernel = kernel,
                              .args = args,
                              .args_n = n,
                              .workgroups = workgroups,
                              .workgroup_size = workgroup_size,
                              .reps = 1};
}

#endif
