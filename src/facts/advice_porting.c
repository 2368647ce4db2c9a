/* Advice on what a port gains: page size, prefetch, one allocation in place of copies, and the strategies for it. */
#include "facts/advice_topics.h"

#include "base/text.h"
#include "model/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pairs of cells ---- */

/* "98.0 ns (97.0 to 99.0 ns)" */
static const char *porting_value(const struct as_cell *cell, char out[96])
{
    return as_fact_value_text(cell->sum.median, as_cell_interval(cell), cell->unit, out, 96);
}

/* Of the pairs that differ in the allocator only, the one with the largest size that is wanted. */
static bool porting_pair(struct as_rule_context *c, const char *probe, const char *role_a, const char *role_b,
                         const char *const wanted[][2], struct as_pair *out)
{
    struct as_pair *pairs;
    size_t n;
    double most = 0;
    *out = (struct as_pair){0};
    as_pairs_make(c, probe, "allocator", role_a, role_b, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_wanted = true;
        for (size_t k = 0; wanted[k][0]; k++)
            is_wanted &= as_cell_is(pairs[i].a, wanted[k][0], wanted[k][1]);
        if (!is_wanted || !(as_cell_size(pairs[i].a) > most))
            continue;
        most = as_cell_size(pairs[i].a);
        *out = pairs[i];
    }
    free(pairs);
    return out->a && out->b;
}

/* Of a rate (b over a) or a time (a over b): how many times as fast b is. */
static struct as_interval porting_gain(const struct as_pair *p, bool is_time, double *ratio)
{
    const struct as_cell *up = is_time ? p->a : p->b, *down = is_time ? p->b : p->a;
    *ratio = up->sum.median / down->sum.median;
    return as_cells_ratio(up, down);
}

/* Words of a choice between a and b: done where b is better, left where it is worse. */
struct porting_words {
    const char *do_it, *leave_it, *unclear; /* "Ask for huge pages" */
    const char *what;                       /* "a random load from" */
};

static void porting_say_pair(struct as_advice *a, const struct as_pair *p, bool is_time, const struct porting_words *w)
{
    char with[96], without[96], gain[96], size[32];
    double ratio;
    const struct as_interval ci = porting_gain(p, is_time, &ratio);
    const enum as_fact_verdict helps = as_verdict_above(ci, 1);
    as_fact_value_text(as_cell_size(p->a), AS_NO_INTERVAL, "B", size, sizeof size);
    as_advice_say(a, "%s", helps == AS_SUPPORTED ? w->do_it : helps == AS_REFUTED ? w->leave_it : w->unclear);
    if (helps != AS_UNDECIDED)
        as_advice_say(a, ": %s", as_noted_text(ratio, ci, "x", " as fast", "", gain, sizeof gain));
    as_advice_say(a, ". %c%s %s %s %s, against %s", toupper((unsigned char)w->what[0]), w->what + 1, size,
                  is_time ? "takes" : "runs at", porting_value(p->b, with), porting_value(p->a, without));
    as_advice_gain(a, ci);
    as_advice_add_number(a, p->a, "%s, '%s'", size, as_cell_axis(p->a, "allocator"));
    as_advice_add_number(a, p->b, "%s, '%s'", size, as_cell_axis(p->b, "allocator"));
}

bool as_advise_page_size(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    static const char *const wanted[][2] = {{"pattern", "random"}, {"instrument", "timed"}, {NULL, NULL}};
    static const struct porting_words words = {"Ask for huge pages", "Keep base pages",
                                               "Whether huge pages help is inconclusive", "a random load from"};
    struct as_pair p;
    (void)t;
    if (!porting_pair(c, "latency", "base_pages", "huge_pages", wanted, &p))
        return false;
    porting_say_pair(a, &p, true, &words);
    return true;
}

/* Seconds of a pass at the rate of the cell, and before it. */
static struct as_interval porting_pass_s(const struct as_cell *cell, double rate_lo, double rate_hi,
                                         struct as_interval before)
{
    const double bytes = as_cell_size(cell) / 1e9; /* rates are in GB/s */
    return (struct as_interval){bytes / rate_hi + before.lo, bytes / rate_lo + before.hi};
}

/* How many times as fast the pass is, with the time of its prefetch: b against a. */
static struct as_interval porting_prefetch_gain(const struct as_pair *p, double prefetch_s, double *ratio)
{
    static const double of_one = 2; /* a number of one trial may be off by this factor */
    const struct as_interval a = as_cell_interval(p->a), b = as_cell_interval(p->b), none = {0, 0},
                             once = {prefetch_s, prefetch_s}, took = {prefetch_s / of_one, prefetch_s * of_one};
    const struct as_interval without = porting_pass_s(p->a, a.lo, a.hi, none),
                             with = porting_pass_s(p->b, b.lo, b.hi, took);
    *ratio = porting_pass_s(p->a, p->a->sum.median, p->a->sum.median, none).lo /
             porting_pass_s(p->b, p->b->sum.median, p->b->sum.median, once).lo;
    return (struct as_interval){without.lo / with.hi, without.hi / with.lo};
}

