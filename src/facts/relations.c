/* What facts state, and the ids that people see: the only place that makes ids or takes them apart. */
#include "facts/relations.h"

#include "base/buf.h"
#include "base/text.h"
#include "facts/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct relation {
    const char *id, *object, *unit;
    enum as_fact_states states;
} relations[] = {
#define RELATION(name, id, object, unit, states) [AS_FACT_##name] = {id, object, unit, AS_STATES_##states},
#include "facts/relations.inc"
#undef RELATION
};

static const struct field {
    const char *name;
    size_t at;       /* in struct as_fact_fields */
    const char *set; /* "cpu|device"; NULL: open */
} fields[] = {
#define FIELD(NAME, name, set) [AS_FIELD_##NAME] = {#name, offsetof(struct as_fact_fields, name), set},
    AS_FACT_FIELDS(FIELD)
#undef FIELD
};

static const char *given_value(const struct as_fact_fields *by, size_t field)
{
    const char *value = NULL;
    if (by)
        memcpy(&value, (const char *)by + fields[field].at, sizeof value);
    return value;
}

/* AS_FACT_FIELDS_N where no field has that name. */
static size_t field_of(const char *name, size_t len)
{
    size_t i = 0;
    while (i < AS_FACT_FIELDS_N && !(strlen(fields[i].name) == len && strncmp(fields[i].name, name, len) == 0))
        i++;
    return i;
}

const char *as_fact_field(const struct as_fact *f, enum as_fact_field field)
{
    return f->values + f->at[field];
}

const char *as_fact_field_named(const struct as_fact *f, const char *name, size_t len)
{
    const size_t field = field_of(name, len);
    return field < AS_FACT_FIELDS_N ? as_fact_field(f, (enum as_fact_field)field) : "?";
}

static void set_field(struct as_fact *f, size_t field, const char *value)
{
    const size_t used = f->values_n ? f->values_n : 1; /* the first byte is the empty value */
    if (f->at[field] || !value || !value[0] || used >= sizeof f->values)
        return;
    as_copy_text(f->values + used, sizeof f->values - used, value);
    f->at[field] = (uint8_t)used;
    f->values_n = used + strlen(f->values + used) + 1;
}

/* The next field of an id at or after a position; *after points past it. AS_FACT_FIELDS_N: there is none. */
static size_t next_field(const char *id, const char **after)
{
    const char *open = strchr(id, '{');
    if (!open)
        return AS_FACT_FIELDS_N;
    const size_t len = strcspn(open + 1, "}");
    *after = open + 1 + len + (open[1 + len] == '}');
    return field_of(open + 1, len);
}

static void fill_fields(struct as_fact *f, const struct as_fact_fields *by, as_field_fn otherwise, const void *from)
{
    for (size_t i = 0; i < AS_FACT_FIELDS_N; i++)
        set_field(f, i, given_value(by, i));
    size_t field;
    for (const char *at = relations[f->relation].id; (field = next_field(at, &at)) < AS_FACT_FIELDS_N;)
        if (!given_value(by, field) && from)
            set_field(f, field, otherwise(from, fields[field].name));
}

/* A part in brackets, with one field; returns where it ends. */
static const char *add_optional(const struct as_fact *f, const char *at, struct as_buf *out)
{
    const char *end = strchr(at, ']'), *after = at;
    const size_t field = next_field(at, &after);
    if (field < AS_FACT_FIELDS_N && as_fact_field(f, (enum as_fact_field)field)[0])
        as_buf_printf(out, "%.*s%s", (int)strcspn(at, "{"), at, as_fact_field(f, (enum as_fact_field)field));
    return end + 1;
}

