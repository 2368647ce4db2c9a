/* The fleet as one page without network: findings as text, nodes as a map that a script colours by any line. */
#include "base/json.h"
#include "base/text.h"
#include "fleet/fleet.h"
#include "report/sheet/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char as_fleet_css[], as_fleet_js[];
extern const char *const as_fleet_hash_css, *const as_fleet_hash_js;

static void page_head(struct as_buf *out)
{
    as_buf_printf(out,
                  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
                  "script-src '%s'\">\n<title>assay: fleet</title>\n<style>",
                  as_fleet_hash_css, as_fleet_hash_js);
    as_buf_str(out, as_fleet_css);
    as_buf_str(out, "</style>\n</head>\n<body>\n<header><h1>Fleet</h1>\n<p>");
}

static void page_item(const char *class, const char *lead, const char *text, struct as_buf *out)
{
    as_buf_printf(out, "<li class=\"%s\"><b>", class);
    as_buf_html(out, lead);
    as_buf_str(out, "</b>: ");
    as_buf_html(out, text);
    as_buf_str(out, "</li>\n");
}

static void page_findings(const struct as_fleet *f, const struct as_fleet_judged *j, bool worse, struct as_buf *out)
{
    const size_t first = worse ? 0 : j->worse, end = worse ? j->worse : j->n;
    struct as_buf said = AS_BUF_INIT;
    if (first == end)
        return;
    as_buf_printf(out, "<h2>%s than the others</h2>\n<ul>\n", worse ? "Slower" : "Faster");
    for (size_t i = first; i < end; i++) {
        as_buf_clear(&said);
        as_fleet_say(f, &j->v[i], &said);
        page_item(worse ? "bad" : "good", f->nodes[j->v[i].node].name, as_buf_get(&said), out);
    }
    as_buf_str(out, "</ul>\n");
    as_buf_finish(&said);
}

static void page_counts(const struct as_fleet *f, struct as_buf *out)
{
    struct as_buf lead = AS_BUF_INIT;
    bool open = false;
    for (size_t i = 0; i < f->devices_n; i++) {
        const struct as_fleet_device *d = &f->devices[i];
        if (!d->has_grown)
            continue;
        as_buf_str(out, open ? "" : "<h2>Link counters that rose</h2>\n<ul>\n");
        open = true;
        as_buf_clear(&lead);
        as_buf_printf(&lead, "%s, %s", f->nodes[d->node].name, d->id);
        page_item("bad", as_buf_get(&lead), d->counts, out);
    }
    as_buf_str(out, open ? "</ul>\n" : "");
    as_buf_finish(&lead);
}

static void page_missing(const struct as_fleet *f, struct as_buf *out)
{
    bool open = false;
    for (size_t i = 0; i < f->nodes_n; i++) {
        if (!f->nodes[i].why[0])
            continue;
        as_buf_str(out, open ? "" : "<h2>No data</h2>\n<ul>\n");
        open = true;
        page_item("muted", f->nodes[i].name, f->nodes[i].why, out);
    }
    as_buf_str(out, open ? "</ul>\n" : "");
}

static void page_map(struct as_buf *out)
{
    static const char *const key[][2] = {{"same", "within 1%, or no finding"},
                                         {"worse1", "over 1% worse"},
                                         {"worse2", "over 2%"},
                                         {"worse3", "over 5%"},
                                         {"worse4", "over 10% worse"},
                                         {"better1", "over 1% better"},
                                         {"better4", "over 10% better"},
                                         {"unknown", "no number"}};
    as_buf_str(out, "<h2>Nodes</h2>\n<p><label>Colour by <select id=\"line\"></select></label></p>\n"
                    "<noscript><p>The map needs JavaScript.</p></noscript>\n<div id=\"map\"></div>\n<p class=\"key\">");
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        as_buf_printf(out, "<span><i class=\"%s\"></i>%s</span>", key[i][0], key[i][1]);
    as_buf_str(out, "</p>\n<section id=\"node\"><p class=\"muted\">Click a node for its report.</p></section>\n");
}

/* The map of pairs, which the script draws. */
static enum as_status page_links(const struct as_fleet *f, struct as_buf *out, struct as_error *err)
{
    struct as_table_style plain = {.width = 4096};
    struct as_buf said = AS_BUF_INIT;
    if (!f->links.n)
        return AS_OK;
    const enum as_status st = as_fleet_links_text(&f->links, 0, &plain, &said, err);
    as_buf_str(out, "<h2>Links between nodes</h2>\n<ul>\n");
    for (char *line = st ? NULL : strtok(said.data, "\n"); line; line = strtok(NULL, "\n")) {
        as_buf_str(out, "<li>");
        as_buf_html(out, line + strspn(line, " "));
        as_buf_str(out, "</li>\n");
    }
    as_buf_str(out, "</ul>\n<p><label>Pairs by <select id=\"links\"></select></label></p>\n"
                    "<div class=\"wide\"><canvas id=\"pairs\"></canvas></div>\n<p id=\"pair\" class=\"muted\">Click a "
                    "square for its pair.</p>\n<ol id=\"slowest\"></ol>\n");
    as_buf_finish(&said);
    return st;
}

