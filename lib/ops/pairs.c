#include "pairs.h"

#include <stdio.h>
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

static uint64_t pairs_total(const char *name, const char *which)
{
    struct as_instructions list;
    uint64_t sum = 0;
    if (!as_native_counted(name, which, &list))
        return 0;
    for (size_t i = 0; i < list.n; i++)
        sum += list.list[i].n;
    return sum;
}

enum as_gate_state as_pair_code_gate(const struct as_pair_kernel *k, char *text, size_t size)
{
    const uint64_t half = pairs_total(k->body.name, "_half"), whole = pairs_total(k->body.name, "_whole");
    const unsigned steps = k->body.steps - k->body.steps / 2;
    /* Padding is the same instruction as nop. */
    const bool counted = half && strcmp(k->form, "nop") != 0;
    if (!counted) {
        snprintf(text, size, "these kernels' instructions were not counted");
        return AS_GATE_NA;
    }
    snprintf(text, size, "%llu instructions in %u steps, %u wanted", (unsigned long long)(whole - half), steps,
             steps * k->body.instructions);
    return whole - half == steps * k->body.instructions ? AS_GATE_PASS : AS_GATE_FAIL;
}
