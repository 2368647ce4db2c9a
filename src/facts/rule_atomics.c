/* Atomic updates: how many a second by whom, what CPU and device keep of that where both are at work, and whether any
 * are lost. */
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 64 }; /* of one rule */

static bool by_cpu(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "agent"), "cpu") == 0;
}

static bool works(const struct as_cell *cell, const char *threads)
{
    return as_cell_axis_number(cell, threads) > 0;
}

static bool both_work(const struct as_cell *cell)
{
    return works(cell, "cpu_threads") && works(cell, "device_threads");
}

static const char *own_threads(const struct as_cell *cell)
{
    return by_cpu(cell) ? "cpu_threads" : "device_threads";
}

/* "1024 elements of u64" */
static const char *array_text(const struct as_cell *cell, char out[64])
{
    const char *n = as_cell_axis(cell, "elements");
    snprintf(out, 64, "%.20s element%s of %.8s", n, strcmp(n, "1") == 0 ? "" : "s", as_cell_axis(cell, "type"));
    return out;
}

/* ---- alone ---- */

static void add_rate(struct as_rule_context *c, const struct as_cell *cell)
{
    char value[96], array[64];
    const char *agent = as_cell_axis(cell, "agent");
    struct as_fact *f = as_fact_add(c, "atomics", cell->unit, "atomics.%s.%s.%s", agent, as_cell_axis(cell, "elements"),
                                    as_cell_axis(cell, "type"));
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    as_fact_value_text(f->value, f->ci, f->unit, value, sizeof value);
    as_fact_say(f, "The %s makes up to %s atomic updates in %s (%s threads, '%s')", by_cpu(cell) ? "CPU" : "device",
                value, array_text(cell, array), as_cell_axis(cell, own_threads(cell)), as_cell_axis(cell, "allocator"));
    as_fact_evidence(f, cell);
}

static bool is_same_array(const struct as_cell *a, const struct as_cell *b)
{
    return as_cells_same(a, b, "agent") && as_cells_same(a, b, "elements") && as_cells_same(a, b, "type");
}

/* Is it the first of its kind, and which of its kind is best? */
static const struct as_cell *best_alone(const struct as_cell *const *cells, size_t n, size_t at)
{
    const struct as_cell *best = cells[at];
    if (both_work(best))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (both_work(cells[i]) || !is_same_array(cells[i], cells[at]))
            continue;
        if (i < at)
            return NULL;
        best = cells[i]->sum.median > best->sum.median ? cells[i] : best;
    }
    return best;
}

/* ---- together ---- */

/* The agent alone, all else the same; a CPU has no scope. */
static const struct as_cell *alone_of(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (!both_work(cells[i]) && is_same_array(cells[i], cell) && as_cells_same(cells[i], cell, "order") &&
            as_cells_same(cells[i], cell, "allocator") && as_cells_same(cells[i], cell, own_threads(cell)) &&
            (by_cpu(cell) || as_cells_same(cells[i], cell, "scope")))
            return cells[i];
    return NULL;
}

struct kept {
    const struct as_cell *cell, *alone;
    double share, most; /* the least that is kept, and the most */
    size_t n;
};

static void look_at_shared(const struct as_cell *const *cells, size_t n, const struct as_cell *like, struct kept *k)
{
    *k = (struct kept){.share = INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (!both_work(cells[i]) || !is_same_array(cells[i], like) || !as_cells_same(cells[i], like, "allocator"))
            continue;
        const struct as_cell *alone = alone_of(cells, n, cells[i]);
        if (!alone)
            continue;
        double share = cells[i]->sum.median / alone->sum.median;
        k->n++;
        k->most = fmax(k->most, share);
        if (share < k->share) {
            k->share = share;
            k->cell = cells[i];
            k->alone = alone;
        }
    }
}

