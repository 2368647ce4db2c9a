/* With one nonzero slot of A and all of B, the nonzero row of the result is A's row. With the slots of B numbered in
 * binary, one bit per problem, each result reveals the slot of B it was multiplied by. */
#include "slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 32 << 20 };

struct search {
    const struct as_slot_unit *unit;
    struct as_slots *out;
    uint64_t one_a, one_b;
    uint64_t *a, *b, *d; /* bytes of a batch of problems */
    size_t batch;
    uint16_t *live; /* used slots of A */
    size_t live_n;
    uint16_t *partner; /* by live slot of A and slot of C: the slot of B, AS_SLOT_NONE without a product */
};

static unsigned digits_of(size_t n)
{
    unsigned digits = 0;
    while ((size_t)1 << digits < n)
        digits++;
    return digits;
}

/* Elements of B that are 1 in a problem: all, or those whose slot has this bit. */
static void slots_put_b(const struct search *s, uint64_t *b, unsigned digit, bool all)
{
    for (size_t i = 0; i < s->unit->slots_b; i++)
        b[i] = all || i >> digit & 1 ? s->one_b : 0;
}

/* False: a result is neither 0 nor 1. */
static bool read_d(const struct search *s, const uint64_t *d, size_t slot, bool *is_one)
{
    double v = as_number_decode(s->unit->c, d[slot]);
    *is_one = v == 1;
    return v == 0 || v == 1;
}

static enum as_status slots_run(struct search *s, size_t count, struct as_error *err)
{
    return s->unit->multiply(s->unit->ctx, count, s->a, s->b, s->d, err);
}

/* Slots of A that produce any result. */
static enum as_status find_live(struct search *s, struct as_error *err)
{
    const struct as_slot_unit *u = s->unit;
    for (size_t first = 0; first < u->slots_a; first += s->batch) {
        size_t count = u->slots_a - first < s->batch ? u->slots_a - first : s->batch;
        memset(s->a, 0, count * u->slots_a * sizeof *s->a);
        for (size_t i = 0; i < count; i++) {
            s->a[i * u->slots_a + first + i] = s->one_a;
            slots_put_b(s, s->b + i * u->slots_b, 0, true);
        }
        enum as_status st = slots_run(s, count, err);
        if (st)
            return st;
        for (size_t i = 0; i < count; i++) {
            bool any = false, one;
            for (size_t d = 0; d < u->slots_c; d++) {
                if (!read_d(s, s->d + i * u->slots_c, d, &one))
                    return as_fail(err, AS_FAILED, "the product of place %zu of A with ones is neither 0 nor 1",
                                   first + i);
                any |= one;
            }
            if (any)
                s->live[s->live_n++] = (uint16_t)(first + i);
        }
    }
    return AS_OK;
}

/* Problem q of the second round: live slot q / (digits + 1), all of B or one bit of it. */
static void put_problem(struct search *s, size_t i, size_t q, unsigned digits)
{
    const struct as_slot_unit *u = s->unit;
    unsigned round = (unsigned)(q % (digits + 1));
    s->a[i * u->slots_a + s->live[q / (digits + 1)]] = s->one_a;
    slots_put_b(s, s->b + i * u->slots_b, round ? round - 1 : 0, round == 0);
}

static void take_problem(struct search *s, size_t i, size_t q, unsigned digits)
{
    const struct as_slot_unit *u = s->unit;
    unsigned round = (unsigned)(q % (digits + 1));
    uint16_t *partner = s->partner + q / (digits + 1) * u->slots_c;
    for (size_t d = 0; d < u->slots_c; d++) {
        bool one = false;
        read_d(s, s->d + i * u->slots_c, d, &one);
        if (round == 0)
            partner[d] = one ? 0 : AS_SLOT_NONE;
        else if (one && partner[d] != AS_SLOT_NONE)
            partner[d] = (uint16_t)(partner[d] | 1u << (round - 1));
    }
}

static enum as_status find_partners(struct search *s, struct as_error *err)
{
    const struct as_slot_unit *u = s->unit;
    unsigned digits = digits_of(u->slots_b);
    size_t all = s->live_n * (digits + 1);
    for (size_t first = 0; first < all; first += s->batch) {
        size_t count = all - first < s->batch ? all - first : s->batch;
        memset(s->a, 0, count * u->slots_a * sizeof *s->a);
        for (size_t i = 0; i < count; i++)
            put_problem(s, i, first + i, digits);
        enum as_status st = slots_run(s, count, err);
        if (st)
            return st;
        for (size_t i = 0; i < count; i++)
            take_problem(s, i, first + i, digits);
    }
    return AS_OK;
}

/* ---- rows, columns and k ---- */

/* Sets a slot's number, or finds a contradiction. */
static bool slots_note(uint16_t *at, uint16_t number)
{
    if (*at == AS_SLOT_NONE)
        *at = number;
    return *at == number;
}

