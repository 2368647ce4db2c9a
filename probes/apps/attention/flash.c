/* Fused attention on matrix units: the device's variant, and its launches. */
#include "attention.h"

#include "lib/kernel_timer/kernel_timer.h"

#include <stdio.h>

extern const char as_kernel_flash[], as_kernel_flash_unit[], as_kernel_flash_wgmma[], as_kernel_flash_simdgroup[];

enum { ROWS = 128, PARTS_MAX = 16, BYTES = 2, WGMMA_BOX = 64 /* columns: the swizzle width */ };
#define NUMBERS(rows) (AS_ATTENTION_WIDE * BYTES * (rows))

static const struct made {
    const char *source;
    unsigned keys; /* keys per block */
    unsigned threads;
    uint64_t shared_bytes;
    unsigned matrix; /* minimum number of matrix instructions in the code; 0: computed per device */
} mma = {as_kernel_flash, 64, 256, NUMBERS(ROWS + 2 * 2 * 64), 128},
  wgmma = {as_kernel_flash_wgmma, 128, 384, NUMBERS(ROWS + 2 * 2 * 128) + 1024, 32},
  unit = {as_kernel_flash_unit, 32, 256, 0, 0}, simdgroup = {as_kernel_flash_simdgroup, 32, 512, 0, 0};

static bool by_wgmma(enum as_attention_path path)
{
    return path == AS_ATTENTION_FLASH_WGMMA || path == AS_ATTENTION_SPLIT_WGMMA;
}

static bool is_split(enum as_attention_path path)
{
    return path == AS_ATTENTION_SPLIT || path == AS_ATTENTION_SPLIT_WGMMA;
}

static const struct made *made_for(const struct as_device_info *info, enum as_attention_path path)
{
    const bool metal = as_dialect_find(info->dialect) == AS_DIALECT_METAL;
    return by_wgmma(path) ? &wgmma : metal ? &simdgroup : as_gemm_has_units(info) ? &unit : &mma;
}

static bool attention_has_path(const struct as_device_info *info, enum as_attention_path path)
{
    struct as_error unused;
    const struct as_gemm_desc d = {.path = by_wgmma(path) ? AS_GEMM_WGMMA : AS_GEMM_MMA,
                                   .type = AS_GEMM_F16,
                                   .m = 256,
                                   .n = 256,
                                   .k = 256,
                                   .batch = by_wgmma(path) ? 1 : 2};
    return as_gemm_applies(info, &d, &unused) == AS_APPLIES;
}

