/* Whether CPU and device may update one counter. */
#include "facts/advice_topics.h"

#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 3 }; /* of a list in a sentence; a warning names all */

/* Of both sides at work: were updates lost, or none? */
static bool advice_counter_is_of(const struct as_rule_context *c, const struct as_fact *f, enum as_relation relation,
                                 bool lost)
{
    return strcmp(f->device, c->device) == 0 && as_fact_is(f, relation, AS_BY(.sides = "both")) &&
           (f->value > 0) == lost;
}

/* The cell of a fact that says the most: with the largest sample. */
static const struct as_cell *worst_cell(const struct as_rule_context *c, const struct as_fact *f)
{
    const struct as_cell *worst = NULL;
    for (size_t i = 0; i < f->evidence_n && i < AS_EVIDENCE_MAX; i++) {
        const struct as_cell *cell = as_rule_cell(c, f->evidence[i]);
        if (cell && (!worst || cell->sum.max > worst->sum.max))
            worst = cell;
    }
    return worst;
}

/* Atomics of a narrow scope do not cover the CPU. */
enum counter_scope { SCOPE_ANY, SCOPE_NARROW, SCOPE_WIDE };

/* Is an update lost in memory of an allocator, by atomics of a scope? */
static bool advice_counter_loses(const struct as_rule_context *c, const char *allocator, enum counter_scope scope)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = advice_counter_is_of(c, f, AS_FACT_LOST, true) ? worst_cell(c, f) : NULL;
        if (cell && as_cell_is(cell, "allocator", allocator) &&
            (scope == SCOPE_ANY || as_cell_is(cell, "scope", "device") == (scope == SCOPE_NARROW)))
            return true;
    }
    return false;
}

/* Does another fact of the same kind lose more in the same allocator, at whatever scope? */
static bool is_outdone(const struct as_rule_context *c, size_t at, enum as_relation relation,
                       const struct as_cell *worst)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *g = &c->facts->v[i];
        const struct as_cell *cell =
            i != at && advice_counter_is_of(c, g, relation, c->facts->v[at].value > 0) ? worst_cell(c, g) : NULL;
        if (cell && as_cells_same(cell, worst, "allocator") &&
            (cell->sum.max > worst->sum.max || (cell->sum.max == worst->sum.max && i < at)))
            return true;
    }
    return false;
}

static bool has_scope(const struct as_rule_context *c, const struct as_fact *f, const char *scope)
{
    for (size_t i = 0; i < f->evidence_n && i < AS_EVIDENCE_MAX; i++) {
        const struct as_cell *cell = as_rule_cell(c, f->evidence[i]);
        if (cell && strcmp(as_cell_axis(cell, "scope"), scope) == 0)
            return true;
    }
    return false;
}

/* Are there valid cells of both sides at work at the scope that they share? */
static bool is_measured_wide(const struct as_rule_context *c, const char *allocator)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "atomics_lost") == 0 && as_cell_is(c->cells[i], "allocator", allocator) &&
            as_cell_is(c->cells[i], "op", "add") && as_cell_is(c->cells[i], "scope", "system") &&
            as_cell_both_work(c->cells[i]))
            return true;
    return false;
}

/* Did enough updates show that none is lost, at the scope that CPU and device share where that is measured? */
static bool is_shown(const struct as_rule_context *c, const struct as_fact *f, const char *allocator)
{
    return f->verdict == AS_SUPPORTED && (has_scope(c, f, "system") || !is_measured_wide(c, allocator));
}

/* Which facts are listed. */
enum listed {
    LIST_ALL,
    LOSES_WIDE,   /* at the scope that CPU and device share */
    LOSES_NARROW, /* only at a narrower one */
    NEVER_LOSES,
    KEEPS_WIDE, /* loses, but not at the scope that they share */
    TOO_FEW     /* updates to tell */
};

static bool is_listed(const struct as_rule_context *c, const struct as_fact *f, const char *allocator,
                      enum listed listed)
{
    const bool any = advice_counter_loses(c, allocator, SCOPE_ANY),
               wide = advice_counter_loses(c, allocator, SCOPE_WIDE);
    switch (listed) {
    case LOSES_WIDE:
        return wide;
    case LOSES_NARROW:
        return !wide;
    case NEVER_LOSES:
        return !any && is_shown(c, f, allocator);
    case KEEPS_WIDE:
        return any && !wide && is_shown(c, f, allocator);
    case TOO_FEW:
        return !wide && !is_shown(c, f, allocator);
    case LIST_ALL:
        break;
    }
    return true;
}

