/* The fleet for people. */
#include "base/text.h"
#include "fleet/fleet.h"
#include "model/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_NAMED = 3 };

static const char *fleet_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

size_t as_fleet_missing(const struct as_fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->nodes_n; i++)
        n += f->nodes[i].why[0] != 0;
    return n;
}

const char *as_fleet_verdict(const struct as_fleet_judged *j, uint32_t node)
{
    for (size_t i = 0; i < j->worse; i++)
        if (j->v[i].node == node)
            return "slow";
    return j->compared[node] ? "ok" : "unknown";
}

/* In percent of the others, without sign. The interval does not reach 0: what it reaches is no finding. */
static struct as_estimated percent_of(const struct as_deviation *d)
{
    const double a = fabs(expm1(d->ci.lo)), b = fabs(expm1(d->ci.hi));
    return (struct as_estimated){100 * fabs(expm1(d->effect)), {100 * fmin(a, b), 100 * fmax(a, b)}};
}

void as_fleet_say(const struct as_fleet *f, const struct as_fleet_finding *found, struct as_buf *out)
{
    const struct as_fleet_line *line = &f->lines[found->line];
    const struct as_estimated share = percent_of(&found->deviation);
    const bool is_node = found->device == AS_FLEET_WHOLE_NODE;
    struct as_buf range = AS_BUF_INIT;
    as_format_range(&range, share.ci.lo, share.ci.hi, share.value, "", 2);
    as_buf_printf(out, "%s%s%s is ", line->label, f->kinds[line->kind].is_links ? ", over " : " of ",
                  is_node ? "the median device" : f->devices[found->device].id);
    as_format_number(out, share.value, 2);
    as_buf_printf(out, "%% (%s%%) %s", as_buf_get(&range), found->deviation.effect < 0 ? "below" : "above");
    as_buf_finish(&range);
    as_buf_str(out, is_node ? " the median of the other nodes, " : " the median of the others, ");
    as_format_value_to(out, found->others, line->unit, 3);
}

static void text_findings(const struct as_fleet *f, const struct as_fleet_judged *j, bool worse,
                          const struct as_table_style *style, struct as_buf *out)
{
    const size_t first = worse ? 0 : j->worse, end = worse ? j->worse : j->n;
    struct as_buf line = AS_BUF_INIT;
    if (first == end)
        return;
    as_text_title(out, worse ? "Slower than the others" : "Faster than the others", style);
    for (size_t i = first; i < end; i++) {
        as_buf_clear(&line);
        as_buf_printf(&line, "%s: ", f->nodes[j->v[i].node].name);
        as_fleet_say(f, &j->v[i], &line);
        as_text_line(out, worse ? "! " : "  ", as_buf_get(&line), 2, 4, style);
    }
    as_buf_finish(&line);
}

static void text_splits(const struct as_fleet *f, const struct as_fleet_judged *j, const struct as_table_style *style,
                        struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    if (j->splits_n)
        as_text_title(out, "Two clusters, compared separately", style);
    for (size_t i = 0; i < j->splits_n; i++) {
        const struct as_fleet_split *s = &j->splits[i];
        const struct as_fleet_line *l = &f->lines[s->line];
        as_buf_clear(&line);
        as_buf_printf(&line, "%s, %s: ", l->label, f->kinds[l->kind].name);
        for (int k = 0; k < 2; k++) {
            as_buf_printf(&line, "%s%zu at ", k ? ", " : "", s->n[k]);
            as_format_value_to(&line, s->mode[k], l->unit, 3);
        }
        as_text_line(out, "  ", as_buf_get(&line), 2, 4, style);
    }
    as_buf_finish(&line);
}

/* For each device, the lines that it lacks and most of its kind have: how many, and the first of them. */
struct lacking {
    size_t n, first[LINES_NAMED];
};

static void find_lacking(const struct as_fleet *f, size_t line, bool *has, struct lacking *of)
{
    const struct as_fleet_line *l = &f->lines[line];
    const size_t n = l->n, all = f->kinds[l->kind].devices;
    if (n == all || 2 * n < all)
        return;
    memset(has, 0, f->devices_n * sizeof *has);
    for (size_t i = 0; i < n; i++)
        has[l->device[i]] = true;
    for (size_t i = 0; i < f->devices_n; i++)
        if (f->devices[i].kind == l->kind && !has[i]) {
            if (of[i].n < LINES_NAMED)
                of[i].first[of[i].n] = line;
            of[i].n++;
        }
}

