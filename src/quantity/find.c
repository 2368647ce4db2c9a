/* Which cell or fact of a run gives a quantity. */
#include "base/text.h"
#include "model/metrics.h"
#include "quantity/quantity.h"
#include "quantity/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A fact whose interval is wider than this share of the value is marked, whatever was requested. */
static const double WIDE = 0.2;

/* The first device of a backend measures what all do together. */
static bool is_first(const struct as_device_info *info)
{
    const char *colon = strchr(info->id, ':');
    return !colon || strcmp(colon, ":0") == 0;
}

bool as_quantity_is_expected(const struct as_quantity_subject *s, const struct as_quantity *q)
{
    bool of_side = false;
    for (const struct as_quantity_source *source = q->sources; source->from; source++)
        of_side |= as_quantity_is_of_side(s, source->side);
    if (!s->info || !of_side)
        return false;
    if (strcmp(q->level, "memory_side") == 0)
        return as_info_memory_side(s->info) != NULL;
    if (strncmp(q->name, "peer.", strlen("peer.")) == 0)
        return s->info->siblings > 1;
    if (strncmp(q->name, "host_link.every.", strlen("host_link.every.")) == 0)
        return s->info->siblings > 1 && (s->info->capabilities & AS_CAP_TEAM) && is_first(s->info);
    if (strncmp(q->name, "collective.", strlen("collective.")) == 0)
        return s->info->siblings > 1 && (s->info->collectives[0] || s->info->collectives_why[0]);
    if (strncmp(q->name, "numa.", strlen("numa.")) == 0)
        return s->info->numa_nodes > 1;
    const struct as_cache *l3 = as_info_cache_at(s->info, 3);
    return strcmp(q->level, "L3") != 0 || (l3 && !l3->memory_side);
}

void as_quantity_use_clock(struct as_quantity_subject *s)
{
    const struct as_fact *clock = as_fact_find(s->facts, s->facts_n, s->device, "clock.core");
    s->clock_hz = clock ? clock->value : NAN;
}

/* ---- cells ---- */

const struct as_cell *as_quantity_cell_at(const struct as_quantity_subject *s, size_t i)
{
    return s->cells.v ? &s->cells.v[i] : s->cells.p[i];
}

static const struct as_cell *find_cell(const struct as_quantity_subject *s, int64_t id)
{
    for (size_t i = 0; i < s->cells.n; i++)
        if (as_quantity_cell_at(s, i)->id == id)
            return as_quantity_cell_at(s, i);
    return NULL;
}

bool as_quantity_is_of_level(const struct as_quantity_subject *s, const struct as_cell *c, const char *level)
{
    const bool cache = level[0] == 'L';
    const uint64_t bytes = cache && s->info ? as_info_cache(s->info, (unsigned)(level[1] - '0')) : 0;
    const double size = as_axes_number(&c->axes, "size");
    if (strcmp(level, "memory") == 0 && isfinite(size)) /* others miss by construction */
        return as_main_memory_holds(s->info, s->cells, c);
    return !bytes || !isfinite(size) || size <= (double)bytes;
}

/* The largest of memory; of an axis that the source leaves open and names, the best. */
bool as_quantity_is_preferred(const struct as_cell *a, const struct as_cell *b)
{
    const double x = as_axes_number(&a->axes, "size"), y = as_axes_number(&b->axes, "size");
    return isfinite(x) && isfinite(y) && x != y ? x > y : as_cell_is_better(a, b);
}

static bool is_on_small_pages(const struct as_quantity_subject *s, const struct as_cell *c)
{
    const double got = as_detail_number(c->detail, "page_size");
    return s->info && s->info->page_size && got > 0 && got <= (double)s->info->page_size &&
           as_allocator_role(c->device, as_axes_text(&c->axes, "allocator")) == AS_ROLE_HUGE_PAGES;
}

enum { OTHERS_MAX = 32, OTHERS_NAMED = 3 }; /* peers besides the best; more than these are said as a range */

/* What works beside a victim, and in which memory where that is the other's. */
static const struct {
    const char *word, *said;
    bool copies;
} aggressors[] = {{"read", "reads", false},
                  {"write", "writes", false},
                  {"write_nt", "non-temporal writes", false},
                  {"atomic", "atomic additions", false},
                  {"chase", "a pointer chase", false},
                  {"h2d", "copies to the device", true},
                  {"d2h", "copies from the device", true}};

