/* Each path of GEMM with each type: native or emulated, a feature of arithmetic or of memory, its gain over the older
 * path, and its share of the vector ALU's peak, by size. */
#include "base/text.h"
#include "facts/matmul_types.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Oldest first; a device may lack any. */
static const char *const paths[] = {"naive", "tiled", "dot", "wmma", "mma", "tensor", "wgmma", "wgmma_pair", "library"};
enum { PATHS = sizeof paths / sizeof *paths, SIZES_MAX = 16, BASELINE = 1 /* tiled: the vector ALU used well */ };

struct path_cells {
    struct as_rule_context *c;
    const struct as_cell **cells;
    size_t n;
    struct as_matmul_roofs roofs;
};

/* GEMMs of one path and type by rising size, the data sheet's size last (as_matmul_rank). */
struct path_curve {
    const struct as_cell *at[SIZES_MAX];
    size_t n;
};

static void path_insert(const struct path_cells *p, struct path_curve *curve, const struct as_cell *cell)
{
    size_t i = curve->n;
    if (curve->n == SIZES_MAX)
        return;
    for (; i > 0 && as_matmul_rank(p->c, curve->at[i - 1]) > as_matmul_rank(p->c, cell); i--)
        curve->at[i] = curve->at[i - 1];
    curve->at[i] = cell;
    curve->n++;
}

static struct path_curve path_curve_of(const struct path_cells *p, const char *path, const char *type)
{
    struct path_curve out = {.n = 0};
    for (size_t i = 0; i < p->n; i++)
        if (as_cell_is(p->cells[i], "operands", "random") && as_cell_is(p->cells[i], "hold", "burst") &&
            strcmp(as_cell_axis(p->cells[i], "path"), path) == 0 &&
            strcmp(as_cell_axis(p->cells[i], "type"), type) == 0)
            path_insert(p, &out, p->cells[i]);
    return out;
}

/* Keeps of both the sizes that both have. */
static void path_keep_common(struct path_curve *a, struct path_curve *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if (as_cell_axis_number(a->at[i], "size") == as_cell_axis_number(b->at[k], "size")) {
                const struct as_cell *other = b->at[k];
                b->at[k] = b->at[n];
                a->at[n] = a->at[i];
                b->at[n++] = other;
                break;
            }
    a->n = b->n = n;
}

/* "; 1.05x (1.04 to 1.06x) at 512, 1.21x (1.20 to 1.22x) at 1024": at all sizes but the last. */
static void path_say_others(const struct path_curve *a, const struct path_curve *b, const struct as_cell *one,
                            struct as_buf *out)
{
    char text[96];
    for (size_t i = 0; i + 1 < a->n; i++) {
        const struct as_cell *below = b ? b->at[i] : one;
        as_buf_printf(out, "%s%s at %s", i ? ", " : "; ",
                      as_noted_text(a->at[i]->sum.median / below->sum.median, as_cells_ratio(a->at[i], below), "x", "",
                                    "", text, sizeof text),
                      as_cell_axis(a->at[i], "size"));
    }
}

static void path_evidence(struct as_fact *f, const struct path_curve *curve)
{
    for (size_t i = 0; i < curve->n; i++)
        as_fact_evidence(f, curve->at[i]);
}

/* ---- native or emulated ---- */

/* An emulation converts its operands, before the matrix instructions of a wider type. */
static bool path_converts(const struct as_cell *cell)
{
    return as_cell_note(cell, "operand_conversions") > 0;
}

static const struct as_matmul_type *path_type_of(const char *word)
{
    const struct as_matmul_type *t = as_matmul_types;
    while (strcmp(t->word, word) != 0)
        t++;
    return t;
}

/* Workgroups of a GEMM, by its note of a tile ("128 x 256"); NAN unknown. */
static double path_workgroups(const struct as_cell *cell)
{
    char *tile = as_cell_note_text(cell, "tile");
    unsigned rows, columns;
    const double size = as_cell_axis_number(cell, "size");
    const bool is_known = tile && sscanf(tile, "%u x %u", &rows, &columns) == 2 && rows && columns;
    free(tile);
    return is_known ? ceil(size / rows) * ceil(size / columns) : NAN;
}

/* Is its rate above the peak of the vector ALU in its type? Inconclusive where that peak is unknown. */
static enum as_fact_verdict path_is_above(const struct path_cells *p, const struct as_cell *cell)
{
    const struct as_matmul_type *t = path_type_of(as_cell_axis(cell, "type"));
    const struct as_cell *roof = as_matmul_ceiling(&p->roofs, t);
    return roof ? as_verdict_above(as_cells_ratio(cell, roof), 1) : AS_UNDECIDED;
}

