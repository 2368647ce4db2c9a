/* Opaque handles of an API. All backends use these, so that common code can call the
 * functions of their libraries. */
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