enum as_applies as_attention_flash_applies(const struct as_device_info *info, const struct as_attention_desc *d,
                                           struct as_error *err)
{
    const char *path = as_attention_path_words[d->path];
    if (!attention_has_path(info, d->path) && by_wgmma(d->path))
        as_fail(err, AS_UNSUPPORTED, "path %s needs sm_90a, this is %s", path,
                info->arch[0] ? info->arch : "a device of unknown architecture");
    else if (!attention_has_path(info, d->path))
        as_fail(err, AS_UNSUPPORTED,
                "path %s needs CUDA from sm_80 on, an AMD GPU with f16 MFMA or WMMA, or an Apple GPU with "
                "simdgroup_matrix",
                path);
    else if (is_split(d->path) && d->length % (2ull * made_for(info, d->path)->keys))
        as_fail(err, AS_UNSUPPORTED, "the keys cannot be split into two ranges of whole blocks");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* For instructions of the table: fragments of keys times steps along the head for scores, and the reverse for
 * values. */
unsigned as_attention_flash_steps(const struct as_device_info *info, enum as_attention_path path)
{
    const struct made *made = made_for(info, path);
    const struct as_matrix *m = made->matrix ? NULL : as_gemm_unit(info, AS_GEMM_F16);
    if (m)
        return made->keys / m->m * (AS_ATTENTION_WIDE / m->k) + AS_ATTENTION_WIDE / m->m * (made->keys / m->k);
    return made->matrix;
}

enum as_status as_attention_flash_program(const struct as_device_info *info, const struct as_attention_desc *d,
                                          struct as_buf *source, char *defines, size_t size, struct as_error *err)
{
    const struct made *made = made_for(info, d->path);
    snprintf(defines, size, "-DCLUSTER=1 -DGROUP_MOST=%u%s", made->threads, is_split(d->path) ? " -DSPLIT" : "");
    if (made->matrix == 0) {
        const struct as_matrix *m = as_gemm_unit(info, AS_GEMM_F16);
        if (!m) {
            (void)as_attention_flash_applies(info, d, err);
            return AS_UNSUPPORTED;
        }
        as_matrix_source(m, 0, NULL, source);
    }
    as_buf_str(source, made->source);
    return as_buf_check(source, err);
}

static enum as_status attention_build(struct as_attention *a, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    char defines[64];
    enum as_status st = as_attention_flash_program(&a->dev->info, &a->desc, &source, defines, sizeof defines, err);
    const struct as_program_desc desc = {.name = "flash", .source = as_buf_get(&source), .defines = defines};
    if (!st)
        st = as_buffers_keep_program(&a->own, &desc, &a->flash, err);
    as_buf_finish(&source);
    return st;
}

/* Enough ranges of keys to fill all compute units, at least two. */
static unsigned choose_parts(const struct as_attention *a, unsigned keys)
{
    const uint64_t workgroups = a->desc.heads * a->desc.length / ROWS, compute_units = a->dev->info.compute_units;
    unsigned parts = 2;
    while (parts < PARTS_MAX && workgroups * parts < compute_units && a->desc.length % (2 * parts * keys) == 0)
        parts *= 2;
    return parts;
}

/* TMA descriptors of q, k and v of all heads; each row of a box is one line of shared memory. */
static void set_operands(struct as_attention *a, struct as_arg args[3])
{
    struct as_memory *const memory[] = {a->q, a->k, a->v};
    const uint64_t length = a->desc.length, heads = a->desc.heads, wide = AS_ATTENTION_WIDE;
    for (size_t i = 0; i < 3; i++) {
        const bool values = i == 2;
        a->tensors[i] = (struct as_tensor){.memory = memory[i],
                                           .element_bytes = BYTES,
                                           .columns = values ? length : wide,
                                           .rows = heads * (values ? wide : length),
                                           .box_columns = WGMMA_BOX,
                                           .box_rows = 128,
                                           .swizzle = WGMMA_BOX * BYTES};
        args[i] = by_wgmma(a->desc.path) ? (struct as_arg){.kind = AS_ARG_TENSOR, .u.tensor = &a->tensors[i]}
                                         : as_memory_arg(memory[i]);
    }
}

enum as_status as_attention_flash_prepare(struct as_attention *a, struct as_error *err)
{
    const struct as_attention_desc *d = &a->desc;
    const struct made *made = made_for(&a->dev->info, d->path);
    const bool split = is_split(d->path);
    const uint64_t rows = d->heads * d->length;
    a->parts = split ? choose_parts(a, made->keys) : 1;
    enum as_status st = attention_build(a, err);
    if (!st)
        st = as_buffers_keep_memory(&a->own, NULL, split ? a->parts * rows * AS_ATTENTION_WIDE * sizeof(float) : 64,
                                    &a->partial, err);
    if (!st)
        st = as_buffers_keep_memory(&a->own, NULL, split ? a->parts * rows * 2 * sizeof(float) : 64, &a->limits, err);
    struct as_arg args[9] = {[3] = as_memory_arg(a->out), as_memory_arg(a->partial), as_memory_arg(a->limits),
                             as_u32_arg(d->length),       as_u32_arg(d->heads),      as_u32_arg(a->parts)};
    set_operands(a, args);
    if (!st)
        st = as_attention_launch(a, a->flash, "flash", args, 9, rows / ROWS * a->parts, made->threads, err);
    if (st)
        return st;
    a->launches[0].shared_bytes = made->shared_bytes;
    const struct as_arg join[] = {as_memory_arg(a->partial), as_memory_arg(a->limits), as_memory_arg(a->out),
                                  as_u32_arg(a->parts), as_u32_arg(rows)};
    return split ? as_attention_launch(a, a->program, "join", join, 5, rows, AS_ATTENTION_WIDE, err) : AS_OK;
}
