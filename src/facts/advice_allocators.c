/* Which allocator: by bandwidth of one side, by use of both, by the time of its calls. */
#include "facts/advice_topics.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is chosen: the words before it, "For 32 B" or "" for none, what it does at its value, and a note beside that. */
struct chosen {
    const char *before, *does, *note;
};

/* "Use 'a': it does ..." from choices of which the first `same` are alike. */
static void say_choice(struct as_advice *a, const struct as_advice_choice *choices, size_t same,
                       const struct chosen *of)
{
    const char *lead = *of->before ? " " : "";
    char value[160];
    as_noted_text(choices[0].value, choices[0].ci, choices[0].cell->unit, "", of->note, value, sizeof value);
    as_advice_say(a, "%s%s%s", a->sentence[0] ? ". " : "", of->before, lead);
    if (as_choices_undecided(choices, same))
        as_advice_say(a, "%s of %zu allocators to use is inconclusive. '%s': %s %s", *lead ? "which" : "Which", same,
                      choices[0].allocator, of->does, value);
    else
        as_advice_say(a, "%s '%s': %s %s", *lead ? "use" : "Use", choices[0].allocator, of->does, value);
}

/* Those alike, and of the others the next and the last. */
static void say_others(struct as_advice *a, const struct as_advice_choice *choices, size_t n, size_t same,
                       const char *among)
{
    struct as_buf names = AS_BUF_INIT;
    const size_t shown[2] = {same, n - 1};
    const bool undecided = as_choices_undecided(choices, same);
    if (n < 2)
        return;
    as_advice_say(a, ". ");
    if (among)
        as_advice_say(a, "Of %zu %s, ", n, among);
    as_choices_names(undecided ? choices : choices + 1, undecided ? same : same - 1, &names);
    if (undecided)
        as_advice_say(a, "%she intervals of %s are too wide", among ? "t" : "T", as_buf_get(&names));
    else if (same > 1)
        as_advice_say(a, "%st is statistically tied with %s", among ? "i" : "I", as_buf_get(&names));
    as_buf_finish(&names);
    for (size_t i = 0; i < 2 && shown[i] < n; i++) {
        const struct as_advice_choice *other = &choices[shown[i]];
        char ratio[96];
        if (i == 1 && shown[1] == shown[0])
            break;
        const bool longer = other->value > choices[0].value; /* a time; a rate is lower */
        const struct as_advice_choice *more = longer ? other : &choices[0], *less = longer ? &choices[0] : other;
        const struct as_interval slower = as_ratio_interval(more->value, more->ci, less->value, less->ci);
        as_noted_text(more->value / less->value, slower, "x", " slower", "", ratio, sizeof ratio);
        as_advice_gain(a, slower);
        as_advice_say(a, "%s'%s' is %s", i ? ", " : same > 1 ? "; " : "", other->allocator, ratio);
    }
}

static void add_numbers(struct as_advice *a, const struct as_advice_choice *choices, size_t n)
{
    char pass[64];
    for (size_t i = 0; i < n; i++)
        as_advice_add_number(a, choices[i].cell, "%s, '%s'%s", as_advice_pass_text(choices[i].cell, pass, sizeof pass),
                             choices[i].allocator, as_advice_first_text(choices[i].cell));
}

/* Allocators that were measured, but not in the conditions compared. shared: only memory that the host can access. */
static void say_elsewhere(const struct as_rule_context *c, struct as_advice *a, const struct as_advice_wanted *w,
                          const struct as_advice_choice *choices, size_t n, bool shared)
{
    enum { SHOWN = 2 };
    struct as_advice_choice other[CHOICES_MAX];
    const size_t all = as_advice_elsewhere(c, w, choices, n, other);
    size_t said = 0;
    char pass[64], value[160];
    for (size_t i = 0; i < all; i++) {
        const struct as_allocator *allocator = c->info ? as_info_allocator(c->info, other[i].allocator) : NULL;
        if ((shared && !(allocator && allocator->host_access)) || ++said > SHOWN)
            continue;
        as_noted_text(other[i].value, other[i].ci, other[i].cell->unit, "",
                      as_advice_pass_text(other[i].cell, pass, sizeof pass), value, sizeof value);
        as_advice_say(a, "%s'%s' %s",
                      said > 1 ? ", " : ". Not compared, measured in other conditions only: ", other[i].allocator,
                      value);
        as_advice_add_number(a, other[i].cell, "%s, '%s'%s", pass, other[i].allocator,
                             as_advice_first_text(other[i].cell));
    }
    if (said > SHOWN)
        as_advice_say(a, " and %zu more", said - SHOWN);
}

