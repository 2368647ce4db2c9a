/* Memory of an OpenCL device: buffers and shared virtual memory. */
#include "device/arena.h"
#include "device/backing.h"
#include "device/opencl/opencl.h"
#include "device/opencl/roles.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum way { BUFFER, BUFFER_ALLOC_HOST, BUFFER_USE_HOST, SVM_COARSE, SVM_FINE };

struct allocator {
    const char *name;
    enum way way;
    cl_mem_flags flags;
    cl_device_svm_capabilities needs; /* SVM capability without which it cannot be used */
};
static const struct allocator allocators[] = {
    {"clCreateBuffer", BUFFER, CL_MEM_READ_WRITE, 0},
    {"clCreateBuffer ALLOC_HOST_PTR", BUFFER_ALLOC_HOST, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 0},
    {"clCreateBuffer USE_HOST_PTR", BUFFER_USE_HOST, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 0},
    {"clSVMAlloc coarse", SVM_COARSE, CL_MEM_READ_WRITE, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER},
    {"clSVMAlloc fine", SVM_FINE, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER},
};
enum { ALLOCATORS_N = sizeof allocators / sizeof *allocators, IDLE_SHARE = 3 /* idle arenas: of all memory */ };

/* The target of as_memory.ctx. */
struct block {
    const struct allocator *how;
    cl_mem buffer;      /* BUFFER* */
    void *svm;          /* SVM_* */
    void *host_storage; /* BUFFER_USE_HOST: the malloc behind it */
    bool is_part;       /* of another block, which owns svm */
};

void as_cl_list_allocators(struct as_device *dev)
{
    struct as_cl_device *cl = dev->ctx;
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        const struct allocator *a = &allocators[i];
        struct as_allocator *out = &dev->info.allocators[dev->info.allocators_n++];
        *out = (struct as_allocator){.host_access = true,
                                     .on_demand = (cl->type & CL_DEVICE_TYPE_CPU) != 0,
                                     .coherent = a->way == SVM_FINE && (cl->svm & CL_DEVICE_SVM_ATOMICS)};
        as_copy_text(out->name, sizeof out->name, a->name);
        out->role = as_role_in(as_cl_roles, a->name);
        if (a->way != SVM_FINE)
            as_copy_text(out->no_sharing, sizeof out->no_sharing,
                         "the host can access it only while it is mapped, when no kernel may use it");
        else if (!out->coherent)
            as_copy_text(out->no_sharing, sizeof out->no_sharing,
                         "CL_DEVICE_SVM_CAPABILITIES has no CL_DEVICE_SVM_ATOMICS");
        /* The standard lets a driver keep a copy in the device, and some do: only mapping makes it visible to the host.
         */
        if (a->way != BUFFER && a->way != SVM_FINE && !dev->info.is_host_memory)
            as_copy_text(out->moves, sizeof out->moves,
                         "the driver may keep its data in the device's memory while kernels use it");
        if (a->needs && !cl->api->clSVMAlloc)
            as_copy_text(out->why_not, sizeof out->why_not, "libOpenCL has no 'clSVMAlloc' (it came with OpenCL 2.0)");
        else if (a->needs && !(cl->svm & a->needs))
            as_copy_text(out->why_not, sizeof out->why_not,
                         a->way == SVM_FINE ? "the device has no fine-grained shared virtual memory"
                                            : "the device has no shared virtual memory");
    }
}

static const struct allocator *opencl_find_allocator(const struct as_device *dev, const char *name,
                                                     struct as_error *err)
{
    for (size_t i = 0; i < ALLOCATORS_N; i++) {
        if (strcmp(allocators[i].name, name) != 0)
            continue;
        const char *why_not = dev->info.allocators[i].why_not; /* listed in the same order */
        if (why_not[0]) {
            as_fail(err, AS_UNSUPPORTED, "allocator '%s': %s", name, why_not);
            return NULL;
        }
        return &allocators[i];
    }
    as_info_no_allocator(&dev->info, name, err);
    return NULL;
}

