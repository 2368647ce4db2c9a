#include "report/sheet.h"

#include "base/text.h"
#include "facts/facts.h"
#include "probe/main_memory.h"
#include "report/sheet_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const struct as_report_run *run;
    const char *device;
    const struct as_device_info *info; /* NULL unknown */
    double clock_hz;                   /* NAN unknown */
};

/* An interval of a fact that is wider than this share of the value is marked, whatever was requested. */
static const double WIDE = 0.2;

struct number {
    double value, claimed;
    struct as_interval ci;
    char unit[16];
    bool wide, decided, refuted;
    size_t trials;
    int64_t cell;
};

/* All threads of a CPU; 0 on other devices, as their cells have it: as many as the launch needs. */
static bool add_threads(const struct source *s, struct as_buf *b)
{
    const bool cpu = s->info && (s->info->capabilities & AS_CAP_HOST_KERNELS);
    as_buf_printf(b, "%u", cpu ? s->info->threads : 0);
    return s->info != NULL;
}

/* Writes text with "@all" as the threads of the whole device, "@role" as the name of the device's allocator and
 * "{unit}" as its word; false: the device has no such allocator. */
static bool expand(const struct source *s, const char *text, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    bool known = true;
    while (*text) {
        char role[32];
        size_t n = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (*text == '@' && n < sizeof role) {
            memcpy(role, text + 1, n);
            role[n] = 0;
            if (strcmp(role, "all") == 0)
                known &= add_threads(s, &b);
            else {
                const char *name = as_role_allocator(s->device, as_role_find(role));
                known &= name[0] != 0;
                as_buf_str(&b, name);
            }
            text += n + 1;
        } else if (strncmp(text, "{unit}", 6) == 0) {
            as_buf_str(&b, as_info_words(s->info)->compute_unit);
            text += 6;
        } else
            as_buf_char(&b, *text++);
    }
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
    return known;
}

static bool from_fact(const struct source *s, const char *id, struct number *out)
{
    const struct as_fact *f = as_fact_find(s->run->facts, s->run->facts_n, s->device, id);
    if (!f || !isfinite(f->value))
        return false;
    const struct as_cell *cell = f->evidence_n ? as_report_cell(s->run, f->evidence[0]) : NULL;
    *out =
        (struct number){.value = f->value,
                        .claimed = f->claimed,
                        .ci = f->ci,
                        .wide = strcmp(f->unit, "Hz") != 0 && strcmp(f->unit, "B") != 0 &&
                                ((cell && cell->status == AS_CELL_WIDE) || f->ci.hi - f->ci.lo > WIDE * fabs(f->value)),
                        .decided = f->verdict != AS_UNDECIDED,
                        .refuted = f->verdict == AS_REFUTED,
                        .trials = cell ? cell->sum.trials : 0,
                        .cell = f->evidence_n == 1 ? f->evidence[0] : 0};
    as_copy_text(out->unit, sizeof out->unit, f->unit);
    return true;
}

/* "probe axis=value ...": does the cell have these? */
static bool matches(const struct as_cell *c, const char *filter)
{
    size_t n = strcspn(filter, " ");
    if (strncmp(c->probe, filter, n) != 0 || c->probe[n])
        return false;
    for (filter += n; *filter == ' '; filter += n) {
        char name[24], value[64];
        filter++;
        n = strcspn(filter, " ");
        const size_t eq = strcspn(filter, "=");
        if (eq >= n || eq >= sizeof name || n - eq - 1 >= sizeof value)
            return false;
        as_copy_text(name, eq + 1, filter);
        as_copy_text(value, n - eq, filter + eq + 1);
        const struct as_axis_value *v = as_axes_get(&c->axes, name);
        if (!v || strcmp(v->text, value) != 0)
            return false;
    }
    return true;
}

static bool is_preferred(const struct as_cell *a, const struct as_cell *b)
{
    static const char *const more[] = {"size", "threads"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        const double x = as_axes_number(&a->axes, more[i]), y = as_axes_number(&b->axes, more[i]);
        if (isfinite(x) && isfinite(y) && x != y)
            return x > y;
    }
    return as_cell_is_better(a, b);
}

/* A buffer that is larger than the cache of a line's group ("L2") says nothing about that cache, one that a cache
 * holds nothing about memory, and a GEMM of plain multiply-adds nothing about the matrix path. */
