/* Cache levels from the latency curve (size, latency, latency in cycles), and whether the two instruments agree. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cache levels ---- */

/* With elements farther apart than a line, sets of the cache stay unused, and the curve shows too large a cache. */
enum { LEVELS_MAX = AS_LEVELS_MAX, CURVE_MAX = 512, POINTS_MIN = 6, LINE_MAX_BYTES = 256 };

/* The curve that shows the caches best: random order over all elements, on huge pages if available, and the longest
 * among those. Huge pages keep the TLB out of it, and each run then measures a level on the same pages. */
static const struct as_curve *choose_curve(const struct as_curve *curves, size_t n)
{
    const struct as_curve *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = curves[i].cells[0];
        if (!as_cell_is(cell, "pattern", "random") || !as_cell_is(cell, "instrument", "timed") ||
            curves[i].n < POINTS_MIN || as_cell_axis_number(cell, "stride") > LINE_MAX_BYTES)
            continue;
        const int larger_pages = best ? as_cell_on_huge_pages(cell) - as_cell_on_huge_pages(best->cells[0]) : 1;
        if (larger_pages > 0 || (larger_pages == 0 && curves[i].n > best->n))
            best = &curves[i];
    }
    return best;
}

/* Curves with too many sizes are thinned: the search for plateaus is quadratic in their number. */
static size_t latency_thin(const struct as_curve *in, struct as_curve *out)
{
    size_t step = (in->n + CURVE_MAX - 1) / CURVE_MAX;
    for (size_t i = 0; i < in->n; i += step) {
        out->cells[out->n] = in->cells[i];
        out->x[out->n] = in->x[i];
        out->y[out->n] = in->y[i];
        out->ci[out->n++] = in->ci[i];
    }
    return out->n;
}

struct level {
    struct as_plateau *plateau;
    const struct as_cache *cache; /* as reported by the OS or driver; NULL: none */
    char name[16];                /* "L1", ..., "memory"; "level 1" if it fits none of the reported caches */
    char key[16];                 /* for the facts' ids: "L1", "memory_side" */
    char said[32];                /* the name in a sentence, if different: "the first cache level" */
    bool hole;                    /* sizes after it are missing or rejected: its end is unknown */
    bool first;                   /* before the first reported cache, which is an L2 and another level */
    bool vague;                   /* its end is known too badly to tell which cache it is */
    enum as_level_end ends;
};

/* Are sizes missing over more than an octave and a half between the plateau and the next? */
static bool hole_behind(const struct as_curve *curve, const struct as_plateau *p, size_t next_first)
{
    for (size_t i = p->last; i < next_first && i + 1 < curve->n; i++)
        if (curve->x[i + 1] > 3 * curve->x[i])
            return true;
    return false;
}

/* Near its size the last cache, which others share, no longer holds a whole working set. */
static const double SURELY_INSIDE = 0.8;

/* If the end is uncertain by more than this factor, the middle of the rise may lie nearer to another cache. */
static const double VAGUE = 16;

/* Without a knee, only the sizes on the plateau identify the cache. */
static const struct as_cache *cache_of_sizes(const struct as_cache *const *caches, size_t n, double first, double last)
{
    for (size_t i = 0; i < n; i++)
        if ((double)caches[i]->size * (i + 1 == n && n > 1 ? SURELY_INSIDE : 1.05) >= last)
            return i == 0 || first > (double)caches[i - 1]->size * 0.9 ? caches[i] : NULL;
    return NULL;
}

/* The i-th level from the core that is none of the reported caches. */
static void name_unknown(struct level *level, unsigned i, bool caches_known)
{
    static const char *const ordinal[LEVELS_MAX] = {"first", "second", "third",   "fourth",
                                                    "fifth", "sixth",  "seventh", "eighth"};
    snprintf(level->name, sizeof level->name, caches_known ? "level %u" : "L%u", i + 1);
    as_copy_text(level->key, sizeof level->key, level->name);
    if (caches_known)
        snprintf(level->said, sizeof level->said, "the %s cache level", ordinal[i]);
}

