/* Values of the machine map: quantities by level and kind, and the facts about links. */
#include "base/text.h"
#include "probe/view_role.h"
#include "report/map/map.h"
#include "report/model/same_hardware.h"
#include "report/page/page.h"
#include "report/sheet/sheet_counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENDS_MAX = 64 };

static bool starts_with(const char *s, const char *head)
{
    return strncmp(s, head, strlen(head)) == 0;
}

static bool map_numbers_counts(const struct as_fact *f, const struct as_device_info *info)
{
    return strcmp(f->device, info->id) == 0 && isfinite(f->value) && f->verdict != AS_UNDECIDED;
}

/* ---- rows ---- */

/* The row of a quantity's level on this device; -1: it has none. */
static int row_of_level(const struct as_device_info *info, const char *level)
{
    if (strcmp(level, "memory_side") != 0)
        return as_map_row(level);
    const struct as_cache *side = as_info_memory_side(info);
    return side && side->level <= (unsigned)AS_MAP_CACHE_MAX ? (int)side->level : -1;
}

/* The column of a kind; AS_MAP_KINDS: none. */
static enum as_map_kind map_numbers_column_of(enum as_quantity_kind kind)
{
    switch (kind) {
    case AS_KIND_CLOCK:
    case AS_KIND_CAPACITY:
        return AS_MAP_HOLDS;
    case AS_KIND_LATENCY:
        return AS_MAP_LATENCY;
    case AS_KIND_BANDWIDTH:
        return AS_MAP_BANDWIDTH;
    default:
        return AS_MAP_KINDS;
    }
}

static void map_numbers_add_word(struct as_buf *b, const char *word)
{
    as_buf_printf(b, "%s%s", b->len && word[0] ? ", " : "", word);
}

/* What could be confused is said: "read, 41.7 B per cycle each", "read, 2 threads, over 8 MiB", "huge pages". */
static void note_quantity(const struct as_quantity_subject *s, const struct as_quantity_value *v, char *out,
                          size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    char said[64];
    as_quantity_label(s, v->of, v->source, said, sizeof said);
    if (v->of->kind == AS_KIND_BANDWIDTH || strcmp(v->of->label, "latency, base pages") == 0)
        map_numbers_add_word(&b, said);
    const struct as_number n = as_quantity_number(v), counted = as_number_counted(&n, v->counted, "");
    if (isfinite(v->counted) && as_number_is_said(&n)) {
        as_buf_str(&b, b.len ? ", " : "");
        as_number_brief(&counted, &b);
        as_buf_str(&b, strcmp(v->counted_unit, "B/cycle") == 0 ? " B per cycle each" : " cycles");
    }
    as_quantity_expand(s, v->source->said ? v->source->said : "", said, sizeof said);
    map_numbers_add_word(&b, v->on_small_pages ? "base pages" : said);
    map_numbers_add_word(&b, v->named);
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

static void take_quantity(const struct as_quantity_subject *s, const struct as_quantity *q, struct as_map_number *n)
{
    static const enum as_map_known without[AS_QUANTITY_STATES] = {
        [AS_QUANTITY_REJECTED] = AS_MAP_REJECTED, [AS_QUANTITY_UNDECIDED] = AS_MAP_UNDECIDED};
    struct as_quantity_value v;
    struct as_buf reason = AS_BUF_INIT;
    const enum as_quantity_found found = as_quantity_find(s, q, &v, &reason);
    as_buf_finish(&reason);
    if (found != AS_QUANTITY_FOUND) {
        n->known = n->known ? n->known : without[found];
        return;
    }
    *n = (struct as_map_number){.known = AS_MAP_MEASURED,
                                .of = q,
                                .cell = v.cell,
                                .fact = isfinite(v.counted) ? NULL : v.fact,
                                .value = v.value,
                                .high = v.value,
                                .claimed = v.fact && !isfinite(v.counted) && v.claimed > 0 ? v.claimed : 0,
                                .number = as_quantity_number(&v)};
    as_copy_text(n->unit, sizeof n->unit, v.unit);
    note_quantity(s, &v, n->note, sizeof n->note);
}

/* Of a level and kind the first quantity of the table that has a value. */
static void find_rows(const struct as_quantity_subject *s, struct as_map_numbers *out)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        const int row = row_of_level(s->info, q->level);
        const enum as_map_kind kind = map_numbers_column_of(q->kind);
        if (row >= 0 && kind != AS_MAP_KINDS && !q->beside && !q->off_map &&
            out->row[row][kind].known != AS_MAP_MEASURED)
            take_quantity(s, q, &out->row[row][kind]);
    }
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

