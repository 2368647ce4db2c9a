#include "model/bins.h"
#include "model/metrics.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 2000, /* enough for the test of two modes */
    EVENTS_MIN = 50,
};
static const double TAIL = 0.05;  /* left out at both ends: single stalls are no mode */
static const double VALLEY = 0.5; /* deepest point between two modes, relative to the lower peak */

double as_bins_edge(size_t i)
{
    return i == 0 ? 0 : exp2((double)(i - 1) / AS_BINS_PER_OCTAVE);
}

static size_t bin_of_value(double value)
{
    if (!(value >= 1))
        return 0;
    const double i = 1 + floor(AS_BINS_PER_OCTAVE * log2(value));
    return i < AS_BINS_MAX ? (size_t)i : AS_BINS_MAX - 1;
}

void as_bins_add(struct as_bins *b, double value)
{
    if (!isnan(value))
        b->count[bin_of_value(value)]++;
}

uint64_t as_bins_total(const struct as_bins *b)
{
    uint64_t total = 0;
    for (size_t i = 0; i < AS_BINS_MAX; i++)
        total += b->count[i];
    return total;
}

void as_bins_write(const struct as_bins *b, struct as_buf *out)
{
    const char *lead = "";
    for (size_t i = 0; i < AS_BINS_MAX; i++) {
        if (!b->count[i])
            continue;
        as_buf_printf(out, "%s%.5g:%llu", lead, as_bins_edge(i), (unsigned long long)b->count[i]);
        lead = " ";
    }
}

/* Adds the bins of a text; false: it is no list of them. */
static bool bins_parse(struct as_bins *b, const char *text)
{
    static const uint64_t most = UINT64_C(1) << 53;
    for (const char *at = text; *at;) {
        char *end;
        const double edge = strtod(at, &end);
        if (*end != ':' || end[1] < '0' || end[1] > '9' || !(edge >= 0) || (edge > 0 && edge < 1))
            return false;
        const unsigned long long n = strtoull(end + 1, &end, 10);
        const double i = edge > 0 ? 1 + round(AS_BINS_PER_OCTAVE * log2(edge)) : 0;
        if (n > most || !(i < AS_BINS_MAX) || (*end && *end != ' '))
            return false;
        b->count[(size_t)i] += n;
        at = *end ? end + 1 : end;
    }
    return text[0];
}

static bool bins_add_notes(struct as_bins *b, const char *detail)
{
    if (!detail || !strstr(detail, "\"" AS_BINS_NOTE "\""))
        return false;
    json_t *notes = json_loads(detail, 0, NULL);
    const char *text = json_string_value(json_object_get(notes, AS_BINS_NOTE));
    const bool good = text && bins_parse(b, text);
    json_decref(notes);
    return good;
}

bool as_bins_of(const struct as_cell *cell, struct as_bins *out)
{
    *out = (struct as_bins){.count = {0}};
    return bins_add_notes(out, cell->detail) && as_bins_total(out) > 0;
}

enum as_status as_bins_sum(struct as_cell *cell, const struct as_trials *trials, struct as_error *err)
{
    struct as_bins sum;
    if (!as_bins_of(cell, &sum))
        return AS_OK;
    sum = (struct as_bins){.count = {0}};
    for (size_t i = 0; i < trials->n; i++)
        if (as_trial_counts(&trials->v[i]))
            (void)bins_add_notes(&sum, trials->v[i].detail);
    struct as_buf text = AS_BUF_INIT;
    as_bins_write(&sum, &text);
    enum as_status st = as_buf_check(&text, err);
    if (!st && text.len)
        st = as_cell_set_note(cell, AS_BINS_NOTE, as_buf_get(&text), err);
    as_buf_finish(&text);
    return st;
}

/* Logarithms of events, evenly spread within each bin and without the tails; returns their number. */
static size_t spread_events(const struct as_bins *b, double total, double x[EVENTS_MAX])
{
    const size_t n = total < EVENTS_MAX ? (size_t)total : EVENTS_MAX;
    size_t kept = 0, bin = 0;
    double below = 0; /* events below the bin */
    for (size_t i = 0; i < n; i++) {
        const double rank = ((double)i + 0.5) / (double)n * total;
        while (bin + 1 < AS_BINS_MAX && below + (double)b->count[bin] <= rank)
            below += (double)b->count[bin++];
        if (rank >= TAIL * total && rank < (1 - TAIL) * total && bin > 0)
            x[kept++] = ((double)(bin - 1) + (rank - below) / (double)b->count[bin]) / AS_BINS_PER_OCTAVE;
    }
    return kept;
}

/* Over three bins, so that the steps of a coarse clock make no valleys. */
static double smooth(const struct as_bins *b, size_t i)
{
    return (double)b->count[i] + (i > 1 ? (double)b->count[i - 1] : 0) +
           (i + 1 < AS_BINS_MAX ? (double)b->count[i + 1] : 0);
}

static bool has_valley(const struct as_bins *b, size_t from, size_t to)
{
    double deepest = INFINITY;
    for (size_t i = from; i <= to; i++)
        deepest = fmin(deepest, smooth(b, i));
    return deepest < VALLEY * fmin(smooth(b, from), smooth(b, to));
}

bool as_bins_two_modes(const struct as_bins *b, double mode[2], double *share0)
{
    double x[EVENTS_MAX];
    const double total = (double)as_bins_total(b);
    const size_t n = total >= EVENTS_MIN ? spread_events(b, total, x) : 0;
    if (!as_two_modes(x, n, mode, share0))
        return false;
    for (size_t i = 0; i < 2; i++)
        mode[i] = exp2(mode[i]);
    return has_valley(b, bin_of_value(mode[0]), bin_of_value(mode[1]));
}