/* The node, with its file where nodes of several files have its host. */
static void name_lacking(const struct as_fleet *f, size_t node, struct as_buf *line)
{
    const char *name = f->nodes[node].name, *slash = strrchr(f->nodes[node].source, '/');
    const size_t n = strlen(name);
    bool shared = false;
    for (size_t i = 0; i < f->nodes_n; i++)
        shared |= i != node && strncmp(f->nodes[i].name, name, n) == 0 && strncmp(f->nodes[i].name + n, " (", 2) == 0;
    as_buf_str(line, name);
    if (shared)
        as_buf_printf(line, " (%s)", slash ? slash + 1 : f->nodes[node].source);
}

static void text_lacking(const struct as_fleet *f, const struct lacking *of, const struct as_table_style *style,
                         struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    bool titled = false;
    for (size_t i = 0; i < f->devices_n; i++) {
        if (!of[i].n)
            continue;
        if (!titled)
            as_text_title(out, "Missing measurements", style);
        titled = true;
        as_buf_clear(&line);
        name_lacking(f, f->devices[i].node, &line);
        as_buf_printf(&line, " %s: ", f->devices[i].id);
        for (size_t k = 0; k < of[i].n && k < LINES_NAMED; k++)
            as_buf_printf(&line, "%s%s", k ? ", " : "", f->lines[of[i].first[k]].label);
        if (of[i].n > LINES_NAMED)
            as_buf_printf(&line, ", and %zu more", of[i].n - LINES_NAMED);
        as_text_line(out, "  ", as_buf_get(&line), 2, 4, style);
    }
    as_buf_finish(&line);
}

/* Counters of links that rose: of any machine, and whatever the others show. */
static void text_counts(const struct as_fleet *f, const struct as_table_style *style, struct as_buf *out)
{
    enum { SHOWN_MAX = 16 };
    struct as_buf line = AS_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < f->devices_n; i++) {
        const struct as_fleet_device *d = &f->devices[i];
        if (!d->has_grown || ++n > SHOWN_MAX)
            continue;
        if (n == 1)
            as_text_title(out, "Link counters that rose", style);
        as_buf_clear(&line);
        as_buf_printf(&line, "%s, %s: %s", f->nodes[d->node].name, d->id, d->counts);
        as_text_line(out, "! ", as_buf_get(&line), 0, 4, style);
    }
    if (n > SHOWN_MAX) {
        as_buf_clear(&line);
        as_buf_printf(&line, "and of %zu more devices", n - SHOWN_MAX);
        as_text_line(out, "  ", as_buf_get(&line), 0, 4, style);
    }
    as_buf_finish(&line);
}

static enum as_status text_missing(const struct as_fleet *f, const struct as_table_style *style, struct as_buf *out,
                                   struct as_error *err)
{
    bool titled = false, *has = malloc(f->devices_n + 1);
    struct lacking *of = calloc(f->devices_n + 1, sizeof *of);
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < f->nodes_n; i++) {
        if (!f->nodes[i].why[0])
            continue;
        if (!titled)
            as_text_title(out, "No data", style);
        titled = true;
        as_buf_clear(&line);
        as_buf_printf(&line, "%s: %s", f->nodes[i].name, f->nodes[i].why);
        as_text_line(out, "  ", as_buf_get(&line), 2, 4, style);
    }
    for (size_t i = 0; i < f->lines_n && has && of; i++)
        find_lacking(f, i, has, of);
    if (has && of)
        text_lacking(f, of, style, out);
    const enum as_status st = has && of ? AS_OK : as_nomem(err, f->devices_n * sizeof *of, "devices");
    as_buf_finish(&line);
    free(has);
    free(of);
    return st;
}

