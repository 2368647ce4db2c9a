#include "report/sheet/runs_compare.h"

#include "base/text.h"
#include "report/sheet/machine_state.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double as_compare_tolerance = 0.03;

static const double TO_DIFFER = 0.99; /* hundreds of cells are compared */
enum { DEVICES_MAX = 64 };

/* ---- one measurement ---- */

/* The number as one of the machine, with what varies between its runs. */
static unsigned compare_join(const struct as_cell *c, struct as_between between, double carry, struct as_estimated *out)
{
    struct as_joined joined;
    *out = (struct as_estimated){c->sum.median * carry, {c->sum.ci.lo * carry, c->sum.ci.hi * carry}};
    const unsigned df = as_trials_df(c->sum.trials);
    if (c->sum.ci.lo == c->sum.ci.hi || !as_join_runs(out, 1, between, &joined)) /* exact, or not above 0 */
        return df;
    *out = (struct as_estimated){joined.value, joined.ci};
    return as_joined_df(&joined, between, df);
}

static bool is_same_host(const struct as_run *a, const struct as_run *b)
{
    struct as_machine_state x = as_machine_state_of(a), y = as_machine_state_of(b);
    const bool same = as_machine_state_is_same_host(&x, &y);
    as_machine_state_finish(&x);
    as_machine_state_finish(&y);
    return same;
}

struct as_comparing as_comparing_of(const struct as_run *a, const struct as_run *b, double tolerance)
{
    return (struct as_comparing){.hz_a = a->reference_hz,
                                 .hz_b = b->reference_hz,
                                 .is_same_run = as_run_is_same(a, b),
                                 .is_same_host = is_same_host(a, b),
                                 .virtual_machine = as_machine_is_virtual(a) || as_machine_is_virtual(b),
                                 .tolerance = tolerance};
}

bool as_cells_compare(const struct as_comparing *by, const struct as_cell *a, const struct as_cell *b,
                      struct as_comparison *out)
{
    if (by->is_same_run && a->sum.median == b->sum.median) {
        *out = (struct as_comparison){1, {1, 1}, AS_SAME, {1, 1}, {1, 1}};
        return false;
    }
    const struct as_between between = as_cell_between(a, by->virtual_machine);
    const double carry = as_clock_carry(b->exponent, !b->lower_is_better, by->hz_b, by->hz_a);
    struct as_estimated x, y;
    const unsigned df_a = compare_join(a, between, 1, &x), df_b = compare_join(b, between, carry, &y);
    as_compare_numbers(&x, &y, df_a < df_b ? df_a : df_b, TO_DIFFER, a->lower_is_better, by->tolerance, out);
    const bool two_states = (out->verdict == AS_FASTER || out->verdict == AS_SLOWER) && by->is_same_host &&
                            as_cell_has_states(a) && as_between_may_be_states(out->ratio);
    if (two_states)
        out->verdict = AS_CANNOT_TELL;
    return two_states;
}

/* ---- all of them ---- */

struct devices {
    const struct as_cell *v[DEVICES_MAX]; /* one cell per device */
    size_t n;
};

static bool find_device(const struct devices *d, const char *device)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->v[i]->device, device) == 0)
            return true;
    return false;
}

static void compare_list_devices(const struct as_report_run *s, struct devices *out)
{
    out->n = 0;
    for (size_t i = 0; i < s->cells_n && out->n < DEVICES_MAX; i++)
        if (!find_device(out, s->cells[i].device))
            out->v[out->n++] = &s->cells[i];
}

/* The only device of a backend that is in `of` but not in `other`; NULL when there are none or several. */
static const char *compare_left_over(const struct devices *of, const struct devices *other, const char *backend)
{
    const char *found = NULL;
    for (size_t i = 0; i < of->n; i++) {
        if (strcmp(of->v[i]->backend, backend) != 0 || find_device(other, of->v[i]->device))
            continue;
        if (found)
            return NULL;
        found = of->v[i]->device;
    }
    return found;
}

struct entry {
    const char *device;
    uint64_t key;
    const struct as_cell *cell;
    bool taken;
};

static int compare_by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp(x->device, y->device);
}

static struct entry *look_up(struct entry *entries, size_t n, const char *device, uint64_t key)
{
    struct entry want = {.device = device, .key = key};
    return n ? bsearch(&want, entries, n, sizeof *entries, compare_by_key) : NULL;
}

