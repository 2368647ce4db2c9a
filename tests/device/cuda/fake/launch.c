/* Streams, events, modules and launches of the stand-in. The kernels of the probes concurrency, launch, migration,
 * fault and sharing and of the sentinel run on the host, as_clock tells a clock of 1.5 GHz, and all others do nothing.
 * FAKE_CUDA_ONCE names a file that is removed by the first wait after a launch of "count"; that wait then does what
 * FAKE_CUDA says: "hang" it never ends, "lose" the context is lost. */
#include "inside.h"

#include "device/dialect/host_prelude.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local struct as_host_item as_host_item;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LANES 32
#define MORE 2
#define F64
#include "../../conformance/conformance.kernel"
#include "lib/pages/pages.kernel"
#include "probes/coherence/sharing/sharing.kernel"
#include "probes/links/migration/migration.kernel"
#include "probes/runtime/concurrency/concurrency.kernel"
#include "probes/runtime/launch/launch.kernel"
#include "probes/validation/sentinel/sentinel.kernel"
#pragma GCC diagnostic pop

static int counting; /* a launch of "count" was not waited for */

CUresult fake_waited(void)
{
    const char *once = getenv("FAKE_CUDA_ONCE");
    ENTER();
    int now_or_never = counting && once && unlink(once) == 0;
    counting = 0;
    while (now_or_never && fake_asked("hang"))
        pause();
    if (fake_asked("fault") || (now_or_never && fake_asked("lose")))
        fake_current->lost = 1;
    return fake_current->lost ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/* ---- streams and events ---- */

API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    MAKE(as_gpu_stream, stream);
    return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : fake_broke(__func__, CUDA_SUCCESS);
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER();
    *least = 0;
    *greatest = fake_asked("equal") ? 0 : -5;
    return CUDA_SUCCESS;
}

API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    MAKE(as_gpu_stream, stream);
    return flags == CU_STREAM_NON_BLOCKING && priority <= 0 && priority >= -5 ? CUDA_SUCCESS
                                                                              : fake_broke(__func__, CUDA_SUCCESS);
}

API CUresult cuStreamDestroy_v2(CUstream stream)
{
    UNMAKE(stream);
    return CUDA_SUCCESS;
}

/* As the stand-in for NCCL says. */
static bool is_blocked(void)
{
    return getenv("FAKE_STREAMS_BLOCKED");
}

API CUresult cuStreamSynchronize(CUstream stream)
{
    IN_CONTEXT(stream);
    while (is_blocked())
        pause();
    return fake_waited();
}

API CUresult cuStreamQuery(CUstream stream)
{
    IN_CONTEXT(stream);
    return is_blocked() ? CUDA_ERROR_NOT_READY : fake_waited();
}

API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    MAKE(as_gpu_event, event);
    return flags & ~3u ? fake_broke(__func__, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    IN_CONTEXT(stream);
    IN_CONTEXT(event);
    event->seconds = fake_now();
    return CUDA_SUCCESS;
}

/* The event may belong to another context. */
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    IN_CONTEXT(stream);
    return event && event->seconds > 0 && !flags ? CUDA_SUCCESS : fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
}

API CUresult cuEventSynchronize(CUevent event)
{
    IN_CONTEXT(event);
    return fake_waited();
}

API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    IN_CONTEXT(start);
    *milliseconds = (float)((end->seconds - start->seconds) * 1e3);
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent event)
{
    UNMAKE(event);
    return CUDA_SUCCESS;
}

/* ---- modules and their kernels ---- */

