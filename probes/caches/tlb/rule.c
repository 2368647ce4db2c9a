/* TLB reach, where a curve with many translations departs from one with few; and translation cost, from chases over
 * pages minus chases over as many adjacent elements. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reach, from latency over sizes ---- */

#define HUGE_PAGES "Use huge pages for random access"
enum { RATIOS_MIN = 5, RATIOS_MAX = 512, CURVES_MAX = 64 };
static const double clear_step = 1.10; /* smaller steps may be other differences of two allocations */

struct ratios {
    size_t n;
    double x[RATIOS_MAX], y[RATIOS_MAX];
    struct as_interval ci[RATIOS_MAX];
    const struct as_cell *many[RATIOS_MAX], *few[RATIOS_MAX];
};

/* How exclusively two curves differ in the TLB; 0: not at all. Huge against base pages is the better pair, since the
 * order of accesses is the same. */
static int pair_kind(const struct as_curve *many, const struct as_curve *few)
{
    const struct as_cell *a = many->cells[0], *b = few->cells[0];
    if (!as_cell_is(a, "pattern", "random") || !as_cell_is(a, "instrument", "timed") || as_cell_on_huge_pages(a))
        return 0;
    if (as_cell_on_huge_pages(b) && as_cells_alike(a, b, "allocator"))
        return 2;
    bool by_page = strcmp(as_cell_axis(b, "pattern"), "page") == 0;
    return by_page && as_cells_alike(a, b, "pattern") ? 1 : 0;
}

static void tlb_divide(const struct as_curve *many, const struct as_curve *few, struct ratios *r)
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
        if (r->n < RATIOS_MAX) {
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

static void add_ratio_reach(struct as_rule_context *c, const struct ratios *r, const char *how)
{
    struct as_plateau p[4];
    size_t n = as_plateaus(r->x, r->y, r->ci, r->n, p, 4), at = 0;
    /* the first clear step up from a level near 1, significant by its intervals */
    while (at + 1 < n && !(p[at + 1].level >= clear_step * p[at].level && as_plateau_step(r->ci, &p[at]) == AS_STEP_UP))
        at++;
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_REACH, NULL, NULL);
    if (!f)
        return;
    char range[64], hi[32];
    if (at + 1 < n) {
        as_fact_number(f, p[at].knee, p[at].knee_ci);
        as_fact_say(f, "TLB reach: %s; beyond, loads also wait for translations (%s)",
                    as_fact_range_text(f->ci, "B", range, sizeof range), how);
    } else {
        as_fact_say(f, "No clear TLB step up to %s (%s)",
                    as_fact_value_text(r->x[r->n - 1], AS_NO_INTERVAL, "B", hi, sizeof hi), how);
    }
    size_t middle = at + 1 < n ? p[at].last : r->n - 1, first = middle > 8 ? middle - 8 : 0;
    for (size_t i = first; i < r->n && i <= middle + 8; i++) {
        as_fact_evidence(f, r->many[i]);
        as_fact_evidence(f, r->few[i]);
    }
}

static void add_ratio_cost(struct as_rule_context *c, const struct ratios *r, const char *how)
{
    size_t last = r->n - 1;
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_COST, NULL, NULL);
    if (!f)
        return;
    as_fact_number(f, r->y[last], r->ci[last]);
    f->verdict = as_verdict_above(f->ci, 1);
    char ratio[200], size[32];
    as_fact_value_text(r->x[last], AS_NO_INTERVAL, "B", size, sizeof size);
    as_fact_say(f,
                f->verdict == AS_REFUTED     ? "Over %s, loads with more translations are %s"
                : f->verdict == AS_UNDECIDED ? "Over %s, the cost of address translation is inconclusive: %s"
                                             : "Over %s, address translation makes a load take %s",
                size, as_fact_ratio_text(f, " as long", " faster", how, ratio, sizeof ratio));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, HUGE_PAGES ": over %s a load takes {gain} as long on base pages", size);
    as_fact_evidence(f, r->many[last]);
    as_fact_evidence(f, r->few[last]);
}

