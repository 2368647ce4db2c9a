/* One attention: operands, the kernels of a path, and the check. */
#ifndef AS_PROBES_APPS_ATTENTION_ATTENTION_H
#define AS_PROBES_APPS_ATTENTION_ATTENTION_H

#include "lib/gemm/gemm.h"

enum as_attention_path {
    AS_ATTENTION_DECOMPOSED, /* two GEMMs with softmax between, through memory */
    AS_ATTENTION_SCALAR,
    AS_ATTENTION_FLASH,
    AS_ATTENTION_SPLIT,
    AS_ATTENTION_FLASH_WGMMA,
    AS_ATTENTION_SPLIT_WGMMA,
    AS_ATTENTION_PATHS
};
extern const char *const as_attention_path_words[];
enum { AS_ATTENTION_WIDE = 128, AS_ATTENTION_LAUNCHES = 2 };

struct as_attention_desc {
    enum as_attention_path path;
    uint64_t length, heads;
    uint32_t seed;
};
struct as_attention {
    struct as_device *dev;
    struct as_buffers own;
    struct as_attention_desc desc;
    struct as_memory *q, *k, *v, *out; /* see attention.kernel */
    struct as_memory *scores;          /* of the decomposed path */
    struct as_memory *partial, *limits;
    struct as_program *program, *flash;
    struct as_gemm score, value;
    struct as_tensor tensors[3]; /* q, k and v */
    struct as_kernel *kernels[AS_ATTENTION_LAUNCHES];
    struct as_arg args[AS_ATTENTION_LAUNCHES][9];
    struct as_launch launches[AS_ATTENTION_LAUNCHES];
    size_t launches_n;
    unsigned parts;
    double drawn[AS_GEMM_DRAWN]; /* the values of random k and v; those of q are four times as large */
};
double as_attention_flop(const struct as_attention_desc *d);
enum as_applies as_attention_applies(const struct as_device_info *info, const struct as_attention_desc *d,
                                     struct as_error *err);
enum as_status as_attention_prepare(struct as_attention *a, struct as_device *dev, const struct as_attention_desc *d,
                                    struct as_error *err);
/* Runs each kernel `reps` times, one kernel after the other. */
enum as_status as_attention_run(struct as_attention *a, uint64_t reps, double *seconds, struct as_error *err);
/* Runs the kernels once more in order, and compares some rows of the result with f64. */
bool as_attention_check(struct as_attention *a, char *why, size_t size);
void as_attention_finish(void *attention);
/* Appends a kernel to the path. */
enum as_status as_attention_launch(struct as_attention *a, struct as_program *program, const char *name,
                                   const struct as_arg *args, size_t n, size_t workgroups, size_t workgroup_size,
                                   struct as_error *err);

/* ---- flash.c: fused paths on matrix units ---- */

enum as_applies as_attention_flash_applies(const struct as_device_info *info, const struct as_attention_desc *d,
                                           struct as_error *err);
enum as_status as_attention_flash_prepare(struct as_attention *a, struct as_error *err);
/* Source and options of the program; its kernel is "flash". */
enum as_status as_attention_flash_program(const struct as_device_info *info, const struct as_attention_desc *d,
                                          struct as_buf *source, char *defines, size_t size, struct as_error *err);
/* Minimum number of matrix instructions in its machine code. */
unsigned as_attention_flash_steps(const struct as_device_info *info, enum as_attention_path path);

#endif
