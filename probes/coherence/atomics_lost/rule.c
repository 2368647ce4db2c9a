/* Whether atomic updates are lost: one sentence per kind of memory and set of agents. */
#include "facts/rule.h"
#include "base/text.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *sides_id(const struct as_cell *cell)
{
    return as_cell_both_work(cell) ? "both" : as_cell_works(cell, "cpu_threads") ? "cpu" : "device";
}

static const char *sides_text(const struct as_cell *cell)
{
    return as_cell_both_work(cell)              ? "CPU and device concurrently"
           : as_cell_works(cell, "cpu_threads") ? "CPU threads"
                                                : "device threads";
}

static bool atomics_lost_is_plain(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "op"), "plain") == 0;
}

static bool lost_any(const struct as_cell *cell)
{
    return cell->sum.max > 0;
}

/* What is known of atomics of one kind: the same memory, sides, type and scope. */
enum kind_state {
    KIND_KEEPS, /* enough updates, none lost */
    KIND_LOSES, /* in at least one cell */
    KIND_OPEN   /* none lost, but too few to tell */
};

/* No loss in n independent updates: their rate is below 3/n, with 95% confidence. "No update lost" needs a rate below
 * this. */
static const double LOSS_RATE_MAX = 1e-3;

struct lost_cells {
    const struct as_cell **v;
    enum kind_state *state; /* of each cell's kind */
    size_t n;
};

/* Updates that could have been lost: with both sides at work those of the side that makes fewer meet as many of the
 * other. */
static double lost_at_risk(const struct as_cell *cell)
{
    const double cpu = as_cell_note(cell, "updates_by_cpu"), device = as_cell_note(cell, "updates_by_device"),
                 each = as_cell_both_work(cell) ? 2 * fmin(cpu, device) : cpu + device;
    return each > 0 ? each * (double)cell->sum.n : 0;
}

static bool is_one_memory(const struct as_cell *a, const struct as_cell *b)
{
    return atomics_lost_is_plain(a) == atomics_lost_is_plain(b) && as_cells_same(a, b, "allocator") &&
           strcmp(sides_id(a), sides_id(b)) == 0;
}

static bool is_one_kind(const struct as_cell *a, const struct as_cell *b)
{
    return is_one_memory(a, b) && as_cells_same(a, b, "type") && as_cells_same(a, b, "scope");
}

static enum kind_state kind_state_of(const struct lost_cells *c, const struct as_cell *cell)
{
    double updates = 0;
    if (atomics_lost_is_plain(cell)) /* the control: each cell for itself */
        return lost_any(cell) ? KIND_LOSES : KIND_KEEPS;
    for (size_t i = 0; i < c->n; i++) {
        if (!is_one_kind(c->v[i], cell))
            continue;
        if (lost_any(c->v[i]))
            return KIND_LOSES;
        updates += lost_at_risk(c->v[i]);
    }
    return updates * LOSS_RATE_MAX >= 3 ? KIND_KEEPS : KIND_OPEN;
}

/* Cells of one sentence: the same memory and sides; if updates are lost also the same type and scope. */
static bool is_one_story(const struct lost_cells *c, size_t a, size_t b)
{
    const bool loses = c->state[a] == KIND_LOSES;
    return loses == (c->state[b] == KIND_LOSES) &&
           (loses && !atomics_lost_is_plain(c->v[a]) ? is_one_kind(c->v[a], c->v[b]) : is_one_memory(c->v[a], c->v[b]));
}

static bool lost_elsewhere(const struct lost_cells *c, size_t at)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == KIND_LOSES && is_one_memory(c->v[i], c->v[at]))
            return true;
    return false;
}

/* The kinds in this state of a sentence, each once: "u32 system, u64 device". */
static void list_kinds(const struct lost_cells *c, size_t at, enum kind_state state, struct as_buf *out)
{
    const size_t before = out->len;
    for (size_t i = at; i < c->n; i++) {
        bool seen = c->state[i] != state || !is_one_story(c, i, at);
        for (size_t k = at; k < i && !seen; k++)
            seen = is_one_kind(c->v[k], c->v[i]);
        if (!seen)
            as_buf_printf(out, "%s%s %s", out->len > before ? ", " : "", as_cell_axis(c->v[i], "type"),
                          as_cell_axis(c->v[i], "scope"));
    }
}

