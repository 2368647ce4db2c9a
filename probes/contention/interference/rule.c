/* The share of speed that each side keeps while the other works, and whether the control is 1. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>

/* What a side does, in words. */
static const struct verb {
    const char *op, *singular, *plural, *bandwidth; /* NULL: a chase */
} verbs[] = {
    {"read", "reads", "read", "read bandwidth"},
    {"write", "writes", "write", "write bandwidth"},
    {"write_nt", "writes with non-temporal stores", "write with non-temporal stores",
     "bandwidth of non-temporal stores"},
    {"atomic", "makes atomic additions", "make atomic additions", "rate of atomic additions"},
    {"chase", "chases pointers", "chase pointers", NULL},
    {"h2d", "copies from the host", "copy from the host", "host-to-device bandwidth"},
    {"d2h", "copies to the host", "copy to the host", "device-to-host bandwidth"},
};

static const struct verb *verb_of(const struct as_cell *cell, const char *axis)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (as_cell_is(cell, axis, verbs[i].op))
            return &verbs[i];
    return NULL;
}

/* A side, as the subject of a sentence. */
struct who {
    char name[48];
    bool plural;
};

static bool is_cpu(const struct as_rule_context *c)
{
    return c->info && (c->info->capabilities & AS_CAP_HOST_KERNELS);
}

static struct who cpu_threads(const struct as_cell *cell)
{
    const double threads = as_cell_axis_number(cell, "threads");
    struct who w = {.plural = threads != 1};
    if (threads > 0)
        snprintf(w.name, sizeof w.name, "%.0f CPU thread%s", threads, threads == 1 ? "" : "s");
    else
        snprintf(w.name, sizeof w.name, "all CPUs but one");
    return w;
}

static struct who victim_of(const struct as_rule_context *c, const struct as_cell *cell)
{
    if (as_cell_is(cell, "victim", "device"))
        return (struct who){.name = "the device"};
    if (is_cpu(c))
        return (struct who){.name = "one core"};
    return as_cell_is(cell, "op", "chase") ? (struct who){.name = "one CPU thread"} : cpu_threads(cell);
}

static struct who aggressor_of(const struct as_rule_context *c, const struct as_cell *cell)
{
    const double threads = as_cell_axis_number(cell, "threads");
    if (!is_cpu(c) && as_cell_is(cell, "victim", "cpu"))
        return (struct who){.name = "the device"};
    if (!is_cpu(c))
        return cpu_threads(cell);
    struct who w = {.name = "all other cores", .plural = threads != 1};
    if (threads > 0)
        snprintf(w.name, sizeof w.name, "%.0f other core%s", threads, threads == 1 ? "" : "s");
    return w;
}

/* "thp, 64 MiB, shared buffer, SCHED_IDLE" */
static const char *conditions(const struct as_cell *cell, char *out, size_t size)
{
    char bytes[32], load[32] = "";
    if (as_cell_axis_number(cell, "load") < 100)
        snprintf(load, sizeof load, ", aggressor at %s%% load", as_cell_axis(cell, "load"));
    snprintf(out, size, "%.40s, %s%s%s%s%s", as_cell_axis(cell, "allocator"),
             as_fact_value_text(as_cell_size(cell), AS_NO_INTERVAL, "B", bytes, sizeof bytes),
             as_cell_is(cell, "buffers", "shared") ? ", shared buffer" : "", load,
             as_cell_is(cell, "priority", "normal") ? "" : ", aggressor's priority ",
             as_cell_is(cell, "priority", "normal") ? "" : as_cell_axis(cell, "priority"));
    return out;
}

static struct as_fact *interference_add(struct as_rule_context *c, enum as_relation relation,
                                        const struct as_cell *cell, const char *unit)
{
    char size[32];
    snprintf(size, sizeof size, "%.0f", as_cell_size(cell));
    return as_fact_add(c, relation, cell, AS_BY(.unit = unit, .size = size));
}

/* The fact's number is a percentage, or a ratio with `nothing` as its neutral value. role: ", as the aggressor" or
 * "". */
static void interference_say(struct as_fact *f, const char *before, const char *per, const char *role,
                             const char *during, double nothing, const struct as_cell *cell)
{
    char number[256], note[160], all[192];
    snprintf(all, sizeof all, "%s%s", conditions(cell, note, sizeof note), role);
    const bool decided = f->ci.lo > nothing || f->ci.hi < nothing;
    f->verdict = decided ? AS_SUPPORTED : AS_UNDECIDED;
    as_fact_say(f, "%s %s while %s%s", before, as_fact_noted_text(f, per, all, number, sizeof number), during,
                decided ? "" : "; the interval includes no effect");
    as_fact_evidence(f, cell);
}

static const char *while_text(const struct who *w, const struct verb *v, char *out, size_t size)
{
    snprintf(out, size, "%s %s", w->name, w->plural ? v->plural : v->singular);
    return out;
}

static void say_keeps(struct as_fact *f, const struct as_cell *cell, const struct who *w, const char *bandwidth,
                      const char *role, const char *during)
{
    char before[96], per[64], capital[AS_TERM_SIZE];
    snprintf(before, sizeof before, "%s %s", as_capital(w->name, capital), w->plural ? "keep" : "keeps");
    snprintf(per, sizeof per, " of %s %s", w->plural ? "their" : "its", bandwidth);
    interference_say(f, before, per, role, during, 100, cell);
}

