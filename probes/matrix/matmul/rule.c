/* GEMM facts: how much faster each type runs, which units execute them, and how close our own kernels come to the
 * vendor's library. */
#include "base/text.h"
#include "facts/matmul_types.h"
#include "model/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If the newer path gains less than this, the older one uses the same units. */
static const double SAME_UNIT = 1.5;
/* Below this share of the library's rate our own kernels would say more about themselves than about the device. */
static const double RESPECTED = 0.9;

enum { PATHS_MAX = 8 };
static const char *const
    own_paths[] = {"wgmma", "wgmma_pair", "tensor", "mma", NULL},
    *const new_paths[] = {"wgmma", "wgmma_pair", "tensor", NULL}, *const matrix_paths[] = {"wgmma",   "wgmma_pair",
                                                                                           "tensor",  "mma",
                                                                                           "library", NULL},
    *const old_paths[] = {"mma", NULL}, *const oldest_paths[] = {"wmma", NULL},
    *const library_paths[] = {"library", NULL}, *const vector_alu_paths[] = {"dot", "tiled", "naive", NULL};

/* ---- the cells ---- */

struct gemm {
    double size, rank; /* as_matmul_rank */
    const struct as_cell *cell;
};
struct gemms {
    struct as_rule_context *c;
    const struct as_cell **cells; /* with random operands: n in bursts, then the sustained ones, `all` in total */
    size_t n, all;
    struct gemm *by_size; /* those in bursts that have a size */
    size_t sizes;
};

static bool matmul_is_in(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* The fastest GEMM of a type at one size, by one of the paths (NULL: any). */
static const struct as_cell *matmul_best_of(const struct gemm *first, size_t n, const char *type,
                                            const char *const *paths)
{
    const struct as_cell *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(as_cell_axis(first[i].cell, "type"), type) == 0 &&
            (!paths || matmul_is_in(as_cell_axis(first[i].cell, "path"), paths)) &&
            (!best || first[i].cell->sum.median > best->sum.median))
            best = first[i].cell;
    return best;
}

struct both {
    const struct as_cell *a, *b;
};

/* The fastest of each type at the last size that both have. */
static struct both at_last_size(const struct gemms *p, const char *type_a, const char *const *paths_a,
                                const char *type_b, const char *const *paths_b)
{
    for (size_t end = p->sizes, from; end > 0; end = from) {
        for (from = end - 1; from > 0 && p->by_size[from - 1].size == p->by_size[end - 1].size; from--)
            ;
        struct both at = {matmul_best_of(p->by_size + from, end - from, type_a, paths_a),
                          matmul_best_of(p->by_size + from, end - from, type_b, paths_b)};
        if (at.a && at.b)
            return at;
    }
    return (struct both){NULL, NULL};
}

static bool matmul_has_path(const struct gemm *first, size_t n, const char *type, const char *path)
{
    const char *const paths[] = {path, NULL};
    return matmul_best_of(first, n, type, paths) != NULL;
}

/* The fastest of each type at the last size that both have, over the paths that both have there. With other sets of
 * paths the ratio would depend on which paths were measured. */
static struct both by_like_paths(const struct gemms *p, const char *type_a, const char *type_b)
{
    for (size_t end = p->sizes, from; end > 0; end = from) {
        const char *paths[PATHS_MAX + 1] = {NULL};
        size_t n = 0;
        for (from = end - 1; from > 0 && p->by_size[from - 1].size == p->by_size[end - 1].size; from--)
            ;
        for (size_t i = from; i < end && n < PATHS_MAX; i++) {
            const char *path = as_cell_axis(p->by_size[i].cell, "path");
            if (!matmul_is_in(path, paths) && matmul_has_path(p->by_size + from, end - from, type_a, path) &&
                matmul_has_path(p->by_size + from, end - from, type_b, path))
                paths[n++] = path;
        }
        if (n)
            return (struct both){matmul_best_of(p->by_size + from, end - from, type_a, paths),
                                 matmul_best_of(p->by_size + from, end - from, type_b, paths)};
    }
    return (struct both){NULL, NULL};
}

static const char *matmul_path_of(const struct as_cell *cell)
{
    return as_cell_axis(cell, "path");
}

/* ---- against the next wider type ---- */

