/* Programs and kernels: dialect source is built once per process. */
#include "device/opencl/opencl.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/dialect/dialect.h"

#include <stdlib.h>
#include <string.h>

void as_cl_forget_programs(struct as_cl_device *cl)
{
    while (cl->built) {
        struct as_cl_built *next = cl->built->next;
        if (cl->built->program)
            cl->api->clReleaseProgram(cl->built->program);
        free(cl->built);
        cl->built = next;
    }
}

static enum as_status fail_build(struct as_cl_device *cl, cl_program program, cl_int code, const char *name,
                                 struct as_error *err)
{
    size_t n = 0;
    char *log = NULL;
    char complaint[380]; /* err holds 512 bytes */
    if (!cl->api->clGetProgramBuildInfo(program, cl->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) && n && n < 1u << 24)
        log = calloc(n + 1, 1);
    bool has_log = log && !cl->api->clGetProgramBuildInfo(program, cl->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    as_dialect_complaint(has_log ? log : NULL, complaint, sizeof complaint);
    free(log);
    return as_fail(err, AS_FAILED, "opencl: program '%s' does not build (%s): %s", name, as_cl_error_name(code),
                   complaint);
}

/* 0 if there is none, and on a CPU, which compiles a kernel for its size at the first launch: the query
 * would compile it once more, in a form that never runs. */
static uint64_t hash_binary(struct as_cl_device *cl, cl_program program)
{
    size_t n = 0;
    uint64_t hash = 0;
    if (cl->type & CL_DEVICE_TYPE_CPU)
        return 0;
    if (cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) || n == 0 || n > 1u << 28)
        return 0;
    unsigned char *bytes = calloc(n, 1); /* zeroed, since all of it is hashed even if the driver fills less */
    if (bytes && !cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL))
        hash = as_hash(bytes, n);
    free(bytes);
    return hash;
}

static enum as_status opencl_compile(struct as_cl_device *cl, const struct as_program_desc *desc, const char *source,
                                     const char *options, struct as_cl_built *out, struct as_error *err)
{
    cl_int code;
    out->program = cl->api->clCreateProgramWithSource(cl->context, 1, &source, NULL, &code);
    enum as_status st = as_cl_check(out->program ? CL_SUCCESS : code, "clCreateProgramWithSource", err);
    if (st)
        return st;
    code = cl->api->clBuildProgram(out->program, 1, &cl->id, options, NULL, NULL);
    if (code)
        return fail_build(cl, out->program, code, desc->name, err);
    out->binary_hash = hash_binary(cl, out->program);
    return AS_OK;
}

/* The program with this source and these options, cached or newly built. */
static enum as_status opencl_find_built(struct as_cl_device *cl, const struct as_program_desc *desc, const char *source,
                                        const char *options, struct as_cl_built **out, struct as_error *err)
{
    uint64_t parts[2] = {as_hash(source, strlen(source)), as_hash(options, strlen(options))};
    uint64_t key = as_hash(parts, sizeof parts);
    for (*out = cl->built; *out; *out = (*out)->next)
        if ((*out)->key == key)
            return AS_OK;
    struct as_cl_built *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "a program record");
    b->key = key;
    enum as_status st = opencl_compile(cl, desc, source, options, b, err);
    if (st) {
        if (b->program)
            cl->api->clReleaseProgram(b->program);
        free(b);
        return st;
    }
    b->next = cl->built;
    cl->built = *out = b;
    return AS_OK;
}

static enum as_status opencl_program_build(struct as_device *dev, const struct as_program_desc *desc,
                                           struct as_program **out, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    struct as_buf source = AS_BUF_INIT, options = AS_BUF_INIT;
    *out = NULL;
    if (!desc->source)
        return as_fail(err, AS_UNSUPPORTED, "program '%s' has no device source, only native kernels", desc->name);
    struct as_program *program = calloc(1, sizeof *program);
    if (!program)
        return as_nomem(err, sizeof *program, "a program record");
    as_dialect_source(AS_DIALECT_OPENCL, desc->source, &source);
    as_buf_str(&options, cl->language);
    as_buf_str(&options, cl->no_counter ? " -DAS_NO_COUNTER" : "");
    as_buf_str(&options, desc->defines ? " " : "");
    as_buf_str(&options, desc->defines);
    enum as_status st = as_buf_check(&source, err);
    if (!st)
        st = as_buf_check(&options, err);
    if (!st)
        st = opencl_find_built(cl, desc, as_buf_get(&source), as_buf_get(&options), &program->built, err);
    as_buf_finish(&source);
    as_buf_finish(&options);
    if (st) {
        free(program);
        return st;
    }
    as_copy_text(program->name, sizeof program->name, desc->name);
    as_device_note_code(dev, program->built->key, program->built->binary_hash);
    *out = program;
    return AS_OK;
}

static void opencl_program_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

static enum as_status opencl_program_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                            struct as_kernel **out, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    *out = NULL;
    struct as_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return as_nomem(err, sizeof *k, "a kernel record");
    cl_int code;
    k->kernel = cl->api->clCreateKernel(program->built->program, name, &code);
    if (!k->kernel) {
        free(k);
        if (code == CL_INVALID_KERNEL_NAME)
            return as_fail(err, AS_FAILED, "opencl: program '%s' has no kernel '%s'", program->name, name);
        return as_cl_check(code, "clCreateKernel", err);
    }
    as_copy_text(k->name, sizeof k->name, name);
    *out = k;
    return AS_OK;
}

static void opencl_kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    struct as_cl_device *cl = dev->ctx;
    if (!kernel)
        return;
    cl->api->clReleaseKernel(kernel->kernel);
    free(kernel);
}

const struct as_program_ops as_cl_program_ops = {
    .build = opencl_program_build,
    .destroy = opencl_program_destroy,
    .kernel = opencl_program_kernel,
    .kernel_destroy = opencl_kernel_destroy,
};
