/* Bandwidth of memory and of each cache, and the gain from non-temporal stores. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ops[] = {"read", "copy", "triad"};
enum { OPS = sizeof ops / sizeof *ops };

/* One thread, and the fastest number of threads. */
enum team { ONE, MANY, TEAMS };
static const char *const team_words[] = {[ONE] = "1", [MANY] = "all"};

/* NAN for a device, which always uses all compute units. */
static double threads_of(const struct as_rule_context *c, const struct as_cell *cell)
{
    double t = as_cell_axis_number(cell, "threads");
    bool host = !c->info || (c->info->capabilities & AS_CAP_HOST_KERNELS);
    return host && t >= 1 ? t : NAN;
}

static bool in_team(const struct as_rule_context *c, const struct as_cell *cell, enum team team)
{
    double t = threads_of(c, cell);
    return team == ONE ? t == 1 : !(t == 1);
}

static double bandwidth_working_set(const struct as_cell *cell)
{
    double size = as_cell_axis_number(cell, "size");
    return cell->footprint > 0 ? (double)cell->footprint : isfinite(size) ? size : 0;
}

/* Only cells with level=memory count: a sweep far above the last cache still hits it in part. */
static bool bandwidth_is_memory(const struct as_cell *cell)
{
    const struct as_axis_value *level = as_axes_get(&cell->axes, "level");
    return level && strcmp(level->text, "memory") == 0;
}

static const struct as_cell *best_in_memory(const struct as_rule_context *c, const struct as_cell *const *cells,
                                            size_t n, const char *op, enum team team)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (in_team(c, cells[i], team) && as_cell_is(cells[i], "op", op) && bandwidth_is_memory(cells[i]) &&
            (!best || cells[i]->sum.median > best->sum.median))
            best = cells[i];
    return best;
}

/* The cell that gives the data sheet this bandwidth; where it has no such line, the best. */
static const struct as_cell *memory_cell(const struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                                         const char *op, enum team team)
{
    char quantity[32];
    snprintf(quantity, sizeof quantity, "memory.%s.%s", op, team == ONE ? "one" : "all");
    const struct as_cell *quoted = as_rule_quantity_cell(c, quantity);
    return quoted ? quoted : best_in_memory(c, cells, n, op, team);
}

/* "1 thread", "8 threads"; "" for a device */
static const char *team_text(const struct as_rule_context *c, const struct as_cell *cell, char *out, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    double t = threads_of(c, cell);
    if (t >= 1)
        as_buf_printf(&text, ", %.0f thread%s", t, t == 1 ? "" : "s");
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
    return out;
}

static struct as_fact *bandwidth_add(struct as_rule_context *c, const struct as_cell *cell, const char *object,
                                     const char *level, const char *op, enum team team)
{
    struct as_fact *f = as_fact_add_cell(
        c, AS_FACT_BANDWIDTH, cell, AS_BY(.object = object, .level = level, .op = op, .threads = team_words[team]));
    if (!f)
        return NULL;
    char threads[32], over[80] = "", size[32] = "", title[24];
    const char *store = as_cell_axis(cell, "store");
    const double bytes = as_cell_axis_number(cell, "size");
    if (!bandwidth_is_memory(cell) && bytes > 0) /* the bandwidth of a cache depends on the size used */
        as_fact_value_text(bytes, AS_NO_INTERVAL, "B", size, sizeof size);
    if (size[0] && isnan(threads_of(c, cell)))
        snprintf(over, sizeof over, ", sequential, each %s on its own part of %s", as_unit_name(c), size);
    else if (size[0])
        snprintf(over, sizeof over, " over %s", size);
    const struct as_cache *cache = object[0] == 'L' ? as_info_cache_at(c->info, (unsigned)(object[1] - '0')) : NULL;
    if (cache)
        as_cache_label(cache, title);
    as_fact_say(f, "%s {op} bandwidth%s: {value}%s%s", cache ? title : "Memory", over,
                team_text(c, cell, threads, sizeof threads),
                strcmp(op, "read") == 0    ? ""
                : strcmp(store, "nt") == 0 ? ", non-temporal stores"
                                           : "");
    return f;
}