/* The cells in this state of a sentence, and their updates. */
static size_t count_cells(const struct lost_cells *c, size_t at, enum kind_state state, double *updates)
{
    size_t n = 0;
    *updates = 0;
    for (size_t i = at; i < c->n; i++) {
        if (c->state[i] != state || !is_one_story(c, i, at))
            continue;
        n++;
        *updates += lost_at_risk(c->v[i]);
    }
    return n;
}

/* "2 measurements (u32 system)", the kinds where they are told from others of the memory. */
static void list_cells(const struct lost_cells *c, size_t at, enum kind_state state, size_t cells, bool names,
                       struct as_buf *out)
{
    as_buf_printf(out, "%zu measurement%s%s", cells, cells == 1 ? "" : "s", names ? " (" : "");
    if (names) {
        list_kinds(c, at, state, out);
        as_buf_char(out, ')');
    }
}

/* Names the types and scopes that lose none where the same memory loses updates of others, or they are too few. */
static void say_kept(struct as_fact *f, const struct lost_cells *c, size_t at)
{
    char count[32];
    double kept, open;
    struct as_buf text = AS_BUF_INIT;
    const size_t kept_n = count_cells(c, at, KIND_KEEPS, &kept), open_n = count_cells(c, at, KIND_OPEN, &open);
    const bool some = lost_elsewhere(c, at) || open_n;
    const char *allocator = as_cell_axis(c->v[at], "allocator"), *sides = sides_text(c->v[at]),
               *what = as_cell_both_work(c->v[at]) ? " concurrent updates" : "";
    if (kept_n) {
        as_buf_printf(&text, "%s on '%s' memory by %s: no update lost in about %s%s, in ",
                      some ? "Some kinds of atomics" : "Atomics", allocator, sides,
                      as_rounded_count(kept, count, sizeof count), what);
        list_cells(c, at, KIND_KEEPS, kept_n, some, &text);
    }
    if (open_n) {
        if (kept_n)
            as_buf_str(&text, "; inconclusive in ");
        else
            as_buf_printf(&text, "Whether atomics on '%s' memory by %s lose updates is inconclusive: none lost in ",
                          allocator, sides);
        list_cells(c, at, KIND_OPEN, open_n, true, &text);
        as_buf_printf(&text, ", only about %s%s", as_rounded_count(open, count, sizeof count), what);
    }
    as_fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
}

static const struct as_cell *worst_of(const struct lost_cells *c, size_t at, size_t *many, size_t *losing)
{
    const struct as_cell *worst = c->v[at];
    *many = *losing = 0;
    for (size_t i = at; i < c->n; i++) {
        if (!is_one_story(c, i, at))
            continue;
        ++*many;
        *losing += lost_any(c->v[i]);
        worst = c->v[i]->sum.max > worst->sum.max ? c->v[i] : worst;
    }
    return worst;
}

/* The driver's statement that CPU and device do not share atomics in this memory; "" for other memory. */
static const char *unshared_why(const struct as_rule_context *c, const struct as_cell *cell)
{
    const struct as_allocator *memory = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "allocator")) : NULL;
    return memory && as_cell_both_work(cell) ? memory->no_sharing : "";
}

static void say_lost(const struct as_rule_context *c, struct as_fact *f, const struct as_cell *worst, size_t many,
                     size_t losing)
{
    char array[64], most[32], of[32] = "", share[64] = "";
    struct as_metric_value lost;
    as_rounded_count(worst->sum.max, most, sizeof most);
    if (as_cell_metric(worst, "lost_share", &lost))
        snprintf(share, sizeof share, " (median %.2g%% of the updates)", lost.value);
    if (atomics_lost_is_plain(worst)) {
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "Control: plain updates by %s are lost in '%s', up to %s per sample, so losses are detected",
                    sides_text(worst), as_cell_axis(worst, "allocator"), most);
        return;
    }
    const bool narrow = as_cell_is(worst, "scope", "device") && as_cell_both_work(worst);
    const char *why = narrow ? "" : unshared_why(c, worst);
    const bool expected = narrow || why[0];
    f->verdict = expected ? AS_SUPPORTED : AS_REFUTED;
    if (losing < many)
        snprintf(of, sizeof of, "%zu of ", losing);
    as_fact_say(f, "%s in '%s' where %s increment %s, scope %s%s: up to %s per sample%s, in %s%zu measurement%s%s%s",
                expected ? "Updates are lost" : "UPDATES ARE LOST", as_cell_axis(worst, "allocator"), sides_text(worst),
                as_array_text(worst, array), as_cell_axis(worst, "scope"),
                narrow ? ", which does not cover the CPU" : "", most, share, of, many, many == 1 ? "" : "s",
                why[0] ? "; the driver says: " : "", why);
    if (!expected)
        as_fact_act(f, "Do not use %s atomics by %s on '%s': up to %s updates per sample are lost",
                    as_cell_axis(worst, "type"), sides_text(worst), as_cell_axis(worst, "allocator"), most);
}