struct as_gpu_module *fake_modules;

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const char *size = getenv("FAKE_CUDA_STATIC");
    if (!image || !(size || fake_asked("runs")))
        return CUDA_ERROR_INVALID_IMAGE;
    MAKE(as_gpu_module, module);
    (*module)->size = size ? strtoul(size, NULL, 10) : 0;
    if (size && !fake_block(&(*module)->bytes, (*module)->size, MANAGED, fake_current, 0)) {
        fake_count(-1);
        free(*module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*module)->next = fake_modules;
    fake_modules = *module;
    return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module)
{
    ENTER();
    if (module->bytes && !fake_drop(module->bytes, 1u << MANAGED, fake_current))
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    struct as_gpu_module **at = &fake_modules;
    while (*at && *at != module)
        at = &(*at)->next;
    if (*at)
        *at = module->next;
    UNMAKE(module);
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    IN_CONTEXT(module);
    *address = (CUdeviceptr)(uintptr_t)module->bytes;
    *bytes = module->size;
    return strcmp(name, "as_static") ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    IN_CONTEXT(module);
    for (size_t i = 0; i < sizeof module->functions / sizeof *module->functions; i++) {
        *function = &module->functions[i];
        if ((*function)->module && strcmp((*function)->name, name) != 0)
            continue;
        (*function)->module = module;
        snprintf((*function)->name, sizeof(*function)->name, "%s", name);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    IN_CONTEXT(function->module);
    function->dynamic_bytes = (unsigned)value;
    return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > 0
               ? CUDA_SUCCESS
               : fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
}

/* As the driver's documentation binds its parameters. */
API CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                    const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                    const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill)
{
    static const unsigned bytes[] = {[CU_TENSOR_MAP_DATA_TYPE_UINT8] = 1,
                                     [CU_TENSOR_MAP_DATA_TYPE_UINT16] = 2,
                                     [CU_TENSOR_MAP_DATA_TYPE_UINT32] = 4,
                                     [CU_TENSOR_MAP_DATA_TYPE_UINT64] = 8};
    static const unsigned rows[] = {UINT32_MAX, 32, 64, 128}; /* maximum bytes per row of the box */
    ENTER();
    bool good = rank == 2 && (uintptr_t)map % 64 == 0 && (uintptr_t)address % 16 == 0 && extents[0] && extents[1] &&
                strides[0] == extents[0] * bytes[type] && strides[0] % 16 == 0 && box[0] && box[0] <= 256 && box[1] &&
                box[1] <= 256 && box[0] * bytes[type] % 16 == 0 && box[0] * bytes[type] <= rows[swizzle] &&
                steps[0] == 1 && steps[1] == 1 && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && promotion <= 3 &&
                fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map->opaque[0] = (uintptr_t)address;
    map->opaque[1] = extents[0] * extents[1];
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void run_count(void **p)
{
    count(*(u32 **)p[0]);
}

static void run_busy(void **p)
{
    busy(*(u32 **)p[0], *(u32 **)p[1], *(const u32 *)p[2], *(const u32 *)p[3], *(const u32 *)p[4], *(const u32 *)p[5]);
}

static void run_core(void **p)
{
    core(*(u32 **)p[0], *(const u32 **)p[1], *(const u32 *)p[2], *(const u32 *)p[3]);
}

static void run_memory(void **p)
{
    memory(*(u32 **)p[0], *(const u32 **)p[1], *(const u32 *)p[2], *(const u32 *)p[3]);
}

static void run_touch(void **p)
{
    touch(*(u64 **)p[0], *(u64 **)p[1], *(const u64 *)p[2], *(const u64 *)p[3], *(const u64 *)p[4], *(const u64 *)p[5]);
}

static void run_write_words(void **p)
{
    write_words(*(u64 **)p[0], *(const u64 *)p[1], *(const u64 *)p[2]);
}

static void run_sum_words(void **p)
{
    sum_words(*(u64 **)p[0], *(u64 **)p[1], *(const u64 *)p[2]);
}

/* With the word "apart", memory of the device is told to be where the host has none. */
static void run_tell(void **p)
{
    static void *nowhere;
    u64 *data = *(u64 **)p[0], *out = *(u64 **)p[1];
    const struct block *b = fake_find(data, sizeof *data);
    sharing_store(data, out, *(const u64 *)p[2]);
    if (!fake_asked("apart") || !b || b->kind != DEVICE_MEMORY)
        return;
    nowhere = nowhere ? nowhere : mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    out[0] = (u64)(uintptr_t)nowhere;
}

static void run_look(void **p)
{
    sharing_load(*(u64 **)p[0], *(u64 **)p[1], *(const u64 *)p[2]);
}

static void run_clock(void **p)
{
    u64 *out = *(u64 **)p[0], ns = *(const u64 *)p[1];
    out[0] = ns * 3 / 2;
    out[1] = ns;
}

static void run_tick(void **p)
{
    conform_tick(*(u32 **)p[0]);
}

static void run_numbers(void **p)
{
    conform_numbers(*(u64 **)p[0], *(const u64 *)p[1], *(const f32 *)p[2], *(const u32 *)p[3]);
}

static void run_double(void **p)
{
    conform_double(*(f64 **)p[0], *(const f64 *)p[1]);
}

static const struct {
    const char *name;
    void (*run)(void **parameters); /* as one work-item */
} kernels[] = {{"busy", run_busy},
               {"count", run_count},
               {"core", run_core},
               {"memory", run_memory},
               {"touch", run_touch},
               {"write_words", run_write_words},
               {"sum_words", run_sum_words},
               {"sharing_store", run_tell},
               {"sharing_load", run_look},
               {"as_clock", run_clock},
               {"conform_tick", run_tick},
               {"conform_numbers", run_numbers},
               {"conform_double", run_double}};

static void run_kernel(const char *name, unsigned workgroups, unsigned threads, void **parameters)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (unsigned i = 0; i < workgroups * threads && strcmp(kernels[k].name, name) == 0; i++) {
            as_host_item = (struct as_host_item){i % threads, threads, i / threads, workgroups, NULL};
            kernels[k].run(parameters);
        }
}

API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                            unsigned int block_x, unsigned int block_y, unsigned int block_z,
                            unsigned int dynamic_bytes, CUstream stream, void **parameters, void **extra)
{
    IN_CONTEXT(stream);
    IN_CONTEXT(function->module);
    if (!grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_y != 1 || block_z != 1 ||
        dynamic_bytes > function->dynamic_bytes || extra)
        return fake_broke(__func__, CUDA_ERROR_INVALID_VALUE);
    counting |= strcmp(function->name, "count") == 0;
    run_kernel(function->name, grid_x, block_x, parameters);
    return CUDA_SUCCESS;
}
