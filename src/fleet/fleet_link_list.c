#include "fleet/fleet_link_list.h"
#include "base/json.h"
#include "base/text.h"
#include "report/terminal/terminal.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void as_fleet_links_finish(struct as_fleet_links *l)
{
    free(l->kinds);
    free(l->v);
    *l = (struct as_fleet_links){0};
}

void as_fleet_link_detail(const char *from, const char *to, int window, struct as_buf *out)
{
    as_buf_char(out, '{');
    as_json_add_text(out, "from", from);
    as_json_add_text(out, "to", to);
    if (window)
        as_json_add_int(out, "window", window);
    as_buf_char(out, '}');
}

static bool is_same_kind(const struct as_link_kind *a, const struct as_link_kind *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->memory, b->memory) == 0 && a->size == b->size &&
           a->together == b->together;
}

static size_t count_numbers(const struct as_fleet_links *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += isfinite(l->v[i].number.value);
    return n;
}

static bool is_better_run(const struct as_fleet_links *a, const struct as_fleet_links *b)
{
    const size_t of_a = count_numbers(a), of_b = count_numbers(b);
    if (!of_a != !of_b)
        return of_a > 0;
    if (a->is_complete != b->is_complete)
        return a->is_complete;
    return a->is_complete || of_a == of_b ? a->started_at > b->started_at : of_a > of_b;
}

void as_fleet_links_prefer(struct as_fleet_links *have, struct as_fleet_links *other)
{
    const bool is_better = is_better_run(other, have);
    as_fleet_links_finish(is_better ? have : other);
    if (is_better)
        *have = *other;
    *other = (struct as_fleet_links){0};
}

const char *as_link_unit(const char *unit)
{
    return strcmp(unit, "ns") == 0 ? "ns" : "GB/s";
}

static enum as_status link_kind_of(struct as_fleet_links *l, const struct as_link_kind *kind, size_t *out,
                                   struct as_error *err)
{
    for (*out = 0; *out < l->kinds_n && !is_same_kind(&l->kinds[*out], kind); ++*out)
        ;
    if (*out < l->kinds_n)
        return AS_OK;
    const enum as_status st = as_grow((void **)&l->kinds, &l->kinds_cap, l->kinds_n + 1, sizeof *l->kinds, err);
    if (!st)
        l->kinds[l->kinds_n++] = *kind;
    return st;
}

static void link_hosts(const struct as_cell *cell, struct as_fleet_link *link)
{
    static const char *const members[2] = {"from", "to"};
    json_t *detail = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    for (int i = 0; i < 2; i++) {
        const char *host = json_string_value(json_object_get(detail, members[i]));
        as_copy_text(link->host[i], sizeof link->host[i], host ? host : "");
    }
    json_decref(detail);
}

/* Ranks from a file: no launch has more. */
enum { RANKS_MAX = 1 << 20 };

enum as_status as_fleet_links_put(struct as_fleet_links *l, const struct as_link_kind *kind,
                                  const struct as_fleet_link *link, struct as_error *err)
{
    size_t of = 0;
    if (!(link->rank[0] >= 0 && link->rank[0] < link->rank[1] && link->rank[1] < RANKS_MAX))
        return AS_OK;
    enum as_status st = link_kind_of(l, kind, &of, err);
    if (!st)
        st = as_grow((void **)&l->v, &l->cap, l->n + 1, sizeof *l->v, err);
    if (st)
        return st;
    l->v[l->n] = *link;
    l->v[l->n++].kind = of;
    l->ranks = link->rank[1] >= l->ranks ? link->rank[1] + 1 : l->ranks;
    return AS_OK;
}

static int link_rank(const struct as_cell *cell, const char *name)
{
    const double rank = as_axes_number(&cell->axes, name);
    return rank >= 0 && rank < RANKS_MAX ? (int)rank : -1;
}

enum as_status as_fleet_links_add(struct as_fleet_links *l, const struct as_cell *cell, struct as_error *err)
{
    const char *what = as_axes_text(&cell->axes, "what");
    struct as_link_kind kind = {.size = as_axes_u64(&cell->axes, "size"),
                                .together = strcmp(as_axes_text(&cell->axes, "pairs"), "together") == 0,
                                .of_pair = strcmp(what, "bisection") != 0 && strcmp(what, "allreduce") != 0,
                                .lower_is_better = cell->lower_is_better};
    struct as_fleet_link link = {.rank = {link_rank(cell, "from"), link_rank(cell, "to")},
                                 .number = as_number_of_cell(cell)};
    as_copy_text(kind.what, sizeof kind.what, what);
    as_copy_text(kind.memory, sizeof kind.memory, as_axes_text(&cell->axes, "memory"));
    link.number.unit = as_link_unit(cell->unit);
    if (!as_cell_is_valid(cell)) {
        link.number.value = NAN;
        as_copy_text(link.why, sizeof link.why, cell->reason[0] ? cell->reason : "not measured");
    }
    link_hosts(cell, &link);
    return as_fleet_links_put(l, &kind, &link, err);
}

