#include "report/sheet/sheet.h"

#include "base/text.h"
#include "facts/facts.h"
#include "model/metrics.h"
#include "quantity/quantity.h"
#include "refs/bounds.h"
#include "report/sheet/sheet_counts.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(struct as_sheet_row *row, const char *before, const struct as_quantity_value *n,
                     const char *behind)
{
    const struct as_number number = as_quantity_number(n);
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%s%s%s%s", row->further, row->further[0] ? ", " : "", before, before[0] ? " " : "");
    if (strcmp(n->unit, "B") == 0 && isfinite(n->claimed) && !n->refuted) { /* exact where the measured range agrees */
        as_format_value(&b, n->claimed, n->unit);
        as_buf_str(&b, " reported");
    } else
        as_number_brief(&number, &b);
    as_buf_printf(&b, "%s%s", behind[0] ? " " : "", behind);
    as_copy_text(row->further, sizeof row->further, as_buf_get(&b));
    as_buf_finish(&b);
}

/* What the clock made ns or GB/s of, as it was counted: "32.0 cycles", "128 B/cycle per SM". */
static void sheet_set_counted(double counted, const char *unit, const char *per, struct as_sheet_row *row)
{
    row->counted = counted;
    if (isfinite(counted))
        snprintf(row->counted_unit, sizeof row->counted_unit, "%.16s%.15s", unit, per);
}

static void set_counted(const struct as_quantity_subject *s, const struct as_quantity_value *n,
                        struct as_sheet_row *row)
{
    char per[32];
    as_quantity_expand(s, strcmp(n->counted_unit, "cycles") == 0 ? "" : " per {unit}", per, sizeof per);
    sheet_set_counted(n->counted, n->counted_unit, per, row);
}

void as_sheet_details(const struct as_sheet_row *row, struct as_buf *out)
{
    const struct as_number n = as_sheet_number(row), counted = as_number_counted(&n, row->counted, row->counted_unit);
    const bool is_counted = isfinite(row->counted) && as_number_is_said(&n);
    as_buf_str(out, row->remark);
    if (is_counted) {
        as_buf_str(out, row->remark[0] ? ", " : "");
        as_number_brief(&counted, out);
    }
    if (row->further[0])
        as_buf_printf(out, "%s%s", row->remark[0] || is_counted ? ", " : "", row->further);
}

/* Its own name, and who knows of it. */
static void name_memory_side(const struct as_quantity_subject *s, struct as_sheet_row *row)
{
    const struct as_cache *c = s->info ? as_info_memory_side(s->info) : NULL;
    char label[24];
    if (!c)
        return;
    as_cache_label(c, label);
    snprintf(row->remark, sizeof row->remark, "%s, known from %s", label, as_cache_source_text(c));
}

/* Copies between CPU and GPU cross no link where they share the memory. */
static void name_group(const struct as_quantity_subject *s, const char *group, char *out, size_t size)
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

/* A line's label and title, and where it stands. */
static void sheet_name_row(const struct as_quantity_subject *s, const struct as_quantity *q, struct as_sheet_row *row)
{
    *row = (struct as_sheet_row){.group = q->group, .of = q, .counted = NAN};
    name_group(s, q->group, row->title, sizeof row->title);
    as_quantity_expand(s, q->label, row->label, sizeof row->label);
    as_quantity_label(s, q, NULL, row->shown, sizeof row->shown);
}

/* to: 192 characters of a row */
static void sheet_add_word(char *to, const char *word)
{
    const size_t n = strlen(to), size = sizeof((struct as_sheet_row *)0)->remark;
    if (word && word[0])
        snprintf(to + n, size - n, "%s%s", n ? ", " : "", word);
}

/* Quantities whose place is the remark of this line. */
static void sheet_add_further(const struct as_quantity_subject *s, const struct as_quantity *line,
                              const struct as_quantity_value *n, struct as_sheet_row *row)
{
    struct as_quantity_value further;
    struct as_buf reason = AS_BUF_INIT;
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        char behind[72];
        if (q->beside != line || as_quantity_find(s, q, &further, &reason) != AS_QUANTITY_FOUND ||
            (further.cell && further.cell == row->cell) || !further.decided)
            continue;
        if (as_unit_is_of_cycles(further.unit) && strcmp(n->unit, "ns") == 0) { /* the same number, counted */
            if (!isfinite(row->counted))
                sheet_set_counted(further.value, further.unit, "", row);
            continue;
        }
        as_quantity_expand(s, q->behind, behind, sizeof behind);
        if (further.named[0] && !behind[0] && strcmp(further.named, n->named) != 0)
            snprintf(behind, sizeof behind, "(%.*s)", (int)sizeof behind - 3, further.named);
        add_text(row, further.source->said ? further.source->said : q->before, &further, behind);
    }
    as_buf_finish(&reason);
}

