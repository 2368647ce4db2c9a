#include "tests/quantity/table_check.h"

#include "facts/relations.h"
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

static bool check_is_word(const char *const *words, const char *value)
{
    while (words && *words && strcmp(*words, value) != 0)
        words++;
    return words && *words;
}

static bool is_whole(const char *value)
{
    return value[0] && !value[strspn(value, "0123456789")];
}

/* Can the axis have each of the values ("read,dot") or the places of a bound? */
static bool can_be_bound(const struct as_axis *axis, char *values)
{
    char *save = NULL;
    for (const char *value = strtok_r(values, ",", &save); value; value = strtok_r(NULL, ",", &save)) {
        const bool is_place = strcmp(value, "@own") == 0 || strcmp(value, "@of_host") == 0;
        if (is_place                        ? axis->domain != AS_DOMAIN_ALLOCATOR
            : strcmp(value, "@memory") == 0 ? axis->type != AS_AXIS_SIZE
            : strcmp(value, "@peer") == 0   ? strcmp(axis->name, "peer") != 0
            : axis->type == AS_AXIS_COUNT   ? !is_whole(value)
                                            : !check_is_word(axis->words, value))
            return false;
    }
    return true;
}

/* Can the axis have the value, or the allocator of the role that it names? */
static bool can_be(const struct as_axis *axis, const char *value)
{
    if (strcmp(value, "@every") == 0)
        return axis->type != AS_AXIS_WORD;
    if (strcmp(value, AS_QUANTITY_WORST) == 0)
        return axis->type == AS_AXIS_WORD && check_is_word(axis->words, "none");
    if (strcmp(value, "@all") == 0)
        return axis->domain == AS_DOMAIN_THREADS;
    if (strcmp(value, "@peer") == 0)
        return strcmp(axis->name, "peer") == 0;
    if (axis->domain == AS_DOMAIN_ALLOCATOR)
        return (value[0] == '@' && as_role_find(value + 1) != AS_ROLE_UNKNOWN) || check_is_word(axis->words, value);
    return axis->type == AS_AXIS_WORD ? check_is_word(axis->words, value) : is_whole(value);
}

/* Can it have each of them ("touch-again,touch-mapped")? */
static bool can_be_each(const struct as_axis *axis, char *values)
{
    char *save = NULL;
    for (const char *value = strtok_r(values, ",", &save); value; value = strtok_r(NULL, ",", &save))
        if (!can_be(axis, value))
            return false;
    return values[0];
}

/* What names the cells, for messages. */
struct namer {
    const char *kind, *name;
    bool is_bound;
};

static enum as_status check_axis(const struct namer *of, const struct as_probe *probe, const char *condition, size_t n,
                                 struct as_error *err)
{
    char name[64], values[64];
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, condition);
    char *value = strchr(name, '=');
    if (!value)
        return as_fail(err, AS_FAILED, "%s '%s': '%s' is not axis=value", of->kind, of->name, name);
    *value++ = '\0';
    const struct as_axis *axis = as_probe_axis(probe, name);
    if (!axis)
        return as_fail(err, AS_FAILED, "%s '%s': probe '%s' has no axis '%s'", of->kind, of->name, probe->name, name);
    as_copy_text(values, sizeof values, value);
    if (!(of->is_bound ? can_be_bound(axis, values) : can_be_each(axis, values)))
        return as_fail(err, AS_FAILED, "%s '%s': axis '%s' of probe '%s' has no value '%s'", of->kind, of->name, name,
                       probe->name, value);
    return AS_OK;
}

/* "PROBE axis=value ..." */
static enum as_status check_cells(const struct namer *of, const char *cells, struct as_error *err)
{
    char name[32];
    size_t n = strcspn(cells, " ");
    as_copy_text(name, n < sizeof name ? n + 1 : sizeof name, cells);
    const struct as_probe *probe = as_probe_find(name);
    if (!probe)
        return as_fail(err, AS_FAILED, "%s '%s': unknown probe '%s'", of->kind, of->name, name);
    enum as_status st = AS_OK;
    for (cells += n; *cells && !st; cells += n) {
        cells += strspn(cells, " ");
        n = strcspn(cells, " ");
        st = check_axis(of, probe, cells, n, err);
    }
    return st;
}

/* Can facts have the id? The allocator of a role may be any. */
static enum as_status check_fact(const struct namer *of, const char *id, struct as_error *err)
{
    char glob[128];
    const char *role = strchr(id, '@');
    snprintf(glob, sizeof glob, "%.*s%s", role ? (int)(role - id) : (int)sizeof glob, id, role ? "*" : "");
    return as_fact_ids_exist(glob) ? AS_OK
                                   : as_fail(err, AS_FAILED, "%s '%s': no fact can be '%s'", of->kind, of->name, id);
}

static enum as_status check_source(const struct as_quantity *q, const struct as_quantity_source *s,
                                   struct as_error *err)
{
    const struct namer of = {"quantity", q->name, false};
    const bool is_fact = !strchr(s->from, ' ');
    const char *cells = is_fact ? s->cells : s->from, *fact = is_fact ? s->from : s->fact;
    const enum as_status st = fact ? check_fact(&of, fact, err) : AS_OK;
    return st || !cells ? st : check_cells(&of, cells, err);
}

enum as_status table_check(const struct as_quantity *table, const struct as_bound_line *bounds, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (const struct as_bound_line *b = bounds; b->cells && !st; b++)
        st = check_cells(&(struct namer){"bound of", b->label, true}, b->cells, err);
    for (const struct as_quantity *q = table; q->name && !st; q++)
        for (const struct as_quantity_source *s = q->sources; s->from && !st; s++)
            st = check_source(q, s, err);
    return st;
}
