/* Opaque handles of an API. Each backend's handles are these, so that the functions of
 * its library can be called by what is common. */
#ifndef AS_DEVICE_GPU_HANDLES_H
#define AS_DEVICE_GPU_HANDLES_H

struct as_gpu_context;
struct as_gpu_module;
struct as_gpu_function;
struct as_gpu_stream;
struct as_gpu_event;
struct as_gpu_graph;
struct as_gpu_graph_exec;
struct as_gpu_compilation; /* of the run-time compiler */

#endif
