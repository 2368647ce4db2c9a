/* Errors, with the framework's text. */
#include "device/metal/metal.h"

#include "base/text.h"
#include "device/dialect/dialect.h"

static void metal_errors_describe(const struct as_mtl_api *m, as_objc_id error, char *out, size_t size)
{
    char raw[4096];
    as_mtl_text(m, error ? AS_SEND(m, description, error) : NULL, raw, sizeof raw);
    as_dialect_complaint(raw[0] ? raw : "no reason is given", out, size);
}

enum as_status as_mtl_fail(const struct as_mtl_api *m, as_objc_id error, const char *what, struct as_error *err)
{
    char text[380]; /* err holds 512 bytes */
    metal_errors_describe(m, error, text, sizeof text);
    return as_fail(err, AS_FAILED, "metal: %s: %s", what, text);
}

enum as_status as_mtl_outcome(struct as_mtl_device *d, as_objc_id commands, const char *what, struct as_error *err)
{
    const struct as_mtl_api *m = d->api;
    if (AS_SEND(m, status, commands) != AS_MTL_ERROR)
        return AS_OK;
    as_objc_id error = AS_SEND(m, error, commands);
    const long code = error ? AS_SEND(m, code, error) : 0;
    char text[200];
    metal_errors_describe(m, error, text, sizeof text);
    if (code == AS_MTL_ERROR_ACCESS_REVOKED || code == AS_MTL_ERROR_DEVICE_REMOVED)
        as_copy_text(d->lost, sizeof d->lost, text);
    const enum as_status st = code == AS_MTL_ERROR_OUT_OF_MEMORY ? AS_NOMEM
                              : code == AS_MTL_ERROR_TIMEOUT     ? AS_TIMEOUT
                                                                 : AS_FAILED;
    return as_fail(err, st, "metal: %s failed: %s (MTLCommandBufferError %ld)", what, text, code);
}

enum as_status as_mtl_alive(const struct as_mtl_device *d, struct as_error *err)
{
    return d->lost[0] ? as_fail(err, AS_FAILED, "metal: this process has lost the device: %s", d->lost) : AS_OK;
}
