/* Errors, stores and stored cells. */
#include "api/internal.h"
#include "base/text.h"
#include "run/provenance.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    enum as_status from;
    enum assay_code to;
} codes[] = {
    {AS_OK, ASSAY_OK},           {AS_FAILED, ASSAY_FAILED},           {AS_USAGE, ASSAY_USAGE},
    {AS_NOMEM, ASSAY_NOMEM},     {AS_UNSUPPORTED, ASSAY_UNSUPPORTED}, {AS_IO, ASSAY_IO},
    {AS_FORMAT, ASSAY_FORMAT},   {AS_INTERRUPTED, ASSAY_INTERRUPTED}, {AS_BUSY, ASSAY_BUSY},
    {AS_TIMEOUT, ASSAY_TIMEOUT}, {AS_NOTFOUND, ASSAY_NOTFOUND},
};

int as_api_code(enum as_status st, const struct as_error *err, struct assay_error *error)
{
    int code = ASSAY_FAILED;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].from == st)
            code = codes[i].to;
    if (error) {
        error->code = code;
        as_copy_text(error->text, sizeof error->text, st ? err->text : "");
    }
    return code;
}

enum as_status as_api_null(const char *call, const char *argument, struct as_error *err)
{
    return as_fail(err, AS_USAGE, "%s: '%s' is NULL", call, argument);
}

const char *assay_version(void)
{
    return as_version();
}

int assay_store_open(const char *path, struct assay_store **store, struct assay_error *error)
{
    struct as_error err = {0};
    if (!store)
        return as_api_code(as_api_null("assay_store_open", "store", &err), &err, error);
    struct assay_store *s = calloc(1, sizeof *s);
    *store = NULL;
    enum as_status st = s ? as_store_open(path, AS_STORE_WRITE, &s->store, &err) : as_nomem(&err, sizeof *s, "a store");
    if (st)
        free(s);
    else
        *store = s;
    return as_api_code(st, &err, error);
}

void assay_store_close(struct assay_store *store)
{
    if (!store || store->users)
        return;
    as_store_close(store->store);
    free(store);
}

void as_api_cell_view(const struct as_cell *from, struct as_api_cell *to)
{
    size_t n = from->samples ? from->sum.n : 0;
    for (size_t i = 0; i < from->axes.n; i++)
        to->axes[i] = (struct assay_axis){from->axes.v[i].name, from->axes.v[i].text, from->axes.v[i].number};
    to->cell = (struct assay_cell){
        .id = from->id,
        .run = from->run_id,
        .backend = from->backend,
        .device = from->device,
        .probe = from->probe,
        .metric = from->metric,
        .unit = from->unit,
        .counts = from->counts,
        .status = as_cell_status_word(from->status),
        .reason = from->reason,
        .axes = to->axes,
        .axes_n = from->axes.n,
        .n = n,
        .median = n ? from->sum.median : NAN,
        .ci_low = n ? from->sum.ci.lo : NAN,
        .ci_high = n ? from->sum.ci.hi : NAN,
        .mad = n ? from->sum.mad : NAN,
        .min = n ? from->sum.min : NAN,
        .max = n ? from->sum.max : NAN,
        .samples = from->samples,
        .precision = from->precision,
    };
}

int assay_cells(struct assay_store *store, int64_t run, const char *probe, assay_cell_fn callback, void *user,
                struct assay_error *error)
{
    struct as_error err = {0};
    struct as_run found = {0};
    struct as_cell *cells = NULL;
    struct as_buf name = AS_BUF_INIT;
    size_t n = 0;
    if (!store || !callback)
        return as_api_code(as_api_null("assay_cells", store ? "callback" : "store", &err), &err, error);
    store->users++;
    as_buf_printf(&name, "%lld", (long long)run);
    enum as_status st = as_buf_check(&name, &err);
    if (!st && run < 0)
        st = as_fail(&err, AS_NOTFOUND, "there is no run %lld; give 0 for the last", (long long)run);
    if (!st)
        st = as_store_run(store->store, run ? as_buf_get(&name) : NULL, &found, &err);
    struct as_cell_filter filter = {.run_id = found.id, .probe = probe, .with_samples = 1};
    if (!st)
        st = as_store_cells(store->store, &filter, &cells, &n, &err);
    for (size_t i = 0; i < n && !st; i++) {
        struct as_api_cell view;
        as_api_cell_view(&cells[i], &view);
        if (callback(user, &view.cell))
            break;
    }
    as_cells_free(cells, n);
    as_run_finish(&found);
    as_buf_finish(&name);
    store->users--;
    return as_api_code(st, &err, error);
}
