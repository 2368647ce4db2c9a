/* GEMM by a vendor library whose heuristics propose algorithms: cuBLASLt, hipBLASLt. Each backend supplies its
 * library's functions and constants. */
#ifndef AS_DEVICE_GPU_LT_H
#define AS_DEVICE_GPU_LT_H

#include "device/gpu/gpu.h"

struct as_lt_handle;
struct as_lt_operation;
struct as_lt_layout;
struct as_lt_preference;

/* The constants 1 and 0 in the scale's type. */
union as_lt_number {
    float f32;
    double f64;
    int32_t s32;
    uint16_t f16;
};

/* The library's constants for a GEMM of these types. */
struct as_lt_formats {
    const char *in, *sum, *out; /* as in as_vendor_gemm_desc */
    int compute, scale, in_type, out_type;
    unsigned in_bytes, out_bytes;
    union as_lt_number one; /* of the type `scale` */
    bool fast;              /* an attribute requests the matrix unit's own accumulation */
};
/* The entry for desc among n, after a check of sizes and memory: AS_UNSUPPORTED if there is none, AS_USAGE as
 * in as_gemm_check. */
enum as_status as_lt_find(const char *library, const struct as_lt_formats *gemms, size_t n,
                          const struct as_vendor_gemm_desc *d, const struct as_lt_formats **out, struct as_error *err);

enum { AS_LT_WAYS = 8 }; /* algorithms requested and timed */

struct as_lt_way { /* the library's description of an algorithm */
    uint64_t algorithm[8];
    bool usable;
};
/* The fastest algorithm for a GEMM. Timing the proposals takes power and clock that samples
 * need, so it is done once per GEMM and process. */
struct as_lt_choice {
    uint64_t gemm; /* hash of device, types, sizes and transpositions; 0 if empty */
    struct as_lt_way way;
    int number, proposed; /* its number, from 1, among the proposals */
};
enum { AS_LT_CHOICES = 64 };
struct as_lt_call { /* library objects of a GEMM */
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
    const char *name, *prefix;   /* "cuBLASLt"; prefix of its functions, "cublasLt" */
    const void *api;             /* the backend's table of functions */
    struct as_lt_choice *chosen; /* AS_LT_CHOICES entries */
    int transposed, plain;       /* the library's constants for operands */
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
    /* *n is the library's count, which may be any number; at most AS_LT_WAYS are written. */
    enum as_status (*propose)(const struct as_lt_library *lib, const struct as_lt_call *call,
                              struct as_lt_preference *preference, struct as_lt_way ways[AS_LT_WAYS], int *n,
                              struct as_error *err);
    /* AS_OK for 0; else "<api>: <what>: <the library's message> (15)" with a matching status */
    enum as_status (*check)(const struct as_lt_library *lib, int status, const char *what, struct as_error *err);
    /* AS_UNSUPPORTED if the library is too old */
    enum as_status (*version)(const struct as_lt_library *lib, struct as_lt_handle *handle, char *out, size_t size,
                              struct as_error *err);
};

struct as_lt_gemm {
    struct as_device *dev;
    const struct as_lt_library *lib;
    struct as_memory *workspace;
    struct as_lt_call call;
    uint64_t reps;
    char function[32]; /* the multiplying function, for messages */
    char name[96];     /* library, version and chosen algorithm */
};
/* Sets up the GEMM and, unless this process has done so, times the library's proposals. lib and the memory of
 * desc must outlive it. Call as_lt_finish also after an error. */
enum as_status as_lt_prepare(struct as_lt_gemm *g, struct as_device *dev, const struct as_lt_library *lib,
                             const struct as_vendor_gemm_desc *desc, const struct as_lt_formats *gemm,
                             struct as_error *err);
void as_lt_finish(struct as_lt_gemm *g);
enum as_status as_lt_run(struct as_lt_gemm *g, uint64_t reps, struct as_timing *out, struct as_error *err);

#endif
