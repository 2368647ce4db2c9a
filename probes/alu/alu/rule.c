/* Throughput of operations per compute unit, peak of the whole device, and which operations take several
 * instructions. */
#include "facts/rule.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 160 }; /* length of a list of names */

/* More instructions per operation than this: some steps of the operation take more than one. */
static const double SEVERAL = 1.25;

static double width_of(const struct as_cell *cell)
{
    return as_cell_is(cell, "width", "sve") ? INFINITY : strtod(as_cell_axis(cell, "width"), NULL); /* scalar: 0 */
}

/* 0 stands for as many as there can be. */
static double number_at_once(const struct as_cell *cell, const char *axis)
{
    const double n = as_cell_axis_number(cell, axis);
    return n == 0 ? INFINITY : n;
}

/* Has the cell more at once of anything than the best one? Then it may be faster. */
static bool has_more(const struct as_cell *cell, const struct as_cell *best)
{
    return number_at_once(cell, "ilp") > number_at_once(best, "ilp") ||
           number_at_once(cell, "warps") > number_at_once(best, "warps") || width_of(cell) > width_of(best);
}

/* Cells of the operation without a number that may be faster than its best one. */
static size_t alu_left_out(const struct as_rule_context *c, const struct as_cell *best, const char *op)
{
    size_t n = 0, at = 0;
    for (const struct as_cell *cell; (cell = as_cells_left_out(c, "alu", &at));)
        n += as_cell_is(cell, "op", op) && has_more(cell, best);
    return n;
}

static void alu_add_rate(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *op)
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", op);
    struct as_fact *f = cell ? as_fact_add_cell(c, AS_FACT_ALU_THROUGHPUT, cell, NULL) : NULL;
    if (!f)
        return;
    as_fact_left_out(f, cell, alu_left_out(c, cell, op));
    const bool sve = as_cell_is(cell, "width", "sve"), vectors = !sve && !as_cell_is(cell, "width", "scalar");
    as_fact_say(f, "Each %s executes {value} of {op}%s%.12s%s", as_unit_name(c),
                sve       ? ", in SVE vectors"
                : vectors ? ", in vectors of "
                          : "",
                vectors ? as_cell_axis(cell, "width") : "", vectors ? " bits" : "");
}

/* Peak of all compute units: the rate per cycle times the clock during the measurement. each: operations per result. */
static void alu_add_peak(struct as_rule_context *c, const struct as_cell *const *cells, size_t n, const char *type,
                         const char *const ops[2], double each)
{
    const struct as_cell *cell = as_cells_best(cells, n, "op", ops[0]);
    const struct as_cell *other = ops[1] ? as_cells_best(cells, n, "op", ops[1]) : NULL;
    cell = !cell || (other && other->sum.median > cell->sum.median) ? other : cell;
    if (!cell || !c->info || !c->info->compute_units || !isfinite(as_warp_of(c)) || !(cell->clock_hz > 0) ||
        !isfinite(cell->clock_hz))
        return;
    const bool twice = each > 1;
    struct as_fact *f =
        as_fact_add(c, AS_FACT_ALU_PEAK, cell, AS_BY(.unit = twice ? AS_UNIT_RATE : "OP/s", .type = type));
    if (!f)
        return;
    const double all = each * cell->clock_hz * c->info->compute_units;
    const struct as_interval ci = as_cell_interval(cell);
    char rate[96], clock[48];
    as_fact_number(f, cell->sum.median * all, (struct as_interval){ci.lo * all, ci.hi * all});
    as_fact_left_out(f, cell, alu_left_out(c, cell, ops[0]) + (ops[1] ? alu_left_out(c, cell, ops[1]) : 0));
    as_fact_say(f,
                twice ? "%u %s%s with %s of %s each at %s reach {value}, counting a multiply-add as two"
                      : "%u %s%s with %s of %s each at %s reach {value}",
                c->info->compute_units, as_unit_name(c), c->info->compute_units == 1 ? "" : "s",
                as_fact_value_text(cell->sum.median, ci, cell->unit, rate, sizeof rate), as_cell_axis(cell, "op"),
                as_fact_value_text(cell->clock_hz, AS_NO_INTERVAL, "Hz", clock, sizeof clock));
    as_fact_evidence(f, cell);
}