/* Who multiplied, "cuBLASLt 13.1.2" or "by wgmma", and what the device did meanwhile: "1.75 GHz, power cap". */
static void describe_gemm(const struct as_cell *cell, double clock_max_hz, struct as_sheet_row *row)
{
    static const double full = 0.99, beyond = 1.01; /* of the highest clock: not slowed down; an error of the reading */
    json_t *detail = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    const char *library = json_string_value(json_object_get(detail, "library"));
    const char *throttled = json_string_value(json_object_get(detail, "throttled_by"));
    struct as_buf b = AS_BUF_INIT;
    if (library)
        as_buf_add(&b, library, strcspn(library, ","));
    else {
        const char *instruction = json_string_value(json_object_get(detail, "instruction"));
        if (instruction) /* "vpdpbusd_512_u8_s8_s32" */
            as_buf_printf(&b, "by %.*s", (int)strcspn(instruction, "_"), instruction);
        else
            as_buf_printf(&b, "by %s", as_axes_text(&cell->axes, "path"));
    }
    struct as_metric_value power;
    if (cell->clock_hz > 0 && !(cell->clock_hz > beyond * clock_max_hz && clock_max_hz > 0)) {
        as_buf_str(&b, ", ");
        as_format_value(&b, cell->clock_hz, "Hz");
    }
    if (strcmp(as_axes_text(&cell->axes, "hold"), "sustained") == 0 && as_cell_power(cell, &power))
        as_buf_printf(&b, ", %.0f W", power.value); /* a burst is shorter than the sensor's mean */
    if (throttled && !(cell->clock_hz > full * clock_max_hz && clock_max_hz > 0))
        as_buf_printf(&b, ", %s", throttled);
    as_copy_text(row->remark, sizeof row->remark, as_buf_get(&b));
    as_buf_finish(&b);
    json_decref(detail);
}

/* How the number follows the core's clock, as was found for its cell; a size does not, though it follows from latencies
 * that do. What was converted from cycles was so by another clock than that to which cells are normalised. */
static double exponent_of(const struct as_report_run *run, const struct as_quantity_subject *s,
                          const struct as_quantity_value *n)
{
    const int64_t id = n->cell ? n->cell : n->fact && n->fact->evidence_n ? n->fact->evidence[0] : 0;
    const struct as_cell *cell = as_report_cell(run, id);
    const bool is_counted = isfinite(n->counted), is_clock = strcmp(n->unit, "Hz") == 0;
    const bool may_follow = !is_counted && !is_clock && n->of->kind != AS_KIND_CAPACITY;
    return cell && may_follow && as_quantity_is_of_side(s, AS_SIDE_CPU) ? cell->exponent : NAN;
}

/* "52 GB/s in 53% of samples, 82 GB/s in 47%" */
static void sheet_say_modes(const struct as_quantity_value *v, struct as_sheet_row *row)
{
    const struct as_number n = as_quantity_number(v);
    struct as_buf b = AS_BUF_INIT;
    if (as_number_form(&n) == AS_NUMBER_MODES)
        as_number_text(&n, &b);
    sheet_add_word(row->remark, as_buf_get(&b));
    as_buf_finish(&b);
}

/* What a guest's L3 holds is also up to the guests beside it. */
static void sheet_say_neighbours(const struct as_quantity_subject *s, struct as_sheet_row *row)
{
    const struct as_number n = as_sheet_number(row);
    const enum as_number_form form = as_number_form(&n);
    const bool is_wide = form == AS_NUMBER_RANGE || form == AS_NUMBER_MODES || form == AS_NUMBER_NOISY;
    if (strcmp(row->of->level, "L3") == 0 && row->of->kind != AS_KIND_CAPACITY && s->info && is_wide &&
        (s->info->virtual_machine || s->info->hypervisor[0]) && as_quantity_is_of_side(s, AS_SIDE_CPU))
        sheet_add_word(row->further, "by the neighbours' load");
}

static void sheet_say_other_peers(const struct as_quantity_subject *s, const struct as_quantity_value *v,
                                  struct as_sheet_row *row)
{
    struct as_buf b = AS_BUF_INIT;
    as_quantity_other_peers(s, v, &b);
    sheet_add_word(row->remark, as_buf_get(&b));
    as_buf_finish(&b);
}