/* The passes, and how much faster the one after the prefetch is by itself. */
static void porting_say_passes(struct as_advice *a, const struct as_pair *p)
{
    char with[96], without[96], gain[96], size[32];
    double ratio;
    const struct as_interval ci = porting_gain(p, false, &ratio);
    as_fact_value_text(as_cell_size(p->a), AS_NO_INTERVAL, "B", size, sizeof size);
    as_advice_say(a, ". The pass alone is %s: the device's first pass over %s runs at %s, against %s",
                  as_noted_text(ratio, ci, "x", " as fast", "", gain, sizeof gain), size, porting_value(p->b, with),
                  porting_value(p->a, without));
    as_advice_add_number(a, p->a, "%s, '%s'", size, as_cell_axis(p->a, "allocator"));
    as_advice_add_number(a, p->b, "%s, '%s'", size, as_cell_axis(p->b, "allocator"));
}

bool as_advise_prefetch(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    static const char *const wanted[][2] = {{"touch", "cpu"}, {"agent", "device"}, {"pass", "1"}, {NULL, NULL}};
    static const struct porting_words words = {
        "Prefetch managed memory where that overlaps other work (its own time is not counted)",
        "Do not prefetch managed memory", "Whether prefetching managed memory helps is inconclusive",
        "the device's first pass over"};
    char gain[96];
    double unused, ratio;
    struct as_pair p;
    (void)t;
    if (!porting_pair(c, "migration", "managed", "managed_prefetch", wanted, &p))
        return false;
    const double seconds = as_cell_note(p.b, "handover_seconds");
    if (!(seconds > 0) || as_verdict_above(porting_gain(&p, false, &unused), 1) != AS_SUPPORTED) {
        porting_say_pair(a, &p, false, &words);
        return true;
    }
    const struct as_interval ci = porting_prefetch_gain(&p, seconds, &ratio);
    const enum as_fact_verdict helps = as_verdict_above(ci, 1);
    as_noted_text(ratio, ci, "x", " as fast", "", gain, sizeof gain);
    if (helps == AS_UNDECIDED)
        as_advice_say(a, "Prefetch managed memory where that overlaps other work. Whether it saves more than its own "
                         "time is inconclusive");
    else
        as_advice_say(a,
                      "Prefetch managed memory%s: prefetch and first pass together are %s as a first pass without it",
                      helps == AS_SUPPORTED ? "" : " only where that overlaps other work", gain);
    porting_say_passes(a, &p);
    as_advice_gain(a, ci);
    return true;
}

/* ---- facts of applications ---- */

enum { PORTING_FACTS_MAX = 16 }; /* applications, or strategies */

/* The fact of an application whose first cell is the fastest; NULL: there is none. */
static const struct as_fact *porting_fastest(const struct as_rule_context *c, const char *app)
{
    const struct as_fact *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        const struct as_cell *cell = f->evidence_n ? as_rule_cell(c, f->evidence[0]) : NULL;
        if (f->relation != AS_FACT_APP || strcmp(f->device, c->device) != 0 || !cell ||
            strcmp(as_fact_field(f, AS_FIELD_WHAT), app) != 0 || !(cell->sum.median < least))
            continue;
        best = f;
        least = cell->sum.median;
    }
    return best;
}

/* Both cells of a fact as numbers. */
static void porting_add_numbers(const struct as_rule_context *c, struct as_advice *a, const struct as_fact *f)
{
    as_advice_gain(a, f->ci);
    for (size_t k = 0; k < f->evidence_n; k++) {
        const struct as_cell *cell = as_rule_cell(c, f->evidence[k]);
        const char *strategy = cell ? as_cell_axis(cell, "strategy") : "";
        if (cell)
            as_advice_add_number(a, cell, "%s, %s, '%s'%s%s", as_cell_axis(cell, "app"), as_cell_axis(cell, "version"),
                                 as_cell_axis(cell, "allocator"), strategy[0] ? ", " : "", strategy);
    }
}

/* Those of decided facts, which the sentence names, come first. */
static void porting_add_all(const struct as_rule_context *c, struct as_advice *a, const struct as_fact *const *of,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (of[i]->verdict != AS_UNDECIDED)
            porting_add_numbers(c, a, of[i]);
    for (size_t i = 0; i < n; i++)
        if (of[i]->verdict == AS_UNDECIDED)
            porting_add_numbers(c, a, of[i]);
}