/* Moves the curves that are long enough to the front. */
static size_t keep_long(struct as_curve *curves, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (curves[i].n >= RATIOS_MIN) {
            struct as_curve t = curves[kept];
            curves[kept++] = curves[i];
            curves[i] = t;
        }
    return kept;
}

/* The most informative pair of curves, and how the two differ. */
static int choose_pair(const struct as_curve *curves, size_t n, struct ratios *now, struct ratios *best, char *how,
                       size_t how_size)
{
    int best_kind = 0;
    best->n = 0;
    for (size_t i = 0; i < n * n; i++) {
        const struct as_curve *many = &curves[i / n], *few = &curves[i % n];
        int kind = many == few ? 0 : pair_kind(many, few);
        if (kind == 0 || kind < best_kind)
            continue;
        tlb_divide(many, few, now);
        if (now->n < RATIOS_MIN || (kind == best_kind && now->n <= best->n))
            continue;
        *best = *now;
        best_kind = kind;
        const char *axis = kind == 2 ? "allocator" : "pattern";
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "%s against %s", as_cell_axis(many->cells[0], axis), as_cell_axis(few->cells[0], axis));
        as_copy_text(how, how_size, as_buf_get(&text));
        as_buf_finish(&text);
    }
    return best_kind;
}

static void derive_reach(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    char how[96] = "";
    as_curves_make(c, "latency", "size", &curves, &n);
    struct ratios *both = malloc(2 * sizeof *both);
    if (!both) {
        c->status = as_nomem(c->err, 2 * sizeof *both, "ratios");
    } else {
        size_t longs = keep_long(curves, n);
        struct ratios *best = both + 1;
        if (choose_pair(curves, longs < CURVES_MAX ? longs : CURVES_MAX, both, best, how, sizeof how)) {
            add_ratio_reach(c, best, how);
            add_ratio_cost(c, best, how);
        }
    }
    free(both);
    as_curves_free(curves, n);
}

/* ---- cost, from latency over pages ---- */

enum { POINTS_MIN = 3, POINTS_MAX = 256, LEVELS_MAX = 6, AROUND = 6 };
static const double CLEAR = 0.10; /* of the control: smaller differences may be other differences of two allocations */

struct costs {
    size_t n;
    double x[POINTS_MAX], cost[POINTS_MAX], control[POINTS_MAX];
    struct as_interval ci[POINTS_MAX];
    const struct as_cell *pages[POINTS_MAX], *packed[POINTS_MAX];
};

/* Of the CPU in a device's memory. */
static bool is_of_host(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "agent"), "cpu") == 0;
}

/* NAN for loads by the CPU: the cell's clock is the device's. */
static double clock_of_loads(const struct as_cell *cell)
{
    return is_of_host(cell) ? NAN : cell->clock_hz;
}

/* Fields of a fact about the cell; order: of a step. */
static struct as_fact_fields tlb_fields(const struct as_cell *cell, const char *order)
{
    const bool cpu = is_of_host(cell);
    return (struct as_fact_fields){
        .order = order, .agent = cpu ? "cpu" : "", .touch = cpu ? as_cell_axis(cell, "touch") : ""};
}

static bool is_packed(const struct as_cell *cell)
{
    return as_cell_axis_number(cell, "stride") == 0;
}

/* Are the caches the same for a chase and its control? The hit rates of a GPU's L1 differ between the two. */
static bool is_comparable(const struct as_rule_context *c, const struct as_cell *cell)
{
    const bool gpu = !c->info || !(c->info->is_host_cpu || as_info_has_host_kernels(c->info));
    return is_of_host(cell) || !gpu || as_cell_note(cell, "bypasses_own_caches") == 1;
}