static bool is_named(const struct as_cell *const *cells, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(as_cell_axis(cells[k], "op"), as_cell_axis(cells[i], "op")) == 0)
            return true;
    return false;
}

static void add_several(struct as_rule_context *c, const struct as_cell *const *cells, size_t n)
{
    struct as_names names = AS_NAMES(ROOM);
    struct as_buf name = AS_BUF_INIT;
    size_t known = 0, several = 0;
    int64_t evidence[AS_EVIDENCE_MAX];
    for (size_t i = 0; i < n; i++) {
        const double each = as_cell_note(cells[i], "instructions_each") - as_cell_has_note(cells[i], "link");
        if (!(each > 0) || is_named(cells, i))
            continue;
        known++;
        if (each < SEVERAL)
            continue;
        if (several < AS_EVIDENCE_MAX)
            evidence[several] = cells[i]->id;
        several++;
        as_buf_clear(&name);
        as_buf_printf(&name, "%.47s (%.3g)", as_cell_axis(cells[i], "op"), each);
        as_names_add(&names, as_buf_get(&name));
    }
    struct as_fact *f = several ? as_fact_add(c, AS_FACT_ALU_SEVERAL, NULL, NULL) : NULL;
    if (f) {
        as_fact_number(f, (double)several, AS_NO_INTERVAL);
        f->verdict = AS_SUPPORTED;
        as_fact_say(f, "Of %zu operations %zu are one machine instruction, the others several: %s", known,
                    known - several, as_names_text(&names));
        f->evidence_n = several < AS_EVIDENCE_MAX ? several : AS_EVIDENCE_MAX;
        memcpy(f->evidence, evidence, f->evidence_n * sizeof *evidence);
    }
    as_names_finish(&names);
    as_buf_finish(&name);
}

/* These need no linking operation. */
static const char *const told[] = {"ffma32", "ffma64", "ffma16", "ffma2_f16", "fadd32",
                                   "fmul32", "iadd32", "imul32", "imad32",    "xor32"};

static const struct {
    const char *type, *ops[2];
    double each;
} peaks[] = {{"f32", {"ffma32", NULL}, 2},
             {"f64", {"ffma64", NULL}, 2},
             {"f16", {"ffma16", "ffma2_f16"}, 2},
             {"i32", {"iadd32", NULL}, 1}};

static void alu_derive_peaks(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        alu_add_peak(c, cells, n, peaks[i].type, peaks[i].ops, peaks[i].each);
    free(cells);
}

static void derive_code(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    add_several(c, cells, n);
    free(cells);
}

static void derive_rates(struct as_rule_context *c)
{
    const struct as_cell **cells;
    size_t n = as_cells_of(c, "alu", &cells);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        alu_add_rate(c, cells, n, told[i]);
    free(cells);
}

/* Cells that differ in one axis only, by that axis; the best rate of their operation; what counts as full speed. */
struct curve {
    const struct as_cell **v;
    size_t n;
    const char *axis;
    struct as_interval enough; /* this share of the best rate */
};
static const double ENOUGH = 0.95;
enum { CURVE_POINTS = 3 };

static const char *const curve_axes[] = {"op", "ilp", "warps", "width", "operands", "steps"};

static bool on_curve(const struct as_cell *a, const struct as_cell *b, const char *axis)
{
    for (size_t i = 0; i < sizeof curve_axes / sizeof *curve_axes; i++)
        if (strcmp(curve_axes[i], axis) != 0 && !as_cells_same(a, b, curve_axes[i]))
            return false;
    return as_cell_axis_number(b, axis) > 0;
}

static void curve_insert(struct curve *curve, const struct as_cell *cell)
{
    size_t i = curve->n++;
    for (; i && as_cell_axis_number(curve->v[i - 1], curve->axis) > as_cell_axis_number(cell, curve->axis); i--)
        curve->v[i] = curve->v[i - 1];
    curve->v[i] = cell;
}