/* The object and id of the level; a memory-side cache also has its own name. */
static void name_cache(struct level *level)
{
    snprintf(level->name, sizeof level->name, "L%u", level->cache->level);
    as_cache_key(level->cache, level->key);
    if (level->cache->memory_side) {
        char label[24];
        as_cache_label(level->cache, label);
        snprintf(level->said, sizeof level->said, "the %s", label);
    }
}

static size_t data_caches(const struct as_device_info *info, const struct as_cache **out)
{
    size_t n = 0;
    for (size_t i = 0; info && i < info->caches_n && i < AS_CACHES_MAX; i++)
        if (info->caches[i].kind != 'i' && info->caches[i].size > 0)
            out[n++] = &info->caches[i];
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && out[k]->size < out[k - 1]->size; k--) {
            const struct as_cache *t = out[k];
            out[k] = out[k - 1];
            out[k - 1] = t;
        }
    return n;
}

/* For a device that reports no caches: a plateau that starts beyond the first size is followed by no other cache, and
 * one that reaches the second may be memory. */
static const double untold_cache = 0x1p24, untold_memory = 0x1p26;

static double largest_cache(const struct as_cache *const *caches, size_t n)
{
    return n ? (double)caches[n - 1]->size : untold_cache;
}

static bool latency_is_memory(const struct as_rule_context *c, const struct as_curve *curve, size_t i)
{
    return as_cell_holds_memory(c, curve->cells[i]);
}

/* Keeps only the points that lie surely in main memory; caches hold a part of smaller working sets. */
static void keep_memory(const struct as_rule_context *c, const struct as_curve *curve, struct as_plateau *p)
{
    size_t first = p->first;
    while (first < p->last && !latency_is_memory(c, curve, first))
        first++;
    as_level_keep(curve, first > 0 ? curve->x[first - 1] : 0, p);
}

/* A level's number comes from sizes beyond the cache before it, as reported; if none is, it has no name. Its own end is
 * the curve's. */
static void keep_level(const struct as_curve *curve, const struct as_cache *const *caches, size_t n,
                       struct level *level)
{
    double inner = 0;
    for (size_t i = 0; i < n && level->cache && caches[i] != level->cache; i++)
        inner = (double)caches[i]->size;
    if (level->name[0] && !as_level_keep(curve, inner, level->plateau))
        level->name[0] = 0;
}

/* Pairs the caches with the ends that the curve tells. */
static void pair_ends(const struct level *levels, size_t n, const struct as_cache *const *caches, size_t caches_n,
                      size_t *pair)
{
    double knee[LEVELS_MAX];
    size_t at[LEVELS_MAX], paired[LEVELS_MAX], knees = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        pair[i] = SIZE_MAX; /* stays so if no sum of distances is finite */
        if (levels[i].ends != AS_END_CLEAR)
            continue;
        at[knees] = i;
        paired[knees] = SIZE_MAX;
        knee[knees++] = levels[i].plateau->knee;
    }
    as_levels_pair(knee, knees, caches, caches_n, paired);
    for (size_t i = 0; i < knees; i++)
        pair[at[i]] = paired[i];
}

/* The cache whose size range holds an unresolved level; NULL if another level already ends at that cache. */
static const struct as_cache *cache_of_unresolved(const struct as_curve *curve, const struct as_plateau *p,
                                                  const struct as_cache *const *caches, size_t caches_n,
                                                  const size_t *pair, size_t own, size_t n)
{
    const struct as_cache *cache = cache_of_sizes(caches, caches_n, curve->x[p->first], curve->x[p->last]);
    for (size_t i = 0; i + 1 < n; i++)
        if (i != own && pair[i] != SIZE_MAX && caches[pair[i]] == cache)
            return NULL;
    return cache;
}

/* Names the last plateau, at which the curve ends. next: the first cache behind those that end before. */
static void name_last(const struct as_curve *curve, struct level *levels, size_t n, size_t next, bool hole,
                      const struct as_cache *const *caches, size_t caches_n, bool uncounted)
{
    struct level *last = &levels[n - 1];
    const double first = curve->x[last->plateau->first], end = curve->x[last->plateau->last];
    for (size_t i = next; i < caches_n && !last->cache; i++)
        if ((double)caches[i]->size >= first)
            last->cache = caches[i];
    const bool is_largest = caches_n > 1 && last->cache == caches[caches_n - 1];
    bool outgrown = last->cache && end > (is_largest ? SURELY_INSIDE : 1.05) * (double)last->cache->size;
    outgrown |= !last->cache && first >= largest_cache(caches, caches_n); /* not far enough beyond for memory */
    outgrown |= caches_n == 0 && end >= untold_memory;
    if (hole || outgrown)
        last->cache = cache_of_sizes(caches, caches_n, first, end);
    if (last->cache)
        name_cache(last);
    else if (hole || outgrown || uncounted)
        last->name[0] = 0; /* unknown: no fact */
    else
        name_unknown(last, (unsigned)n - 1, caches_n > 0);
}

