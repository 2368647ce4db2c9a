/* Messages to objects of Metal and Foundation: name here, result, selector, parameters after self and selector.
 * Names, types and order of parameters are those of Apple's headers (Metal, Foundation). BOOL is a signed char or a
 * bool by machine; its low byte is the value in both. */
#ifndef AS_DEVICE_METAL_MESSAGES_H
#define AS_DEVICE_METAL_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

typedef void *as_objc_id;
typedef struct as_objc_selector *as_objc_sel;
typedef signed char as_objc_bool;
typedef unsigned long as_ns_uinteger;
typedef long as_ns_integer;

struct as_mtl_size {
    as_ns_uinteger width, height, depth;
};
struct as_ns_range {
    as_ns_uinteger location, length;
};

/* MTLResourceOptions: storage mode and cache mode of the CPU. */
enum {
    AS_MTL_SHARED = 0u << 4,
    AS_MTL_MANAGED = 1u << 4,
    AS_MTL_PRIVATE = 2u << 4,
    AS_MTL_WRITE_COMBINED = 1u,
};
/* MTLCommandBufferStatus */
enum { AS_MTL_COMPLETED = 4, AS_MTL_ERROR = 5 };
/* MTLCommandBufferError */
enum {
    AS_MTL_ERROR_TIMEOUT = 2,
    AS_MTL_ERROR_PAGE_FAULT = 3,
    AS_MTL_ERROR_ACCESS_REVOKED = 4,
    AS_MTL_ERROR_OUT_OF_MEMORY = 8,
    AS_MTL_ERROR_DEVICE_REMOVED = 11,
};
/* MTLGPUFamily: the first Apple family, and those of other GPUs and of versions of Metal */
enum {
    AS_MTL_APPLE1 = 1001,
    AS_MTL_APPLE7 = 1007,
    AS_MTL_APPLE_LAST = 1019,
    AS_MTL_MAC2 = 2002,
    AS_MTL_METAL3 = 5001,
    AS_MTL_METAL4 = 5002
};
enum { AS_MTL_MATH_MODE_SAFE = 0 };
/* Limits of the API: buffers per kernel, bytes of an inline argument. */
enum { AS_MTL_BUFFERS = 31 };

#define AS_MTL_OBJECT_MESSAGES(X)                                                                                      \
    X(retain, as_objc_id, "retain", (as_objc_id, as_objc_sel))                                                         \
    X(release, void, "release", (as_objc_id, as_objc_sel))                                                             \
    X(create, as_objc_id, "new", (as_objc_id, as_objc_sel))                                                            \
    X(alloc, as_objc_id, "alloc", (as_objc_id, as_objc_sel))                                                           \
    X(responds, as_objc_bool, "respondsToSelector:", (as_objc_id, as_objc_sel, as_objc_sel))                           \
    X(count, as_ns_uinteger, "count", (as_objc_id, as_objc_sel))                                                       \
    X(object_at, as_objc_id, "objectAtIndex:", (as_objc_id, as_objc_sel, as_ns_uinteger))                              \
    X(string, as_objc_id, "stringWithUTF8String:", (as_objc_id, as_objc_sel, const char *))                            \
    X(utf8, const char *, "UTF8String", (as_objc_id, as_objc_sel))                                                     \
    X(description, as_objc_id, "localizedDescription", (as_objc_id, as_objc_sel))                                      \
    X(code, as_ns_integer, "code", (as_objc_id, as_objc_sel))                                                          \
    X(long_value, long long, "longLongValue", (as_objc_id, as_objc_sel))                                               \
    X(process_info, as_objc_id, "processInfo", (as_objc_id, as_objc_sel))                                              \
    X(system_version, as_objc_id, "operatingSystemVersionString", (as_objc_id, as_objc_sel))

#define AS_MTL_DEVICE_MESSAGES(X)                                                                                      \
    X(name, as_objc_id, "name", (as_objc_id, as_objc_sel))                                                             \
    X(registry_id, uint64_t, "registryID", (as_objc_id, as_objc_sel))                                                  \
    X(supports_family, as_objc_bool, "supportsFamily:", (as_objc_id, as_objc_sel, as_ns_integer))                      \
    X(working_set, uint64_t, "recommendedMaxWorkingSetSize", (as_objc_id, as_objc_sel))                                \
    X(unified, as_objc_bool, "hasUnifiedMemory", (as_objc_id, as_objc_sel))                                            \
    X(allocated, as_ns_uinteger, "currentAllocatedSize", (as_objc_id, as_objc_sel))                                    \
    X(buffer_most, as_ns_uinteger, "maxBufferLength", (as_objc_id, as_objc_sel))                                       \
    X(group_memory, as_ns_uinteger, "maxThreadgroupMemoryLength", (as_objc_id, as_objc_sel))                           \
    X(new_queue, as_objc_id, "newCommandQueue", (as_objc_id, as_objc_sel))                                             \
    X(new_buffer, as_objc_id,                                                                                          \
      "newBufferWithLength:options:", (as_objc_id, as_objc_sel, as_ns_uinteger, as_ns_uinteger))                       \
    X(new_no_copy, as_objc_id, "newBufferWithBytesNoCopy:length:options:deallocator:",                                 \
      (as_objc_id, as_objc_sel, void *, as_ns_uinteger, as_ns_uinteger, as_objc_id))                                   \
    X(new_library, as_objc_id,                                                                                         \
      "newLibraryWithSource:options:error:", (as_objc_id, as_objc_sel, as_objc_id, as_objc_id, as_objc_id *))          \
    X(new_pipeline, as_objc_id,                                                                                        \
      "newComputePipelineStateWithFunction:error:", (as_objc_id, as_objc_sel, as_objc_id, as_objc_id *))