/* ---- links ---- */

const char *as_map_number_of(const struct as_device_info *info)
{
    const char *colon = strchr(info->id, ':');
    return colon ? colon + 1 : info->id;
}

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
    if (strcmp(end, "every_host") == 0) /* of the node, not of this device */
        return SORTS;
    return starts_with(end, "host") ? HOST : strcmp(end, "every") == 0 ? EVERY : PEER;
}

static size_t find_ends(const struct as_report_run *run, const struct as_device_info *info, enum sort sort,
                        struct end ends[ENDS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < run->facts_n && n < ENDS_MAX; i++) {
        const struct as_fact *f = &run->facts[i];
        const char *name = f->object + strlen("link:");
        if (!starts_with(f->object, "link:") || starts_with(name, "cpu") || sort_of(name) != sort ||
            !map_numbers_counts(f, info))
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

static void map_numbers_widen(struct as_map_number *n, const struct as_fact *f, const char *unit)
{
    if (!f || strcmp(f->unit, unit) != 0)
        return;
    bool first = n->known != AS_MAP_MEASURED;
    n->known = AS_MAP_MEASURED;
    n->fact = first ? f : NULL;
    as_copy_text(n->unit, sizeof n->unit, f->unit);
    n->value = first ? f->value : fmin(n->value, f->value);
    n->high = first ? f->value : fmax(n->high, f->value);
}

/* A way of a link, as the data sheet prints it; the link's own number has the unit. */
static void add_way(struct as_buf *b, const char *word, struct as_number number)
{
    number.unit = "";
    as_buf_printf(b, "%s%s ", b->len ? ", " : "", word);
    as_number_brief(&number, b);
}

static struct as_number number_of_fact(const struct as_fact *f)
{
    return (struct as_number){.value = f->value, .ci = f->ci, .unit = f->unit};
}

/* In the words of the data sheet; facts name the directions of a link as seen by the device. */
static void each_way(const struct end *e, enum sort sort, char *note, size_t size)
{
    const struct {
        const char *word;
        const struct as_fact *fact;
    } ways_of[SORTS][3] =
        {
            [HOST] = {{"to device", e->from}, {"from device", e->to}, {"both", e->both}},
            [PEER] = {{"to peer", e->to}, {"from peer", e->from}, {"both", e->both}},
            [EVERY] = {{"to peers", e->to}, {"from peers", e->from}, {"both", e->both}},
        },
      *ways = ways_of[sort];
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof ways_of[sort] / sizeof *ways_of[sort]; i++) {
        if (ways[i].fact)
            add_way(&b, ways[i].word, number_of_fact(ways[i].fact));
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
        snprintf(l->about, sizeof l->about, "memory of %.15s:%.16s%s%.24s", info->backend, ends->name,
                 info->peer_bus[0] ? " over " : "", info->peer_bus);
    } else {
        const char *node = alone ? "" : ends->name + strcspn(ends->name, "-");
        snprintf(l->name, sizeof l->name, "host%.16s", node);
        snprintf(l->about, sizeof l->about, "host memory%s%.16s%s%.24s", node[0] ? ", node " : "",
                 node + (node[0] == '-'), info->bus[0] ? " over " : "", info->bus);
    }
}

static void note_atomic(struct as_number value, struct as_map_number *latency)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "atomic ");
    as_page_number(&b, &value);
    as_copy_text(latency->note, sizeof latency->note, as_buf_get(&b));
    as_buf_finish(&b);
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
        map_numbers_widen(latency, ends[i].latency, "ns");
        map_numbers_widen(bandwidth, faster_way(&ends[i]), "GB/s");
    }
    if (n != 1)
        return;
    snprintf(l->object, sizeof l->object, "link:%.26s", ends->name);
    each_way(ends, sort, bandwidth->note, sizeof bandwidth->note);
    bandwidth->is_way = true;
    if (ends->atomic)
        note_atomic(number_of_fact(ends->atomic), latency);
}

static bool find_host(const struct as_quantity_subject *s, const char *name, struct as_quantity_value *v)
{
    struct as_buf reason = AS_BUF_INIT;
    const bool found = as_quantity_find(s, as_quantity_named(name), v, &reason) == AS_QUANTITY_FOUND;
    as_buf_finish(&reason);
    return found;
}

static void take_host_value(const struct as_quantity_value *v, struct as_map_number *n)
{
    *n = (struct as_map_number){.known = AS_MAP_MEASURED,
                                .of = v->of,
                                .cell = v->cell,
                                .value = v->value,
                                .high = v->value,
                                .number = as_quantity_number(v)};
    as_copy_text(n->unit, sizeof n->unit, v->unit);
}