/* Why the ratio of a type to a wider one does not tell whether it is native; "" it does. */
static void path_why_not(const struct path_cells *p, const struct as_cell *cell, const struct as_cell *wider,
                         struct as_buf *out)
{
    const double units = p->c->info ? p->c->info->compute_units : 0;
    const double groups = fmin(path_workgroups(cell), path_workgroups(wider));
    if (groups < units)
        as_buf_printf(out, "%.0f of %.0f %ss stay idle", units - groups, units, as_unit_name(p->c));
    else if (as_cell_is(cell, "path", "library") && path_is_above(p, wider) == AS_SUPPORTED &&
             path_is_above(p, cell) != AS_SUPPORTED)
        as_buf_printf(out, "%s exceeds the peak of the vector ALU, so the types may use different units",
                      as_cell_axis(wider, "type"));
}

static enum as_fact_verdict path_judge_native(const struct as_fact *f, const struct as_cell *cell, const char *why_not)
{
    const enum as_fact_verdict faster = as_verdict_above(f->ci, AS_MATMUL_ACCELERATED);
    return why_not[0] || (faster == AS_SUPPORTED && path_converts(cell)) ? AS_UNDECIDED : faster;
}

/* Of a type that gains less than a native one would. */
static const char *path_refuted_text(const struct as_fact *f, const struct as_cell *cell, bool is_smaller)
{
    if (path_converts(cell))
        return is_smaller ? "is emulated, a memory-footprint feature" : "is emulated, at the same size";
    if (f->ci.hi < 1)
        return "is slower";
    return is_smaller ? "is a memory-footprint feature" : "gains little, at the same size";
}

/* ", with 2 conversions of operands in the machine code", where it can be read. */
static void path_say_code(const struct as_cell *cell, struct as_buf *out)
{
    const double conversions = as_cell_note(cell, "operand_conversions");
    if (conversions >= 0)
        as_buf_printf(out, ", with %.0f conversion%s of operands in the machine code", conversions,
                      conversions == 1 ? "" : "s");
}

static void path_say_native(struct as_fact *f, const struct as_cell *cell, const struct as_matmul_type *t,
                            const struct as_matmul_type *wider, const char *why_not)
{
    static const char *const says[] = {
        [AS_SUPPORTED] = "is native, a compute feature", [AS_UNDECIDED] = "may be native or emulated"};
    struct as_buf code = AS_BUF_INIT;
    path_say_code(cell, &code);
    as_fact_say(f, "%s by %s %s: {value} the rate of %s at size %s%s%s%s", t->word, as_cell_axis(cell, "path"),
                f->verdict != AS_REFUTED ? says[f->verdict] : path_refuted_text(f, cell, t->bytes < wider->bytes),
                wider->word, as_cell_axis(cell, "size"), as_buf_get(&code),
                why_not[0] ? "; inconclusive, because " : "", why_not);
    as_buf_finish(&code);
}

/* Without a wider type by the same path, the vector ALU's peak decides: it cannot emulate a type faster than that. A
 * matrix unit can, so converted operands leave the verdict inconclusive, as does a rate below the peak or an unknown
 * peak. */
static void path_add_native_by_peak(const struct path_cells *p, const char *path, const struct as_matmul_type *t)
{
    const struct path_curve a = path_curve_of(p, path, t->word);
    const struct as_cell *roof = as_matmul_ceiling(&p->roofs, t), *cell = a.n ? a.at[a.n - 1] : NULL;
    const struct as_fact_fields by = {.path = path, .type = t->word};
    struct as_fact *f = !cell  ? NULL
                        : roof ? as_fact_add_ratio(p->c, AS_FACT_MATMUL_NATIVE_PEAK, cell, roof, &by)
                               : as_fact_add(p->c, AS_FACT_MATMUL_NATIVE_PEAK, cell, &by);
    const char *no_wider = t->wider[0] ? "no wider type was measured by this path and " : "";
    struct as_buf code = AS_BUF_INIT;
    if (!f)
        return;
    f->verdict = roof && !path_converts(cell) && f->ci.lo > 1 ? AS_SUPPORTED : AS_UNDECIDED;
    path_say_code(cell, &code);
    if (f->verdict == AS_SUPPORTED)
        as_fact_say(f, "%s by %s is native, a compute feature: {value} the peak of the vector ALU (%s) at size %s%s%s",
                    t->word, path, as_matmul_roof_name(roof), as_cell_axis(cell, "size"), as_buf_get(&code),
                    t->wider[0] ? "; no wider type was measured by this path" : "");
    else if (roof)
        as_fact_say(f,
                    "%s by %s may be native or emulated: {value} the peak of the vector ALU (%s) at size %s%s; "
                    "inconclusive, because %s%s",
                    t->word, path, as_matmul_roof_name(roof), as_cell_axis(cell, "size"), as_buf_get(&code), no_wider,
                    path_converts(cell) ? "operands are converted" : "the vector ALU could reach this rate");
    else
        as_fact_say(f,
                    "%s by %s may be native or emulated; inconclusive, because %sthe peak of the vector ALU is unknown",
                    t->word, path, no_wider);
    if (!roof)
        as_fact_evidence(f, cell);
    as_buf_finish(&code);
}