static void make_id(struct as_fact *f)
{
    struct as_buf id = AS_BUF_INIT;
    for (const char *at = relations[f->relation].id; *at;) {
        if (*at == '[')
            at = add_optional(f, at + 1, &id);
        else if (*at == '{') {
            const size_t field = next_field(at, &at);
            as_buf_str(&id, field < AS_FACT_FIELDS_N ? as_fact_field(f, (enum as_fact_field)field) : "");
        } else
            as_buf_char(&id, *at++);
    }
    as_copy_text(f->id, sizeof f->id, as_buf_get(&id));
    as_buf_finish(&id);
    for (char *p = f->id; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
            *p = '_';
}

/* Is the value one of a closed set? */
static bool is_in_set(const char *set, const char *value)
{
    const size_t n = strlen(value);
    for (size_t len; *set; set += len + (set[len] == '|')) {
        len = strcspn(set, "|");
        if (len == n && strncmp(set, value, n) == 0)
            return true;
    }
    return false;
}

static bool has_set_values(const struct as_fact *f)
{
    for (size_t i = 0; i < AS_FACT_FIELDS_N; i++)
        if (fields[i].set && f->at[i] && !is_in_set(fields[i].set, as_fact_field(f, (enum as_fact_field)i)))
            return false;
    return true;
}

bool as_fact_name(struct as_fact *f, enum as_relation relation, const struct as_fact_fields *by, as_field_fn otherwise,
                  const void *from, const char *unit)
{
    const struct relation *r = &relations[relation];
    f->relation = relation;
    fill_fields(f, by, otherwise, from);
    make_id(f);
    const char *object = by && by->object ? by->object : r->object;
    unit = by && by->unit ? by->unit : r->unit ? r->unit : unit;
    as_copy_text(f->object, sizeof f->object, object ? object : "");
    as_copy_text(f->unit, sizeof f->unit, as_rate_unit(unit, as_fact_field(f, AS_FIELD_TYPE)));
    return has_set_values(f);
}

bool as_fact_is(const struct as_fact *f, enum as_relation relation, const struct as_fact_fields *by)
{
    bool is = f->relation == relation && !f->state[0] && !(by && by->object && strcmp(by->object, f->object) != 0) &&
              !(by && by->unit && strcmp(by->unit, f->unit) != 0);
    for (size_t i = 0; i < AS_FACT_FIELDS_N && by && is; i++) {
        const char *wanted = given_value(by, i);
        is = !wanted || strcmp(wanted, as_fact_field(f, (enum as_fact_field)i)) == 0;
    }
    return is;
}

enum as_fact_states as_fact_states(const struct as_fact *f)
{
    return f->state[0] ? AS_STATES_OTHER : relations[f->relation].states;
}

const struct as_fact *as_fact_of(const struct as_fact *facts, size_t n, const char *device, enum as_relation relation,
                                 const struct as_fact_fields *by)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(facts[i].device, device) == 0 && as_fact_is(&facts[i], relation, by))
            return &facts[i];
    return NULL;
}

size_t as_fact_subject(const struct as_fact *f)
{
    return strcspn(f->id, ".");
}

bool as_facts_share_subject(const struct as_fact *a, const struct as_fact *b)
{
    const size_t n = as_fact_subject(a);
    return n == as_fact_subject(b) && strncmp(a->id, b->id, n) == 0;
}

bool as_fact_is_about(const struct as_fact *f, const char *subject)
{
    const size_t n = subject ? strlen(subject) : 0;
    return !n || (strncmp(f->id, subject, n) == 0 && (!f->id[n] || f->id[n] == '.' || subject[n - 1] == '.'));
}

/* ---- which ids exist ---- */

enum { GLOB_MAX = 128 };

/* Is there a text that both globs match? A glob is shorter than GLOB_MAX. meet[k]: the rest of a from i and the rest of
 * b from k have one. */