static void add_accelerated(const struct gemms *p, const struct as_matmul_type *t, const char *wider, struct both at)
{
    static const char *const says[] = {[AS_SUPPORTED] = "1.5 times or more",
                                       [AS_REFUTED] = "less than 1.5 times",
                                       [AS_UNDECIDED] = "inconclusive, the interval includes 1.5x"};
    struct as_fact *f = as_fact_add_ratio(p->c, AS_FACT_MATMUL_ACCELERATED, at.a, at.b, AS_BY(.type = t->word));
    if (!f)
        return;
    f->verdict = as_verdict_above(f->ci, AS_MATMUL_ACCELERATED);
    bool same = strcmp(matmul_path_of(at.a), matmul_path_of(at.b)) == 0;
    as_fact_say(f, "%s GEMMs of size %s run at {value} the rate of %s (%s%s%s): %s", t->word,
                as_cell_axis(at.a, "size"), wider, same ? "both by " : matmul_path_of(at.a), same ? "" : " against ",
                matmul_path_of(at.b), says[f->verdict]);
    as_fact_gain(f, f->value, f->ci);
    if (as_fact_side(f) > 0)
        as_fact_act(f, "Use %s GEMMs where their precision suffices: they run at {gain} the rate of %s (size %s, %s)",
                    t->word, wider, as_cell_axis(at.a, "size"), matmul_path_of(at.a));
    else if (as_fact_side(f) < 0)
        as_fact_act(f, "Do not expect %s GEMMs to be faster than %s: %s runs at {gain} their rate (size %s, %s)",
                    t->word, wider, wider, as_cell_axis(at.a, "size"), matmul_path_of(at.a));
}

/* ---- which unit ---- */

/* Sustained, of this type, by one of the paths, and with power? During bursts the sensor also averages the pauses. */
static bool has_power(const struct as_cell *cell, const char *type, const char *const *paths)
{
    struct as_metric_value power;
    return strcmp(as_cell_axis(cell, "type"), type) == 0 && matmul_is_in(as_cell_axis(cell, "path"), paths) &&
           as_cell_power(cell, &power) && power.ci.lo > 0;
}

/* The fastest of these cells at this size. */
static const struct as_cell *best_with_power(const struct gemms *p, const char *type, const char *const *paths,
                                             double size)
{
    const struct as_cell *best = NULL;
    for (size_t i = p->n; i < p->all; i++)
        if (as_cell_axis_number(p->cells[i], "size") == size && has_power(p->cells[i], type, paths) &&
            (!best || p->cells[i]->sum.median > best->sum.median))
            best = p->cells[i];
    return best;
}

/* The fastest by one of the paths and on the vector ALU, at the largest size that both have. */
static struct both power_at_one_size(const struct gemms *p, const char *type, const char *const *paths,
                                     const char *vector)
{
    struct both at = {NULL, NULL};
    double largest = 0;
    for (size_t i = p->n; i < p->all; i++) {
        const double size = as_cell_axis_number(p->cells[i], "size");
        const struct both here = {best_with_power(p, type, paths, size),
                                  best_with_power(p, vector, vector_alu_paths, size)};
        if (size > largest && here.a && here.b) {
            largest = size;
            at = here;
        }
    }
    return at;
}

/* Of the path whose rate is judged, so that all signals are of one path; else of any matrix path. */
static struct both power_beside(const struct gemms *p, const char *type, const char *path, const char *vector)
{
    const char *const judged[] = {path, NULL};
    const struct both at =
        matmul_is_in(path, matrix_paths) ? power_at_one_size(p, type, judged, vector) : (struct both){NULL, NULL};
    return at.a ? at : power_at_one_size(p, type, matrix_paths, vector);
}

/* A GPU's power reading is accurate to about 5% (NVML's reference says so of nvmlDeviceGetPowerUsage). */
static const double POWER_ACCURACY = 0.05;

/* Energy per operation of a over that of b: power and rate over all trials of each. NAN: not by the same sensor. */
static double energy_ratio(const struct as_cell *a, const struct as_cell *b, struct as_interval *ci)
{
    struct as_metric_value pa, pb;
    const struct as_interval rates = as_cells_ratio(b, a);
    const double wider = (1 + POWER_ACCURACY) / (1 - POWER_ACCURACY);
    if (!as_cell_power(a, &pa) || !as_cell_power(b, &pb) || strcmp(pa.name, pb.name) != 0)
        return NAN;
    *ci = (struct as_interval){pa.ci.lo / pb.ci.hi * rates.lo / wider, pa.ci.hi / pb.ci.lo * rates.hi * wider};
    return pa.value / pb.value * b->sum.median / a->sum.median;
}

/* Three signals of whether GEMMs have a unit of their own: the rate against the vector ALU's peak, the rate against the
 * older path, and the energy per operation against the vector ALU, with the rails that the power comes from. */
