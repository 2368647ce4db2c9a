/* Advice on first touch and on copies. */
#include "facts/advice_topics.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *cell_text(const struct as_cell *cell, char out[96])
{
    return as_fact_value_text(cell->sum.median, as_cell_interval(cell), cell->unit, out, 96);
}

static const char *ratio_text(const struct as_cell *a, const struct as_cell *b, char out[96])
{
    return as_fact_value_text(a->sum.median / b->sum.median, as_cells_ratio(a, b), "x", out, 96);
}

/* "2.74x as fast (2.38 to 3.05x)" of a ratio of rates, or the inverse ratio of times; below 1 "1.62x slower (...)" */
static const char *speedup_text(const struct as_cell *a, const struct as_cell *b, char out[96])
{
    const double ratio = a->sum.median / b->sum.median;
    const struct as_interval ci = as_cells_ratio(a, b);
    if (ratio >= 1)
        return as_noted_text(ratio, ci, "x", " as fast", "", out, 96);
    return as_noted_text(1 / ratio, (struct as_interval){1 / ci.hi, 1 / ci.lo}, "x", " slower", "", out, 96);
}

/* ---- first touch ---- */

/* The minimum difference that the intervals of two cells imply: 0 where they overlap. */
static double advice_sharing_apart(const struct as_pair *p)
{
    struct as_interval r = as_cells_ratio(p->b, p->a);
    return r.lo > 1 + ADVICE_ALIKE ? r.lo - 1 : r.hi < 1 - ADVICE_ALIKE ? 1 - r.hi : 0;
}

/* The largest difference that their intervals allow, as a share of the first. */
static double apart_at_most(const struct as_pair *p)
{
    struct as_interval r = as_cells_ratio(p->b, p->a);
    return fmax(r.hi - 1, 1 - r.lo);
}

static const struct as_pair *largest_by(double (*of)(const struct as_pair *), const struct as_pair *pairs, size_t n)
{
    const struct as_pair *largest = pairs;
    for (size_t i = 1; i < n; i++)
        largest = of(&pairs[i]) > of(largest) ? &pairs[i] : largest;
    return largest;
}

/* Advice, a prefetch or pinning places this memory, not its first touch; what the advice costs is no effect of the
 * touch. */
static bool is_placed(enum as_role role)
{
    static const enum as_role placed[] = {AS_ROLE_MANAGED_DEVICE,   AS_ROLE_MANAGED_HOST,
                                          AS_ROLE_MANAGED_ACCESSED, AS_ROLE_MANAGED_READ_MOSTLY,
                                          AS_ROLE_MANAGED_PREFETCH, AS_ROLE_MANAGED_PREFETCH_HOST};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (role == placed[i])
            return true;
    return as_role_is_pinned(role);
}

/* Keeps the pairs whose memory the first touch may place, and that the CPU can touch, as far as is known. */
static size_t keep_touchable(const struct as_rule_context *c, struct as_pair *pairs, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_cell_axis(pairs[i].a, "allocator");
        const struct as_allocator *of = c->info ? as_info_allocator(c->info, name) : NULL;
        if ((!of || of->host_access) && !is_placed(of ? of->role : as_allocator_role(c->device, name)))
            pairs[kept++] = pairs[i];
    }
    return kept;
}

/* No pair differs significantly: either the intervals exclude a difference that matters, or it is inconclusive. p: the
 * pair that may differ most, of n. */
static void say_no_first_touch(struct as_advice *a, const struct as_pair *p, size_t n)
{
    const double most = apart_at_most(p);
    char text[96];
    if (most <= ADVICE_ALIKE)
        as_advice_say(
            a,
            "First touch by CPU or device makes no difference: bandwidth in repeated passes differs by at most "
            "%.0f%% in %zu comparison%s",
            100 * ADVICE_ALIKE, n, n == 1 ? "" : "s");
    else
        as_advice_say(a, "Inconclusive: first touch by CPU or device may change the device's bandwidth by up to %.*f%%",
                      most < 0.1, 100 * most);
    if (!as_ratio_is_open(p->b->sum.median / p->a->sum.median, as_cells_ratio(p->b, p->a)))
        as_advice_say(a, ". '%s', first touch by device relative to CPU: %s", as_cell_axis(p->a, "allocator"),
                      ratio_text(p->b, p->a, text));
}