/* The same victim without an aggressor. */
static const struct as_cell *control_of(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(cells[i], "aggressor", "none") && as_cells_same(cells[i], cell, "victim") &&
            as_cells_same(cells[i], cell, "op") && as_cells_same(cells[i], cell, "allocator") &&
            as_cells_same(cells[i], cell, "size"))
            return cells[i];
    return NULL;
}

/* Cores share the bandwidth of a memory on every machine. */
static void add_advice(struct as_rule_context *c, struct as_fact *f, const struct as_cell *cell,
                       const struct as_cell *control, const struct who *w, const char *during)
{
    const struct verb *own = verb_of(cell, "op");
    char capital[AS_TERM_SIZE];
    if (is_cpu(c) && own->bandwidth)
        return;
    as_fact_gain(f, cell->sum.median, as_cell_interval(cell));
    if (control)
        as_fact_gain_beside(f, as_cell_interval(control));
    if (as_fact_side(f) > 0 && own->bandwidth)
        as_fact_act(f, "Do not stream on both sides at once: %s %s {gain} slower while %s",
                    as_capital(w->name, capital), w->plural ? "are" : "is", during);
    else if (as_fact_side(f) > 0)
        as_fact_act(
            f, "Keep latency-bound threads away from streaming ones: a pointer chase takes {gain} as long while %s",
            during);
}

static void add_victim(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *control)
{
    const struct who w = victim_of(c, cell), a = aggressor_of(c, cell);
    const struct verb *own = verb_of(cell, "op"), *other = verb_of(cell, "aggressor");
    const struct as_interval ci = as_cell_interval(cell);
    const double slowdown = cell->sum.median;
    char during[96], before[96];
    if (!own || !other)
        return;
    struct as_fact *f = interference_add(c, AS_FACT_INTERFERENCE_VICTIM, cell, own->bandwidth ? "%" : "x");
    if (!f)
        return;
    while_text(&a, other, during, sizeof during);
    add_advice(c, f, cell, control, &w, during);
    if (own->bandwidth) {
        as_fact_number(f, 100 / slowdown, (struct as_interval){100 / ci.hi, 100 / ci.lo});
        say_keeps(f, cell, &w, own->bandwidth, "", during);
        return;
    }
    as_fact_number(f, slowdown, ci);
    snprintf(before, sizeof before, "A pointer chase by %s takes", w.name);
    interference_say(f, before, " as long", "", during, 1, cell);
}

static void add_aggressor(struct as_rule_context *c, const struct as_cell *cell)
{
    const struct who w = victim_of(c, cell), a = aggressor_of(c, cell);
    const struct verb *own = verb_of(cell, "op"), *other = verb_of(cell, "aggressor");
    struct as_metric_value v;
    char during[96];
    if (!own || !other || !other->bandwidth || !as_cell_metric(cell, "aggressor_keeps", &v) || !isfinite(v.ci.lo))
        return;
    struct as_fact *f = interference_add(c, AS_FACT_INTERFERENCE_AGGRESSOR, cell, "%");
    if (!f)
        return;
    as_fact_number(f, v.value, v.ci);
    say_keeps(f, cell, &a, other->bandwidth, ", as the aggressor", while_text(&w, own, during, sizeof during));
}

/* A control of 1 is as expected and gives no fact. */
static void add_control(struct as_rule_context *c, const struct as_cell *cell)
{
    const struct who w = victim_of(c, cell);
    const struct verb *own = verb_of(cell, "op");
    char number[256], note[160];
    const enum as_fact_verdict verdict = as_verdict_control(as_cell_interval(cell));
    struct as_fact *f =
        own && verdict != AS_SUPPORTED ? interference_add(c, AS_FACT_INTERFERENCE_CONTROL, cell, "x") : NULL;
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    const bool one = f->ci.lo <= 1 && f->ci.hi >= 1;
    f->verdict = verdict;
    as_fact_say(
        f, "Without an aggressor the paired ratio is %s while %s %s",
        as_fact_noted_text(f, one ? "" : ", not 1,", conditions(cell, note, sizeof note), number, sizeof number),
        w.name, w.plural ? own->plural : own->singular);
    as_fact_evidence(f, cell);
}

static void interference_derive(struct as_rule_context *c)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "interference", &cells);
    for (size_t i = 0; i < n; i++) {
        if (as_cell_is(cells[i], "aggressor", "none")) {
            add_control(c, cells[i]);
            continue;
        }
        add_victim(c, cells[i], control_of(cells, n, cells[i]));
        add_aggressor(c, cells[i]);
    }
    free(cells);
}

const struct as_rule as_rules_interference[] = {
    {"interference", interference_derive,
     "time of the victim's work while the aggressor works over that alone in the same matched block; a bandwidth kept "
     "is the inverse; of the aggressor, its rate while the victim works over that alone",
     "a control without an aggressor whose ratio is not 1, or a slowdown that stays when the aggressor is stopped"},
    {0},
};
