/* The runtime's errors: as texts with a status, and those after which a process has to end. */
#include "device/hip/hip.h"

#include "base/text.h"

struct code_status {
    hipError_t code;
    enum as_status status;
};
static const struct code_status statuses[] = {
    {hipErrorOutOfMemory, AS_NOMEM},
    {hipErrorNotSupported, AS_UNSUPPORTED},
    {hipErrorPeerAccessUnsupported, AS_UNSUPPORTED},
    {hipErrorLaunchOutOfResources, AS_UNSUPPORTED},
    {hipErrorNoBinaryForGpu, AS_UNSUPPORTED},
};

/* What has gone wrong on the device stays wrong; only a new process gets out of it. Many such faults do not come as an
 * error at all: the runtime ends the process. */
static const hipError_t sticky[] = {
    hipErrorDeinitialized,      hipErrorECCNotCorrectable,
    hipErrorIllegalAddress,     hipErrorLaunchTimeOut,
    hipErrorContextIsDestroyed, hipErrorAssert,
    hipErrorLaunchFailure,      hipErrorUnknown,
    hipErrorRuntimeMemory,      hipErrorRuntimeOther,
};

static enum as_status status_of(hipError_t code)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == code)
            return statuses[i].status;
    return AS_FAILED;
}

static bool is_sticky(hipError_t code)
{
    for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
        if (sticky[i] == code)
            return true;
    return false;
}

enum as_status as_hip_check(const struct as_hip_api *api, struct as_hip_device *hip, hipError_t code, const char *what,
                            struct as_error *err)
{
    if (code == hipSuccess)
        return AS_OK;
    const char *name = api->hipGetErrorName(code), *text = api->hipGetErrorString(code);
    struct as_error here = {0};
    enum as_status s = as_fail(&here, status_of(code), "hip: %s: %s (%d): %s", what,
                               name && name[0] ? name : "an error without a name", code,
                               text && text[0] ? text : "the runtime has no words for it");
    if (hip && !hip->sticky && is_sticky(code)) {
        hip->sticky = code;
        hip->lost = here;
    }
    if (err)
        *err = here;
    return s;
}

enum as_status as_hip_alive(const struct as_hip_device *hip, struct as_error *err)
{
    if (hip->sticky)
        return as_fail(err, AS_FAILED, "hip: the device was lost before: %s", hip->lost.text);
    return as_hip_check(hip->api, NULL, hip->api->hipSetDevice(hip->id), "hipSetDevice", err);
}
