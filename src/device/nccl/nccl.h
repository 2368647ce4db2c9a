/* Collectives of a GPU backend by NCCL or a library with its functions. One process drives all devices of the backend,
 * each of which is a rank. */
#ifndef AS_DEVICE_NCCL_NCCL_H
#define AS_DEVICE_NCCL_NCCL_H

#include "device/gpu/memory.h"
#include "device/nccl/functions.h"

/* What a backend says of its library. */
struct as_nccl_source {
    const char *name;         /* "NCCL" */
    const char *const *files; /* names for the dynamic linker, the one to install first */
    size_t files_n;
    const char *remedy;   /* what to do where there is none */
    const char *debugger; /* the environment variable that makes it say more */
};

#define AS_NCCL_SLOT(result, name, parameters) result(*name) parameters;
struct as_nccl_api {
    void *library; /* NULL: not loaded yet */
    AS_NCCL_REQUIRED(AS_NCCL_SLOT)
};
#undef AS_NCCL_SLOT

/* The target of as_gpu_backend.collectives, a member of the backend's own struct, zero but for source. */
struct as_gpu_collectives {
    const struct as_nccl_source *source;
    struct as_nccl_api api;
    char version[48];          /* "NCCL 2.27.3" */
    size_t n;                  /* ranks; 0: the other devices are not open */
    struct as_device **device; /* of each rank, members of the first, the caller's; owned array, as the next */
    ncclComm_t *comm;          /* of each rank; NULL: not joined */
};

extern const struct as_collective_ops as_nccl_ops;
/* Sets collectives or collectives_why of the backend's first device, for which it loads the library if there are
 * others. */
void as_nccl_describe(struct as_device *dev);
/* Before dev is closed: leaves the ranks that it has joined, if any. */
void as_nccl_close(struct as_device *dev);

/* ---- ranks.c, for collectives.c ---- */

enum as_status as_nccl_join(struct as_device *dev, struct as_ranks *out, struct as_error *err);
/* The devices stay open. broken: a call failed, so ranks may wait for one another. */
void as_nccl_leave(struct as_gpu_collectives *c, bool broken);
/* AS_OK for ncclSuccess; else "cuda: ncclAllReduce: <the library's text> (2); NCCL_DEBUG=WARN ..." */
enum as_status as_nccl_check(const struct as_gpu *gpu, ncclResult_t code, const char *what, struct as_error *err);

#endif
