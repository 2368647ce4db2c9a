/* Loading the Objective-C runtime and Metal. */
#include "device/metal/api.h"

#include "base/library.h"
#include "base/text.h"

#include <string.h>

/* Their paths on macOS (which need not exist as files), then the linker's search path. */
static const char *const runtime_names[] = {"/usr/lib/libobjc.A.dylib", "libobjc.A.dylib"};
static const char *const metal_names[] = {"/System/Library/Frameworks/Metal.framework/Metal", "Metal.dylib"};

static enum as_status load_runtime(struct as_mtl_api *m, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    void *library = as_library_open(runtime_names, 2, &found, why, sizeof why);
    void (*send)(void) = NULL;
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "no Metal on this system: %s", why);
    as_library_function(library, "objc_getClass", &m->get_class, &missing);
    as_library_function(library, "sel_registerName", &m->selector, &missing);
    as_library_function(library, "objc_autoreleasePoolPush", &m->pool_push, &missing);
    as_library_function(library, "objc_autoreleasePoolPop", &m->pool_pop, &missing);
    as_library_function(library, "objc_msgSend", &send, &missing);
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'", found, missing);
#define FILL(what, result, selector_text, parameters)                                                                  \
    memcpy(&m->what.call, &send, sizeof send);                                                                         \
    m->what.sel = m->selector(selector_text);
    AS_MTL_MESSAGES(FILL)
#ifdef __x86_64__
    as_library_function(library, "objc_msgSend_stret", &send, &missing);
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'", found, missing);
#endif
    AS_MTL_STRUCT_MESSAGES(FILL)
#undef FILL
    return AS_OK;
}

enum as_status as_mtl_load(struct as_mtl_api *m, struct as_error *err)
{
    char why[400] = "";
    const char *found = "", *missing = NULL;
    *m = (struct as_mtl_api){0};
    enum as_status st = load_runtime(m, err);
    if (st)
        return st;
    void *metal = as_library_open(metal_names, 2, &found, why, sizeof why);
    if (!metal)
        return as_fail(err, AS_UNSUPPORTED, "no Metal on this system: %s", why);
    as_library_function(metal, "MTLCopyAllDevices", &m->copy_devices, &missing);
    return missing
               ? as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'; it needs macOS 10.15 or later", found, missing)
               : AS_OK;
}

void as_mtl_release(const struct as_mtl_api *m, as_objc_id *object)
{
    if (*object)
        AS_SEND(m, release, *object);
    *object = NULL;
}

as_objc_id as_mtl_string(const struct as_mtl_api *m, const char *text)
{
    return AS_SEND_WITH(m, string, m->get_class("NSString"), text);
}

void as_mtl_text(const struct as_mtl_api *m, as_objc_id string, char *out, size_t size)
{
    const char *text = string ? AS_SEND(m, utf8, string) : NULL;
    as_copy_clean(out, size, text ? text : "");
}

bool as_mtl_responds(const struct as_mtl_api *m, as_objc_id object, as_objc_sel sel)
{
    return AS_SEND_WITH(m, responds, object, sel) != 0;
}
