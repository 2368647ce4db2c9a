/* Dot products through a matrix unit. A problem holds as many as it has rows and columns, on a diagonal that shifts
 * from problem to problem, so that every element of the unit is used. */
#include "dots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS_BYTES_MOST = 64 << 20 };

void as_dots_start(struct as_dots *s, const struct as_matrix_unit *unit)
{
    *s = (struct as_dots){.unit = unit};
}

void as_dots_clear(struct as_dots *s)
{
    s->n = 0;
    s->lost = false;
}

void as_dots_finish(struct as_dots *s)
{
    free(s->a);
    free(s->b);
    free(s->c);
    free(s->d);
    *s = (struct as_dots){0};
}

static bool dots_grow(uint64_t **v, size_t n)
{
    uint64_t *more = realloc(*v, n * sizeof **v);
    if (more)
        *v = more;
    return more != NULL;
}

size_t as_dots_add(struct as_dots *s)
{
    size_t k = s->unit->k;
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        s->no_room |= !dots_grow(&s->a, room * k) || !dots_grow(&s->b, room * k) || !dots_grow(&s->c, room) ||
                      !dots_grow(&s->d, room);
        if (s->no_room)
            return 0;
        s->room = room;
    }
    memset(s->a + s->n * k, 0, k * sizeof *s->a);
    memset(s->b + s->n * k, 0, k * sizeof *s->b);
    s->c[s->n] = s->d[s->n] = 0;
    return s->n++;
}

void as_dots_put_codes(struct as_dots *s, size_t dot, unsigned leaf, uint64_t a, uint64_t b)
{
    if (dot >= s->n)
        return;
    s->a[dot * s->unit->k + leaf] = a;
    s->b[dot * s->unit->k + leaf] = b;
}

void as_dots_put_c(struct as_dots *s, size_t dot, uint64_t c)
{
    if (dot < s->n)
        s->c[dot] = c;
}

static bool has_code(const struct as_number_format *f, double value, bool subnormal, uint64_t *code)
{
    if (!subnormal && value != 0 && fabs(value) < as_number_smallest_normal(f))
        return false;
    *code = as_number_encode(f, value, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_CLAMP);
    return as_number_decode(f, *code) == value;
}

void as_dots_put(struct as_dots *s, size_t dot, unsigned leaf, double digits, int exponent)
{
    const struct as_matrix_unit *u = s->unit;
    uint64_t a, b;
    if (leaf == u->k) {
        if (!has_code(u->c, ldexp(digits, exponent), true, &a))
            s->lost = true;
        else
            as_dots_put_c(s, dot, a);
        return;
    }
    /* The factors share the exponent as evenly as possible. */
    int half = exponent / 2, far = ilogb(as_number_largest(u->a)) - ilogb(as_number_smallest(u->a)) +
                                   ilogb(as_number_largest(u->b)) - ilogb(as_number_smallest(u->b));
    for (int off = 0; off <= far; off++)
        for (int side = off ? -1 : 1; side <= 1; side += 2) {
            int in_a = half + side * off;
            if (has_code(u->a, ldexp(digits, in_a), s->subnormal_a, &a) &&
                has_code(u->b, ldexp(1, exponent - in_a), s->subnormal_b, &b)) {
                as_dots_put_codes(s, dot, leaf, a, b);
                return;
            }
        }
    s->lost = true;
}

/* ---- through the unit ---- */

struct places {
    uint64_t *a, *b, *c, *d;
    size_t problems, each; /* sums per problem */
};

static void dots_place_of(const struct as_matrix_unit *u, const struct places *p, size_t dot, size_t *problem,
                          size_t *row, size_t *column)
{
    *problem = dot / p->each;
    *row = (dot % p->each + *problem) % u->m;
    *column = (dot % p->each + 3 * *problem) % u->n;
}

static void dots_fill(const struct as_dots *s, const struct places *p, size_t first, size_t n)
{
    const struct as_matrix_unit *u = s->unit;
    memset(p->a, 0, p->problems * u->m * u->k * sizeof *p->a);
    memset(p->b, 0, p->problems * u->k * u->n * sizeof *p->b);
    memset(p->c, 0, p->problems * u->m * u->n * sizeof *p->c);
    for (size_t i = 0; i < n; i++) {
        size_t at, row, column;
        dots_place_of(u, p, i, &at, &row, &column);
        for (size_t k = 0; k < u->k; k++) {
            p->a[(at * u->m + row) * u->k + k] = s->a[(first + i) * u->k + k];
            p->b[(at * u->k + k) * u->n + column] = s->b[(first + i) * u->k + k];
        }
        p->c[(at * u->m + row) * u->n + column] = s->c[first + i];
    }
}

static void dots_take(struct as_dots *s, const struct places *p, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at, row, column;
        dots_place_of(s->unit, p, i, &at, &row, &column);
        s->d[first + i] = p->d[(at * s->unit->m + row) * s->unit->n + column];
    }
}

enum as_status as_dots_run(struct as_dots *s, struct as_error *err)
{
    const struct as_matrix_unit *u = s->unit;
    size_t bytes = ((size_t)u->m * u->k + (size_t)u->k * u->n + 2 * (size_t)u->m * u->n) * sizeof *s->a;
    struct places p = {.each = u->m < u->n ? u->m : u->n};
    p.problems = (s->n + p.each - 1) / p.each;
    if (p.problems > PROBLEMS_BYTES_MOST / bytes + 1)
        p.problems = PROBLEMS_BYTES_MOST / bytes + 1;
    if (s->n == 0 && !s->no_room)
        return AS_OK;
    uint64_t *all = s->no_room ? NULL : malloc(p.problems * bytes);
    if (!all)
        return as_nomem(err, p.problems * bytes, "sums of products");
    p.a = all;
    p.b = p.a + p.problems * u->m * u->k;
    p.c = p.b + p.problems * u->k * u->n;
    p.d = p.c + p.problems * u->m * u->n;
    enum as_status st = AS_OK;
    for (size_t first = 0, room = p.problems * p.each; first < s->n && !st; first += room) {
        size_t n = s->n - first < room ? s->n - first : room;
        dots_fill(s, &p, first, n);
        st = u->multiply(u->ctx, (n + p.each - 1) / p.each, p.a, p.b, p.c, p.d, err);
        if (!st)
            dots_take(s, &p, first, n);
    }
    free(all);
    return st;
}

double as_dots_result(const struct as_dots *s, size_t dot)
{
    return dot < s->n ? as_number_decode(s->unit->c, s->d[dot]) : NAN;
}

static int lowest(const struct as_number_format *f, bool subnormal)
{
    return ilogb(subnormal ? as_number_smallest(f) : as_number_smallest_normal(f));
}

struct as_dots_range as_dots_range(const struct as_dots *s, bool subnormal_results)
{
    const struct as_matrix_unit *u = s->unit;
    struct as_dots_range r = {lowest(u->a, s->subnormal_a) + lowest(u->b, s->subnormal_b),
                              ilogb(as_number_largest(u->a)) + ilogb(as_number_largest(u->b)) - 1};
    int low = lowest(u->c, subnormal_results), high = ilogb(as_number_largest(u->c)) - 3;
    return (struct as_dots_range){r.low > low ? r.low : low, r.high < high ? r.high : high};
}
