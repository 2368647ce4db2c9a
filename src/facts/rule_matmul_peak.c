/* Matrix instructions: their peak beside what is documented, the older ones beside the newer, and what operands and the
 * power limit make of it. */
#include "base/text.h"
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

/* Of a documented rate: what is left for the rounding of published clocks and units. */
static const double REACHED = 0.98;
/* Of instructions that are as fast as this the first of the table stands for all. */
static const double ALIKE = 1.001;

/* ---- peaks ---- */

/* Words of the formats of factors, as they stand in names of instructions. */
static const char *const formats[] = {"f64", "f32",      "tf32",     "bf16", "f16", "e4m3", "e5m2",
                                      "s8",  "e4m3fnuz", "e5m2fnuz", "u8",   "s4",  "u4",   "b1"};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Is the first format in the name of the instruction this one? "mma_m16n8k16_f16_f32": f16. */
static bool is_of(const char *instruction, const char *format)
{
    for (const char *at = strchr(instruction, '_'); at; at = strchr(at + 1, '_')) {
        const char *word = at + 1;
        size_t len = strcspn(word, "_");
        for (size_t i = 0; i < FORMATS; i++)
            if (strlen(formats[i]) == len && strncmp(formats[i], word, len) == 0)
                return strcmp(formats[i], format) == 0;
    }
    return false;
}

static bool is_sparse(const char *instruction)
{
    return strstr(instruction, "_sp_") != NULL;
}

static bool is_newer(const char *instruction)
{
    return strncmp(instruction, "wgmma", strlen("wgmma")) == 0;
}

enum which { ANY, NEWER, OLDER };

/* The fastest dense instruction of the format, on random operands. */
static const struct as_cell *best_of(const struct as_cell *const *cells, size_t n, const char *format, enum which which)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_cell_axis(cells[i], "instruction");
        if (is_of(name, format) && !is_sparse(name) && (which == ANY || is_newer(name) == (which == NEWER)) &&
            as_cell_is(cells[i], "operands", "random") && (!best || cells[i]->sum.median > ALIKE * best->sum.median))
            best = cells[i];
    }
    return best;
}

static void add_peak(struct as_rule_context *c, const struct as_cell *cell, const char *format)
{
    const char *name = as_cell_axis(cell, "instruction");
    struct as_fact *f = as_fact_add(c, "matrix", cell->unit, "matmul.peak.%s", format);
    if (!f)
        return;
    as_fact_number(f, cell->sum.median, as_cell_interval(cell));
    as_fact_evidence(f, cell);
    if (!(cell->limit > 0)) {
        as_fact_say(f, "%s does %.0f operations per cycle and unit, the maximum measured for %s; none are documented",
                    name, f->value, format);
        return;
    }
    f->claimed = cell->limit;
    f->verdict = f->ci.lo >= REACHED * cell->limit  ? AS_SUPPORTED
                 : f->ci.hi < REACHED * cell->limit ? AS_REFUTED
                                                    : AS_UNDECIDED;
    if (f->verdict == AS_REFUTED)
        as_fact_say(f, "%s does %.0f operations per cycle and unit, NOT the documented %.0f: %.1f%% of them", name,
                    f->value, f->claimed, 100 * f->value / f->claimed);
    else
        as_fact_say(f, "%s does %.0f operations per cycle and unit, %.1f%% of the documented %.0f", name, f->value,
                    100 * f->value / f->claimed, f->claimed);
}

static void add_older(struct as_rule_context *c, const struct as_cell *older, const struct as_cell *newer,
                      const char *format)
{
    struct as_fact *f = as_fact_add(c, "matrix", "x", "matmul.older.%s", format);
    if (!f)
        return;
    as_fact_ratio(f, older, newer);
    f->verdict = as_verdict_above(f->ci, REACHED);
    as_fact_say(f, "The older path %s the newer one's rate in %s: %s has %.3g of %s's",
                f->verdict == AS_REFUTED ? "does NOT reach" : "reaches", format, as_cell_axis(older, "instruction"),
                f->value, as_cell_axis(newer, "instruction"));
    as_fact_evidence(f, older);
    as_fact_evidence(f, newer);
}