static void add_first_touch(struct as_advice *a, const struct as_pair *p)
{
    char pass[64];
    as_advice_pass_text(p->a, pass, sizeof pass);
    as_advice_add_number(a, p->a, "%s, '%s', the CPU first", pass, as_cell_axis(p->a, "allocator"));
    as_advice_add_number(a, p->b, "%s, '%s', the device first", pass, as_cell_axis(p->b, "allocator"));
}

bool as_advise_first_touch(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_pair *pairs;
    size_t n;
    char ratio[96], one[160], other[96], pass[64];
    (void)t;
    as_pairs_make(c, "bandwidth", "touch", "cpu", "device", &pairs, &n);
    n = keep_touchable(c, pairs, n);
    const struct as_pair *p = largest_by(advice_sharing_apart, pairs, n);
    if (n > 0 && advice_sharing_apart(p) > 0) {
        const bool device = p->b->sum.median > p->a->sum.median;
        const struct as_cell *better = device ? p->b : p->a;
        as_advice_gain(a, as_cells_ratio(p->b, p->a));
        as_advice_say(a,
                      "Let the %s touch '%s' first: the device then streams %s. It reaches %s, against %s after the %s",
                      device ? "device" : "CPU", as_cell_axis(p->a, "allocator"),
                      speedup_text(device ? p->b : p->a, device ? p->a : p->b, ratio),
                      as_noted_text(better->sum.median, as_cell_interval(better), better->unit, "",
                                    as_advice_pass_text(better, pass, sizeof pass), one, sizeof one),
                      cell_text(device ? p->a : p->b, other), device ? "CPU" : "device");
    } else if (n > 0) {
        p = largest_by(apart_at_most, pairs, n);
        say_no_first_touch(a, p, n);
    }
    if (n > 0) /* what the sentence is about, then the others */
        add_first_touch(a, p);
    for (size_t i = 0; i < n; i++)
        if (&pairs[i] != p)
            add_first_touch(a, &pairs[i]);
    free(pairs);
    return n > 0;
}

/* ---- page faults ---- */

/* The pair of page fault cells with the most pages. */
static bool largest_pair(struct as_rule_context *c, const char *name, const char *a_text, const char *b_text,
                         struct as_pair *out)
{
    struct as_pair *pairs;
    size_t n;
    double most = 0;
    *out = (struct as_pair){0};
    as_pairs_make(c, "fault", name, a_text, b_text, &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        double pages = as_cell_axis_number(pairs[i].a, "pages");
        if (strcmp(as_cell_axis(pairs[i].a, "what"), "fault") != 0 || !as_cell_is(pairs[i].a, "node", "near") ||
            !(pages > most) || as_fault_is_drowned(c, pairs[i].a) || as_fault_is_drowned(c, pairs[i].b))
            continue;
        most = pages;
        *out = pairs[i];
    }
    free(pairs);
    return out->a && out->b;
}

static void advice_sharing_add_pair(struct as_advice *a, const struct as_pair *p)
{
    const struct as_cell *cells[2] = {p->a, p->b};
    for (size_t i = 0; i < 2; i++)
        as_advice_add_number(a, cells[i], "per page, %s, '%s', %s pages", as_cell_axis(cells[i], "scenario"),
                             as_cell_axis(cells[i], "allocator"), as_cell_axis(cells[i], "pages"));
}

/* Options that may make first touches by the CPU cheaper. */
static const struct {
    const char *axis, *a, *b;
    const char *do_it, *leave_it, *unclear;
} cheaper[] = {
    {"scenario", "cpu-one", "cpu-all", "Touch large blocks with all threads", "More threads do not help a first touch",
     "Whether more threads help a first touch is inconclusive"},
    {"allocator", "base_pages", "huge_pages", "Ask for transparent huge pages",
     "Transparent huge pages do not help a first touch",
     "Whether transparent huge pages help a first touch is inconclusive"},
};

