/* The driver's errors: as texts with a status, and those after which a context is lost. */
#include "device/cuda/cuda.h"

#include "base/text.h"

struct code_status {
    CUresult code;
    enum as_status status;
};
static const struct code_status statuses[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, AS_NOMEM},
    {CUDA_ERROR_NOT_SUPPORTED, AS_UNSUPPORTED},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, AS_UNSUPPORTED},
    {CUDA_ERROR_TOO_MANY_PEERS, AS_UNSUPPORTED},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, AS_UNSUPPORTED},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, AS_UNSUPPORTED},
    {CUDA_ERROR_NOT_PERMITTED, AS_UNSUPPORTED},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, AS_UNSUPPORTED},
};

/* All later calls for a context give the same error again; only a new process gets out of it. */
static const CUresult sticky[] = {
    CUDA_ERROR_DEINITIALIZED,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_CONTAINED,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUDA_ERROR_EXTERNAL_DEVICE,
    CUDA_ERROR_UNKNOWN,
};

static enum as_status status_of(CUresult code)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == code)
            return statuses[i].status;
    return AS_FAILED;
}

static bool is_sticky(CUresult code)
{
    for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
        if (sticky[i] == code)
            return true;
    return false;
}

enum as_status as_cu_check(const struct as_cu_api *api, struct as_cu_device *cu, CUresult code, const char *what,
                           struct as_error *err)
{
    if (code == CUDA_SUCCESS)
        return AS_OK;
    const char *name = NULL, *text = NULL;
    if (api->cuGetErrorName(code, &name) || !name)
        name = "an error without a name";
    if (api->cuGetErrorString(code, &text) || !text)
        text = "the driver has no words for it";
    struct as_error here = {0};
    enum as_status s = as_fail(&here, status_of(code), "cuda: %s: %s (%d): %s", what, name, code, text);
    if (cu && !cu->sticky && is_sticky(code)) {
        cu->sticky = code;
        cu->lost = here;
    }
    if (err)
        *err = here;
    return s;
}

enum as_status as_cu_alive(const struct as_cu_device *cu, struct as_error *err)
{
    if (cu->sticky)
        return as_fail(err, AS_FAILED, "cuda: the context was lost before: %s", cu->lost.text);
    return as_cu_check(cu->api, NULL, cu->api->cuCtxSetCurrent(cu->context), "cuCtxSetCurrent", err);
}
