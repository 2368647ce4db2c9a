/* Values of the machine map: the most informative fact per row and link. */
#include "base/text.h"
#include "report/map.h"
#include "report/page.h"
#include "report/sheet.h"
#include "report/sheet_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENDS_MAX = 64 };

static bool starts_with(const char *s, const char *head)
{
    return strncmp(s, head, strlen(head)) == 0;
}

static bool is_of(const struct as_fact *f, const struct as_device_info *info)
{
    return strcmp(f->device, info->id) == 0 && isfinite(f->value);
}

static bool counts(const struct as_fact *f, const struct as_device_info *info)
{
    return is_of(f, info) && f->verdict != AS_UNDECIDED;
}

/* Which facts are a row's values, by unit and what they state; earlier lines have priority. */
static const struct source {
    const char *unit;
    enum as_fact_states states;
    bool whole; /* seen from all compute units together */
    enum as_map_kind kind;
} sources[] = {
    {"Hz", AS_STATES_CLOCK, false, AS_MAP_HOLDS},
    {"B", AS_STATES_CAPACITY, true, AS_MAP_HOLDS},
    {"B", AS_STATES_CAPACITY, false, AS_MAP_HOLDS},
    {"B", AS_STATES_UNIT_CAPACITY, false, AS_MAP_HOLDS},
    {"ns", AS_STATES_LATENCY, false, AS_MAP_LATENCY},
    {"cycles", AS_STATES_LATENCY, false, AS_MAP_LATENCY},
    {"GB/s", AS_STATES_BANDWIDTH, false, AS_MAP_BANDWIDTH},
    {"GB/s", AS_STATES_LISTED_BANDWIDTH, false, AS_MAP_BANDWIDTH},
    {"B/cycle", AS_STATES_UNIT_BANDWIDTH, false, AS_MAP_BANDWIDTH},
};
enum { SOURCES = sizeof sources / sizeof *sources };

static size_t source_of(const struct as_fact *f)
{
    const bool whole = strcmp(as_fact_field(f, AS_FIELD_PATH), "whole") == 0;
    size_t i = 0;
    while (i < SOURCES && !(strcmp(f->unit, sources[i].unit) == 0 && as_fact_states(f) == sources[i].states &&
                            whole == sources[i].whole))
        i++;
    return i;
}

/* Converts cycles and bytes per cycle to ns and GB/s by the measured clock. */
static void by_the_clock(struct as_map_number *n, const struct as_device_info *info, double hz)
{
    const struct as_fact *f = n->fact;
    struct as_buf note = AS_BUF_INIT;
    bool cycles = strcmp(f->unit, "cycles") == 0;
    if (!(hz > 0) || (!cycles && strcmp(f->unit, "B/cycle") != 0))
        return;
    as_format_number(&note, f->value, 3);
    as_buf_str(&note, cycles ? " cycles" : " B per cycle each");
    as_copy_text(n->note, sizeof n->note, as_buf_get(&note));
    as_buf_finish(&note);
    n->value = n->high =
        cycles ? f->value / hz * 1e9 : f->value * hz * (info->compute_units ? info->compute_units : 1) * 1e-9;
    n->unit = cycles ? "ns" : "GB/s";
}

static void find_rows(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    size_t rank[AS_MAP_ROWS][AS_MAP_KINDS];
    double hz = 0;
    for (size_t i = 0; i < run->facts_n; i++) {
        const struct as_fact *f = &run->facts[i];
        size_t source = source_of(f);
        int row = as_map_row(f->object);
        if (row < 0 || source == SOURCES || !is_of(f, info))
            continue;
        enum as_map_kind kind = sources[source].kind;
        struct as_map_number *n = &out->row[row][kind];
        if (f->verdict == AS_UNDECIDED) {
            n->known = n->fact ? n->known : AS_MAP_UNDECIDED;
            continue;
        }
        bool better = !n->fact || source < rank[row][kind] ||
                      (source == rank[row][kind] && kind == AS_MAP_BANDWIDTH && f->value > n->value);
        if (!better)
            continue;
        rank[row][kind] = source;
        *n = (struct as_map_number){
            .known = AS_MAP_MEASURED, .fact = f, .value = f->value, .high = f->value, .unit = f->unit};
        if (strcmp(f->unit, "Hz") == 0)
            hz = f->value;
    }
    for (int r = 0; r < AS_MAP_ROWS; r++)
        for (int k = 0; k < AS_MAP_KINDS; k++)
            if (out->row[r][k].fact)
                by_the_clock(&out->row[r][k], info, hz);
}