bool as_advise_prefault_cpu(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    char ratio[96], before[96], after[96];
    (void)t;
    for (size_t i = 0; i < sizeof cheaper / sizeof *cheaper; i++) {
        struct as_pair p;
        if (!largest_pair(c, cheaper[i].axis, cheaper[i].a, cheaper[i].b, &p))
            continue;
        if (strcmp(cheaper[i].axis, "allocator") == 0 && as_cell_axis_number(p.a, "pages") < 2)
            continue; /* one page does not predict a block */
        const enum as_fact_verdict helps = as_verdict_above(as_cells_ratio(p.a, p.b), 1);
        as_advice_say(a, "%s%s", a->sentence[0] ? ". " : "",
                      helps == AS_SUPPORTED ? cheaper[i].do_it
                      : helps == AS_REFUTED ? cheaper[i].leave_it
                                            : cheaper[i].unclear);
        if (helps != AS_UNDECIDED)
            as_advice_say(a, ": %s", speedup_text(p.a, p.b, ratio));
        as_advice_say(a, ". Each of %s pages then takes %s instead of %s", as_cell_axis(p.a, "pages"),
                      cell_text(p.b, after), cell_text(p.a, before));
        as_advice_gain(a, as_cells_ratio(p.a, p.b));
        advice_sharing_add_pair(a, &p);
    }
    return a->numbers_n > 0;
}

/* The first of these scenarios that was measured on the same pages. */
static const struct as_cell *touch_by(const struct as_rule_context *c, const struct as_cell *like,
                                      const char *const *scenarios)
{
    for (; *scenarios; scenarios++)
        for (size_t i = 0; i < c->n; i++)
            if (strcmp(c->cells[i]->probe, "fault") == 0 && as_cell_is(c->cells[i], "scenario", *scenarios) &&
                as_cells_alike(c->cells[i], like, "scenario"))
                return c->cells[i];
    return NULL;
}

/* Touch by the CPU and then by the device, against the device's first touch alone: measured as one, else the sum with
 * the CPU's own touch, by most threads first. */
static void say_in_turn(struct as_rule_context *c, struct as_advice *a, const struct as_pair *p)
{
    static const char *const in_turn[] = {"cpu-then-device", NULL}, *const teams[] = {"cpu-all", "cpu-12", "cpu-one",
                                                                                      NULL};
    const struct as_cell *total = touch_by(c, p->a, in_turn), *cpu = total ? total : touch_by(c, p->a, teams);
    if (!cpu)
        return;
    struct as_interval both = as_cell_interval(cpu), alone = as_cell_interval(p->a);
    const struct as_interval then = as_cell_interval(p->b);
    double value = cpu->sum.median;
    if (!total) {
        value += p->b->sum.median;
        both = (struct as_interval){both.lo + then.lo, both.hi + then.hi};
    }
    char text[96];
    as_fact_value_text(value, both, cpu->unit, text, sizeof text);
    as_advice_say(a, ". Where it cannot, both in sequence take %s per page: %s", text,
                  both.hi < alone.lo   ? "pre-fault even then"
                  : both.lo > alone.hi ? "let the device fault"
                                       : "neither is significantly better");
    as_advice_add_number(a, cpu, "per page, %s, '%s', %s pages", as_cell_axis(cpu, "scenario"),
                         as_cell_axis(cpu, "allocator"), as_cell_axis(cpu, "pages"));
}

bool as_advise_prefault_device(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_pair p;
    char ratio[96], before[96], after[96];
    (void)t;
    if (!largest_pair(c, "scenario", "device-major", "device-minor", &p))
        return false;
    const struct as_interval gain = as_cells_ratio(p.a, p.b);
    const enum as_fact_verdict helps = as_verdict_above(gain, 1);
    const char *allocator = as_cell_axis(p.a, "allocator");
    cell_text(p.a, before);
    cell_text(p.b, after);
    speedup_text(p.a, p.b, ratio);
    advice_sharing_add_pair(a, &p);
    as_advice_gain(a, gain);
    if (helps == AS_SUPPORTED) {
        as_advice_say(
            a,
            "Touch '%s' on the CPU where that can overlap the device's work: %s. The device then takes %s per "
            "page instead of %s",
            allocator, ratio, after, before);
        say_in_turn(c, a, &p);
    } else if (helps == AS_REFUTED)
        as_advice_say(
            a, "Let the device touch '%s' first: after the CPU it is %s. It then takes %s per page, against %s without",
            allocator, ratio, after, before);
    else
        as_advice_say(
            a,
            "Whether the CPU should touch '%s' before the device is inconclusive. The device takes %s per page "
            "after the CPU, against %s without",
            allocator, after, before);
    return true;
}

/* ---- copies ---- */