/* What is decided goes to the first list: "double buffering 0.800x (0.790 to 0.810x; heartwall, 'managed')"; of the
 * rest the name goes to the second. */
static void porting_list_fact(const struct as_fact *f, const char *name, struct as_buf *decided, struct as_buf *unclear)
{
    char note[128], text[224];
    const char *what = as_fact_field(f, AS_FIELD_WHAT);
    if (f->verdict == AS_UNDECIDED) {
        as_buf_printf(unclear, "%s%s", unclear->len ? ", " : "", name[0] ? name : what);
        return;
    }
    snprintf(note, sizeof note, "%.20s, '%.40s'", what, as_fact_field(f, AS_FIELD_ALLOCATOR));
    as_buf_printf(decided, "%s%s%s%s", decided->len ? ", " : "", name, name[0] ? " " : "",
                  as_noted_text(f->value, f->ci, "x", "", note, text, sizeof text));
}

/* The share of peak memory that the unified version saves; NAN: unknown, or within the interval. */
static double porting_saved(const struct as_rule_context *c, const struct as_fact *f)
{
    const struct as_cell *unified = f->evidence_n ? as_rule_cell(c, f->evidence[0]) : NULL;
    struct as_metric_value peak;
    return unified && as_app_peak_counts(c, unified) && as_cell_metric(unified, "peak_against_explicit", &peak) &&
                   peak.trials > 1 && peak.ci.hi < 1
               ? 1 - peak.value
               : NAN;
}

/* The applications of facts, each once: those before the i-th have another name. */
static bool porting_is_first(const struct as_rule_context *c, size_t i)
{
    const struct as_fact *v = c->facts->v;
    for (size_t k = 0; k < i; k++)
        if (v[k].relation == AS_FACT_APP && strcmp(v[k].device, c->device) == 0 &&
            strcmp(as_fact_field(&v[k], AS_FIELD_WHAT), as_fact_field(&v[i], AS_FIELD_WHAT)) == 0)
            return false;
    return v[i].relation == AS_FACT_APP && strcmp(v[i].device, c->device) == 0;
}

/* The fastest fact of each application; returns their number. */
static size_t porting_applications(const struct as_rule_context *c, const struct as_fact *of[PORTING_FACTS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < c->facts->n && n < PORTING_FACTS_MAX; i++)
        if (porting_is_first(c, i))
            of[n++] = porting_fastest(c, as_fact_field(&c->facts->v[i], AS_FIELD_WHAT));
    return n;
}

static void porting_say_applications(struct as_advice *a, size_t n, size_t faster, size_t slower,
                                     const struct as_buf *decided, const struct as_buf *unclear)
{
    if (!decided->len) {
        as_advice_say(a, "Whether applications are faster with one allocation is inconclusive");
        return;
    }
    as_advice_say(a,
                  "%s: %zu of %zu applications %s faster with it, %zu slower. Time relative to explicit copies of "
                  "pageable memory: %s",
                  faster > slower   ? "Use one allocation"
                  : slower > faster ? "Keep explicit copies instead of one allocation"
                                    : "Whether one allocation is faster depends on the application",
                  faster, n, faster == 1 ? "is" : "are", slower, as_buf_get(decided));
    if (unclear->len)
        as_advice_say(a, ". Inconclusive: %s", as_buf_get(unclear));
}

bool as_advise_applications(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    const struct as_fact *of[PORTING_FACTS_MAX];
    const size_t n = porting_applications(c, of);
    size_t faster = 0, slower = 0;
    double saved = NAN;
    struct as_buf decided = AS_BUF_INIT, unclear = AS_BUF_INIT;
    (void)t;
    for (size_t i = 0; i < n; i++) {
        const struct as_fact *f = of[i];
        faster += f->verdict == AS_SUPPORTED;
        slower += f->verdict == AS_REFUTED;
        saved = fmax(saved, porting_saved(c, f));
        porting_list_fact(f, "", &decided, &unclear);
    }
    porting_add_all(c, a, of, n);
    porting_say_applications(a, n, faster, slower, &decided, &unclear);
    if (isfinite(saved))
        as_advice_say(a, ". One allocation saves up to %.0f%% of peak memory", 100 * saved);
    as_buf_finish(&decided);
    as_buf_finish(&unclear);
    return n > 0;
}

/* Facts of one strategy; inconclusive ones are not listed beside decided ones. */
struct porting_range {
    const struct as_fact *low, *high; /* of those that are decided, by their ratios */
    const struct as_fact *open;       /* the first that is not */
    size_t faster, slower;
};

