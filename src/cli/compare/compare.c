#include "cli/compare/compare.h"

#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

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

static void compare_list_devices(const struct as_source *s, struct devices *out)
{
    out->n = 0;
    for (size_t i = 0; i < s->n && out->n < DEVICES_MAX; i++)
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

static void compare_pair(struct as_pair *p, double tolerance, double limit)
{
    const struct as_cell *a = p->a, *b = p->b;
    p->comparison =
        (struct as_comparison){.ratio = NAN, .ci = {NAN, NAN}, .verdict = AS_CANNOT_TELL, .differ = {NAN, NAN}};
    if (!a || !b) {
        p->match = a ? AS_MATCH_ONLY_A : AS_MATCH_ONLY_B;
        return;
    }
    if (!as_cell_is_valid(a) || !as_cell_is_valid(b)) {
        p->match = AS_MATCH_NO_NUMBER;
        return;
    }
    p->match = AS_MATCH_BOTH;
    as_compare(&a->sum, &b->sum, a->lower_is_better, tolerance, &p->comparison);
    p->regression = is_regression(&p->comparison, a->lower_is_better, limit);
    p->other_kernel =
        (p->comparison.verdict == AS_FASTER || p->comparison.verdict == AS_SLOWER) && is_other_kernel(a, b);
}

static void compare_add_pair(struct as_pairs *out, const struct as_cell *a, const struct as_cell *b, double tolerance,
                             double limit)
{
    struct as_pair *p = &out->v[out->n++];
    *p = (struct as_pair){.a = a, .b = b};
    compare_pair(p, tolerance, limit);
    out->matches[p->match]++;
    if (p->match == AS_MATCH_BOTH)
        out->verdicts[p->comparison.verdict]++;
    out->regressions += p->regression;
    out->other_kernels += p->other_kernel;
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

enum as_status as_compare_runs(const struct as_source *a, const struct as_source *b, double tolerance, double limit,
                               struct as_pairs *out, struct as_error *err)
{
    struct devices da, db;
    *out = (struct as_pairs){0};
    struct entry *entries = calloc(b->n + 1, sizeof *entries);
    out->v = calloc(a->n + b->n + 1, sizeof *out->v);
    if (!entries || !out->v) {
        free(entries);
        as_pairs_finish(out);
        return as_nomem(err, (a->n + b->n + 1) * sizeof *out->v, "a comparison");
    }
    compare_list_devices(a, &da);
    compare_list_devices(b, &db);
    for (size_t i = 0; i < b->n; i++)
        entries[i] = (struct entry){b->cells[i].device, b->cells[i].key, &b->cells[i], false};
    qsort(entries, b->n, sizeof *entries, compare_by_key);
    for (size_t i = 0; i < a->n; i++) {
        const struct as_cell *c = &a->cells[i];
        struct entry *e = look_up(entries, b->n, name_in_b(&da, &db, c, out), c->key);
        if (e && e->taken)
            e = NULL;
        if (e)
            e->taken = true;
        compare_add_pair(out, c, e ? e->cell : NULL, tolerance, limit);
    }
    for (size_t i = 0; i < b->n; i++) {
        struct entry *e = look_up(entries, b->n, b->cells[i].device, b->cells[i].key);
        if (e && !e->taken)
            compare_add_pair(out, NULL, &b->cells[i], tolerance, limit);
    }
    free(entries);
    return AS_OK;
}

void as_pairs_finish(struct as_pairs *p)
{
    free(p->v);
    *p = (struct as_pairs){0};
}
