/* Shared by the files of the stand-in for Metal.framework. */
#ifndef AS_TESTS_FAKE_METAL_H
#define AS_TESTS_FAKE_METAL_H

#include "../fibers.h"
#include "objc.h"

#include <pthread.h>
#include <stdint.h>

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef signed char BOOL;
typedef struct {
    NSUInteger width, height, depth;
} MTLSize;
typedef struct {
    NSUInteger location, length;
} NSRange;

/* Declared as in Metal's headers, independently of the backend's declarations. */
enum { STORAGE_MASK = 0xf0, STORAGE_SHARED = 0x00, STORAGE_MANAGED = 0x10, STORAGE_PRIVATE = 0x20, CACHE_MASK = 0x0f };
enum { ENQUEUED = 1, COMMITTED = 2, COMPLETED = 4, FAILED = 5 };
enum { OLD_VERSION = 230, METAL4_VERSION = 400, METAL41_VERSION = 410 }; /* of the language */
enum { DEVICES = 2, CORES = 2, LANES = 32, GROUP_MOST = 1024, GROUP_BYTES = 32 << 10, BUFFERS = 31, BYTES_MOST = 4096 };
#define REGISTRY_ID 0x100000abcULL
#define BUFFER_MOST (1ULL << 32)
#define WORKING_SET (1ULL << 33)
#define SMALL_WORKING_SET (1ULL << 26)

struct device {
    struct fake_object object;
    unsigned index;
};
struct buffer {
    struct fake_object object;
    char *at;    /* the GPU's view */
    char *shown; /* managed: the host's view */
    NSUInteger length, options;
    bool borrowed; /* host memory */
};
struct library {
    struct fake_object object;
    struct msl_program program;
};
struct function {
    struct fake_object object;
    struct library *library;
    const struct msl_kernel *kernel;
};
struct pipeline {
    struct fake_object object;
    struct function *function;
};
struct error {
    struct fake_object object;
    id text;
    NSInteger code;
};

API extern struct fake_class fake_device_class, fake_buffer_class, fake_library_class, fake_function_class,
    fake_pipeline_class, fake_error_class, fake_queue_class;
/* One of three matrices, and the multiplication, performed by a queue's thread. */
struct fake_factor {
    struct buffer *buffer;
    NSUInteger row_bytes;
    unsigned bits;
};
struct fake_product {
    BOOL left, right; /* transposed */
    NSUInteger rows, columns, inner;
    struct fake_factor factors[3];
    void (*perform)(const struct fake_product *p);
};
API void fake_encode_product(id commands, const struct fake_product *p, const char *sel);

id fake_error(const char *text, NSInteger code); /* of the pool */
/* Bytes of all live buffers. */
NSUInteger fake_allocated(void);
API bool fake_is(id object, const struct fake_class *of);

#endif