static void subtract(const struct as_rule_context *c, const struct as_curve *pages, const struct as_curve *packed,
                     struct costs *out)
{
    out->n = 0;
    for (size_t i = 0, k = 0; i < pages->n && k < packed->n && out->n < POINTS_MAX;) {
        if (pages->x[i] < packed->x[k])
            i++;
        else if (pages->x[i] > packed->x[k])
            k++;
        else if (!is_comparable(c, pages->cells[i]) || !is_comparable(c, packed->cells[k]))
            i++, k++;
        else {
            size_t at = out->n++;
            out->x[at] = pages->x[i];
            out->cost[at] = pages->y[i] - packed->y[k];
            out->control[at] = packed->y[k];
            out->ci[at] = as_difference_interval(pages->y[i], pages->ci[i], packed->y[k], packed->ci[k]);
            out->pages[at] = pages->cells[i++];
            out->packed[at] = packed->cells[k++];
        }
    }
}

/* The control with most sizes in common. Of two such controls the one on huge pages, which itself needs the fewest
 * translations; else the one from the same allocator. A device's allocators differ in more than pages: only its own. */
static void choose_control(const struct as_rule_context *c, const struct as_curve *curves, size_t n,
                           const struct as_curve *pages, struct costs *now, struct costs *best)
{
    const bool native = c->info && as_info_has_host_kernels(c->info);
    int best_rank = -1;
    best->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = curves[i].cells[0];
        if (!is_packed(cell) || !as_cells_same(cell, pages->cells[0], "agent") ||
            !as_cells_same(cell, pages->cells[0], "touch") ||
            ((is_of_host(cell) || !native) && !as_cells_same(cell, pages->cells[0], "allocator")))
            continue;
        const bool own = as_cells_same(cell, pages->cells[0], "allocator");
        const int rank = as_cell_on_huge_pages(cell) ? 2 : own;
        subtract(c, pages, &curves[i], now);
        if (now->n > best->n || (now->n == best->n && rank > best_rank)) {
            *best = *now;
            best_rank = rank;
        }
    }
}

/* "mmap, a page every 4 KiB", "CPU in hipMalloc, a page every 4 KiB" */
static const char *tlb_what(const struct as_cell *cell, char *out, size_t size)
{
    char stride[32];
    as_fact_value_text(as_cell_axis_number(cell, "stride"), AS_NO_INTERVAL, "B", stride, sizeof stride);
    const bool device_first = is_of_host(cell) && as_cell_is(cell, "touch", "device");
    snprintf(out, size, "%s%.40s%s, a page every %s", is_of_host(cell) ? "CPU in " : "",
             as_cell_axis(cell, "allocator"), device_first ? " after the device" : "", stride);
    return out;
}

static void tlb_add_evidence(struct as_fact *f, const struct costs *costs, size_t at)
{
    const size_t first = at > AROUND / 2 ? at - AROUND / 2 : 0;
    for (size_t i = first; i < costs->n && i < first + AROUND; i++) {
        as_fact_evidence(f, costs->pages[i]);
        as_fact_evidence(f, costs->packed[i]);
    }
}

