#include "engine_changed.h"

#include "run/engine.h"

#include <stdlib.h>

enum as_status engine_store_changed(struct as_store *store, struct as_run *run, struct as_cell *cells, size_t n,
                                    const bool *changed, struct as_error *err)
{
    struct as_progress *progress = calloc(n, sizeof *progress);
    struct as_engine e = {.store = store, .run = run, .cells = cells, .cells_n = n, .progress = progress};
    if (!progress)
        return as_nomem(err, n * sizeof *progress, "progress");
    for (size_t i = 0; i < n; i++)
        progress[i].changed = changed[i];
    const enum as_status st = as_engine_store_changed(&e, err);
    free(progress);
    return st;
}