static bool is_of_group(const struct source *s, const struct as_cell *c, const char *group)
{
    const bool cache = group[0] == 'L' && group[1] >= '1' && group[1] <= '9' && !group[2];
    const uint64_t bytes = cache && s->info ? as_info_cache(s->info, (unsigned)(group[1] - '0')) : 0;
    const double size = as_axes_number(&c->axes, "size");
    if (strcmp(group, "Matrix") == 0)
        return strcmp(as_axes_text(&c->axes, "path"), "tiled") != 0 &&
               strcmp(as_axes_text(&c->axes, "path"), "naive") != 0;
    if (strcmp(group, "Memory") == 0)
        return as_main_memory_holds(s->info, (struct as_cell_view){.v = s->run->cells, .n = s->run->cells_n}, c);
    return !bytes || !isfinite(size) || size <= (double)bytes;
}

static bool from_cells(const struct source *s, const char *filter, const char *group, struct number *out)
{
    const struct as_cell *found = NULL;
    for (size_t i = 0; i < s->run->cells_n; i++) {
        const struct as_cell *c = &s->run->cells[i];
        if (as_cell_is_valid(c) && strcmp(c->device, s->device) == 0 && matches(c, filter) &&
            is_of_group(s, c, group) && (!found || is_preferred(c, found)))
            found = c;
    }
    if (!found)
        return false;
    *out = (struct number){.value = found->sum.median,
                           .claimed = NAN,
                           .ci = found->sum.ci,
                           .wide = found->status == AS_CELL_WIDE,
                           .decided = true,
                           .trials = found->sum.trials,
                           .cell = found->id};
    as_copy_text(out->unit, sizeof out->unit, found->unit);
    return true;
}

/* from: a source, or several with '|' between them. */
static bool find(const struct source *s, const char *from, const char *group, struct number *out)
{
    char text[128], one[128];
    while (from && *from) {
        const size_t n = strcspn(from, "|");
        as_copy_text(one, n < sizeof one ? n + 1 : sizeof one, from);
        from += n + (from[n] == '|');
        if (expand(s, one, text, sizeof text) &&
            (strchr(text, ' ') ? from_cells(s, text, group, out) : from_fact(s, text, out)))
            return true;
    }
    return false;
}

static void add_text(struct as_sheet_row *row, const char *before, const struct number *n, const char *behind)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s%s%s%s", row->remark, row->remark[0] ? ", " : "", before, before[0] ? " " : "");
    if (strcmp(n->unit, "B") != 0)
        as_format_value(&b, n->value, n->unit);
    else if (isfinite(n->claimed) &&
             !n->refuted) { /* measured sizes are ranges; what is reported and agrees is exact */
        as_format_value(&b, n->claimed, n->unit);
        as_buf_str(&b, " reported");
    } else
        as_format_range(&b, n->ci.lo, n->ci.hi, n->value, n->unit, 3);
    as_buf_printf(&b, "%s%s", behind[0] ? " " : "", behind);
    as_copy_text(row->remark, sizeof row->remark, as_buf_get(&b));
    as_buf_finish(&b);
}

static void scale(struct number *n, double by, const char *unit)
{
    n->value *= by;
    n->ci.lo *= by;
    n->ci.hi *= by;
    n->claimed = NAN;
    as_copy_text(n->unit, sizeof n->unit, unit);
}

/* Converts cycles to ns, and B/cycle per compute unit to GB/s of the device, at the measured clock; the remark keeps
 * the original. */
static bool by_the_clock(const struct source *s, struct number *n, struct as_sheet_row *row)
{
    const struct number cycles = *n;
    char unit[32];
    if (!(s->clock_hz > 0))
        return false;
    if (strcmp(n->unit, "cycles") == 0) {
        add_text(row, "", &cycles, "");
        scale(n, 1e9 / s->clock_hz, "ns");
    } else if (strcmp(n->unit, "B/cycle") == 0 && s->info && s->info->compute_units) {
        expand(s, "per {unit}", unit, sizeof unit);
        add_text(row, "", &cycles, unit);
        scale(n, s->clock_hz * s->info->compute_units * 1e-9, "GB/s");
    } else
        return false;
    return true;
}

/* Facts compare a rate of arithmetic with the peak at the clock of their cell: what is specified is at the highest
 * clock. NAN where that is not known. */
static double specified_of(const struct source *s, const struct number *n, const char *group)
{
    if (strcmp(group, "Compute") != 0 || !isfinite(n->claimed))
        return n->claimed;
    const struct as_cell *cell = as_report_cell(s->run, n->cell);
    const double clock = cell ? cell->clock_hz : NAN, highest = s->info ? s->info->clock_max_hz : 0;
    return clock > 0 && highest > 0 ? n->claimed * highest / clock : n->claimed;
}

/* Its own name, and who knows of it. */
static void name_memory_side(const struct source *s, struct as_sheet_row *row)
{
    const struct as_cache *c = s->info ? as_info_memory_side(s->info) : NULL;
    char label[24];
    if (!c)
        return;
    as_cache_label(c, label);
    snprintf(row->remark, sizeof row->remark, "%s, known from %s", label, as_cache_source_text(c));
}

