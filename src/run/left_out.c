/* What the budget left out, and which budget would suffice. */
#include "run/engine.h"

#include "base/text.h"
#include "run/deadline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the note on what was not measured. */
enum { PROBES_NAMED = 3 };

static bool is_unmeasured(const struct as_engine *e, size_t i)
{
    return e->cells[i].status == AS_CELL_PLANNED;
}

static size_t unmeasured_of(const struct as_engine *e, const char *probe)
{
    size_t n = 0;
    for (size_t i = 0; i < e->sentinels_first; i++)
        n += is_unmeasured(e, i) && strcmp(e->cells[i].probe, probe) == 0;
    return n;
}

/* "24 of bandwidth, 15 of latency, 16 of other probes": those with most first. */
static void name_unmeasured(const struct as_engine *e, size_t all, struct as_buf *out)
{
    struct counted {
        const char *probe;
        size_t n;
    } most[PROBES_NAMED + 1] = {{NULL, 0}};
    size_t named = 0;
    for (const struct as_probe *const *p = as_probes; *p; p++) {
        const struct counted one = {(*p)->name, unmeasured_of(e, (*p)->name)};
        size_t at = PROBES_NAMED;
        for (; at > 0 && one.n > most[at - 1].n; at--)
            most[at] = most[at - 1];
        most[at] = one;
    }
    for (size_t i = 0; i < PROBES_NAMED && most[i].n; i++) {
        as_buf_printf(out, "%s%zu of %s", i ? ", " : "", most[i].n, most[i].probe);
        named += most[i].n;
    }
    if (named < all)
        as_buf_printf(out, ", %zu of other probes", all - named);
}

/* Reports how many cells have no trial, of which probes, and how long all would take. */
static enum as_status note_cells_left_out(struct as_engine *e, struct as_error *err)
{
    size_t n = 0, last = 0, possible = 0;
    for (size_t i = 0; i < e->sentinels_first; i++) {
        possible += e->cells[i].status != AS_CELL_UNSUPPORTED;
        n += is_unmeasured(e, i);
        last = is_unmeasured(e, i) ? i : last;
    }
    free(e->run->left_out);
    e->run->left_out = NULL;
    if (n == 0)
        return AS_OK;
    const double all_s =
        as_deadline_budget_for_all(fmax(e->run->budget_s, e->deadline - e->start), possible - n, possible);
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "the budget covered %zu of %zu measurements; not measured: ", possible - n, possible);
    name_unmeasured(e, n, &text);
    if (isfinite(all_s))
        as_buf_printf(&text, "; at this pace, one trial of each needs about --budget %.0fs", all_s);
    else
        as_buf_str(&text, "; raise --budget");
    as_engine_event(e, AS_EVENT_NOTE, &e->cells[last], NULL, as_buf_get(&text));
    as_buf_finish(&text);
    json_t *j = json_pack("{s:I, s:I}", "cells", (json_int_t)n, "of", (json_int_t)possible);
    if (j && isfinite(all_s))
        json_object_set_new(j, "budget_s_for_all", json_real(all_s));
    e->run->left_out = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    return e->run->left_out ? AS_OK : as_nomem(err, 0, "the run");
}

enum as_status as_engine_skip_unmeasured(struct as_engine *e, struct as_error *err)
{
    const enum as_status st = note_cells_left_out(e, err);
    if (st)
        return st;
    for (size_t i = 0; i < e->cells_n; i++) {
        if (e->cells[i].status != AS_CELL_PLANNED)
            continue;
        e->cells[i].status = AS_CELL_SKIPPED;
        as_copy_text(e->cells[i].reason, sizeof e->cells[i].reason,
                     i >= e->sentinels_first   ? "the run ended before its first trial"
                     : e->progress[i].left_out ? "left out: the budget does not suffice for it; raise --budget"
                                               : "the budget was spent before its first trial; raise --budget");
        e->progress[i].changed = true;
    }
    return as_engine_store_changed(e, err);
}