static void data_host(const struct as_fleet *f, int rank, struct as_buf *out)
{
    for (size_t i = 0; i < f->links.n; i++)
        for (int k = 0; k < 2; k++)
            if (f->links.v[i].rank[k] == rank && f->links.v[i].host[k][0]) {
                as_buf_json_str(out, f->links.v[i].host[k]);
                return;
            }
    as_buf_str(out, "\"\"");
}

/* The pairs of a kind: two ranks, and the deviation from the median in hundredths of a percent. */
static enum as_status data_pairs(const struct as_fleet *f, size_t kind, struct as_buf *out, struct as_error *err)
{
    const struct as_link_kind *k = &f->links.kinds[kind];
    const char *lead = "";
    struct as_link_summary s;
    struct as_buf label = AS_BUF_INIT;
    const enum as_status st = as_link_summarize(&f->links, kind, &s, err);
    const char *unit = !st && s.n ? f->links.v[s.worst_at].number.unit : "";
    const struct as_scale *scale = as_scale_of(s.median, unit);
    as_link_kind_text(k, &label);
    as_buf_str(out, "{\"label\":");
    as_buf_json_str(out, as_buf_get(&label));
    as_buf_str(out, ",\"unit\":");
    as_buf_json_str(out, scale ? scale->shown : unit);
    as_buf_printf(out, ",\"more\":%s,\"median\":%.6g,\"pairs\":[", k->lower_is_better ? "false" : "true",
                  s.n ? s.median * (scale ? scale->factor : 1) : 0);
    for (size_t i = 0; i < f->links.n && !st; i++) {
        const struct as_fleet_link *link = &f->links.v[i];
        if (link->kind != kind || !isfinite(link->number.value))
            continue;
        as_buf_printf(out, "%s%d,%d,%.0f", lead, link->rank[0], link->rank[1],
                      1e4 * (link->number.value / s.median - 1));
        lead = ",";
    }
    as_buf_str(out, "]}");
    as_buf_finish(&label);
    return st;
}

static enum as_status data_links(const struct as_fleet *f, struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    const char *lead = "";
    as_buf_str(out, ",\n\"links\":{\"hosts\":[");
    for (int rank = 0; rank < f->links.ranks; rank++) {
        as_buf_str(out, rank ? "," : "");
        data_host(f, rank, out);
    }
    as_buf_str(out, "],\"kinds\":[");
    for (size_t i = 0; i < f->links.kinds_n && !st; i++) {
        if (!f->links.kinds[i].of_pair)
            continue;
        as_buf_str(out, lead);
        st = data_pairs(f, i, out, err);
        lead = ",\n";
    }
    as_buf_str(out, "]}");
    return st;
}

/* How far the interval reaches below and above each number that there is, in thousandths of a percent. */
static void data_intervals(const struct as_fleet *f, const struct as_fleet_line *l, double *of_device,
                           struct as_buf *out)
{
    const char *lead = "";
    for (size_t i = 0; i < l->n; i++)
        of_device[l->device[i]] = (double)i;
    for (size_t i = 0; i < f->devices_n; i++) {
        if (f->devices[i].kind != l->kind || isnan(of_device[i]))
            continue;
        const float *ci = l->ci[(size_t)of_device[i]];
        as_buf_printf(out, "%s%.0f,%.0f", lead, -1e5 * (double)ci[0], 1e5 * (double)ci[1]);
        lead = ",";
    }
}

