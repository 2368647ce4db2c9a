/* Every rule on cells whose intervals exclude next to nothing: a ratio that is too open to state is neither tied nor
 * put into a sentence that goes on as if it were stated. */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WIDE = 5;

static bool is_sound(const char *sentence)
{
    static const char wide[] = "the intervals are too wide";
    const char *at = strstr(sentence, wide), *rest = at ? at + strlen(wide) : "";
    if ((at || strstr(sentence, "an unknown number of times")) && strstr(sentence, "tied"))
        return false;
    return !*rest || strchr(";,", *rest) || strncmp(rest, " (", 2) == 0 || strncmp(rest, " at length ", 11) == 0;
}

static enum as_status look(const struct planned_start *start, size_t *open, size_t *bad, struct as_error *err)
{
    struct planned_machine machine;
    struct as_plan plan = {0};
    struct as_fact *facts = NULL;
    size_t n = 0;
    enum as_status st = planned_open(start, &machine, err);
    if (!st)
        st = planned_add_all(&plan, &machine, err);
    if (!st)
        planned_measure(&plan);
    for (size_t i = 0; i < plan.n; i++) {
        struct as_summary *s = &plan.cells[i].sum;
        s->ci = (struct as_interval){s->median / WIDE, s->median * WIDE};
    }
    if (!st)
        st = planned_derive(&plan, &machine, &facts, &n, err);
    for (size_t i = 0; i < n; i++) {
        *open += strstr(facts[i].sentence, "too wide") != NULL;
        if (is_sound(facts[i].sentence))
            continue;
        printf("# %s: %s\n", facts[i].id, facts[i].sentence);
        ++*bad;
    }
    free(facts);
    as_plan_finish(&plan);
    return st;
}

int main(void)
{
    struct as_error err = {0};
    size_t open = 0, bad = 0;
    for (const struct planned_start *start = planned_starts; start->refs; start++)
        if (look(start, &open, &bad, &err)) {
            printf("Bail out! %s\n", err.text);
            return 1;
        }
    printf("1..1\n%sok 1 - %zu sentences about open ratios, %zu unsound\n", open && !bad ? "" : "not ", open, bad);
    return !open || bad;
}
