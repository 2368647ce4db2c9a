/* Allocators common to the APIs. */
#include "device/gpu/memory.h"

#include "base/host.h"

#include <stdio.h>
#include <stdlib.h>

static enum as_status see_host(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err)
{
    const struct as_gpu_api *api = card->api;
    return as_gpu_check(card, api->host_address(card, b->host, &b->address), api->host_address_name, err);
}

enum as_status as_gpu_get_pinned(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err)
{
    enum as_status s = AS_GPU_DO(card, err, host_alloc, &b->host, b->bytes, card->api->host_mapped | b->how->flags);
    return s ? s : see_host(card, b, err);
}

int as_gpu_release_pinned(const struct as_gpu *card, struct as_gpu_block *b)
{
    return b->host ? card->f->host_free.call(b->host) : 0;
}

enum as_status as_gpu_get_malloc(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err)
{
    (void)card;
    uint64_t page = as_host_page();
    if (posix_memalign(&b->host, page, as_gpu_round_up(b->bytes, page))) {
        b->host = NULL;
        return as_nomem(err, b->bytes, "host memory for a device");
    }
    b->address = (uintptr_t)b->host;
    return AS_OK;
}

int as_gpu_release_malloc(const struct as_gpu *card, struct as_gpu_block *b)
{
    (void)card;
    free(b->host);
    return 0;
}

enum as_status as_gpu_get_registered(struct as_gpu *card, struct as_gpu_block *b, struct as_error *err)
{
    enum as_status s = as_gpu_get_malloc(card, b, err);
    if (s)
        return s;
    uint64_t bytes = as_gpu_round_up(b->bytes, as_host_page());
    s = AS_GPU_DO(card, err, host_register, b->host, bytes, card->api->register_mapped);
    if (s)
        return s;
    b->taken = bytes;
    return see_host(card, b, err);
}

int as_gpu_release_registered(const struct as_gpu *card, struct as_gpu_block *b)
{
    int code = b->taken ? card->f->host_unregister.call(b->host) : 0;
    free(b->host);
    return code;
}

enum as_status as_gpu_load_static(struct as_gpu *card, struct as_gpu_block *b, const char *source, struct as_error *err)
{
    char defines[64];
    unsigned char *code = NULL;
    size_t bytes = 0;
    int major = 0, minor = 0;
    enum as_status s = card->api->find_compiler(card, &major, &minor, err);
    if (s)
        return s;
    snprintf(defines, sizeof defines, "-DAS_STATIC_BYTES=%llu", (unsigned long long)b->bytes);
    const struct as_program_desc desc = {.name = "managed static", .source = source, .defines = defines};
    s = card->api->compile(card, &desc, &code, &bytes, err);
    if (!s)
        s = AS_GPU_DO(card, err, module_load, &b->module, code);
    free(code);
    if (s)
        b->module = NULL;
    return s;
}

int as_gpu_release_static(const struct as_gpu *card, struct as_gpu_block *b)
{
    return b->module ? card->f->module_unload.call(b->module) : 0;
}
