/* Counted page events: the number of pages from which loads miss the TLB, and the faults of a pass over memory. */
#include "facts/rule.h"
#include "model/metrics.h"

#include <stdio.h>
#include <string.h>

static const double SEEN = 0.1; /* as a share of the loads */

static void add_misses(struct as_rule_context *c, const struct as_curve *curve)
{
    const struct as_cell *cell = curve->cells[0];
    const double loads = as_cell_note(cell, "loads");
    size_t i = 0;
    bool few = true; /* surely below SEEN at each number of pages so far */
    if (!(loads > 0))
        return;
    while (i < curve->n && curve->ci[i].lo < SEEN * loads)
        few = few && curve->ci[i++].hi < SEEN * loads;
    const bool own = strcmp(c->device, "cpu") == 0;
    char who[72];
    struct as_fact *f =
        as_fact_add(c, AS_FACT_TLB_MISSES, cell, AS_BY(.touch = own ? "" : as_cell_axis(cell, "touch")));
    if (!f)
        return;
    const size_t last = curve->n - 1;
    snprintf(who, sizeof who, "%s%.40s%s", own ? "" : "CPU in ", as_cell_axis(cell, "allocator"),
             as_cell_is(cell, "touch", "cpu") ? "" : " after the device");
    if (i == curve->n && !few)
        as_fact_say(f,
                    "Whether one load in ten misses the TLB up to %.0f pages is inconclusive (%s, a page every %s "
                    "bytes; counted)",
                    curve->x[last], who, as_cell_axis(cell, "stride"));
    else if (i == curve->n)
        as_fact_say(f,
                    "Fewer than one load in ten misses the TLB up to %.0f pages (%s, a page every %s bytes; counted)",
                    curve->x[last], who, as_cell_axis(cell, "stride"));
    else {
        as_fact_number(f, curve->x[i], (struct as_interval){i ? curve->x[i - 1] : 1, curve->x[i]});
        as_fact_say(
            f,
            "From %.0f pages on at least one load in ten misses the TLB, over %.0f pages %.0f%% (%s, a page every %s "
            "bytes; counted)",
            curve->x[i], curve->x[last], 100 * curve->y[last] / loads, who, as_cell_axis(cell, "stride"));
    }
    as_curve_evidence(f, curve, 0, last);
}

/* "page faults (0 minor, 192 major)"; in stores of earlier versions the number counts minor faults only. */
static const char *kinds_text(const struct as_cell *cell, char *out, size_t size)
{
    struct as_metric_value minor, major;
    if (as_cell_metric(cell, "minor_faults", &minor) && as_cell_metric(cell, "major_faults", &major))
        snprintf(out, size, "page faults (%.0f minor, %.0f major)", minor.value, major.value);
    else
        snprintf(out, size, "minor faults");
    return out;
}

/* ", 2 MiB per fault": the granularity at which memory is mapped; "" without faults. */
static const char *bytes_per_fault_text(const struct as_curve *curve, char out[static 64])
{
    const size_t last = curve->n - 1;
    const double bytes = curve->x[last] * as_cell_axis_number(curve->cells[last], "stride");
    char text[48];
    out[0] = '\0';
    if (bytes > 0 && curve->y[last] > 0)
        snprintf(out, 64, ", %s per fault",
                 as_fact_value_text(bytes / curve->y[last], AS_NO_INTERVAL, "B", text, sizeof text));
    return out;
}

/* A driver counts a fault as major where it moved pages: a prefetch, or a module that is loaded, brought them to the
 * device, and the CPU's is no first touch. */
static bool moved_pages(const struct as_rule_context *c, const struct as_cell *cell)
{
    struct as_metric_value major;
    return strcmp(c->device, "cpu") != 0 && as_cell_metric(cell, "major_faults", &major) && major.value > 0;
}

/* For the largest number of pages. */
static void add_faults(struct as_rule_context *c, const struct as_curve *curve)
{
    const size_t last = curve->n - 1;
    const struct as_cell *cell = curve->cells[last];
    const bool device = strcmp(as_cell_axis(cell, "touch"), "device") == 0;
    char object[64];
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_PAGE_FAULTS, cell, AS_BY(.object = object));
    if (!f)
        return;
    f->matter = "page faults and migrations";
    as_fact_number(f, curve->y[last], curve->ci[last]);
    char kinds[64], time[96] = "", text[64], bytes[64];
    struct as_metric_value read;
    if (device && as_cell_metric(cell, "read_time", &read))
        snprintf(time, sizeof time, "; reading them takes %s per page",
                 as_fact_value_text(read.value, read.ci, read.unit, text, sizeof text));
    as_fact_say(f,
                device ? "CPU reads of %.0f pages of '%s' that the device touched first: %.0f %s, %.3g per page%s"
                : moved_pages(c, cell)
                    ? "CPU touch of %.0f pages of '%s', which were on the device before: %.0f %s, %.3g per page%s"
                    : "CPU first touch of %.0f pages of '%s': %.0f %s, %.3g per page%s",
                curve->x[last], as_cell_axis(cell, "allocator"), f->value, kinds_text(cell, kinds, sizeof kinds),
                f->value / curve->x[last], device ? time : bytes_per_fault_text(curve, bytes));
    as_fact_evidence(f, cell);
}

/* "Ten triads take 472 k page faults ..." */
static void add_triads(struct as_rule_context *c, const struct as_curve *curve)
{
    const size_t last = curve->n - 1;
    const struct as_cell *cell = curve->cells[last];
    char object[64], kinds[64];
    as_allocator_object(as_cell_axis(cell, "allocator"), object, sizeof object);
    struct as_fact *f = as_fact_add(c, AS_FACT_PAGE_TRIADS, cell, AS_BY(.object = object));
    if (!f)
        return;
    f->matter = "page faults and migrations";
    as_fact_number(f, curve->y[last], curve->ci[last]);
    as_fact_say(f, "Ten CPU triads over %.0f pages of '%s'%s: %.0f %s, %.3g per page", curve->x[last],
                as_cell_axis(cell, "allocator"),
                as_cell_is(cell, "touch", "device") ? " that the device touched first" : "", f->value,
                kinds_text(cell, kinds, sizeof kinds), f->value / curve->x[last]);
    as_fact_evidence(f, cell);
}

static void derive_page_events(struct as_rule_context *c)
{
    struct as_curve *curves;
    size_t n;
    as_curves_make(c, "page_events", "pages", &curves, &n);
    for (size_t i = 0; i < n; i++)
        if (as_cell_is(curves[i].cells[0], "what", "misses"))
            add_misses(c, &curves[i]);
        else if (as_cell_is(curves[i].cells[0], "what", "triads"))
            add_triads(c, &curves[i]);
        else
            add_faults(c, &curves[i]);
    as_curves_free(curves, n);
}

const struct as_rule as_rules_page_events[] = {
    {"page faults and migrations", derive_page_events,
     "the CPU's count of data TLB misses, significant from a tenth of the loads on; the system's count of page faults "
     "per page that was read, or of the arrays of ten triads",
     "another counter of the same events with another count"},
    {0},
};