static bool is_regression(const struct as_comparison *c, bool lower_is_better, double limit)
{
    if (isnan(c->ratio)) /* exact numbers, one of them 0 */
        return limit >= 0 && c->verdict == AS_SLOWER;
    if (limit < 0 || !isfinite(c->differ.lo) || !isfinite(c->differ.hi))
        return false;
    return lower_is_better ? c->differ.lo > 1 + limit : c->differ.hi < 1 / (1 + limit);
}

/* "source_hash" of the notes: the hash of the kernel's source. */
static json_t *compare_source_of(const struct as_cell *c, json_t **notes)
{
    *notes = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    return json_object_get(*notes, "source_hash");
}

static bool is_other_kernel(const struct as_cell *a, const struct as_cell *b)
{
    json_t *notes_a, *notes_b;
    const json_t *x = compare_source_of(a, &notes_a), *y = compare_source_of(b, &notes_b);
    const bool other = json_is_string(x) && json_is_string(y) && !json_equal(x, y);
    json_decref(notes_a);
    json_decref(notes_b);
    return other;
}

static void compare_pair(const struct as_comparing *by, double limit, struct as_pair *p)
{
    const struct as_cell *a = p->a, *b = p->b;
    p->comparison = (struct as_comparison){
        .ratio = NAN, .ci = {NAN, NAN}, .verdict = AS_CANNOT_TELL, .differ = {NAN, NAN}, .shown = {NAN, NAN}};
    if (!a || !b) {
        p->match = a ? AS_MATCH_ONLY_A : AS_MATCH_ONLY_B;
        return;
    }
    if (!as_cell_is_valid(a) || !as_cell_is_valid(b)) {
        p->match = AS_MATCH_NO_NUMBER;
        return;
    }
    p->match = AS_MATCH_BOTH;
    p->two_states = as_cells_compare(by, a, b, &p->comparison);
    p->regression = !p->two_states && is_regression(&p->comparison, a->lower_is_better, limit);
    p->other_kernel =
        (p->comparison.verdict == AS_FASTER || p->comparison.verdict == AS_SLOWER) && is_other_kernel(a, b);
}

static void compare_add_pair(struct as_pairs *out, const struct as_comparing *by, double limit, const struct as_cell *a,
                             const struct as_cell *b)
{
    struct as_pair *p = &out->v[out->n++];
    *p = (struct as_pair){.a = a, .b = b};
    compare_pair(by, limit, p);
    out->matches[p->match]++;
    if (p->match == AS_MATCH_BOTH)
        out->verdicts[p->comparison.verdict]++;
    out->regressions += p->regression;
    out->other_kernels += p->other_kernel;
    out->two_states += p->two_states;
}

/* The name that a's device has in b; records the pair when the names differ. */
static const char *name_in_b(const struct devices *da, const struct devices *db, const struct as_cell *c,
                             struct as_pairs *out)
{
    if (find_device(db, c->device))
        return c->device;
    const char *left_a = compare_left_over(da, db, c->backend), *left_b = compare_left_over(db, da, c->backend);
    if (!left_a || !left_b)
        return c->device;
    if (!out->renamed[0]) {
        struct as_buf text = AS_BUF_INIT;
        as_buf_printf(&text, "%s with %s", left_a, left_b);
        as_copy_text(out->renamed, sizeof out->renamed, as_buf_get(&text));
        as_buf_finish(&text);
    }
    return left_b;
}