/* The best bandwidth of the device on this memory, of the operation: whoever touched it first. */
static const struct as_cell *streaming(const struct as_rule_context *c, const char *op, const char *allocator,
                                       const struct as_cell *like)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct as_cell *cell = c->cells[i];
        if (strcmp(cell->probe, "bandwidth") == 0 && strcmp(as_cell_axis(cell, "op"), op) == 0 &&
            strcmp(as_cell_axis(cell, "allocator"), allocator) == 0 && as_cell_axis_number(cell, "threads") == 0 &&
            strcmp(as_cell_axis(cell, "level"), "memory") == 0 && (!like || as_cells_alike(cell, like, "allocator")) &&
            (!best || as_cell_is_faster(cell, best)))
            best = cell;
    }
    return best;
}

/* What a kernel reads over the link to the host, where reads of that memory were not measured by themselves. */
static const struct as_cell *reads_of_link(const struct as_rule_context *c, const char *op, const char *allocator)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < c->n && strcmp(op, "read") == 0; i++) {
        const struct as_cell *cell = c->cells[i];
        if (strcmp(cell->probe, "link") == 0 && as_cell_is(cell, "peer", "host") &&
            as_cell_is(cell, "direction", "from") && as_cell_is(cell, "how", "kernel") &&
            as_cell_is(cell, "allocator", allocator) && (!best || as_cell_is_faster(cell, best)))
            best = cell;
    }
    return best;
}

/* A copy by the copy engines from host memory to the device's own. */
static bool is_legacy_copy(const struct as_rule_context *c, const struct as_cell *cell, const char *own)
{
    if (strcmp(cell->probe, "copy") != 0 || strcmp(as_cell_axis(cell, "direction"), "one") != 0 ||
        strcmp(as_cell_axis(cell, "how"), "engine") != 0 || strcmp(as_cell_axis(cell, "to"), own) != 0 ||
        strcmp(as_cell_axis(cell, "from"), own) == 0)
        return false;
    const struct as_allocator *from = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "from")) : NULL;
    return from && from->host_access && as_copy_crosses_bus(c, cell);
}

/* The largest copy from each kind of memory. */
struct sources {
    struct source {
        const char *from;
        double size;
    } v[CHOICES_MAX];
    size_t n;
};

static double *largest_from(struct sources *s, const char *from)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->v[i].from, from) != 0)
        i++;
    if (i == CHOICES_MAX)
        return NULL;
    if (i == s->n)
        s->v[s->n++] = (struct source){from, -INFINITY};
    return &s->v[i].size;
}

static struct sources find_sources(const struct as_rule_context *c, const char *own)
{
    struct sources s = {.n = 0};
    for (size_t i = 0; i < c->n; i++) {
        if (!is_legacy_copy(c, c->cells[i], own))
            continue;
        double *largest = largest_from(&s, as_cell_axis(c->cells[i], "from"));
        const double size = as_cell_axis_number(c->cells[i], "size");
        if (largest && size > *largest)
            *largest = size;
    }
    return s;
}

enum { COPIES_MAX = (AS_ADVICE_NUMBERS_MAX - 1) / 2 }; /* the device's own memory is the same for most */
struct copies {
    const char *op;
    const struct as_cell *copy[COPIES_MAX], *direct[COPIES_MAX], *own[COPIES_MAX];
    size_t n;
};

static bool has_source(const struct copies *all, const char *from)
{
    for (size_t i = 0; all && i < all->n; i++)
        if (as_cell_is(all->copy[i], "from", from))
            return true;
    return false;
}

/* From sources that are not among the others. */
static void find_copies(struct as_rule_context *c, const char *own, const struct copies *others, struct copies *out)
{
    const char *op = out->op;
    struct sources sources = find_sources(c, own);
    const size_t most = COPIES_MAX - (others ? others->n : 0);
    for (size_t i = 0; i < c->n && out->n < most; i++) {
        const struct as_cell *copy = c->cells[i], *direct, *near;
        const char *from = as_cell_axis(copy, "from");
        if (!is_legacy_copy(c, copy, own) || has_source(others, from))
            continue;
        const double *largest = largest_from(&sources, from);
        if (!largest || *largest > as_cell_axis_number(copy, "size"))
            continue;
        direct = streaming(c, op, from, NULL);
        near = direct ? streaming(c, op, own, direct) : NULL;
        if (!near && (direct = reads_of_link(c, op, from)))
            near = streaming(c, op, own, NULL);
        if (!near)
            continue;
        out->copy[out->n] = copy;
        out->direct[out->n] = direct;
        out->own[out->n++] = near;
    }
}

