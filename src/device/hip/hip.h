/* Internal header of the HIP backend. */
#ifndef AS_DEVICE_HIP_HIP_H
#define AS_DEVICE_HIP_HIP_H

#include "device/gpu/memory.h"
#include "device/hip/api.h"
#include "device/hip/blas.h"
#include "device/nccl/nccl.h"

struct as_hip_backend {
    struct as_gpu_backend gpu; /* first */
    struct as_hip_api api;
    struct as_hiprtc_api rtc;      /* loaded at the first program; library NULL before */
    struct as_hipblaslt hipblaslt; /* these two at the first GEMM */
    struct as_rocblas_api rocblas;
    struct as_gpu_collectives collectives;
};

/* Whether a kernel can wait for an unmapped page to be mapped ("XNACK"). */
enum as_hip_xnack { AS_HIP_XNACK_NONE, AS_HIP_XNACK_OFF, AS_HIP_XNACK_ON };

/* The compilation target: "gfx90a:sramecc+:xnack-". */
struct as_hip_target {
    char name[64];
    char arch[16];       /* "gfx90a" */
    unsigned generation; /* 9, 10, 11, ...; 0 unknown */
    enum as_hip_xnack xnack;
    unsigned wall_khz; /* rate of the counter that NANOS() reads, 0 unknown */
};

struct as_hip_device {
    struct as_gpu gpu; /* first */
    struct as_hip_target target;
};

static inline const struct as_hip_api *as_hip_of(const struct as_gpu *gpu)
{
    return &((const struct as_hip_backend *)gpu->backend)->api;
}
/* The API's addresses are pointers. */
static inline void *as_hip_pointer(unsigned long long address)
{
    return (void *)(uintptr_t)address;
}

/* ---- runtime.c ---- */

/* Fills backend->GPU's tables; its api must be loaded. */
void as_hip_bind(struct as_hip_backend *backend);

/* ---- target.c ---- */

void as_hip_locate(const struct as_hip_api *api, struct as_gpu_found *found);
/* A device attribute, 0 if unknown to the runtime or negative. */
unsigned as_hip_count(const struct as_hip_api *api, int id, int attribute);
/* ", CPX, NPS4": how the kernel's driver has partitioned the chip and its memory, from files below root ("" for the
 * running system); "" where it does not say. */
void as_hip_partition_text(const char *root, const char *bus_id, char *out, size_t size);
/* Parses a target's name. environment: the value of HSA_XNACK or NULL, used if the name does not specify XNACK. */
void as_hip_parse_target(const char *name, const char *environment, struct as_hip_target *out);
void as_hip_find_target(const struct as_hip_api *api, int id, struct as_hip_target *out);

/* ---- info.c ---- */

enum as_status as_hip_fill_info(struct as_device *dev, size_t index, struct as_error *err);

/* ---- allocators.c: the table of allocators, with reasons why some cannot be used ---- */

void as_hip_list_allocators(struct as_device *dev);
extern const struct as_gpu_allocator as_hip_allocators[];
enum as_status as_hip_attributes(struct as_gpu *gpu, const struct as_gpu_block *b, struct as_page_attributes *out,
                                 struct as_error *err);
extern const struct as_role_name as_hip_roles[];

/* ---- gemm.c ---- */

extern const struct as_vendor_gemm_ops as_hip_gemm_ops;

/* ---- rtc.c ---- */

/* Compiles dialect source to a code object without a device; *code is the caller's (free). Some versions of hiprtc exit
 * the process on an unknown target: only for workers and tests. */
enum as_status as_hip_compile(const struct as_hiprtc_api *rtc, const struct as_program_desc *desc,
                              const struct as_hip_target *target, unsigned char **code, size_t *bytes,
                              struct as_error *err);

/* ---- code_object.c: reads code objects as ELF files; every offset is checked ---- */

/* Bytes of the kernel's code. */
enum as_status as_hip_code_bytes(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err);
/* See as_program_ops.count. AS_UNSUPPORTED for unknown chips and words, for code that cannot be disassembled
 * completely, and without comgr. */
enum as_status as_hip_count_code(const unsigned char *code, size_t bytes, const char *name, const char *operation,
                                 uint64_t *n, struct as_error *err);
/* See as_program_ops.instructions and as_hip_count_code. Both halves of a dual-issue instruction
 * are counted. */
enum as_status as_hip_instructions(const unsigned char *code, size_t bytes, const char *name,
                                   struct as_instructions *out, struct as_error *err);

#endif
