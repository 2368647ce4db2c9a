/* The order of a chase. */
#include "chase.h"

/* Inverse of an odd number modulo 2^64 by Newton's iteration: each step doubles the correct bits. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

void as_bijection_init(struct as_bijection *b, uint64_t n, uint64_t seed)
{
    struct as_rng rng;
    unsigned bits = 1;
    as_rng_seed(&rng, seed);
    while (bits < 48 && (UINT64_C(1) << bits) < n)
        bits++;
    *b = (struct as_bijection){.n = n, .mask = (UINT64_C(1) << bits) - 1, .shift = (bits + 1) / 2};
    for (int r = 0; r < AS_BIJECTION_ROUNDS; r++) {
        b->multiply[r] = as_rng_u64(&rng) | 1;
        b->inverse[r] = inverse_of(b->multiply[r]);
        b->add[r] = as_rng_u64(&rng);
    }
}

/* Of the next power of two; x ^ x >> shift undoes itself, since shift is at least half of the bits. */
static uint64_t chase_order_mix(const struct as_bijection *b, uint64_t x)
{
    for (int r = 0; r < AS_BIJECTION_ROUNDS; r++) {
        x = (x * b->multiply[r] + b->add[r]) & b->mask;
        x ^= x >> b->shift;
    }
    return x;
}

static uint64_t chase_order_unmix(const struct as_bijection *b, uint64_t x)
{
    for (int r = AS_BIJECTION_ROUNDS - 1; r >= 0; r--) {
        x ^= x >> b->shift;
        x = ((x - b->add[r]) * b->inverse[r]) & b->mask;
    }
    return x;
}

/* Values outside [0, n) are mixed again until they fall into it (cycle walking: Black, Rogaway 2002). */
uint64_t as_bijection_at(const struct as_bijection *b, uint64_t i)
{
    do
        i = chase_order_mix(b, i);
    while (i >= b->n);
    return i;
}

uint64_t as_bijection_index(const struct as_bijection *b, uint64_t value)
{
    do
        value = chase_order_unmix(b, value);
    while (value >= b->n);
    return value;
}

void as_cycle_init(struct as_cycle *c, enum as_pattern pattern, uint64_t lines, uint64_t stride, uint64_t page,
                   uint64_t seed)
{
    uint64_t per_page = page / stride;
    *c = (struct as_cycle){.lines = lines, .per_page = lines, .pattern = pattern};
    /* Less than two pages, or lines as large as pages, have nothing to keep together. */
    if (pattern == AS_PATTERN_PAGE && per_page > 1 && lines >= 2 * per_page) {
        c->per_page = per_page;
        c->lines = lines - lines % per_page;
    }
    as_bijection_init(&c->page, c->lines / c->per_page, seed ^ UINT64_C(0x9e3779b97f4a7c15));
    as_bijection_init(&c->line, c->per_page, seed);
}

/* Each page starts at another point of the order, so that pages differ. */
static uint64_t chase_order_turn(const struct as_cycle *c, uint64_t page)
{
    return (page * UINT64_C(0x9e3779b97f4a7c15) >> 20) % c->per_page;
}

uint64_t as_cycle_at(const struct as_cycle *c, uint64_t i)
{
    if (c->pattern == AS_PATTERN_STRIDE)
        return i;
    if (c->per_page == c->lines)
        return as_bijection_at(&c->line, i);
    uint64_t page = as_bijection_at(&c->page, i / c->per_page);
    uint64_t line = as_bijection_at(&c->line, (i % c->per_page + chase_order_turn(c, page)) % c->per_page);
    return page * c->per_page + line;
}

uint64_t as_cycle_next(const struct as_cycle *c, uint64_t line)
{
    uint64_t i;
    if (c->pattern == AS_PATTERN_STRIDE)
        i = line;
    else if (c->per_page == c->lines)
        i = as_bijection_index(&c->line, line);
    else {
        uint64_t page = line / c->per_page;
        uint64_t at = as_bijection_index(&c->line, line % c->per_page);
        i = as_bijection_index(&c->page, page) * c->per_page +
            (at + c->per_page - chase_order_turn(c, page)) % c->per_page;
    }
    return as_cycle_at(c, i + 1 < c->lines ? i + 1 : 0);
}