static struct porting_range porting_range_of(const struct as_rule_context *c, const char *strategy)
{
    struct porting_range r = {.low = NULL};
    for (size_t i = 0; i < c->facts->n; i++) {
        const struct as_fact *f = &c->facts->v[i];
        if (f->relation != AS_FACT_APP_STRATEGY || strcmp(f->device, c->device) != 0 ||
            strcmp(as_fact_field(f, AS_FIELD_SCENARIO), strategy) != 0)
            continue;
        if (f->verdict == AS_UNDECIDED) {
            r.open = r.open ? r.open : f;
            continue;
        }
        r.faster += f->verdict == AS_SUPPORTED;
        r.slower += f->verdict == AS_REFUTED;
        r.low = !r.low || f->value < r.low->value ? f : r.low;
        r.high = !r.high || f->value > r.high->value ? f : r.high;
    }
    return r;
}

/* "static variables 1.57x (1.40 to 1.85x; dwt2d, 'managed') to 5.0x (4.5 to 5.4x; srad_v1, 'managed')" */
static void porting_list_range(const struct porting_range *r, const char *name, struct as_buf *decided,
                               struct as_buf *unclear)
{
    porting_list_fact(r->low ? r->low : r->open, name, decided, unclear);
    if (r->low == r->high)
        return;
    struct as_buf high = AS_BUF_INIT;
    porting_list_fact(r->high, "", &high, unclear);
    as_buf_printf(decided, " to %s", as_buf_get(&high));
    as_buf_finish(&high);
}

static const struct {
    const char *strategy, *says;
    enum as_role needs; /* AS_ROLE_UNKNOWN: any memory does */
} porting_strategies[] = {
    {"double-buffering", "double buffering", AS_ROLE_UNKNOWN},
    {"memory-check", "a check of free memory", AS_ROLE_UNKNOWN},
    {"partial-transfers", "partial transfers", AS_ROLE_UNKNOWN},
    {"stack", "variables on the stack", AS_ROLE_PAGEABLE},
    {"static", "static managed variables", AS_ROLE_MANAGED_STATIC},
    {"hidden-allocator", "a growing container", AS_ROLE_UNKNOWN},
};

static bool porting_has_role(const struct as_device_info *info, enum as_role role)
{
    bool has = role == AS_ROLE_UNKNOWN || !info;
    for (size_t i = 0; info && i < info->allocators_n && !has; i++)
        has = info->allocators[i].role == role && !info->allocators[i].why_not[0];
    return has;
}

/* What the facts of each strategy say, and which have none. */
struct porting_lists {
    const struct as_fact *of[PORTING_FACTS_MAX];
    size_t n, faster, slower, mixed;
    struct as_buf decided, unclear, missing, impossible;
};

static void porting_list_strategies(const struct as_rule_context *c, struct porting_lists *l)
{
    for (size_t i = 0; i < sizeof porting_strategies / sizeof *porting_strategies; i++) {
        const struct porting_range r = porting_range_of(c, porting_strategies[i].strategy);
        if (!r.low && !r.open) {
            struct as_buf *list = porting_has_role(c->info, porting_strategies[i].needs) ? &l->missing : &l->impossible;
            as_buf_printf(list, "%s%s", list->len ? ", " : "", porting_strategies[i].says);
            continue;
        }
        porting_list_range(&r, porting_strategies[i].says, &l->decided, &l->unclear);
        l->faster += r.faster && !r.slower;
        l->slower += r.slower && !r.faster;
        l->mixed += r.slower && r.faster;
        l->of[l->n++] = r.low ? r.low : r.open;
        if (r.low != r.high)
            l->of[l->n++] = r.high;
    }
}

bool as_advise_strategies(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct porting_lists l = {
        .decided = AS_BUF_INIT, .unclear = AS_BUF_INIT, .missing = AS_BUF_INIT, .impossible = AS_BUF_INIT};
    (void)t;
    porting_list_strategies(c, &l);
    porting_add_all(c, a, l.of, l.n);
    if (l.decided.len) {
        as_advice_say(a, "%zu strateg%s faster, %zu slower", l.faster, l.faster == 1 ? "y is" : "ies are", l.slower);
        if (l.mixed)
            as_advice_say(a, ", %zu faster or slower depending on application and allocator", l.mixed);
        as_advice_say(a, ". Time relative to the version without it: %s", as_buf_get(&l.decided));
    }
    if (l.unclear.len)
        as_advice_say(a, "%s: %s", l.decided.len ? ". Inconclusive" : "The gain of these strategies is inconclusive",
                      as_buf_get(&l.unclear));
    if (l.missing.len)
        as_advice_say(a, ". No valid measurement: %s", as_buf_get(&l.missing));
    if (l.impossible.len)
        as_advice_say(a, ". Impossible on this device: %s", as_buf_get(&l.impossible));
    as_buf_finish(&l.impossible);
    as_buf_finish(&l.missing);
    as_buf_finish(&l.decided);
    as_buf_finish(&l.unclear);
    return l.n > 0;
}
