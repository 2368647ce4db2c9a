#include "quantity/reason.h"

#include "base/text.h"
#include "model/number.h"

#include <math.h>
#include <string.h>

/* How well a status explains why there is no number; of several cells the best explanation counts. */
static const struct {
    int rank;
    const char *said;
} statuses[AS_CELL_STATUS_N] = {
    [AS_CELL_UNSUPPORTED] = {1, "unsupported"}, [AS_CELL_PLANNED] = {2, "not measured"},
    [AS_CELL_SKIPPED] = {3, "skipped"},         [AS_CELL_FAILED] = {4, "failed"},
    [AS_CELL_CRASHED] = {4, "crashed"},         [AS_CELL_TIMEOUT] = {4, "timed out"},
    [AS_CELL_REJECTED] = {5, "rejected"},
};

/* The first clause of a reason, cut between words; explain gives all of it. */
static void say_briefly(const char *reason, struct as_buf *out)
{
    enum { CLAUSE_MIN = 12, CLAUSE_MAX = 60 };
    const size_t length = strlen(reason),
                 clause = length < CLAUSE_MIN ? length : CLAUSE_MIN + strcspn(reason + CLAUSE_MIN, ",;:(");
    size_t n = clause < CLAUSE_MAX ? clause : CLAUSE_MAX;
    while (n > CLAUSE_MIN && reason[n] && reason[n] != ' ' && n < clause)
        n--;
    while (n && reason[n - 1] == ' ')
        n--;
    as_buf_add(out, reason, n);
    as_buf_str(out, clause > CLAUSE_MAX ? " ..." : "");
}

static const char *status_said(const struct as_cell *c)
{
    const bool is_left_out = c->status == AS_CELL_SKIPPED && strstr(c->reason, "the budget ");
    return is_left_out ? "left out by the budget" : statuses[c->status].said;
}

static void say_missing(const struct as_cell *c, struct as_buf *out)
{
    const char *said = status_said(c);
    as_buf_str(out, said);
    if (said != statuses[c->status].said)
        return;
    for (int g = 0; g < AS_GATE_N && c->status == AS_CELL_REJECTED; g++)
        if (c->gates[g].state == AS_GATE_FAIL) {
            as_buf_printf(out, ": %s", as_gate_name((enum as_gate)g));
            return;
        }
    as_buf_str(out, c->reason[0] ? ": " : "");
    say_briefly(c->reason, out);
}

/* ---- cells of the level ---- */

/* A capacity or latency that a rule finds on the curve over sizes. */
static bool is_of_curve(const struct as_quantity *q, const struct as_quantity_source *source)
{
    return !strchr(source->from, ' ') && (q->kind == AS_KIND_CAPACITY || q->kind == AS_KIND_LATENCY);
}

/* Bytes of the level's cache and of the one before it; 0 unknown. */
struct level_sizes {
    uint64_t own, inner;
};

static struct level_sizes sizes_of(const struct as_quantity_subject *s, const struct as_quantity *q)
{
    struct level_sizes z = {0, 0};
    const struct as_cache *memory_side =
        s->info && strcmp(q->level, "memory_side") == 0 ? as_info_memory_side(s->info) : NULL;
    if (memory_side)
        z.own = memory_side->size;
    if (!s->info || q->level[0] != 'L')
        return z;
    const unsigned level = (unsigned)(q->level[1] - '0');
    z.own = as_info_cache(s->info, level);
    z.inner = level > 1 ? as_info_cache(s->info, level - 1) : 0;
    return z;
}

/* Does the working set fit this level? A capacity also needs sizes of the next one. */
static bool is_about_level(const struct as_quantity_subject *s, const struct as_quantity *q, const struct as_cell *c)
{
    enum { AROUND = 8 };
    const double size = as_axes_number(&c->axes, "size");
    const struct level_sizes z = sizes_of(s, q);
    if (!s->info || !isfinite(size))
        return true;
    if (strcmp(q->level, "memory") == 0)
        return as_main_memory_claimed(&c->axes) ||
               as_info_is_memory(s->info, as_axes_text(&c->axes, "allocator"), 1, size);
    if (!z.own)
        return true;
    const double most = (double)z.own * (q->kind == AS_KIND_CAPACITY ? AROUND : 1);
    return size > (double)z.inner && size <= most;
}

enum { CURVE_MIN = 6 }; /* sizes: the rule of cache levels takes no curve of fewer */

/* Cells of the filter. */
struct tally {
    const struct as_cell *worst; /* without a number, of the level */
    size_t all, about, valid;    /* all that the device can have; of the level; valid ones of these */
    size_t like_worst;           /* of the level, with the status of the worst */
    const struct as_cell *busy;  /* valid, but measured under contention, which makes it no evidence */
    size_t contended;            /* how many of these */
    size_t evidence;             /* of the level */
    size_t other_level;          /* of the evidence: a cache may hold what is called memory */
    double size[CURVE_MIN];      /* different ones of all */
    size_t sizes;
    bool has_end;            /* the size of the level's cache is known */
    bool is_below, is_above; /* the end of the level's cache */
};

static void count_size(struct tally *t, double size)
{
    size_t i = 0;
    while (i < t->sizes && t->size[i] != size)
        i++;
    if (i == t->sizes && t->sizes < CURVE_MIN && isfinite(size))
        t->size[t->sizes++] = size;
}

