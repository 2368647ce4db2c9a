/* What a line of the data sheet shows beside its number: specified and published figures, shares and sources. */
#include "base/text.h"
#include "model/number.h"
#include "report/sheet/sheet.h"

#include <math.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool as_sheet_shows_specified(const struct as_sheet_row *row)
{
    return (strcmp(row->unit, "B") == 0 || ends_in(row->unit, "/s")) && row->specified > 0;
}

struct as_number as_sheet_number(const struct as_sheet_row *row)
{
    return (struct as_number){.value = row->value,
                              .ci = row->ci,
                              .unit = row->unit,
                              .trials = row->trials,
                              .tried = row->tried,
                              .modes = row->modes,
                              .of_runs = row->of_runs,
                              .mode = {row->mode[0], row->mode[1]},
                              .share0 = row->mode_share0};
}

double as_sheet_share(const struct as_sheet_row *row)
{
    static const double most = 1.02; /* as for the gate limit */
    const struct as_number n = as_sheet_number(row);
    const enum as_number_form form = as_number_form(&n);
    if (!as_sheet_shows_specified(row) || strcmp(row->unit, "B") == 0 || row->value > most * row->specified ||
        (form != AS_NUMBER_VALUE && form != AS_NUMBER_ONE_TRIAL))
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
static size_t sheet_brief(const char *source)
{
    const char *end = strstr(source, ", as listed");
    return end ? (size_t)(end - source) : strlen(source);
}

static bool same_source(const char *a, const char *b)
{
    return sheet_brief(a) == sheet_brief(b) && strncmp(a, b, sheet_brief(a)) == 0;
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
        as_buf_add(out, source, sheet_brief(source));
        any = true;
    }
}