static void number_copy(struct as_advice *a, const struct copies *all, size_t i)
{
    const char *from = as_cell_axis(all->copy[i], "from"), *own = as_cell_axis(all->own[i], "allocator");
    char pass[64];
    as_fact_value_text(as_cell_size(all->copy[i]), AS_NO_INTERVAL, "B", pass, sizeof pass);
    as_advice_add_number(a, all->copy[i], "copy of %s, '%s' to '%s'", pass, from, own);
    as_advice_pass_text(all->direct[i], pass, sizeof pass);
    as_advice_add_number(a, all->direct[i], "%s%s, '%s'%s", as_cell_axis(all->direct[i], "op")[0] ? "" : "read", pass,
                         from, as_advice_first_text(all->direct[i]));
    as_advice_add_number(a, all->own[i], "%s, '%s'%s", as_advice_pass_text(all->own[i], pass, sizeof pass), own,
                         as_advice_first_text(all->own[i]));
}

enum { SOURCES_SHOWN = 2 };

/* "From 'a', 'b' and 3 more" of copies */
static void say_sources(struct as_advice *a, const struct copies *all, const size_t *of, size_t n)
{
    const size_t shown = n > SOURCES_SHOWN ? SOURCES_SHOWN : n;
    for (size_t k = 0; k < shown; k++)
        as_advice_say(a, "%s '%s'",
                      k                ? k + 1 < n ? "," : " and"
                      : a->sentence[0] ? ". From"
                                       : "From",
                      as_cell_axis(all->copy[of[k]], "from"));
    if (shown < n)
        as_advice_say(a, " and %zu more", n - shown);
}

/* The maximum slowdown of the device against its own memory that the intervals allow. */
static double slower_at_most(const struct copies *all, size_t i)
{
    return 1 - as_cells_ratio(all->direct[i], all->own[i]).lo;
}

static void say_copies(struct as_advice *a, const struct copies *all)
{
    const bool reads = strcmp(all->op, "read") == 0; /* else triads, which write too */
    const char *does = reads ? "read" : "stream over", *passes_of = reads ? "Reads" : "Triads";
    const char *does_all = reads ? "read the data" : "stream over the data";
    size_t vain[COPIES_MAX] = {0}, vain_n = 0, open[COPIES_MAX] = {0}, open_n = 0;
    double most = 0;
    for (size_t i = 0; i < all->n; i++) {
        double passes;
        struct as_interval ci;
        char number[96];
        number_copy(a, all, i);
        if (!as_passes_to_pay(all->copy[i], all->direct[i], all->own[i], &passes, &ci)) {
            const double slower = slower_at_most(all, i);
            if (slower > ADVICE_ALIKE)
                open[open_n++] = i;
            else
                vain[vain_n++] = i;
            most = fmax(most, slower);
            continue;
        }
        as_advice_gain(a, as_cells_ratio(all->own[i], all->direct[i]));
        as_advice_say(a, "%s '%s', copy %s", a->sentence[0] ? ". From" : "From", as_cell_axis(all->copy[i], "from"),
                      as_passes_text(ci, does_all, number, sizeof number));
    }
    say_sources(a, all, vain, vain_n);
    if (vain_n)
        as_advice_say(a,
                      ", do not copy data that you %s repeatedly. %s in place are at most %.0f%% slower than in '%s' "
                      "(first pass excluded: it may migrate pages)",
                      does, passes_of, 100 * ADVICE_ALIKE, as_cell_axis(all->own[vain[0]], "allocator"));
    say_sources(a, all, open, open_n);
    if (open_n)
        as_advice_say(a, ", whether copying helps is inconclusive. %s in place may be up to %.*f%% slower than in '%s'",
                      passes_of, most < 0.1, 100 * most, as_cell_axis(all->own[open[0]], "allocator"));
}

bool as_advise_copies(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    static const char *const ops[] = {"read", "triad"}; /* a pass is one of these; the first that was measured */
    const char *own = c->info && c->info->allocators_n ? c->info->allocators[0].name : "";
    struct copies all[2] = {{.op = ops[0]}, {.op = ops[1]}};
    (void)t;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        find_copies(c, own, k ? &all[0] : NULL, &all[k]);
        say_copies(a, &all[k]);
    }
    return all[0].n + all[1].n > 0;
}
