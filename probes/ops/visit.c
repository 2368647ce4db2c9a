#include "visit.h"

#include <stdlib.h>

enum { CORE_TURNS = 8192 };

bool as_ops_desc(const struct as_axes *axes, struct as_chains_desc *out)
{
    const struct as_op *op = as_op_find(as_axes_text(axes, "op"));
    *out = (struct as_chains_desc){.steps = (unsigned)as_axes_u64(axes, "steps")};
    if (op)
        out->sequence = as_op_alone(op, (unsigned)as_axes_u64(axes, "operands"));
    return op != NULL;
}

/* What belongs to each step besides. */
static void note_links(struct as_visit_context *vc, const struct as_op_sequence *s)
{
    struct as_buf links = AS_BUF_INIT;
    for (size_t i = 0; i < s->n; i++)
        if (s->part[i].op->link)
            as_buf_printf(&links, "%s%s", links.len ? ", " : "", s->part[i].op->link);
    if (links.len)
        as_note(vc, "link", as_buf_get(&links));
    as_buf_finish(&links);
}

enum as_status as_ops_prepare(struct as_visit_context *vc, const struct as_chains_desc *desc, void **state,
                              struct as_error *err)
{
    struct as_ops_visit *v = calloc(1, sizeof *v);
    *state = v;
    if (!v)
        return as_nomem(err, sizeof *v, "chains");
    vc->min_reps = vc->dev->info.is_host_cpu ? CORE_TURNS : 1; /* where a clock of launches has to see the difference */
    vc->max_reps = UINT32_MAX / 2048;                          /* turns of a body, which the check counts in steps */
    vc->host_work = vc->dev->info.is_host_cpu;
    enum as_status s = as_chains_prepare(&v->chains, vc, desc, err);
    if (s)
        return s;
    as_note_number(vc, "steps", v->chains.desc.steps);
    as_note_number(vc, "threads", desc->threads);
    note_links(vc, &desc->sequence);
    return AS_OK;
}

bool as_ops_check(void *state, char *why, size_t size)
{
    struct as_ops_visit *v = state;
    return as_chains_check(&v->chains, why, size);
}

void as_ops_finish(void *state)
{
    struct as_ops_visit *v = state;
    if (v)
        as_chains_finish(&v->chains);
    free(v);
}

double as_ops_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info, (void)a;
    return 30; /* a driver compiles the kernels at first */
}
