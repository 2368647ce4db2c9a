/* Programs of the CPU: native kernels, looked up by name. */
#include "base/text.h"
#include "device/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

static enum as_status cpu_program_build(struct as_device *dev, const struct as_program_desc *desc,
                                        struct as_program **out, struct as_error *err)
{
    (void)dev;
    if (!desc->host)
        return as_fail(err, AS_UNSUPPORTED, "\"%s\" has no native kernels for the CPU", desc->name);
    struct as_program *p = calloc(1, sizeof *p);
    if (!p)
        return as_nomem(err, sizeof *p, "a program");
    p->host = desc->host;
    as_copy_text(p->name, sizeof p->name, desc->name);
    *out = p;
    return AS_OK;
}

static void cpu_program_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

static enum as_status cpu_program_kernel(struct as_device *dev, struct as_program *program, const char *name,
                                         struct as_kernel **out, struct as_error *err)
{
    (void)dev;
    const struct as_host_kernel *k = program->host;
    while (k->name && strcmp(k->name, name) != 0)
        k++;
    if (!k->name || !k->run)
        return as_fail(err, AS_NOTFOUND, "\"%s\" has no native kernel \"%s\"", program->name, name);
    struct as_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return as_nomem(err, sizeof *kernel, "a kernel");
    kernel->host = k;
    *out = kernel;
    return AS_OK;
}

static void cpu_kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    (void)dev;
    free(kernel);
}

const struct as_program_ops as_cpu_program_ops = {
    .build = cpu_program_build,
    .destroy = cpu_program_destroy,
    .kernel = cpu_program_kernel,
    .kernel_destroy = cpu_kernel_destroy,
};