static void derive_memory_bandwidth(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "bandwidth", &cells);
    for (enum team team = ONE; team < TEAMS; team++)
        for (size_t o = 0; o < OPS; o++) {
            const struct as_cell *cell = memory_cell(c, cells, n, ops[o], team);
            if (!cell)
                continue;
            struct as_fact *f = bandwidth_add(c, cell, "memory", "memory", ops[o], team);
            if (f && team == MANY && c->info && c->info->peak_bandwidth > 0 && strcmp(f->unit, "GB/s") == 0)
                f->claimed = c->info->peak_bandwidth * 1e-9;
        }
    free(cells);
}

/* Working sets that surely fit this cache and surely exceed the one before. The bounds hold whether threads share a
 * cache or have their own. A cache of unknown sharing counts as the only one. */
struct window {
    const struct as_cache *cache;
    double before;   /* bytes of the next smaller cache */
    double at_least; /* bytes, of a memory-side cache */
};
/* Compute units may share several caches before a memory-side one, and drivers report one of them. Together they hold
 * less than this share of the memory-side cache. */
static const double MEMORY_SIDE_LEAST = 0.25;

/* Drivers do not report a GPU's L1, which shares storage with the shared memory. The ways from which "best" chooses for
 * f64 bypass it; others may hit lines that the same compute unit has read. */
static double untold_cache(const struct as_rule_context *c, const struct as_cell *cell)
{
    const bool gpu = !c->info->is_host_cpu && !(c->info->capabilities & AS_CAP_HOST_KERNELS);
    const bool past = c->info->capabilities & AS_CAP_FP64 && strcmp(as_cell_axis(cell, "width"), "best") == 0;
    return gpu && !past ? (double)c->info->compute_unit_shared : 0;
}

/* The largest working set that surely fits the cache. */
static double most_inside(const struct as_rule_context *c, const struct as_cell *cell, const struct window *w)
{
    const double threads = threads_of(c, cell), compute_units = c->info->compute_units ? c->info->compute_units : 1;
    const double many = threads >= 1 ? threads : compute_units;
    return 0.75 * (double)w->cache->size * (w->cache->shared ? fmax(1, floor(many / w->cache->shared)) : 1);
}

static bool belongs_to_cache(const struct as_rule_context *c, const struct as_cell *cell, const struct window *w)
{
    const double threads = threads_of(c, cell), compute_units = c->info->compute_units ? c->info->compute_units : 1;
    const double many = threads >= 1 ? threads : compute_units;
    const double set = bandwidth_working_set(cell), before = fmax(w->before, untold_cache(c, cell));
    const double least = w->cache->memory_side ? w->at_least : 2 * before * many;
    return !bandwidth_is_memory(cell) && set > 0 && set >= least && set <= most_inside(c, cell, w);
}

static int standing(const struct as_cell *cell)
{
    return 2 * as_cell_is(cell, "width", "best") + as_cell_on_huge_pages(cell);
}

/* Others may use most of a cache, and a guest may own a small share of what its hypervisor reports. True if the
 * interval of this cell does not separate it from memory, NULL where that does not matter. */
static bool may_be_memory(const struct as_cell *cell, const struct as_cell *memory)
{
    return memory && as_verdict_above(as_cells_ratio(cell, memory), 1) != AS_SUPPORTED;
}

/* Runs compare by one definition, not by the fastest of all cells: regular stores, all threads or one, the width that a
 * test found best, the largest pages, and the size nearest to the middle of the window. */
static const struct as_cell *typical_in_cache(const struct as_rule_context *c, const struct as_cell *const *cells,
                                              size_t n, const char *op, enum team team, const struct window *w)
{
    const struct as_cell *found = NULL, *memory = w->cache->memory_side ? NULL : best_in_memory(c, cells, n, op, team);
    double nearest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double threads = threads_of(c, cells[i]);
        if (!in_team(c, cells[i], team) || !as_cell_is(cells[i], "op", op) || !belongs_to_cache(c, cells[i], w) ||
            !as_cell_is(cells[i], "store", "regular") || (team == MANY && threads > 1 && threads != c->info->threads) ||
            may_be_memory(cells[i], memory))
            continue;
        const double far = fabs(log(bandwidth_working_set(cells[i]) / (most_inside(c, cells[i], w) / 2)));
        const int better = found ? standing(cells[i]) - standing(found) : 1;
        if (better > 0 || (better == 0 && far < nearest)) {
            found = cells[i];
            nearest = far;
        }
    }
    return found;
}

