/* Look-ups in the table of quantities. */
#include "quantity/quantity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct as_quantity *as_quantity_named(const char *name)
{
    const struct as_quantity *q = as_quantities;
    while (q->name && strcmp(q->name, name) != 0)
        q++;
    return q->name ? q : NULL;
}

bool as_quantity_lower_is_better(const struct as_quantity *q)
{
    return q->kind == AS_KIND_LATENCY || q->kind == AS_KIND_TIME || q->kind == AS_KIND_RATIO;
}

bool as_quantity_has_unit(const struct as_quantity *q, const char *unit)
{
    /* what stands for a unit where no clock is known, or where a type is no float */
    static const char *const stands_for[][2] = {
        {"ns", "cycles"}, {"GB/s", "B/cycle"}, {"FLOP/s", "OP/s"}, {"FLOP/cycle", "OP/cycle"}};
    bool has = strcmp(q->unit, unit) == 0;
    for (size_t i = 0; i < sizeof stands_for / sizeof *stands_for && !has; i++)
        has = strcmp(q->unit, stands_for[i][0]) == 0 && strcmp(unit, stands_for[i][1]) == 0;
    return has;
}

/* "{unit}" stands for a device's word, the same one at each place. */
static bool is_label(const char *pattern, const char *label, bool any_case)
{
    static const char unit[] = "{unit}";
    const char *word = NULL;
    size_t word_n = 0;
    for (; *pattern; pattern++, label++) {
        if (strncmp(pattern, unit, strlen(unit)) == 0) {
            const char *end = strstr(label, " to ");
            const size_t n = end ? (size_t)(end - label) : strlen(label);
            if (!n || (word && (n != word_n || strncasecmp(word, label, n) != 0)))
                return false;
            word = label;
            word_n = n;
            pattern += strlen(unit) - 1;
            label += n - 1;
        } else if (*pattern != *label &&
                   !(any_case && tolower((unsigned char)*pattern) == tolower((unsigned char)*label)))
            return false;
    }
    return !*label;
}

const struct as_quantity *as_quantity_of_line(const char *group, const char *label)
{
    for (const struct as_quantity *q = as_quantities; q->name && group && label; q++)
        if (!q->beside && strcmp(q->group, group) == 0 && is_label(q->label, label, false))
            return q;
    return NULL;
}

bool as_quantity_is_called(const struct as_quantity *q, const char *text)
{
    const size_t n = strlen(q->group);
    return strcasecmp(q->name, text) == 0 || is_label(q->label, text, true) ||
           (strncasecmp(q->group, text, n) == 0 && text[n] == ' ' && is_label(q->label, text + n + 1, true));
}

bool as_quantity_is_meant(const struct as_quantity *q, const char *text)
{
    return text[0] &&
           (as_quantity_is_called(q, text) || strcasecmp(q->group, text) == 0 || strcasecmp(q->level, text) == 0);
}

bool as_quantity_any_is_meant(const char *text)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        if (as_quantity_is_meant(q, text))
            return true;
    return false;
}

static bool is_of_all_threads(const struct as_quantity_source *source)
{
    static const char all[] = "threads=@all";
    return strstr(source->from, all) || (source->cells && strstr(source->cells, all));
}

void as_quantity_label(const struct as_quantity_subject *s, const struct as_quantity *q,
                       const struct as_quantity_source *source, char *out, size_t size)
{
    const struct as_quantity_source *from = source ? source : q->sources;
    while (!source && from->from && !as_quantity_is_of_side(s, from->side))
        from++;
    as_quantity_expand(s, q->label, out, size);
    const size_t n = strlen(out);
    if (s->info && from->from && as_quantity_is_of_side(s, AS_SIDE_CPU) && is_of_all_threads(from))
        snprintf(out + n, size - n, ", %u thread%s", s->info->threads, s->info->threads == 1 ? "" : "s");
}
