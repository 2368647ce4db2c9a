/* What the rules share: adding facts, their numbers and sentences. */
#include "base/text.h"
#include "facts/rule.h"
#include "model/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *axis_of(const void *cell, const char *name)
{
    return as_cell_axis(cell, name);
}

struct as_fact *as_fact_add(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                            const struct as_fact_fields *by)
{
    struct as_fact_list *l = c->facts;
    void *grown = l->v;
    if (c->status || (c->status = as_grow(&grown, &l->cap, l->n + 1, sizeof *l->v, c->err)))
        return NULL;
    l->v = grown;
    struct as_fact *f = &l->v[l->n++];
    *f = (struct as_fact){.verdict = AS_UNDECIDED,
                          .value = NAN,
                          .ci = {NAN, NAN},
                          .claimed = NAN,
                          .gain = NAN,
                          .gain_ci = {NAN, NAN},
                          .rule = c->rule->text,
                          .refuted_by = c->rule->refuted_by};
    as_copy_text(f->device, sizeof f->device, c->device);
    if (as_fact_name(f, relation, by, axis_of, cell, cell ? cell->unit : ""))
        return f;
    l->n--; /* of a cell that this version does not know */
    return NULL;
}

struct as_fact *as_fact_add_cell(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                                 const struct as_fact_fields *by)
{
    struct as_fact *f = as_fact_add(c, relation, cell, by);
    if (f) {
        as_fact_number(f, cell->sum.median, as_cell_interval(cell));
        const struct as_number n = as_number_of_cell(cell);
        f->bound = n.bound;
        f->trials = n.trials;
        f->tried = n.tried;
        as_fact_evidence(f, cell);
    }
    return f;
}

/* Do both have a size, and not the same? */
static bool differ_in_size(const struct as_cell *a, const struct as_cell *b)
{
    const double size = as_cell_axis_number(a, "size"), other = as_cell_axis_number(b, "size");
    return strcmp(a->probe, b->probe) == 0 && isfinite(size) && isfinite(other) && size != other;
}

struct as_fact *as_fact_add_ratio(struct as_rule_context *c, enum as_relation relation, const struct as_cell *a,
                                  const struct as_cell *b, const struct as_fact_fields *by)
{
    struct as_fact *f = differ_in_size(a, b) ? NULL : as_fact_add(c, relation, a, by);
    if (f) {
        as_fact_ratio(f, a, b);
        f->verdict = as_verdict_above(f->ci, 1);
        as_fact_evidence(f, a);
        as_fact_evidence(f, b);
    }
    return f;
}

/* The gain, or its inverse if below 1. */
static const char *gain_text(const struct as_fact *f, char *out, size_t size)
{
    const bool below = as_fact_side(f) < 0;
    const struct as_interval ci = f->gain_ci, inverse = {1 / ci.hi, 1 / ci.lo};
    return as_fact_value_text(below ? 1 / f->gain : f->gain, below ? inverse : ci, "x", out, size);
}

static bool is_named(const char *name, size_t len, const char *is)
{
    return len == strlen(is) && strncmp(name, is, len) == 0;
}

static struct as_number number_of_fact(const struct as_fact *f)
{
    return (struct as_number){
        .value = f->value, .ci = f->ci, .unit = f->unit, .trials = f->trials, .tried = f->tried, .bound = f->bound};
}

/* What a name in braces stands for. */
static const char *named_text(const struct as_fact *f, const char *name, size_t len, char *out, size_t size)
{
    if (is_named(name, len, "value"))
        return as_fact_noted_text(f, "", "", out, size);
    if (is_named(name, len, "gain"))
        return gain_text(f, out, size);
    if (is_named(name, len, "tied"))
        return as_fact_is_open(f) ? "cannot be compared" : "are statistically tied";
    return as_fact_field_named(f, name, len);
}

#define TOO_WIDE "the intervals are too wide"

