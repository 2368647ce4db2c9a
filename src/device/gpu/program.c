/* Programs and kernels: dialect source is compiled once per machine and loaded once per process. */
#include "device/gpu/gpu.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/code_cache.h"

#include <stdlib.h>
#include <string.h>

void as_gpu_forget_programs(struct as_gpu *gpu)
{
    while (gpu->built) {
        struct as_gpu_built *next = gpu->built->next;
        if (gpu->built->module && !gpu->sticky)
            gpu->f->module_unload.call(gpu->built->module);
        free(gpu->built->code);
        free(gpu->built);
        gpu->built = next;
    }
}

static enum as_status load_module(struct as_gpu *gpu, struct as_gpu_built *b, struct as_error *err)
{
    return AS_GPU_DO(gpu, err, module_load, &b->module, b->code);
}

/* From the cache if it has the code and the driver accepts it; else compiled and cached. */
static enum as_status make_module(struct as_gpu *gpu, const struct as_program_desc *desc, struct as_gpu_built *b,
                                  struct as_error *err)
{
    if (as_code_cache_get(b->key, &b->code, &b->code_bytes)) {
        if (!load_module(gpu, b, err))
            return AS_OK;
        free(b->code);
        b->code = NULL;
        if (gpu->sticky)
            return as_gpu_alive(gpu, err);
    }
    enum as_status st = gpu->api->compile(gpu, desc, &b->code, &b->code_bytes, err);
    if (!st)
        st = load_module(gpu, b, err);
    if (!st)
        as_code_cache_put(b->key, b->code, b->code_bytes);
    return st;
}

static uint64_t hash_text(const char *text)
{
    return as_hash(text, strlen(text));
}

/* Hash of all inputs of the machine code, and of the program's own part. */
struct program_key {
    uint64_t all, source;
};

static enum as_status find_key(const struct as_device *dev, const struct as_program_desc *desc, int major, int minor,
                               struct program_key *key, struct as_error *err)
{
    const struct as_gpu *gpu = dev->ctx;
    struct as_buf source = AS_BUF_INIT;
    as_dialect_source(gpu->api->dialect, desc->source, &source);
    enum as_status st = as_buf_check(&source, err);
    const uint64_t own[] = {hash_text(as_buf_get(&source)), hash_text(desc->defines ? desc->defines : "")};
    const uint64_t parts[] = {own[0],          own[1],         hash_text(gpu->target), hash_text(dev->info.driver),
                              (uint64_t)major, (uint64_t)minor};
    as_buf_finish(&source);
    *key = (struct program_key){.all = as_hash(parts, sizeof parts), .source = as_hash(own, sizeof own)};
    return st;
}

/* The program with this key, cached or newly built. */
static enum as_status gpu_find_built(struct as_gpu *gpu, const struct as_program_desc *desc, uint64_t key,
                                     struct as_gpu_built **out, struct as_error *err)
{
    for (*out = gpu->built; *out; *out = (*out)->next)
        if ((*out)->key == key)
            return AS_OK;
    struct as_gpu_built *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "a program record");
    b->key = key;
    enum as_status st = make_module(gpu, desc, b, err);
    if (st) {
        free(b->code);
        free(b);
        return st;
    }
    b->binary_hash = as_hash(b->code, b->code_bytes);
    b->next = gpu->built;
    gpu->built = *out = b;
    return AS_OK;
}

enum as_status as_gpu_compile_ahead(struct as_device *dev, const struct as_program_desc *desc, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    unsigned char *code = NULL;
    size_t bytes = 0;
    int major = 0, minor = 0;
    struct program_key key = {0};
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source", desc->name);
    enum as_status st = gpu->api->find_compiler(gpu, &major, &minor, err);
    if (!st)
        st = find_key(dev, desc, major, minor, &key, err);
    int claim;
    if (st || !as_code_cache_claim(key.all, &claim)) /* another process compiles it */
        return st;
    if (!as_code_cache_get(key.all, &code, &bytes) && !(st = gpu->api->compile(gpu, desc, &code, &bytes, err)))
        as_code_cache_put(key.all, code, bytes);
    as_code_cache_release(claim);
    free(code);
    return st;
}

