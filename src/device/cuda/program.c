/* Programs and kernels: dialect source to a loaded module, once a process, and to a cubin, once a machine. */
#include "device/cuda/cuda.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/code_cache.h"
#include "device/dialect/dialect.h"

#include <stdlib.h>
#include <string.h>

void as_cu_forget_programs(struct as_cu_device *cu)
{
    while (cu->built) {
        struct as_cu_built *next = cu->built->next;
        if (cu->built->module && !cu->sticky)
            cu->api->cuModuleUnload(cu->built->module);
        free(cu->built->cubin);
        free(cu->built);
        cu->built = next;
    }
}

static enum as_status load_module(struct as_cu_device *cu, struct as_cu_built *b, struct as_error *err)
{
    return as_cu_check(cu->api, cu, cu->api->cuModuleLoadData(&b->module, b->cubin), "cuModuleLoadData", err);
}

/* From the cache where it has it and the driver takes it; else compiled, and put there. */
static enum as_status make_module(struct as_device *dev, const struct as_program_desc *desc, struct as_cu_built *b,
                                  struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    if (as_code_cache_get(b->key, &b->cubin, &b->cubin_bytes)) {
        if (!load_module(cu, b, err))
            return AS_OK;
        free(b->cubin);
        b->cubin = NULL;
        if (cu->sticky)
            return as_cu_alive(cu, err);
    }
    enum as_status s = as_cu_compile(&cu->backend->nvrtc, desc, dev->info.arch, &b->cubin, &b->cubin_bytes, err);
    if (!s)
        s = load_module(cu, b, err);
    if (!s)
        as_code_cache_put(b->key, b->cubin, b->cubin_bytes);
    return s;
}

static uint64_t key_of(const struct as_device *dev, const struct as_program_desc *desc)
{
    const struct as_cu_device *cu = dev->ctx;
    struct as_buf source = AS_BUF_INIT;
    as_dialect_source(AS_DIALECT_CUDA, desc->source, &source);
    const char *defines = desc->defines ? desc->defines : "";
    const uint64_t parts[] = {as_hash(as_buf_get(&source), strlen(as_buf_get(&source))),
                              as_hash(defines, strlen(defines)),
                              as_hash(dev->info.arch, strlen(dev->info.arch)),
                              as_hash(dev->info.driver, strlen(dev->info.driver)),
                              (uint64_t)cu->backend->nvrtc.major,
                              (uint64_t)cu->backend->nvrtc.minor};
    as_buf_finish(&source);
    return as_hash(parts, sizeof parts);
}

/* The program with this source and these options, from before or built now. */
static enum as_status find_built(struct as_device *dev, const struct as_program_desc *desc, struct as_cu_built **out,
                                 struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    uint64_t key = key_of(dev, desc);
    for (*out = cu->built; *out; *out = (*out)->next)
        if ((*out)->key == key)
            return AS_OK;
    struct as_cu_built *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "a program record");
    b->key = key;
    enum as_status s = make_module(dev, desc, b, err);
    if (s) {
        free(b->cubin);
        free(b);
        return s;
    }
    b->binary_hash = as_hash(b->cubin, b->cubin_bytes);
    b->next = cu->built;
    cu->built = *out = b;
    return AS_OK;
}

static enum as_status program_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                    struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    *out = NULL;
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source, only native kernels", desc->name);
    enum as_status s = as_cu_alive(cu, err);
    if (!s && !cu->backend->nvrtc.library)
        s = as_nvrtc_load(&cu->backend->nvrtc, err);
    if (s)
        return s;
    struct as_program *program = calloc(1, sizeof *program);
    if (!program)
        return as_nomem(err, sizeof *program, "a program record");
    if ((s = find_built(dev, desc, &program->built, err))) {
        free(program);
        return s;
    }
    as_copy_text(program->name, sizeof program->name, desc->name);
    *out = program;
    return AS_OK;
}

static void program_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

static enum as_status program_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                     struct as_kernel **out, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    *out = NULL;
    struct as_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel record");
    enum as_status s = as_cu_alive(cu, err);
    if (!s) {
        CUresult code = cu->api->cuModuleGetFunction(&k->function, program->built->module, name);
        s = code == CUDA_ERROR_NOT_FOUND
                ? as_fail(err, AS_FAILED, "cuda: program '%s' has no kernel '%s'", program->name, name)
                : as_cu_check(cu->api, cu, code, "cuModuleGetFunction", err);
    }
    if (s) {
        free(k);
        return s;
    }
    k->built = program->built;
    as_copy_text(k->name, sizeof k->name, name);
    *out = k;
    return AS_OK;
}

static void kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    (void)dev;
    free(kernel);
}

static uint64_t binary_hash(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    return program->built->binary_hash;
}

static enum as_status count(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                            struct as_error *err)
{
    (void)dev;
    return as_cubin_count(kernel->built->cubin, kernel->built->cubin_bytes, kernel->name, operation, n, err);
}

static enum as_status kernel_info(struct as_device *dev, struct as_kernel *kernel, size_t group_size,
                                  size_t local_bytes, struct as_kernel_info *out, struct as_error *err)
{
    struct as_cu_device *cu = dev->ctx;
    int registers = 0, local = 0, spilled = 0, threads = 0, groups = 0;
    const struct {
        CUfunction_attribute what;
        int *value;
    } asked[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &registers},
                 {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &local},
                 {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &spilled},
                 {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads}};
    *out = (struct as_kernel_info){0};
    enum as_status s = as_cu_alive(cu, err);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !s; i++)
        s = as_cu_check(cu->api, cu, cu->api->cuFuncGetAttribute(asked[i].value, asked[i].what, kernel->function),
                        "cuFuncGetAttribute", err);
    if (!s)
        s = as_cu_allow_local(cu, kernel, local_bytes, err);
    if (!s)
        s = as_cu_check(cu->api, cu,
                        cu->api->cuOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel->function, (int)group_size,
                                                                             local_bytes),
                        "cuOccupancyMaxActiveBlocksPerMultiprocessor", err);
    if (!s)
        s = as_cubin_code_bytes(kernel->built->cubin, kernel->built->cubin_bytes, kernel->name, &out->code_bytes, err);
    if (s)
        return s;
    out->registers = (unsigned)registers;
    out->local_bytes = (uint64_t)local;
    out->private_bytes = (uint64_t)spilled;
    out->max_threads = (unsigned)threads;
    out->unit_groups = (unsigned)groups;
    return AS_OK;
}

const struct as_program_ops as_cu_program_ops = {
    .build = program_build,
    .destroy = program_destroy,
    .kernel = program_kernel,
    .kernel_destroy = kernel_destroy,
    .binary_hash = binary_hash,
    .count = count,
    .kernel_info = kernel_info,
};