/* Of what is said: the kinds that lose none, or where there are none those that may. */
static void add_evidence(struct as_fact *f, const struct lost_cells *cells, size_t at, const struct as_cell *worst)
{
    double unused;
    const enum kind_state state = cells->state[at] == KIND_LOSES                     ? KIND_LOSES
                                  : count_cells(cells, at, KIND_KEEPS, &unused) != 0 ? KIND_KEEPS
                                                                                     : KIND_OPEN;
    if (state == KIND_LOSES)
        as_fact_evidence(f, worst);
    for (size_t i = at; i < cells->n; i++)
        if (cells->state[i] == state && is_one_story(cells, i, at))
            as_fact_evidence(f, cells->v[i]);
    if (state == KIND_OPEN)
        f->verdict = AS_UNDECIDED;
}

static void add_story(struct as_rule_context *c, const struct lost_cells *cells, size_t at)
{
    size_t many, losing;
    const struct as_cell *worst = worst_of(cells, at, &many, &losing);
    const bool lost = cells->state[at] == KIND_LOSES, plain = atomics_lost_is_plain(worst), one_kind = lost && !plain;
    struct as_fact *f =
        as_fact_add(c, plain ? AS_FACT_LOST_CONTROL : AS_FACT_LOST, worst,
                    AS_BY(.sides = sides_id(worst), .type = one_kind ? NULL : "", .scope = one_kind ? NULL : ""));
    if (!f)
        return;
    f->matter = "lost updates"; /* its own matter, so that update rates of the same object do not hide it */
    as_fact_number(f, worst->sum.max, AS_NO_INTERVAL);
    if (lost)
        say_lost(c, f, worst, many, losing);
    else if (plain)
        as_fact_say(f, "Control: plain updates by %s are not lost in '%s', so the absence of losses proves little",
                    sides_text(worst), as_cell_axis(worst, "allocator"));
    else
        say_kept(f, cells, at);
    add_evidence(f, cells, at, worst);
    if (plain && !lost)
        f->verdict = AS_UNDECIDED;
}

static void derive_lost(struct as_rule_context *c)
{
    struct lost_cells cells;
    cells.n = as_cells_of(c, "atomics_lost", &cells.v);
    if (!(cells.state = calloc(cells.n + 1, sizeof *cells.state)))
        c->status = as_nomem(c->err, cells.n * sizeof *cells.state, "kinds of atomics");
    for (size_t i = 0; i < cells.n && cells.state; i++)
        cells.state[i] = kind_state_of(&cells, cells.v[i]);
    for (size_t i = 0; i < cells.n && cells.state; i++) {
        size_t before = 0;
        while (before < i && !is_one_story(&cells, before, i))
            before++;
        if (before < i)
            continue;
        add_story(c, &cells, i);
    }
    free(cells.state);
    free(cells.v);
}

const struct as_rule as_rules_atomics_lost[] = {
    {"lost updates", derive_lost,
     "a fixed number of additions of 1 compared with the sum of the array: a single lost one is enough, in any "
     "measurement of the same memory, sides, type and scope; expected where the scope or, as the driver says, the "
     "memory is not shared by CPU and device; no update lost: from 3000 updates at risk on, of CPU and "
     "device twice those of the side that makes fewer",
     "a run with the same memory, type and scope in which an update is lost; for a verdict of lost, runs without any "
     "loss"},
    {0},
};