/* The step from one plateau to the next: number of pages, their bytes, and the added latency beyond. */
static void tlb_add_reach(struct as_rule_context *c, const struct costs *costs, const struct as_plateau *before,
                          int level)
{
    const struct as_plateau *after = before + 1;
    const double step = after->level - before->level;
    const struct as_cell *cell = costs->pages[0];
    const double stride = as_cell_axis_number(cell, "stride"), clock = clock_of_loads(costs->pages[before->last]);
    const struct as_interval knee = before->knee_ci;
    char order[24], longer[160], cycles[48] = "", text[128], reach[240];
    tlb_what(cell, text, sizeof text);
    if (clock > 0)
        snprintf(cycles, sizeof cycles, "%.0f cycles", step * clock / 1e9);
    as_noted_text(step, as_difference_interval(after->level, after->ci, before->level, before->ci), "ns", " longer",
                  cycles, longer, sizeof longer);
    snprintf(order, sizeof order, "%d", level);
    const struct as_fact_fields fields = tlb_fields(cell, order);
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_REACH_PAGES, cell, &fields);
    if (!f)
        return;
    as_fact_number(f, before->knee, knee);
    as_fact_say(f, "The L%d TLB holds %.0f to %.0f pages (%s): beyond, a load takes %s", level, knee.lo, knee.hi, text,
                longer);
    tlb_add_evidence(f, costs, before->last);
    f = as_fact_add(c, AS_FACT_TLB_REACH_BYTES, cell, &fields);
    if (!f)
        return;
    as_fact_number(f, before->knee * stride, (struct as_interval){knee.lo * stride, knee.hi * stride});
    as_fact_say(f, "L%d TLB reach: %s", level, as_fact_noted_text(f, "", text, reach, sizeof reach));
    tlb_add_evidence(f, costs, before->last);
}

/* Steps in the cost of translation. The latency of the control's smallest buffer is added so that logarithms exist; a
 * negative cost counts as zero. */
static void add_steps(struct as_rule_context *c, const struct costs *costs)
{
    struct as_plateau p[LEVELS_MAX];
    double y[POINTS_MAX];
    struct as_interval ci[POINTS_MAX];
    const double base = costs->control[0];
    for (size_t i = 0; i < costs->n; i++) {
        y[i] = base + fmax(costs->cost[i], 0);
        ci[i] = (struct as_interval){base + fmax(costs->ci[i].lo, 0), base + fmax(costs->ci[i].hi, 0)};
    }
    const size_t n = as_plateaus(costs->x, y, ci, costs->n, p, LEVELS_MAX);
    int level = 1;
    for (size_t i = 0; i + 1 < n; i++) {
        const double step = p[i + 1].level - p[i].level;
        if (step >= CLEAR * costs->control[p[i + 1].first] && as_plateau_step(ci, &p[i]) == AS_STEP_UP)
            tlb_add_reach(c, costs, &p[i], level++);
    }
    if (level > 1)
        return;
    const struct as_fact_fields fields = tlb_fields(costs->pages[0], "1");
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_REACH_PAGES, costs->pages[0], &fields);
    char text[128];
    if (!f)
        return;
    as_fact_say(f, "No clear step in the cost of address translation up to %.0f pages (%s)", costs->x[costs->n - 1],
                tlb_what(costs->pages[0], text, sizeof text));
    tlb_add_evidence(f, costs, costs->n - 1);
}

static void tlb_add_miss(struct as_rule_context *c, const struct costs *costs)
{
    const size_t last = costs->n - 1;
    const struct as_cell *cell = costs->pages[last];
    char value[280], cycles[48] = "", text[128], note[192];
    const struct as_fact_fields fields = tlb_fields(cell, NULL);
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_COST_OF_PAGES, cell, &fields);
    if (!f)
        return;
    as_fact_number(f, costs->cost[last], costs->ci[last]);
    f->verdict = as_verdict_above(f->ci, 0);
    if (clock_of_loads(cell) > 0)
        snprintf(cycles, sizeof cycles, "%.0f cycles; ", f->value * clock_of_loads(cell) / 1e9);
    tlb_what(cell, text, sizeof text);
    const bool so = f->verdict == AS_SUPPORTED;
    snprintf(note, sizeof note, "%s%s", so ? cycles : "", text);
    as_fact_noted_text(f, so ? " per load" : "", note, value, sizeof value);
    as_fact_say(f,
                so ? "Over %.0f pages, address translation adds %s"
                   : "Over %.0f pages, the cost of address translation per load is inconclusive: %s",
                costs->x[last], value);
    as_fact_evidence(f, cell);
    as_fact_evidence(f, costs->packed[last]);
}