static void find_claims(const struct as_device_info *info, struct as_map_numbers *out)
{
    for (int r = 0; r < AS_MAP_ROWS; r++) {
        uint64_t size = r == AS_MAP_MEMORY  ? info->memory_bytes
                        : r == AS_MAP_LOCAL ? as_map_shared(info)
                        : r == AS_MAP_CORE  ? 0
                                            : as_info_cache(info, (unsigned)r);
        struct as_map_number *n = &out->row[r][AS_MAP_HOLDS];
        if (size && n->known <= AS_MAP_UNDECIDED)
            *n = (struct as_map_number){
                .known = AS_MAP_CLAIMED, .value = (double)size, .high = (double)size, .unit = "B", .note = "reported"};
        if (size && r == AS_MAP_LOCAL && !info->compute_unit_shared && n->known == AS_MAP_CLAIMED)
            snprintf(n->note, sizeof n->note, "per %s", as_info_words(info)->workgroup);
    }
}

/* The nearest row that holds the working set of a cell, as the driver lists them; -1 where it is between two. */
static int row_of_size(const struct as_device_info *info, const struct as_axes *axes)
{
    const uint64_t size = as_axes_u64(axes, "size");
    for (unsigned level = 1; level <= AS_MAP_CACHE_MAX; level++)
        if (size <= as_info_cache(info, level))
            return (int)level;
    return as_info_is_memory(info, as_axes_text(axes, "allocator"), 1, (double)size) ? AS_MAP_MEMORY : -1;
}

/* The row (or -1) and the kind of value that a cell would give. */
static int row_of_cell(const struct as_cell *c, const struct as_device_info *info, enum as_map_kind *kind)
{
    const bool topology = strcmp(c->probe, "topology") == 0, latency = strcmp(c->probe, "latency") == 0;
    if (!topology && !latency && strcmp(c->probe, "bandwidth") != 0)
        return -1;
    *kind = latency || (topology && strcmp(as_axes_text(&c->axes, "what"), "bandwidth") != 0) ? AS_MAP_LATENCY
                                                                                              : AS_MAP_BANDWIDTH;
    return topology ? as_map_row(as_axes_text(&c->axes, "place")) : row_of_size(info, &c->axes);
}

/* Rejected values are not drawn but marked. */
static void find_rejected(const struct as_report_run *run, const struct as_device_info *info,
                          struct as_map_numbers *out)
{
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        enum as_map_kind kind = AS_MAP_LATENCY;
        if (c->status != AS_CELL_REJECTED || strcmp(c->device, info->id) != 0)
            continue;
        const int row = row_of_cell(c, info, &kind);
        if (row >= 0 && out->row[row][kind].known == AS_MAP_UNKNOWN)
            out->row[row][kind].known = AS_MAP_REJECTED;
    }
}

/* ---- links ---- */

const struct as_fact *as_map_link_fact(const struct as_report_run *run, const char *device, const char *end,
                                       const char *what)
{
    for (size_t i = 0; i < run->facts_n; i++) {
        const struct as_fact *f = &run->facts[i];
        const bool is = as_fact_is(f, AS_FACT_LINK, AS_BY(.peer = end, .direction = what)) ||
                        as_fact_is(f, AS_FACT_LINK_LATENCY, AS_BY(.peer = end, .what = what));
        if (strcmp(f->device, device) == 0 && is && isfinite(f->value) && f->verdict != AS_UNDECIDED)
            return f;
    }
    return NULL;
}

/* The other end of a link, as facts name it. */
struct end {
    const char *name;
    const struct as_fact *latency, *atomic, *to, *from, *both;
};
/* Ends of one sort, which are drawn one by one while they are few. */
enum sort { HOST, PEER, EVERY, SORTS };
enum { FEW = 2 };

