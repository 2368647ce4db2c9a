/* Whichever suite measured it, a fact is the same: each suite alone is planned on the stand-ins of the studied
 * machines, its cells get the values of one machine, and facts of one id must have intervals in common. */
#include "planned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const suites[] = {"quick", "full", "alu", "pipes", "tensor"};
enum { SUITES = sizeof suites / sizeof *suites };

struct found {
    struct as_fact *facts[SUITES];
    size_t n[SUITES];
    size_t shared, differ;
};

static const char *text_of(const char *suite)
{
    for (size_t i = 0; as_suite_texts[i].name; i++)
        if (strcmp(as_suite_texts[i].name, suite) == 0)
            return as_suite_texts[i].text;
    return NULL;
}

static enum as_status derive(const char *suite, const struct planned_machine *m, struct as_fact **facts, size_t *n,
                             struct as_error *err)
{
    struct as_plan plan = {0};
    enum as_status st = planned_add(&plan, suite, text_of(suite), m, err);
    if (!st) {
        planned_measure(&plan);
        st = planned_derive(&plan, m, facts, n, err);
    }
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

static enum as_status look(const struct planned_start *start, struct found *f, struct as_error *err)
{
    struct planned_machine machine;
    enum as_status st = planned_open(start, &machine, err);
    for (size_t s = 0; s < SUITES && !st; s++)
        st = derive(suites[s], &machine, &f->facts[s], &f->n[s], err);
    for (size_t s = 0; s < SUITES && !st; s++)
        for (size_t t = 0; t < s; t++)
            compare(f, start->devices[0], t, s);
    for (size_t s = 0; s < SUITES; s++) {
        free(f->facts[s]);
        f->facts[s] = NULL;
        f->n[s] = 0;
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
    printf("1..1\n%sok 1 - %zu facts of two suites, %zu differ\n", f.shared && !f.differ ? "" : "not ", f.shared,
           f.differ);
    return !f.shared || f.differ;
}