bool as_advise_allocator(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_advice_choice choices[CHOICES_MAX];
    size_t n = as_advice_choose(c, &t->wanted, choices), same = as_choices_best(choices, n, t->wanted.less);
    if (n < 2)
        return false;
    char pass[64];
    as_choices_simplest_first(c, choices, n, same, t->wanted.team == THREADS ? AS_ROLE_PAGEABLE : AS_ROLE_DEVICE,
                              t->wanted.less);
    as_advice_pass_text(choices[0].cell, pass, sizeof pass);
    say_choice(a, choices, same, &(struct chosen){"", t->does, pass});
    say_others(a, choices, n, same, "allocators measured");
    add_numbers(a, choices, n);
    say_elsewhere(c, a, &t->wanted, choices, n, false);
    return true;
}

/* ---- the CPU in a device's memory ---- */

static bool streams_more(const struct as_cell *a, const struct as_cell *b)
{
    return as_cell_size(a) != as_cell_size(b) ? as_cell_is_larger(a, b) : as_cell_is_faster(a, b);
}

/* CPU triads in each allocator of the device after this first touch, at the best number of threads, best first. */
static size_t cpu_choices(const struct as_cell *const *cells, size_t n, const char *touch,
                          struct as_advice_choice out[CHOICES_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < n && found < CHOICES_MAX; i++)
        if (as_cell_is(cells[i], "touch", touch) && as_cell_size(cells[i]) == as_cell_size(cells[0]))
            out[found++] = (struct as_advice_choice){as_cell_axis(cells[i], "allocator"), cells[i],
                                                     cells[i]->sum.median, as_cell_interval(cells[i])};
    as_choices_sort(out, found, false);
    return found;
}

/* The allocator that gains most where the device touches it first. */
static void say_device_first(struct as_advice *a, const struct as_advice_choice *cpu, size_t cpu_n,
                             const struct as_advice_choice *device, size_t device_n)
{
    const struct as_advice_choice *most = NULL, *before = NULL;
    double gain = 1 + ADVICE_ALIKE;
    for (size_t i = 0; i < device_n; i++)
        for (size_t k = 0; k < cpu_n; k++) {
            const struct as_interval r = as_ratio_interval(device[i].value, device[i].ci, cpu[k].value, cpu[k].ci);
            if (strcmp(device[i].allocator, cpu[k].allocator) != 0 || !(r.lo > gain))
                continue;
            gain = r.lo;
            most = &device[i];
            before = &cpu[k];
        }
    if (!most)
        return;
    char value[96], ratio[96], pass[64];
    as_fact_value_text(most->value, most->ci, most->cell->unit, value, sizeof value);
    as_noted_text(most->value / before->value, as_ratio_interval(most->value, most->ci, before->value, before->ci), "x",
                  " as fast", "", ratio, sizeof ratio);
    as_advice_say(a, ". If you need '%s', let the device touch it first: the CPU then streams at %s, %s",
                  most->allocator, value, ratio);
    as_advice_add_number(a, most->cell, "%s, '%s', the device first",
                         as_advice_pass_text(most->cell, pass, sizeof pass), most->allocator);
}

/* The latency of CPU loads in the chosen memory, of the largest buffer. */
static void say_cpu_latency(struct as_rule_context *c, struct as_advice *a, const char *allocator)
{
    const struct as_cell *best = NULL;
    char value[96];
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "host_latency") == 0 && as_cell_is(c->cells[i], "touch", "cpu") &&
            as_cell_is(c->cells[i], "allocator", allocator) && (!best || as_cell_is_larger(c->cells[i], best)))
            best = c->cells[i];
    if (!best)
        return;
    as_fact_value_text(best->sum.median, as_cell_interval(best), best->unit, value, sizeof value);
    as_advice_say(a, ". A dependent CPU load from '%s' takes %s", allocator, value);
    as_advice_add_number(a, best, "CPU load, '%s'", allocator);
}