/* The curve that begins with the i-th cell, empty where an earlier one is on it. best: of what the shares are. */
static void curve_make(struct curve *curve, const struct as_cell *const *cells, size_t n, size_t i,
                       const struct as_cell *best)
{
    curve->n = 0;
    if (!on_curve(cells[i], cells[i], curve->axis))
        return;
    for (size_t k = 0; k < n; k++) {
        if (!on_curve(cells[i], cells[k], curve->axis))
            continue;
        if (k < i) {
            curve->n = 0;
            return;
        }
        curve_insert(curve, cells[k]);
    }
    for (size_t k = 0; k < curve->n; k++)
        if (!best || curve->v[k]->sum.median > best->sum.median)
            best = curve->v[k];
    const struct as_interval ci = best ? as_cell_interval(best) : AS_NO_INTERVAL;
    curve->enough = (struct as_interval){ENOUGH * ci.lo, ENOUGH * ci.hi};
}

/* At full speed for certain; or, of the other direction, below it for certain. */
static bool is_enough(const struct curve *curve, size_t i)
{
    return as_cell_interval(curve->v[i]).lo >= curve->enough.hi;
}

static bool is_less(const struct curve *curve, size_t i)
{
    return as_cell_interval(curve->v[i]).hi < curve->enough.lo;
}

static double curve_share(const struct curve *curve, size_t i)
{
    return 100 * ENOUGH * curve->v[i]->sum.median / ((curve->enough.lo + curve->enough.hi) / 2);
}

/* How few warps reach full speed: between the last number that certainly does not and the first that does. */
static void alu_add_fill(struct as_rule_context *c, const struct curve *curve, void *unused)
{
    (void)unused;
    size_t full = 0, less = curve->n;
    if (as_cell_axis_number(curve->v[0], "operands") > 0 || as_cell_axis_number(curve->v[0], "steps") > 0)
        return; /* slowed by register ports, or by the loop */
    while (full < curve->n && !is_enough(curve, full))
        full++;
    for (size_t i = 0; i < full; i++)
        less = is_less(curve, i) ? i : less;
    if (full == curve->n || less == curve->n)
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_FILL, curve->v[full], NULL);
    if (!f)
        return;
    const double warps = as_cell_axis_number(curve->v[full], "warps"), ilp = as_cell_axis_number(curve->v[full], "ilp"),
                 few = as_cell_axis_number(curve->v[less], "warps");
    as_fact_number(f, warps, (struct as_interval){few, warps});
    as_fact_say(
        f, "With %.0f chain%s per thread %.0f warps per %s reach %.0f%% of the best rate of {op}; %.0f reach %.0f%%",
        ilp, ilp == 1 ? "" : "s", warps, as_unit_name(c), curve_share(curve, full), few, curve_share(curve, less));
    as_fact_evidence(f, curve->v[full]);
    as_fact_evidence(f, curve->v[less]);
}

/* Loops at full speed are those from first up to, but without, last: short ones pay more for each turn, long ones
 * outgrow the instruction cache. Does the longest of all certainly? */
static bool curve_span(const struct curve *curve, size_t *first, size_t *last)
{
    *first = 0;
    *last = curve->n;
    while (*first < curve->n && !is_enough(curve, *first))
        ++*first;
    while (*last > *first && !is_enough(curve, *last - 1))
        --*last;
    return *last > *first && *last < curve->n && is_less(curve, curve->n - 1);
}

/* The curves of an operation may differ in warps and chains: the first one counts. */
static bool alu_is_told(struct as_rule_context *c, enum as_relation relation, const struct curve *curve)
{
    return as_fact_of(c->facts->v, c->facts->n, c->device, relation, AS_BY(.op = as_cell_axis(curve->v[0], "op")));
}