static void name_aggressor(const struct as_cell *c, const char *word, struct as_buf *out)
{
    size_t i = 0;
    while (i + 1 < sizeof aggressors / sizeof *aggressors && strcmp(aggressors[i].word, word) != 0)
        i++;
    const enum as_role memory = as_allocator_role(c->device, as_axes_text(&c->axes, "allocator"));
    as_buf_printf(out, "beside %s", strcmp(aggressors[i].word, word) == 0 ? aggressors[i].said : word);
    if (strcmp(as_axes_text(&c->axes, "victim"), "device") == 0)
        as_buf_str(out, " of the CPU");
    else if (!aggressors[i].copies && (memory == AS_ROLE_DEVICE || memory == AS_ROLE_PINNED))
        as_buf_printf(out, " of %s memory", memory == AS_ROLE_DEVICE ? "device" : "pinned");
}

static void name_axis(const struct as_cell *c, const char *axis, char *out, size_t size)
{
    const struct as_axis_value *v = c && axis ? as_axes_get(&c->axes, axis) : NULL;
    struct as_buf b = AS_BUF_INIT;
    if (v && strcmp(axis, "size") == 0 && v->number > 0) {
        as_buf_str(&b, "over ");
        as_format_size(&b, as_axes_u64(&c->axes, axis));
    } else if (v && strcmp(axis, "peer") == 0)
        as_buf_printf(&b, "with device %s", v->text);
    else if (v && strcmp(axis, "aggressor") == 0)
        name_aggressor(c, v->text, &b);
    else if (v)
        as_buf_str(&b, v->text);
    char *note = c && axis && !v ? as_cell_note_text(c, axis) : NULL;
    as_copy_text(out, size, note ? note : as_buf_get(&b));
    free(note);
    as_buf_finish(&b);
}

static void take_cell(const struct as_quantity_subject *s, const struct as_cell *c, const struct as_quantity *q,
                      const struct as_quantity_source *source, struct as_quantity_value *out)
{
    *out = (struct as_quantity_value){.of = q,
                                      .source = source,
                                      .counted = NAN,
                                      .value = c->sum.median,
                                      .claimed = NAN,
                                      .ci = c->sum.ci,
                                      .wide = c->status == AS_CELL_WIDE,
                                      .decided = true,
                                      .trials = c->sum.trials,
                                      .tried = (size_t)c->trials_done,
                                      .modes = c->sum.modes,
                                      .mode = {c->sum.mode[0], c->sum.mode[1]},
                                      .mode_share0 = c->sum.mode_share0,
                                      .cell = c->id,
                                      .on_small_pages = is_on_small_pages(s, c)};
    as_copy_text(out->unit, sizeof out->unit, c->unit);
    name_axis(c, source->named, out->named, sizeof out->named);
}

/* ---- sources ---- */

static enum as_quantity_found from_cells(const struct as_quantity_subject *s, const struct as_quantity_source *source,
                                         const struct as_quantity *q, struct as_quantity_value *out,
                                         struct as_buf *reason)
{
    const struct as_cell *found = NULL;
    const bool worst = strstr(source->from, "=" AS_QUANTITY_WORST);
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct as_cell *c = as_quantity_cell_at(s, i);
        if (as_cell_is_evidence(c) && as_quantity_is_cell_of(s, c, source->from) &&
            as_quantity_is_of_level(s, c, q->level) &&
            (!found || (worst ? as_cell_is_better(found, c) : as_quantity_is_preferred(c, found))))
            found = c;
    }
    if (!found)
        return as_quantity_explain(s, q, source, reason);
    take_cell(s, found, q, source, out);
    if (q->claimed && found->limit > 0 && isfinite(as_detail_number(found->detail, "per_unit_cycle")))
        out->claimed = found->limit; /* at the highest clock */
    return AS_QUANTITY_FOUND;
}

/* The trials that a fact rests on: those of its cell that has most; of a ratio, which no cell carries alone, the first.
 */
static void count_trials(const struct as_quantity_subject *s, const struct as_fact *f, size_t *trials, size_t *tried)
{
    const size_t n = strcmp(f->unit, "x") == 0 ? f->evidence_n > 0 : f->evidence_n;
    for (size_t i = 0; i < n; i++) {
        const struct as_cell *cell = find_cell(s, f->evidence[i]);
        if (cell && (i == 0 || cell->sum.trials > *trials)) {
            *trials = cell->sum.trials;
            *tried = (size_t)cell->trials_done;
        }
    }
}