/* The scopes at which memory of the cell's allocator loses updates. */
static const char *scope_text(const struct as_rule_context *c, const struct as_cell *cell, char out[64])
{
    const char *allocator = as_cell_axis(cell, "allocator");
    if (advice_counter_loses(c, allocator, SCOPE_NARROW) && advice_counter_loses(c, allocator, SCOPE_WIDE))
        return "scopes device and system";
    snprintf(out, 64, "scope %.32s", as_cell_axis(cell, "scope"));
    return out;
}

bool as_advice_atomics_hold(const struct as_rule_context *c, const char *allocator)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = advice_counter_is_of(c, f, AS_FACT_LOST, false) ? worst_cell(c, f) : NULL;
        if (cell && as_cell_is(cell, "allocator", allocator) && f->verdict == AS_SUPPORTED && has_scope(c, f, "system"))
            return !advice_counter_loses(c, allocator, SCOPE_WIDE);
    }
    return false;
}

/* Facts of both sides at work, an allocator once, with what is said before their allocators. */
static size_t say_facts(struct as_rule_context *c, struct as_advice *a, enum as_relation relation, bool lost,
                        enum listed listed, const char *before)
{
    const bool warning = lost && relation == AS_FACT_LOST;
    size_t said = 0, most = warning ? SIZE_MAX : NAMES_MAX;
    char scope[64], count[48];
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = advice_counter_is_of(c, f, relation, lost) ? worst_cell(c, f) : NULL;
        const char *allocator = cell ? as_cell_axis(cell, "allocator") : "";
        if (!cell || is_outdone(c, i, relation, cell) || !is_listed(c, f, allocator, listed) || said++ >= most)
            continue;
        as_advice_say(a, "%s'%s'", said > 1 ? ", " : before, allocator);
        if (warning)
            as_advice_say(a, " (%s, %s: up to %s lost)", as_cell_axis(cell, "type"), scope_text(c, cell, scope),
                          as_rounded_count(cell->sum.max, count, sizeof count));
        as_advice_add_number(a, cell, "updates lost%s, '%s', %s, scope %s, median",
                             strcmp(as_cell_axis(cell, "op"), "plain") == 0 ? " without atomics" : "", allocator,
                             as_cell_axis(cell, "type"), as_cell_axis(cell, "scope"));
    }
    if (said > most)
        as_advice_say(a, " and %zu more", said - most);
    return said;
}

static void take_numbers(struct as_advice *a, const struct as_advice *from)
{
    for (size_t i = 0; i < from->numbers_n && a->numbers_n < AS_ADVICE_NUMBERS_MAX; i++)
        a->numbers[a->numbers_n++] = from->numbers[i];
    a->of_one_trial += from->of_one_trial;
}

/* Whether both sides at once update arrays faster than the better one alone, where no update is lost. */
static void say_together(struct as_rule_context *c, struct as_advice *a)
{
    const struct as_fact *best = NULL;
    const struct as_cell *cpu = NULL;
    char ratio[96], array[64];
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const bool is_of = strcmp(f->device, c->device) == 0 && as_fact_is(f, AS_FACT_ATOMICS_TOGETHER, NULL);
        const struct as_cell *cell = is_of && f->evidence_n > 1 ? as_rule_cell(c, f->evidence[0]) : NULL;
        if (!cell || !as_advice_atomics_hold(c, as_cell_axis(cell, "allocator")) || (best && f->ci.lo <= best->ci.lo))
            continue;
        best = f;
        cpu = cell;
    }
    if (!best || as_fact_is_open(best) || as_verdict_above(best->ci, 1) == AS_UNDECIDED)
        return;
    as_advice_say(a,
                  ". Concurrent updates from both sides reach %s the rate of the faster side alone (%s, '%s', %s CPU "
                  "and %s device threads)",
                  as_fact_value_text(best->value, best->ci, "x", ratio, sizeof ratio), as_array_text(cpu, array),
                  as_cell_axis(cpu, "allocator"), as_cell_axis(cpu, "cpu_threads"),
                  as_cell_axis(cpu, "device_threads"));
    as_advice_add_number(a, cpu, "updates by the CPU while the device updates %s, '%s'", array,
                         as_cell_axis(cpu, "allocator"));
    const struct as_cell *device = as_rule_cell(c, best->evidence[1]);
    if (device)
        as_advice_add_number(a, device, "updates by the device while the CPU updates the same array");
}

