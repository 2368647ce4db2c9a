/* The cells that quantities name, compared with what the probes measure. */
#include "probe/probe.h"
#include "quantity/quantity.h"

static bool check_is_word(const char *const *words, const char *value)
{
    while (words && *words && strcmp(*words, value) != 0)
        words++;
    return words && *words;
}

/* Can the axis have the value, or the allocator of the role that it names? */
static bool can_be(const struct as_axis *axis, const char *value)
{
    if (strcmp(value, "@all") == 0)
        return axis->domain == AS_DOMAIN_THREADS;
    if (strcmp(value, "@peer") == 0)
        return strcmp(axis->name, "peer") == 0;
    if (axis->domain == AS_DOMAIN_ALLOCATOR)
        return (value[0] == '@' && as_role_find(value + 1) != AS_ROLE_UNKNOWN) || check_is_word(axis->words, value);
    return axis->type == AS_AXIS_WORD ? check_is_word(axis->words, value)
                                      : value[0] && !value[strspn(value, "0123456789")];
}

static enum as_status check_axis(const struct as_quantity *q, const struct as_probe *probe, const char *condition,
                                 size_t n, struct as_error *err)
{
    char name[64];
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, condition);
    char *value = strchr(name, '=');
    if (!value)
        return as_fail(err, AS_FAILED, "quantity '%s': '%s' is not axis=value", q->name, name);
    *value++ = '\0';
    const struct as_axis *axis = as_probe_axis(probe, name);
    if (!axis)
        return as_fail(err, AS_FAILED, "quantity '%s': probe '%s' has no axis '%s'", q->name, probe->name, name);
    if (!can_be(axis, value))
        return as_fail(err, AS_FAILED, "quantity '%s': axis '%s' of probe '%s' has no value '%s'", q->name, name,
                       probe->name, value);
    return AS_OK;
}

/* "PROBE axis=value ..." */
static enum as_status check_cells(const struct as_quantity *q, const char *cells, struct as_error *err)
{
    char name[32];
    size_t n = strcspn(cells, " ");
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, cells);
    const struct as_probe *probe = as_probe_find(name);
    if (!probe)
        return as_fail(err, AS_FAILED, "quantity '%s': unknown probe '%s'", q->name, name);
    enum as_status st = AS_OK;
    for (cells += n; *cells && !st; cells += n) {
        cells += strspn(cells, " ");
        n = strcspn(cells, " ");
        st = check_axis(q, probe, cells, n, err);
    }
    return st;
}

enum as_status as_quantities_check(const struct as_quantity *table, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (const struct as_quantity *q = table; q->name && !st; q++) {
        for (const char *const *cells = q->bounds; *cells && !st; cells++)
            st = check_cells(q, *cells, err);
        for (const struct as_quantity_source *s = q->sources; s->from && !st; s++) {
            const bool is_fact = !strchr(s->from, ' ');
            const char *cells = is_fact ? s->cells : s->from;
            st = cells ? check_cells(q, cells, err) : AS_OK;
        }
    }
    return st;
}
