/* Allocators by what one probe measured of each, all else equal. Inside facts only. */
#ifndef AS_FACTS_CHOOSE_H
#define AS_FACTS_CHOOSE_H

#include "facts/advice.h"
#include "facts/engine.h"

enum { CHOICES_MAX = 32 };
#define ADVICE_ALIKE 0.02 /* a difference that would change nobody's choice */

struct choice {
    const char *allocator; /* of the cell */
    const struct as_cell *cell;
    double value;
    struct as_interval ci;
};
struct wanted {
    const char *probe;
    const char *axes[4][2]; /* values that axes must have; ends with a NULL name */
    enum { ANY_TEAM, WHOLE_DEVICE, THREADS } team;
    bool less; /* is better */
};
/* Of the groups of cells that are alike but in their allocator the one with the most allocators (of those the most
 * threads), best first. */
size_t choose(struct as_rule_context *c, const struct wanted *w, struct choice out[CHOICES_MAX]);
void choices_sort(struct choice *choices, size_t n, bool less);
/* How many at the front are statistically tied with the best. */
size_t choices_best(const struct choice *choices, size_t n, bool less);

/* "'a', 'b' or 'c'" */
void choices_names(const struct choice *choices, size_t n, struct as_buf *out);
void advice_say(struct as_advice *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Once a cell; beyond the room they are left out. */
void advice_number(struct as_advice *a, const struct as_cell *cell, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
