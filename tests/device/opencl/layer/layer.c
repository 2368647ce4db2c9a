/* An OpenCL layer (OPENCL_LAYERS of the ICD loader) that shows the driver's CPU as a GPU with its own memory, so that
 * what the backend and the probes do on GPUs runs on any machine. Words in ASSAY_LAYER remove more: "plain" optional
 * language features, "coarse" shared memory for concurrent use. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { MIB = 1 << 20 };
static const cl_icd_dispatch *driver;
static cl_icd_dispatch shown;

static int has_word(const char *word)
{
    const char *words = getenv("ASSAY_LAYER");
    return words && strstr(words, word);
}

/* The device's value in place of the driver's. */
static const struct {
    cl_device_info what;
    cl_ulong value;
    const char *word; /* NULL: always */
} numbers[] = {
    {CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU, NULL},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE, NULL},
    {CL_DEVICE_MAX_COMPUTE_UNITS, 4, NULL},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, 1024, NULL},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 1 * MIB, NULL},
    {CL_DEVICE_GLOBAL_MEM_SIZE, (cl_ulong)1024 * MIB, NULL},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, 256 * MIB, NULL},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1, NULL},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 1, NULL},
    {CL_DEVICE_DOUBLE_FP_CONFIG, 0, "plain"},
    {CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse"},
    {CL_DEVICE_SVM_CAPABILITIES, 0, "plain"},
};

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *size_ret)
{
    static const char *const optional[] = {"cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"};
    size_t bytes = 0;
    cl_int code = driver->clGetDeviceInfo(id, what, size, value, &bytes);
    if (size_ret)
        *size_ret = bytes;
    if (code || !value)
        return code;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].what == what && bytes <= sizeof numbers[i].value &&
            (!numbers[i].word || has_word(numbers[i].word)))
            memcpy(value, &numbers[i].value, bytes); /* little-endian */
    for (size_t i = 0; what == CL_DEVICE_EXTENSIONS && has_word("plain") && i < sizeof optional / sizeof *optional;
         i++) {
        char *name = strstr(value, optional[i]);
        if (name)
            memset(name, ' ', strlen(optional[i]));
    }
    return CL_SUCCESS;
}

/* Else the driver would compile every kernel once more for its binary. */
static cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, size_t size, void *value,
                                       size_t *size_ret)
{
    return what == CL_PROGRAM_BINARY_SIZES || what == CL_PROGRAM_BINARIES
               ? CL_INVALID_VALUE
               : driver->clGetProgramInfo(program, what, size, value, size_ret);
}

API CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *size_ret)
{
    if (what != CL_LAYER_API_VERSION || (value && size < sizeof(cl_layer_api_version)))
        return CL_INVALID_VALUE;
    if (value)
        *(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
    if (size_ret)
        *size_ret = sizeof(cl_layer_api_version);
    return CL_SUCCESS;
}

API CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
                                                const cl_icd_dispatch **table)
{
    const size_t known = sizeof shown / sizeof(void *);
    if (!target || !n_ret || !table)
        return CL_INVALID_VALUE;
    driver = target;
    memcpy(&shown, target, (n < known ? n : known) * sizeof(void *));
    shown.clGetDeviceInfo = device_info;
    shown.clGetProgramInfo = program_info;
    *n_ret = (cl_uint)(n < known ? n : known);
    *table = &shown;
    return CL_SUCCESS;
}