static bool from_fact(const struct as_quantity_subject *s, const struct as_quantity *q,
                      const struct as_quantity_source *source, struct as_quantity_value *out)
{
    char id[128];
    as_quantity_expand(s, source->from, id, sizeof id);
    const struct as_fact *f = as_fact_find(s->facts, s->facts_n, s->device, id);
    if (!f || !isfinite(f->value))
        return false;
    const bool decided = f->verdict != AS_UNDECIDED;
    if (!decided && strcmp(f->unit, "B") == 0) /* a capacity that nothing confirms is none */
        return false;
    const struct as_cell *cell = f->evidence_n ? find_cell(s, f->evidence[0]) : NULL;
    *out = (struct as_quantity_value){
        .of = q,
        .source = source,
        .fact = f,
        .counted = NAN,
        .value = f->value,
        .claimed = f->claimed,
        .ci = f->ci,
        .wide = strcmp(f->unit, "Hz") != 0 && strcmp(f->unit, "B") != 0 &&
                ((cell && cell->status == AS_CELL_WIDE) || f->ci.hi - f->ci.lo > WIDE * fabs(f->value)),
        .decided = decided,
        .refuted = f->verdict == AS_REFUTED,
        .cell = f->evidence_n == 1 ? f->evidence[0] : 0};
    count_trials(s, f, &out->trials, &out->tried);
    as_copy_text(out->unit, sizeof out->unit, f->unit);
    name_axis(cell, source->named, out->named, sizeof out->named);
    return true;
}

/* A capacity that the fact knows too badly to confirm what is reported. */
static bool say_vague(const struct as_quantity_subject *s, const struct as_quantity_source *source,
                      struct as_buf *reason)
{
    char id[128];
    as_quantity_expand(s, source->from, id, sizeof id);
    const struct as_fact *f = as_fact_find(s->facts, s->facts_n, s->device, id);
    if (!f || !isfinite(f->value) || !isfinite(f->ci.lo) || !isfinite(f->ci.hi))
        return false;
    as_buf_str(reason, "inconclusive: between ");
    as_format_size(reason, (uint64_t)as_range_end(f->ci.lo, "B"));
    as_buf_str(reason, " and ");
    as_format_size(reason, (uint64_t)as_range_end(f->ci.hi, "B"));
    return true;
}

static enum as_quantity_found from_source(const struct as_quantity_subject *s, const struct as_quantity *q,
                                          const struct as_quantity_source *source, struct as_quantity_value *out,
                                          struct as_buf *reason)
{
    as_buf_clear(reason);
    if (strchr(source->from, ' '))
        return from_cells(s, source, q, out, reason);
    if (from_fact(s, q, source, out))
        return AS_QUANTITY_FOUND;
    if (say_vague(s, source, reason))
        return AS_QUANTITY_UNDECIDED;
    return source->cells ? as_quantity_explain(s, q, source, reason) : AS_QUANTITY_NOT_IN_SUITE;
}

/* ---- units ---- */

static void scale_value(struct as_quantity_value *n, double by, const char *unit)
{
    by *= n->of->counts;
    n->counted = n->value * n->of->counts; /* both count what the quantity calls an operation */
    as_copy_text(n->counted_unit, sizeof n->counted_unit, n->unit);
    n->value *= by;
    n->ci.lo *= by;
    n->ci.hi *= by;
    n->claimed = NAN;
    as_copy_text(n->unit, sizeof n->unit, unit);
}

/* Cycles to ns, and B/cycle per compute unit to GB/s of the device, at the measured clock. */
static void convert_by_clock(const struct as_quantity_subject *s, struct as_quantity_value *n)
{
    if (!(s->clock_hz > 0) || as_unit_is_of_cycles(n->of->unit))
        return;
    if (strcmp(n->unit, "cycles") == 0)
        scale_value(n, 1e9 / s->clock_hz, "ns");
    else if (strcmp(n->unit, "B/cycle") == 0 && s->info && s->info->compute_units)
        scale_value(n, s->clock_hz * s->info->compute_units * 1e-9, "GB/s");
    else if (strcmp(n->unit, "ops/cycle") == 0 && strcmp(n->of->unit, "OP/s") == 0 && s->info && s->info->compute_units)
        scale_value(n, s->clock_hz * s->info->compute_units, "OP/s");
}

/* ---- over the runs of a machine ---- */

