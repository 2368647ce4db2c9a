/* A libOpenCL for tests: three devices that say hostile things, and errors on demand.
 * FAKE_OPENCL in the environment is a list of words:
 *   none      no platform          empty   platforms without devices      norun   kernels end with an error
 *   nomem     no buffers           nobuild programs do not compile        off     devices are not available
 *   taken   no context can be made         unified GPUs with a cache in the host's memory
 *   lies    counts and sizes are larger than what is given, or it is not given
 * It knows no OpenCL above 1.2, so nothing of shared virtual memory is in it. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* Objects created and not released: contexts, queues, memory, programs, kernels, events. */
API int fake_opencl_live(void);
static int live;
API int fake_opencl_live(void)
{
    return live;
}

enum { DEVICES = 3 };
struct thing {
    int number;
    size_t size;
    unsigned char *bytes;
    int part; /* of another buffer, which owns the bytes */
};
static struct thing devices[DEVICES] = {{.number = 0}, {.number = 1}, {.number = 2}};
static struct thing platform, context, queue, program, kernel, event;

static int has_word(const char *word)
{
    const char *list = getenv("FAKE_OPENCL");
    return list && strstr(list, word);
}

/* Success with an invalid size: nothing in out is valid. */
static cl_int lie(size_t size, void *out, size_t *got)
{
    if (got)
        *got = out ? (size_t)1 << 30 : 40;
    if (out)
        memset(out, 'x', size);
    return CL_SUCCESS;
}

static cl_int copy_out(const void *from, size_t n, size_t size, void *out, size_t *got)
{
    if (got)
        *got = n;
    if (out && size < n)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, from, n);
    return CL_SUCCESS;
}
#define GIVE(value) copy_out(&(value), sizeof(value), size, out, got)
#define GIVE_TEXT(text) copy_out(text, strlen(text) + 1, size, out, got)

API cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *ids, cl_uint *got)
{
    if (has_word("none"))
        return -1001;
    *got = has_word("lies") ? 4000000000u : 1;
    if (ids && n)
        ids[0] = (cl_platform_id)(void *)&platform;
    return CL_SUCCESS;
}
API cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t size, void *out, size_t *got)
{
    (void)p;
    (void)what;
    if (has_word("lies"))
        return lie(size, out, got);
    return GIVE_TEXT("Fake\xFFPlatform");
}
API cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *got)
{
    (void)p;
    (void)type;
    *got = has_word("empty") ? 0 : has_word("lies") ? 4000000000u : DEVICES;
    for (cl_uint i = 0; ids && i < n && i < DEVICES; i++)
        ids[i] = (cl_device_id)(void *)&devices[i];
    return has_word("empty") ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

static const char *const names[DEVICES] = {"<script>alert(1)</script>", "  \x1B[31mred \xC0\xAF end  ", ""};
static const char *const extensions[DEVICES] = {
    "cl_khr_pci_bus_info_not cl_khr_fp16x cl_khr_integer_dot_products", "cl_nv_device_attribute_query",
    "cl_khr_fp16 cl_khr_pci_bus_info cl_khr_device_uuid cl_khr_integer_dot_product"};

static cl_int device_number(int d, cl_device_info what, size_t size, void *out, size_t *got)
{
    const cl_bool yes = CL_TRUE, available = !has_word("off");
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_ulong memory = 1u << 20, largest = 1u << 18;
    const cl_uint slot = 3u << 3 | 1u, bus = 0x41, domain = 0;
    const size_t group = 64;
    const cl_uint pci[4] = {0, 1, 0, 0};
    const unsigned char uuid[16] = {0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (what == CL_DEVICE_AVAILABLE)
        return GIVE(available);
    if (what == CL_DEVICE_COMPILER_AVAILABLE)
        return GIVE(yes);
    if (what == CL_DEVICE_TYPE)
        return GIVE(type);
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE)
        return GIVE(memory);
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        return GIVE(largest);
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && has_word("unified"))
        return GIVE(yes);
    if (what == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE && has_word("unified"))
        return GIVE(largest);
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        return GIVE(group);
    if (d == 1 && what == 0x4008)
        return GIVE(bus);
    if (d == 1 && what == 0x4009)
        return GIVE(slot);
    if (d == 1 && what == 0x400A)
        return GIVE(domain);
    if (d == 2 && what == CL_DEVICE_PCI_BUS_INFO_KHR)
        return GIVE(pci);
    if (d == 2 && what == CL_DEVICE_UUID_KHR)
        return GIVE(uuid);
    return CL_INVALID_VALUE;
}
API cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *out, size_t *got)
{
    int d = ((struct thing *)(void *)id)->number;
    if (has_word("lies") && what != CL_DEVICE_EXTENSIONS && what != CL_DEVICE_AVAILABLE &&
        what != CL_DEVICE_COMPILER_AVAILABLE)
        return lie(size, out, got);
    if (what == CL_DEVICE_NAME)
        return GIVE_TEXT(names[d]);
    if (what == CL_DEVICE_EXTENSIONS)
        return GIVE_TEXT(extensions[d]);
    if (what == CL_DEVICE_OPENCL_C_VERSION)
        return GIVE_TEXT("OpenCL C 1.2 fake");
    return device_number(d, what, size, out, got);
}