static enum sort sort_of(const char *end)
{
    return starts_with(end, "host") ? HOST : strcmp(end, "every") == 0 ? EVERY : PEER;
}

static size_t find_ends(const struct as_report_run *run, const struct as_device_info *info, enum sort sort,
                        struct end ends[ENDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < run->facts_n && n < ENDS_MAX; i++) {
        const struct as_fact *f = &run->facts[i];
        const char *name = f->object + strlen("link:");
        if (!starts_with(f->object, "link:") || starts_with(name, "cpu") || sort_of(name) != sort || !counts(f, info))
            continue;
        size_t k = 0;
        while (k < n && strcmp(ends[k].name, name) != 0)
            k++;
        if (k < n)
            continue;
        ends[n++] = (struct end){.name = name,
                                 .latency = as_map_link_fact(run, info->id, name, "load"),
                                 .atomic = as_map_link_fact(run, info->id, name, "atomic"),
                                 .to = as_map_link_fact(run, info->id, name, "to"),
                                 .from = as_map_link_fact(run, info->id, name, "from"),
                                 .both = as_map_link_fact(run, info->id, name, "both")};
    }
    return n;
}

static const struct as_fact *faster_way(const struct end *e)
{
    if (e->to && e->from)
        return e->to->value > e->from->value ? e->to : e->from;
    return e->to ? e->to : e->from ? e->from : e->both;
}

static void widen(struct as_map_number *n, const struct as_fact *f, const char *unit)
{
    if (!f || strcmp(f->unit, unit) != 0)
        return;
    bool first = n->known != AS_MAP_MEASURED;
    n->known = AS_MAP_MEASURED;
    n->fact = first ? f : NULL;
    n->unit = f->unit;
    n->value = first ? f->value : fmin(n->value, f->value);
    n->high = first ? f->value : fmax(n->high, f->value);
}

static void each_way(const struct end *e, char *note, size_t size)
{
    const struct {
        const char *word;
        const struct as_fact *fact;
    } ways[] = {{"to", e->to}, {"from", e->from}, {"both", e->both}};
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!ways[i].fact)
            continue;
        as_buf_printf(&b, "%s%s ", b.len ? ", " : "", ways[i].word);
        as_format_number(&b, ways[i].fact->value, 3);
    }
    as_copy_text(note, size, as_buf_get(&b));
    as_buf_finish(&b);
}

static void name_link(struct as_map_link *l, const struct as_device_info *info, enum sort sort, const struct end *ends,
                      size_t n, bool alone)
{
    static const char *const several[SORTS] = {[HOST] = "host nodes", [PEER] = "devices", [EVERY] = ""};
    if (n > 1) {
        snprintf(l->name, sizeof l->name, "%zu %s", n, several[sort]);
        snprintf(l->about, sizeof l->about, "memory of %zu other %s", n, several[sort]);
    } else if (sort == EVERY) {
        snprintf(l->name, sizeof l->name, "all");
        snprintf(l->about, sizeof l->about, "all other devices at once");
    } else if (sort == PEER && !ends->name[0]) {
        snprintf(l->name, sizeof l->name, "others");
        snprintf(l->about, sizeof l->about, "memory of the other devices");
    } else if (sort == PEER) {
        snprintf(l->name, sizeof l->name, "%.15s:%.16s", info->backend, ends->name);
        snprintf(l->about, sizeof l->about, "memory of %.15s:%.16s", info->backend, ends->name);
    } else {
        const char *node = alone ? "" : ends->name + strcspn(ends->name, "-");
        snprintf(l->name, sizeof l->name, "host%.16s", node);
        snprintf(l->about, sizeof l->about, "host memory%s%.16s%s%.24s", node[0] ? ", node " : "",
                 node + (node[0] == '-'), info->bus[0] ? " over " : "", info->bus);
    }
}