/* Copies between CPU and GPU cross no link where they share the memory. */
static void name_group(const struct source *s, const char *group, char *out, size_t size)
{
    const struct as_device_info *info = s->info;
    if (info && strcmp(group, "Shared memory") == 0) {
        as_copy_text(out, size, as_info_words(info)->shared_memory);
        out[0] = (char)toupper((unsigned char)out[0]);
    } else if (info && info->is_host_memory && strcmp(group, "Host link") == 0)
        as_copy_text(out, size, "Host copies");
    else
        as_copy_text(out, size, group);
}

static bool make_row(const struct source *s, const struct as_sheet_line *line, struct as_sheet_row *row)
{
    struct number n = {0}, further;
    size_t i = 0;
    while (i < AS_SHEET_SOURCES && !find(s, line->from[i], line->group, &n))
        i++;
    if (i == AS_SHEET_SOURCES || (!n.decided && strcmp(n.unit, "B") == 0)) /* a capacity that nothing confirms */
        return false;
    *row = (struct as_sheet_row){.group = line->group};
    name_group(s, line->group, row->title, sizeof row->title);
    expand(s, line->label, row->label, sizeof row->label);
    if (strcmp(line->group, AS_SHEET_MEMORY_SIDE) == 0 && strcmp(n.unit, "B") == 0)
        name_memory_side(s, row);
    const bool converted = by_the_clock(s, &n, row);
    row->value = n.value;
    row->ci = n.ci;
    row->wide = n.wide;
    row->trials = n.trials;
    row->specified = specified_of(s, &n, line->group);
    row->cell = n.cell;
    as_copy_text(row->unit, sizeof row->unit, n.unit);
    for (i = 0; i < AS_SHEET_ALSO; i++) {
        char behind[32];
        if (!line->also[i].from || !find(s, line->also[i].from, line->group, &further) ||
            (converted && as_unit_is_of_cycles(further.unit)) || !further.decided)
            continue;
        expand(s, line->also[i].behind, behind, sizeof behind);
        add_text(row, line->also[i].before, &further, behind);
    }
    return true;
}

/* What the driver says of memory holds for every way of using it, and of the link to the host in each direction. */
static double of_driver(const struct source *s, const struct as_sheet_row *row)
{
    if (!s->info || strcmp(row->unit, "GB/s") != 0)
        return NAN;
    if (strcmp(row->group, "Memory") == 0 && s->info->peak_bandwidth > 0)
        return s->info->peak_bandwidth * 1e-9;
    if (strcmp(row->group, "Host link") == 0 && s->info->bus_bandwidth > 0)
        return s->info->bus_bandwidth * (strcmp(row->label, "bidirectional") == 0 ? 2e-9 : 1e-9);
    return NAN;
}

/* The lines of a data sheet beside the measured ones: of another chip in place of all that is known of this one. */
static void add_figures(const struct source *s, struct as_sheet *sheet)
{
    for (size_t i = 0; i < sheet->n; i++) {
        struct as_sheet_row *row = &sheet->rows[i];
        if (sheet->chip[0])
            row->specified = NAN;
        else if (!isfinite(row->specified))
            row->specified = of_driver(s, row);
        if (!isfinite(row->specified) &&
            (row->specified_by = as_refs_find_line(&sheet->figures, "specified", row->group, row->label, row->unit)))
            row->specified = row->specified_by->lo;
        row->published = as_refs_find_line(&sheet->figures, "measured", row->group, row->label, row->unit);
        if (!row->published && strcmp(row->unit, "ns") == 0)
            row->published = as_refs_find_line(&sheet->figures, "measured", row->group, row->label, "cycles");
    }
}

/* A copy: a sheet may outlive the run's figures, and rows point into it. */
static enum as_status find_figures(const struct source *s, struct as_sheet *out, struct as_error *err)
{
    out->chip = s->run->chip ? s->run->chip->name : "";
    if (!s->run->chip)
        return s->info ? as_refs_of_device(s->info, &out->figures, err) : AS_OK;
    return as_refs_of_side(s->run->chip, s->device, &out->figures, err);
}

enum as_status as_sheet_make(const struct as_report_run *run, const char *device, struct as_sheet *out,
                             struct as_error *err)
{
    struct source s = {.run = run, .device = device, .info = as_report_device(run, device), .clock_hz = NAN};
    const struct as_fact *clock = as_fact_find(run->facts, run->facts_n, device, "clock.core");
    size_t cap = 0;
    *out = (struct as_sheet){0};
    if (clock)
        s.clock_hz = clock->value;
    for (const struct as_sheet_line *line = as_sheet_lines; line->group; line++) {
        enum as_status st = as_grow((void **)&out->rows, &cap, out->n + 1, sizeof *out->rows, err);
        if (st) {
            as_sheet_finish(out);
            return st;
        }
        out->n += make_row(&s, line, &out->rows[out->n]);
    }
    const enum as_status st = find_figures(&s, out, err);
    if (st)
        as_sheet_finish(out);
    else
        add_figures(&s, out);
    return st;
}