/* Naive GEMMs are bound by their loads, whatever the type. */
static void path_add_native(const struct path_cells *p, const char *path, const struct as_matmul_type *t)
{
    const bool is_of_vectors = strcmp(path, "tiled") == 0 || strcmp(path, "dot") == 0;
    const bool is_of_arithmetic = strcmp(path, "naive") != 0;
    for (size_t w = 0; is_of_arithmetic && w < AS_MATMUL_WIDER && t->wider[w]; w++) {
        struct path_curve a = path_curve_of(p, path, t->word), b = path_curve_of(p, path, t->wider[w]);
        path_keep_common(&a, &b);
        if (!a.n)
            continue;
        const struct as_cell *cell = a.at[a.n - 1];
        struct as_fact *f =
            as_fact_add_ratio(p->c, AS_FACT_MATMUL_NATIVE, cell, b.at[b.n - 1], AS_BY(.path = path, .type = t->word));
        if (!f)
            return;
        struct as_buf why_not = AS_BUF_INIT;
        path_why_not(p, cell, b.at[b.n - 1], &why_not);
        f->verdict = path_judge_native(f, cell, as_buf_get(&why_not));
        path_say_native(f, cell, t, path_type_of(t->wider[w]), as_buf_get(&why_not));
        as_buf_finish(&why_not);
        return;
    }
    if (is_of_arithmetic && !is_of_vectors)
        path_add_native_by_peak(p, path, t);
}

/* ---- against older paths, and the peak of the vector ALU ---- */

static bool path_add_gain(const struct path_cells *p, const char *path, const char *older, const char *type)
{
    struct path_curve a = path_curve_of(p, path, type), b = path_curve_of(p, older, type);
    struct as_buf sizes = AS_BUF_INIT;
    path_keep_common(&a, &b);
    struct as_fact *f = a.n ? as_fact_add_ratio(p->c, AS_FACT_MATMUL_GAIN, a.at[a.n - 1], b.at[b.n - 1],
                                                AS_BY(.path = path, .other = older, .type = type))
                            : NULL;
    if (f) {
        path_say_others(&a, &b, NULL, &sizes);
        as_fact_say(f, "%s by %s runs at {value} the rate of %s at size %s%s", type, path, older,
                    as_cell_axis(a.at[a.n - 1], "size"), as_buf_get(&sizes));
        path_evidence(f, &a);
        path_evidence(f, &b);
    }
    as_buf_finish(&sizes);
    return a.n > 0;
}

/* Over the newest older path with a common size, and over the vector ALU. */
static void path_add_gains(const struct path_cells *p, size_t path, const char *type)
{
    size_t older = path;
    while (older > 0 && !path_add_gain(p, paths[path], paths[older - 1], type))
        older--;
    if (older > BASELINE + 1)
        (void)path_add_gain(p, paths[path], paths[BASELINE], type);
}

static void path_add_share(const struct path_cells *p, const char *path, const struct as_matmul_type *t)
{
    const struct as_cell *roof = as_matmul_ceiling(&p->roofs, t);
    const struct path_curve a = path_curve_of(p, path, t->word);
    struct as_buf sizes = AS_BUF_INIT;
    struct as_fact *f = roof && a.n ? as_fact_add_ratio(p->c, AS_FACT_MATMUL_SHARE, a.at[a.n - 1], roof,
                                                        AS_BY(.path = path, .type = t->word))
                                    : NULL;
    if (f) {
        path_say_others(&a, NULL, roof, &sizes);
        as_fact_say(f, "%s by %s reaches {value} the peak of the vector ALU (%s) at size %s%s", t->word, path,
                    as_matmul_roof_name(roof), as_cell_axis(a.at[a.n - 1], "size"), as_buf_get(&sizes));
        as_fact_expects_nothing(f);
        path_evidence(f, &a);
    }
    as_buf_finish(&sizes);
}

static void path_derive(struct as_rule_context *c)
{
    struct path_cells p = {.c = c};
    p.n = as_cells_of(c, "matmul", &p.cells);
    as_matmul_roofs_make(c, &p.roofs);
    for (const struct as_matmul_type *t = as_matmul_types; t->word && p.n; t++)
        for (size_t i = 0; i < PATHS; i++) {
            path_add_native(&p, paths[i], t);
            path_add_gains(&p, i, t->word);
            path_add_share(&p, paths[i], t);
        }
    free(p.cells);
    as_matmul_roofs_free(&p.roofs);
}

const struct as_rule as_rules_joint_matmul_path[] = {
    {"paths of matrix multiplication", path_derive,
     "valid GEMMs of random operands in bursts, at the sizes that both have: by one path and type, native from 1.5 "
     "times the rate of the next wider type on, unless the machine code converts operands before its matrix "
     "instructions; inconclusive where the workgroups do not fill the device, or where the library exceeds the vector "
     "ALU's "
     "peak with the wider type but not with this one; where no wider type was measured by the path, native above "
     "the vector ALU's peak unless the machine code converts operands, else inconclusive; "
     "gain over the next older path and the vector ALU; share of the vector ALU's peak",
     "a GEMM of the same path and type with another rate that passes the same gates"},
    {0},
};