static void add_kept(struct as_rule_context *c, const struct kept *k)
{
    const struct as_cell *cell = k->cell;
    char array[64], range[48] = "";
    struct as_fact *f =
        as_fact_add(c, "atomics", "x", "atomics.shared.%s.%s.%s.%s", as_cell_axis(cell, "agent"),
                    as_cell_axis(cell, "elements"), as_cell_axis(cell, "type"), as_cell_axis(cell, "allocator"));
    if (!f)
        return;
    as_fact_ratio(f, cell, k->alone);
    if (k->n > 1)
        snprintf(range, sizeof range, ", the least of %zu, at most %.0f%%", k->n, 100 * k->most);
    as_fact_say(
        f,
        "While the %s updates the same %s ('%s'), the %s keeps %.0f%% of its rate alone (%s threads of the CPU, %s "
        "of the device%s)",
        by_cpu(cell) ? "device" : "CPU", array_text(cell, array), as_cell_axis(cell, "allocator"),
        by_cpu(cell) ? "CPU" : "device", 100 * k->share, as_cell_axis(cell, "cpu_threads"),
        as_cell_axis(cell, "device_threads"), range);
    as_fact_evidence(f, cell);
    as_fact_evidence(f, k->alone);
}

static bool shared_before(const struct as_cell *const *cells, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (both_work(cells[i]) && is_same_array(cells[i], cells[at]) &&
            as_cells_same(cells[i], cells[at], "allocator"))
            return true;
    return false;
}

void rule_atomics(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "atomics", &cells), added = 0;
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        const struct as_cell *best = best_alone(cells, n, i);
        if (best)
            add_rate(c, best);
        added += best != NULL;
    }
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        struct kept k;
        if (!both_work(cells[i]) || shared_before(cells, i))
            continue;
        look_at_shared(cells, n, cells[i], &k);
        if (k.cell)
            add_kept(c, &k);
        added += k.cell != NULL;
    }
    free(cells);
}

/* ---- lost ---- */

static const char *sides_id(const struct as_cell *cell)
{
    return both_work(cell) ? "both" : works(cell, "cpu_threads") ? "cpu" : "device";
}

static const char *sides_text(const struct as_cell *cell)
{
    return both_work(cell)              ? "CPU and device at the same time"
           : works(cell, "cpu_threads") ? "threads of the CPU"
                                        : "threads of the device";
}

static bool is_plain(const struct as_cell *cell)
{
    return strcmp(as_cell_axis(cell, "op"), "plain") == 0;
}

static bool lost_any(const struct as_cell *cell)
{
    return cell->sum.max > 0;
}

/* Cells of one sentence: the same memory and sides; where updates are lost also the same type and scope. */
static bool is_one_story(const struct as_cell *a, const struct as_cell *b)
{
    if (is_plain(a) != is_plain(b) || lost_any(a) != lost_any(b) || !as_cells_same(a, b, "allocator") ||
        strcmp(sides_id(a), sides_id(b)) != 0)
        return false;
    return is_plain(a) || !lost_any(a) || (as_cells_same(a, b, "type") && as_cells_same(a, b, "scope"));
}

static bool lost_elsewhere(const struct as_cell *const *cells, size_t n, const struct as_cell *cell)
{
    for (size_t i = 0; i < n; i++)
        if (!is_plain(cells[i]) && lost_any(cells[i]) && as_cells_same(cells[i], cell, "allocator") &&
            strcmp(sides_id(cells[i]), sides_id(cell)) == 0)
            return true;
    return false;
}

/* The types and scopes of the cells of a story, each once: "u32 system, u64 device". */
static void list_kinds(const struct as_cell *const *cells, size_t n, size_t at, struct as_buf *out)
{
    for (size_t i = at; i < n; i++) {
        bool seen = !is_one_story(cells[i], cells[at]);
        for (size_t k = at; k < i && !seen; k++)
            seen = is_one_story(cells[k], cells[at]) && as_cells_same(cells[k], cells[i], "type") &&
                   as_cells_same(cells[k], cells[i], "scope");
        if (!seen)
            as_buf_printf(out, "%s%s %s", out->len ? ", " : "", as_cell_axis(cells[i], "type"),
                          as_cell_axis(cells[i], "scope"));
    }
}