static enum as_status gpu_program_build(struct as_device *dev, const struct as_program_desc *desc,
                                        struct as_program **out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    int major = 0, minor = 0;
    struct program_key key = {0};
    *out = NULL;
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source, only native kernels", desc->name);
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st)
        st = gpu->api->find_compiler(gpu, &major, &minor, err);
    if (!st)
        st = find_key(dev, desc, major, minor, &key, err);
    if (st)
        return st;
    struct as_program *program = calloc(1, sizeof *program);
    if (!program)
        return as_nomem(err, sizeof *program, "a program record");
    if ((st = gpu_find_built(gpu, desc, key.all, &program->built, err))) {
        free(program);
        return st;
    }
    as_copy_text(program->name, sizeof program->name, desc->name);
    as_device_note_code(dev, key.source, program->built->binary_hash);
    *out = program;
    return AS_OK;
}

static void gpu_program_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

static enum as_status gpu_program_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                         struct as_kernel **out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    *out = NULL;
    struct as_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel record");
    enum as_status st = as_gpu_alive(gpu, err);
    if (!st) {
        int code = gpu->f->module_function.call(&k->function, program->built->module, name);
        st = code == gpu->api->not_found
                 ? as_fail(err, AS_FAILED, "%s: program '%s' has no kernel '%s'", gpu->api->name, program->name, name)
                 : as_gpu_check(gpu, code, gpu->f->module_function.name, err);
    }
    if (st) {
        free(k);
        return st;
    }
    k->built = program->built;
    as_copy_text(k->name, sizeof k->name, name);
    *out = k;
    return AS_OK;
}

static void gpu_kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    (void)dev;
    free(kernel);
}

static enum as_status gpu_program_count(struct as_device *dev, struct as_kernel *kernel, const char *operation,
                                        uint64_t *n, struct as_error *err)
{
    const struct as_gpu_api *api = ((const struct as_gpu *)dev->ctx)->api;
    const struct as_gpu_built *b = kernel->built;
    return api->count ? api->count(b->code, b->code_bytes, kernel->name, operation, n, err)
                      : as_fail(err, AS_UNSUPPORTED, "%s: instructions are not counted in its machine code", api->name);
}

static enum as_status program_instructions(struct as_device *dev, struct as_kernel *kernel, struct as_instructions *out,
                                           struct as_error *err)
{
    const struct as_gpu_api *api = ((const struct as_gpu *)dev->ctx)->api;
    const struct as_gpu_built *b = kernel->built;
    *out = (struct as_instructions){.n = 0};
    return api->instructions
               ? api->instructions(b->code, b->code_bytes, kernel->name, out, err)
               : as_fail(err, AS_UNSUPPORTED, "%s: instructions of its machine code have no names here", api->name);
}

static enum as_status gpu_kernel_info(struct as_device *dev, struct as_kernel *kernel, size_t workgroup_size,
                                      size_t shared_bytes, struct as_kernel_info *out, struct as_error *err)
{
    struct as_gpu *gpu = dev->ctx;
    const struct as_gpu_api *api = gpu->api;
    const struct as_gpu_built *b = kernel->built;
    int registers = 0, local = 0, spilled = 0, threads = 0, workgroups = 0;
    const struct {
        int what, *value;
    } asked[] = {{api->kernel.registers, &registers},
                 {api->kernel.shared_bytes, &local},
                 {api->kernel.private_bytes, &spilled},
                 {api->kernel.max_threads, &threads}};
    *out = (struct as_kernel_info){0};
    enum as_status st = as_gpu_alive(gpu, err);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !st; i++)
        st = AS_GPU_DO(gpu, err, function_attribute, asked[i].value, asked[i].what, kernel->function);
    if (!st)
        st = api->allow_shared(dev, kernel, shared_bytes, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, occupancy, &workgroups, kernel->function, (int)workgroup_size, shared_bytes);
    if (!st)
        st = api->code_bytes(b->code, b->code_bytes, kernel->name, &out->code_bytes, err);
    if (st)
        return st;
    out->registers = (unsigned)registers;
    out->shared_bytes = (uint64_t)local;
    out->private_bytes = (uint64_t)spilled;
    out->max_threads = (unsigned)threads;
    out->resident_workgroups = (unsigned)workgroups;
    return AS_OK;
}

const struct as_program_ops as_gpu_program_ops = {
    .build = gpu_program_build,
    .destroy = gpu_program_destroy,
    .kernel = gpu_program_kernel,
    .kernel_destroy = gpu_kernel_destroy,
    .count = gpu_program_count,
    .instructions = program_instructions,
    .kernel_info = gpu_kernel_info,
};