/* GPU drivers report the L2 only: the first of several levels is the L1, wherever it ends. */
static bool is_before_l2(const struct as_cache *const *caches, size_t caches_n, const size_t *pair, size_t n)
{
    for (size_t i = 1; i + 1 < n && caches_n; i++)
        if (pair[i] == 0)
            return caches[0]->level == 2;
    return false;
}

static void name_l1(struct level *level)
{
    level->first = true;
    as_copy_text(level->name, sizeof level->name, "L1");
    as_copy_text(level->key, sizeof level->key, "L1");
}

/* Names the plateaus. The last one is memory if the curve goes far enough beyond the largest cache. */
static void name_levels(struct as_rule_context *c, const struct as_curve *curve, struct level *levels, size_t n)
{
    const struct as_cache *caches[AS_CACHES_MAX] = {0};
    size_t pair[LEVELS_MAX], next = 0, caches_n = data_caches(c->info, caches);
    pair_ends(levels, n, caches, caches_n, pair);
    bool uncounted = false; /* levels without reported caches are counted; after a vague one the count is unknown */
    for (size_t i = 0; i + 1 < n; i++) {
        const struct as_plateau *p = levels[i].plateau;
        levels[i].hole = hole_behind(curve, p, levels[i + 1].plateau->first);
        levels[i].vague = levels[i].hole || (i > 0 && levels[i - 1].hole) || levels[i].ends != AS_END_CLEAR ||
                          p->knee_ci.hi > VAGUE * p->knee_ci.lo;
        levels[i].cache = pair[i] == SIZE_MAX ? NULL : caches[pair[i]];
        if (levels[i].vague)
            levels[i].cache = cache_of_unresolved(curve, p, caches, caches_n, pair, i, n);
        uncounted |= caches_n == 0 && levels[i].vague;
        if (levels[i].ends == AS_END_NONE && caches_n && levels[i].cache == caches[caches_n - 1])
            levels[i].cache = NULL; /* others may use the last one, so its size does not tell that loads hit it */
        if (levels[i].cache)
            name_cache(&levels[i]);
        else if (i == 0 && is_before_l2(caches, caches_n, pair, n))
            name_l1(&levels[i]);
        else if (levels[i].vague || uncounted)
            levels[i].name[0] = 0;
        else
            name_unknown(&levels[i], (unsigned)i, caches_n > 0);
        keep_level(curve, caches, caches_n, &levels[i]);
        next = pair[i] == SIZE_MAX ? next : pair[i] + 1;
    }
    struct level *last = &levels[n - 1];
    /* If sizes in between are missing or rejected, the last plateau need not be memory. */
    const struct as_plateau whole = {.last = n > 1 ? levels[n - 2].plateau->last : 0};
    const bool hole = hole_behind(curve, &whole, last->plateau->last);
    /* beyond the largest cache it is memory, whatever is missing before */
    const bool beyond = curve->x[last->plateau->first] >= largest_cache(caches, caches_n);
    if (latency_is_memory(c, curve, last->plateau->last) && (beyond || !hole)) {
        as_copy_text(last->name, sizeof last->name, "memory");
        keep_memory(c, curve, last->plateau);
        return;
    }
    name_last(curve, levels, n, next, hole, caches, caches_n, uncounted);
    keep_level(curve, caches, caches_n, last);
}

/* Where a level ends. Missing sizes may hide another level, so half the way to the next level is no bound. The level
 * ends before the first size with more than sqrt(2) times its latency; 1.33 times was seen inside an L2. */