static enum as_status contradiction(const char *operand, size_t slot, const char *what, struct as_error *err)
{
    return as_fail(err, AS_FAILED, "place %zu of %s belongs to two %s", slot, operand, what);
}

/* A live slot of A with known or new row and k: all results it reaches have its row, all slots of B it meets have its
 * k, and each result has the column of its slot of B. */
static enum as_status number_one(struct search *s, size_t i, uint16_t row, uint16_t k, struct as_error *err)
{
    const struct as_slot_unit *u = s->unit;
    const uint16_t *partner = s->partner + i * u->slots_c;
    struct as_slots *o = s->out;
    size_t met = 0;
    o->a[s->live[i]] = (struct as_slot){row, k};
    for (size_t d = 0; d < u->slots_c; d++) {
        if (partner[d] == AS_SLOT_NONE)
            continue;
        if (partner[d] >= u->slots_b)
            return as_fail(err, AS_FAILED, "place %zu of the result varies between problems", d);
        struct as_slot *b = &o->b[partner[d]], *c = &o->c[d];
        if (b->column == AS_SLOT_NONE && c->column == AS_SLOT_NONE)
            b->column = (uint16_t)o->n++;
        uint16_t column = b->column != AS_SLOT_NONE ? b->column : c->column;
        if (!slots_note(&c->row, row))
            return contradiction("the result", d, "rows", err);
        if (!slots_note(&b->row, k))
            return contradiction("B", partner[d], "k indices", err);
        if (!slots_note(&b->column, column) || !slots_note(&c->column, column))
            return contradiction("the result", d, "columns", err);
        met++;
    }
    if (met != u->n)
        return as_fail(err, AS_FAILED, "place %u of A appears in %zu columns, not %u", s->live[i], met, u->n);
    return AS_OK;
}

/* Rows: slots of A that reach the same results. k: slots of A that meet the same slots of B. After the first slot, each
 * is taken once its row or its k is known, so that its columns are numbered. */
static enum as_status number_all(struct search *s, struct as_error *err)
{
    const struct as_slot_unit *u = s->unit;
    struct as_slots *o = s->out;
    enum as_status st = AS_OK;
    size_t done = 0, before = 1;
    while (done != before && !st) {
        before = done;
        for (size_t i = 0; i < s->live_n && !st; i++) {
            const uint16_t *partner = s->partner + i * u->slots_c;
            size_t d = 0;
            while (d < u->slots_c && partner[d] == AS_SLOT_NONE)
                d++;
            if (o->a[s->live[i]].row != AS_SLOT_NONE)
                continue;
            if (d == u->slots_c || partner[d] >= u->slots_b)
                return as_fail(err, AS_FAILED, "place %u of A is multiplied only sometimes", s->live[i]);
            uint16_t row = o->c[d].row, k = o->b[partner[d]].row;
            if (done && row == AS_SLOT_NONE && k == AS_SLOT_NONE)
                continue;
            row = row == AS_SLOT_NONE ? (uint16_t)o->m++ : row;
            k = k == AS_SLOT_NONE ? (uint16_t)o->k++ : k;
            st = number_one(s, i, row, k, err);
            done++;
        }
    }
    if (!st && (o->m != u->m || o->n != u->n || o->k != u->k || done != s->live_n))
        st = as_fail(err, AS_FAILED, "%zu places of A form %u x %u x %u, not %u x %u x %u", done, o->m, o->n, o->k,
                     u->m, u->n, u->k);
    return st;
}

static struct as_slot *slots_none(size_t n)
{
    struct as_slot *v = malloc(n * sizeof *v);
    for (size_t i = 0; v && i < n; i++)
        v[i] = (struct as_slot){AS_SLOT_NONE, AS_SLOT_NONE};
    return v;
}

static enum as_status slots_start(struct search *s, struct as_error *err)
{
    const struct as_slot_unit *u = s->unit;
    size_t each = (u->slots_a + u->slots_b + u->slots_c) * sizeof *s->a, live = (size_t)u->m * u->k;
    if (u->slots_a >= AS_SLOT_NONE || u->slots_b >= AS_SLOT_NONE || u->slots_c >= AS_SLOT_NONE)
        return as_fail(err, AS_UNSUPPORTED, "operands of more than %d places are not examined", AS_SLOT_NONE - 1);
    s->batch = BATCH_BYTES / each + 1;
    s->a = malloc(s->batch * u->slots_a * sizeof *s->a);
    s->b = malloc(s->batch * u->slots_b * sizeof *s->b);
    s->d = malloc(s->batch * u->slots_c * sizeof *s->d);
    s->live = malloc(u->slots_a * sizeof *s->live);
    s->partner = malloc((live ? live : 1) * u->slots_c * sizeof *s->partner);
    *s->out = (struct as_slots){slots_none(u->slots_a),
                                slots_none(u->slots_b),
                                slots_none(u->slots_c),
                                u->slots_a,
                                u->slots_b,
                                u->slots_c,
                                0,
                                0,
                                0};
    s->one_a = as_number_nearest(u->a, 1);
    s->one_b = as_number_nearest(u->b, 1);
    if (!s->a || !s->b || !s->d || !s->live || !s->partner || !s->out->a || !s->out->b || !s->out->c)
        return as_nomem(err, s->batch * each, "places of matrices");
    return AS_OK;
}

