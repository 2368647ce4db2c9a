/* Internal header of the CUDA backend. */
#ifndef AS_DEVICE_CUDA_CUDA_H
#define AS_DEVICE_CUDA_CUDA_H

#include "device/cuda/api.h"
#include "device/cuda/cublaslt.h"
#include "device/gpu/memory.h"
#include "device/nccl/nccl.h"

struct as_cu_backend {
    struct as_gpu_backend gpu; /* first */
    struct as_cu_api api;      /* the driver */
    struct as_nvrtc_api nvrtc; /* loaded at the first program; library NULL before */
    struct as_cublaslt lt;     /* loaded at the first GEMM */
    struct as_gpu_collectives collectives;
};

static inline const struct as_cu_api *as_cu_of(const struct as_gpu *gpu)
{
    return &((const struct as_cu_backend *)gpu->backend)->api;
}

/* ---- driver.c ---- */

/* Fills backend->GPU's tables; its api must be loaded. */
void as_cu_bind(struct as_cu_backend *backend);

/* ---- info.c ---- */

void as_cu_locate(const struct as_cu_api *api, struct as_gpu_found *found);
enum as_status as_cu_fill_info(struct as_device *dev, size_t index, struct as_error *err);
/* A device attribute, 0 if unknown to the driver. */
int as_cu_attribute(const struct as_gpu *gpu, int attribute);
/* Fills GPU->target: "sm_90". */
void as_cu_find_target(struct as_gpu *gpu);

/* ---- allocators.c: the table of allocators, with reasons why some cannot be used ---- */

void as_cu_list_allocators(struct as_device *dev);
extern const struct as_gpu_allocator as_cu_allocators[];
enum as_status as_cu_attributes(struct as_gpu *gpu, const struct as_gpu_block *b, struct as_page_attributes *out,
                                struct as_error *err);
extern const struct as_role_name as_cu_roles[];

/* ---- gemm.c ---- */

extern const struct as_vendor_gemm_ops as_cu_gemm_ops;

/* ---- nvrtc.c ---- */

/* Compiles dialect source to a cubin for an architecture ("sm_90a") without a device; *cubin is the caller's (free).
 * For tests on machines with NVRTC but no GPU. */
enum as_status as_cu_compile(const struct as_nvrtc_api *nvrtc, const struct as_program_desc *desc, const char *arch,
                             unsigned char **cubin, size_t *bytes, struct as_error *err);

/* ---- cubin.c: reads cubins as ELF files; every offset is checked ---- */

/* Counts the instructions of kernel `name` for `operation` (as_operation_words). */
enum as_status as_cubin_count(const unsigned char *cubin, size_t bytes, const char *name, const char *operation,
                              uint64_t *n, struct as_error *err);
/* Counts all instructions by the names of NVIDIA's disassembler. */
enum as_status as_cubin_instructions(const unsigned char *cubin, size_t bytes, const char *name,
                                     struct as_instructions *out, struct as_error *err);
/* Bytes of the kernel's code. */
enum as_status as_cubin_code_bytes(const unsigned char *cubin, size_t bytes, const char *name, uint64_t *n,
                                   struct as_error *err);

#endif
