/* sources_planned: reads lines from its input and prints those that something does not answer on the stand-ins of a
 * machine of planned.h, however assay is started there. "cell MACHINE SUITE AXES" is answered by a cell that the suite
 * plans, with SUITE "grid" by the full grid of the probe that AXES name ("probe=copy how=kernel"); "fact MACHINE GLOB"
 * by a fact derived from such cells. */
#include "planned.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 512 };

static struct line {
    char text[320], machine[32], suite[32];
    struct as_ref ref;                     /* axes of a cell, or globs of a fact */
    bool is_fact, is_answered, is_missing; /* in this start of assay; in any */
} lines[LINES_MAX];
static size_t lines_n;

static bool read_line(char *text)
{
    struct line *l = &lines[lines_n];
    char kind[8], axes[sizeof l->ref.axes];
    text[strcspn(text, "\n")] = 0;
    as_copy_text(l->text, sizeof l->text, text);
    as_copy_text(l->ref.device, sizeof l->ref.device, "any");
    if (sscanf(text, "%7s %31s %31s %159[^\n]", kind, l->machine, l->suite, axes) == 4 && strcmp(kind, "cell") == 0)
        as_copy_text(l->ref.axes, sizeof l->ref.axes, axes);
    else if (sscanf(text, "%7s %31s %159s", kind, l->machine, axes) == 3 && strcmp(kind, "fact") == 0)
        as_copy_text(l->ref.fact, sizeof l->ref.fact, axes);
    else
        return false;
    l->is_fact = l->ref.fact[0] != 0;
    lines_n++;
    return true;
}

/* Cells have the units of their probes; here any will do. */
static bool cells_have(const struct as_plan *plan, struct as_ref *ref)
{
    const struct as_report_run page = {.cells = plan->cells, .cells_n = plan->n};
    struct as_ref_cells cells = {.run = &page};
    bool has = false;
    ref->unit[0] = 0;
    for (size_t i = 0; i < plan->n && !has; i++) {
        if (plan->cells[i].status != AS_CELL_OK || strcmp(ref->unit, plan->cells[i].unit) == 0)
            continue;
        as_copy_text(ref->unit, sizeof ref->unit, plan->cells[i].unit);
        has = planned_has(&cells, ref);
    }
    return has;
}

static enum as_status answer_suite(const char *suite, const char *text, const struct planned_machine *m,
                                   struct as_error *err)
{
    struct as_plan plan = {0};
    const enum as_status st = planned_add(&plan, suite, text, m, err);
    if (!st)
        (void)planned_measure(&plan);
    for (size_t i = 0; i < lines_n && !st; i++)
        if (!lines[i].is_answered && !lines[i].is_fact && strcmp(lines[i].suite, suite) == 0)
            lines[i].is_answered = cells_have(&plan, &lines[i].ref);
    as_plan_finish(&plan);
    return st;
}

/* The full grids of the probes that lines of the suite "grid" name, each once. */
static enum as_status answer_grids(const struct planned_machine *m, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (const char *const *name = as_probe_names(); *name && !st; name++) {
        char want[64], text[64];
        bool is_wanted = false;
        snprintf(want, sizeof want, "probe=%s", *name);
        for (size_t i = 0; i < lines_n; i++)
            is_wanted |= strcmp(lines[i].suite, "grid") == 0 && !lines[i].is_answered &&
                         strncmp(lines[i].ref.axes, want, strlen(want)) == 0;
        snprintf(text, sizeof text, "[%s]\ngrids = full\n", *name);
        if (is_wanted)
            st = answer_suite("grid", text, m, err);
    }
    return st;
}

static enum as_status answer_facts(const struct planned_machine *m, struct as_error *err)
{
    struct as_plan plan = {0};
    struct as_fact *facts = NULL;
    size_t n = 0;
    enum as_status st = planned_add_all(&plan, m, err);
    if (!st) {
        (void)planned_measure(&plan);
        st = planned_derive(&plan, m, &facts, &n, err);
    }
    for (size_t i = 0; i < lines_n && !st; i++)
        for (size_t k = 0; k < n && lines[i].is_fact && !lines[i].is_answered; k++)
            lines[i].is_answered = as_fact_has_id(&facts[k], lines[i].ref.fact);
    free(facts);
    as_plan_finish(&plan);
    return st;
}

static enum as_status answer(const struct planned_start *start, struct as_error *err)
{
    struct planned_machine machine;
    enum as_status st = planned_open(start, &machine, err);
    for (size_t i = 0; i < lines_n; i++)
        lines[i].is_answered = strcmp(lines[i].machine, start->refs) != 0;
    for (size_t i = 0; as_suite_texts[i].name && !st; i++)
        st = answer_suite(as_suite_texts[i].name, as_suite_texts[i].text, &machine, err);
    if (!st)
        st = answer_grids(&machine, err);
    if (!st)
        st = answer_facts(&machine, err);
    for (size_t i = 0; i < lines_n && !st; i++) {
        lines[i].is_missing |= !lines[i].is_answered;
        if (!lines[i].is_answered)
            fprintf(stderr, "# started as '%s', no %s\n", start->stand_in, lines[i].text);
    }
    return st;
}

int main(void)
{
    char text[320];
    struct as_error err = {0};
    enum as_status st = AS_OK;
    while (lines_n < LINES_MAX && fgets(text, sizeof text, stdin))
        if (!read_line(text)) {
            fprintf(stderr, "sources_planned: what is '%s'?\n", text);
            return 2;
        }
    for (const struct planned_start *start = planned_starts; start->refs && !st; start++)
        st = answer(start, &err);
    if (st) {
        fprintf(stderr, "sources_planned: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < lines_n; i++)
        if (lines[i].is_missing)
            puts(lines[i].text);
    return 0;
}