/* Bytes of all caches of a CPU before the window's. */
static double cpu_caches(const struct as_rule_context *c, const struct window *w)
{
    double most = 0;
    for (size_t i = 0; i < c->info->caches_n && i < AS_CACHES_MAX; i++) {
        const struct as_cache *k = &c->info->caches[i];
        if (k->kind == 'i' || k->level >= w->cache->level || !(c->info->capabilities & AS_CAP_HOST_KERNELS))
            continue;
        most = fmax(most, (double)k->size * ceil((double)c->info->threads / fmax(1, k->shared)));
    }
    return most;
}

static void derive_cache_bandwidth(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = c->info ? as_cells_of(c, "bandwidth", &cells) : 0;
    if (n == 0)
        return;
    for (size_t k = 0; k < c->info->caches_n && k < AS_CACHES_MAX; k++) {
        struct window w = {.cache = &c->info->caches[k]};
        if (w.cache->kind == 'i' || w.cache->size == 0)
            continue;
        for (size_t i = 0; i < c->info->caches_n && i < AS_CACHES_MAX; i++)
            if (c->info->caches[i].kind != 'i' && c->info->caches[i].level < w.cache->level)
                w.before = fmax(w.before, (double)c->info->caches[i].size);
        char key[16];
        char object[16];
        as_cache_key(w.cache, key);
        snprintf(object, sizeof object, "L%u", w.cache->level);
        w.at_least = fmax(MEMORY_SIDE_LEAST * (double)w.cache->size, 2 * cpu_caches(c, &w));
        for (enum team team = ONE; team < TEAMS; team++)
            for (size_t o = 0; o < OPS; o++) {
                const struct as_cell *best = typical_in_cache(c, cells, n, ops[o], team, &w);
                if (best)
                    bandwidth_add(c, best, object, key, ops[o], team);
            }
    }
    free(cells);
}

/* Among the pairs of one operation that differ only in the store, the one with the fastest cell. */
static const struct as_pair *best_pair(const struct as_rule_context *c, const struct as_pair *pairs, size_t n,
                                       const char *op, enum team team)
{
    const struct as_pair *best = NULL;
    double fastest = 0;
    for (size_t i = 0; i < n; i++) {
        double fast = fmax(pairs[i].a->sum.median, pairs[i].b->sum.median);
        if (fast > fastest && in_team(c, pairs[i].a, team) && bandwidth_is_memory(pairs[i].a) &&
            strcmp(as_cell_axis(pairs[i].a, "op"), op) == 0) {
            best = &pairs[i];
            fastest = fast;
        }
    }
    return best;
}

static void add_nontemporal(struct as_rule_context *c, const struct as_pair *p, const char *op, enum team team)
{
    const struct as_cell *nt = p->a, *regular = p->b;
    struct as_fact *f =
        as_fact_add_ratio(c, AS_FACT_STORES_NONTEMPORAL, nt, regular, AS_BY(.op = op, .threads = team_words[team]));
    if (!f)
        return;
    char threads[32];
    as_fact_say(
        f,
        f->verdict == AS_SUPPORTED
            ? "Non-temporal stores speed up {op} in memory: {value} of the bandwidth of regular ones%s"
        : f->verdict == AS_REFUTED
            ? "Non-temporal stores cost bandwidth for {op} in memory: {value} of that of regular ones%s"
            : "Whether non-temporal stores speed up {op} in memory is inconclusive: {wide}{value} of the bandwidth of "
              "regular ones%s",
        team_text(c, nt, threads, sizeof threads));
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f,
                    "Use non-temporal stores for large arrays: {op} runs at {gain} the bandwidth of regular stores%s",
                    threads);
    else if (as_fact_side(f) < 0)
        as_fact_act(f,
                    "Use regular stores for large arrays: {op} runs at {gain} the bandwidth of non-temporal stores%s",
                    threads);
}

static void derive_nontemporal(struct as_rule_context *c)
{
    static const char *const writers[] = {"copy", "triad", "write"};
    struct as_pair *pairs;
    size_t n;
    as_pairs_make(c, "bandwidth", "store", "nt", "regular", &pairs, &n);
    for (enum team team = ONE; team < TEAMS; team++)
        for (size_t o = 0; o < sizeof writers / sizeof *writers; o++) {
            const struct as_pair *p = best_pair(c, pairs, n, writers[o], team);
            if (p)
                add_nontemporal(c, p, writers[o], team);
        }
    free(pairs);
}

