#include "report/sheet/sheet_counts.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct as_quantity_source none[] = {{NULL, AS_SIDE_BOTH, NULL, NULL, NULL, NULL}};
#define COUNT(name_, group_, label_)                                                                                   \
    {                                                                                                                  \
        .name = (name_), .group = (group_), .label = (label_), .unit = "events", .kind = AS_KIND_TIME, .level = "",    \
        .sources = none                                                                                                \
    }
const struct as_quantity as_link_counts[AS_COUNTERS_N + 1] = {
    [AS_COUNTER_LINK_ERRORS] = COUNT("peer.errors", "GPU to GPU", "link errors"),
    [AS_COUNTER_LINK_REPLAYS] = COUNT("peer.replays", "GPU to GPU", "link replays"),
    [AS_COUNTER_PCIE_REPLAYS] = COUNT("host_link.replays", "Host link", "PCIe replays"),
    [AS_COUNTERS_N] = {.name = NULL},
};

size_t as_link_count_index(const struct as_quantity *q)
{
    size_t k = 0;
    while (k < AS_COUNTERS_N && q != &as_link_counts[k])
        k++;
    return k;
}

const struct as_quantity *as_link_count_named(const char *name)
{
    for (size_t k = 0; k < AS_COUNTERS_N; k++)
        if (strcmp(as_link_counts[k].name, name) == 0)
            return &as_link_counts[k];
    return NULL;
}

enum as_status as_link_counts_read(const struct as_quantity_subject *s, struct as_link_count counts[AS_COUNTERS_N],
                                   struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t k = 0; k < AS_COUNTERS_N && !st; k++) {
        struct as_counter_readings readings = {0};
        struct as_counter_growth g;
        for (size_t i = 0; i < s->cells.n && !st; i++) {
            const struct as_cell *c = s->cells.v ? &s->cells.v[i] : s->cells.p[i];
            if (strcmp(c->device, s->device) == 0)
                st = as_counters_of(c, as_counter_notes[k], &readings, err);
        }
        if (!st && as_counters_grown(&readings, &g))
            counts[k] = (struct as_link_count){.known = true, .total = g.last, .grown = g.grown};
        free(readings.v);
    }
    return st;
}

void as_link_count_number(size_t counter, double n, struct as_buf *out)
{
    const char *label = as_link_counts[counter].label;
    as_buf_printf(out, "%.0f %.*s", n, (int)strlen(label) - (n == 1), label);
}

void as_link_count_text(const struct as_sheet *s, size_t counter, struct as_buf *out)
{
    const struct as_link_count *c = &s->counts[counter];
    if (!c->known || !(c->total > 0 || c->grown > 0))
        return;
    as_link_count_number(counter, c->total, out);
    as_buf_str(out, ", ");
    if (c->grown > 0)
        as_buf_printf(out, "%.0f since the link's first trial", c->grown);
    else
        as_buf_str(out, "none since the link's first trial");
}

void as_link_counts_say(struct as_sheet *s)
{
    struct as_buf b = AS_BUF_INIT;
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        size_t at = 0;
        while (at < s->n && strcmp(s->rows[at].group, as_link_counts[k].group) != 0)
            at++;
        as_buf_clear(&b);
        as_link_count_text(s, k, &b);
        if (at == s->n || !b.len)
            continue;
        char *further = s->rows[at].further;
        const size_t n = strlen(further);
        snprintf(further + n, sizeof s->rows[at].further - n, "%s%s", n ? "; " : "", as_buf_get(&b));
    }
    as_buf_finish(&b);
}
