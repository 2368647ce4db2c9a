/* Values of the machine map: quantities by level and kind. */
#include "base/text.h"
#include "report/map/map_draw.h"
#include "report/model/same_hardware.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void as_map_numbers_find(const struct as_report_run *run, const struct as_device_info *info, struct as_map_numbers *out)
{
    const struct as_quantity_subject s = as_report_subject(run, info->id);
    *out = (struct as_map_numbers){.links_n = 0};
    find_rows(&s, out);
    find_claims(info, out);
    as_map_links_find(run, info, &s, out);
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
