#include "model/counters.h"
#include "base/buf.h"
#include "model/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const as_counter_notes[AS_COUNTERS_N + 1] = {
    [AS_COUNTER_LINK_ERRORS] = "link_errors",
    [AS_COUNTER_LINK_REPLAYS] = "link_replays",
    [AS_COUNTER_PCIE_REPLAYS] = "pcie_replays",
};
static const char readings_suffix[] = "_readings", grown_suffix[] = "_new";
enum { NAME_BYTES = 64 };

bool as_counter_has_note(const char *name)
{
    const size_t n = strlen(name), tail = sizeof readings_suffix - 1;
    for (const char *const *c = as_counter_notes; *c; c++)
        if (n == strlen(*c) + tail && strncmp(name, *c, n - tail) == 0 && strcmp(name + n - tail, readings_suffix) == 0)
            return true;
    return false;
}

/* What a process has read already says nothing new. */
static void write_reading(const struct as_counter_reading *r, struct as_counter_reading *last, struct as_buf *out)
{
    if (out->len && r->worker == last->worker && r->value == last->value)
        return;
    as_buf_printf(out, "%s%d:%.3f:%.0f", out->len ? " " : "", r->worker, r->at, r->value);
    *last = *r;
}

static enum as_status gather_counter(struct as_cell *cell, const struct as_trials *trials, const char *name,
                                     struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_counter_reading last = {0};
    char grown[NAME_BYTES], readings[NAME_BYTES];
    snprintf(grown, sizeof grown, "%s%s", name, grown_suffix);
    snprintf(readings, sizeof readings, "%s%s", name, readings_suffix);
    for (size_t i = 0; i < trials->n; i++) {
        const struct as_trial *t = &trials->v[i];
        const double after = as_detail_number(t->detail, name), by = as_detail_number(t->detail, grown);
        if (!(after >= 0))
            continue;
        const struct as_counter_reading begin = {t->started_at, t->worker, after - (by > 0 && by <= after ? by : 0)};
        const struct as_counter_reading end = {t->started_at + t->duration_s, t->worker, after};
        write_reading(&begin, &last, &text);
        write_reading(&end, &last, &text);
    }
    enum as_status st = as_buf_check(&text, err);
    if (!st && text.len)
        st = as_cell_set_note(cell, readings, as_buf_get(&text), err);
    as_buf_finish(&text);
    return st;
}

enum as_status as_counters_gather(struct as_cell *cell, const struct as_trials *trials, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (const char *const *name = as_counter_notes; *name && !st; name++)
        if (isfinite(as_detail_number(cell->detail, *name)))
            st = gather_counter(cell, trials, *name, err);
    return st;
}

enum as_status as_counters_of(const struct as_cell *cell, const char *name, struct as_counter_readings *out,
                              struct as_error *err)
{
    char readings[NAME_BYTES], *text = NULL;
    enum as_status st = AS_OK;
    snprintf(readings, sizeof readings, "%s%s", name, readings_suffix);
    if (cell->detail && strstr(cell->detail, readings))
        text = as_cell_note_text(cell, readings);
    for (char *rest = text, *word; !st && (word = strsep(&rest, " "));) {
        struct as_counter_reading r;
        if (sscanf(word, "%d:%lf:%lf", &r.worker, &r.at, &r.value) != 3 || !isfinite(r.at) || !(r.value >= 0))
            continue;
        st = as_grow((void **)&out->v, &out->cap, out->n + 1, sizeof *out->v, err);
        if (!st)
            out->v[out->n++] = r;
    }
    free(text);
    return st;
}

static int by_time(const void *a, const void *b)
{
    const struct as_counter_reading *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

bool as_counters_grown(struct as_counter_readings *readings, struct as_counter_growth *out)
{
    *out = (struct as_counter_growth){.grown = 0};
    if (!readings->n)
        return false;
    qsort(readings->v, readings->n, sizeof *readings->v, by_time);
    out->first = readings->v[0].value;
    out->last = readings->v[readings->n - 1].value;
    for (size_t i = 1; i < readings->n; i++) {
        const struct as_counter_reading *a = &readings->v[i - 1], *b = &readings->v[i];
        if (b->value < a->value) {
            out->resets++;
            out->before = a->value;
            out->after = b->value;
        } else
            out->grown += b->value - a->value;
    }
    return true;
}
