/* Types, constants and functions of NCCL in use, with the names and values of its ABI, which RCCL shares. */
#ifndef AS_DEVICE_NCCL_FUNCTIONS_H
#define AS_DEVICE_NCCL_FUNCTIONS_H

#include "device/gpu/handles.h"

#include <stddef.h>

typedef struct ncclComm *ncclComm_t;
typedef int ncclResult_t;
typedef int ncclDataType_t;
typedef int ncclRedOp_t;

enum {
    ncclSuccess = 0,
    ncclInProgress = 7,
    ncclFloat32 = 7,
    ncclSum = 0,
};

/* NCCL 2.7 and later have these. A stream is the API's. */
#define AS_NCCL_REQUIRED(X)                                                                                            \
    X(ncclResult_t, ncclGetVersion, (int *version))                                                                    \
    X(const char *, ncclGetErrorString, (ncclResult_t result))                                                         \
    X(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int n, const int *devices))                                   \
    X(ncclResult_t, ncclCommDestroy, (ncclComm_t comm))                                                                \
    X(ncclResult_t, ncclCommAbort, (ncclComm_t comm))                                                                  \
    X(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t * result))                                   \
    X(ncclResult_t, ncclGroupStart, (void))                                                                            \
    X(ncclResult_t, ncclGroupEnd, (void))                                                                              \
    X(ncclResult_t, ncclAllReduce,                                                                                     \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,            \
       struct as_gpu_stream *stream))                                                                                  \
    X(ncclResult_t, ncclReduceScatter,                                                                                 \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,            \
       struct as_gpu_stream *stream))                                                                                  \
    X(ncclResult_t, ncclAllGather,                                                                                     \
      (const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm,                            \
       struct as_gpu_stream *stream))                                                                                  \
    X(ncclResult_t, ncclBroadcast,                                                                                     \
      (const void *send, void *receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,                  \
       struct as_gpu_stream *stream))                                                                                  \
    X(ncclResult_t, ncclSend,                                                                                          \
      (const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, struct as_gpu_stream *stream))  \
    X(ncclResult_t, ncclRecv,                                                                                          \
      (void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, struct as_gpu_stream *stream))

#endif