static const struct as_quantity_joined *find_joined(const struct as_quantity_subject *s, const struct as_quantity *q)
{
    for (size_t i = 0; i < s->joined_n; i++)
        if (s->joined[i].of == q && strcmp(s->joined[i].device, s->device) == 0)
            return &s->joined[i];
    return NULL;
}

/* Where this run has no number, one of another run of the machine is a number all the same. */
static void take_joined_alone(const struct as_quantity_subject *s, const struct as_quantity_joined *j,
                              struct as_quantity_value *v)
{
    const struct as_quantity_source *source = j->of->sources;
    while (source[1].from && !as_quantity_is_of_side(s, source->side))
        source++;
    *v = (struct as_quantity_value){.of = j->of, .source = source, .claimed = NAN, .counted = NAN, .decided = true};
    as_copy_text(v->unit, sizeof v->unit, j->unit);
}

/* Without "per SM". */
static void take_joined_count(const struct as_quantity_joined *j, struct as_quantity_value *v)
{
    const size_t n = strcspn(j->counted_unit, " ");
    v->counted = j->counted;
    as_copy_text(v->counted_unit, n < sizeof v->counted_unit ? n + 1 : sizeof v->counted_unit, j->counted_unit);
}

static enum as_quantity_found take_joined(const struct as_quantity_subject *s, const struct as_quantity *q,
                                          enum as_quantity_found found, struct as_quantity_value *v)
{
    const struct as_quantity_joined *j = find_joined(s, q);
    if (!j || (found == AS_QUANTITY_FOUND && strcmp(j->unit, v->unit) != 0))
        return found;
    if (found != AS_QUANTITY_FOUND)
        take_joined_alone(s, j, v);
    v->value = j->value;
    v->ci = j->ci;
    v->trials = j->trials;
    v->tried = j->tried;
    take_joined_count(j, v);
    v->modes = j->modes;
    v->of_runs = j->of_runs;
    v->mode[0] = j->mode[0];
    v->mode[1] = j->mode[1];
    v->mode_share0 = j->mode_share0;
    return AS_QUANTITY_FOUND;
}

/* The first source of the device's side that its hardware can have decides; where it can have none, the first says
 * why. */
enum as_quantity_found as_quantity_find(const struct as_quantity_subject *s, const struct as_quantity *q,
                                        struct as_quantity_value *out, struct as_buf *reason)
{
    enum as_quantity_found state = AS_QUANTITY_NOT_IN_SUITE;
    struct as_buf why = AS_BUF_INIT;
    *out = (struct as_quantity_value){.of = q, .value = NAN, .claimed = NAN, .ci = {NAN, NAN}, .counted = NAN};
    as_buf_clear(reason);
    for (const struct as_quantity_source *source = q->sources; source->from; source++) {
        if (!as_quantity_is_of_side(s, source->side))
            continue;
        const enum as_quantity_found found = from_source(s, q, source, out, &why);
        if (found == AS_QUANTITY_NOT_IN_SUITE && state == AS_QUANTITY_NOT_IN_SUITE && !reason->len)
            as_buf_str(reason, as_buf_get(&why)); /* why what was measured is not asked for it */
        if (found == AS_QUANTITY_NOT_IN_SUITE || (found == AS_QUANTITY_IMPOSSIBLE && state == AS_QUANTITY_IMPOSSIBLE))
            continue;
        state = found;
        as_buf_clear(reason);
        as_buf_str(reason, as_buf_get(&why));
        if (found != AS_QUANTITY_IMPOSSIBLE)
            break;
    }
    as_buf_finish(&why);
    if (state == AS_QUANTITY_FOUND)
        convert_by_clock(s, out);
    state = take_joined(s, q, state, out);
    if (state == AS_QUANTITY_FOUND)
        as_buf_clear(reason);
    return state;
}

/* The best cell of each other value of the axis that the source names; returns how many. */
static size_t others_of(const struct as_quantity_subject *s, const struct as_quantity_value *v,
                        const struct as_cell *best[OTHERS_MAX])
{
    const char *axis = v->source->named;
    const struct as_cell *own = find_cell(s, v->cell);
    size_t n = 0;
    for (size_t i = 0; own && i < s->cells.n; i++) {
        const struct as_cell *c = as_quantity_cell_at(s, i);
        const char *name = as_axes_text(&c->axes, axis);
        size_t k = 0;
        if (!as_cell_is_evidence(c) || !as_quantity_is_cell_of(s, c, v->source->from) ||
            strcmp(name, as_axes_text(&own->axes, axis)) == 0)
            continue;
        while (k < n && strcmp(as_axes_text(&best[k]->axes, axis), name) != 0)
            k++;
        if (k < OTHERS_MAX && (k == n || as_quantity_is_preferred(c, best[k])))
            best[k] = c;
        n += k == n && n < OTHERS_MAX;
    }
    return n;
}

