/* Allocators by what one probe measured of each, all else equal. Inside facts only. */
#ifndef AS_FACTS_CHOOSE_H
#define AS_FACTS_CHOOSE_H

#include "facts/advice.h"
#include "facts/engine.h"

enum { CHOICES_MAX = 32 };
#define ADVICE_ALIKE 0.02 /* a difference that would change nobody's choice */

struct as_advice_choice {
    const char *allocator; /* of the cell */
    const struct as_cell *cell;
    double value;
    struct as_interval ci;
};
struct as_advice_wanted {
    const char *probe;
    const char *axes[4][2]; /* values that axes must have; ends with a NULL name */
    enum { ANY_TEAM, WHOLE_DEVICE, THREADS } team;
    bool less;         /* is better */
    enum as_role role; /* groups with such memory come first; AS_ROLE_UNKNOWN: none */
};
/* Of groups of cells that differ in allocator only: those with the wanted role before others, then the one with the
 * most allocators, then with the most threads; its cells, best first. */
size_t as_advice_choose(struct as_rule_context *c, const struct as_advice_wanted *w,
                        struct as_advice_choice out[CHOICES_MAX]);
/* The best wanted cells of allocators that are not among the choices, since they were measured in other conditions only
 * (size, threads), best first. */
size_t as_advice_elsewhere(const struct as_rule_context *c, const struct as_advice_wanted *w,
                           const struct as_advice_choice *choices, size_t n, struct as_advice_choice out[CHOICES_MAX]);
void as_choices_sort(struct as_advice_choice *choices, size_t n, bool less);
/* How many at the front are statistically tied with the best. */
size_t as_choices_best(const struct as_advice_choice *choices, size_t n, bool less);
/* Of those tied the simplest comes first, if it is ahead of all others: of this role, else the first that the backend
 * lists. */
void as_choices_simplest_first(const struct as_rule_context *c, struct as_advice_choice *choices, size_t n, size_t same,
                               enum as_role plain, bool less);
/* Are the intervals of these so wide that to be tied says nothing? */
bool as_choices_undecided(const struct as_advice_choice *choices, size_t same);

/* "'a', 'b' and 'c'" */
void as_choices_names(const struct as_advice_choice *choices, size_t n, struct as_buf *out);
/* "triad over 1 GiB", "triad over 1 GiB, 8 threads, regular stores": what a cell of the probe bandwidth does. */
const char *as_advice_pass_text(const struct as_cell *cell, char *out, size_t size);
/* ", the device first" where it touched the memory before the CPU did, else "": the rest of such a number's label. */
const char *as_advice_first_text(const struct as_cell *cell);
/* Of a ratio of two choices. */
void as_advice_gain(struct as_advice *a, struct as_interval ratio);
void as_advice_say(struct as_advice *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Once a cell; beyond the room they are left out. */
void as_advice_add_number(struct as_advice *a, const struct as_cell *cell, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
