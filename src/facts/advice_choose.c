#include "facts/choose.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct as_cell *cell, const struct as_advice_wanted *w)
{
    if (strcmp(cell->probe, w->probe) != 0 || !as_cell_axis(cell, "allocator")[0])
        return false;
    for (size_t i = 0; w->axes[i][0]; i++)
        if (strcmp(as_cell_axis(cell, w->axes[i][0]), w->axes[i][1]) != 0)
            return false;
    double threads = as_cell_axis_number(cell, "threads");
    return w->team == ANY_TEAM || (w->team == WHOLE_DEVICE ? threads == 0 : threads > 0);
}

/* A wanted cell and a hash of all its axes but the allocator. */
struct candidate {
    const struct as_cell *cell;
    uint64_t others;
};

static int by_others(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;
    if (p->others != q->others)
        return p->others < q->others ? -1 : 1;
    return (p->cell > q->cell) - (p->cell < q->cell); /* both in one array: the earlier in the run */
}

static size_t choose_find(const struct as_advice_choice *choices, size_t n, const char *allocator)
{
    size_t k = 0;
    while (k < n && strcmp(choices[k].allocator, allocator) != 0)
        k++;
    return k;
}

/* The first cell of each allocator. */
static size_t group_of(const struct candidate *first, size_t n, struct as_advice_choice out[CHOICES_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < n && found < CHOICES_MAX; i++) {
        const struct as_cell *cell = first[i].cell;
        if (!as_cells_alike(cell, first->cell, "allocator"))
            continue;
        const char *allocator = as_cell_axis(cell, "allocator");
        if (choose_find(out, found, allocator) == found)
            out[found++] = (struct as_advice_choice){allocator, cell, cell->sum.median, as_cell_interval(cell)};
    }
    return found;
}

static size_t wanted_cells(struct as_rule_context *c, const struct as_advice_wanted *w, struct candidate **out)
{
    size_t n = 0;
    if (!(*out = malloc((c->n + 1) * sizeof **out))) {
        c->status = as_nomem(c->err, c->n * sizeof **out, "cells");
        return 0;
    }
    for (size_t i = 0; i < c->n; i++)
        if (is_wanted(c->cells[i], w))
            (*out)[n++] = (struct candidate){c->cells[i], as_cell_hash_but(c->cells[i], "allocator")};
    if (n > 1)
        qsort(*out, n, sizeof **out, by_others);
    return n;
}

static bool choose_has_role(const struct as_rule_context *c, const struct as_advice_choice *choices, size_t n,
                            enum as_role role)
{
    for (size_t i = 0; i < n && role != AS_ROLE_UNKNOWN; i++)
        if (as_allocator_role(c->device, choices[i].allocator) == role)
            return n > 1; /* alone it is no choice */
    return false;
}

size_t as_advice_elsewhere(const struct as_rule_context *c, const struct as_advice_wanted *w,
                           const struct as_advice_choice *choices, size_t n, struct as_advice_choice out[CHOICES_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct as_cell *cell = c->cells[i];
        const char *allocator = as_cell_axis(cell, "allocator");
        if (!is_wanted(cell, w) || choose_find(choices, n, allocator) < n)
            continue;
        const size_t k = choose_find(out, found, allocator);
        if (k == CHOICES_MAX ||
            (k < found && (w->less ? cell->sum.median >= out[k].value : cell->sum.median <= out[k].value)))
            continue;
        out[k] = (struct as_advice_choice){allocator, cell, cell->sum.median, as_cell_interval(cell)};
        found += k == found;
    }
    as_choices_sort(out, found, w->less);
    return found;
}

size_t as_advice_choose(struct as_rule_context *c, const struct as_advice_wanted *w,
                        struct as_advice_choice out[CHOICES_MAX])
{
    struct as_advice_choice group[CHOICES_MAX];
    struct candidate *all;
    const struct as_cell *chosen = NULL; /* first of its group: of equals the one that comes first in the run */
    size_t best = 0, n = wanted_cells(c, w, &all);
    bool best_role = false;
    double best_threads = -1;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].others == all[i].others; end++)
            ;
        const size_t found = group_of(&all[i], end - i, group);
        const double number = as_cell_axis_number(all[i].cell, "threads"), threads = isfinite(number) ? number : 0;
        const bool role = choose_has_role(c, group, found, w->role);
        if (role != best_role ? best_role
                              : found < best || (found == best && threads < best_threads) ||
                                    (found == best && threads == best_threads && chosen && chosen < all[i].cell))
            continue;
        best = found;
        best_role = role;
        best_threads = threads;
        chosen = all[i].cell;
        memcpy(out, group, found * sizeof *out);
    }
    free(all);
    as_choices_sort(out, best, w->less);
    return best;
}

/* Few of them: by insertion, so that those alike stay in the order of the run. */
void as_choices_sort(struct as_advice_choice *choices, size_t n, bool less)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i;
             k > 0 && (less ? choices[k].value < choices[k - 1].value : choices[k].value > choices[k - 1].value); k--) {
            struct as_advice_choice swap = choices[k];
            choices[k] = choices[k - 1];
            choices[k - 1] = swap;
        }
}