enum as_status as_compare_runs(const struct as_report_run *a, const struct as_report_run *b, double tolerance,
                               double limit, struct as_pairs *out, struct as_error *err)
{
    struct devices da, db;
    const struct as_comparing by = as_comparing_of(&a->run, &b->run, tolerance);
    *out = (struct as_pairs){0};
    struct entry *entries = calloc(b->cells_n + 1, sizeof *entries);
    out->v = calloc(a->cells_n + b->cells_n + 1, sizeof *out->v);
    if (!entries || !out->v) {
        free(entries);
        as_pairs_finish(out);
        return as_nomem(err, (a->cells_n + b->cells_n + 1) * sizeof *out->v, "a comparison");
    }
    compare_list_devices(a, &da);
    compare_list_devices(b, &db);
    for (size_t i = 0; i < b->cells_n; i++)
        entries[i] = (struct entry){b->cells[i].device, b->cells[i].key, &b->cells[i], false};
    qsort(entries, b->cells_n, sizeof *entries, compare_by_key);
    for (size_t i = 0; i < a->cells_n; i++) {
        const struct as_cell *c = &a->cells[i];
        struct entry *e = look_up(entries, b->cells_n, name_in_b(&da, &db, c, out), c->key);
        if (e && e->taken)
            e = NULL;
        if (e)
            e->taken = true;
        compare_add_pair(out, &by, limit, c, e ? e->cell : NULL);
    }
    for (size_t i = 0; i < b->cells_n; i++) {
        struct entry *e = look_up(entries, b->cells_n, b->cells[i].device, b->cells[i].key);
        if (e && !e->taken)
            compare_add_pair(out, &by, limit, NULL, &b->cells[i]);
    }
    free(entries);
    return AS_OK;
}

void as_pairs_finish(struct as_pairs *p)
{
    free(p->v);
    *p = (struct as_pairs){0};
}

/* How far it certainly is from no difference: by the end of the interval that is nearest to it. */
static double distance(const struct as_pair *p)
{
    const struct as_interval ci = as_comparison_interval(&p->comparison);
    const double ratio = p->comparison.ratio;
    if (isnan(ratio))
        return INFINITY;
    return ci.lo > 0 && isfinite(ci.hi) ? fmin(fabs(log(ci.lo)), fabs(log(ci.hi))) : fabs(log(ratio));
}

static int by_distance(const void *a, const void *b)
{
    const struct as_pair *p = *(const struct as_pair *const *)a, *q = *(const struct as_pair *const *)b;
    const double x = distance(p), y = distance(q);
    return x != y ? (x > y ? -1 : 1) : (p > q) - (p < q);
}

size_t as_pairs_differing(const struct as_pairs *p, const struct as_pair **out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const enum as_verdict verdict = p->v[i].comparison.verdict;
        if (p->v[i].match == AS_MATCH_BOTH && (verdict == AS_FASTER || verdict == AS_SLOWER))
            out[n++] = &p->v[i];
    }
    qsort(out, n, sizeof(const struct as_pair *), by_distance);
    return n;
}

void as_pairs_text(const struct as_pairs *p, struct as_buf *out)
{
    const size_t *v = p->verdicts;
    as_buf_printf(out, "%zu measurement%s compared: %zu same, %zu faster, %zu slower, %zu inconclusive",
                  p->matches[AS_MATCH_BOTH], p->matches[AS_MATCH_BOTH] == 1 ? "" : "s", v[AS_SAME], v[AS_FASTER],
                  v[AS_SLOWER], v[AS_CANNOT_TELL]);
}

/* ---- the data sheet ---- */

enum as_status as_compare_sheets(const struct as_report_run *a, const struct as_report_run *b, double tolerance,
                                 struct as_sheets_compared *out, struct as_error *err)
{
    *out = (struct as_sheets_compared){.check = {.v = NULL}};
    enum as_status st = as_machine_sheet_make(a, &out->a, err);
    if (!st)
        st = as_machine_sheet_make(b, &out->b, err);
    if (!st)
        st = as_sheet_check(&out->a, &out->b, tolerance, &out->check, err);
    if (!st && is_same_host(&a->run, &b->run))
        as_check_leave_states(&out->check);
    if (st)
        as_sheets_compared_finish(out);
    return st;
}

void as_sheets_compared_finish(struct as_sheets_compared *s)
{
    as_check_finish(&s->check);
    as_machine_sheet_finish(&s->a);
    as_machine_sheet_finish(&s->b);
}

void as_sheets_compared_text(const struct as_sheets_compared *s, struct as_buf *out)
{
    const size_t *n = s->check.counts;
    const size_t compared = n[AS_CHECK_SAME] + n[AS_CHECK_BETTER] + n[AS_CHECK_WORSE] + n[AS_CHECK_UNDECIDED];
    as_buf_printf(out, "%zu line%s of the data sheet compared", compared, compared == 1 ? "" : "s");
    if (compared)
        as_buf_printf(out, ": %zu same, %zu better, %zu worse, %zu inconclusive", n[AS_CHECK_SAME], n[AS_CHECK_BETTER],
                      n[AS_CHECK_WORSE], n[AS_CHECK_UNDECIDED]);
}
