/* Whichever suite measured it, a fact is the same: each suite alone is planned on the stand-ins of the studied
 * machines, its cells get the values of one machine, and facts of one id must have intervals in common; within a suite
 * no two facts have one id. Suite full has each line of the data sheet that suite quick has. */
#include "planned.h"

#include "report/sheet/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const suites[] = {"quick", "full", "alu", "pipes", "tensor"};
enum { SUITES = sizeof suites / sizeof *suites };

struct found {
    struct as_fact *facts[SUITES];
    size_t n[SUITES];
    size_t shared, differ, lines, lacking, twice;
};
enum { QUICK, FULL };

static const char *text_of(const char *suite)
{
    for (size_t i = 0; as_suite_texts[i].name; i++)
        if (strcmp(as_suite_texts[i].name, suite) == 0)
            return as_suite_texts[i].text;
    return NULL;
}

/* Of each device. */
static enum as_status sheets_of(const struct as_plan *plan, struct planned_machine *m, struct as_fact *facts,
                                size_t facts_n, struct as_sheet *out, struct as_error *err)
{
    const struct as_report_run run = {.run = {.id = 1},
                                      .cells = plan->cells,
                                      .cells_n = plan->n,
                                      .devices = m->info,
                                      .devices_n = m->devices_n,
                                      .facts = facts,
                                      .facts_n = facts_n};
    enum as_status st = AS_OK;
    for (size_t d = 0; d < m->devices_n && !st; d++)
        st = as_sheet_make(&run, m->info[d].id, &out[d], err);
    return st;
}

static enum as_status derive(const char *suite, struct planned_machine *m, struct as_fact **facts, size_t *n,
                             struct as_sheet *sheets, struct as_error *err)
{
    struct as_plan plan = {0};
    enum as_status st = planned_add(&plan, suite, text_of(suite), m, err);
    if (!st) {
        planned_measure(&plan);
        st = planned_derive(&plan, m, facts, n, err);
    }
    if (!st)
        st = sheets_of(&plan, m, *facts, *n, sheets, err);
    as_plan_finish(&plan);
    return st;
}

static bool is_number(const struct as_fact *f)
{
    return isfinite(f->value) && isfinite(f->ci.lo) && isfinite(f->ci.hi);
}

/* Equal numbers differ by the rounding of a mean. */
static bool is_not_after(double lo, double hi)
{
    return lo - hi <= 1e-9 * fmax(fabs(lo), fabs(hi));
}

static bool agree(const struct as_fact *a, const struct as_fact *b)
{
    if (is_number(a) && is_number(b)) /* a wider one may agree with a driver where a narrow one does not */
        return is_not_after(a->ci.lo, b->ci.hi) && is_not_after(b->ci.lo, a->ci.hi);
    return a->verdict == AS_UNDECIDED || b->verdict == AS_UNDECIDED || a->verdict == b->verdict;
}

static void compare(struct found *f, const char *machine, size_t one, size_t other)
{
    for (size_t i = 0; i < f->n[one]; i++)
        for (size_t k = 0; k < f->n[other]; k++) {
            const struct as_fact *a = &f->facts[one][i], *b = &f->facts[other][k];
            if (strcmp(a->id, b->id) != 0 || strcmp(a->device, b->device) != 0)
                continue;
            f->shared++;
            if (agree(a, b))
                continue;
            f->differ++;
            printf("# %s, %s: %s\n#   %s, %g to %g: %s\n#   %s, %g to %g: %s\n", machine, a->device, a->id, suites[one],
                   a->ci.lo, a->ci.hi, a->sentence, suites[other], b->ci.lo, b->ci.hi, b->sentence);
        }
}

/* Facts of one suite that have one name. */
static void look_for_twins(struct found *f, const char *machine, size_t suite)
{
    for (size_t i = 0; i < f->n[suite]; i++)
        for (size_t k = 0; k < i; k++) {
            const struct as_fact *a = &f->facts[suite][i], *b = &f->facts[suite][k];
            if (strcmp(a->id, b->id) != 0 || strcmp(a->device, b->device) != 0)
                continue;
            f->twice++;
            printf("# %s, suite %s, %s: %s twice\n#   %s\n#   %s\n", machine, suites[suite], a->device, a->id,
                   a->sentence, b->sentence);
        }
}

static bool is_asked(const struct as_sheet *sheet, const struct as_quantity *q)
{
    for (size_t i = 0; i < sheet->gaps_n; i++)
        if (sheet->gaps[i].of == q)
            return !sheet->gaps[i].not_asked;
    for (size_t i = 0; i < sheet->n; i++)
        if (sheet->rows[i].of == q)
            return true;
    return false;
}

static void compare_lines(struct found *f, const char *machine, const struct as_sheet *quick,
                          const struct as_sheet *full)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        const bool asked = is_asked(quick, q);
        f->lines += asked;
        if (!asked || is_asked(full, q))
            continue;
        f->lacking++;
        printf("# %s: suite full does not ask for %s\n", machine, q->name);
    }
}

static enum as_status look(const struct planned_start *start, struct found *f, struct as_error *err)
{
    struct planned_machine machine;
    struct as_sheet sheets[SUITES][PLANNED_INFOS_MAX] = {{{0}}};
    enum as_status st = planned_open(start, &machine, err);
    for (size_t s = 0; s < SUITES && !st; s++)
        st = derive(suites[s], &machine, &f->facts[s], &f->n[s], sheets[s], err);
    for (size_t d = 0; d < machine.devices_n && !st; d++)
        compare_lines(f, machine.info[d].id, &sheets[QUICK][d], &sheets[FULL][d]);
    for (size_t s = 0; s < SUITES && !st; s++)
        look_for_twins(f, start->devices[0], s);
    for (size_t s = 0; s < SUITES && !st; s++)
        for (size_t t = 0; t < s; t++)
            compare(f, start->devices[0], t, s);
    for (size_t s = 0; s < SUITES; s++) {
        free(f->facts[s]);
        f->facts[s] = NULL;
        f->n[s] = 0;
        for (size_t d = 0; d < PLANNED_INFOS_MAX; d++)
            as_sheet_finish(&sheets[s][d]);
    }
    return st;
}

int main(void)
{
    struct found f = {.shared = 0};
    struct as_error err = {0};
    for (const struct planned_start *start = planned_starts; start->refs; start++)
        if (look(start, &f, &err)) {
            printf("Bail out! %s\n", err.text);
            return 1;
        }
    printf("1..3\n%sok 1 - %zu facts of two suites, %zu differ\n", f.shared && !f.differ ? "" : "not ", f.shared,
           f.differ);
    printf("%sok 2 - %zu lines of suite quick, %zu not in suite full\n", f.lines && !f.lacking ? "" : "not ", f.lines,
           f.lacking);
    printf("%sok 3 - %zu facts of a suite have the name of another\n", f.twice ? "not " : "", f.twice);
    return !f.shared || f.differ || !f.lines || f.lacking || f.twice;
}
