#include "device/native_program.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum as_status as_native_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                               struct as_error *err)
{
    if (!desc->host)
        return as_fail(err, AS_UNSUPPORTED, "\"%s\" has no native kernels for device \"%s\"", desc->name, dev->info.id);
    struct as_program *p = calloc(1, sizeof *p);
    if (!p)
        return as_nomem(err, sizeof *p, "a program");
    p->host = desc->host;
    as_copy_text(p->name, sizeof p->name, desc->name);
    *out = p;
    return AS_OK;
}

void as_native_destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev;
    free(program);
}

enum as_status as_native_kernel(struct as_device *dev, struct as_program *program, const char *name,
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
    as_copy_text(kernel->program, sizeof kernel->program, program->name);
    *out = kernel;
    return AS_OK;
}

void as_native_kernel_destroy(struct as_device *dev, struct as_kernel *kernel)
{
    (void)dev;
    free(kernel);
}