static void fill_row(const struct as_report_run *run, const struct as_quantity_subject *s,
                     const struct as_quantity_value *n, struct as_sheet_row *row)
{
    char said[64];
    as_quantity_label(s, n->of, n->source, row->shown, sizeof row->shown);
    if (strcmp(n->of->group, AS_SHEET_MEMORY_SIDE) == 0 && n->of->kind == AS_KIND_CAPACITY)
        name_memory_side(s, row);
    if (strcmp(n->of->group, "Matrix") == 0 && n->cell)
        describe_gemm(as_report_cell(run, n->cell), s->info ? s->info->clock_max_hz : 0, row);
    as_quantity_expand(s, n->source->said ? n->source->said : "", said, sizeof said);
    sheet_say_modes(n, row);
    sheet_add_word(row->remark, n->on_small_pages ? "huge pages refused, base pages" : said);
    sheet_add_word(row->remark, n->named);
    sheet_say_other_peers(s, n, row);
    set_counted(s, n, row);
    row->value = n->value;
    row->ci = n->ci;
    row->wide = n->wide;
    row->trials = n->trials;
    row->tried = n->tried;
    row->modes = n->modes;
    row->of_runs = n->of_runs;
    row->mode[0] = n->mode[0];
    row->mode[1] = n->mode[1];
    row->mode_share0 = n->mode_share0;
    row->clock_exponent = exponent_of(run, s, n);
    row->specified = n->claimed;
    row->cell = n->cell;
    as_copy_text(row->fact, sizeof row->fact, n->fact ? n->fact->id : "");
    as_copy_text(row->unit, sizeof row->unit, n->unit);
    sheet_add_further(s, n->of, n, row);
    sheet_say_neighbours(s, row);
}

static void sheet_add_gap(const struct as_sheet_row *of, const char *reason, enum as_quantity_found found,
                          struct as_sheet *out)
{
    struct as_sheet_gap *gap = &out->gaps[out->gaps_n++];
    *gap = (struct as_sheet_gap){.group = of->group,
                                 .of = of->of,
                                 .not_asked = found == AS_QUANTITY_NOT_IN_SUITE,
                                 .undecided = found == AS_QUANTITY_UNDECIDED};
    as_copy_text(gap->title, sizeof gap->title, of->title);
    as_copy_text(gap->label, sizeof gap->label, of->label);
    as_copy_text(gap->shown, sizeof gap->shown, of->shown);
    as_copy_text(gap->reason, sizeof gap->reason, reason);
}

/* Load does not make memory faster: a loaded latency all below the idle one on the same pages is no number. */
static bool is_below_idle(const struct as_report_run *run, const struct as_quantity_subject *s,
                          const struct as_sheet *sheet, const struct as_sheet_row *row, char *why, size_t size)
{
    const struct as_cell *cell = as_report_cell(run, row->cell);
    const char *allocator = cell ? as_axes_text(&cell->axes, "allocator") : "";
    const bool on_base = as_allocator_role(s->device, allocator) == AS_ROLE_BASE_PAGES;
    const struct as_sheet_row *idle = as_sheet_row_of(sheet, on_base ? "memory.latency.base_pages" : "memory.latency");
    if (strcmp(row->of->name, "memory.latency.loaded") != 0 || !idle || strcmp(idle->unit, row->unit) != 0 ||
        !(row->ci.hi < idle->ci.lo))
        return false;
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "unsteady: ");
    const struct as_number loaded = as_sheet_number(row), unloaded = as_sheet_number(idle);
    as_number_text(&loaded, &b);
    as_buf_str(&b, ", below the idle ");
    as_number_text(&unloaded, &b);
    as_copy_text(why, size, as_buf_get(&b));
    as_buf_finish(&b);
    return true;
}

/* What is reported of a cache whose capacity is not known stands with the reason. */
static void sheet_say_undecided(const struct as_quantity_subject *s, const struct as_quantity *q, char *why,
                                size_t size)
{
    const uint64_t bytes = s->info && q->level[0] == 'L' ? as_info_cache(s->info, (unsigned)(q->level[1] - '0')) : 0;
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, why);
    if (bytes) {
        as_buf_str(&b, "; ");
        as_format_size(&b, bytes);
        as_buf_str(&b, " reported");
    }
    as_copy_text(why, size, as_buf_get(&b));
    as_buf_finish(&b);
}