enum { THROUGHPUT, OLDER_PATH, POWER, SIGNALS };
struct signals {
    struct both above, older, power;
    enum as_fact_verdict older_above; /* does the older path exceed the vector ALU's peak? */
    double energy;
    struct as_interval energy_ci;
};

/* Without arithmetic units of its own a path takes the energy of the vector ALU, but for operands. */
static const double SAME_ENERGY = 1 / 1.5;

/* "; wgmma takes 27.6x less energy per operation (25.0 to 30.5x) than tiled, size 4096" */
static void say_energy(const struct signals *s, struct as_buf *text)
{
    const bool less = s->energy < 1;
    const struct as_interval ci = s->energy_ci, inverse = {1 / ci.hi, 1 / ci.lo};
    char value[160];
    as_buf_printf(text, "; %s takes %s than %s, size %s", matmul_path_of(s->power.a),
                  as_noted_text(less ? 1 / s->energy : s->energy, less ? inverse : ci, "x",
                                less ? " less energy per operation" : " more energy per operation", "", value,
                                sizeof value),
                  matmul_path_of(s->power.b), as_cell_axis(s->power.a, "size"));
}

/* "; rails: GPU 640 W, its memory 85 W" */
static void say_rails(const struct as_cell *cell, struct as_buf *text)
{
    static const struct {
        const char *metric, *word;
    } rails[] = {{"gpu_power", "GPU"},          {"device_memory_power", "its memory"},
                 {"module_power", "module"},    {"cpu_power", "CPU"},
                 {"dram_power", "DRAM"},        {"ane_power", "neural engine"},
                 {"platform_power", "platform"}};
    const char *apart = "; rails: ";
    for (size_t i = 0; i < sizeof rails / sizeof *rails; i++) {
        struct as_metric_value v;
        if (!as_cell_metric(cell, rails[i].metric, &v))
            continue;
        as_buf_printf(text, "%s%s %.3g W", apart, rails[i].word, v.value);
        apart = ", ";
    }
}

/* Which signals there are, and what each says: supported for a matrix unit, refuted for the vector ALU. An older path
 * that is as fast stands for the same unit, whichever that is. */
static void read_signals(const struct signals *s, bool known[SIGNALS], enum as_fact_verdict says[SIGNALS])
{
    known[THROUGHPUT] = true;
    says[THROUGHPUT] = as_verdict_above(as_cells_ratio(s->above.a, s->above.b), 1);
    known[OLDER_PATH] = s->older.a != NULL;
    if (s->older.a) {
        says[OLDER_PATH] = as_verdict_above(as_cells_ratio(s->older.a, s->older.b), SAME_UNIT);
        says[OLDER_PATH] = says[OLDER_PATH] == AS_REFUTED ? s->older_above : says[OLDER_PATH];
    }
    known[POWER] = s->energy > 0;
    if (s->energy > 0) {
        const enum as_fact_verdict dear = as_verdict_above(s->energy_ci, SAME_ENERGY);
        says[POWER] = dear == AS_REFUTED ? AS_SUPPORTED : dear == AS_SUPPORTED ? AS_REFUTED : AS_UNDECIDED;
    }
}

struct judgement {
    enum as_fact_verdict verdict;
    size_t known, for_unit, against;
};

/* A rate above the vector ALU's peak decides alone, since the ALU cannot reach it. Below it, the other signals must
 * not speak for a unit. */
static struct judgement judge_unit(const struct signals *s)
{
    struct judgement j = {.verdict = AS_UNDECIDED};
    bool known[SIGNALS] = {false};
    enum as_fact_verdict says[SIGNALS] = {AS_UNDECIDED, AS_UNDECIDED, AS_UNDECIDED};
    read_signals(s, known, says);
    for (size_t i = 0; i < SIGNALS; i++) {
        j.known += known[i];
        j.for_unit += known[i] && says[i] == AS_SUPPORTED;
        j.against += known[i] && says[i] == AS_REFUTED;
    }
    if (says[THROUGHPUT] == AS_SUPPORTED)
        j.verdict = AS_SUPPORTED;
    else if (says[THROUGHPUT] == AS_REFUTED && !j.for_unit && !(known[OLDER_PATH] && says[OLDER_PATH] == AS_UNDECIDED))
        j.verdict = AS_REFUTED;
    return j;
}