enum as_status as_slots_find(const struct as_slot_unit *unit, struct as_slots *out, struct as_error *err)
{
    struct search s = {.unit = unit, .out = out};
    *out = (struct as_slots){.a = NULL};
    enum as_status st = slots_start(&s, err);
    if (!st)
        st = find_live(&s, err);
    if (!st && s.live_n != (size_t)unit->m * unit->k)
        st = as_fail(err, AS_FAILED, "%zu places of A are used, which has %u elements", s.live_n, unit->m * unit->k);
    if (!st)
        st = find_partners(&s, err);
    if (!st)
        st = number_all(&s, err);
    free(s.a);
    free(s.b);
    free(s.d);
    free(s.live);
    free(s.partner);
    if (st)
        as_slots_finish(out);
    return st;
}

void as_slots_finish(struct as_slots *slots)
{
    free(slots->a);
    free(slots->b);
    free(slots->c);
    *slots = (struct as_slots){.a = NULL};
}

/* ---- comparison with the documentation ---- */

/* Maps the numbers of one side to those of the other. */
struct names {
    uint16_t *rows, *columns, *k;
};

static bool take_names(struct names *names, const struct as_slots *found, const struct as_slots *doc)
{
    size_t n = (size_t)found->m + found->n + found->k;
    names->rows = malloc(n * sizeof *names->rows);
    if (!names->rows)
        return false;
    for (size_t i = 0; i < n; i++)
        names->rows[i] = AS_SLOT_NONE;
    names->columns = names->rows + found->m;
    names->k = names->columns + found->n;
    /* The first numbered slot determines the name. */
    for (size_t i = 0; i < found->slots_a && i < doc->slots_a; i++)
        if (found->a[i].row != AS_SLOT_NONE && doc->a[i].row != AS_SLOT_NONE) {
            slots_note(&names->rows[found->a[i].row], doc->a[i].row);
            slots_note(&names->k[found->a[i].column], doc->a[i].column);
        }
    for (size_t i = 0; i < found->slots_b && i < doc->slots_b; i++)
        if (found->b[i].row != AS_SLOT_NONE && doc->b[i].row != AS_SLOT_NONE)
            slots_note(&names->columns[found->b[i].column], doc->b[i].column);
    return true;
}

static void slots_compare(const char *operand, struct as_slot *found, const struct as_slot *doc, size_t n,
                          const uint16_t *rows, const uint16_t *columns, size_t *unequal,
                          struct as_slots_difference *out)
{
    for (size_t i = 0; i < n; i++) {
        if (found[i].row != AS_SLOT_NONE)
            found[i] = (struct as_slot){rows[found[i].row], columns[found[i].column]};
        if (found[i].row == doc[i].row && found[i].column == doc[i].column)
            continue;
        (*unequal)++;
        if (!out->first[0])
            snprintf(out->first, sizeof out->first,
                     "place %zu of %s holds row %d, column %d, expected: row %d, column %d", i, operand,
                     found[i].row == AS_SLOT_NONE ? -1 : found[i].row,
                     found[i].column == AS_SLOT_NONE ? -1 : found[i].column,
                     doc[i].row == AS_SLOT_NONE ? -1 : doc[i].row, doc[i].column == AS_SLOT_NONE ? -1 : doc[i].column);
    }
}

enum as_status as_slots_compare(struct as_slots *found, const struct as_slots *documented,
                                struct as_slots_difference *out, struct as_error *err)
{
    struct names names;
    *out = (struct as_slots_difference){{0}, ""};
    if (found->slots_a != documented->slots_a || found->slots_b != documented->slots_b ||
        found->slots_c != documented->slots_c)
        return as_fail(err, AS_FAILED, "the numbers of places differ");
    if (!take_names(&names, found, documented))
        return as_nomem(err, ((size_t)found->m + found->n + found->k) * sizeof *names.rows, "row indices");
    slots_compare("A", found->a, documented->a, found->slots_a, names.rows, names.k, &out->unequal[0], out);
    slots_compare("B", found->b, documented->b, found->slots_b, names.k, names.columns, &out->unequal[1], out);
    slots_compare("the result", found->c, documented->c, found->slots_c, names.rows, names.columns, &out->unequal[2],
                  out);
    free(names.rows);
    return AS_OK;
}
