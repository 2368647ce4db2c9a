#include "named.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_MAX = 12 };

static const char *const ids[] = {
#define RELATION(name, id, object, unit, states) [AS_FACT_##name] = id,
#include "facts/relations.inc"
#undef RELATION
};

struct values {
    char name[VALUES_MAX][24], text[VALUES_MAX][64];
    size_t n;
};

static const char *value_of(const void *from, const char *name)
{
    const struct values *v = from;
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->name[i], name) == 0)
            return v->text[i];
    return "";
}

/* Does the rest of an id match a relation's pattern? Fields contain no dot. Parts in brackets are optional. */
static bool fits(const char *pattern, const char *id, struct values *v)
{
    if (*pattern == '[') {
        const size_t before = v->n;
        if (fits(pattern + 1, id, v))
            return true;
        v->n = before;
        return fits(strchr(pattern, ']') + 1, id, v);
    }
    if (*pattern == ']')
        return fits(pattern + 1, id, v);
    if (*pattern != '{')
        return *pattern == *id && (!*id || fits(pattern + 1, id + 1, v));
    const char *end = strchr(pattern, '}');
    const size_t at = v->n, len = strcspn(id, "."), name = (size_t)(end - pattern) - 1;
    if (len == 0 || at == VALUES_MAX || len >= sizeof v->text[0])
        return false;
    snprintf(v->name[at], sizeof v->name[at], "%.*s", (int)name, pattern + 1);
    snprintf(v->text[at], sizeof v->text[at], "%.*s", (int)len, id);
    v->n++;
    return fits(end + 1, id + len, v);
}

bool named_fact(struct as_fact *f, const char *id)
{
    struct values best = {.n = SIZE_MAX};
    size_t relation = AS_RELATIONS_N;
    for (size_t i = 0; i < AS_RELATIONS_N; i++) {
        struct values v = {.n = 0};
        if (!fits(ids[i], id, &v) || v.n >= best.n) /* the match with the fewest fields is the most specific */
            continue;
        best = v;
        relation = i;
    }
    if (relation == AS_RELATIONS_N)
        return false;
    const struct as_fact given = *f;
    as_fact_name(f, (enum as_relation)relation, NULL, value_of, &best, "");
    memcpy(f->object, given.object, sizeof f->object);
    memcpy(f->unit, given.unit, sizeof f->unit);
    return strcmp(f->id, id) == 0;
}
