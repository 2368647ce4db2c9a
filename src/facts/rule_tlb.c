/* TLB reach: where a curve that needs many translations leaves one that needs few. */
#include "base/text.h"
#include "facts/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MIN = 5, POINTS_MAX = 512, CURVES_MAX = 64 };
static const double clear_step = 1.10; /* less than a tenth is not told from other differences of two allocations */

struct ratios {
    size_t n;
    double x[POINTS_MAX], y[POINTS_MAX];
    struct as_interval ci[POINTS_MAX];
    const struct as_cell *many[POINTS_MAX], *few[POINTS_MAX];
};

/* How well do these two differ in the TLB only? Huge against base pages is the better pair, since the order of the
 * accesses is the same; 0: not at all. */
static int pair_kind(const struct curve *many, const struct curve *few)
{
    const struct as_cell *a = many->cells[0], *b = few->cells[0];
    if (!cell_is(a, "pattern", "random") || !cell_is(a, "instrument", "timed") || cell_on_huge_pages(a))
        return 0;
    if (cell_on_huge_pages(b) && cells_alike(a, b, "allocator"))
        return 2;
    bool by_page = strcmp(cell_axis(b, "pattern"), "page") == 0;
    return by_page && cells_alike(a, b, "pattern") ? 1 : 0;
}

static void divide(const struct curve *many, const struct curve *few, struct ratios *r)
{
    r->n = 0;
    for (size_t i = 0, k = 0; i < many->n && k < few->n;) {
        if (many->x[i] != few->x[k]) {
            if (many->x[i] < few->x[k])
                i++;
            else
                k++;
            continue;
        }
        if (r->n < POINTS_MAX) {
            size_t at = r->n++;
            r->x[at] = many->x[i];
            r->y[at] = many->y[i] / few->y[k];
            r->ci[at] = as_ratio_interval(many->y[i], many->ci[i], few->y[k], few->ci[k]);
            r->many[at] = many->cells[i];
            r->few[at] = few->cells[k];
        }
        i++, k++;
    }
}

static void add_reach(struct rule_context *c, const struct ratios *r, const char *how)
{
    struct as_plateau p[4];
    size_t n = as_plateaus(r->x, r->y, r->ci, r->n, p, 4), at = 0;
    /* the knee that counts: from a level near 1 up by a clear step */
    while (at + 1 < n && !(p[at + 1].level >= clear_step * p[at].level))
        at++;
    struct as_fact *f = fact_add(c, "TLB", "B", "tlb.reach");
    if (!f)
        return;
    char lo[32], hi[32];
    if (at + 1 < n) {
        fact_number(f, p[at].knee, p[at].knee_ci);
        fact_say(f, "The TLB reaches %s to %s: beyond, loads also wait for translations (%s)",
                 fact_value_text(p[at].knee_ci.lo, NO_INTERVAL, "B", lo, sizeof lo),
                 fact_value_text(p[at].knee_ci.hi, NO_INTERVAL, "B", hi, sizeof hi), how);
    } else {
        fact_say(f, "No clear TLB step up to %s (%s)", fact_value_text(r->x[r->n - 1], NO_INTERVAL, "B", hi, sizeof hi),
                 how);
    }
    size_t middle = at + 1 < n ? p[at].last : r->n - 1, first = middle > 8 ? middle - 8 : 0;
    for (size_t i = first; i < r->n && i <= middle + 8; i++) {
        fact_evidence(f, r->many[i]);
        fact_evidence(f, r->few[i]);
    }
}

static void add_cost(struct rule_context *c, const struct ratios *r, const char *how)
{
    size_t last = r->n - 1;
    struct as_fact *f = fact_add(c, "TLB", "x", "tlb.cost");
    if (!f)
        return;
    fact_number(f, r->y[last], r->ci[last]);
    if (isnan(r->ci[last].lo) || (r->ci[last].lo <= 1 && r->ci[last].hi >= 1))
        f->verdict = AS_UNDECIDED;
    else if (r->ci[last].hi < 1)
        f->verdict = AS_REFUTED;
    char ratio[96], size[32];
    fact_say(f, "Over %s, translations make the latency %s (%s)",
             fact_value_text(r->x[last], NO_INTERVAL, "B", size, sizeof size),
             fact_value_text(f->value, f->ci, "x", ratio, sizeof ratio), how);
    fact_evidence(f, r->many[last]);
    fact_evidence(f, r->few[last]);
}

/* Moves the curves that are long enough to the front. */
static size_t keep_long(struct curve *curves, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (curves[i].n >= POINTS_MIN) {
            struct curve t = curves[kept];
            curves[kept++] = curves[i];
            curves[i] = t;
        }
    return kept;
}

/* The pair of curves that tells most, and how the two differ. */
static int choose_pair(const struct curve *curves, size_t n, struct ratios *now, struct ratios *best, char *how,
                       size_t how_size)
{
    int best_kind = 0;
    best->n = 0;
    for (size_t i = 0; i < n * n; i++) {
        const struct curve *many = &curves[i / n], *few = &curves[i % n];
        int kind = many == few ? 0 : pair_kind(many, few);
        if (kind == 0 || kind < best_kind)
            continue;
        divide(many, few, now);
        if (now->n < POINTS_MIN || (kind == best_kind && now->n <= best->n))
            continue;
        *best = *now;
        best_kind = kind;
        const char *axis = kind == 2 ? "allocator" : "pattern";
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "%s against %s", cell_axis(many->cells[0], axis), cell_axis(few->cells[0], axis));
        as_copy_text(how, how_size, as_buf_get(&text));
        as_buf_finish(&text);
    }
    return best_kind;
}

void rule_tlb(struct rule_context *c)
{
    struct curve *curves;
    size_t n;
    char how[96] = "";
    curves_make(c, "latency", "size", &curves, &n);
    struct ratios *both = malloc(2 * sizeof *both);
    if (!both) {
        c->status = as_nomem(c->err, 2 * sizeof *both, "ratios");
    } else {
        size_t longs = keep_long(curves, n);
        struct ratios *best = both + 1;
        if (choose_pair(curves, longs < CURVES_MAX ? longs : CURVES_MAX, both, best, how, sizeof how)) {
            add_reach(c, best, how);
            add_cost(c, best, how);
        }
    }
    free(both);
    curves_free(curves, n);
}
