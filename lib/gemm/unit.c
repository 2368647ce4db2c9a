/* GEMM by a matrix instruction of the table, per chip and type: AMD's, and matrices of the language itself. */
#include "gemm.h"

#include "device/dialect/dialect.h"

#include <stdio.h>
#include <string.h>

extern const char as_kernel_gemm_simple[], as_kernel_gemm_unit[], as_kernel_gemm_simdgroup[], as_kernel_gemm_tensor[];

/* See unit.kernel and simdgroup.kernel: a workgroup computes a tile of side x side, or another of the same
 * number of subgroups, and each subgroup `down` rows of it. */
static const struct as_gemm_shape unit = {as_kernel_gemm_unit, 128, 64, 256, 64},
                                  simdgroup = {as_kernel_gemm_simdgroup, 64, 64, 128, 32};

const struct as_gemm_shape *as_gemm_unit_shape(const struct as_device_info *info)
{
    switch (as_dialect_find(info->dialect)) {
    case AS_DIALECT_HIP:
        return &unit;
    case AS_DIALECT_METAL:
        return &simdgroup;
    default:
        return NULL;
    }
}

/* The instruction with the largest tile of d, which reuses loaded elements most. */
const struct as_matrix *as_gemm_unit(const struct as_device_info *info, enum as_gemm_type type)
{
    const struct as_gemm_format *f = &as_gemm_formats[type];
    const struct as_matrix *best = NULL;
    for (const struct as_matrix *m = as_matrices; m->name; m++)
        if (m->dialect == as_dialect_find(info->dialect) && !m->sparse && !(m->needs & AS_CAP_TENSOR_FRAGMENTS) &&
            strcmp(m->a, f->in) == 0 && strcmp(m->b, f->in) == 0 && strcmp(m->c, f->sum) == 0 &&
            (!best || m->m * m->n > best->m * best->n) && as_matrix_applies(m, info, NULL) == AS_APPLIES)
            best = m;
    return best;
}

bool as_gemm_has_units(const struct as_device_info *info)
{
    return as_gemm_unit_shape(info) != NULL;
}

bool as_gemm_by_unit(const struct as_device_info *info, const struct as_gemm_desc *d)
{
    return d->path == AS_GEMM_MMA && as_gemm_has_units(info);
}

enum as_applies as_gemm_unit_applies(const struct as_device_info *info, const struct as_gemm_desc *d,
                                     struct as_error *err)
{
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    if (as_gemm_unit(info, d->type))
        return AS_APPLIES;
    return as_inapplicable(err, "no known matrix instruction of %s multiplies %s and accumulates in %s",
                           info->arch[0] ? info->arch : "an unknown chip", f->in, f->sum);
}

unsigned as_gemm_unit_steps(const struct as_matrix *m, enum as_gemm_type type, struct as_gemm_tile tile)
{
    const struct as_gemm_shape *s = m->dialect == AS_DIALECT_METAL ? &simdgroup : &unit;
    const unsigned subgroups = s->threads / m->lanes, rows = s->side / s->down; /* of subgroups */
    return tile.m / rows / m->m * (tile.n / (subgroups / rows) / m->n) *
           (s->row_bytes / (m->k * as_gemm_formats[type].in_bytes));
}

enum as_status as_gemm_unit_program(const struct as_matrix *m, const struct as_gemm_desc *d, struct as_gemm_tile tile,
                                    struct as_buf *source, char *defines, size_t size, struct as_error *err)
{
    const struct as_gemm_format *f = &as_gemm_formats[d->type == AS_GEMM_TF32 ? AS_GEMM_F32 : d->type];
    const struct as_gemm_shape *s = m->dialect == AS_DIALECT_METAL ? &simdgroup : &unit;
    snprintf(defines, size, "-D%s -DEPILOGUE=%d -DGROUP_MOST=%u -DTILE_M=%u -DTILE_N=%u", f->define, (int)d->epilogue,
             s->threads, tile.m, tile.n);
    as_buf_str(source, as_kernel_gemm_simple);
    as_matrix_source(m, 0, NULL, source);
    as_buf_str(source, s->source);
    return as_buf_check(source, err);
}

enum as_status as_gemm_tensor_build(struct as_gemm *p, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    char defines[96];
    snprintf(defines, sizeof defines, "-D%s -DEPILOGUE=%d -DTILE_M=%u -DTILE_N=%u",
             as_gemm_formats[p->desc.type].define, (int)p->desc.epilogue, p->tile.m, p->tile.n);
    as_buf_str(&source, as_kernel_gemm_simple);
    as_buf_str(&source, as_kernel_gemm_tensor);
    const struct as_program_desc desc = {.name = "gemm_tensor", .source = as_buf_get(&source), .defines = defines};
    enum as_status st = as_buf_check(&source, err);
    if (!st)
        st = as_buffers_keep_program(&p->own, &desc, &p->plain, err);
    as_buf_finish(&source);
    return st;
}

enum as_status as_gemm_unit_build(struct as_gemm *p, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    char defines[96];
    const struct as_matrix *m = as_gemm_unit(&p->dev->info, p->desc.type);
    if (!m) {
        (void)as_gemm_unit_applies(&p->dev->info, &p->desc, err);
        return AS_UNSUPPORTED;
    }
    enum as_status st = as_gemm_unit_program(m, &p->desc, p->tile, &source, defines, sizeof defines, err);
    const struct as_program_desc desc = {.name = "gemm_mma", .source = as_buf_get(&source), .defines = defines};
    if (!st)
        st = as_buffers_keep_program(&p->own, &desc, &p->plain, err);
    as_buf_finish(&source);
    return st;
}
