/* One kernel for all of attention, by a matrix unit: which it is on a device, and its launches. */
#include "attention.h"

#include "../common/timed.h"

#include <stdio.h>
#include <string.h>

extern const char as_kernel_flash[], as_kernel_flash_unit[];

enum { ROWS = 128, KEYS_ALIKE = 64 /* blocks of all of them are whole */, PARTS_MAX = 16, BYTES = 2 };
enum { THREADS = 256, UNIT_KEYS = 32, MMA_KEYS = 64 };
enum { MMA_LOCAL = ROWS * AS_ATTENTION_WIDE * BYTES + 4 * MMA_KEYS * AS_ATTENTION_WIDE * BYTES };

static bool has_matrix_unit(const struct as_device_info *info)
{
    struct as_error unused;
    const struct as_product_desc d = {
        .path = AS_PRODUCT_MMA, .type = AS_PRODUCT_F16, .m = ROWS, .n = ROWS, .k = ROWS, .batch = 2};
    return as_product_applies(info, &d, &unused) == AS_APPLIES;
}

enum as_applies as_attention_flash_applies(const struct as_device_info *info, const struct as_attention_desc *d,
                                           struct as_error *err)
{
    if (!has_matrix_unit(info))
        as_fail(err, AS_UNSUPPORTED,
                "path %s is written for CUDA from sm_80 on and for AMD's chips with MFMA or WMMA of f16",
                as_attention_path_words[d->path]);
    else if (d->path == AS_ATTENTION_SPLIT && d->length % (2 * KEYS_ALIKE))
        as_fail(err, AS_UNSUPPORTED, "the keys are no two parts of whole blocks");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* Scores: so many fragments of keys by as many steps along a head; values: a head's by keys'. */
unsigned as_attention_flash_steps(const struct as_device_info *info)
{
    const struct as_matrix *m = as_product_has_units(info) ? as_product_unit(info, AS_PRODUCT_F16) : NULL;
    if (m)
        return UNIT_KEYS / m->m * (AS_ATTENTION_WIDE / m->k) + AS_ATTENTION_WIDE / m->m * (UNIT_KEYS / m->k);
    return 2 * (AS_ATTENTION_WIDE / 16) * (MMA_KEYS / 8);
}

enum as_status as_attention_flash_program(const struct as_device_info *info, const struct as_attention_desc *d,
                                          struct as_buf *source, char *defines, size_t size, struct as_error *err)
{
    snprintf(defines, size, "-DGROUP_MOST=%d%s", (int)THREADS, d->path == AS_ATTENTION_SPLIT ? " -DSPLIT" : "");
    if (as_product_has_units(info)) {
        const struct as_matrix *unit = as_product_unit(info, AS_PRODUCT_F16);
        if (!unit) {
            (void)as_attention_flash_applies(info, d, err);
            return AS_UNSUPPORTED;
        }
        as_matrix_source(unit, 0, NULL, source);
    }
    as_buf_str(source, as_product_has_units(info) ? as_kernel_flash_unit : as_kernel_flash);
    return as_buf_check(source, err);
}

static enum as_status build(struct as_attention *a, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    char defines[64];
    enum as_status s = as_attention_flash_program(&a->dev->info, &a->desc, &source, defines, sizeof defines, err);
    const struct as_program_desc desc = {.name = "flash", .source = as_buf_get(&source), .defines = defines};
    if (!s)
        s = a->dev->program->build(a->dev, &desc, &a->flash, err);
    as_buf_finish(&source);
    return s;
}

/* As many ranges of keys as it takes until every unit has work, two at least. */
static unsigned choose_parts(const struct as_attention *a)
{
    const uint64_t groups = a->desc.heads * a->desc.length / ROWS, units = a->dev->info.units;
    unsigned parts = 2;
    while (parts < PARTS_MAX && groups * parts < units && a->desc.length % (2 * parts * KEYS_ALIKE) == 0)
        parts *= 2;
    return parts;
}

enum as_status as_attention_flash_prepare(struct as_attention *a, struct as_error *err)
{
    const struct as_attention_desc *d = &a->desc;
    const bool split = d->path == AS_ATTENTION_SPLIT;
    const uint64_t rows = d->heads * d->length;
    a->parts = split ? choose_parts(a) : 1;
    enum as_status s = build(a, err);
    if (!s)
        s = as_timed_memory(a->dev, split ? a->parts * rows * AS_ATTENTION_WIDE * sizeof(float) : 64, &a->partial, err);
    if (!s)
        s = as_timed_memory(a->dev, split ? a->parts * rows * 2 * sizeof(float) : 64, &a->limits, err);
    const struct as_arg args[] = {as_memory_arg(a->q),   as_memory_arg(a->k),       as_memory_arg(a->v),
                                  as_memory_arg(a->out), as_memory_arg(a->partial), as_memory_arg(a->limits),
                                  as_u32_arg(d->length), as_u32_arg(d->heads),      as_u32_arg(a->parts)};
    if (!s)
        s = as_attention_launch(a, a->flash, "flash", args, 9, rows / ROWS * a->parts, THREADS, err);
    if (s)
        return s;
    a->launches[0].local_bytes = as_product_has_units(&a->dev->info) ? 0 : MMA_LOCAL;
    const struct as_arg join[] = {as_memory_arg(a->partial), as_memory_arg(a->limits), as_memory_arg(a->out),
                                  as_u32_arg(a->parts), as_u32_arg(rows)};
    return split ? as_attention_launch(a, a->program, "join", join, 5, rows, AS_ATTENTION_WIDE, err) : AS_OK;
}