bool as_advise_cpu_on_device(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    static const char *const kind[] = {"allocator", "touch", NULL};
    struct as_advice_choice cpu[CHOICES_MAX], device[CHOICES_MAX];
    const struct as_cell **cells;
    size_t all = as_cells_of(c, "host_bandwidth", &cells), n = 0;
    for (size_t i = 0; i < all; i++)
        if (as_cell_is(cells[i], "op", "triad"))
            cells[n++] = cells[i];
    n = as_cells_keep_best(cells, n, kind, streams_more);
    const size_t cpu_n = n ? cpu_choices(cells, n, "cpu", cpu) : 0;
    const size_t device_n = n ? cpu_choices(cells, n, "device", device) : 0;
    free(cells);
    if (cpu_n < 2)
        return false;
    char pass[96], size[32];
    as_fact_value_text(as_cell_size(cpu[0].cell), AS_NO_INTERVAL, "B", size, sizeof size);
    snprintf(pass, sizeof pass, "triad over %s, each at its best number of threads", size);
    const size_t same = as_choices_best(cpu, cpu_n, false);
    as_choices_simplest_first(c, cpu, cpu_n, same, AS_ROLE_PAGEABLE, false);
    say_choice(a, cpu, same, &(struct chosen){"", t->does, pass});
    say_others(a, cpu, cpu_n, same, "allocators measured that the CPU can access");
    add_numbers(a, cpu, cpu_n);
    say_device_first(a, cpu, cpu_n, device, device_n);
    say_cpu_latency(c, a, cpu[0].allocator);
    return true;
}

/* ---- both ---- */

/* Of the allocators that the host reaches too, by what the driver says of them. */
bool as_advise_shared(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_advice_choice choices[CHOICES_MAX];
    size_t n = as_advice_choose(c, &t->wanted, choices), kept = 0, could = 0;
    if (n == 0 || !c->info)
        return false;
    struct as_advice_choice own = choices[0];
    for (size_t i = 0; i < c->info->allocators_n; i++)
        could += c->info->allocators[i].host_access && !c->info->allocators[i].why_not[0];
    for (size_t i = 0; i < n; i++) {
        const struct as_allocator *allocator = as_info_allocator(c->info, choices[i].allocator);
        if (allocator && allocator->host_access)
            choices[kept++] = choices[i];
    }
    if (kept == 0 || (kept == 1 && could > 1))
        return false;
    size_t same = as_choices_best(choices, kept, t->wanted.less);
    char pass[64], repeated[80];
    as_choices_simplest_first(c, choices, kept, same, AS_ROLE_MANAGED, t->wanted.less);
    snprintf(repeated, sizeof repeated, "repeated %s", as_advice_pass_text(choices[0].cell, pass, sizeof pass));
    say_choice(a, choices, same, &(struct chosen){"", "the device streams at", repeated});
    say_others(a, choices, kept, same, "allocators measured that both sides can access");
    const struct as_allocator *fastest = as_info_allocator(c->info, own.allocator);
    const bool out_of_reach = fastest && !fastest->host_access;
    const struct as_interval reached = as_ratio_interval(choices[0].value, choices[0].ci, own.value, own.ci);
    if (out_of_reach && !as_ratio_is_open(choices[0].value / own.value, reached)) {
        char ratio[96];
        as_fact_value_text(choices[0].value / own.value, reached, "x", ratio, sizeof ratio);
        as_advice_say(a, ". '%s' reaches %s of the rate in '%s', which the host cannot access", choices[0].allocator,
                      ratio, own.allocator);
    }
    const struct as_allocator *best = as_info_allocator(c->info, choices[0].allocator);
    if (best && !best->coherent)
        as_advice_say(a, ". The driver does not guarantee coherence of plain host accesses while a kernel runs%s",
                      as_advice_atomics_hold(c, choices[0].allocator) ? "; system-scope atomics lost no updates" : "");
    add_numbers(a, choices, kept);
    if (out_of_reach)
        add_numbers(a, &own, 1);
    say_elsewhere(c, a, &t->wanted, choices, kept, true);
    return true;
}

/* ---- short-lived ---- */

static const struct as_cell *free_of(const struct as_rule_context *c, const struct as_cell *alloc)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->cells[i]->probe, "alloc") == 0 && strcmp(as_cell_axis(c->cells[i], "op"), "free") == 0 &&
            as_cells_alike(c->cells[i], alloc, "op"))
            return c->cells[i];
    return NULL;
}

/* Time of both calls, for each allocator that has both. */
static size_t lives_of(struct as_rule_context *c, const char *size, struct as_advice_choice out[CHOICES_MAX])
{
    const struct as_advice_wanted wanted = {
        "alloc", {{"op", "alloc"}, {"size", size}}, ANY_TEAM, true, AS_ROLE_UNKNOWN};
    size_t n = as_advice_choose(c, &wanted, out), kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = free_of(c, out[i].cell);
        if (!cell)
            continue;
        const struct as_interval ci = as_cell_interval(cell);
        out[kept] = out[i];
        out[kept].value += cell->sum.median;
        out[kept].ci.lo += ci.lo;
        out[kept++].ci.hi += ci.hi;
    }
    as_choices_sort(out, kept, true);
    return kept;
}