/* ---- a device in its allocators ---- */

static bool is_of_role(const struct as_rule_context *c, const struct as_cell *cell, enum as_role role)
{
    return as_allocator_role(c->device, as_cell_axis(cell, "allocator")) == role;
}

/* The best in the device's own memory for the same operation and size. */
static const struct as_cell *best_on_device(const struct as_rule_context *c, const struct as_cell *const *cells,
                                            size_t n, const struct as_cell *like)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (as_cells_same(cells[i], like, "op") && as_cells_same(cells[i], like, "size") &&
            is_of_role(c, cells[i], AS_ROLE_DEVICE) && (!best || as_cell_is_better(cells[i], best)))
            best = cells[i];
    return best;
}

/* Who wrote the memory first: the CPU copies into what it cannot access. */
static const char *first_of(const struct as_rule_context *c, const struct as_cell *cell)
{
    const struct as_allocator *a = c->info ? as_info_allocator(c->info, as_cell_axis(cell, "allocator")) : NULL;
    if (as_cell_is(cell, "touch", "device"))
        return "the device touched first";
    return a && !a->host_access ? "a copy from the host filled" : "the CPU touched first";
}

static void add_cost(struct as_rule_context *c, const struct as_cell *cell, const struct as_cell *own)
{
    char object[64];
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add_ratio(c, AS_FACT_BANDWIDTH_COST, cell, own, AS_BY(.object = object));
    if (!f)
        return;
    as_fact_say(f,
                as_fact_is_open(f) ? "Kernels in '%s' memory that %s, {op}, against '%s': inconclusive"
                                   : "Kernels in '%s' memory that %s, {op}: {value} of the bandwidth in '%s'",
                as_cell_axis(cell, "allocator"), first_of(c, cell), as_cell_axis(own, "allocator"));
    as_fact_expects_nothing(f);
}

/* Of each allocator and first touch the largest arrays in memory with which the device's own was measured too, against
 * the best in it. */
static void derive_costs(struct as_rule_context *c)
{
    static const char *const kind[] = {"op", "allocator", "touch", "size", NULL};
    static const char *const object[] = {"op", "allocator", "touch", NULL};
    const struct as_cell **cells, **others;
    size_t n = 0, others_n = 0;
    if (c->info && as_info_has_host_kernels(c->info))
        return;
    const size_t all = as_cells_of(c, "bandwidth", &cells);
    for (size_t i = 0; i < all; i++)
        if (bandwidth_is_memory(cells[i]))
            cells[n++] = cells[i];
    n = as_cells_keep_best(cells, n, kind, as_cell_is_better);
    as_cells_of(c, "bandwidth", &others);
    for (size_t i = 0; i < n && others; i++)
        if (!is_of_role(c, cells[i], AS_ROLE_DEVICE) && best_on_device(c, cells, n, cells[i]))
            others[others_n++] = cells[i];
    others_n = as_cells_keep_best(others, others_n, object, as_cell_is_larger);
    for (size_t i = 0; i < others_n && others; i++)
        add_cost(c, others[i], best_on_device(c, cells, n, others[i]));
    free(others);
    free(cells);
}

const struct as_rule as_rules_bandwidth[] = {
    {"memory bandwidth", derive_memory_bandwidth,
     "the measurement of the data sheet; where it has no line for these threads, the best valid measurement of the "
     "operation in "
     "memory, checked by the footprint gate",
     "a faster measurement that passes the same gates"},
    {"cache bandwidth", derive_cache_bandwidth,
     "the valid measurement of the operation, with regular stores, by one thread or all, whose working set is nearest "
     "to the "
     "middle between the previous cache and three quarters of this one; on a GPU, one that bypasses the units' own "
     "caches (width best); faster than memory where that was measured",
     "another bandwidth of that size in another run"},
    {"non-temporal stores", derive_nontemporal,
     "ratio of two measurements that differ in the kind of store only, with the interval from both measurements' "
     "intervals; they pay "
     "when all of it lies above 1",
     "an interleaved comparison in one run with the opposite result"},
    {"bandwidth of a device by allocator", derive_costs,
     "the best measurement in main memory of each allocator and first touch over the best in the device's own memory",
     "a stream of that size in that memory with another bandwidth"},
    {0},
};
