#include "report/display_unit.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* Times per this many bytes, shown as bandwidth. */
static const struct {
    const char *probe, *axis, *word, *unit;
    double bytes;
} bandwidths[] = {{"topology", "what", "bandwidth", "ns", 64}};

static struct as_interval turned(double bytes, struct as_interval i)
{
    return (struct as_interval){bytes / i.hi, bytes / i.lo};
}

static void turn(struct as_cell *c, double bytes)
{
    struct as_summary *s = &c->sum;
    struct as_interval all = turned(bytes, (struct as_interval){s->min, s->max});
    double relative = s->mad / s->median;
    s->ci = turned(bytes, s->ci);
    s->min = all.lo;
    s->max = all.hi;
    s->median = bytes / s->median;
    s->mad = relative * s->median; /* to the first order */
    if (s->modes == 2) {
        double slow = bytes / s->mode[1];
        s->mode[1] = bytes / s->mode[0];
        s->mode[0] = slow;
        s->mode_share0 = 1 - s->mode_share0;
    }
    c->limit = bytes / c->limit;
    for (size_t i = 0; c->samples && i < s->n; i++)
        c->samples[i] = bytes / c->samples[i];
}

void as_display_cell(struct as_cell *cell)
{
    for (size_t i = 0; i < sizeof bandwidths / sizeof *bandwidths; i++)
        if (strcmp(cell->probe, bandwidths[i].probe) == 0 && strcmp(cell->unit, bandwidths[i].unit) == 0 &&
            strcmp(as_axes_text(&cell->axes, bandwidths[i].axis), bandwidths[i].word) == 0 &&
            (cell->sum.n == 0 || cell->sum.median > 0)) {
            cell->lower_is_better = !cell->lower_is_better;
            as_copy_text(cell->metric, sizeof cell->metric, "bandwidth");
            as_copy_text(cell->unit, sizeof cell->unit, "GB/s");
            if (cell->sum.n > 0)
                turn(cell, bandwidths[i].bytes);
            return;
        }
}