#define AS_MTL_PROGRAM_MESSAGES(X)                                                                                     \
    X(math_mode, void, "setMathMode:", (as_objc_id, as_objc_sel, as_ns_integer))                                       \
    X(fast_math, void, "setFastMathEnabled:", (as_objc_id, as_objc_sel, as_objc_bool))                                 \
    X(new_function, as_objc_id, "newFunctionWithName:", (as_objc_id, as_objc_sel, as_objc_id))                         \
    X(pipeline_threads, as_ns_uinteger, "maxTotalThreadsPerThreadgroup", (as_objc_id, as_objc_sel))                    \
    X(pipeline_lanes, as_ns_uinteger, "threadExecutionWidth", (as_objc_id, as_objc_sel))                               \
    X(pipeline_memory, as_ns_uinteger, "staticThreadgroupMemoryLength", (as_objc_id, as_objc_sel))

#define AS_MTL_QUEUE_MESSAGES(X)                                                                                       \
    X(commands, as_objc_id, "commandBuffer", (as_objc_id, as_objc_sel))                                                \
    X(compute, as_objc_id, "computeCommandEncoderWithDispatchType:", (as_objc_id, as_objc_sel, as_ns_uinteger))        \
    X(blit, as_objc_id, "blitCommandEncoder", (as_objc_id, as_objc_sel))                                               \
    X(end_encoding, void, "endEncoding", (as_objc_id, as_objc_sel))                                                    \
    X(commit, void, "commit", (as_objc_id, as_objc_sel))                                                               \
    X(wait, void, "waitUntilCompleted", (as_objc_id, as_objc_sel))                                                     \
    X(status, as_ns_uinteger, "status", (as_objc_id, as_objc_sel))                                                     \
    X(error, as_objc_id, "error", (as_objc_id, as_objc_sel))                                                           \
    X(gpu_start, double, "GPUStartTime", (as_objc_id, as_objc_sel))                                                    \
    X(gpu_end, double, "GPUEndTime", (as_objc_id, as_objc_sel))                                                        \
    X(set_pipeline, void, "setComputePipelineState:", (as_objc_id, as_objc_sel, as_objc_id))                           \
    X(set_buffer, void,                                                                                                \
      "setBuffer:offset:atIndex:", (as_objc_id, as_objc_sel, as_objc_id, as_ns_uinteger, as_ns_uinteger))              \
    X(set_bytes, void,                                                                                                 \
      "setBytes:length:atIndex:", (as_objc_id, as_objc_sel, const void *, as_ns_uinteger, as_ns_uinteger))             \
    X(dispatch, void, "dispatchThreadgroups:threadsPerThreadgroup:",                                                   \
      (as_objc_id, as_objc_sel, struct as_mtl_size, struct as_mtl_size))                                               \
    X(copy, void, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",                                      \
      (as_objc_id, as_objc_sel, as_objc_id, as_ns_uinteger, as_objc_id, as_ns_uinteger, as_ns_uinteger))               \
    X(synchronize, void, "synchronizeResource:", (as_objc_id, as_objc_sel, as_objc_id))                                \
    X(contents, void *, "contents", (as_objc_id, as_objc_sel))                                                         \
    X(modified, void, "didModifyRange:", (as_objc_id, as_objc_sel, struct as_ns_range))

/* Metal Performance Shaders: MPSMatrix.h and MPSMatrixMultiplication.h. */
#define AS_MTL_PRODUCT_MESSAGES(X)                                                                                     \
    X(mps_describe, as_objc_id, "matrixDescriptorWithRows:columns:rowBytes:dataType:",                                 \
      (as_objc_id, as_objc_sel, as_ns_uinteger, as_ns_uinteger, as_ns_uinteger, uint32_t))                             \
    X(mps_matrix, as_objc_id, "initWithBuffer:descriptor:", (as_objc_id, as_objc_sel, as_objc_id, as_objc_id))         \
    X(mps_product, as_objc_id,                                                                                         \
      "initWithDevice:transposeLeft:transposeRight:resultRows:resultColumns:interiorColumns:alpha:beta:",              \
      (as_objc_id, as_objc_sel, as_objc_id, as_objc_bool, as_objc_bool, as_ns_uinteger, as_ns_uinteger,                \
       as_ns_uinteger, double, double))                                                                                \
    X(mps_encode, void, "encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:",                                  \
      (as_objc_id, as_objc_sel, as_objc_id, as_objc_id, as_objc_id, as_objc_id))

#define AS_MTL_MESSAGES(X)                                                                                             \
    AS_MTL_OBJECT_MESSAGES(X)                                                                                          \
    AS_MTL_DEVICE_MESSAGES(X)                                                                                          \
    AS_MTL_PROGRAM_MESSAGES(X)                                                                                         \
    AS_MTL_QUEUE_MESSAGES(X)                                                                                           \
    AS_MTL_PRODUCT_MESSAGES(X)

/* Their result of three words comes back through memory, which on x86-64 takes another entry of the runtime. */
#define AS_MTL_STRUCT_MESSAGES(X)                                                                                      \
    X(group_most, struct as_mtl_size, "maxThreadsPerThreadgroup", (as_objc_id, as_objc_sel))

#endif