static void fleet_add_scatter(const struct as_fleet_line *l, const struct as_fleet_reach *r, double *y,
                              struct as_table *t)
{
    struct as_buf text = AS_BUF_INIT;
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < l->n; i++) {
        y[i] = l->obs[i].y;
        lowest = fmin(lowest, y[i]);
        highest = fmax(highest, y[i]);
    }
    as_table_add(t, l->label, AS_PAINT_NONE);
    as_table_addf(t, AS_PAINT_NONE, "%zu", l->n);
    const double values[] = {as_median(y, l->n), lowest, highest};
    for (int i = 0; i < 3; i++) {
        as_buf_clear(&text);
        as_format_value_to(&text, exp(values[i]), l->unit, 3);
        as_table_add(t, as_buf_get(&text), i ? AS_PAINT_NONE : AS_PAINT_STRONG);
    }
    if (l->n > AS_OUTLIERS_OTHERS)
        as_table_addf(t, AS_PAINT_NONE, "%.2g%%", 100 * expm1(as_robust_scale(y, l->n)));
    else
        as_table_add(t, "", AS_PAINT_NONE);
    if (isfinite(r->least))
        as_table_addf(t, AS_PAINT_NONE, r->least < 0.1 ? "%.2g%%" : "%.0f%%", 100 * r->least);
    else
        as_table_add(t, "", AS_PAINT_NONE);
    as_table_add(t, as_fleet_limit_word(r->limit), AS_PAINT_NONE);
    as_buf_finish(&text);
}

static enum as_status text_spread(const struct as_fleet *f, const struct as_fleet_judged *j,
                                  const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    static const char *const heads[] = {"line",     ">devices",    ">median",    ">lowest", ">highest",
                                        ">scatter", ">detectable", "limited by", NULL};
    struct as_table t;
    size_t most = 0;
    for (size_t i = 0; i < f->lines_n; i++)
        most = f->lines[i].n > most ? f->lines[i].n : most;
    double *y = malloc((most + 1) * sizeof *y);
    if (!y)
        return as_nomem(err, most * sizeof *y, "numbers");
    as_text_title(out, "Spread over the fleet", style);
    if (most < 2) {
        as_buf_str(out, "  No line has numbers from two devices of the same model\n");
        free(y);
        return AS_OK;
    }
    as_table_init(&t, heads);
    for (size_t k = 0; k < f->kinds_n; k++) {
        if (f->kinds[k].devices > 1)
            as_table_heading(&t, f->kinds[k].name);
        for (size_t i = 0; i < f->lines_n; i++)
            if (f->lines[i].kind == k && f->lines[i].n > 1)
                fleet_add_scatter(&f->lines[i], &j->reach[i], y, &t);
    }
    const enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    as_text_fill(
        out,
        "'detectable': the smallest deviation of one device that would be a finding. What limits it: 'few devices': "
        "more "
        "devices of the model lower it; 'precision': another 'assay fleet run' lowers it; 'scatter': the devices "
        "themselves differ; '--min-deviation': that option.",
        style->width, 0, 0);
    free(y);
    return st;
}

static bool is_large_enough(const struct as_fleet *f)
{
    for (size_t i = 0; i < f->kinds_n; i++)
        if (f->kinds[i].devices > AS_OUTLIERS_OTHERS)
            return true;
    return false;
}

void as_fleet_summary(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out)
{
    const size_t missing = as_fleet_missing(f);
    as_buf_printf(out, "%zu node%s", f->nodes_n, fleet_plural(f->nodes_n));
    if (missing)
        as_buf_printf(out, ", %zu without numbers", missing);
    for (size_t i = 0; i < f->kinds_n; i++)
        if (!f->kinds[i].is_links)
            as_buf_printf(out, ", %zu x %s", f->kinds[i].devices, f->kinds[i].name);
    as_buf_printf(out, "; %zu comparison%s: ", j->tests, fleet_plural(j->tests));
    if (!is_large_enough(f))
        as_buf_printf(out, "at least %d devices of one model are needed", AS_OUTLIERS_OTHERS + 1);
    else if (j->worse)
        as_buf_printf(out, "%zu finding%s of something slower than the others", j->worse, fleet_plural(j->worse));
    else
        as_buf_str(out, "nothing slower than the others");
}

enum as_status as_fleet_text(const struct as_fleet *f, const struct as_fleet_judged *j, bool all,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    struct as_buf head = AS_BUF_INIT, safe = AS_BUF_INIT;
    as_fleet_summary(f, j, &head);
    as_buf_terminal(&safe, as_buf_get(&head));
    as_text_fill(out, as_buf_get(&safe), style->width, 0, 0);
    as_buf_finish(&head);
    as_buf_finish(&safe);
    text_findings(f, j, true, style, out);
    text_findings(f, j, false, style, out);
    text_splits(f, j, style, out);
    text_counts(f, style, out);
    enum as_status st = text_missing(f, style, out, err);
    if (!st && f->links.n) {
        as_text_title(out, "Links between nodes", style);
        st = as_fleet_links_text(&f->links, 1, style, out, err);
    }
    return st || !all ? st : text_spread(f, j, style, out, err);
}
