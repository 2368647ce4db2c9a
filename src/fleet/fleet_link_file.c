/* Links in a merged file: a line of JSON for each, so that thousands of nodes need no memory for all at once. */
#include "base/text.h"
#include "fleet/fleet_link_list.h"
#include "model/fields.h"

#include <math.h>
#include <string.h>

enum { LINK_VERSION = 1 };
static const char line_begins[] = "{\"link_version\":";

/* A link, its kind and its run as one record. */
struct link_row {
    int version;
    double started_at;
    int is_complete;
    char what[16], memory[16];
    uint64_t size;
    int together, of_pair, lower_is_better;
    int from, to;
    char from_host[64], to_host[64], unit[16];
    double value, ci_low, ci_high, mode_low, mode_high, mode_low_share;
    size_t trials, tried, modes;
    int at_least, at_most;
    char why[160];
};
#define ROW(member, kind)                                                                                              \
    {                                                                                                                  \
        .name = #member, AS_FIELD(link_row, member, AS_FIELD_##kind)                                                   \
    }
static const struct as_field row_fields[] = {
    {.name = "link_version", AS_FIELD(link_row, version, AS_FIELD_INT)},
    ROW(started_at, TIME),
    ROW(is_complete, FLAG),
    ROW(what, TEXT),
    ROW(memory, TEXT),
    ROW(size, U64),
    ROW(together, FLAG),
    ROW(of_pair, FLAG),
    ROW(lower_is_better, FLAG),
    ROW(from, INT),
    ROW(to, INT),
    ROW(from_host, TEXT),
    ROW(to_host, TEXT),
    ROW(unit, TEXT),
    ROW(value, REAL),
    ROW(ci_low, REAL),
    ROW(ci_high, REAL),
    ROW(mode_low, REAL),
    ROW(mode_high, REAL),
    ROW(mode_low_share, REAL),
    ROW(trials, SIZE),
    ROW(tried, SIZE),
    ROW(modes, SIZE),
    ROW(at_least, FLAG),
    ROW(at_most, FLAG),
    ROW(why, TEXT),
};
static const struct as_fields row_table = {row_fields, sizeof row_fields / sizeof *row_fields};

static void row_of_link(const struct as_fleet_links *l, const struct as_fleet_link *link, struct link_row *row)
{
    const struct as_link_kind *kind = &l->kinds[link->kind];
    const struct as_number *n = &link->number;
    *row = (struct link_row){.version = LINK_VERSION,
                             .started_at = l->started_at,
                             .is_complete = l->is_complete,
                             .size = kind->size,
                             .together = kind->together,
                             .of_pair = kind->of_pair,
                             .lower_is_better = kind->lower_is_better,
                             .from = link->rank[0],
                             .to = link->rank[1],
                             .value = n->value,
                             .ci_low = n->ci.lo,
                             .ci_high = n->ci.hi,
                             .mode_low = n->mode[0],
                             .mode_high = n->mode[1],
                             .mode_low_share = n->share0,
                             .trials = n->trials,
                             .tried = n->tried,
                             .modes = n->modes,
                             .at_least = n->bound > 0,
                             .at_most = n->bound < 0};
    as_copy_text(row->what, sizeof row->what, kind->what);
    as_copy_text(row->memory, sizeof row->memory, kind->memory);
    as_copy_text(row->from_host, sizeof row->from_host, link->host[0]);
    as_copy_text(row->to_host, sizeof row->to_host, link->host[1]);
    as_copy_text(row->unit, sizeof row->unit, n->unit);
    as_copy_text(row->why, sizeof row->why, link->why);
}

static enum as_status put_row(struct as_fleet_links *l, const struct link_row *row, struct as_error *err)
{
    struct as_link_kind kind = {
        .size = row->size, .together = row->together, .of_pair = row->of_pair, .lower_is_better = row->lower_is_better};
    struct as_fleet_link link = {.rank = {row->from, row->to},
                                 .number = {.value = row->value,
                                            .ci = {row->ci_low, row->ci_high},
                                            .unit = as_link_unit(row->unit),
                                            .trials = row->trials,
                                            .tried = row->tried,
                                            .modes = row->modes,
                                            .mode = {row->mode_low, row->mode_high},
                                            .share0 = row->mode_low_share,
                                            .bound = row->at_least - row->at_most}};
    as_copy_text(kind.what, sizeof kind.what, row->what);
    as_copy_text(kind.memory, sizeof kind.memory, row->memory);
    as_copy_text(link.host[0], sizeof link.host[0], row->from_host);
    as_copy_text(link.host[1], sizeof link.host[1], row->to_host);
    as_copy_text(link.why, sizeof link.why, row->why);
    return as_fleet_links_put(l, &kind, &link, err);
}

enum as_status as_fleet_links_write(const struct as_fleet_links *l, struct as_buf *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < l->n && !st; i++) {
        struct link_row row;
        row_of_link(l, &l->v[i], &row);
        st = as_fields_write(&row_table, &row, NULL, NULL, out, err);
        as_buf_char(out, '\n');
    }
    return st;
}

bool as_fleet_link_is_line(const char *line)
{
    return strncmp(line, line_begins, sizeof line_begins - 1) == 0;
}

static bool is_positive_or_unknown(double v)
{
    return isnan(v) || v > 0;
}

enum as_status as_fleet_links_read_line(struct as_fleet_links *l, const char *line, struct as_error *err)
{
    struct link_row row = {0};
    const struct as_place place = {.document = "merged file", .text = "link"};
    json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    enum as_status st =
        j ? as_fields_read(&row_table, j, &place, &row, err) : as_fail(err, AS_FORMAT, "a line with a link is damaged");
    json_decref(j);
    if (!st && (row.version != LINK_VERSION || !is_positive_or_unknown(row.value) ||
                !is_positive_or_unknown(row.ci_low) || !is_positive_or_unknown(row.ci_high)))
        st = as_fail(err, AS_FORMAT, "a line with a link is of another version, or not a measurement");
    if (st || row.started_at < l->started_at)
        return st;
    if (row.started_at > l->started_at) {
        as_fleet_links_finish(l);
        l->started_at = row.started_at;
    }
    l->is_complete = row.is_complete;
    return put_row(l, &row, err);
}
