#include "autotune.h"

#include <math.h>

enum { ENTRIES = 128 };
static struct as_autotune entries[ENTRIES];
static size_t entries_next;

struct as_autotune *as_autotune_of(uint64_t key, bool *known)
{
    key |= 1; /* 0: an empty entry */
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].key == key) {
            *known = true;
            return &entries[i];
        }
    struct as_autotune *c = &entries[entries_next++ % ENTRIES];
    *c = (struct as_autotune){.key = key};
    *known = false;
    return c;
}

void as_autotune_add(struct as_autotune *c, size_t candidate, double seconds)
{
    c->seconds[candidate][c->tries[candidate]++ % AS_AUTOTUNE_KEPT] = seconds;
}

size_t as_autotune_times(const struct as_autotune *c, size_t candidate, const double **seconds)
{
    *seconds = c->seconds[candidate];
    return c->tries[candidate] < AS_AUTOTUNE_KEPT ? c->tries[candidate] : AS_AUTOTUNE_KEPT;
}

double as_autotune_least(const struct as_autotune *c, size_t candidate)
{
    const double *times;
    const size_t n = as_autotune_times(c, candidate, &times);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, times[i]);
    return least;
}

size_t as_autotune_best(const struct as_autotune *c, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (as_autotune_least(c, i) < as_autotune_least(c, best))
            best = i;
    return best;
}
