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

/* Is an update lost in memory of an allocator, by atomics of a scope (NULL: any)? */
static bool advice_counter_loses(const struct as_rule_context *c, const char *allocator, const char *scope)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = advice_counter_is_of(c, f, AS_FACT_LOST, true) ? worst_cell(c, f) : NULL;
        if (cell && strcmp(as_cell_axis(cell, "allocator"), allocator) == 0 &&
            (!scope || strcmp(as_cell_axis(cell, "scope"), scope) == 0))
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

/* What of the facts is listed: all of a kind; those that lose none at all; those that lose none at the scope that CPU
 * and device share, though they do at a narrower one. */
enum listed { LIST_ALL, NEVER_LOSES, ONLY_WIDE };

static bool is_listed(const struct as_rule_context *c, const struct as_fact *f, const char *allocator,
                      enum listed listed)
{
    if (listed == LIST_ALL)
        return true;
    if (listed == NEVER_LOSES)
        return !advice_counter_loses(c, allocator, NULL);
    return advice_counter_loses(c, allocator, NULL) && !advice_counter_loses(c, allocator, "system") &&
           has_scope(c, f, "system");
}

/* The scopes at which memory of the cell's allocator loses updates. */
static const char *scope_text(const struct as_rule_context *c, const struct as_cell *cell, char out[64])
{
    const char *allocator = as_cell_axis(cell, "allocator");
    if (advice_counter_loses(c, allocator, "device") && advice_counter_loses(c, allocator, "system"))
        return "scopes device and system";
    snprintf(out, 64, "scope %.32s", as_cell_axis(cell, "scope"));
    return out;
}

bool as_advice_atomics_hold(const struct as_rule_context *c, const char *allocator)
{
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = advice_counter_is_of(c, f, AS_FACT_LOST, false) ? worst_cell(c, f) : NULL;
        if (cell && strcmp(as_cell_axis(cell, "allocator"), allocator) == 0 && has_scope(c, f, "system"))
            return !advice_counter_loses(c, allocator, "system");
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

bool as_advise_counter(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    (void)t;
    struct as_advice losses = {0};
    const size_t lost = say_facts(c, &losses, AS_FACT_LOST, true, LIST_ALL, "");
    if (lost == 1)
        as_advice_say(a, "UPDATES ARE LOST: do not share a counter in %s", losses.sentence);
    else if (lost)
        as_advice_say(a, "UPDATES ARE LOST: do not share a counter in memory of these %zu allocators. Lost in %s", lost,
                      losses.sentence);
    take_numbers(a, &losses);
    a->warning = lost > 0;
    size_t good = say_facts(c, a, AS_FACT_LOST, false, ONLY_WIDE, ". With atomics of scope system none was lost in ");
    good += say_facts(c, a, AS_FACT_LOST, false, NEVER_LOSES,
                      lost ? ". No update was lost, for the types and scopes measured, in "
                           : "They may, with atomic updates: none was lost in ");
    if (lost + good == 0)
        return false;
    struct as_advice controls = {0};
    if (say_facts(c, &controls, AS_FACT_LOST_CONTROL, true, LIST_ALL, ""))
        as_advice_say(a, ". Without atomics updates are lost in %s, so losses are detected", controls.sentence);
    else if (say_facts(c, &controls, AS_FACT_LOST_CONTROL, false, LIST_ALL, ""))
        as_advice_say(a, ". Without atomics none is lost in %s either, so the absence of losses proves little",
                      controls.sentence);
    else
        as_advice_say(a, ". Whether losses would be detected is unknown: there is no valid control without atomics");
    take_numbers(a, &controls);
    say_together(c, a);
    return true;
}