static void sheet_add_line(const struct as_report_run *run, const struct as_quantity_subject *s,
                           const struct as_quantity *q, struct as_sheet *out)
{
    struct as_sheet_row *row = &out->rows[out->n];
    struct as_quantity_value n;
    struct as_buf reason = AS_BUF_INIT;
    char why[sizeof((struct as_sheet_gap *)0)->reason] = "";
    sheet_name_row(s, q, row);
    const enum as_quantity_found found = as_quantity_find(s, q, &n, &reason);
    as_copy_text(why, sizeof why, as_buf_get(&reason));
    as_buf_finish(&reason);
    if (found == AS_QUANTITY_FOUND)
        fill_row(run, s, &n, row);
    else if (found == AS_QUANTITY_UNDECIDED && q->kind == AS_KIND_CAPACITY)
        sheet_say_undecided(s, q, why, sizeof why);
    if (found == AS_QUANTITY_FOUND && !is_below_idle(run, s, out, row, why, sizeof why)) {
        as_sheet_say_unsteady(run, s->device, row);
        out->n++;
    } else if (as_quantity_is_expected(s, q))
        sheet_add_gap(row, why, found, out);
}

/* What a vendor specifies of a type of the matrix units is beside each way of using them: "FP16" of "FP16 sustained".
 */
static const char *specified_label(const struct as_sheet_row *row, char out[sizeof row->label])
{
    as_copy_text(out, sizeof row->label, row->label);
    if (row->group && strcmp(row->group, "Matrix") == 0)
        out[strcspn(out, " ")] = '\0';
    return out;
}

/* What the driver reports of the hardware, if by another API than the device's. */
static double reported_of(const struct as_report_run *run, const struct as_device_info *info,
                          const struct as_sheet_row *row)
{
    char how[96];
    double reported = as_reported_line(info, row->group, row->label, row->unit);
    for (size_t i = 0; info && i < run->devices_n && !isfinite(reported); i++)
        if (as_info_same_hardware(&run->devices[i], info, how, sizeof how))
            reported = as_reported_line(&run->devices[i], row->group, row->label, row->unit);
    return reported;
}

/* The lines of a data sheet beside the measured ones: of another chip in place of all that is known of this one. */
static void add_figures(const struct as_report_run *run, const struct as_quantity_subject *s, struct as_sheet *sheet)
{
    for (size_t i = 0; i < sheet->n; i++) {
        struct as_sheet_row *row = &sheet->rows[i];
        char label[sizeof row->label];
        if (sheet->chip[0])
            row->specified = NAN;
        else if (!isfinite(row->specified))
            row->specified = reported_of(run, s->info, row);
        if (!isfinite(row->specified) &&
            (row->specified_by =
                 as_refs_find_line(&sheet->figures, "specified", row->group, specified_label(row, label), row->unit)))
            row->specified = row->specified_by->lo;
        row->published = as_refs_find_line(&sheet->figures, "measured", row->group, row->label, row->unit);
        if (!row->published && strcmp(row->unit, "ns") == 0)
            row->published = as_refs_find_line(&sheet->figures, "measured", row->group, row->label, "cycles");
    }
}

/* A copy: a sheet may outlive the run's figures, and rows point into it. */
static enum as_status find_figures(const struct as_report_run *run, const struct as_quantity_subject *s,
                                   struct as_sheet *out, struct as_error *err)
{
    out->chip = run->chip ? run->chip->name : "";
    if (!run->chip)
        return s->info ? as_refs_of_device(s->info, &out->figures, err) : AS_OK;
    return as_refs_of_side(run->chip, s->device, &out->figures, err);
}

static enum as_status make_space(struct as_sheet *out, struct as_error *err)
{
    size_t lines = 0;
    while (as_quantities[lines].name)
        lines++;
    out->rows = calloc(lines + 1, sizeof *out->rows);
    out->gaps = calloc(lines + 1, sizeof *out->gaps);
    return out->rows && out->gaps ? AS_OK : as_nomem(err, lines * sizeof *out->rows, "a data sheet");
}

enum as_status as_sheet_make(const struct as_report_run *run, const char *device, struct as_sheet *out,
                             struct as_error *err)
{
    const struct as_quantity_subject s = as_report_subject(run, device);
    *out = (struct as_sheet){0};
    enum as_status st = make_space(out, err);
    for (const struct as_quantity *q = as_quantities; q->name && !st; q++)
        if (!q->beside)
            sheet_add_line(run, &s, q, out);
    if (!st)
        st = find_figures(run, &s, out, err);
    if (!st && !(st = as_link_counts_read(&s, out->counts, err)))
        as_link_counts_say(out);
    if (st)
        as_sheet_finish(out);
    else
        add_figures(run, &s, out);
    return st;
}

