#include "fleet/fleet.h"
#include "base/text.h"
#include "report/sheet/sheet_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void as_fleet_forget(struct as_fleet *f)
{
    for (size_t i = 0; i < f->lines_n; i++) {
        free(f->lines[i].obs);
        free(f->lines[i].device);
        free(f->lines[i].ci);
    }
    for (size_t i = 0; i < f->devices_n; i++)
        free(f->devices[i].counts);
    f->lines_n = f->devices_n = f->kinds_n = 0;
}

void as_fleet_finish(struct as_fleet *f)
{
    as_fleet_forget(f);
    for (size_t i = 0; i < f->nodes_n; i++)
        free(f->nodes[i].source);
    free(f->nodes);
    free(f->devices);
    free(f->kinds);
    free(f->lines);
    as_fleet_links_finish(&f->links);
    *f = (struct as_fleet){0};
}

static bool is_named(const struct as_fleet *f, const char *name)
{
    for (size_t i = 0; i < f->nodes_n; i++)
        if (strcmp(f->nodes[i].name, name) == 0)
            return true;
    return false;
}

/* The host, or where that is unknown or taken, the file as well. */
static void name_node(const struct as_fleet *f, const char *host, const char *source, char *out, size_t size)
{
    const char *slash = strrchr(source, '/'), *file = slash ? slash + 1 : source;
    as_copy_text(out, size, host[0] ? host : file);
    if (!is_named(f, out))
        return;
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s (%s)", host[0] ? host : file, host[0] ? file : source);
    for (size_t k = 2; is_named(f, as_buf_get(&b)) && k <= f->nodes_n + 2; k++) {
        as_buf_clear(&b);
        as_buf_printf(&b, "%s (%zu)", host[0] ? host : file, k);
    }
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

static enum as_status fleet_add_node(struct as_fleet *f, const char *host, const char *source, struct as_error *err)
{
    enum as_status st = as_grow((void **)&f->nodes, &f->nodes_cap, f->nodes_n + 1, sizeof *f->nodes, err);
    if (st)
        return st;
    struct as_fleet_node *node = &f->nodes[f->nodes_n];
    *node = (struct as_fleet_node){.source = as_strdup(source)};
    if (!node->source)
        return as_nomem(err, strlen(source), "a file's name");
    name_node(f, host, source, node->name, sizeof node->name);
    f->nodes_n++;
    return AS_OK;
}

enum as_status as_fleet_add_missing(struct as_fleet *f, const char *source, const char *why, struct as_error *err)
{
    const enum as_status st = fleet_add_node(f, "", source, err);
    if (!st)
        as_copy_text(f->nodes[f->nodes_n - 1].why, sizeof f->nodes[0].why, why);
    return st;
}

static enum as_status fleet_kind_of(struct as_fleet *f, const struct as_device_sheet *d, uint32_t *out,
                                    struct as_error *err)
{
    struct as_buf b = AS_BUF_INIT;
    char name[sizeof f->kinds->name];
    enum as_status st = AS_OK;
    as_buf_add(&b, d->id, strcspn(d->id, ":"));
    as_buf_printf(&b, " %s", d->name);
    as_copy_text(name, sizeof name, as_buf_get(&b));
    as_buf_finish(&b);
    for (*out = 0; *out < f->kinds_n && strcmp(f->kinds[*out].name, name) != 0; ++*out)
        ;
    if (*out == f->kinds_n &&
        !(st = as_grow((void **)&f->kinds, &f->kinds_cap, f->kinds_n + 1, sizeof *f->kinds, err))) {
        f->kinds[f->kinds_n] = (struct as_fleet_kind){.devices = 0};
        as_copy_text(f->kinds[f->kinds_n++].name, sizeof name, name);
    }
    return st;
}

/* A line of links is of one size of messages; that of a device keeps the words of the first. */
static struct as_fleet_line *fleet_find_line(struct as_fleet *f, const struct as_quantity *q, uint32_t kind,
                                             const char *label, const char *unit)
{
    const bool is_links = f->kinds[kind].is_links;
    for (size_t i = 0; i < f->lines_n; i++)
        if (f->lines[i].of == q && f->lines[i].kind == kind && strcmp(f->lines[i].unit, unit) == 0 &&
            (!is_links || strcmp(f->lines[i].label, label) == 0))
            return &f->lines[i];
    return NULL;
}

static enum as_status fleet_add_line(struct as_fleet *f, const struct as_quantity *of, const char *label,
                                     const char *unit, uint32_t kind, struct as_fleet_line **out, struct as_error *err)
{
    const enum as_status st = as_grow((void **)&f->lines, &f->lines_cap, f->lines_n + 1, sizeof *f->lines, err);
    if (st)
        return st;
    *out = &f->lines[f->lines_n++];
    **out = (struct as_fleet_line){.of = of, .kind = kind, .specified = NAN};
    as_copy_text((*out)->label, sizeof(*out)->label, label);
    as_copy_text((*out)->unit, sizeof(*out)->unit, unit);
    return AS_OK;
}

/* Room for another number. */
static enum as_status fleet_grow_line(struct as_fleet_line *line, bool for_page, struct as_error *err)
{
    size_t cap = line->cap;
    const enum as_status st = as_grow((void **)&line->obs, &cap, line->n + 1, sizeof *line->obs, err);
    if (st || cap == line->cap)
        return st;
    uint32_t *devices = realloc(line->device, cap * sizeof *devices);
    line->device = devices ? devices : line->device;
    float(*ci)[2] = for_page ? realloc(line->ci, cap * sizeof *ci) : NULL;
    line->ci = ci ? ci : line->ci;
    if (!devices || (for_page && !ci))
        return as_nomem(err, cap * sizeof *ci, "devices");
    line->cap = cap;
    return AS_OK;
}

enum as_status as_fleet_add_number(struct as_fleet *f, const struct as_quantity *of, const char *label,
                                   const char *unit, uint32_t kind, uint32_t device, const struct as_estimated *number,
                                   struct as_error *err)
{
    const double error = as_between_error(number);
    if (!isfinite(error))
        return AS_OK;
    struct as_fleet_line *line = fleet_find_line(f, of, kind, label, unit);
    enum as_status st = line ? AS_OK : fleet_add_line(f, of, label, unit, kind, &line, err);
    if (st)
        return st;
    st = fleet_grow_line(line, f->for_page, err);
    if (st)
        return st;
    if (f->for_page) {
        line->ci[line->n][0] = (float)(number->ci.lo / number->value - 1);
        line->ci[line->n][1] = (float)(number->ci.hi / number->value - 1);
    }
    line->obs[line->n] =
        (struct as_observation){.y = log(number->value), .error = error, .node = f->devices[device].node};
    line->device[line->n++] = device;
    f->nodes[f->devices[device].node].numbers++;
    return AS_OK;
}

static enum as_status fleet_add_row(struct as_fleet *f, const struct as_sheet_row *row, uint32_t kind,
                                    struct as_error *err)
{
    const struct as_estimated number = {row->value, row->ci};
    struct as_buf label = AS_BUF_INIT;
    if (!row->of || row->of->kind == AS_KIND_CAPACITY)
        return AS_OK;
    as_buf_printf(&label, "%s %s", row->group, row->shown[0] ? row->shown : row->label);
    const enum as_status st = as_fleet_add_number(f, row->of, as_buf_get(&label), row->unit, kind,
                                                  (uint32_t)(f->devices_n - 1), &number, err);
    struct as_fleet_line *line = fleet_find_line(f, row->of, kind, as_buf_get(&label), row->unit);
    if (line && as_sheet_shows_specified(row)) {
        line->specified = !line->has_specified || line->specified == row->specified ? row->specified : NAN;
        line->has_specified = true;
    }
    as_buf_finish(&label);
    return st;
}

static enum as_status fleet_add_counts(struct as_fleet_device *device, const struct as_sheet *sheet,
                                       struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT, one = AS_BUF_INIT;
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        as_buf_clear(&one);
        as_link_count_text(sheet, k, &one);
        as_buf_printf(&text, "%s%s", text.len && one.len ? "; " : "", as_buf_get(&one));
        device->has_grown |= one.len && sheet->counts[k].grown > 0;
    }
    const enum as_status st = as_buf_check(&text, err);
    device->counts = !st && text.len ? as_buf_take(&text) : NULL;
    as_buf_finish(&text);
    as_buf_finish(&one);
    return st;
}