/* Lives of the smallest and of the largest size. */
struct sizes {
    struct as_advice_choice small[CHOICES_MAX], large[CHOICES_MAX];
    size_t small_n, large_n;
};
static const struct as_advice_choice *life_of(const struct as_advice_choice *lives, size_t n, const char *allocator)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(lives[i].allocator, allocator) == 0)
            return &lives[i];
    return NULL;
}

/* Do its pages come at first touch, as the driver says or as its times show? */
static bool is_lazy(const struct as_rule_context *c, const struct sizes *s, const char *allocator)
{
    const struct as_allocator *of = c->info ? as_info_allocator(c->info, allocator) : NULL;
    const struct as_advice_choice *large = life_of(s->large, s->large_n, allocator);
    if (of && of->on_demand)
        return true;
    return large && as_is_promise(c->device, allocator, as_cell_axis_number(large->cell, "size"), large->value);
}

/* Those whose pages come at first touch, or the others, in their order. */
static size_t lives_backed(const struct as_rule_context *c, const struct sizes *s, const struct as_advice_choice *lives,
                           size_t n, bool on_demand, struct as_advice_choice out[CHOICES_MAX])
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (is_lazy(c, s, lives[i].allocator) == on_demand)
            out[kept++] = lives[i];
    return kept;
}

static void say_backed(struct as_rule_context *c, struct as_advice *a, struct as_advice_choice *lives, size_t n,
                       const char *size, bool is_lazy_kind)
{
    const size_t same = as_choices_best(lives, n, true);
    char before[64];
    as_choices_simplest_first(c, lives, n, same, AS_ROLE_UNKNOWN, true);
    snprintf(before, sizeof before, "For %.24s%s", size, is_lazy_kind ? ", allocated lazily," : "");
    say_choice(a, lives, same, &(struct chosen){before, "allocating and freeing takes", ""});
    say_others(a, lives, n, same, NULL);
    for (size_t i = 0; i < n; i++) {
        if (i != 0 && i != same && i != n - 1) /* those that the sentence names */
            continue;
        as_advice_add_number(a, lives[i].cell, "allocate %s, '%s'", size, lives[i].allocator);
        as_advice_add_number(a, free_of(c, lives[i].cell), "free %s, '%s'", size, lives[i].allocator);
    }
}

/* Lazy allocators only reserve addresses: they are ranked separately. */
static void say_lives(struct as_rule_context *c, struct as_advice *a, const struct sizes *s,
                      const struct as_advice_choice *lives, size_t n)
{
    struct as_advice_choice backed[CHOICES_MAX], lazy[CHOICES_MAX];
    const size_t backed_n = lives_backed(c, s, lives, n, false, backed),
                 lazy_n = lives_backed(c, s, lives, n, true, lazy);
    char size[32];
    as_fact_value_text(as_cell_axis_number(lives[0].cell, "size"), AS_NO_INTERVAL, "B", size, sizeof size);
    if (backed_n)
        say_backed(c, a, backed, backed_n, size, false);
    if (lazy_n)
        say_backed(c, a, lazy, lazy_n, size, true);
}

bool as_advise_short_lived(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_advice_choice lives[CHOICES_MAX];
    struct sizes s;
    const char *small = NULL, *large = NULL;
    double low = INFINITY, high = 0;
    (void)t;
    for (size_t i = 0; i < c->n; i++) {
        const struct as_axes *axes = &c->cells[i]->axes;
        double size = as_axes_number(axes, "size");
        if (strcmp(c->cells[i]->probe, "alloc") != 0 || strcmp(as_axes_text(axes, "op"), "alloc") != 0 ||
            (size >= low && size <= high) || lives_of(c, as_axes_text(axes, "size"), lives) < 2)
            continue;
        if (size < low) {
            low = size;
            small = as_axes_text(axes, "size");
        }
        if (size > high) {
            high = size;
            large = as_axes_text(axes, "size");
        }
    }
    if (!small)
        return false;
    s.small_n = lives_of(c, small, s.small);
    s.large_n = lives_of(c, large, s.large);
    say_lives(c, a, &s, s.small, s.small_n);
    if (high > low)
        say_lives(c, a, &s, s.large, s.large_n);
    return true;
}
