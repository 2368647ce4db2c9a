/* Warnings on a data sheet: lines that earlier runs contradict, and disturbances that sensors saw. */
#include "base/text.h"
#include "report/sheet/sheet.h"
#include "stats/between.h"
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool sheet_earlier_is_same_device(const struct as_device_info *a, const struct as_device_info *b)
{
    return b && strcmp(a->name, b->name) == 0 && strcmp(a->bus_id, b->bus_id) == 0 && strcmp(a->uuid, b->uuid) == 0 &&
           strcmp(a->driver, b->driver) == 0;
}

/* An interval covers what varies within a run only. */
static double half_width(const struct as_sheet_row *row)
{
    const double half = isfinite(row->ci.lo) && isfinite(row->ci.hi) ? 0.5 * (row->ci.hi - row->ci.lo) : 0;
    return fmax(half, AS_BETWEEN_QUIET * fabs(row->value));
}

/* Adds what the earlier sheet has of the line. A capacity is a range already. precision: that was asked for; what
 * differs by less is as steady as was asked. */
static void sheet_earlier_compare(const struct as_sheet_row *row, const struct as_sheet *earlier, double precision,
                                  struct as_unsteady *u, bool *apart)
{
    const struct as_sheet_row *other = as_sheet_find(earlier, row->group, row->label);
    if (!other || strcmp(other->unit, row->unit) != 0 || strcmp(row->unit, "B") == 0)
        return;
    u->lo = fmin(u->lo, other->value);
    u->hi = fmax(u->hi, other->value);
    u->runs++;
    const double most = fmax(half_width(row) + half_width(other), precision * fabs(row->value));
    *apart |= fabs(row->value - other->value) > most;
}

static enum as_status compare_device(struct as_report_run *run, const struct as_device_info *info,
                                     const struct as_sheet *sheets, size_t n, size_t *cap, struct as_error *err)
{
    struct as_sheet own;
    enum as_status st = as_sheet_make(run, info->id, &own, err);
    for (size_t i = 0; i < own.n && !st; i++) {
        struct as_unsteady u = {.of = own.rows[i].of, .lo = own.rows[i].value, .hi = own.rows[i].value, .runs = 1};
        bool apart = false;
        for (size_t e = 0; e < n; e++)
            sheet_earlier_compare(&own.rows[i], &sheets[e], run->run.precision, &u, &apart);
        if (!apart)
            continue;
        st = as_grow((void **)&run->unsteady, cap, run->unsteady_n + 1, sizeof *run->unsteady, err);
        as_copy_text(u.device, sizeof u.device, info->id);
        if (!st)
            run->unsteady[run->unsteady_n++] = u;
    }
    as_sheet_finish(&own);
    return st;
}

/* A run beside another process is no baseline. A power cap is: it belongs to the device. */
static bool was_shared(const struct as_report_run *run, const char *device)
{
    for (size_t i = 0; i < run->seen_n; i++)
        if (run->seen[i].is_shared && strcmp(run->seen[i].device, device) == 0)
            return true;
    return false;
}

enum as_status as_sheet_compare_earlier(struct as_report_run *run, const struct as_report_run *earlier, size_t n,
                                        struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    for (size_t d = 0; d < run->devices_n && n && !st; d++) {
        struct as_sheet sheets[AS_EARLIER_MAX] = {0};
        size_t made = 0;
        for (size_t e = 0; e < n && e < AS_EARLIER_MAX && !st; e++)
            if (sheet_earlier_is_same_device(&run->devices[d], as_report_device(&earlier[e], run->devices[d].id)) &&
                !was_shared(&earlier[e], run->devices[d].id))
                st = as_sheet_make(&earlier[e], run->devices[d].id, &sheets[made++], err);
        if (!st && made)
            st = compare_device(run, &run->devices[d], sheets, made, &cap, err);
        for (size_t e = 0; e < made; e++)
            as_sheet_finish(&sheets[e]);
    }
    return st;
}

void as_sheet_seen_text(const struct as_report_run *run, const char *device, struct as_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < run->seen_n; i++) {
        const struct as_seen *seen = &run->seen[i];
        if (strcmp(seen->device, device) != 0)
            continue;
        as_buf_printf(out, any ? ", %s in %zu" : "%s in %zu of %zu trials", seen->what, seen->trials, seen->of);
        any = true;
    }
    const struct as_device_info *info = as_report_device(run, device);
    const double others = info && info->capabilities & AS_CAP_HOST_KERNELS ? as_run_others_cpus(&run->run) : NAN;
    if (others > AS_OTHERS_MAX)
        as_buf_printf(out, "%s" AS_OTHERS_SAID, any ? ", " : "", others);
}

void as_sheet_say_unsteady(const struct as_report_run *run, const char *device, struct as_sheet_row *row)
{
    for (size_t i = 0; i < run->unsteady_n; i++) {
        const struct as_unsteady *u = &run->unsteady[i];
        if (u->of != row->of || strcmp(u->device, device) != 0)
            continue;
        struct as_buf b = AS_BUF_INIT;
        as_buf_printf(&b, "%s%sunsteady: ", row->further, row->further[0] ? "; " : "");
        as_format_range(&b, u->lo, u->hi, u->lo, row->unit, 3);
        as_buf_printf(&b, " in %zu runs", u->runs);
        as_copy_text(row->further, sizeof row->further, as_buf_get(&b));
        as_buf_finish(&b);
    }
}
