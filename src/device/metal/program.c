/* Programs and kernels: dialect source is built into a library once per process, its functions into pipelines. */
#include "device/metal/metal.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/dialect/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_mtl_forget_programs(struct as_mtl_device *d)
{
    while (d->built) {
        struct as_mtl_built *next = d->built->next;
        as_mtl_release(d->api, &d->built->library);
        free(d->built);
        d->built = next;
    }
}

/* Safe math, since fast math would merge steps of a chain and change results. macOS 15 replaced the option. */
static as_objc_id options(const struct as_mtl_api *m)
{
    as_objc_id o = AS_SEND(m, create, m->get_class("MTLCompileOptions"));
    if (o && as_mtl_responds(m, o, m->math_mode.sel))
        AS_SEND_WITH(m, math_mode, o, AS_MTL_MATH_MODE_SAFE);
    else if (o)
        AS_SEND_WITH(m, fast_math, o, 0);
    return o;
}

enum as_status as_mtl_compile(struct as_mtl_device *d, const char *name, const char *source, as_objc_id *library,
                              struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id error = NULL, o = options(m), text = as_mtl_string(m, source);
    char what[100];
    *library = o && text ? AS_SEND_WITH(m, new_library, d->device, text, o, &error) : NULL;
    as_mtl_release(m, &o);
    snprintf(what, sizeof what, "program '%s' does not build", name);
    return *library ? AS_OK : as_mtl_fail(m, error, what, err);
}

enum as_status as_mtl_pipeline(struct as_mtl_device *d, as_objc_id library, const char *program, const char *function,
                               as_objc_id *pipeline, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    as_objc_id error = NULL, f = AS_SEND_WITH(m, new_function, library, as_mtl_string(m, function));
    char what[100];
    *pipeline = NULL;
    if (!f)
        return as_fail(err, AS_FAILED, "metal: program '%s' has no kernel '%s'", program, function);
    *pipeline = AS_SEND_WITH(m, new_pipeline, d->device, f, &error);
    as_mtl_release(m, &f);
    snprintf(what, sizeof what, "cannot create a pipeline for kernel '%s'", function);
    return *pipeline ? AS_OK : as_mtl_fail(m, error, what, err);
}

/* Turns "-DNAME=VALUE -DOTHER" into source lines: the compiler gets no other options. */
static enum as_status define(const char *defines, const char *name, struct as_buf *out, struct as_error *err)
{
    for (const char *at = defines ? defines : ""; *(at += strspn(at, " "));) {
        const size_t n = strcspn(at, " "), word = strcspn(at, " =");
        if (n < 3 || strncmp(at, "-D", 2) != 0)
            return as_fail(err, AS_USAGE, "metal: program '%s': '%.*s' is not a definition", name, (int)n, at);
        as_buf_printf(out, "#define %.*s %.*s\n", (int)word - 2, at + 2, word < n ? (int)(n - word - 1) : 1,
                      word < n ? at + word + 1 : "1");
        at += n;
    }
    return AS_OK;
}

/* The program with this source, cached or newly built. */
static enum as_status metal_find_built(struct as_mtl_device *d, const char *name, const char *source,
                                       struct as_mtl_built **out, struct as_error *err)
{
    const uint64_t key = as_hash(source, strlen(source));
    for (*out = d->built; *out; *out = (*out)->next)
        if ((*out)->key == key)
            return AS_OK;
    struct as_mtl_built *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "a program record");
    b->key = key;
    enum as_status st = as_mtl_compile(d, name, source, &b->library, err);
    if (st) {
        free(b);
        return st;
    }
    b->next = d->built;
    d->built = *out = b;
    return AS_OK;
}

static enum as_status metal_program_build(struct as_device *dev, const struct as_program_desc *desc,
                                          struct as_program **out, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    struct as_buf source = AS_BUF_INIT;
    *out = NULL;
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source, only native kernels", desc->name);
    struct as_program *program = calloc(1, sizeof *program);
    if (!program)
        return as_nomem(err, sizeof *program, "a program record");
    void *pool = d->api->pool_push();
    enum as_status st = as_mtl_alive(d, err);
    if (!st)
        st = define(desc->defines, desc->name, &source, err);
    as_dialect_source(AS_DIALECT_METAL, desc->source, &source);
    if (!st)
        st = as_buf_check(&source, err);
    if (!st)
        st = metal_find_built(d, desc->name, as_buf_get(&source), &program->built, err);
    d->api->pool_pop(pool);
    as_buf_finish(&source);
    if (st) {
        free(program);
        return st;
    }
    as_copy_text(program->name, sizeof program->name, desc->name);
    as_device_note_code(dev, program->built->key, 0);
    *out = program;
    return AS_OK;
}

static void metal_program_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

static enum as_status metal_program_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                           struct as_kernel **out, struct as_error *err)
{
    struct as_mtl_device *d = dev->ctx;
    *out = NULL;
    struct as_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel record");
    void *pool = d->api->pool_push();
    enum as_status st = as_mtl_pipeline(d, program->built->library, program->name, name, &k->pipeline, err);
    d->api->pool_pop(pool);
    if (st) {
        free(k);
        return st;
    }
    as_copy_text(k->name, sizeof k->name, name);
    *out = k;
    return AS_OK;
}

static void metal_kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    struct as_mtl_device *d = dev->ctx;
    if (!kernel)
        return;
    as_mtl_release(d->api, &kernel->pipeline);
    free(kernel);
}

/* Pipelines report the threadgroup size that their registers allow, and their threadgroup memory. */
static enum as_status metal_kernel_info(struct as_device *dev, struct as_kernel *kernel, size_t workgroup_size,
                                        size_t shared_bytes, struct as_kernel_info *out, struct as_error *err)
{
    const struct as_mtl_device *d = dev->ctx;
    (void)workgroup_size, (void)shared_bytes, (void)err;
    *out = (struct as_kernel_info){
        .shared_bytes = AS_SEND(d->api, pipeline_memory, kernel->pipeline),
        .max_threads = (unsigned)AS_SEND(d->api, pipeline_threads, kernel->pipeline),
    };
    return AS_OK;
}

const struct as_program_ops as_mtl_program_ops = {
    .build = metal_program_build,
    .destroy = metal_program_destroy,
    .kernel = metal_program_kernel,
    .kernel_destroy = metal_kernel_destroy,
    .kernel_info = metal_kernel_info,
};
