/* Ceilings and slopes of a device, from its quantities and the facts about ridge points. */
#include "base/text.h"
#include "report/page/markup.h"
#include "report/page/roofline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_speed(const void *pa, const void *pb)
{
    double a = ((const struct as_roof_level *)pa)->bytes_s, b = ((const struct as_roof_level *)pb)->bytes_s;
    return a > b ? -1 : a < b;
}

static const struct as_fact *find_ridge(const struct as_report_run *rr, const char *device, const char *type,
                                        const char *level)
{
    return as_fact_of(rr->facts, rr->facts_n, device, AS_FACT_RIDGE, AS_BY(.type = type, .level = level));
}

/* The type of a matrix quantity that says what matrix units reach: "fp16" of "matrix.fp16.burst" or "matrix.fp16.own".
 */
static bool matrix_type(const struct as_quantity *q, char type[static 24])
{
    static const char head[] = "matrix.";
    const char *end = strrchr(q->name, '.');
    if (strncmp(q->name, head, strlen(head)) != 0 || (strcmp(end, ".burst") != 0 && strcmp(end, ".own") != 0))
        return false;
    const size_t n = (size_t)(end - q->name) - strlen(head);
    as_copy_text(type, n + 1 < 24 ? n + 1 : 24, q->name + strlen(head));
    return true;
}

/* A rate that is too noisy to be said is no ceiling. */
static bool read_peak(const struct as_quantity_subject *s, const char *quantity, struct as_quantity_value *v)
{
    if (!as_quantity_get(s, quantity, v))
        return false;
    const struct as_number n = as_quantity_number(v);
    return as_number_is_said(&n);
}

/* Of each type the faster of library and own kernels. */
static void find_matrix(const struct as_quantity_subject *s, struct as_roofline *r)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        struct as_quantity_value v;
        char type[24];
        if (!matrix_type(q, type) || !read_peak(s, q->name, &v))
            continue;
        size_t t = 0;
        while (t < r->types && strcmp(r->ceiling[t].type, type) != 0)
            t++;
        if (t == AS_ROOFLINE_TYPES_MAX || (t < r->types && r->ceiling[t].peak.value >= v.value))
            continue;
        struct as_ceiling *c = &r->ceiling[t];
        c->peak = v;
        as_copy_text(c->type, sizeof c->type, type);
        if (t == r->types)
            snprintf(c->name, sizeof c->name, "%.*s matrix", (int)strcspn(q->label, " "), q->label);
        r->types += t == r->types;
    }
}

/* The axis counts floating-point operations. */
static void choose_drawn(struct as_roofline *r)
{
    size_t drawn = 0;
    for (size_t t = 0; t < r->types; t++) {
        r->ceiling[t].is_drawn = strcmp(r->ceiling[t].peak.unit, "FLOP/s") == 0 && drawn < AS_ROOFLINE_DRAWN_MAX;
        drawn += r->ceiling[t].is_drawn;
    }
}

void as_roofline_find(const struct as_report_run *rr, const char *device, struct as_roofline *r)
{
    const struct as_quantity_subject s = as_report_subject(rr, device);
    struct as_quantity_value roofs[AS_ROOFS_MAX];
    *r = (struct as_roofline){.types = 0};
    as_page_local_name(s.info, r->local);
    const size_t roofs_n = as_quantity_roofs(&s, roofs);
    for (size_t k = 0; k < roofs_n; k++) {
        const struct as_number n = as_quantity_number(&roofs[k]);
        if (as_number_is_said(&n))
            r->level[r->levels++] = (struct as_roof_level){.roof = roofs[k], .bytes_s = roofs[k].value * 1e9};
    }
    qsort(r->level, r->levels, sizeof r->level[0], by_speed);
    for (const struct as_peak *p = as_peaks; p->quantity && r->types < AS_ROOFLINE_TYPES_MAX; p++) {
        struct as_ceiling *c = &r->ceiling[r->types];
        if (!read_peak(&s, p->quantity, &c->peak))
            continue;
        as_copy_text(c->name, sizeof c->name, c->peak.of->label);
        for (size_t k = 0; k < r->levels; k++)
            r->level[k].ridge[r->types] = find_ridge(rr, device, p->type, r->level[k].roof.of->level);
        r->types++;
    }
    if (r->types)
        find_matrix(&s, r);
    choose_drawn(r);
}

void as_roofline_level_text(struct as_buf *b, const struct as_roofline *r, size_t k)
{
    const struct as_quantity *q = r->level[k].roof.of;
    as_buf_html(b, strcmp(q->level, "shared") == 0        ? r->local
                   : strcmp(q->level, "memory_side") == 0 ? "memory-side cache"
                                                          : q->level);
    as_buf_char(b, ' ');
    as_buf_html(b, q->label);
}