size_t as_choices_best(const struct as_advice_choice *choices, size_t n, bool less)
{
    size_t same = n > 0;
    for (; same < n; same++) {
        const struct as_advice_choice *better = &choices[0], *other = &choices[same];
        struct as_interval ratio = less ? as_ratio_interval(better->value, better->ci, other->value, other->ci)
                                        : as_ratio_interval(other->value, other->ci, better->value, better->ci);
        if (!(ratio.hi >= 1 - ADVICE_ALIKE))
            break;
    }
    return same;
}

bool as_choices_undecided(const struct as_advice_choice *choices, size_t same)
{
    static const double precise = 1.25; /* as far as a number is said with +- */
    for (size_t i = 1; i < same; i++) {
        const struct as_interval ratio =
            as_ratio_interval(choices[i].value, choices[i].ci, choices[0].value, choices[0].ci);
        if (!(ratio.hi <= precise && ratio.lo >= 1 / precise))
            return true;
    }
    return false;
}

/* Where it stands: with the role first, then as the backend lists them, from its basic call to those with advice. */
static size_t choose_simplicity(const struct as_rule_context *c, const char *allocator, enum as_role plain)
{
    size_t i = 0;
    if (plain != AS_ROLE_UNKNOWN && as_allocator_role(c->device, allocator) == plain)
        return 0;
    while (c->info && i < c->info->allocators_n && strcmp(c->info->allocators[i].name, allocator) != 0)
        i++;
    return 1 + i;
}

void as_choices_simplest_first(const struct as_rule_context *c, struct as_advice_choice *choices, size_t n, size_t same,
                               enum as_role plain, bool less)
{
    size_t simplest = 0;
    if (as_choices_undecided(choices, same))
        return;
    for (size_t i = 1; i < same; i++) {
        const bool ahead =
            same == n || (less ? choices[i].value < choices[same].value : choices[i].value > choices[same].value);
        if (ahead && choose_simplicity(c, choices[i].allocator, plain) <
                         choose_simplicity(c, choices[simplest].allocator, plain))
            simplest = i;
    }
    const struct as_advice_choice first = choices[simplest];
    memmove(choices + 1, choices, simplest * sizeof *choices);
    choices[0] = first;
}

enum { NAMES_SHOWN = 3 };

void as_choices_names(const struct as_advice_choice *choices, size_t n, struct as_buf *out)
{
    const size_t shown = n > NAMES_SHOWN + 1 ? NAMES_SHOWN : n; /* "1 more" is as long as a name */
    for (size_t i = 0; i < shown; i++)
        as_buf_printf(out, "%s'%s'", i == 0 ? "" : i + 1 == n ? " and " : ", ", choices[i].allocator);
    if (shown < n)
        as_buf_printf(out, " and %zu more", n - shown);
}

const char *as_advice_pass_text(const struct as_cell *cell, char *out, size_t size)
{
    const double threads = as_cell_axis_number(cell, "threads");
    struct as_buf text = AS_BUF_INIT;
    as_buf_printf(&text, "%s over ", as_cell_axis(cell, "op"));
    as_format_size(&text, as_axes_u64(&cell->axes, "size"));
    if (threads > 0)
        as_buf_printf(&text, ", %.0f thread%s%s", threads, threads == 1 ? "" : "s",
                      as_cell_is(cell, "op", "read")    ? ""
                      : as_cell_is(cell, "store", "nt") ? ", non-temporal stores"
                      : as_cell_axis(cell, "store")[0]  ? ", regular stores"
                                                        : "");
    else if (strcmp(cell->probe, "host_bandwidth") == 0)
        as_buf_str(&text, ", all threads");
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
    return out;
}

const char *as_advice_first_text(const struct as_cell *cell)
{
    return as_cell_axis(cell, "touch")[0] && as_cell_is(cell, "touch", "device") ? ", the device first" : "";
}

void as_advice_gain(struct as_advice *a, struct as_interval ratio)
{
    a->effect = fmax(a->effect, ratio.lo > 1 ? ratio.lo : ratio.hi < 1 ? 1 / ratio.hi : 1);
}

void as_advice_say(struct as_advice *a, const char *fmt, ...)
{
    struct as_buf text = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_str(&text, a->sentence);
    as_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    as_copy_text(a->sentence, sizeof a->sentence, as_buf_get(&text));
    as_buf_finish(&text);
}

void as_advice_add_number(struct as_advice *a, const struct as_cell *cell, const char *fmt, ...)
{
    for (size_t i = 0; i < a->numbers_n; i++)
        if (a->numbers[i].cell == cell->id)
            return;
    if (a->numbers_n == AS_ADVICE_NUMBERS_MAX)
        return;
    struct as_advice_number *number = &a->numbers[a->numbers_n++];
    a->of_one_trial += cell->sum.trials == 1;
    struct as_buf text = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    *number = (struct as_advice_number){
        .cell = cell->id, .value = cell->sum.median, .ci = as_cell_interval(cell), .trials = cell->sum.trials};
    as_copy_text(number->what, sizeof number->what, as_buf_get(&text));
    as_copy_text(number->unit, sizeof number->unit, cell->unit);
    as_buf_finish(&text);
}
