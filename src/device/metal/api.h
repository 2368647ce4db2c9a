/* Metal from C: the Objective-C runtime and the framework, loaded at run time, and messages as typed functions. */
#ifndef AS_DEVICE_METAL_API_H
#define AS_DEVICE_METAL_API_H

#include "base/error.h"
#include "device/metal/messages.h"

#include <stdbool.h>

struct as_mtl_api {
#define AS_MTL_SLOT(what, result, selector, parameters)                                                                \
    struct {                                                                                                           \
        result(*call) parameters;                                                                                      \
        as_objc_sel sel;                                                                                               \
    } what;
    AS_MTL_MESSAGES(AS_MTL_SLOT)
    AS_MTL_STRUCT_MESSAGES(AS_MTL_SLOT)
#undef AS_MTL_SLOT
    as_objc_id (*get_class)(const char *name);
    as_objc_sel (*selector)(const char *name);
    void *(*pool_push)(void);
    void (*pool_pop)(void *pool);
    as_objc_id (*copy_devices)(void); /* an array, released by the caller */
};

/* Sends a message of struct as_mtl_api, given by name, to an object with arguments. */
#define AS_SEND(m, what, to) ((m)->what.call((to), (m)->what.sel))
#define AS_SEND_WITH(m, what, to, ...) ((m)->what.call((to), (m)->what.sel, __VA_ARGS__))

/* AS_UNSUPPORTED with the linker's message on other systems than macOS. The libraries are never unloaded. */
enum as_status as_mtl_load(struct as_mtl_api *m, struct as_error *err);
void as_mtl_release(const struct as_mtl_api *m, as_objc_id *object); /* accepts NULL; sets *object to NULL */
/* An NSString that lives as long as the pool. */
as_objc_id as_mtl_string(const struct as_mtl_api *m, const char *text);
/* Text of an NSString made valid UTF-8; "" for NULL. */
void as_mtl_text(const struct as_mtl_api *m, as_objc_id string, char *out, size_t size);
bool as_mtl_responds(const struct as_mtl_api *m, as_objc_id object, as_objc_sel sel);

#endif