static const char *link_word(const char *what)
{
    static const char *const words[][2] = {{"both", "bidirectional bandwidth"}, {"allreduce", "all-reduce"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(what, words[i][0]) == 0)
            return words[i][1];
    return what;
}

void as_link_kind_text(const struct as_link_kind *kind, struct as_buf *out)
{
    as_buf_printf(out, "%s, ", link_word(kind->what));
    as_format_size(out, kind->size);
    if (kind->memory[0] && strcmp(kind->memory, "pageable") != 0)
        as_buf_printf(out, ", %s memory", kind->memory);
    if (kind->together)
        as_buf_str(out, ", concurrent pairs");
}

void as_fleet_link_ends(const struct as_fleet_link *link, struct as_buf *out)
{
    as_buf_printf(out, "rank %d", link->rank[0]);
    if (link->host[0][0])
        as_buf_printf(out, " (%s)", link->host[0]);
    as_buf_printf(out, " and %d", link->rank[1]);
    if (link->host[1][0])
        as_buf_printf(out, " (%s)", link->host[1]);
}

enum as_status as_link_summarize(const struct as_fleet_links *l, size_t kind, struct as_link_summary *out,
                                 struct as_error *err)
{
    double *values = malloc((l->n + 1) * sizeof *values);
    const bool lower = l->kinds[kind].lower_is_better;
    *out = (struct as_link_summary){.median = NAN, .best = NAN, .worst = NAN};
    if (!values)
        return as_nomem(err, l->n * sizeof *values, "numbers of links");
    for (size_t i = 0; i < l->n; i++) {
        const double value = l->v[i].number.value;
        if (l->v[i].kind != kind)
            continue;
        if (!isfinite(value)) {
            out->without++;
            continue;
        }
        values[out->n++] = value;
        if (isnan(out->worst) || lower == (value > out->worst)) {
            out->worst = value;
            out->worst_at = i;
        }
        out->best = isnan(out->best) || lower == (value < out->best) ? value : out->best;
    }
    out->median = out->n ? as_median(values, out->n) : NAN;
    free(values);
    return AS_OK;
}

static void link_line(const struct as_fleet_links *l, const struct as_fleet_link *link,
                      const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    const struct as_link_kind *kind = &l->kinds[link->kind];
    as_link_kind_text(kind, &line);
    as_buf_str(&line, ", ");
    if (kind->of_pair)
        as_fleet_link_ends(link, &line);
    else
        as_buf_str(&line, "all ranks");
    as_buf_str(&line, ": ");
    if (isfinite(link->number.value))
        as_number_prose(&link->number, "", "", &line);
    else
        as_buf_str(&line, link->why);
    as_text_line(out, "  ", as_buf_get(&line), 2, 4, style);
    as_buf_finish(&line);
}

static void summary_line(const struct as_fleet_links *l, size_t kind, const struct as_link_summary *s,
                         const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_link_kind_text(&l->kinds[kind], &line);
    as_buf_printf(&line, ", %zu pair%s", s->n + s->without, s->n + s->without == 1 ? "" : "s");
    if (s->without)
        as_buf_printf(&line, ", %zu without a number", s->without);
    if (s->n) {
        const char *unit = l->v[s->worst_at].number.unit;
        as_buf_str(&line, ": median ");
        as_format_value_to(&line, s->median, unit, 3);
        as_buf_str(&line, ", best ");
        as_format_value_to(&line, s->best, unit, 3);
        as_buf_str(&line, "; slowest: ");
        as_fleet_link_ends(&l->v[s->worst_at], &line);
        as_buf_str(&line, ", ");
        as_number_prose(&l->v[s->worst_at].number, "", "", &line);
    }
    as_text_line(out, "  ", as_buf_get(&line), 2, 4, style);
    as_buf_finish(&line);
}

enum as_status as_fleet_links_text(const struct as_fleet_links *l, size_t each, const struct as_table_style *style,
                                   struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t kind = 0; kind < l->kinds_n && !st; kind++) {
        struct as_link_summary s;
        st = as_link_summarize(l, kind, &s, err);
        const bool is_short = !l->kinds[kind].of_pair || s.n + s.without <= each;
        if (!st && !is_short)
            summary_line(l, kind, &s, style, out);
        for (size_t i = 0; i < l->n && !st && is_short; i++)
            if (l->v[i].kind == kind)
                link_line(l, &l->v[i], style, out);
    }
    return st;
}
