/* Programs and kernels: dialect source to a loaded module, once a process, and to a code object, once a machine. */
#include "device/hip/hip.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/code_cache.h"
#include "device/dialect/dialect.h"

#include <stdlib.h>
#include <string.h>

void as_hip_forget_programs(struct as_hip_device *hip)
{
    while (hip->built) {
        struct as_hip_built *next = hip->built->next;
        if (hip->built->module && !hip->sticky)
            hip->api->hipModuleUnload(hip->built->module);
        free(hip->built->code);
        free(hip->built);
        hip->built = next;
    }
}

static enum as_status load_module(struct as_hip_device *hip, struct as_hip_built *b, struct as_error *err)
{
    return as_hip_check(hip->api, hip, hip->api->hipModuleLoadData(&b->module, b->code), "hipModuleLoadData", err);
}

/* From the cache where it has it and the driver takes it; else compiled, and put there. */
static enum as_status make_module(struct as_device *dev, const struct as_program_desc *desc, struct as_hip_built *b,
                                  struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    if (as_code_cache_get(b->key, &b->code, &b->code_bytes)) {
        if (!load_module(hip, b, err))
            return AS_OK;
        free(b->code);
        b->code = NULL;
        if (hip->sticky)
            return as_hip_alive(hip, err);
    }
    enum as_status s = as_hip_compile(&hip->backend->rtc, desc, &hip->target, &b->code, &b->code_bytes, err);
    if (!s)
        s = load_module(hip, b, err);
    if (!s)
        as_code_cache_put(b->key, b->code, b->code_bytes);
    return s;
}

static uint64_t key_of(const struct as_device *dev, const struct as_program_desc *desc)
{
    const struct as_hip_device *hip = dev->ctx;
    struct as_buf source = AS_BUF_INIT;
    as_dialect_source(AS_DIALECT_HIP, desc->source, &source);
    const char *defines = desc->defines ? desc->defines : "";
    const uint64_t parts[] = {as_hash(as_buf_get(&source), strlen(as_buf_get(&source))),
                              as_hash(defines, strlen(defines)),
                              as_hash(hip->target.name, strlen(hip->target.name)),
                              as_hash(dev->info.driver, strlen(dev->info.driver)),
                              (uint64_t)hip->backend->rtc.major,
                              (uint64_t)hip->backend->rtc.minor};
    as_buf_finish(&source);
    return as_hash(parts, sizeof parts);
}

/* The program with this source and these options, from before or built now. */
static enum as_status find_built(struct as_device *dev, const struct as_program_desc *desc, struct as_hip_built **out,
                                 struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    uint64_t key = key_of(dev, desc);
    for (*out = hip->built; *out; *out = (*out)->next)
        if ((*out)->key == key)
            return AS_OK;
    struct as_hip_built *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "a program record");
    b->key = key;
    enum as_status s = make_module(dev, desc, b, err);
    if (s) {
        free(b->code);
        free(b);
        return s;
    }
    b->binary_hash = as_hash(b->code, b->code_bytes);
    b->next = hip->built;
    hip->built = *out = b;
    return AS_OK;
}

static enum as_status program_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                    struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    *out = NULL;
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source, only native kernels", desc->name);
    enum as_status s = as_hip_alive(hip, err);
    if (!s && !hip->backend->rtc.library)
        s = as_hiprtc_load(&hip->backend->rtc, hip->api->library, err);
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
    struct as_hip_device *hip = dev->ctx;
    *out = NULL;
    struct as_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel record");
    enum as_status s = as_hip_alive(hip, err);
    if (!s) {
        hipError_t code = hip->api->hipModuleGetFunction(&k->function, program->built->module, name);
        s = code == hipErrorNotFound
                ? as_fail(err, AS_FAILED, "hip: program '%s' has no kernel '%s'", program->name, name)
                : as_hip_check(hip->api, hip, code, "hipModuleGetFunction", err);
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

static enum as_status kernel_info(struct as_device *dev, struct as_kernel *kernel, size_t group_size,
                                  size_t local_bytes, struct as_kernel_info *out, struct as_error *err)
{
    struct as_hip_device *hip = dev->ctx;
    int registers = 0, local = 0, spilled = 0, threads = 0, groups = 0;
    const struct {
        hipFunction_attribute what;
        int *value;
    } asked[] = {{HIP_FUNC_ATTRIBUTE_NUM_REGS, &registers},
                 {HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &local},
                 {HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &spilled},
                 {HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads}};
    *out = (struct as_kernel_info){0};
    enum as_status s = as_hip_alive(hip, err);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !s; i++)
        s = as_hip_check(hip->api, hip, hip->api->hipFuncGetAttribute(asked[i].value, asked[i].what, kernel->function),
                         "hipFuncGetAttribute", err);
    if (!s)
        s = as_hip_check(hip->api, hip,
                         hip->api->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel->function,
                                                                                      (int)group_size, local_bytes),
                         "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", err);
    if (s)
        return s;
    /* 0, unknown, where the compiler hands out something else than a plain code object */
    (void)as_hip_code_bytes(kernel->built->code, kernel->built->code_bytes, kernel->name, &out->code_bytes, NULL);
    out->registers = (unsigned)registers;
    out->local_bytes = (uint64_t)local;
    out->private_bytes = (uint64_t)spilled;
    out->max_threads = (unsigned)threads;
    out->unit_groups = (unsigned)groups;
    return AS_OK;
}

const struct as_program_ops as_hip_program_ops = {
    .build = program_build,
    .destroy = program_destroy,
    .kernel = program_kernel,
    .kernel_destroy = kernel_destroy,
    .binary_hash = binary_hash,
    .kernel_info = kernel_info,
};