/* Where the same memory loses updates of another type or scope, those that are not lost are named. */
static void say_kept(struct as_fact *f, const struct as_cell *const *cells, size_t n, size_t at, size_t many,
                     double updates)
{
    struct as_buf kinds = AS_BUF_INIT;
    bool some = lost_elsewhere(cells, n, cells[at]);
    if (some)
        list_kinds(cells, n, at, &kinds);
    as_fact_say(f, "%s '%s' by %s: every one of %.0f is in the sum, in %zu cell%s%s%s%s",
                some ? "Some kinds of atomic update are not lost in" : "No atomic update is lost in",
                as_cell_axis(cells[at], "allocator"), sides_text(cells[at]), updates, many, many == 1 ? "" : "s",
                some ? " (" : "", as_buf_get(&kinds), some ? ")" : "");
    as_buf_finish(&kinds);
}

static const struct as_cell *worst_of(const struct as_cell *const *cells, size_t n, size_t at, size_t *many,
                                      double *updates)
{
    const struct as_cell *worst = cells[at];
    *many = 0;
    *updates = 0;
    for (size_t i = at; i < n; i++) {
        if (!is_one_story(cells[i], cells[at]))
            continue;
        double made = as_cell_note(cells[i], "updates_by_cpu") + as_cell_note(cells[i], "updates_by_device");
        ++*many;
        *updates += made > 0 ? made * (double)cells[i]->sum.n : 0;
        worst = cells[i]->sum.max > worst->sum.max ? cells[i] : worst;
    }
    return worst;
}

static void say_lost(struct as_fact *f, const struct as_cell *worst, size_t many)
{
    double made = as_cell_note(worst, "updates_by_cpu") + as_cell_note(worst, "updates_by_device");
    char share[48] = "", array[64];
    if (made > 0)
        snprintf(share, sizeof share, " of %.0f", made);
    if (is_plain(worst)) {
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "The control: without atomics %s lose updates in '%s', up to %.0f%s, so losses are detected",
                    sides_text(worst), as_cell_axis(worst, "allocator"), worst->sum.max, share);
        return;
    }
    f->verdict = AS_REFUTED;
    as_fact_say(f, "UPDATES ARE LOST in '%s' where %s add to %s, scope %s: up to %.0f%s, in %zu cell%s",
                as_cell_axis(worst, "allocator"), sides_text(worst), array_text(worst, array),
                as_cell_axis(worst, "scope"), worst->sum.max, share, many, many == 1 ? "" : "s");
}

static void add_story(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, size_t at)
{
    size_t many;
    double updates;
    const struct as_cell *worst = worst_of(cells, n, at, &many, &updates);
    bool lost = lost_any(worst), plain = is_plain(worst);
    const char *allocator = as_cell_axis(worst, "allocator");
    struct as_fact *f = lost && !plain
                            ? as_fact_add(c, "atomics", worst->unit, "lost.%s.%s.%s.%s", sides_id(worst), allocator,
                                          as_cell_axis(worst, "type"), as_cell_axis(worst, "scope"))
                            : as_fact_add(c, "atomics", worst->unit, "%s.%s.%s", plain ? "lost.control" : "lost",
                                          sides_id(worst), allocator);
    if (!f)
        return;
    as_fact_number(f, worst->sum.max, AS_NO_INTERVAL);
    if (lost)
        say_lost(f, worst, many);
    else if (plain) {
        f->verdict = AS_UNDECIDED;
        as_fact_say(
            f, "The control: even without atomics %s lost no update in '%s', so the absence of losses proves little",
            sides_text(worst), allocator);
    } else
        say_kept(f, cells, n, at, many, updates);
    for (size_t i = at; i < n; i++)
        if (is_one_story(cells[i], cells[at]))
            as_fact_evidence(f, cells[i]);
}

void rule_atomics_lost(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "atomics_lost", &cells), added = 0;
    for (size_t i = 0; i < n && added < FACTS_MAX; i++) {
        size_t before = 0;
        while (before < i && !is_one_story(cells[before], cells[i]))
            before++;
        if (before < i)
            continue;
        add_story(c, cells, n, i);
        added++;
    }
    free(cells);
}