/* The link to the only host node has the quantities of the data sheet: the faster way, and each of them in the note. */
static void take_host_link(const struct as_quantity_subject *s, struct as_map_link *l)
{
    static const struct {
        const char *word, *quantity;
    } ways[] = {
        {"to device", "host_link.to_device"}, {"from device", "host_link.from_device"}, {"both", "host_link.both"}};
    struct as_map_number *bandwidth = &l->number[AS_MAP_BANDWIDTH], *latency = &l->number[AS_MAP_LATENCY];
    struct as_quantity_value v;
    struct as_buf note = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!find_host(s, ways[i].quantity, &v))
            continue;
        if (!note.len || (v.value > bandwidth->value && strcmp(ways[i].word, "both") != 0))
            take_host_value(&v, bandwidth);
        add_way(&note, ways[i].word, as_quantity_number(&v));
    }
    if (note.len)
        as_copy_text(bandwidth->note, sizeof bandwidth->note, as_buf_get(&note));
    bandwidth->is_way = true;
    as_buf_finish(&note);
    if (find_host(s, "host_link.load", &v))
        take_host_value(&v, latency);
    if (find_host(s, "host_link.atomic", &v))
        note_atomic(as_quantity_number(&v), latency);
}

/* Counters of a link that are not zero, beside a number of it. */
static void note_counts(const struct as_link_count *counts, bool is_host, struct as_map_link *l)
{
    struct as_map_number *n =
        &l->number[l->number[AS_MAP_LATENCY].known == AS_MAP_MEASURED ? AS_MAP_LATENCY : AS_MAP_BANDWIDTH];
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, n->note);
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        if (!counts[k].known || !(counts[k].total > 0) || (k == AS_COUNTER_PCIE_REPLAYS) != is_host)
            continue;
        as_buf_printf(&b, "%s%.0f %s", b.len ? ", " : "", counts[k].total,
                      k == AS_COUNTER_LINK_ERRORS ? "errors" : "replays");
        if (counts[k].grown > 0)
            as_buf_printf(&b, ", %.0f new", counts[k].grown);
    }
    as_copy_text(n->note, sizeof n->note, as_buf_get(&b));
    as_buf_finish(&b);
}

/* A device with memory of its own has a link to the host and to peers, measured or not. */
static void find_links(const struct as_report_run *run, const struct as_device_info *info,
                       const struct as_quantity_subject *subject, struct as_map_numbers *out)
{
    static const struct end nothing[SORTS] = {[HOST] = {.name = "host"}, [PEER] = {.name = ""}};
    struct as_link_count counts[AS_COUNTERS_N] = {0};
    if (!as_hardware_has_own_memory(info) || as_link_counts_read(subject, counts, NULL))
        return;
    for (enum sort s = HOST; s < SORTS; s++) {
        struct end ends[ENDS_MAX];
        size_t n = find_ends(run, info, s, ends);
        if (n == 0 && (s == HOST || (s == PEER && info->siblings > 1)))
            ends[n++] = nothing[s];
        const bool fold = n > FEW;
        const size_t first = out->links_n;
        for (size_t i = 0; i < (fold ? 1 : n); i++)
            add_link(out, info, s, &ends[i], fold ? n : 1, n == 1);
        if (s == HOST && n == 1)
            take_host_link(subject, &out->link[0]);
        if (s != EVERY && out->links_n > first)
            note_counts(counts, s == HOST, &out->link[first]);
    }
}

/* Of a CPU with several NUMA nodes: memory of another node, with the node's own beside it. */
static void find_other_node(const struct as_quantity_subject *s, struct as_map_numbers *out)
{
    static const struct {
        const char *other, *own;
    } of[AS_MAP_KINDS] = {[AS_MAP_LATENCY] = {"numa.latency.other", "numa.latency.own"},
                          [AS_MAP_BANDWIDTH] = {"numa.read.other", "numa.read.own"}};
    struct as_map_link l = {.name = "other node", .about = "memory of another NUMA node, the worst pair"};
    struct as_quantity_value v;
    bool any = false;
    for (enum as_map_kind k = AS_MAP_LATENCY; k <= AS_MAP_BANDWIDTH; k++) {
        struct as_buf note = AS_BUF_INIT;
        if (!as_quantity_is_of_side(s, AS_SIDE_CPU) || !find_host(s, of[k].other, &v))
            continue;
        take_host_value(&v, &l.number[k]);
        any = true;
        if (find_host(s, of[k].own, &v)) {
            const struct as_number own = as_quantity_number(&v);
            as_buf_str(&note, "own node ");
            as_page_number(&note, &own);
            as_copy_text(l.number[k].note, sizeof l.number[k].note, as_buf_get(&note));
        }
        as_buf_finish(&note);
    }
    if (any && out->links_n < AS_MAP_LINKS_MAX)
        out->link[out->links_n++] = l;
}