static bool latency_end_of(const struct as_curve *curve, const struct level *level, double *end, struct as_interval *ci)
{
    const struct as_plateau *p = level->plateau;
    *end = p->knee;
    *ci = p->knee_ci;
    if (!level->hole)
        return level->ends == AS_END_CLEAR && isfinite(p->knee);
    const double clearly = sqrt(2);
    if (!(level->cache || level->first) || p->last + 1 >= curve->n || curve->y[p->last + 1] < clearly * p->level)
        return false;
    *ci = (struct as_interval){curve->x[p->last], curve->x[p->last + 1]};
    *end = sqrt(ci->lo * ci->hi);
    return true;
}

/* One compute unit chases; a cache shared by units may be partitioned, with one partition near it. */
static bool is_shared_by_units(const struct as_rule_context *c, const struct as_cache *cache)
{
    return cache && c->info->compute_units > 1 && !(c->info->capabilities & AS_CAP_HOST_KERNELS) &&
           cache->size == as_info_last_cache(c->info);
}

/* An end uncertain by more than this factor decides nothing. */
static const double WIDE = 5;

/* What is said of a chase by a device, beside which other probes time loads by the device's own counter. */
static const char *latency_instrument(const struct as_rule_context *c, const struct as_cell *cell)
{
    const bool by_device = c->info && !(c->info->capabilities & AS_CAP_HOST_KERNELS);
    return by_device && as_cell_is(cell, "instrument", "timed") ? "chase timed from the host" : "";
}

static void say_size(struct as_fact *f, const struct level *level, double claimed, bool once, const char *instrument)
{
    char range[64], claim[32], title[24] = "", note[48] = "";
    if (instrument[0])
        snprintf(note, sizeof note, " (%s)", instrument);
    const bool listed = level->cache && strcmp(level->cache->source, "table") == 0;
    const char *told = listed ? "published" : "reported";
    if (level->cache)
        as_cache_label(level->cache, title);
    as_fact_range_text(f->ci, "B", range, sizeof range);
    as_fact_value_text(claimed, AS_NO_INTERVAL, "B", claim, sizeof claim);
    if (level->said[0] && !level->cache)
        as_fact_say(f, "Capacity of %s: %s%s", level->said, range, note);
    else if (!level->cache)
        as_fact_say(f, "%s capacity: %s%s", level->name, range, note);
    else if (f->verdict == AS_UNDECIDED)
        as_fact_say(f, "%s capacity: %s, %s the %s %s%s", title, range,
                    once ? "from single trials, which cannot refute" : "too wide to confirm", told, claim, note);
    else
        as_fact_say(f, "%s capacity: %s, %s the %s %s%s", title, range,
                    f->verdict == AS_SUPPORTED ? "in agreement with" : "NOT", told, claim, note);
}

/* Single trials at the end of a level may be contended: they do not refute a size. */
static bool is_end_of_one_trial(const struct as_curve *curve, size_t last)
{
    return curve->cells[last]->sum.trials == 1 || (last + 1 < curve->n && curve->cells[last + 1]->sum.trials == 1);
}

static void latency_add_size(struct as_rule_context *c, const struct as_curve *curve, const struct level *level)
{
    const struct as_plateau *p = level->plateau;
    struct as_interval ci;
    double end;
    if (!latency_end_of(curve, level, &end, &ci))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_CACHE_SIZE, NULL, AS_BY(.object = level->name, .level = level->key));
    if (!f)
        return;
    as_fact_number(f, end, ci);
    char range[64], claim[32];
    double claimed = level->cache ? (double)level->cache->size : 0;
    bool part = is_shared_by_units(c, level->cache) && ci.hi < claimed;
    if (level->cache && !part) {
        f->claimed = claimed;
        f->verdict = as_claim_fits(f->claimed, ci, 0.07) ? AS_SUPPORTED : AS_REFUTED;
    }
    const bool once = f->verdict == AS_REFUTED && is_end_of_one_trial(curve, p->last);
    f->verdict = once ? AS_UNDECIDED : f->verdict;
    if (f->verdict == AS_REFUTED)
        as_fact_act(f, "Size tiles for the measured %s: %s, not the reported %s", level->name,
                    as_fact_range_text(ci, "B", range, sizeof range),
                    as_fact_value_text(claimed, AS_NO_INTERVAL, "B", claim, sizeof claim));
    const bool wide = ci.hi > WIDE * ci.lo;
    if (wide && f->verdict == AS_SUPPORTED)
        f->verdict = AS_UNDECIDED;
    const char *instrument = latency_instrument(c, curve->cells[p->first]);
    if (part)
        as_fact_say(f, "%s that one %s reaches at the lowest latency: %s of %s%s%s%s", level->name, as_unit_name(c),
                    as_fact_range_text(ci, "B", range, sizeof range),
                    as_fact_value_text(claimed, AS_NO_INTERVAL, "B", claim, sizeof claim), instrument[0] ? " (" : "",
                    instrument, instrument[0] ? ")" : "");
    else
        say_size(f, level, claimed, once, instrument);
    size_t past = p->last + 1 < curve->n ? p->last + 1 : p->last;
    as_curve_evidence(f, curve, p->first, past);
}