/* Ids of facts among a line's sources, apart by blanks; what names an allocator or axes is none. */
static void add_facts(const struct as_sheet_line *line, struct as_ref *ref)
{
    for (size_t i = 0; i < AS_SHEET_SOURCES; i++) {
        const char *from = line->from[i];
        while (from && *from) {
            const size_t n = strcspn(from, "|"), used = strlen(ref->fact);
            if (strcspn(from, "@ ") >= n && used + n + 2 < sizeof ref->fact)
                snprintf(ref->fact + used, sizeof ref->fact - used, "%s%.*s", used ? " " : "", (int)n, from);
            from += n + (from[n] == '|');
        }
    }
}

void as_sheet_name_facts(struct as_refs *refs)
{
    for (size_t i = 0; i < refs->n; i++) {
        struct as_ref *ref = &refs->v[i];
        for (const struct as_sheet_line *line = as_sheet_lines; line->group && ref->group[0]; line++)
            if (strcmp(line->group, ref->group) == 0 && as_ref_has_quantity(ref, line->label))
                add_facts(line, ref);
    }
}

void as_sheet_finish(struct as_sheet *s)
{
    free(s->rows);
    as_refs_finish(&s->figures);
    *s = (struct as_sheet){0};
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool as_sheet_more_is_better(const char *unit)
{
    return strcmp(unit, "B") == 0 || strcmp(unit, "Hz") == 0 || ends_in(unit, "/s") || ends_in(unit, "/cycle");
}

bool as_sheet_shows_specified(const struct as_sheet_row *row)
{
    return (strcmp(row->unit, "B") == 0 || ends_in(row->unit, "/s")) && row->specified > 0;
}

double as_sheet_share(const struct as_sheet_row *row)
{
    /* A measured size is a range: in it, it agrees. */
    const bool agrees = row->ci.lo < row->ci.hi && row->specified >= row->ci.lo && row->specified <= row->ci.hi;
    if (!as_sheet_shows_specified(row) || (agrees && strcmp(row->unit, "B") == 0))
        return NAN;
    return row->value / row->specified;
}

bool as_sheet_has_specified(const struct as_sheet *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (as_sheet_shows_specified(&s->rows[i]))
            return true;
    return false;
}

bool as_sheet_has_reported(const struct as_sheet *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (as_sheet_shows_specified(&s->rows[i]) && !s->rows[i].specified_by)
            return true;
    return false;
}

bool as_sheet_has_vendors(const struct as_sheet *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (as_sheet_shows_specified(&s->rows[i]) && s->rows[i].specified_by)
            return true;
    return false;
}

bool as_sheet_has_published(const struct as_sheet *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].published)
            return true;
    return false;
}

void as_sheet_published(const struct as_sheet_row *row, struct as_buf *out)
{
    const struct as_ref *ref = row->published;
    if (ref->hi > ref->lo)
        as_format_range(out, ref->lo, ref->hi, ref->lo, ref->unit, 3);
    else
        as_format_value(out, ref->lo, ref->unit);
}

/* Up to who quotes it: "NVIDIA, H100 data sheet, 2022" of "NVIDIA, H100 data sheet, 2022, as listed by ...". */
static size_t brief(const char *source)
{
    const char *end = strstr(source, ", as listed");
    return end ? (size_t)(end - source) : strlen(source);
}

static bool same_source(const char *a, const char *b)
{
    return brief(a) == brief(b) && strncmp(a, b, brief(a)) == 0;
}

static const char *source_of(const struct as_sheet_row *row, bool published)
{
    if (published)
        return row->published ? row->published->source : NULL;
    if (!as_sheet_shows_specified(row))
        return NULL;
    return row->specified_by ? row->specified_by->source : "driver";
}

void as_sheet_sources(const struct as_sheet *s, bool published, struct as_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++) {
        const char *source = source_of(&s->rows[i], published);
        bool before = !source;
        for (size_t k = 0; k < i && !before; k++) {
            const char *other = source_of(&s->rows[k], published);
            before = other && same_source(source, other);
        }
        if (before)
            continue;
        as_buf_str(out, any ? "; " : "");
        as_buf_add(out, source, brief(source));
        any = true;
    }
}

const struct as_sheet_row *as_sheet_find(const struct as_sheet *s, const char *group, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].group, group) == 0 && strcmp(s->rows[i].label, label) == 0)
            return &s->rows[i];
    return NULL;
}