/* "; 3 signals agree", or which way each points. */
static void say_agreement(const struct judgement *j, const struct signals *s, struct as_buf *text)
{
    static const char *const names[SIGNALS] = {"throughput", "older path", "power"};
    static const char *const points[] = {
        [AS_SUPPORTED] = "matrix", [AS_REFUTED] = "vector", [AS_UNDECIDED] = "inconclusive"};
    bool known[SIGNALS] = {false};
    enum as_fact_verdict says[SIGNALS] = {AS_UNDECIDED, AS_UNDECIDED, AS_UNDECIDED};
    read_signals(s, known, says);
    if (j->for_unit == j->known || j->against == j->known) {
        if (j->known > 1)
            as_buf_printf(text, "; %zu signals agree", j->known);
        else
            as_buf_str(text, "; the other signals are unknown");
        return;
    }
    as_buf_str(text, j->for_unit && j->against ? "; signals differ:" : "; signals:");
    for (size_t i = 0; i < SIGNALS; i++)
        if (known[i])
            as_buf_printf(text, "%s %s %s", i ? "," : "", names[i], points[says[i]]);
}

static void say_unit(struct as_fact *f, const char *type, const struct signals *s, const struct judgement *j)
{
    static const char *const says[] = {[AS_SUPPORTED] = "run on a matrix unit",
                                       [AS_REFUTED] = "could run on the vector ALU",
                                       [AS_UNDECIDED] = "may run on a matrix unit or not"};
    struct as_buf text = AS_BUF_INIT;
    char value[96];
    as_buf_printf(&text, "GEMMs in %s %s: %s reaches %s the peak of the vector ALU (%s)", type, says[f->verdict],
                  matmul_path_of(s->above.a), as_fact_noted_text(f, "", "", value, sizeof value),
                  as_matmul_roof_name(s->above.b));
    if (s->older.a)
        as_buf_printf(&text, "; %s the older path (%s over %s)",
                      as_fact_value_text(s->older.a->sum.median / s->older.b->sum.median,
                                         as_cells_ratio(s->older.a, s->older.b), "x", value, sizeof value),
                      matmul_path_of(s->older.a), matmul_path_of(s->older.b));
    if (s->energy > 0) {
        say_energy(s, &text);
        say_rails(s->power.a, &text);
    }
    say_agreement(j, s, &text);
    as_fact_say(f, "%s", as_buf_get(&text));
    as_buf_finish(&text);
}

static void matmul_add_unit(const struct gemms *p, const char *type, const struct signals *s)
{
    const struct as_cell *const cells[] = {s->above.a, s->above.b, s->older.a, s->older.b, s->power.a, s->power.b};
    struct as_fact *f = as_fact_add_ratio(p->c, AS_FACT_MATMUL_UNIT, s->above.a, s->above.b, AS_BY(.type = type));
    if (!f)
        return;
    const struct judgement j = judge_unit(s);
    f->verdict = j.verdict;
    say_unit(f, type, s, &j);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (cells[i])
            as_fact_evidence(f, cells[i]);
}

static void look_at_unit(const struct gemms *p, const struct as_matmul_type *t, const struct as_cell *roof)
{
    const char *type = t->word;
    /* the vector ALU has no tf32: it does the same in f32 */
    const char *vector = t->vector ? t->vector : type;
    struct signals s = {.older = at_last_size(p, type, new_paths, type, old_paths), .energy = NAN};
    if (!s.older.a)
        s.older = at_last_size(p, type, old_paths, type, oldest_paths);
    struct both same = at_last_size(p, type, NULL, type, NULL);
    if (!same.a || !roof)
        return;
    s.above = (struct both){same.a, roof};
    s.power = power_beside(p, type, matmul_path_of(same.a), vector);
    if (s.older.a)
        s.older_above = as_verdict_above(as_cells_ratio(s.older.b, roof), 1);
    if (s.power.a)
        s.energy = energy_ratio(s.power.a, s.power.b, &s.energy_ci);
    /* a CPU's dot products are vector instructions: without a matrix unit there is nothing to say */
    const bool is_cpu = p->c->info && p->c->info->capabilities & AS_CAP_HOST_KERNELS;
    if (!is_cpu || judge_unit(&s).verdict == AS_SUPPORTED)
        matmul_add_unit(p, type, &s);
}

/* Where the language has two ways to the matrix path, GEMMs show whether both use the same hardware. Where chips have
 * two kinds of instructions, their peaks show it (probe matmul_peak). */
static void look_at_older(const struct gemms *p, const char *type)
{
    static const char *const says[] = {
        [AS_SUPPORTED] = "matches", [AS_REFUTED] = "does NOT match", [AS_UNDECIDED] = "may match"};
    static const char *const tensor_paths[] = {"tensor", NULL};
    struct both at = at_last_size(p, type, old_paths, type, tensor_paths);
    struct as_fact *f = at.a ? as_fact_add_ratio(p->c, AS_FACT_MATMUL_OLDER, at.a, at.b, AS_BY(.type = type)) : NULL;
    if (!f)
        return;
    f->verdict = as_verdict_above(f->ci, 1 / SAME_UNIT);
    as_fact_say(f, "Path mma %s path tensor in %s: GEMMs of size %s by %s run at {value} the rate of %s",
                says[f->verdict], type, as_cell_axis(at.a, "size"), matmul_path_of(at.a), matmul_path_of(at.b));
}