void rule_matmul_peak(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "matmul_peak", &cells);
    for (size_t i = 0; i < FORMATS && n; i++) {
        const struct as_cell *best = best_of(cells, n, formats[i], ANY), *older = best_of(cells, n, formats[i], OLDER),
                             *newer = best_of(cells, n, formats[i], NEWER);
        if (best)
            add_peak(c, best, formats[i]);
        if (older && newer)
            add_older(c, older, newer, formats[i]);
    }
    free(cells);
}

/* ---- operands, power and clock ---- */

/* "1.75 GHz at 690 W"; nothing where neither is known. */
static void state_of(const struct as_cell *cell, struct as_buf *out)
{
    double power = as_cell_note(cell, "power_w");
    if (cell->clock_hz > 0)
        as_format_value(out, cell->clock_hz, "Hz");
    if (power > 0) {
        as_buf_str(out, cell->clock_hz > 0 ? " at " : "");
        as_format_value(out, power, "W");
        as_buf_str(out, strcmp(as_cell_axis(cell, "hold"), "burst") == 0 ? " with its rests" : "");
    }
}

/* What the two cells are of: the instruction, or path, type and size. */
static void subject_of(const struct as_cell *cell, const char *apart, struct as_buf *out)
{
    static const char *const parts[] = {"instruction", "path", "type", "size"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (as_cell_axis(cell, parts[i])[0])
            as_buf_printf(out, "%s%s", out->len ? apart : "", as_cell_axis(cell, parts[i]));
}

struct difference {
    const char *probe, *axis, *a, *b; /* two words of an axis */
    const char *other, *word;         /* where another axis is this */
    const char *id, *says, *than;
};
static const struct difference differences[] = {
    {"matmul_rate", "operands", "zero", "random", "hold", "sustained", "matmul.zeros", "zeros run",
     "random numbers, sustained"},
    {"matmul", "operands", "zero", "random", "hold", "sustained", "matmul.zeros", "zeros run",
     "random numbers, sustained"},
    {"matmul_rate", "hold", "burst", "sustained", "operands", "random", "matmul.burst", "bursts run",
     "what is sustained"},
    {"matmul", "hold", "burst", "sustained", "operands", "random", "matmul.burst", "bursts run", "what is sustained"},
};

static void add_difference(struct as_rule_context *c, const struct difference *d, const struct as_pair *pair)
{
    struct as_buf id = AS_BUF_INIT, text = AS_BUF_INIT, a = AS_BUF_INIT, b = AS_BUF_INIT;
    subject_of(pair->a, "_", &id);
    struct as_fact *f = as_fact_add(c, "matrix", "x", "%s.%s", d->id, as_buf_get(&id));
    if (f) {
        as_fact_ratio(f, pair->a, pair->b);
        f->verdict = as_verdict_above(f->ci, 1);
        as_buf_clear(&id);
        subject_of(pair->a, " ", &id);
        as_buf_printf(&text, "%s: %s at %.3g times the rate of %s", as_buf_get(&id), d->says, f->value, d->than);
        state_of(pair->a, &a);
        state_of(pair->b, &b);
        if (a.len && b.len)
            as_buf_printf(&text, ": %s against %s", as_buf_get(&a), as_buf_get(&b));
        as_fact_say(f, "%s", as_buf_get(&text));
        as_fact_evidence(f, pair->a);
        as_fact_evidence(f, pair->b);
    }
    as_buf_finish(&id);
    as_buf_finish(&text);
    as_buf_finish(&a);
    as_buf_finish(&b);
}

void rule_matmul_power(struct as_rule_context *c)
{
    for (size_t d = 0; d < sizeof differences / sizeof *differences; d++) {
        struct as_pair *pairs;
        size_t n;
        as_pairs_make(c, differences[d].probe, differences[d].axis, differences[d].a, differences[d].b, &pairs, &n);
        for (size_t i = 0; i < n; i++)
            if (as_cell_is(pairs[i].a, differences[d].other, differences[d].word))
                add_difference(c, &differences[d], &pairs[i]);
        free(pairs);
    }
}
