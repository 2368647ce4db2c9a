/* Every rule on cells whose intervals exclude next to nothing: a ratio that is too open to state is neither tied nor
 * put into a sentence that goes on as if it were stated. And advice, which begins with a short sentence. */
#include "planned.h"

#include "facts/advice.h"
#include "facts/rule.h"
#include "first_sentence.h"

#include <math.h>
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

/* Whether intervals are narrow or open, advice begins with a short sentence, and it rests on no open ratio. */
static enum as_status look_at_advice(const struct as_plan *plan, const struct planned_machine *m, size_t *bad,
                                     struct as_error *err)
{
    const struct as_run run = {.id = 1};
    const struct as_fact_input in = {&run, plan->cells, plan->n, m->info, m->devices_n};
    struct as_fact *facts = NULL;
    struct as_advice *advice = NULL;
    size_t facts_n = 0, n = 0;
    enum as_status st = planned_derive(plan, m, &facts, &facts_n, err);
    if (!st)
        st = as_advice_derive(&in, facts, facts_n, &advice, &n, err);
    for (size_t i = 0; i < n; i++) {
        const bool is_open = strstr(advice[i].sentence, "an unknown number of times");
        if (!advice[i].known || (first_sentence(advice[i].sentence) <= FIRST_SENTENCE_MAX && !is_open))
            continue;
        printf("# %s: %s\n", is_open ? "an open ratio" : "too long a first sentence", advice[i].sentence);
        ++*bad;
    }
    for (size_t i = 0; i < facts_n; i++)
        if (strstr(facts[i].act, "an unknown number of times") ||
            (facts[i].act[0] && isfinite(facts[i].gain) && !as_fact_side(&facts[i]))) {
            printf("# acts on an open ratio: %s\n", facts[i].act);
            ++*bad;
        }
    free(advice);
    free(facts);
    return st;
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
    if (!st)
        st = look_at_advice(&plan, &machine, bad, err);
    for (size_t i = 0; i < plan.n && !st; i++) {
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
    if (!st)
        st = look_at_advice(&plan, &machine, bad, err);
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
