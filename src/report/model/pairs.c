#include "report/model/pairs.h"

#include "base/text.h"
#include "model/number.h"
#include "probe/view_role.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char as_pairs_caption[] =
    "The row's GPU accesses the column's memory. Medians: bandwidth at the largest size, latency "
    "at the smallest; the probes' tables have the intervals. Blank: not measured.";

enum { PAIR_DEVICES = 16 }; /* more columns than these do not fit any page */

static const double LOWER = 0.995; /* of the median: a pair that is worth naming */

static const struct pair_kind {
    const char *heading;
    enum as_view_role role;
    const char *axes[2][2];
    bool small; /* the smallest size counts */
} kinds[] = {
    {"write, copy engine, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "engine"}, {"direction", "to"}}, false},
    {"write, copy kernel, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "kernel"}, {"direction", "to"}}, false},
    {"read, copy engine, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "engine"}, {"direction", "from"}}, false},
    {"read, copy kernel, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "kernel"}, {"direction", "from"}}, false},
    {"bidirectional, copy engine, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "engine"}, {"direction", "both"}}, false},
    {"bidirectional, copy kernel, GB/s", AS_VIEW_LINK_BANDWIDTH, {{"how", "kernel"}, {"direction", "both"}}, false},
    {"load latency, ns", AS_VIEW_LINK_LATENCY, {{"what", "load"}}, true},
    {"atomic add latency, ns", AS_VIEW_LINK_LATENCY, {{"what", "atomic"}}, true},
};
enum { PAIR_KINDS = sizeof kinds / sizeof *kinds };

struct pairs {
    const struct as_device_info *device[PAIR_DEVICES];
    size_t n;
    const struct as_cell *best[PAIR_KINDS][PAIR_DEVICES][PAIR_DEVICES]; /* by kind, row and column */
    bool has[PAIR_KINDS];                                               /* a valid one */
};

/* The number after the colon: the axis "peer" counts so. */
static unsigned pairs_number(const char *id)
{
    const char *colon = strchr(id, ':');
    return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

static bool is_kind(const struct as_cell *cell, const struct pair_kind *kind)
{
    bool is = as_has_role(cell, kind->role) && !as_axes_text(&cell->axes, AS_STATE_AXIS)[0];
    for (size_t i = 0; i < 2 && is && kind->axes[i][0]; i++)
        is = strcmp(as_axes_text(&cell->axes, kind->axes[i][0]), kind->axes[i][1]) == 0;
    return is;
}

/* A valid one before another, then by size, then the better. */
static bool pairs_is_better(const struct as_cell *cell, const struct as_cell *best, bool small)
{
    if (!best || as_cell_is_valid(cell) != as_cell_is_valid(best))
        return !best || as_cell_is_valid(cell);
    const double size = as_axes_number(&cell->axes, "size"), of_best = as_axes_number(&best->axes, "size");
    return size != of_best ? (size < of_best) == small : as_cell_is_better(cell, best);
}

static size_t pairs_place(const struct pairs *p, unsigned number)
{
    size_t i = 0;
    while (i < p->n && pairs_number(p->device[i]->id) != number)
        i++;
    return i;
}

/* The column of a cell; p->n if its other end is no device. */
static size_t pairs_peer(const struct pairs *p, const struct as_cell *cell)
{
    uint64_t number;
    const bool is_device = !as_parse_u64(as_axes_text(&cell->axes, "peer"), &number, NULL);
    return is_device ? pairs_place(p, (unsigned)number) : p->n;
}

static void pairs_take(struct pairs *p, const struct as_cell *cell)
{
    const char *backend = p->device[0]->backend;
    const size_t letters = strcspn(cell->device, ":");
    if (strlen(backend) != letters || strncmp(cell->device, backend, letters) != 0)
        return;
    const size_t row = pairs_place(p, pairs_number(cell->device)), column = pairs_peer(p, cell);
    for (size_t k = 0; k < PAIR_KINDS && row < p->n && column < p->n && row != column; k++) {
        if (!is_kind(cell, &kinds[k]))
            continue;
        const struct as_cell **best = &p->best[k][row][column];
        *best = pairs_is_better(cell, *best, kinds[k].small) ? cell : *best;
        p->has[k] |= as_cell_is_valid(cell);
    }
}

/* Of the first backend of which a pair has a number. */
static bool pairs_find(const struct as_report_run *run, struct pairs *p)
{
    bool any = false;
    for (size_t d = 0; d < run->devices_n && !any; d++) {
        *p = (struct pairs){.n = 0};
        for (size_t i = 0; i < run->devices_n && p->n < PAIR_DEVICES; i++)
            if (strcmp(run->devices[i].backend, run->devices[d].backend) == 0)
                p->device[p->n++] = &run->devices[i];
        for (size_t i = 0; i < run->cells_n && p->n > 1; i++)
            pairs_take(p, &run->cells[i]);
        for (size_t k = 0; k < PAIR_KINDS; k++)
            any |= p->has[k];
    }
    return any;
}

bool as_pairs_any(const struct as_report_run *run)
{
    struct pairs p;
    return pairs_find(run, &p);
}

bool as_pairs_is_of(const char *probe)
{
    return strcmp(probe, as_view_probes[AS_VIEW_LINK_BANDWIDTH]) == 0;
}

static void say_lowest(const struct pairs *p, const struct as_cell *lowest, struct as_buf *out)
{
    as_buf_str(out, "; lowest ");
    as_format_value(out, lowest->sum.median, lowest->unit);
    as_buf_printf(out, ", %s to %s", lowest->device, p->device[pairs_peer(p, lowest)]->id);
}

void as_pairs_summary(const struct as_report_run *run, struct as_buf *out)
{
    struct pairs p;
    double values[PAIR_DEVICES * PAIR_DEVICES];
    const struct as_cell *lowest = NULL;
    size_t n = 0;
    if (!pairs_find(run, &p))
        return;
    for (size_t i = 0; i < p.n * p.n; i++) {
        const struct as_cell *cell = p.best[0][i / p.n][i % p.n];
        if (!cell || !as_cell_is_valid(cell))
            continue;
        values[n++] = cell->sum.median;
        lowest = lowest && lowest->sum.median <= cell->sum.median ? lowest : cell;
    }
    if (n == 0)
        return;
    const double median = as_median(values, n), peak = 1e-9 * p.device[0]->peer_bandwidth;
    as_buf_printf(out, "GPU to GPU (write, copy engine, %zu pair%s): %s", n, n == 1 ? "" : "s",
                  n == 1 ? "" : "median ");
    as_format_value(out, median, lowest->unit);
    if (peak > 0)
        as_buf_printf(out, ", %.0f%% of %s", 100 * median / peak, p.device[0]->peer_bus);
    if (lowest->sum.ci.hi < LOWER * median)
        say_lowest(&p, lowest, out);
}

/* ---- the table ---- */

static void pairs_row(const struct pairs *p, size_t kind, size_t row, struct as_view_table *t)
{
    as_view_begin_row(t, true);
    as_view_text(t, p->device[row]->id, AS_PAINT_NONE);
    for (size_t column = 0; column < p->n; column++) {
        const struct as_cell *cell = p->best[kind][row][column];
        if (cell && as_cell_is_valid(cell))
            as_view_derived(t, (struct as_measure){cell->sum.median, {NAN, NAN}}, "");
        else
            as_view_text(t, cell ? as_cell_status_word(cell->status) : "", AS_PAINT_DIM);
    }
}

/* What the driver says of the row's access to the column. */
static void pairs_reported_row(const struct pairs *p, size_t row, struct as_view_table *t)
{
    as_view_begin_row(t, true);
    as_view_text(t, p->device[row]->id, AS_PAINT_NONE);
    for (size_t column = 0; column < p->n; column++) {
        const struct as_peer *peer = as_info_peer(p->device[row], pairs_number(p->device[column]->id));
        const char *word = !peer ? "" : !peer->access ? "none" : peer->atomics ? "native atomics" : "no native atomics";
        as_view_text(t, word, AS_PAINT_DIM);
    }
}

void as_pairs_view(const struct as_report_run *run, struct as_view_table *out)
{
    struct pairs p;
    bool grouped = false;
    *out = (struct as_view_table){0};
    if (!pairs_find(run, &p))
        return;
    as_view_add_column(out, (struct as_view_column){.title = "by"});
    for (size_t i = 0; i < p.n; i++) {
        struct as_view_column column = {.number = true};
        as_copy_text(column.title, sizeof column.title, p.device[i]->id);
        as_view_add_column(out, column);
    }
    for (size_t i = 0; i < p.n; i++) {
        if (!p.device[i]->peers_n)
            continue;
        pairs_reported_row(&p, i, out);
        if (!grouped)
            as_view_group(out, "access, as the driver reports");
        grouped = true;
    }
    for (size_t k = 0; k < PAIR_KINDS; k++)
        for (size_t i = 0; i < p.n && p.has[k]; i++) {
            pairs_row(&p, k, i, out);
            if (i == 0)
                as_view_group(out, kinds[k].heading);
        }
}
