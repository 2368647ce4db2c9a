/* The OpenCL backend: platforms and devices, opened and closed. */
#include "device/opencl/opencl.h"
#include "device/opencl/roles.h"

#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 64 };

static enum as_status add_platform(struct as_cl_backend *b, cl_platform_id platform, struct as_error *err)
{
    cl_device_id ids[DEVICES_MAX] = {NULL}; /* a driver may count more than it returns */
    cl_uint n = 0;
    cl_int code = b->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n);
    /* Platforms without devices are common: a driver without its hardware. */
    if (code == CL_DEVICE_NOT_FOUND || n == 0)
        return AS_OK;
    enum as_status st = as_cl_check(code, "clGetDeviceIDs", err);
    if (st)
        return st;
    if (n > DEVICES_MAX)
        n = DEVICES_MAX;
    st = as_grow((void **)&b->found, &b->found_cap, b->found_n + n, sizeof *b->found, err);
    for (cl_uint i = 0; i < n && !st && ids[i]; i++) {
        struct as_cl_found *f = &b->found[b->found_n];
        *f = (struct as_cl_found){.platform = platform, .id = ids[i], .order = b->found_n};
        as_cl_bus_id(&b->api, ids[i], f->bus_id);
        b->found_n++;
    }
    return st;
}

/* By PCI address; devices without one follow in the loader's order. */
static int by_bus(const void *a, const void *b)
{
    const struct as_cl_found *x = a, *y = b;
    if (x->bus_id[0] && y->bus_id[0]) {
        int c = strcmp(x->bus_id, y->bus_id);
        if (c)
            return c;
    } else if (x->bus_id[0] || y->bus_id[0]) {
        return x->bus_id[0] ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static enum as_status opencl_find_devices(struct as_cl_backend *b, struct as_error *err)
{
    cl_platform_id platforms[PLATFORMS_MAX] = {NULL};
    cl_uint n = 0;
    cl_int code = b->api.clGetPlatformIDs(PLATFORMS_MAX, platforms, &n);
    if (code == -1001 || (code == CL_SUCCESS && n == 0))
        return as_fail(
            err, AS_UNSUPPORTED,
            "libOpenCL.so.1 is installed, but no driver is registered with it; install one (for the CPU: PoCL)");
    enum as_status st = as_cl_check(code, "clGetPlatformIDs", err);
    if (st)
        return st;
    struct as_error first = {0};
    for (cl_uint i = 0; i < n && i < PLATFORMS_MAX && platforms[i]; i++) {
        struct as_error why = {0};
        if (add_platform(b, platforms[i], &why) && first.code == AS_OK)
            first = why;
    }
    if (b->found_n)
        qsort(b->found, b->found_n, sizeof *b->found, by_bus);
    if (b->found_n == 0 && first.code)
        return as_fail(err, first.code, "%s", first.text);
    if (b->found_n == 0)
        return as_fail(err, AS_UNSUPPORTED, "OpenCL drivers are installed (%u), but none of them has a device",
                       (unsigned)n);
    return AS_OK;
}

static void opencl_backend_close(void *backend)
{
    struct as_cl_backend *b = backend;
    if (!b)
        return;
    free(b->found);
    free(b);
}

static enum as_status opencl_backend_open(void **backend, struct as_error *err)
{
    struct as_cl_backend *b = calloc(1, sizeof *b);
    if (!b)
        return as_nomem(err, sizeof *b, "OpenCL backend");
    enum as_status st = as_cl_load(&b->api, err);
    if (!st)
        st = opencl_find_devices(b, err);
    if (st) {
        opencl_backend_close(b);
        b = NULL;
    }
    *backend = b;
    return st;
}

static size_t opencl_backend_count(void *backend)
{
    return ((struct as_cl_backend *)backend)->found_n;
}

static void opencl_device_close(struct as_device *dev)
{
    struct as_cl_device *cl = dev->ctx;
    if (!cl)
        return;
    if (cl->queue)
        cl->api->clFinish(cl->queue);
    if (cl->last)
        cl->api->clReleaseEvent(cl->last);
    as_cl_forget_programs(cl);
    as_cl_queues_close(cl);
    if (cl->back)
        cl->api->clReleaseCommandQueue(cl->back);
    if (cl->queue)
        cl->api->clReleaseCommandQueue(cl->queue);
    if (cl->context)
        cl->api->clReleaseContext(cl->context);
    free(cl);
    dev->ctx = NULL;
}

static const struct as_device_ops device_ops = {
    .close = opencl_device_close,
    .memory_free = as_cl_memory_free,
    .topology = as_cl_topology,
};

static enum as_status create_queue(struct as_cl_device *cl, struct as_error *err)
{
    cl_int code;
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)cl->platform, 0};
    cl->context = cl->api->clCreateContext(properties, 1, &cl->id, NULL, NULL, &code);
    enum as_status st = as_cl_check(cl->context ? CL_SUCCESS : code, "clCreateContext", err);
    if (st)
        return st;
    cl->queue = cl->api->clCreateCommandQueue(cl->context, cl->id, CL_QUEUE_PROFILING_ENABLE, &code);
    return as_cl_check(cl->queue ? CL_SUCCESS : code, "clCreateCommandQueue", err);
}

static enum as_status opencl_backend_open_device(void *backend, size_t index, struct as_device *out,
                                                 struct as_error *err)
{
    struct as_cl_backend *b = backend;
    *out = (struct as_device){
        .device = &device_ops, .memory = &as_cl_memory_ops, .program = &as_cl_program_ops, .queue = &as_cl_queue_ops};
    if (index >= b->found_n)
        return as_fail(err, AS_NOTFOUND, "there is no device 'opencl:%zu'; the last is 'opencl:%zu'", index,
                       b->found_n - 1);
    struct as_cl_device *cl = calloc(1, sizeof *cl);
    if (!cl)
        return as_nomem(err, sizeof *cl, "OpenCL device");
    const struct as_cl_found *found = &b->found[index];
    cl->api = &b->api;
    cl->platform = found->platform;
    cl->id = found->id;
    out->ctx = cl;
    enum as_status st = as_cl_fill_info(out, found, index, err);
    if (cl->type & CL_DEVICE_TYPE_CPU)
        out->memory = &as_cl_cpu_memory_ops;
    if (!st)
        st = create_queue(cl, err);
    if (st)
        opencl_device_close(out);
    return st;
}

static const char *const environment[] = {AS_CL_COUNTER, NULL};

const struct as_backend as_backend_opencl = {
    .abi = AS_DEVICE_ABI,
    .name = "opencl",
    .title = "OpenCL, any vendor, by libOpenCL.so.1",
    .portable = true,
    .roles = as_cl_roles,
    .open = opencl_backend_open,
    .close = opencl_backend_close,
    .count = opencl_backend_count,
    .words = &as_cl_words,
    .environment = environment,
    .open_device = opencl_backend_open_device,
};