/* The plateau's latency at the median clock of its cells, with the scatter of both. */
static void add_cycles(struct as_rule_context *c, const struct as_curve *curve, const struct level *level)
{
    const struct as_plateau *p = level->plateau;
    const bool is_memory = strcmp(level->name, "memory") == 0;
    const char *instrument = latency_instrument(c, curve->cells[p->first]);
    char text[160];
    double clock[CURVE_MAX], off;
    const size_t n = as_cells_clocks(curve->cells + p->first, p->last - p->first + 1, clock, &off);
    if (n == 0)
        return;
    struct as_fact *f = as_fact_add(c, is_memory ? AS_FACT_MEMORY_LATENCY_CYCLES : AS_FACT_CACHE_LATENCY_CYCLES, NULL,
                                    AS_BY(.object = level->name, .level = level->key));
    if (!f)
        return;
    const struct as_interval hz = as_spread_interval(clock, n);
    as_fact_number(f, p->level * as_median(clock, n) * 1e-9,
                   (struct as_interval){p->ci.lo * hz.lo * 1e-9 / off, p->ci.hi * hz.hi * 1e-9 * off});
    as_fact_say(f, "A dependent load %s %s takes %s", is_memory ? "from" : "that hits",
                level->said[0] ? level->said : level->name, as_fact_noted_text(f, "", instrument, text, sizeof text));
    as_curve_evidence(f, curve, p->first, p->last);
}

/* The index of the cell on the plateau that gives the data sheet the latency of memory; that after the plateau: none.
 */
static size_t latency_quoted(const struct as_rule_context *c, const struct as_curve *curve, const struct as_plateau *p)
{
    const struct as_cell *cell = as_rule_quantity_cell(c, "memory.latency");
    size_t i = p->first;
    while (i <= p->last && curve->cells[i] != cell)
        i++;
    return i;
}

static void latency_add(struct as_rule_context *c, const struct as_curve *curve, const struct level *level)
{
    const struct as_plateau *p = level->plateau;
    const char *instrument = latency_instrument(c, curve->cells[p->first]);
    bool memory = strcmp(level->name, "memory") == 0;
    char text[192], reach[32], note[128];
    struct as_fact *f = as_fact_add(c, memory ? AS_FACT_MEMORY_LATENCY : AS_FACT_CACHE_LATENCY, curve->cells[p->first],
                                    AS_BY(.object = level->name, .level = level->key));
    if (!f)
        return;
    const size_t quoted = memory ? latency_quoted(c, curve, p) : p->last + 1;
    if (quoted <= p->last)
        as_fact_number(f, curve->y[quoted], curve->ci[quoted]);
    else
        as_fact_number(f, p->level, p->ci);
    if (memory) {
        snprintf(note, sizeof note, "%s%s%.48s, random order over up to %s", instrument, instrument[0] ? ", " : "",
                 as_cell_axis(curve->cells[p->first], "allocator"),
                 as_fact_value_text(curve->x[p->last], AS_NO_INTERVAL, "B", reach, sizeof reach));
        as_fact_say(f, "A dependent load from memory takes %s", as_fact_noted_text(f, "", note, text, sizeof text));
    } else
        as_fact_say(f, "A dependent load that hits %s takes %s", level->said[0] ? level->said : level->name,
                    as_fact_noted_text(f, "", instrument, text, sizeof text));
    as_curve_evidence(f, curve, p->first, p->last);
    add_cycles(c, curve, level);
}