/* Links of a device that were measured, but rejected. */
static void find_rejected_links(const struct as_report_run *run, const struct as_device_info *info,
                                struct as_map_numbers *out)
{
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *c = &run->cells[i];
        const bool bandwidth = as_has_role(c, AS_VIEW_LINK_BANDWIDTH);
        const enum sort sort = sort_of(as_axes_text(&c->axes, "peer"));
        if (c->status != AS_CELL_REJECTED || sort == SORTS || strcmp(c->device, info->id) != 0 ||
            (!bandwidth && !as_has_role(c, AS_VIEW_LINK_LATENCY)))
            continue;
        for (size_t k = 0; k < out->links_n; k++) {
            struct as_map_number *n = &out->link[k].number[bandwidth ? AS_MAP_BANDWIDTH : AS_MAP_LATENCY];
            if (n->known == AS_MAP_UNKNOWN && starts_with(out->link[k].name, "host") == (sort == HOST))
                n->known = AS_MAP_REJECTED;
        }
    }
}

void as_map_numbers_find(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    const struct as_quantity_subject s = as_report_subject(run, info->id);
    *out = (struct as_map_numbers){.links_n = 0};
    find_rows(&s, out);
    find_claims(info, out);
    find_links(run, info, &s, out);
    find_other_node(&s, out);
    find_rejected_links(run, info, out);
}

bool as_map_has_numbers(const struct as_map_numbers *n)
{
    for (int r = 0; r < AS_MAP_ROWS; r++)
        for (int k = 0; k < AS_MAP_KINDS; k++)
            if (n->row[r][k].known == AS_MAP_MEASURED)
                return true;
    for (size_t i = 0; i < n->links_n; i++)
        for (int k = 0; k < AS_MAP_KINDS; k++)
            if (n->link[i].number[k].known == AS_MAP_MEASURED)
                return true;
    return false;
}

/* Columns are narrow: "27–121 ns" for a range. */
static void map_numbers_write(struct as_buf *b, const struct as_number *n)
{
    static const char to[] = " to ";
    struct as_buf text = AS_BUF_INIT;
    as_page_number(&text, n);
    const char *whole = as_buf_get(&text), *between = strstr(whole, to);
    if (between) {
        as_buf_add(b, whole, (size_t)(between - whole));
        as_buf_str(b, "–");
        whole = between + strlen(to);
    }
    as_buf_str(b, whole);
    b->failed |= text.failed;
    as_buf_finish(&text);
}

static enum as_said map_numbers_said(const struct as_map_number *n)
{
    struct as_number number = n->number;
    number.unit = n->unit;
    return n->of ? as_page_said(&number, n->claimed > 0 ? n->claimed : NAN) : AS_SAID_VALUE;
}

bool as_map_shows_claim(const struct as_map_number *n)
{
    return map_numbers_said(n) == AS_SAID_CLAIMED;
}

void as_map_number_text(struct as_buf *b, const struct as_map_number *n)
{
    const double alike = 1.01; /* of the minimum: three digits would not show more */
    static const char *const no_number[] = {
        [AS_MAP_UNKNOWN] = "not measured", [AS_MAP_REJECTED] = "rejected", [AS_MAP_UNDECIDED] = "inconclusive"};
    const enum as_said said = map_numbers_said(n);
    struct as_number number = n->number;
    number.unit = n->unit;
    if (n->known <= AS_MAP_UNDECIDED)
        as_buf_str(b, no_number[n->known]);
    else if (said == AS_SAID_CLAIMED)
        as_page_value(b, n->claimed, n->unit);
    else if (said == AS_SAID_BRACKET)
        as_page_range(b, number.ci.lo, number.ci.hi, n->unit);
    else if (n->of)
        map_numbers_write(b, &number);
    else if (n->fact && strcmp(n->fact->unit, n->unit) == 0)
        as_page_fact_value(b, n->fact);
    else if (n->high > alike * n->value)
        as_page_range(b, n->value, n->high, n->unit);
    else
        as_page_value(b, n->value, n->unit);
}

size_t as_map_alike_before(const struct as_report_run *run, size_t index)
{
    size_t n = 0;
    for (size_t i = 0; i < index; i++)
        n += as_hardware_is_alike(&run->devices[index], &run->devices[i]);
    return n;
}
