/* refs_planned NAME: the figures of a set that no suite and no full grid answers, one per line: chip, side, metric and
 * axes, with tabs between. Everything is planned on the stand-ins of the machine of that study, every planned cell gets
 * a value, and facts are derived from these: a figure is answered if a cell or a fact stands beside it, however assay
 * is started there. Of other chips than the study's own nothing is planned: their figures are not judged. */
#include "planned.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the chip of the machine's make? Sets of one machine have no other. */
static bool is_of(const struct planned_start *start, const char *chip)
{
    const bool apple =
        ((chip[0] == 'A' || chip[0] == 'M') && isdigit((unsigned char)chip[1])) || strncmp(chip, "Apple", 5) == 0;
    return strcmp(start->devices[0], "metal:0") != 0 || apple;
}

static bool by_fact(const struct as_ref *ref, const struct as_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (as_ref_is_beside(ref, &facts[i]))
            return true;
    return false;
}

static enum as_status answer(const struct planned_start *start, const struct as_refs *refs, bool *answered,
                             struct as_error *err)
{
    struct planned_machine machine;
    struct as_plan plan = {0};
    struct as_fact *facts = NULL;
    struct as_ref_cells cells = {0};
    size_t facts_n = 0;
    enum as_status st = planned_open(start, &machine, err);
    if (!st)
        st = planned_add_all(&plan, &machine, err);
    const size_t measured = st ? 0 : planned_measure(&plan);
    const struct as_report_run page = {.cells = plan.cells, .cells_n = plan.n};
    if (!st)
        st = planned_derive(&plan, &machine, &facts, &facts_n, err);
    if (!st)
        st = as_ref_cells_make(&page, &cells, err);
    for (size_t i = 0; i < refs->n && !st; i++)
        answered[i] &=
            !is_of(start, refs->v[i].chip) || by_fact(&refs->v[i], facts, facts_n) || planned_has(&cells, &refs->v[i]);
    fprintf(stderr, "# %s '%s': %zu cells, %zu facts\n", start->devices[0], start->stand_in, measured, facts_n);
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
    memset(answered, true, sizeof answered);
    for (const struct planned_start *start = planned_starts; start->refs && !st; start++)
        if (strncmp(argv[1], start->refs, strlen(start->refs)) == 0)
            st = answer(start, &refs, answered, &err);
    if (st) {
        fprintf(stderr, "refs_planned: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < refs.n; i++)
        if (!answered[i])
            printf("%s\t%s\t%s\t%s\n", refs.v[i].chip, refs.v[i].device, refs.v[i].metric, refs.v[i].axes);
    as_refs_finish(&refs);
    return 0;
}
