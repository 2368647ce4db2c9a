/* Links on the machine map: facts about each, counters of errors, and memory of other NUMA nodes. */
#include "base/text.h"
#include "probe/view_role.h"
#include "report/map/map_draw.h"
#include "report/page/page.h"
#include "report/sheet/sheet_counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENDS_MAX = 64 };

static bool starts_with(const char *s, const char *head)
{
    return strncmp(s, head, strlen(head)) == 0;
}

static bool is_number_of(const struct as_fact *f, const struct as_device_info *info)
{
    return strcmp(f->device, info->id) == 0 && isfinite(f->value) && f->verdict != AS_UNDECIDED;
}

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
            !is_number_of(f, info))
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
        widen(latency, ends[i].latency, "ns");
        widen(bandwidth, faster_way(&ends[i]), "GB/s");
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

/* Counters that are not zero: the driver counts over all links of a device, so they are beside its name. */
static void links_counts(const struct as_link_count *counts, struct as_map_numbers *out)
{
    struct as_buf b = AS_BUF_INIT;
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        if (!counts[k].known || !(counts[k].total > 0))
            continue;
        as_buf_str(&b, b.len ? ", " : "");
        as_link_count_number(k, counts[k].total, &b);
        if (counts[k].grown > 0)
            as_buf_printf(&b, " (+%.0f)", counts[k].grown);
    }
    as_copy_text(out->counts, sizeof out->counts, as_buf_get(&b));
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
        for (size_t i = 0; i < (fold ? 1 : n); i++)
            add_link(out, info, s, &ends[i], fold ? n : 1, n == 1);
        if (s == HOST && n == 1)
            take_host_link(subject, &out->link[0]);
    }
    links_counts(counts, out);
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

void as_map_links_find(const struct as_report_run *run, const struct as_device_info *info,
                       const struct as_quantity_subject *subject, struct as_map_numbers *out)
{
    find_links(run, info, subject, out);
    find_other_node(subject, out);
    find_rejected_links(run, info, out);
}