/* "'a' or 'b'", "'a', 'b' or 3 others": of the numbers' cells. */
static void say_allocators(struct as_rule_context *c, struct as_advice *a, const struct as_advice *from, size_t n)
{
    enum { NAMED = 2 };
    for (size_t i = 0; i < from->numbers_n && i < NAMED; i++) {
        const struct as_cell *cell = as_rule_cell(c, from->numbers[i].cell);
        as_advice_say(a, "%s'%s'",
                      i == 0       ? ""
                      : n == NAMED ? " or "
                                   : ", ",
                      cell ? as_cell_axis(cell, "allocator") : "");
    }
    if (n > NAMED)
        as_advice_say(a, " or %zu other%s", n - NAMED, n == NAMED + 1 ? "" : "s");
}

/* Where updates are lost, at the scope that both sides share first; returns in how many allocators. */
static size_t say_losses(struct as_rule_context *c, struct as_advice *a)
{
    struct as_advice wide = {0}, narrow = {0};
    const size_t wide_n = say_facts(c, &wide, AS_FACT_LOST, true, LOSES_WIDE, ""),
                 narrow_n = say_facts(c, &narrow, AS_FACT_LOST, true, LOSES_NARROW, "");
    if (wide_n == 1)
        as_advice_say(a, "UPDATES ARE LOST: do not share a counter in %s", wide.sentence);
    else if (wide_n) {
        as_advice_say(a, "UPDATES ARE LOST: do not share a counter in ");
        say_allocators(c, a, &wide, wide_n);
        as_advice_say(a, ". Lost in %s", wide.sentence);
    }
    if (narrow_n)
        as_advice_say(a, "%s in %s",
                      wide_n
                          ? ". With a scope that does not cover the CPU, updates are lost"
                          : "Do not share a counter with atomics whose scope does not cover the CPU. Updates are lost",
                      narrow.sentence);
    take_numbers(a, &wide);
    take_numbers(a, &narrow);
    return wide_n + narrow_n;
}

/* Would losses be detected? */
static void say_controls(struct as_rule_context *c, struct as_advice *a)
{
    struct as_advice controls = {0};
    if (say_facts(c, &controls, AS_FACT_LOST_CONTROL, true, LIST_ALL, ""))
        as_advice_say(a, ". Without atomics updates are lost in %s, so losses are detected", controls.sentence);
    else if (say_facts(c, &controls, AS_FACT_LOST_CONTROL, false, LIST_ALL, ""))
        as_advice_say(a, ". Without atomics none is lost in %s either, so the absence of losses proves little",
                      controls.sentence);
    else
        as_advice_say(a, ". Whether losses would be detected is unknown: there is no valid control without atomics");
    take_numbers(a, &controls);
}

bool as_advise_counter(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    (void)t;
    const size_t lost = say_losses(c, a);
    a->warning = lost > 0;
    size_t good = say_facts(c, a, AS_FACT_LOST, false, KEEPS_WIDE, ". With atomics of scope system none was lost in ");
    good += say_facts(c, a, AS_FACT_LOST, false, NEVER_LOSES,
                      lost ? ". No update was lost, for types and scopes with enough updates to tell, in "
                           : "They may, with atomic updates: none was lost in ");
    const size_t open = say_facts(
        c, a, AS_FACT_LOST, false, TOO_FEW,
        lost + good
            ? ". Too few concurrent updates to tell whether any is lost at a scope that covers both: "
            : "Inconclusive. Too few concurrent updates to tell whether any is lost at a scope that covers both: ");
    if (lost + good + open == 0)
        return false;
    say_controls(c, a);
    say_together(c, a);
    return true;
}