static void alu_add_code(struct as_rule_context *c, const struct curve *curve, void *unused)
{
    size_t first, last;
    (void)unused;
    const bool ends = curve_span(curve, &first, &last), to_longest = last == curve->n;
    if (last == first || alu_is_told(c, AS_FACT_ALU_CODE, curve))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_CODE, curve->v[last - 1], NULL);
    if (!f)
        return;
    const double from = as_cell_axis_number(curve->v[first], "steps"),
                 to = as_cell_axis_number(curve->v[last - 1], "steps"),
                 most = as_cell_axis_number(curve->v[curve->n - 1], "steps");
    if (ends)
        as_fact_number(f, to, (struct as_interval){to, as_cell_axis_number(curve->v[last], "steps")});
    f->verdict = ends || to_longest ? AS_SUPPORTED : AS_UNDECIDED;
    if (to_longest)
        as_fact_say(f, "Loops of {op} keep their full speed up to the longest tried, %.0f steps", to);
    else if (ends)
        as_fact_say(f,
                    "Loops of %.0f to %.0f steps of {op} run at full speed, 95%% of the best; one of %.0f runs at "
                    "%.0f%%",
                    from, to, most, curve_share(curve, curve->n - 1));
    else
        as_fact_say(f, "Loops of %.0f to %.0f steps of {op} run at full speed, 95%% of the best", from, to);
    as_fact_evidence(f, curve->v[last - 1]);
    as_fact_evidence(f, curve->v[curve->n - 1]);
}

/* The length of loop with the best rate, and those that are tied with it. The longest one tried is no optimum. */
static void alu_add_repetitions(struct as_rule_context *c, const struct curve *curve, void *unused)
{
    size_t best = 0;
    (void)unused;
    for (size_t i = 1; i < curve->n; i++)
        best = curve->v[i]->sum.median > curve->v[best]->sum.median ? i : best;
    const double floor = as_cell_interval(curve->v[best]).lo;
    size_t first = best, last = best;
    while (first > 0 && as_cell_interval(curve->v[first - 1]).hi >= floor)
        first--;
    while (last + 1 < curve->n && as_cell_interval(curve->v[last + 1]).hi >= floor)
        last++;
    if (last + 1 == curve->n || alu_is_told(c, AS_FACT_ALU_REPETITIONS, curve))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_REPETITIONS, curve->v[best], NULL);
    if (!f)
        return;
    const double from = as_cell_axis_number(curve->v[first], "steps"),
                 to = as_cell_axis_number(curve->v[last], "steps"), at = as_cell_axis_number(curve->v[best], "steps");
    as_fact_number(f, at, (struct as_interval){from, to});
    f->verdict = AS_SUPPORTED;
    if (first == last)
        as_fact_say(f, "{op} is fastest in a loop of %.0f steps", at);
    else
        as_fact_say(f, "{op} is fastest in loops of %.0f to %.0f steps, which are statistically tied", from, to);
    as_fact_evidence(f, curve->v[best]);
}

/* Up to where loops of one instruction per step run at full speed, and the first that does not. */
static void alu_ffma32_span(struct as_rule_context *c, const struct curve *curve, void *out)
{
    size_t first, last;
    (void)c;
    if (as_cell_is(curve->v[0], "op", "ffma32") && curve_span(curve, &first, &last))
        *(struct as_interval *)out = (struct as_interval){as_cell_axis_number(curve->v[last - 1], "steps"),
                                                          as_cell_axis_number(curve->v[last], "steps")};
}

/* How many instructions there are per step, by the loop that still fits: no machine code is read. */
static void alu_add_length(struct as_rule_context *c, const struct curve *curve, void *single)
{
    const struct as_interval *one = single;
    size_t first, last;
    if (as_cell_is(curve->v[0], "op", "ffma32") || !curve_span(curve, &first, &last))
        return;
    struct as_fact *f = as_fact_add(c, AS_FACT_ALU_LENGTH, curve->v[last - 1], NULL);
    if (!f)
        return;
    const double to = as_cell_axis_number(curve->v[last - 1], "steps"),
                 over = as_cell_axis_number(curve->v[last], "steps");
    as_fact_number(f, sqrt(one->lo / over * one->hi / to), (struct as_interval){one->lo / over, one->hi / to});
    f->verdict = AS_SUPPORTED;
    as_fact_say(f,
                "{op} takes {value} the code size of ffma32: a loop of %.0f operations runs at full speed, one of %.0f "
                "does not",
                to, over);
    as_fact_evidence(f, curve->v[last - 1]);
    as_fact_evidence(f, curve->v[last]);
}