static bool globs_overlap(const char *a, const char *b)
{
    for (; *a && *b && *a != '*' && *b != '*'; a++, b++)
        if (*a != *b && *a != '?' && *b != '?')
            return false; /* most differ so early */
    const size_t n = strlen(a), m = strlen(b);
    bool below[GLOB_MAX + 1] = {false}, meet[GLOB_MAX + 1] = {false};
    for (size_t i = n + 1; i-- > 0;) {
        for (size_t k = m + 1; k-- > 0;) {
            if (i == n && k == m)
                meet[k] = true;
            else if (i < n && a[i] == '*')
                meet[k] = below[k] || (k < m && meet[k + 1]);
            else if (k < m && b[k] == '*')
                meet[k] = meet[k + 1] || (i < n && below[k]);
            else
                meet[k] = i < n && k < m && (a[i] == b[k] || a[i] == '?' || b[k] == '?') && below[k + 1];
        }
        memcpy(below, meet, sizeof below);
    }
    return meet[0];
}

/* An id of a relation that is being written as a glob: fields without a closed set are '*'. */
struct id_glob {
    const char *wanted; /* the glob that it must meet */
    char text[GLOB_MAX];
};

static bool is_id_met(struct id_glob *g, const char *id, size_t n);

/* The same with each value of a closed set in turn; rest: of the id, after the field. */
static bool is_value_met(struct id_glob *g, const char *set, const char *rest, size_t n)
{
    for (size_t len; *set; set += len + (set[len] == '|')) {
        len = strcspn(set, "|");
        for (size_t i = 0; i < len && n + i + 1 < GLOB_MAX; i++)
            g->text[n + i] = (char)(set[i] == ' ' ? '_' : set[i]);
        if (is_id_met(g, rest, n + len))
            return true;
    }
    return false;
}

/* n: letters that are written already */
static bool is_id_met(struct id_glob *g, const char *id, size_t n)
{
    while (*id && n + 1 < GLOB_MAX) {
        if (*id == '[' && is_id_met(g, id + strcspn(id, "]") + 1, n)) /* without this part */
            return true;
        if (*id == '{') {
            const size_t field = next_field(id, &id);
            if (field < AS_FACT_FIELDS_N && fields[field].set)
                return is_value_met(g, fields[field].set, id, n);
            g->text[n++] = '*';
        } else if (*id == '[' || *id == ']')
            id++;
        else
            g->text[n++] = *id++;
    }
    if (n >= GLOB_MAX)
        return false;
    g->text[n] = '\0';
    return globs_overlap(g->text, g->wanted);
}

static bool id_exists(const char *glob)
{
    struct id_glob g = {.wanted = glob};
    for (size_t i = 0; i < AS_RELATIONS_N; i++)
        if (is_id_met(&g, relations[i].id, 0))
            return true;
    return false;
}

/* The next of blank-separated globs, NULL after the last. One that is too long becomes "", which matches no id. */
static const char *next_glob(const char *globs, char out[GLOB_MAX])
{
    const char *start = globs + strspn(globs, " "), *end = start + strcspn(start, " ");
    snprintf(out, GLOB_MAX, "%.*s", end - start < GLOB_MAX ? (int)(end - start) : 0, start);
    return start < end ? end : NULL;
}

bool as_fact_ids_exist(const char *globs)
{
    char one[GLOB_MAX];
    while ((globs = next_glob(globs, one)))
        if (!id_exists(one))
            return false;
    return true;
}

bool as_fact_has_id(const struct as_fact *f, const char *globs)
{
    char one[GLOB_MAX], id[sizeof f->id];
    as_copy_text(id, sizeof id, f->id);
    if (f->state[0]) /* globs of the same in any state */
        id[strcspn(id, "@")] = 0;
    while ((globs = next_glob(globs, one)))
        if (globs_overlap(one, f->id) || globs_overlap(one, id))
            return true;
    return false;
}

enum as_status as_relation_check_id(const char *id, struct as_error *err)
{
    for (const char *at = id; strchr(at, '{');)
        if (next_field(at, &at) == AS_FACT_FIELDS_N)
            return as_fail(err, AS_FAILED, "facts: '%s' names an unknown field", id);
    return AS_OK;
}

enum as_status as_relations_check(struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < AS_RELATIONS_N && !st; i++)
        st = as_relation_check_id(relations[i].id, err);
    return st;
}
