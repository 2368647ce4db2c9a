/* The OpenCL API as a table of functions, loaded at run time. */
#ifndef AS_DEVICE_OPENCL_API_H
#define AS_DEVICE_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include "base/error.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Every loader since OpenCL 1.2 has these. */
#define AS_CL_REQUIRED(X)                                                                                              \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clCreateContext)                                                                                                 \
    X(clReleaseContext)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clReleaseCommandQueue)                                                                                           \
    X(clCreateBuffer)                                                                                                  \
    X(clCreateSubBuffer)                                                                                               \
    X(clReleaseMemObject)                                                                                              \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clCreateProgramWithSource)                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clGetProgramInfo)                                                                                                \
    X(clReleaseProgram)                                                                                                \
    X(clCreateKernel)                                                                                                  \
    X(clSetKernelArg)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clEnqueueNDRangeKernel)                                                                                          \
    X(clFlush)                                                                                                         \
    X(clFinish)                                                                                                        \
    X(clGetEventInfo)                                                                                                  \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clReleaseEvent)

/* Since 2.0: NULL if the loader is older. */
#define AS_CL_OPTIONAL(X)                                                                                              \
    X(clCreateCommandQueueWithProperties)                                                                              \
    X(clSVMAlloc)                                                                                                      \
    X(clSVMFree)                                                                                                       \
    X(clEnqueueSVMMemcpy)                                                                                              \
    X(clEnqueueSVMMap)                                                                                                 \
    X(clEnqueueSVMUnmap)                                                                                               \
    X(clSetKernelArgSVMPointer)

struct as_cl_api {
    void *library;
#define AS_CL_SLOT(f) __typeof__(&f) f;
    AS_CL_REQUIRED(AS_CL_SLOT)
    AS_CL_OPTIONAL(AS_CL_SLOT)
#undef AS_CL_SLOT
};

/* Tries the loader's usual names; if none opens, err has the dynamic linker's message. The library is never unloaded,
 * since drivers leave threads and exit handlers that would run in unmapped code. */
enum as_status as_cl_load(struct as_cl_api *api, struct as_error *err);

/* "CL_OUT_OF_RESOURCES"; "unknown OpenCL error" for a code that the standard does not have */
const char *as_cl_error_name(cl_int code);
/* AS_OK for CL_SUCCESS; else sets "opencl: <what> returned CL_... (-5)". Out of memory is AS_NOMEM, a device
 * in exclusive use AS_UNSUPPORTED, everything else AS_FAILED. */
enum as_status as_cl_check(cl_int code, const char *what, struct as_error *err);

#endif