enum as_status as_fleet_add(struct as_fleet *f, const char *source, struct as_machine_sheet *m, struct as_error *err)
{
    enum as_status st = fleet_add_node(f, m->host, source, err);
    if (!st) {
        as_copy_text(f->nodes[f->nodes_n - 1].suite, sizeof f->nodes->suite, m->suite);
        f->nodes[f->nodes_n - 1].runs = m->runs;
    }
    if (!st && f->each)
        return f->each(f->user, &f->nodes[f->nodes_n - 1], m, err);
    for (size_t d = 0; d < m->n && !st; d++) {
        uint32_t kind;
        st = fleet_kind_of(f, &m->v[d], &kind, err);
        if (!st)
            st = as_grow((void **)&f->devices, &f->devices_cap, f->devices_n + 1, sizeof *f->devices, err);
        if (st)
            break;
        struct as_fleet_device *device = &f->devices[f->devices_n++];
        *device = (struct as_fleet_device){.node = (uint32_t)(f->nodes_n - 1), .kind = kind};
        f->kinds[kind].devices++;
        as_copy_text(device->id, sizeof device->id, m->v[d].id);
        st = fleet_add_counts(device, &m->v[d].sheet, err);
        f->nodes[f->nodes_n - 1].devices++;
        for (size_t r = 0; r < m->v[d].sheet.n && !st; r++)
            st = fleet_add_row(f, &m->v[d].sheet.rows[r], kind, err);
    }
    return st;
}

static int fleet_by_table(const void *a, const void *b)
{
    const struct as_fleet_line *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->of < y->of ? -1 : x->of > y->of;
}

void as_fleet_sort(struct as_fleet *f)
{
    if (f->lines_n)
        qsort(f->lines, f->lines_n, sizeof *f->lines, fleet_by_table);
}