/* Ids of facts that a line's sources are or stand for, apart by blanks; what names an allocator is none. */
static void sheet_add_facts(const struct as_quantity *q, struct as_ref *ref)
{
    for (const struct as_quantity_source *source = q->sources; source->from; source++) {
        const char *id = source->fact ? source->fact : source->from;
        const size_t used = strlen(ref->fact);
        if (!strpbrk(id, "@ ") && !strstr(ref->fact, id) && used + strlen(id) + 2 < sizeof ref->fact)
            snprintf(ref->fact + used, sizeof ref->fact - used, "%s%s", used ? " " : "", id);
    }
}

void as_sheet_name_facts(struct as_refs *refs)
{
    for (size_t i = 0; i < refs->n; i++) {
        struct as_ref *ref = &refs->v[i];
        for (const struct as_quantity *q = as_quantities; q->name && ref->group[0]; q++)
            if (!q->beside && strcmp(q->group, ref->group) == 0 && as_ref_has_quantity(ref, q->label))
                sheet_add_facts(q, ref);
    }
}

void as_sheet_finish(struct as_sheet *s)
{
    free(s->rows);
    free(s->gaps);
    as_refs_finish(&s->figures);
    *s = (struct as_sheet){0};
}

const struct as_sheet_row *as_sheet_find(const struct as_sheet *s, const char *group, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].group, group) == 0 && strcmp(s->rows[i].label, label) == 0)
            return &s->rows[i];
    return NULL;
}

const struct as_sheet_row *as_sheet_row_of(const struct as_sheet *s, const char *quantity)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].of->name, quantity) == 0)
            return &s->rows[i];
    return NULL;
}

bool as_sheet_next(const struct as_sheet *s, size_t *row, size_t *gap, struct as_sheet_entry *out)
{
    while (*gap < s->gaps_n && !s->gaps[*gap].reason[0])
        ++*gap;
    *out = (struct as_sheet_entry){*row < s->n ? &s->rows[*row] : NULL, *gap < s->gaps_n ? &s->gaps[*gap] : NULL};
    if (out->row && out->gap && out->row->of < out->gap->of)
        out->gap = NULL;
    else if (out->gap)
        out->row = NULL;
    *row += out->row != NULL;
    *gap += out->gap != NULL;
    return out->row || out->gap;
}

static bool has_group(const struct as_sheet *s, const char *group)
{
    bool has = false;
    for (size_t i = 0; i < s->n; i++)
        has |= strcmp(s->rows[i].group, group) == 0;
    for (size_t i = 0; i < s->gaps_n; i++)
        has |= s->gaps[i].reason[0] && strcmp(s->gaps[i].group, group) == 0;
    return has;
}

/* Lines of a group from gap i on that the suite does not measure. */
static size_t not_in_suite_of_group(const struct as_sheet *s, size_t i)
{
    const char *group = s->gaps[i].group;
    size_t n = 0;
    for (; i < s->gaps_n && strcmp(s->gaps[i].group, group) == 0; i++)
        n += !s->gaps[i].reason[0];
    return n;
}

/* A cache level has other results than lines of the sheet, such as triad, which its name would deny. */
static bool is_named_whole(const struct as_sheet *s, const struct as_sheet_gap *gap)
{
    const char *level = gap->of->level;
    return !has_group(s, gap->group) && !(level[0] == 'L' && level[1] >= '0' && level[1] <= '9');
}

void as_sheet_not_in_suite(const struct as_sheet *s, struct as_buf *out)
{
    enum { NAMED_MAX = 5 };
    const char *lead = "";
    for (size_t i = 0, left = 0, n = 0; i < s->gaps_n; i++) {
        const struct as_sheet_gap *gap = &s->gaps[i];
        if (gap->reason[0])
            continue;
        const bool first = left == 0;
        if (first)
            left = n = not_in_suite_of_group(s, i);
        left--;
        const bool whole = is_named_whole(s, gap);
        if ((whole || n > NAMED_MAX) && !first)
            continue;
        as_buf_printf(out, "%s%s", lead, first ? gap->title : "");
        if (!whole && n > NAMED_MAX)
            as_buf_printf(out, " (%zu %slines)", n, has_group(s, gap->group) ? "other " : "");
        else if (!whole)
            as_buf_printf(out, "%s%s", first ? " " : "", gap->shown);
        lead = "; ";
    }
}
