/* Shared by the files of the stand-in. */
#ifndef AS_TESTS_FAKE_CUDA_INSIDE_H
#define AS_TESTS_FAKE_CUDA_INSIDE_H

#include "../../fail_at.h"
#include "fake.h"

#include "device/cuda/driver_functions.h"
#include "device/cuda/driver_types.h"

#include <stdint.h>

#define DECLARE(name, parameters) API CUresult name parameters;
AS_CU_REQUIRED(DECLARE)
AS_CU_OPTIONAL(DECLARE)

enum { DEVICES = 3, PAGE = 2 << 20 };
struct as_gpu_context {
    int device, retained, lost;
    unsigned peers; /* bits */
};
struct as_gpu_stream {
    CUcontext context;
};
struct as_gpu_event {
    CUcontext context;
    double seconds; /* time of its recording */
};
struct as_gpu_function {
    CUmodule module;
    char name[32];
    unsigned dynamic_bytes; /* maximum that it may request */
};
struct as_gpu_module {
    struct as_gpu_module *next; /* list of all loaded ones */
    CUcontext context;
    void *bytes; /* name of its static variable; NULL: none */
    size_t size;
    struct as_gpu_function functions[8];
};
enum kind { DEVICE_MEMORY, POOLED, MANAGED, PINNED, REGISTERED, RESERVED };
extern struct as_gpu_module *fake_modules;
struct block {
    struct block *next;
    char *at;
    size_t size;
    enum kind kind;
    CUcontext context;
    size_t mapped;   /* RESERVED: bytes */
    unsigned access; /* RESERVED: bits of devices */
    unsigned flags;  /* PINNED */
};

extern __thread CUcontext fake_current;
extern struct block *fake_blocks;
extern int fake_things, fake_handles; /* created and not released; blocks count too */

/* Is the word in FAKE_CUDA? */
int fake_asked(const char *word);
/* Notes the first broken rule; returns code. */
CUresult fake_broke(const char *what, CUresult code);
/* A device's number before CUDA_VISIBLE_DEVICES; -1: there is none. */
int fake_real(CUdevice device);
/* The context of a call, or why it has none. */
CUresult fake_entered(const char *what);
CUresult fake_add(void **at, size_t size, enum kind kind);
/* The effect of every wait: all launches are complete, or the context is lost. */
CUresult fake_waited(void);
/* kinds: bits of the kinds that the call may release */
CUresult fake_drop(void *at, const char *what, unsigned kinds);

#define MAKE(type, handle)                                                                                             \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        *(handle) = calloc(1, sizeof(struct type));                                                                    \
        (*(handle))->context = fake_current;                                                                           \
        fake_things++;                                                                                                 \
    } while (0)
#define UNMAKE(handle)                                                                                                 \
    do {                                                                                                               \
        if (!(handle) || (handle)->context != fake_current)                                                            \
            return fake_broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                    \
        fake_things--;                                                                                                 \
        free(handle);                                                                                                  \
    } while (0)
#define ENTER()                                                                                                        \
    do {                                                                                                               \
        CUresult entered_ = fake_entered(__func__);                                                                    \
        if (entered_)                                                                                                  \
            return entered_;                                                                                           \
    } while (0)
#define IN_CONTEXT(thing)                                                                                              \
    do {                                                                                                               \
        ENTER();                                                                                                       \
        if (!(thing) || (thing)->context != fake_current)                                                              \
            return fake_broke(__func__, CUDA_ERROR_INVALID_HANDLE);                                                    \
    } while (0)

#endif