/* Cells of warps share the best rate of their operation, those of loops that of the same number of warps. */
static void alu_derive_curves(struct as_rule_context *c, const char *axis, bool shares,
                              void (*add)(struct as_rule_context *c, const struct curve *curve, void *with), void *with)
{
    const struct as_cell **cells;
    const size_t n = as_cells_of(c, "alu", &cells);
    struct curve curve = {.axis = axis, .v = n ? malloc(n * sizeof *curve.v) : NULL};
    if (n && !curve.v)
        c->status = as_nomem(c->err, n * sizeof *curve.v, "measurements of a curve");
    for (size_t i = 0; i < n && curve.v; i++) {
        const char *op = as_cell_axis(cells[i], "op");
        const struct as_cell *best = as_cells_best(cells, n, "op", op);
        curve_make(&curve, cells, n, i, shares ? best : NULL);
        if (curve.n >= CURVE_POINTS && !alu_left_out(c, best, op))
            add(c, &curve, with);
    }
    free(curve.v);
    free(cells);
}

static void derive_fill(struct as_rule_context *c)
{
    alu_derive_curves(c, "warps", true, alu_add_fill, NULL);
}

static void derive_loops(struct as_rule_context *c)
{
    struct as_interval single = AS_NO_INTERVAL;
    alu_derive_curves(c, "steps", false, alu_add_code, NULL);
    alu_derive_curves(c, "steps", false, alu_add_repetitions, NULL);
    alu_derive_curves(c, "steps", false, alu_ffma32_span, &single);
    if (single.hi > 0)
        alu_derive_curves(c, "steps", false, alu_add_length, &single);
}

/* What it costs to read three registers instead of one, with as many chains and warps. */
static void derive_operands(struct as_rule_context *c)
{
    struct as_pair *pairs;
    size_t n;
    as_pairs_make(c, "alu", "operands", "3", "1", &pairs, &n);
    for (size_t i = 0; i < n; i++) {
        struct as_fact *f = as_fact_add_ratio(c, AS_FACT_ALU_OPERANDS, pairs[i].a, pairs[i].b, NULL);
        if (!f)
            break;
        f->verdict = f->ci.hi < 1 ? AS_SUPPORTED : f->ci.lo > 1 ? AS_REFUTED : AS_UNDECIDED;
        const bool is_full = as_cell_axis_number(pairs[i].a, "warps") == 0;
        as_fact_say(
            f,
            "{op} with {ilp} chain%s and %s warps runs at {value} of its rate when three different source registers "
            "replace one",
            as_cell_axis_number(pairs[i].a, "ilp") == 1 ? "" : "s",
            is_full ? "the maximum number of" : as_cell_axis(pairs[i].a, "warps"));
    }
    free(pairs);
}

const struct as_rule as_rules_alu[] = {
    {"peaks of operations", alu_derive_peaks,
     "the best valid measurement of a multiply-add, two operations each, or of an integer addition, times clock and "
     "units",
     "a faster chain that passes the same gates"},
    {"code of operations", derive_code,
     "instructions per step, from the difference of a longer and a shorter body, minus the link that turns a result "
     "into an operand",
     "a disassembly with another number of instructions"},
    {"rates of operations", derive_rates,
     "the best valid measurement of an operation: its rate with any number of chains and warps",
     "a faster chain of the same operation that passes the same gates"},
    {"warps that fill a unit", derive_fill,
     "the fewest warps whose rate is at least 95% of the operation's best, and the most whose rate is not",
     "fewer warps that reach 95% and pass the same gates"},
    {"loops at full speed", derive_loops,
     "the shortest and the longest loop whose rate is at least 95% of the best of such loops; the loops whose rate "
     "ties with "
     "the best; instructions by the longest loop, relative to that of ffma32",
     "a longer loop at 95% that passes the same gates"},
    {"registers read", derive_operands, "the same chain with one register as all operands, and with three",
     "a chain of three registers at the rate of one"},
    {0},
};
