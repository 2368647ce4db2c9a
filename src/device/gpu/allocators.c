/* Allocators common to the APIs. */
#include "device/gpu/memory.h"

#include "base/host.h"
#include "device/backing.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status see_host(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_gpu_api *api = gpu->api;
    return as_gpu_check(gpu, api->host_address(gpu, b->host, &b->address), api->host_address_name, err);
}

enum as_status as_gpu_get_pinned(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    enum as_status st = AS_GPU_DO(gpu, err, host_alloc, &b->host, b->bytes, gpu->api->host_mapped | b->how->flags);
    return st ? st : see_host(gpu, b, err);
}

int as_gpu_release_pinned(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->host ? gpu->f->host_free.call(b->host) : 0;
}

enum as_status as_gpu_get_malloc(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    (void)gpu;
    const uint64_t huge = b->how->pages == AS_GPU_HUGE_PAGES ? as_backing_huge_page() : 0,
                   page = huge ? huge : as_host_page();
    if (posix_memalign(&b->host, page, as_gpu_round_up(b->bytes, page))) {
        b->host = NULL;
        return as_nomem(err, b->bytes, "host memory for a device");
    }
    b->address = (uintptr_t)b->host;
    return AS_OK;
}

int as_gpu_release_malloc(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    (void)gpu;
    free(b->host);
    return 0;
}

enum as_status as_gpu_get_pool(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    (void)gpu;
    b->page_size = as_backing_pool_page();
    const uint64_t bytes = b->page_size ? as_gpu_round_up(b->bytes, b->page_size) : 0;
    b->host = bytes ? as_backing_pool_map(bytes) : NULL;
    if (!b->host)
        return as_fail(err, AS_NOMEM, "the reserved pool has too few free huge pages for %llu bytes",
                       (unsigned long long)b->bytes);
    b->taken = bytes;
    b->address = (uintptr_t)b->host;
    return AS_OK;
}

int as_gpu_release_pool(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    (void)gpu;
    as_backing_pool_unmap(b->host, b->taken);
    return 0;
}

enum as_status as_gpu_get_registered(struct as_gpu *gpu, struct as_gpu_block *b, struct as_error *err)
{
    enum as_status st = as_gpu_get_malloc(gpu, b, err);
    if (st)
        return st;
    uint64_t bytes = as_gpu_round_up(b->bytes, as_host_page());
    if (b->is_placed) {
        as_backing_drop_pages(b->host, bytes); /* the heap's may be those of an earlier block */
        as_backing_want_base_pages(b->host, bytes);
        as_backing_want_node(b->host, bytes, b->node);
    }
    st = AS_GPU_DO(gpu, err, host_register, b->host, bytes, gpu->api->register_mapped);
    if (st)
        return st;
    b->taken = bytes;
    return see_host(gpu, b, err);
}

int as_gpu_release_registered(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    int code = b->taken ? gpu->f->host_unregister.call(b->host) : 0;
    free(b->host);
    return code;
}

static enum as_status compile_static(struct as_gpu *gpu, uint64_t bytes, const char *source, struct as_error *err)
{
    char defines[64];
    size_t code_bytes = 0;
    int major = 0, minor = 0;
    enum as_status st = gpu->api->find_compiler(gpu, &major, &minor, err);
    if (st)
        return st;
    as_gpu_forget_static(gpu);
    snprintf(defines, sizeof defines, "-DAS_STATIC_BYTES=%llu", (unsigned long long)bytes);
    const struct as_program_desc desc = {.name = "managed static", .source = source, .defines = defines};
    gpu->static_bytes = bytes;
    return gpu->api->compile(gpu, &desc, &gpu->static_code, &code_bytes, err);
}

void as_gpu_forget_static(struct as_gpu *gpu)
{
    free(gpu->static_code);
    gpu->static_code = NULL;
}

enum as_status as_gpu_load_static(struct as_gpu *gpu, struct as_gpu_block *b, const char *source, struct as_error *err)
{
    enum as_status st = AS_OK;
    if (!gpu->static_code || gpu->static_bytes != b->bytes)
        st = compile_static(gpu, b->bytes, source, err);
    if (!st)
        st = AS_GPU_DO(gpu, err, module_load, &b->module, gpu->static_code);
    if (st)
        b->module = NULL;
    return st;
}

int as_gpu_release_static(const struct as_gpu *gpu, struct as_gpu_block *b)
{
    return b->module ? gpu->f->module_unload.call(b->module) : 0;
}
