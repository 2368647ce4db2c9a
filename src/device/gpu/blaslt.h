/* GEMM by a vendor library with heuristics that propose algorithms: cuBLASLt, hipBLASLt. Each backend gives its
 * library's functions and constants. */
#ifndef AS_DEVICE_GPU_LT_H
#define AS_DEVICE_GPU_LT_H

#include "device/gpu/gpu.h"

struct as_lt_handle;
struct as_lt_operation;
struct as_lt_layout;
struct as_lt_preference;

/* 1 and 0 as libraries want them. */
union as_lt_number {
    float f32;
    double f64;
    int32_t s32;
    uint16_t f16;
};

/* What of the library does which product. */
struct as_lt_product {
    const char *in, *sum, *out; /* as in as_gemm_desc */
    int compute, scale, in_type, out_type;
    unsigned in_bytes, out_bytes;
    union as_lt_number one; /* of the type `scale` */
    bool fast;              /* an attribute of its own asks for sums as the matrix unit makes them */
};
/* That of n that is asked for, whose sizes and memory are checked: AS_UNSUPPORTED where there is none, AS_USAGE as
 * as_gemm_check has it. */
enum as_status as_lt_find(const char *library, const struct as_lt_product *products, size_t n,
                          const struct as_gemm_desc *d, const struct as_lt_product **out, struct as_error *err);

enum { AS_LT_WAYS = 8 }; /* are asked for, and timed */

struct as_lt_way { /* an algorithm, as the library has it */
    uint64_t algorithm[8];
    bool usable;
};
/* The fastest algorithm of a product. Timing those that the library proposes takes the power and the clock that samples
 * need, so it is done once per product and process. */
struct as_lt_choice {
    uint64_t product; /* hash of device, types, sizes and transpositions; 0 none */
    struct as_lt_way way;
    int number, proposed; /* the number-th of so many, from 1 */
};
enum { AS_LT_CHOICES = 64 };
struct as_lt_call { /* what a product is made of */
    struct as_lt_handle *handle;
    struct as_lt_operation *operation;
    struct as_lt_layout *left, *right, *result;
    union as_lt_number one, zero;
    const void *left_at, *right_at;
    void *result_at, *workspace;
    size_t workspace_bytes;
    struct as_gpu_stream *stream;
    struct as_lt_way way;
};

struct as_lt_library {
    const char *name, *prefix;   /* "cuBLASLt", of its functions' names "cublasLt" */
    const void *api;             /* the backend's own */
    struct as_lt_choice *chosen; /* AS_LT_CHOICES of them */
    int transposed, plain;       /* of operands */
    int left_attribute, right_attribute, fast_attribute, workspace_attribute;
    int (*create)(struct as_lt_handle **handle);
    int (*destroy)(struct as_lt_handle *handle);
    int (*operation_create)(struct as_lt_operation **operation, int compute, int scale);
    int (*operation_destroy)(struct as_lt_operation *operation);
    int (*operation_set)(struct as_lt_operation *operation, int attribute, const void *value, size_t bytes);
    int (*layout_create)(struct as_lt_layout **layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
    int (*layout_destroy)(struct as_lt_layout *layout);
    int (*preference_create)(struct as_lt_preference **preference);
    int (*preference_destroy)(struct as_lt_preference *preference);
    int (*preference_set)(struct as_lt_preference *preference, int attribute, const void *value, size_t bytes);
    int (*multiply)(const struct as_lt_library *lib, const struct as_lt_call *call);
    /* *n is what the library says, which may be any number; no more than AS_LT_WAYS are written. */
    enum as_status (*propose)(const struct as_lt_library *lib, const struct as_lt_call *call,
                              struct as_lt_preference *preference, struct as_lt_way ways[AS_LT_WAYS], int *n,
                              struct as_error *err);
    /* AS_OK for 0; else "<api>: <what>: <the library's words> (15)" with the status that fits */
    enum as_status (*check)(const struct as_lt_library *lib, int status, const char *what, struct as_error *err);
    /* AS_UNSUPPORTED for one that is too old */
    enum as_status (*version)(const struct as_lt_library *lib, struct as_lt_handle *handle, char *out, size_t size,
                              struct as_error *err);
};

struct as_lt_gemm {
    struct as_device *dev;
    const struct as_lt_library *lib;
    struct as_memory *workspace;
    struct as_lt_call call;
    uint64_t reps;
    char function[32]; /* that multiplies, for messages */
    char name[96];     /* library, version and chosen algorithm */
};
/* Describes the product, and times what the library proposes unless this process has done so; lib and the memory of
 * desc have to stay. as_lt_finish is to be called whatever comes of it. */
enum as_status as_lt_prepare(struct as_lt_gemm *g, struct as_device *dev, const struct as_lt_library *lib,
                             const struct as_gemm_desc *desc, const struct as_lt_product *product,
                             struct as_error *err);
void as_lt_finish(struct as_lt_gemm *g);
enum as_status as_lt_run(struct as_lt_gemm *g, uint64_t reps, struct as_timing *out, struct as_error *err);

#endif
