/* Disassembly by comgr, part of ROCm. */
#include "base/library.h"
#include "device/hip/comgr_functions.h"
#include "device/hip/instructions.h"

#include <stdio.h>
#include <string.h>

/* The newest version first, then the folder of the vendor's installer. */
static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so",
                                    "/opt/rocm/lib/libamd_comgr.so"};

#define SLOT(result, name, parameters) result(*name) parameters;
struct api {
    const char *found;
    AS_COMGR_FUNCTIONS(SLOT)
};
#undef SLOT

static enum as_status comgr_load(struct api *api, struct as_error *err)
{
    char why[400] = "";
    const char *missing = NULL;
    void *library = as_library_open(names, sizeof names / sizeof *names, &api->found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED,
                       "%s; instructions are counted with comgr, a part of ROCm: install it, or name its folder in "
                       "LD_LIBRARY_PATH",
                       why);
#define LOAD(result, name, parameters) as_library_function(library, #name, &api->name, &missing);
    AS_COMGR_FUNCTIONS(LOAD)
#undef LOAD
    return missing
               ? as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs ROCm 5 or later", api->found, missing)
               : AS_OK;
}

struct listing {
    const unsigned char *code;
    uint64_t bytes;
    void (*each)(const char *instruction, void *data);
    void *data;
};

/* Addresses are offsets from the start of the code. */
static uint64_t read_code(uint64_t from, char *to, uint64_t size, void *data)
{
    const struct listing *w = data;
    uint64_t left = from < w->bytes ? w->bytes - from : 0, n = size < left ? size : left;
    if (n)
        memcpy(to, w->code + from, n);
    return n;
}

static void comgr_print(const char *instruction, void *data)
{
    const struct listing *w = data;
    w->each(instruction + strspn(instruction, " \t"), w->data);
}

static void annotate(uint64_t address, void *data)
{
    (void)address, (void)data;
}

static enum as_status list_instructions(const struct api *api, amd_comgr_disassembly_info_t info, struct listing *w,
                                        struct as_error *err)
{
    uint64_t n = 0;
    for (uint64_t at = 0; at < w->bytes; at += n) {
        n = 0;
        if (api->amd_comgr_disassemble_instruction(info, at, w, &n) || n == 0 || n > w->bytes - at)
            return as_fail(err, AS_UNSUPPORTED, "%s cannot decode the kernel at byte %llu; a newer ROCm may",
                           api->found, (unsigned long long)at);
    }
    return AS_OK;
}

enum as_status as_amd_disassemble(const char *chip, const unsigned char *code, uint64_t bytes,
                                  void (*each)(const char *instruction, void *data), void *data, struct as_error *err)
{
    struct api api;
    struct listing w = {.code = code, .bytes = bytes, .each = each, .data = data};
    amd_comgr_disassembly_info_t info;
    char isa[64];
    enum as_status st = comgr_load(&api, err);
    if (st)
        return st;
    snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", chip);
    if (api.amd_comgr_create_disassembly_info(isa, read_code, comgr_print, annotate, &info))
        return as_fail(err, AS_UNSUPPORTED, "%s does not support %s; install a ROCm release that does", api.found,
                       chip);
    st = list_instructions(&api, info, &w, err);
    (void)api.amd_comgr_destroy_disassembly_info(info);
    return st;
}