static void add_link(struct as_map_numbers *out, const struct as_device_info *info, enum sort sort,
                     const struct end *ends, size_t n, bool alone)
{
    if (out->links_n == AS_MAP_LINKS_MAX)
        return;
    struct as_map_link *l = &out->link[out->links_n++];
    struct as_map_number *latency = &l->number[AS_MAP_LATENCY], *bandwidth = &l->number[AS_MAP_BANDWIDTH];
    *l = (struct as_map_link){.object = ""};
    name_link(l, info, sort, ends, n, alone);
    for (size_t i = 0; i < n; i++) {
        widen(latency, ends[i].latency, "ns");
        widen(bandwidth, faster_way(&ends[i]), "GB/s");
    }
    if (n != 1)
        return;
    snprintf(l->object, sizeof l->object, "link:%.26s", ends->name);
    each_way(ends, bandwidth->note, sizeof bandwidth->note);
    if (ends->atomic) {
        struct as_buf b = AS_BUF_INIT;
        as_buf_str(&b, "atomic ");
        as_page_value(&b, ends->atomic->value, ends->atomic->unit);
        as_copy_text(latency->note, sizeof latency->note, as_buf_get(&b));
        as_buf_finish(&b);
    }
}

/* A device with memory of its own has a link to the host and to peers, measured or not. */
static void find_links(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    static const struct end nothing[SORTS] = {[HOST] = {.name = "host"}, [PEER] = {.name = ""}};
    if (!as_map_has_own_memory(info))
        return;
    for (enum sort s = HOST; s < SORTS; s++) {
        struct end ends[ENDS_MAX];
        size_t n = find_ends(run, info, s, ends);
        if (n == 0 && (s == HOST || (s == PEER && info->siblings > 1)))
            ends[n++] = nothing[s];
        bool fold = n > FEW;
        for (size_t i = 0; i < (fold ? 1 : n); i++)
            add_link(out, info, s, &ends[i], fold ? n : 1, n == 1);
    }
}

/* Links of a device that were measured, but rejected. */
static void find_rejected_links(const struct as_report_run *run, const struct as_device_info *info,
                                struct as_map_numbers *out)
{
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        bool bandwidth = strcmp(c->probe, "link") == 0;
        if (c->status != AS_CELL_REJECTED || strcmp(c->device, info->id) != 0 ||
            (!bandwidth && strcmp(c->probe, "link_latency") != 0))
            continue;
        bool host = sort_of(as_axes_text(&c->axes, "peer")) == HOST;
        for (size_t k = 0; k < out->links_n; k++) {
            struct as_map_number *n = &out->link[k].number[bandwidth ? AS_MAP_BANDWIDTH : AS_MAP_LATENCY];
            if (n->known == AS_MAP_UNKNOWN && starts_with(out->link[k].name, "host") == host)
                n->known = AS_MAP_REJECTED;
        }
    }
}

/* The sheet's bandwidth of a group: of all threads, else of one. */
static const struct as_sheet_row *read_row(const struct as_sheet *sheet, const char *group, bool *one_thread)
{
    const struct as_sheet_row *row = as_sheet_find(sheet, group, "read");
    *one_thread = !row;
    return row ? row : as_sheet_find(sheet, group, "read, 1 thread");
}

/* Where the data sheet has no read, what stands for it is named. */
static void name_operation(struct as_map_number *n)
{
    const char *op = n->fact && as_fact_is(n->fact, AS_FACT_BANDWIDTH, NULL) ? as_fact_field(n->fact, AS_FIELD_OP) : "";
    if (op[0] && strcmp(op, "read") != 0)
        as_copy_text(n->note, sizeof n->note, op);
}

static void take_bandwidth(const struct as_sheet *sheet, const char *group, struct as_map_number *n)
{
    bool one_thread;
    const struct as_sheet_row *row = read_row(sheet, group, &one_thread);
    if (!row)
        name_operation(n);
    if (!row || strcmp(row->unit, "GB/s") != 0)
        return;
    *n = (struct as_map_number){.known = AS_MAP_MEASURED, .value = row->value, .high = row->value, .unit = "GB/s"};
    if (one_thread || strstr(row->remark, "B/cycle"))
        as_copy_text(n->note, sizeof n->note, one_thread ? "1 thread" : row->remark);
}

