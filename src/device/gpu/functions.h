/* Functions that the GPU libraries share except for the name. All return 0 or the library's error code. What
 * differs in more than the name is in struct as_gpu_api. */
#ifndef AS_DEVICE_GPU_FUNCTIONS_H
#define AS_DEVICE_GPU_FUNCTIONS_H

#include "device/gpu/handles.h"

#include <stddef.h>

#define AS_GPU_FUNCTIONS(X)                                                                                            \
    X(synchronize, (void))                                                                                             \
    X(can_access_peer, (int *can, int device, int peer))                                                               \
    X(peer_attribute, (int *value, int attribute, int device, int peer))                                               \
    X(memory_info, (size_t * free, size_t * total))                                                                    \
    X(host_alloc, (void **host, size_t bytes, unsigned int flags))                                                     \
    X(host_free, (void *host))                                                                                         \
    X(host_register, (void *host, size_t bytes, unsigned int flags))                                                   \
    X(host_unregister, (void *host))                                                                                   \
    X(stream_create, (struct as_gpu_stream * *stream, unsigned int flags))                                             \
    X(stream_create_priority, (struct as_gpu_stream * *stream, unsigned int flags, int priority))                      \
    X(stream_priorities, (int *least, int *greatest))                                                                  \
    X(stream_destroy, (struct as_gpu_stream * stream))                                                                 \
    X(stream_synchronize, (struct as_gpu_stream * stream))                                                             \
    X(stream_query, (struct as_gpu_stream * stream))                                                                   \
    X(stream_wait_event, (struct as_gpu_stream * stream, struct as_gpu_event * event, unsigned int flags))             \
    X(capture_begin, (struct as_gpu_stream * stream, int mode))                                                        \
    X(capture_end, (struct as_gpu_stream * stream, struct as_gpu_graph * *graph))                                      \
    X(graph_launch, (struct as_gpu_graph_exec * exec, struct as_gpu_stream * stream))                                  \
    X(graph_exec_destroy, (struct as_gpu_graph_exec * exec))                                                           \
    X(graph_destroy, (struct as_gpu_graph * graph))                                                                    \
    X(event_create, (struct as_gpu_event * *event, unsigned int flags))                                                \
    X(event_destroy, (struct as_gpu_event * event))                                                                    \
    X(event_record, (struct as_gpu_event * event, struct as_gpu_stream * stream))                                      \
    X(event_synchronize, (struct as_gpu_event * event))                                                                \
    X(event_elapsed, (float *milliseconds, struct as_gpu_event *start, struct as_gpu_event *end))                      \
    X(module_load, (struct as_gpu_module * *module, const void *image))                                                \
    X(module_unload, (struct as_gpu_module * module))                                                                  \
    X(module_function, (struct as_gpu_function * *function, struct as_gpu_module * module, const char *name))          \
    X(function_attribute, (int *value, int attribute, struct as_gpu_function *function))                               \
    X(occupancy, (int *workgroups, struct as_gpu_function *function, int workgroup_size, size_t shared_bytes))         \
    X(launch, (struct as_gpu_function * function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,       \
               unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int dynamic_bytes,           \
               struct as_gpu_stream *stream, void **parameters, void **extra))

/* The function, and its name for messages. */
#define AS_GPU_SLOT(slot, parameters)                                                                                  \
    struct {                                                                                                           \
        int(*call) parameters;                                                                                         \
        const char *name;                                                                                              \
    } slot;
struct as_gpu_functions {
    AS_GPU_FUNCTIONS(AS_GPU_SLOT)
};
#undef AS_GPU_SLOT

#endif
