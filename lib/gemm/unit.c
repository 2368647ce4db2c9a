/* GEMM by AMD's matrix instruction from the table, per chip and type. */
#include "gemm.h"

#include "device/dialect/dialect.h"

#include <stdio.h>
#include <string.h>

extern const char as_kernel_gemm_simple[], as_kernel_gemm_unit[];

enum { PART = 64, SIDE = 128, ROW = 64, THREADS = 256 }; /* see unit.kernel */

/* The one with the largest tile of d, for the highest reuse of loaded elements. */
const struct as_matrix *as_product_unit(const struct as_device_info *info, enum as_product_type type)
{
    const struct as_product_format *f = &as_product_formats[type];
    const struct as_matrix *best = NULL;
    for (const struct as_matrix *m = as_matrices; m->name; m++)
        if (m->dialect == AS_DIALECT_HIP && !m->sparse && strcmp(m->a, f->in) == 0 && strcmp(m->b, f->in) == 0 &&
            strcmp(m->c, f->sum) == 0 && (!best || m->m * m->n > best->m * best->n) &&
            as_matrix_applies(m, info, NULL) == AS_APPLIES)
            best = m;
    return best;
}

bool as_product_has_units(const struct as_device_info *info)
{
    return strcmp(info->dialect, as_dialect_word(AS_DIALECT_HIP)) == 0;
}

bool as_product_by_unit(const struct as_device_info *info, const struct as_product_desc *d)
{
    return d->path == AS_PRODUCT_MMA && as_product_has_units(info);
}

enum as_applies as_product_unit_applies(const struct as_device_info *info, const struct as_product_desc *d,
                                        struct as_error *err)
{
    const struct as_product_format *f = &as_product_formats[d->type];
    if (as_product_unit(info, d->type))
        return AS_APPLIES;
    as_fail(err, AS_UNSUPPORTED, "no known matrix instruction of %s multiplies %s and accumulates in %s",
            info->arch[0] ? info->arch : "an unknown chip", f->in, f->sum);
    return AS_INAPPLICABLE;
}

unsigned as_product_unit_steps(const struct as_matrix *m, enum as_product_type type)
{
    const unsigned across = SIDE / (THREADS / m->lanes / 2);
    return PART / m->m * (across / m->n) * (ROW / (m->k * as_product_formats[type].in_bytes));
}

enum as_status as_product_unit_program(const struct as_matrix *m, const struct as_product_desc *d,
                                       struct as_buf *source, char *defines, size_t size, struct as_error *err)
{
    const struct as_product_format *f = &as_product_formats[d->type == AS_PRODUCT_TF32 ? AS_PRODUCT_F32 : d->type];
    snprintf(defines, size, "-D%s -DEPILOGUE=%d -DGROUP_MOST=%d", f->define, (int)d->epilogue, (int)THREADS);
    as_buf_str(source, as_kernel_gemm_simple);
    as_matrix_source(m, 0, NULL, source);
    as_buf_str(source, as_kernel_gemm_unit);
    return as_buf_check(source, err);
}

enum as_status as_product_unit_build(struct as_product *p, struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    char defines[96];
    const struct as_matrix *unit = as_product_unit(&p->dev->info, p->desc.type);
    if (!unit) {
        (void)as_product_unit_applies(&p->dev->info, &p->desc, err);
        return AS_UNSUPPORTED;
    }
    enum as_status s = as_product_unit_program(unit, &p->desc, &source, defines, sizeof defines, err);
    const struct as_program_desc desc = {.name = "gemm_mma", .source = as_buf_get(&source), .defines = defines};
    if (!s)
        s = p->dev->program->build(p->dev, &desc, &p->plain, err);
    as_buf_finish(&source);
    return s;
}