void as_quantity_other_peers(const struct as_quantity_subject *s, const struct as_quantity_value *v, struct as_buf *out)
{
    const struct as_cell *best[OTHERS_MAX];
    const char *axis = v->source ? v->source->named : NULL;
    const size_t n = axis && strcmp(axis, "peer") == 0 ? others_of(s, v, best) : 0;
    struct as_interval all = {INFINITY, -INFINITY};
    size_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        worst = as_cell_is_better(best[worst], best[i]) ? i : worst;
        const struct as_number number = as_number_of_cell(best[i]);
        all = (struct as_interval){fmin(all.lo, best[i]->sum.median), fmax(all.hi, best[i]->sum.median)};
        if (n > OTHERS_NAMED)
            continue;
        as_buf_printf(out, "%sdevice %s ", i ? ", " : "", as_axes_text(&best[i]->axes, axis));
        as_number_brief(&number, out);
    }
    if (n > OTHERS_NAMED) {
        as_buf_printf(out, "%zu others ", n);
        as_format_range(out, all.lo, all.hi, all.hi, best[0]->unit, 3);
        as_buf_printf(out, ", worst with device %s", as_axes_text(&best[worst]->axes, axis));
    }
}

struct as_number as_quantity_number(const struct as_quantity_value *v)
{
    return (struct as_number){.value = v->value,
                              .ci = v->ci,
                              .unit = v->unit,
                              .trials = v->trials,
                              .tried = v->tried,
                              .modes = v->modes,
                              .of_runs = v->of_runs,
                              .mode = {v->mode[0], v->mode[1]},
                              .share0 = v->mode_share0};
}

bool as_quantity_get(const struct as_quantity_subject *s, const char *name, struct as_quantity_value *out)
{
    const struct as_quantity *q = as_quantity_named(name);
    struct as_buf reason = AS_BUF_INIT;
    const bool found = q && as_quantity_find(s, q, out, &reason) == AS_QUANTITY_FOUND;
    as_buf_finish(&reason);
    return found;
}

/* Which cells a source of the device's side needs; NULL: none that are known. */
static const char *cells_of(const struct as_quantity_subject *s, const struct as_quantity_source *source, bool alone)
{
    if (!as_quantity_is_of_side(s, source->side))
        return NULL;
    return strchr(source->from, ' ') ? source->from : alone ? NULL : source->cells;
}

const struct as_quantity *as_quantity_of_cell(const struct as_quantity_subject *s, const struct as_cell *c, bool alone)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *source = q->sources; source->from; source++) {
            const char *cells = cells_of(s, source, alone);
            if (cells && as_quantity_is_cell_of(s, c, cells))
                return q;
        }
    return NULL;
}

bool as_quantity_awaits_cells(const struct as_quantity_subject *s, const struct as_quantity *q)
{
    for (size_t i = 0; i < s->cells.n; i++) {
        const struct as_cell *c = as_quantity_cell_at(s, i);
        for (const struct as_quantity_source *source = q->sources; source->from && c->status == AS_CELL_PLANNED;
             source++) {
            const char *cells = cells_of(s, source, false);
            if (cells && as_quantity_is_cell_of(s, c, cells))
                return true;
        }
    }
    return false;
}

/* ---- the roofline ---- */

const struct as_peak as_peaks[] = {{"compute.fp64", "f64"}, {"compute.fp32", "f32"}, {"compute.fp16", "f16"}, {0}};

size_t as_quantity_roofs(const struct as_quantity_subject *s, struct as_quantity_value out[AS_ROOFS_MAX])
{
    size_t n = 0;
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        struct as_quantity_value v;
        size_t k = 0;
        if (!q->roof || !as_quantity_get(s, q->name, &v) || strcmp(v.unit, q->unit) != 0 || v.refuted)
            continue;
        while (k < n && strcmp(out[k].of->level, q->level) != 0)
            k++;
        if (k < AS_ROOFS_MAX && (k == n || v.value > out[k].value))
            out[k] = v;
        n += k == n && n < AS_ROOFS_MAX;
    }
    return n;
}
