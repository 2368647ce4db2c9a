/* Inputs: every code's value, quarter steps to the next one, both signs, and numbers beyond the range. Each model
 * converts all of them; the model that matches the instruction is reported. */
#include "find.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES_MOST = 4096, PLACES = 4, SIGNS = 2, PAST = 6, SPECIALS = 3 };

struct ways {
    enum as_rounding rounding;
    enum as_overflow overflow;
    bool flush;
};
static const enum as_overflow overflows[] = {AS_OVERFLOW_FORMAT, AS_OVERFLOW_CLAMP, AS_OVERFLOW_INFINITY};

struct tries {
    uint32_t *from, *to;
    size_t n;
};

static uint32_t conversion_bits_of(double v)
{
    float narrow = (float)v;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static double conversion_value_of(uint32_t bits)
{
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    return (double)narrow;
}

static void conversion_put(struct tries *t, double v)
{
    t->from[t->n++] = conversion_bits_of(v);
    t->from[t->n++] = conversion_bits_of(-v);
}

/* Numbers, largest first past the range; infinity and NaN last. */
static enum as_status conversion_choose(const struct as_number_format *f, struct tries *t, struct as_error *err)
{
    uint64_t step = UINT64_C(1) << f->unused, codes = UINT64_C(1) << (f->bits - f->unused - 1);
    uint64_t stride = codes > CODES_MOST ? codes / CODES_MOST | 1 : 1;
    double largest = as_number_largest(f);
    size_t most = (size_t)(codes / stride + 1) * PLACES * SIGNS + PAST * SIGNS + SPECIALS;
    *t = (struct tries){.from = malloc(most * sizeof *t->from), .to = malloc(most * sizeof *t->to)};
    if (!t->from || !t->to)
        return as_nomem(err, most * sizeof *t->from, "numbers to convert");
    for (uint64_t i = 0; i < codes; i += stride) {
        double low = as_number_decode(f, i * step), high = as_number_decode(f, (i + 1) * step);
        for (unsigned q = 0; q < PLACES && isfinite(low) && isfinite(high) && high > low; q++)
            conversion_put(t, low + (high - low) * q / PLACES);
    }
    double last =
        largest - as_number_decode(f, as_number_encode(f, largest, AS_ROUND_TOWARD_ZERO, AS_OVERFLOW_CLAMP) - step);
    const double past[PAST] = {largest,        largest + last / 4, largest + last / 2, largest + 3 * last / 4,
                               largest + last, 16 * largest};
    for (unsigned i = 0; i < PAST; i++)
        if (isfinite((float)past[i]))
            conversion_put(t, past[i]);
    t->from[t->n++] = conversion_bits_of(INFINITY);
    t->from[t->n++] = conversion_bits_of(-INFINITY);
    t->from[t->n++] = conversion_bits_of(NAN);
    return AS_OK;
}

static uint64_t conversion_expected(const struct as_number_format *f, double v, const struct ways *w)
{
    uint64_t code = as_number_encode(f, v, w->rounding, w->overflow);
    if (w->flush && fabs(as_number_decode(f, code)) < as_number_smallest_normal(f))
        code = as_number_nearest(f, signbit(v) ? -0.0 : 0.0);
    return code;
}

static bool conversion_same(const struct as_number_format *f, uint64_t a, uint64_t b)
{
    return a == b || (isnan(as_number_decode(f, a)) && isnan(as_number_decode(f, b)));
}

/* Counts mismatches among the finite inputs. */
static size_t count_unequal(const struct as_number_format *f, const struct tries *t, const struct ways *w)
{
    size_t n = 0;
    for (size_t i = 0; i + SPECIALS < t->n; i++)
        n += !conversion_same(f, t->to[i], conversion_expected(f, conversion_value_of(t->from[i]), w));
    return n;
}

static double outcome(const struct as_number_format *f, uint32_t code, const char **text)
{
    double v = as_number_decode(f, code);
    static const char *const texts[] = {"infinity", "the largest finite number", "NaN", "another number"};
    unsigned which = isinf(v) ? 0 : isnan(v) ? 2 : fabs(v) == as_number_largest(f) ? 1 : 3;
    *text = texts[which];
    return which == 3 ? 5 : which + 1;
}

static void conversion_say(const struct as_number_format *f, const struct tries *t, const struct ways *w,
                           struct conversion_found *o)
{
    const char *text;
    for (unsigned r = 0; r < AS_ROUNDINGS; r++)
        if (as_roundings[r].rounding == w->rounding) {
            o->value[CONVERSION_ROUNDING] = r + 1;
            snprintf(o->text[CONVERSION_ROUNDING], sizeof *o->text, "%s", as_roundings[r].text);
        }
    o->value[CONVERSION_OVERFLOW] = outcome(f, t->to[t->n - SPECIALS - 2], &text);
    snprintf(o->text[CONVERSION_OVERFLOW], sizeof *o->text, "far past %g comes %s", as_number_largest(f), text);
    o->value[CONVERSION_INFINITY] = outcome(f, t->to[t->n - SPECIALS], &text);
    snprintf(o->text[CONVERSION_INFINITY], sizeof *o->text, "infinity becomes %s", text);
    o->value[CONVERSION_NAN] = outcome(f, t->to[t->n - 1], &text);
    snprintf(o->text[CONVERSION_NAN], sizeof *o->text, "NaN becomes %s, 0x%x", text, t->to[t->n - 1]);
    o->value[CONVERSION_SUBNORMAL] = w->flush ? 2 : 1;
    snprintf(o->text[CONVERSION_SUBNORMAL], sizeof *o->text, "subnormal numbers %s",
             w->flush ? "become 0" : "come out");
    o->value[CONVERSION_EXPLAINED] = 100 * (double)(o->compared - o->unequal) / (double)o->compared;
    snprintf(o->text[CONVERSION_EXPLAINED], sizeof *o->text, "%zu of %zu numbers convert differently", o->unequal,
             o->compared);
}

static enum as_status conversion_judge(const struct as_number_format *f, const struct tries *t,
                                       struct conversion_found *out, struct as_error *err)
{
    struct ways best = {.flush = false};
    out->compared = t->n - SPECIALS;
    out->unequal = out->compared + 1;
    for (unsigned r = 0; r < AS_ROUNDINGS; r++)
        for (unsigned v = 0; v < sizeof overflows / sizeof *overflows; v++)
            for (int flush = 0; flush < 2; flush++) {
                struct ways w = {as_roundings[r].rounding, overflows[v], flush};
                size_t unequal = count_unequal(f, t, &w);
                if (unequal < out->unequal) {
                    out->unequal = unequal;
                    best = w;
                }
            }
    for (size_t i = 0; i + SPECIALS < t->n; i++) {
        double v = conversion_value_of(t->from[i]), got = as_number_decode(f, t->to[i]);
        bool normal = fabs(v) >= as_number_smallest_normal(f);
        if (normal && as_number_decode(f, as_number_nearest(f, v)) == v && got != v)
            return as_fail(err, AS_FAILED, "%g is representable in %s but converts to %g", v, f->word, got);
    }
    conversion_say(f, t, &best, out);
    return AS_OK;
}

enum as_status as_conversion_find(const struct converter *c, struct conversion_found *out, struct as_error *err)
{
    struct tries t;
    *out = (struct conversion_found){.compared = 0};
    enum as_status st = conversion_choose(c->to, &t, err);
    if (!st)
        st = c->convert(c->ctx, t.n, t.from, t.to, err);
    if (!st)
        st = conversion_judge(c->to, &t, out, err);
    free(t.from);
    free(t.to);
    return st;
}
