#include "report/model/collapse.h"

#include <string.h>

/* Collapsing one or two facts saves nothing. */
enum { STAND = 6, MANY = 9 };

static const char *matter_of(const struct as_fact *f)
{
    return f->matter ? f->matter : f->object;
}

static bool collapse_is_alike(const struct as_fact *a, const struct as_fact *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(matter_of(a), matter_of(b)) == 0;
}

/* Inconclusive facts never displace decided ones. */
bool as_fact_is_collapsed(const struct as_fact *facts, size_t n, size_t i)
{
    size_t all = 0, decided_before = facts[i].verdict == AS_UNDECIDED ? STAND : 0;
    for (size_t k = 0; k < n && (all < MANY || decided_before < STAND); k++) {
        if (k >= i && decided_before < STAND)
            return false;
        if (!collapse_is_alike(&facts[k], &facts[i]))
            continue;
        all++;
        decided_before += k < i && facts[k].verdict != AS_UNDECIDED;
    }
    return all >= MANY && decided_before >= STAND;
}
