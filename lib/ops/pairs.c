#include "pairs.h"

#include <string.h>

const struct as_pair_kernel *as_pair_find(const char *form, const char *what)
{
    for (const struct as_pair_kernel *k = as_pair_kernels; k->form; k++)
        if (strcmp(k->form, form) == 0 && strcmp(k->what, what) == 0)
            return k;
    return NULL;
}

bool as_pair_is_mixture(const struct as_pair_kernel *k)
{
    return k->counts[0] > 1;
}

double as_pair_value(const struct as_pair_kernel *k, double cycles)
{
    return (cycles - k->less) / k->count;
}
