#include "report/fold.h"

#include <string.h>

/* Folding one or two would save nothing. */
enum { STAND = 6, MANY = 9 };

static const char allocators[] = "what allocators cost";

/* What allocators cost is one matter, whatever their names, and stands among the numbers too. */
static const char *object_of(const struct as_fact *f)
{
    return strncmp(f->id, "alloc.", 6) == 0 ? allocators : f->object;
}

static bool is_alike(const struct as_fact *a, const struct as_fact *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(object_of(a), object_of(b)) == 0;
}

/* Facts like facts[i], and how many of them stand before it. */
static size_t count_alike(const struct as_fact *facts, size_t n, size_t i, size_t *before)
{
    size_t all = 0;
    *before = 0;
    for (size_t k = 0; k < n; k++) {
        bool alike = is_alike(&facts[k], &facts[i]);
        all += alike;
        *before += alike && k < i;
    }
    return all;
}

bool as_fact_is_folded(const struct as_fact *facts, size_t n, size_t i)
{
    size_t before, all = count_alike(facts, n, i, &before);
    return all >= MANY && before >= STAND;
}

size_t as_folded_text(const struct as_fact *facts, size_t n, const char *device, struct as_buf *out)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        size_t before, all = count_alike(facts, n, i, &before);
        if (all < MANY || before != STAND || (device && strcmp(facts[i].device, device) != 0))
            continue;
        as_buf_printf(out, total ? ", %zu on %s" : "%zu more on %s", all - STAND, object_of(&facts[i]));
        total += all - STAND;
    }
    return total;
}
