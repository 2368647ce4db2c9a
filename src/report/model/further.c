#include "report/model/further.h"

#include "base/text.h"
#include "model/number.h"

#include <string.h>

static size_t further_place_of(const struct as_further *f, const char *name)
{
    size_t k = 0;
    while (k < f->n && strcmp(f->names[k], name) != 0)
        k++;
    return k;
}

static void further_collect(struct as_further *f, const struct as_cell *cell, bool with_demand)
{
    struct as_metric_value v[AS_METRICS_MAX];
    const size_t n = as_cell_metrics(cell, v);
    for (size_t i = 0; i < n && f->n < AS_METRICS_MAX; i++)
        if (further_place_of(f, v[i].name) == f->n && (with_demand || !as_is_demand_metric(v[i].name)))
            as_copy_text(f->names[f->n++], sizeof f->names[0], v[i].name);
}

void as_further_collect(struct as_further *f, const struct as_cell *cell)
{
    further_collect(f, cell, true);
}

void as_further_collect_own(struct as_further *f, const struct as_cell *cell)
{
    further_collect(f, cell, false);
}

void as_further_row(const struct as_further *f, const struct as_cell *cell, as_further_fn write, void *user)
{
    struct as_metric_value v[AS_METRICS_MAX];
    const size_t n = f->n ? as_cell_metrics(cell, v) : 0;
    struct as_buf text = AS_BUF_INIT;
    for (size_t k = 0; k < f->n; k++) {
        as_buf_clear(&text);
        for (size_t i = 0; i < n; i++)
            if (further_place_of(f, v[i].name) == k)
                as_number_brief(
                    &(struct as_number){.value = v[i].value, .ci = v[i].ci, .unit = v[i].unit, .trials = v[i].trials},
                    &text);
        write(user, as_buf_get(&text));
    }
    as_buf_finish(&text);
}