static void count_cell(const struct as_quantity_subject *s, const struct as_quantity *q, const struct as_cell *c,
                       struct tally *t)
{
    const double size = as_axes_number(&c->axes, "size"), own = (double)sizes_of(s, q).own;
    const bool can = c->status != AS_CELL_UNSUPPORTED, is_valid = as_cell_is_valid(c);
    t->all += can;
    if (can)
        count_size(t, size);
    if (!is_about_level(s, q, c))
        return;
    t->about += can;
    t->valid += is_valid;
    t->is_below |= can && !(size > own);
    t->is_above |= can && !(size <= own);
    t->evidence += as_cell_is_evidence(c);
    t->other_level += as_cell_is_evidence(c) && !as_quantity_is_of_level(s, c, q->level);
    t->contended += is_valid && as_cell_is_busy(c);
    if (is_valid && as_cell_is_busy(c) && (!t->busy || as_quantity_is_preferred(c, t->busy)))
        t->busy = c;
    if (is_valid)
        return;
    if (!t->worst || statuses[c->status].rank > statuses[t->worst->status].rank) {
        t->worst = c;
        t->like_worst = 0;
    }
    t->like_worst += c->status == t->worst->status;
}

static struct tally count_cells(const struct as_quantity_subject *s, const struct as_quantity *q, const char *filter)
{
    struct tally t = {.has_end = sizes_of(s, q).own > 0};
    for (size_t i = 0; i < s->cells.n; i++)
        if (as_quantity_is_cell_of(s, as_quantity_cell_at(s, i), filter))
            count_cell(s, q, as_quantity_cell_at(s, i), &t);
    return t;
}

/* Sizes that the run did not plan; "" it planned what the quantity needs. */
static const char *say_not_asked(const struct as_quantity *q, const struct as_quantity_source *source,
                                 const struct tally *t)
{
    if (!t->all || (t->sizes == 0 && t->about))
        return "";
    if (!t->about)
        return strcmp(q->level, "memory") == 0 ? "the run measured no size in memory"
                                               : "the run measured no size of this level";
    if (is_of_curve(q, source) && t->sizes < CURVE_MIN)
        return "the run measured too few sizes";
    return q->kind == AS_KIND_CAPACITY && t->has_end && !(t->is_below && t->is_above)
               ? "the run measured no sizes near the end of this level"
               : "";
}

/* Valid cells that a rule draws no number from. */
static void say_undecided(const struct as_quantity *q, const struct as_quantity_source *source, const struct tally *t,
                          struct as_buf *out)
{
    const bool is_number_of_cell = strchr(source->from, ' '); /* else a fact, of several */
    if (t->busy && !t->evidence && is_number_of_cell) {
        as_buf_str(out, "contended: ");
        as_cell_number(t->busy, out);
        return;
    }
    as_buf_str(out, "inconclusive: ");
    if (strcmp(q->level, "memory") == 0 && t->evidence && t->other_level == t->evidence)
        as_buf_str(out, "cannot distinguish memory from a cache");
    else if (is_of_curve(q, source) && t->sizes)
        as_buf_str(out, q->kind == AS_KIND_CAPACITY ? "no clear step in latency" : "no plateau of its own in latency");
    else if (!strchr(source->from, ' ') && q->kind == AS_KIND_BANDWIDTH && t->sizes)
        as_buf_str(out, "no clear step in bandwidth");
    else if (t->contended)
        as_buf_printf(out, "%zu of %zu contended", t->contended, t->about);
    else
        as_buf_str(out, "measurements do not agree");
    if (t->worst && t->worst->status != AS_CELL_UNSUPPORTED)
        as_buf_printf(out, "; %zu of %zu measurements %s", t->like_worst, t->about, status_said(t->worst));
}

static bool has_probe(const struct as_quantity_subject *s, const char *filter)
{
    const size_t name = strcspn(filter, " ");
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct as_cell *c = as_quantity_cell_at(s, i);
        if (strcmp(c->device, s->device) == 0 && strncmp(c->probe, filter, name) == 0 && !c->probe[name])
            return true;
    }
    return false;
}

enum as_quantity_found as_quantity_explain(const struct as_quantity_subject *s, const struct as_quantity *q,
                                           const struct as_quantity_source *source, struct as_buf *reason)
{
    const char *filter = strchr(source->from, ' ') ? source->from : source->cells;
    const struct tally t = count_cells(s, q, filter);
    const char *not_asked = say_not_asked(q, source, &t);
    as_buf_clear(reason);
    if (not_asked[0]) {
        as_buf_str(reason, not_asked);
        return AS_QUANTITY_NOT_IN_SUITE;
    }
    if (t.valid) {
        say_undecided(q, source, &t, reason);
        return AS_QUANTITY_UNDECIDED;
    }
    if (t.worst) {
        say_missing(t.worst, reason);
        return t.worst->status == AS_CELL_UNSUPPORTED ? AS_QUANTITY_IMPOSSIBLE
               : t.worst->status == AS_CELL_REJECTED  ? AS_QUANTITY_REJECTED
                                                      : AS_QUANTITY_MISSING;
    }
    const char *why = has_probe(s, filter) ? as_quantity_why_no_memory(s, filter) : "";
    as_buf_printf(reason, "%s%s", why[0] ? "unsupported: " : "", why);
    return why[0] ? AS_QUANTITY_IMPOSSIBLE : AS_QUANTITY_NOT_IN_SUITE;
}