/* Deviations of the devices of the line's kind in order, in thousandths of a percent. */
static void data_line(const struct as_fleet *f, const struct as_fleet_line *l, double *of_device, struct as_buf *out)
{
    const char *lead = "";
    for (size_t i = 0; i < l->n; i++)
        of_device[i] = l->obs[i].y;
    const double middle = as_median(of_device, l->n);
    for (size_t i = 0; i < f->devices_n; i++)
        of_device[i] = NAN;
    for (size_t i = 0; i < l->n; i++)
        of_device[l->device[i]] = 1e5 * expm1(l->obs[i].y - middle);
    as_buf_str(out, "{\"label\":");
    as_buf_json_str(out, l->label);
    as_buf_str(out, ",\"unit\":");
    const struct as_scale *scale = as_scale_of(exp(middle), l->unit);
    as_buf_json_str(out, scale ? scale->shown : l->unit);
    const double factor = scale ? scale->factor : 1;
    as_buf_printf(out, ",\"kind\":%u,\"more\":%s,\"median\":%.6g", (unsigned)l->kind,
                  as_quantity_lower_is_better(l->of) ? "false" : "true", exp(middle) * factor);
    as_json_add_number(out, "specified", l->specified * factor);
    as_buf_str(out, ",\"share\":[");
    for (size_t i = 0; i < f->devices_n; i++) {
        if (f->devices[i].kind != l->kind)
            continue;
        as_buf_str(out, lead);
        if (isnan(of_device[i]))
            as_buf_str(out, "null");
        else
            as_buf_printf(out, "%.0f", of_device[i]);
        lead = ",";
    }
    as_buf_str(out, "],\"ci\":[");
    data_intervals(f, l, of_device, out);
    as_buf_str(out, "]}");
}

static void data_lists(const struct as_fleet *f, struct as_buf *out)
{
    as_buf_str(out, "{\"nodes\":[");
    for (size_t i = 0; i < f->nodes_n; i++) {
        as_buf_str(out, i ? ",[" : "[");
        as_buf_json_str(out, f->nodes[i].name);
        as_buf_char(out, ',');
        as_buf_json_str(out, f->nodes[i].why);
        as_buf_char(out, ',');
        as_buf_json_str(out, f->nodes[i].source);
        as_buf_char(out, ',');
        as_buf_json_str(out, f->nodes[i].suite);
        as_buf_printf(out, ",%zu]", f->nodes[i].runs);
    }
    as_buf_str(out, "],\n\"kinds\":[");
    for (size_t i = 0; i < f->kinds_n; i++) {
        as_buf_str(out, i ? "," : "");
        as_buf_json_str(out, f->kinds[i].name);
    }
    as_buf_str(out, "],\n\"devices\":[");
    for (size_t i = 0; i < f->devices_n; i++) {
        as_buf_printf(out, "%s[%u,%u,", i ? "," : "", (unsigned)f->devices[i].node, (unsigned)f->devices[i].kind);
        as_buf_json_str(out, f->devices[i].id);
        if (f->devices[i].counts) {
            as_buf_char(out, ',');
            as_buf_json_str(out, f->devices[i].counts);
            as_buf_str(out, f->devices[i].has_grown ? ",1" : "");
        }
        as_buf_char(out, ']');
    }
    as_buf_char(out, ']');
}

static enum as_status page_data(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out,
                                struct as_error *err)
{
    double *of_device = malloc((f->devices_n + 1) * sizeof *of_device);
    struct as_buf said = AS_BUF_INIT;
    if (!of_device)
        return as_nomem(err, f->devices_n * sizeof *of_device, "devices");
    as_buf_str(out, "<script type=\"application/json\" id=\"data\">");
    data_lists(f, out);
    as_buf_str(out, ",\n\"lines\":[");
    for (size_t i = 0; i < f->lines_n; i++) {
        as_buf_str(out, i ? ",\n" : "");
        data_line(f, &f->lines[i], of_device, out);
    }
    as_buf_str(out, "],\n\"findings\":[");
    for (size_t i = 0; i < j->n; i++) {
        as_buf_clear(&said);
        as_fleet_say(f, &j->v[i], &said);
        as_buf_printf(out, "%s{\"node\":%u,\"worse\":%s,\"share\":%.6g,\"text\":", i ? ",\n" : "",
                      (unsigned)j->v[i].node, j->v[i].worse ? "true" : "false", expm1(j->v[i].deviation.effect));
        as_buf_json_str(out, as_buf_get(&said));
        as_buf_char(out, '}');
    }
    as_buf_char(out, ']');
    const enum as_status st = f->links.n ? data_links(f, out, err) : AS_OK;
    as_buf_str(out, "}</script>\n");
    as_buf_finish(&said);
    free(of_device);
    return st;
}

enum as_status as_fleet_page(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out,
                             struct as_error *err)
{
    struct as_buf summary = AS_BUF_INIT;
    page_head(out);
    as_fleet_summary(f, j, &summary);
    as_buf_html(out, as_buf_get(&summary));
    as_buf_str(out, "</p></header>\n<main>\n");
    as_buf_finish(&summary);
    page_findings(f, j, true, out);
    page_counts(f, out);
    page_map(out);
    enum as_status st = page_links(f, out, err);
    page_findings(f, j, false, out);
    page_missing(f, out);
    as_buf_str(out, "</main>\n");
    if (!st)
        st = page_data(f, j, out, err);
    as_buf_str(out, "<script>");
    as_buf_str(out, as_fleet_js);
    as_buf_str(out, "</script>\n</body>\n</html>\n");
    return st;
}