/* A printf format in which the names in braces are replaced by their texts; "{wide}" may end it. */
static void fill_in(const struct as_fact *f, const char *fmt, struct as_buf *out)
{
    char value[96];
    for (const char *at = fmt; *at; at++) {
        if (*at != '{') {
            as_buf_char(out, *at);
            continue;
        }
        const size_t len = strcspn(++at, "}");
        const bool is_wide = is_named(at, len, "wide");
        if (is_wide && as_fact_is_open(f)) {
            as_buf_str(out, TOO_WIDE);
            return;
        }
        for (const char *text = is_wide ? "" : named_text(f, at, len, value, sizeof value); *text; text++) {
            as_buf_char(out, *text);
            if (*text == '%')
                as_buf_char(out, '%');
        }
        at += len - (at[len] == '\0');
    }
}

/* The filled format has the conversions of the literal that the caller gave: what was filled in has its '%' doubled. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void say_into(const struct as_fact *f, char *out, size_t size, const char *fmt, va_list ap)
{
    struct as_buf text = AS_BUF_INIT, filled = AS_BUF_INIT;
    fill_in(f, fmt, &filled);
    as_buf_vprintf(&text, as_buf_get(&filled), ap);
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&filled);
    as_buf_finish(&text);
}
#pragma GCC diagnostic pop

void as_fact_say(struct as_fact *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_into(f, f->sentence, sizeof f->sentence, fmt, ap);
    va_end(ap);
}

void as_fact_act(struct as_fact *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_into(f, f->act, sizeof f->act, fmt, ap);
    va_end(ap);
}

void as_fact_gain(struct as_fact *f, double ratio, struct as_interval ci)
{
    f->gain = ratio;
    f->gain_ci = ci;
}

int as_fact_side(const struct as_fact *f)
{
    return f->gain_ci.lo > 1 ? 1 : f->gain_ci.hi < 1 ? -1 : 0;
}

double as_fact_effect(const struct as_fact *f)
{
    const int side = as_fact_side(f);
    return side > 0 ? f->gain_ci.lo : side < 0 ? 1 / f->gain_ci.hi : 1;
}

void as_fact_gain_beside(struct as_fact *f, struct as_interval control)
{
    if (fmax(control.hi, 1 / control.lo) >= as_fact_effect(f))
        as_fact_gain(f, NAN, AS_NO_INTERVAL);
}

void as_fact_left_out(struct as_fact *f, const struct as_cell *best, size_t n)
{
    if (!n)
        return;
    f->bound = best->lower_is_better ? -1 : 1;
    f->verdict = AS_UNDECIDED;
}

void as_fact_number(struct as_fact *f, double value, struct as_interval ci)
{
    f->value = value;
    f->ci = ci;
    f->verdict = AS_SUPPORTED;
}

void as_fact_ratio(struct as_fact *f, const struct as_cell *a, const struct as_cell *b)
{
    as_fact_number(f, a->sum.median / b->sum.median, as_cells_ratio(a, b));
}

void as_fact_evidence(struct as_fact *f, const struct as_cell *cell)
{
    for (size_t i = 0; i < f->evidence_n; i++)
        if (f->evidence[i] == cell->id)
            return;
    if (f->evidence_n < AS_EVIDENCE_MAX)
        f->evidence[f->evidence_n++] = cell->id;
}

void as_curve_evidence(struct as_fact *f, const struct as_curve *curve, size_t first, size_t last)
{
    size_t n = last - first + 1, step = (n + AS_EVIDENCE_MAX - 1) / AS_EVIDENCE_MAX;
    for (size_t i = first; i <= last && i < curve->n; i += step)
        as_fact_evidence(f, curve->cells[i]);
}

static void format_noted(struct as_buf *out, const struct as_number *n, const char *per, const char *note)
{
    if (as_number_form(n) == AS_NUMBER_INCONCLUSIVE)
        as_buf_printf(out, "an unknown number of times%s%s%s%s", per, note[0] ? " (" : "", note, note[0] ? ")" : "");
    else
        as_number_prose(n, per, note, out);
}

static const char *noted_text(const struct as_number *n, const char *per, const char *note, char *out, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    format_noted(&text, n, per, note);
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
    return out;
}

bool as_fact_is_open(const struct as_fact *f)
{
    const struct as_number n = number_of_fact(f);
    return as_number_form(&n) == AS_NUMBER_INCONCLUSIVE;
}

bool as_ratio_is_open(double ratio, struct as_interval ci)
{
    const struct as_number n = {.value = ratio, .ci = ci, .unit = "x"};
    return as_number_form(&n) == AS_NUMBER_INCONCLUSIVE;
}

enum as_fact_stands as_fact_compare(struct as_fact *f)
{
    static const double alike = 1 + AS_ALIKE_WITHIN / 100.0;
    const enum as_fact_stands stands = f->ci.lo >= 1 / alike && f->ci.hi <= alike ? AS_STANDS_ALIKE
                                       : f->ci.hi < 1                             ? AS_STANDS_BELOW
                                       : f->ci.lo > 1                             ? AS_STANDS_ABOVE
                                                                                  : AS_STANDS_OPEN;
    f->verdict = stands == AS_STANDS_OPEN ? AS_UNDECIDED : AS_SUPPORTED;
    return stands;
}

void as_format_with_interval(struct as_buf *out, double v, struct as_interval ci, const char *unit)
{
    format_noted(out, &(struct as_number){.value = v, .ci = ci, .unit = unit}, "", "");
}

const char *as_noted_text(double v, struct as_interval ci, const char *unit, const char *per, const char *note,
                          char *out, size_t size)
{
    return noted_text(&(struct as_number){.value = v, .ci = ci, .unit = unit}, per, note, out, size);
}

const char *as_fact_noted_text(const struct as_fact *f, const char *per, const char *note, char *out, size_t size)
{
    const struct as_number n = number_of_fact(f);
    return noted_text(&n, per, note, out, size);
}

const char *as_fact_inverse_text(const struct as_fact *f, const char *per, const char *note, char *out, size_t size)
{
    const struct as_interval inverse = {1 / f->ci.hi, 1 / f->ci.lo};
    return as_noted_text(1 / f->value, inverse, "x", per, note, out, size);
}

void as_fact_expects_nothing(struct as_fact *f)
{
    if (f->verdict == AS_REFUTED)
        f->verdict = AS_SUPPORTED;
}

const char *as_fact_ratio_text(const struct as_fact *f, const char *above, const char *below, const char *note,
                               char *out, size_t size)
{
    if (f->verdict == AS_REFUTED)
        return as_fact_inverse_text(f, below, note, out, size);
    if (f->verdict == AS_UNDECIDED && as_fact_is_open(f)) {
        snprintf(out, size, TOO_WIDE "%s%s%s", note[0] ? " (" : "", note, note[0] ? ")" : "");
        return out;
    }
    return as_fact_noted_text(f, f->verdict == AS_SUPPORTED ? above : "", note, out, size);
}

const char *as_fact_value_text(double v, struct as_interval ci, const char *unit, char *out, size_t size)
{
    return as_noted_text(v, ci, unit, "", "", out, size);
}

const char *as_fact_range_text(struct as_interval range, const char *unit, char *out, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    as_format_range(&text, range.lo, range.hi, NAN, unit, 3);
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
    return out;
}

const char *as_rounded_count(double n, char *out, size_t size)
{
    static const struct {
        double from, each;
        const char *word;
    } words[] = {{999.5e6, 1e9, " billion"}, {999.5e3, 1e6, " million"}, {1000, 1e3, " thousand"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n >= words[i].from) {
            snprintf(out, size, "%.3g%s", n / words[i].each, words[i].word);
            return out;
        }
    snprintf(out, size, "%.0f", n);
    return out;
}
