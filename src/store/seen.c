/* What sensors saw during a run's trials that disturbs a device's numbers. */
#include "base/text.h"
#include "base/throttle.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

/* What happens more rarely is no state of the run. */
static const double OFTEN = 0.1;

enum { BITS = 8, KINDS = BITS + 1 }; /* reasons for throttling, then other processes */

struct of_device {
    char device[32];
    size_t trials, seen[KINDS];
};

static void name_kind(size_t kind, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    if (kind == BITS)
        as_buf_str(&b, "another process");
    else
        as_throttle_text(1 << kind, &b);
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

static int more_often(const void *a, const void *b)
{
    const struct as_seen *x = a, *y = b;
    return x->trials < y->trials ? 1 : x->trials > y->trials ? -1 : strcmp(x->what, y->what);
}

static enum as_status add_device(const struct of_device *d, struct as_seen **out, size_t *n, size_t *cap,
                                 struct as_error *err)
{
    const size_t first = *n;
    for (size_t k = 0; k < KINDS; k++) {
        if (d->seen[k] == 0 || (double)d->seen[k] < OFTEN * (double)d->trials)
            continue;
        enum as_status st = as_grow((void **)out, cap, *n + 1, sizeof **out, err);
        if (st)
            return st;
        struct as_seen *seen = &(*out)[(*n)++];
        *seen = (struct as_seen){.trials = d->seen[k], .of = d->trials, .is_shared = k == BITS};
        as_copy_text(seen->device, sizeof seen->device, d->device);
        name_kind(k, seen->what, sizeof seen->what);
    }
    if (*n > first)
        qsort(*out + first, *n - first, sizeof **out, more_often);
    return AS_OK;
}

enum as_status as_store_seen(struct as_store *store, int64_t run_id, struct as_seen **out, size_t *n,
                             struct as_error *err)
{
    struct of_device d = {0};
    size_t cap = 0;
    enum as_status st = AS_OK;
    *out = NULL;
    *n = 0;
    struct as_row row = as_row_start(store, AS_SQL_SEEN);
    as_put_int(&row, run_id);
    while (!st && as_row_next(&row)) {
        int bits = -1;
        struct as_error why;
        const char *device = as_get_text(&row);
        if (strcmp(device, d.device) != 0) {
            st = add_device(&d, out, n, &cap, err);
            d = (struct of_device){0};
            as_copy_text(d.device, sizeof d.device, device);
        }
        const char *throttle = as_get_text(&row);
        if (as_throttle_parse(throttle ? throttle : "", &bits, &why))
            bits = -1; /* another build's word */
        d.seen[BITS] += (size_t)as_get_int(&row);
        const size_t trials = (size_t)as_get_int(&row);
        d.trials += trials;
        for (size_t k = 0; k < BITS && bits > 0; k++)
            d.seen[k] += bits & ~(int)AS_THROTTLE_HARMLESS & 1 << k ? trials : 0;
    }
    if (!st)
        st = add_device(&d, out, n, &cap, err);
    const enum as_status end = as_row_end(&row, st ? NULL : err);
    if (st || end) {
        free(*out);
        *out = NULL;
        *n = 0;
    }
    return st ? st : end;
}