/* Caches are shown in cycles where a fact has them. */
static void take_latency(const struct as_sheet *sheet, const char *group, struct as_map_number *n)
{
    const struct as_sheet_row *row = as_sheet_find(sheet, group, "latency");
    const bool memory = strcmp(group, "Memory") == 0;
    if (!row && memory)
        row = as_sheet_find(sheet, group, "latency, base pages");
    if (row && strcmp(row->unit, "ns") == 0 && (memory || n->known != AS_MAP_MEASURED))
        *n = (struct as_map_number){.known = AS_MAP_MEASURED, .value = row->value, .high = row->value, .unit = "ns"};
}

/* Numbers of the rows are those of the data sheet, so that a quantity has one number on the page. */
static void take_sheet(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    static const struct {
        const char *group, *object;
    } objects[] = {{"Memory", "memory"}, {AS_SHEET_MEMORY_SIDE, NULL}, {"L3", "L3"}, {"L2", "L2"},
                   {"L1", "L1"},         {"Shared memory", "shared"}};
    const struct as_cache *side = as_info_memory_side(info);
    struct as_sheet sheet;
    struct as_error err;
    if (as_sheet_make(run, info->id, &sheet, &err))
        return;
    for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
        const int r = objects[k].object                                   ? as_map_row(objects[k].object)
                      : side && side->level <= (unsigned)AS_MAP_CACHE_MAX ? (int)side->level
                                                                          : -1;
        if (r < 0)
            continue;
        take_bandwidth(&sheet, objects[k].group, &out->row[r][AS_MAP_BANDWIDTH]);
        take_latency(&sheet, objects[k].group, &out->row[r][AS_MAP_LATENCY]);
    }
    as_sheet_finish(&sheet);
}

void as_map_numbers_find(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    *out = (struct as_map_numbers){.links_n = 0};
    find_rows(run, info, out);
    take_sheet(run, info, out);
    find_claims(info, out);
    find_rejected(run, info, out);
    find_links(run, info, out);
    find_rejected_links(run, info, out);
}

bool as_map_has_numbers(const struct as_map_numbers *n, int row)
{
    for (int r = row < 0 ? 0 : row; r < (row < 0 ? AS_MAP_ROWS : row + 1); r++)
        for (int k = 0; k < AS_MAP_KINDS; k++)
            if (n->row[r][k].known == AS_MAP_MEASURED)
                return true;
    for (size_t i = 0; i < n->links_n && row < 0; i++)
        for (int k = 0; k < AS_MAP_KINDS; k++)
            if (n->link[i].number[k].known == AS_MAP_MEASURED)
                return true;
    return false;
}

void as_map_number_text(struct as_buf *b, const struct as_map_number *n)
{
    const double alike = 1.01; /* of the minimum: three digits would not show more */
    static const char *const no_number[] = {
        [AS_MAP_UNKNOWN] = "not measured", [AS_MAP_REJECTED] = "rejected", [AS_MAP_UNDECIDED] = "undecided"};
    if (n->known <= AS_MAP_UNDECIDED)
        as_buf_str(b, no_number[n->known]);
    else if (n->fact && strcmp(n->fact->unit, n->unit) == 0)
        as_page_fact_value(b, n->fact);
    else if (n->high > alike * n->value)
        as_page_range(b, n->value, n->high, n->unit);
    else
        as_page_value(b, n->value, n->unit);
}

bool as_map_has_own_memory(const struct as_device_info *info)
{
    return !info->is_host_memory && !(info->capabilities & AS_CAP_HOST_KERNELS);
}

size_t as_map_alike_before(const struct as_report_run *run, size_t index)
{
    const struct as_device_info *d = &run->devices[index];
    size_t n = 0;
    for (size_t i = 0; i < index && as_map_has_own_memory(d); i++) {
        const struct as_device_info *e = &run->devices[i];
        n += strcmp(d->backend, e->backend) == 0 && strcmp(d->name, e->name) == 0 &&
             d->compute_units == e->compute_units && d->memory_bytes == e->memory_bytes;
    }
    return n;
}
