/* refs_planned NAME: the figures of a machine with one memory for CPU and GPU that no suite and no full grid answers,
 * one side and metric per line. Everything is planned on the stand-in of that machine, every planned cell gets a value,
 * and facts are derived from these: a figure is answered if a cell or a fact stands beside it. */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool by_fact(const struct as_ref *ref, const struct as_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (as_ref_is_beside(ref, &facts[i]))
            return true;
    return false;
}

static enum as_status answer(const struct planned_machine *m, const struct as_refs *refs, bool *answered,
                             struct as_error *err)
{
    struct as_device_info info;
    struct as_plan plan = {0};
    struct as_fact *facts = NULL;
    struct as_ref_cells cells = {0};
    size_t facts_n = 0;
    enum as_status st = planned_open(m, &info, err);
    if (!st)
        st = planned_add_all(&plan, &info, err);
    const size_t measured = st ? 0 : planned_measure(&plan);
    const struct as_report_run page = {.cells = plan.cells, .cells_n = plan.n};
    if (!st)
        st = planned_derive(&plan, &info, &facts, &facts_n, err);
    if (!st)
        st = as_ref_cells_make(&page, &cells, err);
    for (size_t i = 0; i < refs->n && !st; i++)
        answered[i] |= by_fact(&refs->v[i], facts, facts_n) || planned_has(&cells, &refs->v[i]);
    fprintf(stderr, "# %s '%s' %s: %zu cells, %zu facts\n", m->device, m->stand_in, m->state, measured, facts_n);
    as_ref_cells_finish(&cells);
    free(facts);
    as_plan_finish(&plan);
    return st;
}

int main(int argc, char **argv)
{
    static bool answered[4096];
    struct as_refs refs;
    struct as_error err = {0};
    enum as_status st = argc == 2 ? as_refs_load(argv[1], &refs, &err) : AS_USAGE;
    for (const struct planned_machine *m = planned_machines; m->device && !st; m++)
        st = answer(m, &refs, answered, &err);
    if (st) {
        fprintf(stderr, "refs_planned: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < refs.n; i++)
        if (!answered[i])
            printf("%s %s\n", refs.v[i].device, refs.v[i].metric);
    as_refs_finish(&refs);
    return 0;
}