static void derive_levels(struct as_rule_context *c)
{
    struct as_curve *curves, thinned = {0};
    size_t n;
    as_curves_make(c, "latency", "size", &curves, &n);
    const struct as_curve *chosen = choose_curve(curves, n);
    if (!chosen)
        goto done;
    /* latency_thin only moves points to the front, so the chosen curve's arrays serve as its output */
    thinned = (struct as_curve){chosen->cells, chosen->x, chosen->y, chosen->ci, 0};
    latency_thin(chosen, &thinned);
    struct as_plateau plateaus[LEVELS_MAX];
    struct level levels[LEVELS_MAX] = {0};
    size_t found = as_levels_of(&thinned, c->info, plateaus, LEVELS_MAX);
    if (found == 0)
        goto done;
    for (size_t i = 0; i < found; i++)
        levels[i] = (struct level){.plateau = &plateaus[i], .ends = as_level_end_of(&thinned, plateaus, i, found)};
    name_levels(c, &thinned, levels, found);
    for (size_t i = 0; i < found; i++) {
        if (!levels[i].name[0])
            continue;
        latency_add_size(c, &thinned, &levels[i]);
        latency_add(c, &thinned, &levels[i]);
    }
done:
    as_curves_free(curves, n);
}

/* ---- two instruments ---- */

static const double AGREE_WITHIN = 0.02;

/* The number is of the pair that differs most; one significant difference refutes. */
static void derive_instruments(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n, agree = 0, differ = 0, worst = 0;
    double farthest = -1;
    as_pairs_make(c, "latency", "instrument", "timed", "persistent", &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        double ratio = pairs[i].b->sum.median / pairs[i].a->sum.median;
        struct as_interval ci = as_cells_ratio(pairs[i].b, pairs[i].a);
        agree += ci.lo >= 1 / (1 + AGREE_WITHIN) && ci.hi <= 1 + AGREE_WITHIN;
        differ += ci.lo > 1 + AGREE_WITHIN || ci.hi < 1 / (1 + AGREE_WITHIN);
        if (fabs(log(ratio)) > farthest) {
            farthest = fabs(log(ratio));
            worst = i;
        }
    }
    struct as_fact *f = n ? as_fact_add(c, AS_FACT_LATENCY_INSTRUMENTS, NULL, NULL) : NULL;
    if (f) {
        const struct as_pair *p = &pairs[worst];
        const size_t open = n - agree - differ;
        char size[32], others[96] = "", inconclusive[96] = "";
        if (differ)
            snprintf(others, sizeof others, ", differ by more in %zu", differ);
        if (open)
            snprintf(inconclusive, sizeof inconclusive, ", and are inconclusive in %zu", open);
        as_fact_ratio(f, p->b, p->a);
        f->verdict = differ ? AS_REFUTED : agree == n ? AS_SUPPORTED : AS_UNDECIDED;
        as_fact_say(f,
                    "Pointer chases timed as a whole and by a cycle counter inside agree within 2%% in %zu of %zu "
                    "measurements%s%s; the largest ratio is {value}, at %s",
                    agree, n, others, inconclusive,
                    as_fact_value_text(as_cell_axis_number(p->a, "size"), AS_NO_INTERVAL, "B", size, sizeof size));
        for (size_t i = 0; i < n; i++) {
            as_fact_evidence(f, pairs[i].a);
            as_fact_evidence(f, pairs[i].b);
        }
    }
    free(pairs);
}

const struct as_rule as_rules_latency[] = {
    {"cache levels", derive_levels,
     "plateaus of the random-chase latency over the size of the working set, on the largest pages measured; a level "
     "ends where the curve is half-way to the next plateau (on log axes), within the interval of the neighbouring "
     "points; the latency of memory is that of the data sheet",
     "a curve on other pages or in another order whose knees lie outside the intervals"},
    {"instruments", derive_instruments,
     "ratio of two measurements that differ in the instrument only, with an interval from both: they agree when all of "
     "it lies within 2% of 1, and differ when none of it does",
     "measurements of the two instruments, interleaved in one run, with another ratio"},
    {0},
};
