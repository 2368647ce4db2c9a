/* Compares a run's sentinels with those of earlier runs on the same machine: a slow episode longer than a run does not
 * widen its intervals. */
#include "base/text.h"
#include "store/sql.h"
#include "store/store.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { EARLIER_MIN = 3 };
/* Sentinels of steady machines repeat within a few percent. */
static const double CHANGED = 1.15;

static const struct {
    const char *what, *subject;
} subjects[] = {{"core", "arithmetic"}, {"memory", "memory"}, {"pair", "core-to-core transfer"}};

struct source {
    json_t *provenance, *devices;
    int64_t id;
    int cells; /* in the plan, before the sentinels */
    struct as_cell *sentinels;
    size_t n;
};
struct earlier {
    struct source of[AS_EARLIER_MAX];
    size_t n;
};

static void source_finish(struct source *s)
{
    json_decref(s->provenance);
    json_decref(s->devices);
    as_cells_free(s->sentinels, s->n);
    *s = (struct source){0};
}

static json_t *parsed(const char *text)
{
    return text && text[0] ? json_loads(text, 0, NULL) : NULL;
}

static bool is_same_cpu(const struct source *a, const struct source *b)
{
    const json_t *x = json_object_get(json_object_get(a->provenance, "cpu"), "model"),
                 *y = json_object_get(json_object_get(b->provenance, "cpu"), "model");
    return json_is_string(x) && json_equal(x, y);
}

static const json_t *device_of(const struct source *s, const char *id)
{
    size_t i;
    const json_t *device;
    json_array_foreach(s->devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "id"));
        if (name && strcmp(name, id) == 0)
            return device;
    }
    return NULL;
}

/* In another run, the same id may name a different GPU or slot. */
static bool earlier_is_same_device(const struct source *a, const struct source *b, const char *id)
{
    static const char *const members[] = {"name", "bus_id", "uuid"};
    const json_t *x = device_of(a, id), *y = device_of(b, id);
    for (size_t i = 0; x && y && i < sizeof members / sizeof *members; i++) {
        const json_t *p = json_object_get(x, members[i]), *q = json_object_get(y, members[i]);
        if ((p || q) && !json_equal(p, q))
            return false;
    }
    return x && y;
}

static enum as_status load_sentinels(struct as_store *store, struct source *s, struct as_error *err)
{
    const struct as_cell_filter filter = {.run_id = s->id, .probe = AS_HIDDEN_PROBE, .hidden = 1, .from = s->cells};
    return as_store_cells(store, &filter, &s->sentinels, &s->n, err);
}

/* Without their sentinels. */
static enum as_status find_earlier(struct as_store *store, const struct as_run *run, const struct source *own,
                                   struct earlier *e, struct as_error *err)
{
    struct as_row row = as_row_start(store, AS_SQL_RUNS_BEFORE);
    as_put_text(&row, run->host);
    as_put_text(&row, run->tool_commit);
    as_put_real(&row, run->started_at);
    as_put_int(&row, run->id);
    while (e->n < AS_EARLIER_MAX && as_row_next(&row)) {
        struct source *s = &e->of[e->n];
        s->id = as_get_int(&row);
        s->provenance = parsed(as_get_text(&row));
        s->devices = parsed(as_get_text(&row));
        s->cells = as_get_small(&row);
        if (is_same_cpu(own, s))
            e->n++;
        else
            source_finish(s);
    }
    return as_row_end(&row, err);
}

static enum as_status load_earlier(struct as_store *store, const struct as_run *run, const struct source *own,
                                   struct earlier *e, struct as_error *err)
{
    enum as_status st = find_earlier(store, run, own, e, err);
    for (size_t i = 0; i < e->n && !st; i++)
        st = load_sentinels(store, &e->of[i], err);
    return st;
}

enum as_status as_store_earlier(struct as_store *store, const struct as_run *run, int64_t ids[AS_EARLIER_MAX],
                                size_t *n, struct as_error *err)
{
    struct earlier e = {0};
    struct source own = {.id = run->id, .provenance = parsed(run->provenance)};
    const enum as_status st = find_earlier(store, run, &own, &e, err);
    *n = 0;
    for (size_t r = 0; r < e.n; r++) {
        if (!st)
            ids[(*n)++] = e.of[r].id;
        source_finish(&e.of[r]);
    }
    source_finish(&own);
    return st;
}

/* Medians of the same sentinel in the earlier runs. */
static size_t medians_of(const struct earlier *e, const struct source *own, const struct as_cell *cell, double *x)
{
    size_t n = 0;
    for (size_t r = 0; r < e->n; r++)
        for (size_t i = 0; i < e->of[r].n; i++) {
            const struct as_cell *c = &e->of[r].sentinels[i];
            if (c->key != cell->key || strcmp(c->device, cell->device) != 0 || !as_cell_is_valid(c) ||
                !(c->sum.median > 0) || !earlier_is_same_device(own, &e->of[r], cell->device))
                continue;
            x[n++] = c->sum.median;
            break;
        }
    return n;
}

/* "memory of cpu is 1.4x slower than in each of the last 5 runs on this machine" */
static void say_change(const struct as_cell *cell, const double *x, size_t n, struct as_buf *out)
{
    double lo = INFINITY, hi = 0;
    const char *what = as_axes_text(&cell->axes, "what"), *subject = what;
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    const double slower = cell->sum.median / hi, faster = lo / cell->sum.median;
    if (n < EARLIER_MIN || !what[0] || !(slower > CHANGED || faster > CHANGED))
        return;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subjects[i].what, what) == 0)
            subject = subjects[i].subject;
    as_buf_printf(out, "%s%s of ", out->len ? "; " : "", subject);
    as_buf_str(out, cell->device);
    as_buf_str(out, " is ");
    as_format_number(out, slower > CHANGED ? slower : faster, 2);
    as_buf_printf(out, "x %s than in each of the last %zu runs on this machine", slower > CHANGED ? "slower" : "faster",
                  n);
}

enum as_status as_store_against_earlier(struct as_store *store, const struct as_run *run, struct as_buf *out,
                                        struct as_error *err)
{
    struct earlier e = {0};
    struct source own = {
        .id = run->id, .cells = run->cells, .provenance = parsed(run->provenance), .devices = parsed(run->devices)};
    struct as_error why; /* errors in other runs do not affect this one */
    enum as_status st = load_sentinels(store, &own, &why);
    if (!st && own.n)
        st = load_earlier(store, run, &own, &e, &why);
    for (size_t i = 0; i < own.n && !st; i++) {
        double x[AS_EARLIER_MAX];
        if (as_cell_is_valid(&own.sentinels[i]) && own.sentinels[i].sum.median > 0)
            say_change(&own.sentinels[i], x, medians_of(&e, &own, &own.sentinels[i], x), out);
    }
    if (out->len) /* which no other view shows */
        as_buf_str(out, ", in the reference measurements that every run makes");
    for (size_t r = 0; r < e.n; r++)
        source_finish(&e.of[r]);
    source_finish(&own);
    if (st == AS_NOMEM)
        return as_fail(err, st, "%s", why.text);
    return as_buf_check(out, err);
}