static void tlb_add_unknown(struct as_rule_context *c, const struct as_curve *pages)
{
    const struct as_cell *cell = pages->cells[pages->n - 1];
    const struct as_fact_fields fields = tlb_fields(cell, NULL);
    struct as_fact *f = as_fact_add(c, AS_FACT_TLB_COST_OF_PAGES, cell, &fields);
    char text[128];
    if (!f)
        return;
    f->verdict = AS_UNDECIDED;
    as_fact_say(
        f,
        "Over %.0f pages, the cost of address translation per load is inconclusive: the %s's own caches may serve "
        "the control more often than the chase (%s)",
        pages->x[pages->n - 1], as_unit_name(c), tlb_what(cell, text, sizeof text));
    as_fact_evidence(f, cell);
}

/* ---- gain from huge pages ---- */

static void add_gain(struct as_rule_context *c, const struct as_pair *p)
{
    char ratio[200], text[96];
    struct as_fact *f =
        as_fact_add_ratio(c, AS_FACT_TLB_GAIN, p->a, p->b, AS_BY(.allocator = as_cell_axis(p->b, "allocator")));
    if (!f)
        return;
    tlb_what(p->b, text, sizeof text);
    as_fact_say(f,
                f->verdict == AS_UNDECIDED ? "Whether huge pages speed up loads from %.0f pages is inconclusive: %s"
                                           : "Huge pages make loads from %.0f pages %s",
                as_cell_axis_number(p->a, "pages"),
                as_fact_ratio_text(f, " as fast as base pages", " slower than base pages", text, ratio, sizeof ratio));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, HUGE_PAGES ": loads from %.0f pages run {gain} as fast as on base pages (%s)",
                    as_cell_axis_number(p->a, "pages"), as_cell_axis(p->b, "allocator"));
}

/* For each stride, the pair with the most pages. */
static void tlb_gains(struct as_rule_context *c, const char *huge)
{
    struct as_pair *pairs;
    size_t n, kept = 0;
    as_pairs_make(c, "tlb", "allocator", "base_pages", huge, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (is_packed(pairs[i].a))
            continue;
        while (k < kept && !as_cells_same(pairs[k].b, pairs[i].b, "stride"))
            k++;
        if (k == kept || as_cell_axis_number(pairs[i].b, "pages") > as_cell_axis_number(pairs[k].b, "pages"))
            pairs[k] = pairs[i];
        kept += k == kept;
    }
    for (size_t k = 0; k < kept; k++)
        add_gain(c, &pairs[k]);
    free(pairs);
}

static void derive_translation(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "tlb", "pages", &curves, &n);
    struct costs *both = malloc(2 * sizeof *both);
    if (!both)
        c->status = as_nomem(c->err, 2 * sizeof *both, "costs");
    for (size_t i = 0; both && i < n; i++) {
        struct costs *best = &both[1];
        if (is_packed(curves[i].cells[0]))
            continue;
        choose_control(c, curves, n, &curves[i], &both[0], best);
        if (best->n >= POINTS_MIN) {
            add_steps(c, best);
            tlb_add_miss(c, best);
        } else if (curves[i].n >= POINTS_MIN && !is_comparable(c, curves[i].cells[0])) {
            tlb_add_unknown(c, &curves[i]);
        }
    }
    free(both);
    as_curves_free(curves, n);
    tlb_gains(c, "huge_pages");
    tlb_gains(c, "reserved_huge_pages");
}

const struct as_rule as_rules_tlb[] = {
    {"TLB reach", derive_reach,
     "the first knee of the ratio of two latency curves over the same sizes that differ in the TLB only: base pages "
     "over huge pages, or random over all over random within a page",
     "a count of TLB misses that rises at another size"},
    {"address translation", derive_translation,
     "latency of a pointer chase with one load per page minus that over as many adjacent cache lines, on a GPU only "
     "where both bypass the compute units' own caches; steps of the difference over the number of pages, of at least a "
     "tenth "
     "of the control",
     "a count of TLB misses that rises at another number of pages, or another control of the same footprint"},
    {0},
};