static uint64_t round_to_page(uint64_t bytes)
{
    uint64_t page = as_host_page();
    return (bytes + page - 1) / page * page;
}

static void opencl_release(struct as_cl_device *cl, struct block *b)
{
    if (b->buffer)
        cl->api->clReleaseMemObject(b->buffer);
    if (b->svm && !b->is_part)
        cl->api->clSVMFree(cl->context, b->svm);
    free(b->host_storage);
    *b = (struct block){0};
}

/* The bare allocation that is timed. */
static enum as_status opencl_obtain(struct as_cl_device *cl, const struct allocator *how, uint64_t bytes,
                                    struct block *b, struct as_error *err)
{
    *b = (struct block){.how = how};
    if (how->way == SVM_COARSE || how->way == SVM_FINE) {
        cl_svm_mem_flags flags = how->flags;
        if (how->way == SVM_FINE && (cl->svm & CL_DEVICE_SVM_ATOMICS))
            flags |= CL_MEM_SVM_ATOMICS;
        b->svm = cl->api->clSVMAlloc(cl->context, flags, bytes, 0);
        return b->svm ? AS_OK
                      : as_fail(err, AS_NOMEM, "opencl: clSVMAlloc returned no memory for %llu bytes",
                                (unsigned long long)bytes);
    }
    if (how->way == BUFFER_USE_HOST &&
        posix_memalign(&b->host_storage, (size_t)as_host_page(), (size_t)round_to_page(bytes))) {
        b->host_storage = NULL;
        return as_nomem(err, bytes, "host memory under an OpenCL buffer");
    }
    cl_int code = CL_SUCCESS;
    b->buffer = cl->api->clCreateBuffer(cl->context, how->flags, bytes, b->host_storage, &code);
    if (b->buffer)
        return AS_OK;
    opencl_release(cl, b);
    return as_cl_check(code ? code : CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateBuffer", err);
}

static enum as_status obtain_part(struct as_cl_device *cl, const struct block *of, uint64_t offset, uint64_t bytes,
                                  struct block *b, struct as_error *err)
{
    const cl_buffer_region region = {offset, bytes};
    cl_int code = CL_SUCCESS;
    b->buffer = cl->api->clCreateSubBuffer(of->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return b->buffer ? AS_OK : as_cl_check(code ? code : CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateSubBuffer", err);
}

static enum as_status opencl_check_size(const struct as_device *dev, uint64_t bytes, struct as_error *err)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return as_fail(err, AS_USAGE, "opencl: %llu bytes cannot be allocated", (unsigned long long)bytes);
    if (dev->info.max_alloc && bytes > dev->info.max_alloc)
        return as_fail(err, AS_UNSUPPORTED, "opencl: %llu bytes exceed the device's largest allocation of %llu",
                       (unsigned long long)bytes, (unsigned long long)dev->info.max_alloc);
    return AS_OK;
}

static void opencl_memory_free(struct as_device *dev, struct as_memory *mem)
{
    if (!mem)
        return;
    struct as_cl_device *cl = dev->ctx;
    struct block *b = mem->ctx;
    if (mem->host && b->how->way != SVM_FINE)
        as_cl_memory_ops.unmap(dev, mem, NULL);
    cl->held -= b->is_part ? 0 : mem->bytes;
    opencl_release(cl, b);
    free(b);
    free(mem);
}

static enum as_status opencl_memory_alloc(struct as_device *dev, const struct as_memory_desc *desc,
                                          struct as_memory **out, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    *out = NULL;
    const struct allocator *how = opencl_find_allocator(dev, desc->allocator, err);
    if (!how)
        return err ? err->code : AS_UNSUPPORTED;
    enum as_status st = opencl_check_size(dev, desc->bytes, err);
    if (!st && desc->owner && strcmp(desc->owner, dev->info.id) != 0)
        st = as_fail(err, AS_UNSUPPORTED, "opencl: a device cannot access the memory of device '%s'", desc->owner);
    if (st)
        return st;
    if (cl->held + desc->bytes > cl->total / IDLE_SHARE)
        as_arenas_drop_idle(dev);
    struct as_memory *mem = calloc(1, sizeof *mem);
    struct block *b = calloc(1, sizeof *b);
    st = mem && b ? opencl_obtain(cl, how, desc->bytes, b, err)
                  : as_nomem(err, sizeof *mem + sizeof *b, "a memory record");
    if (st) {
        free(mem);
        free(b);
        return st;
    }
    if (b->host_storage) /* not part of the allocation that is timed */
        as_backing_want_base_pages(b->host_storage, desc->bytes);
    *mem = (struct as_memory){.bytes = desc->bytes, .ctx = b, .page_size = dev->info.page_size};
    if (how->way == SVM_FINE)
        mem->host = b->svm;
    cl->held += mem->bytes;
    *out = mem;
    return AS_OK;
}

static enum as_status opencl_memory_part(struct as_device *dev, struct as_memory *whole, uint64_t offset,
                                         uint64_t bytes, struct as_memory **out, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct block *of = whole->ctx;
    enum as_status st = as_memory_check(whole, offset, bytes, err);
    if (st)
        return st;
    struct as_memory *mem = calloc(1, sizeof *mem);
    struct block *b = calloc(1, sizeof *b);
    if (mem && b) {
        *b = (struct block){.how = of->how, .svm = of->svm ? (char *)of->svm + offset : NULL, .is_part = true};
        st = of->svm ? AS_OK : obtain_part(cl, of, offset, bytes, b, err);
    } else
        st = as_nomem(err, sizeof *mem + sizeof *b, "a memory record");
    if (st) {
        free(mem);
        free(b);
        return st;
    }
    *mem = (struct as_memory){.bytes = bytes, .ctx = b, .page_size = whole->page_size};
    if (of->how->way == SVM_FINE)
        mem->host = b->svm;
    *out = mem;
    return AS_OK;
}

static enum as_status opencl_memory_map(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct block *b = mem->ctx;
    if (mem->host)
        return AS_OK;
    const cl_map_flags flags = CL_MAP_READ | CL_MAP_WRITE;
    cl_int code;
    if (b->how->way == SVM_COARSE) {
        code = cl->api->clEnqueueSVMMap(cl->queue, CL_TRUE, flags, b->svm, mem->bytes, 0, NULL, NULL);
        if (code)
            return as_cl_check(code, "clEnqueueSVMMap", err);
        mem->host = b->svm;
        return AS_OK;
    }
    mem->host = cl->api->clEnqueueMapBuffer(cl->queue, b->buffer, CL_TRUE, flags, 0, mem->bytes, 0, NULL, NULL, &code);
    return mem->host ? AS_OK : as_cl_check(code, "clEnqueueMapBuffer", err);
}

static enum as_status opencl_memory_unmap(struct as_device *dev, struct as_memory *mem, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct block *b = mem->ctx;
    if (!mem->host || b->how->way == SVM_FINE)
        return AS_OK;
    cl_int code = b->how->way == SVM_COARSE
                      ? cl->api->clEnqueueSVMUnmap(cl->queue, b->svm, 0, NULL, NULL)
                      : cl->api->clEnqueueUnmapMemObject(cl->queue, b->buffer, mem->host, 0, NULL, NULL);
    mem->host = NULL;
    if (code == CL_SUCCESS)
        code = cl->api->clFinish(cl->queue);
    return as_cl_check(code, "unmapping memory", err);
}

/* Copies through a mapping, which the standard makes coherent, or through the existing one. Of to and from, the
 * NULL one stands for the memory. */
static enum as_status copy_mapped(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                  const void *from, uint64_t bytes, struct as_error *err)
{
    bool was_mapped = mem->host != NULL;
    enum as_status st = opencl_memory_map(dev, mem, err);
    if (st || !mem->host)
        return st ? st : as_fail(err, AS_FAILED, "opencl: a map returned no address and no error");
    char *here = (char *)mem->host + offset;
    memcpy(to ? to : here, from ? from : here, bytes);
    return was_mapped ? AS_OK : opencl_memory_unmap(dev, mem, err);
}

static enum as_status opencl_memory_write(struct as_device *dev, struct as_memory *mem, uint64_t offset,
                                          const void *from, uint64_t bytes, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct block *b = mem->ctx;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (st || bytes == 0)
        return st;
    if (b->svm || mem->host)
        return copy_mapped(dev, mem, offset, NULL, from, bytes, err);
    cl_int code = cl->api->clEnqueueWriteBuffer(cl->queue, b->buffer, CL_TRUE, offset, bytes, from, 0, NULL, NULL);
    return as_cl_check(code, "clEnqueueWriteBuffer", err);
}

static enum as_status opencl_memory_read(struct as_device *dev, struct as_memory *mem, uint64_t offset, void *to,
                                         uint64_t bytes, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct block *b = mem->ctx;
    enum as_status st = as_memory_check(mem, offset, bytes, err);
    if (st || bytes == 0)
        return st;
    if (b->svm || mem->host)
        return copy_mapped(dev, mem, offset, to, NULL, bytes, err);
    cl_int code = cl->api->clEnqueueReadBuffer(cl->queue, b->buffer, CL_TRUE, offset, bytes, to, 0, NULL, NULL);
    return as_cl_check(code, "clEnqueueReadBuffer", err);
}

enum as_status as_cl_set_memory_arg(struct as_cl_device *cl, cl_kernel kernel, cl_uint index,
                                    const struct as_memory *mem, struct as_error *err)
{
    const struct block *b = mem->ctx;
    if (b->svm)
        return as_cl_check(cl->api->clSetKernelArgSVMPointer(kernel, index, b->svm), "clSetKernelArgSVMPointer", err);
    return as_cl_check(cl->api->clSetKernelArg(kernel, index, sizeof b->buffer, &b->buffer), "clSetKernelArg", err);
}

struct as_cl_place as_cl_place(const struct as_memory *mem)
{
    const struct block *b = mem->ctx;
    return (struct as_cl_place){.buffer = b->buffer,
                                .svm = b->svm,
                                .host = b->how->way == BUFFER_ALLOC_HOST || b->how->way == BUFFER_USE_HOST,
                                .coarse = b->how->way == SVM_COARSE};
}

static enum as_status opencl_memory_time_alloc(struct as_device *dev, const char *allocator, uint64_t bytes,
                                               size_t count, double *alloc_s, double *free_s, struct as_error *err)
{
    struct as_cl_device *cl = dev->ctx;
    const struct allocator *how = opencl_find_allocator(dev, allocator, err);
    if (!how)
        return err ? err->code : AS_UNSUPPORTED;
    enum as_status st = as_check_blocks("opencl", bytes, count, err);
    if (!st)
        st = opencl_check_size(dev, bytes, err);
    if (st)
        return st;
    struct block *blocks = calloc(count, sizeof *blocks);
    if (!blocks)
        return as_nomem(err, count * sizeof *blocks, "a list of blocks");
    size_t got = 0;
    uint64_t t0 = as_now_ns();
    while (got < count && !(st = opencl_obtain(cl, how, bytes, &blocks[got], err)))
        got++;
    uint64_t t1 = as_now_ns();
    for (size_t i = 0; i < got; i++)
        opencl_release(cl, &blocks[i]);
    uint64_t t2 = as_now_ns();
    *alloc_s = (double)(t1 - t0) * 1e-9;
    *free_s = (double)(t2 - t1) * 1e-9;
    free(blocks);
    return st;
}

#define COMMON                                                                                                         \
    .alloc = opencl_memory_alloc, .free = opencl_memory_free, .map = opencl_memory_map, .unmap = opencl_memory_unmap,  \
    .write = opencl_memory_write, .read = opencl_memory_read, .time_alloc = opencl_memory_time_alloc
const struct as_memory_ops as_cl_memory_ops = {COMMON};
const struct as_memory_ops as_cl_cpu_memory_ops = {COMMON, .part = opencl_memory_part};