API cl_context clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *ids,
                               void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *user, cl_int *e)
{
    (void)p, (void)n, (void)ids, (void)f, (void)user;
    *e = has_word("taken") ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
    live += !has_word("taken");
    return has_word("taken") ? NULL : (cl_context)(void *)&context;
}
API cl_int clReleaseContext(cl_context c)
{
    (void)c;
    live--;
    return CL_SUCCESS;
}
API cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e)
{
    (void)c, (void)d, (void)p;
    *e = CL_SUCCESS;
    live++;
    return (cl_command_queue)(void *)&queue;
}
API cl_int clReleaseCommandQueue(cl_command_queue q)
{
    (void)q;
    live--;
    return CL_SUCCESS;
}
API cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *e)
{
    (void)c, (void)flags, (void)host;
    struct thing *t = has_word("nomem") ? NULL : calloc(1, sizeof *t);
    *e = t ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    if (t)
        *t = (struct thing){.size = size, .bytes = calloc(1, size)};
    live += t != NULL;
    return (cl_mem)(void *)t;
}
API cl_mem clCreateSubBuffer(cl_mem m, cl_mem_flags flags, cl_buffer_create_type type, const void *what, cl_int *e)
{
    const cl_buffer_region *region = what;
    struct thing *t = has_word("nopart") || flags || type != CL_BUFFER_CREATE_TYPE_REGION ? NULL : calloc(1, sizeof *t);
    *e = t ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (t)
        *t = (struct thing){
            .size = region->size, .bytes = ((struct thing *)(void *)m)->bytes + region->origin, .part = 1};
    live += t != NULL;
    return (cl_mem)(void *)t;
}
API cl_int clReleaseMemObject(cl_mem m)
{
    struct thing *t = (void *)m;
    if (!t->part)
        free(t->bytes);
    free(t);
    live--;
    return CL_SUCCESS;
}
API cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n, void *to, cl_uint w,
                               const cl_event *l, cl_event *e)
{
    (void)q, (void)b, (void)w, (void)l, (void)e;
    memcpy(to, ((struct thing *)(void *)m)->bytes + at, n);
    return CL_SUCCESS;
}
API cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n, const void *from,
                                cl_uint w, const cl_event *l, cl_event *e)
{
    (void)q, (void)b, (void)w, (void)l, (void)e;
    memcpy(((struct thing *)(void *)m)->bytes + at, from, n);
    return CL_SUCCESS;
}
API cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t n,
                               cl_uint w, const cl_event *l, cl_event *e)
{
    (void)q, (void)w, (void)l, (void)e;
    memcpy(((struct thing *)(void *)to)->bytes + to_at, ((struct thing *)(void *)from)->bytes + from_at, n);
    return CL_SUCCESS;
}
API void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t at, size_t n, cl_uint w,
                             const cl_event *l, cl_event *ev, cl_int *e)
{
    (void)q, (void)b, (void)f, (void)n, (void)w, (void)l, (void)ev;
    *e = CL_SUCCESS;
    return ((struct thing *)(void *)m)->bytes + at;
}
API cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *at, cl_uint w, const cl_event *l, cl_event *e)
{
    (void)q, (void)m, (void)at, (void)w, (void)l, (void)e;
    return CL_SUCCESS;
}
API cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *e)
{
    (void)c, (void)n, (void)s, (void)l;
    *e = CL_SUCCESS;
    live++;
    return (cl_program)(void *)&program;
}
API cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *ids, const char *options,
                          void(CL_CALLBACK *f)(cl_program, void *), void *user)
{
    (void)p, (void)n, (void)ids, (void)options, (void)f, (void)user;
    return has_word("nobuild") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}
API cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t size, void *out,
                                 size_t *got)
{
    static char log[4000];
    (void)p, (void)d, (void)what;
    memset(log, 'w', 2000);
    strcpy(log + 2000, "\nline 7: error: too \xFE strange\n");
    return copy_out(log, strlen(log) + 1, size, out, got);
}
API cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t size, void *out, size_t *got)
{
    (void)p, (void)what, (void)size, (void)out, (void)got;
    return CL_INVALID_VALUE;
}
API cl_int clReleaseProgram(cl_program p)
{
    (void)p;
    live--;
    return CL_SUCCESS;
}
API cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *e)
{
    (void)p;
    *e = strcmp(name, "absent") != 0 ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
    live += *e == CL_SUCCESS;
    return *e ? NULL : (cl_kernel)(void *)&kernel;
}
API cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *v)
{
    (void)k, (void)n, (void)v;
    return i > 3 ? CL_INVALID_ARG_INDEX : CL_SUCCESS;
}
API cl_int clReleaseKernel(cl_kernel k)
{
    (void)k;
    live--;
    return CL_SUCCESS;
}
API cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,
                                  const size_t *l, cl_uint w, const cl_event *wl, cl_event *e)
{
    (void)q, (void)k, (void)d, (void)o, (void)g, (void)l, (void)w, (void)wl;
    live += e != NULL;
    if (e)
        *e = (cl_event)(void *)&event;
    return CL_SUCCESS;
}
API cl_int clFlush(cl_command_queue q)
{
    (void)q;
    return CL_SUCCESS;
}
API cl_int clFinish(cl_command_queue q)
{
    (void)q;
    return has_word("norun") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}
API cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t size, void *out, size_t *got)
{
    const cl_int state = has_word("norun") ? CL_OUT_OF_RESOURCES : CL_COMPLETE;
    (void)e, (void)what;
    return GIVE(state);
}
API cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t size, void *out, size_t *got)
{
    const cl_ulong broken = what == CL_PROFILING_COMMAND_START ? 100 : 50; /* ends before it starts */
    (void)e;
    return GIVE(broken);
}
API cl_int clReleaseEvent(cl_event e)
{
    (void)e;
    live--;
    return CL_SUCCESS;
}