/* ---- against the library ---- */

static void add_library(const struct gemms *p, const char *type)
{
    struct both at = at_last_size(p, type, own_paths, type, library_paths);
    if (!at.a)
        at = at_last_size(p, type, vector_alu_paths, type, library_paths);
    struct as_fact *f = at.a ? as_fact_add_ratio(p->c, AS_FACT_MATMUL_LIBRARY, at.a, at.b, AS_BY(.type = type)) : NULL;
    if (!f)
        return;
    f->verdict = as_verdict_above(f->ci, RESPECTED);
    as_fact_say(f,
                as_verdict_above(f->ci, 1) == AS_UNDECIDED
                    ? "%s GEMMs of size %s by path %s and by the library {tied}: {wide}{value} the rate of the library"
                    : "%s GEMMs of size %s by path %s run at {value} the rate of the library",
                type, as_cell_axis(at.a, "size"), matmul_path_of(at.a));
}

static void compare_with_wider(const struct gemms *p, const struct as_matmul_type *t)
{
    for (size_t w = 0; w < AS_MATMUL_WIDER && t->wider[w]; w++) {
        struct both at = by_like_paths(p, t->word, t->wider[w]);
        if (!at.a)
            continue;
        add_accelerated(p, t, t->wider[w], at);
        return;
    }
}

static bool is_burst(const struct as_cell *cell)
{
    return as_cell_is(cell, "hold", "burst");
}

/* Bursts first, then sustained cells; cells with other operands are dropped. */
static void sort_cells(struct gemms *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(p->cells[i], "operands", "random"))
            p->cells[p->all++] = p->cells[i];
    for (size_t i = 0; i < p->all; i++)
        if (is_burst(p->cells[i])) {
            const struct as_cell *burst = p->cells[i];
            p->cells[i] = p->cells[p->n];
            p->cells[p->n++] = burst;
        }
}

static int by_rank(const void *a, const void *b)
{
    const struct gemm *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (p->cell > q->cell) - (p->cell < q->cell); /* the earlier cell in the run */
}

static void sort_by_size(struct gemms *p)
{
    p->by_size = calloc(p->n + 1, sizeof *p->by_size);
    if (!p->by_size) {
        p->c->status = as_nomem(p->c->err, p->n * sizeof *p->by_size, "products");
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        const double size = as_cell_axis_number(p->cells[i], "size");
        if (size > 0)
            p->by_size[p->sizes++] = (struct gemm){size, as_matmul_rank(p->c, p->cells[i]), p->cells[i]};
    }
    if (p->sizes > 1)
        qsort(p->by_size, p->sizes, sizeof *p->by_size, by_rank);
}

static void derive_matmul(struct as_rule_context *c)
{
    struct as_matmul_roofs roofs;
    struct gemms p = {.c = c};
    const size_t n = as_cells_of(c, "matmul", &p.cells);
    as_matmul_roofs_make(c, &roofs);
    sort_cells(&p, n);
    sort_by_size(&p);
    for (const struct as_matmul_type *t = as_matmul_types; t->word && p.n; t++) {
        compare_with_wider(&p, t);
        look_at_unit(&p, t, as_matmul_ceiling(&roofs, t));
        look_at_older(&p, t->word);
        add_library(&p, t->word);
    }
    as_matmul_roofs_free(&roofs);
    free(p.by_size);
    free(p.cells);
}

const struct as_rule as_rules_matmul[] = {
    {"matrix multiplication", derive_matmul,
     "the fastest valid GEMM of random operands in bursts, at the data sheet's size, else the largest common one: a "
     "type must reach 1.5 times the rate of the "
     "next wider type, among paths measured with both; three signals "
     "judge its unit: a rate above the peak of the vector ALU (s8: of its dot products of four bytes or, where it has "
     "none, the faster of 32-bit multiply-adds and floating point), which decides; "
     "a "
     "gain of 1.5 times over the older path, or an older path above that peak; less than 1/1.5 of the energy per "
     "operation of the vector ALU, sustained, "
     "by the device's sensor; own kernels compared with the library's",
     "a faster GEMM of the wider type, or on the vector ALU, that passes the same gates"},
    {0},
};
