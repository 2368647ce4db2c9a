#include "passer.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAD_LOADS = 4096, LEAD_BYTES = 4096 }; /* about 50 us of dependent loads that hit a GPU's L1 cache */

/* One cycle over all lines to load, in address order or random (Sattolo 1986). */
static enum as_status residual_fill(uint64_t *data, const struct passer_desc *d, uint64_t lines, struct as_error *err)
{
    const uint64_t step = d->stride / SIDE_LINE;
    uint64_t *order = malloc(lines * sizeof *order);
    struct as_rng rng;
    if (!order)
        return as_nomem(err, lines * sizeof *order, "the order of lines");
    as_rng_seed(&rng, d->seed);
    for (uint64_t i = 0; i < lines; i++)
        order[i] = i;
    for (uint64_t i = lines - 1; d->random && i > 0; i--) {
        const uint64_t k = as_rng_below(&rng, i), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (uint64_t i = 0; i < lines; i++)
        data[order[i] * step * (SIDE_LINE / 8)] = order[(i + 1) % lines] * step;
    free(order);
    return AS_OK;
}

static enum as_status fill_device(struct passer *p, const struct passer_desc *d, struct as_error *err)
{
    struct as_device *dev = p->memory.kernels->own.dev;
    uint64_t *copy = calloc(1, d->bytes);
    if (!copy)
        return as_nomem(err, d->bytes, "the contents of the device's buffer");
    enum as_status st = residual_fill(copy, d, p->work.lines, err);
    if (!st)
        st = dev->memory->write(dev, p->memory.device, 0, copy, d->bytes, err);
    free(copy);
    return st;
}

/* A chain of one line that links to itself. */
static enum as_status make_lead(struct passer *p, struct as_error *err)
{
    static const uint64_t line[LEAD_BYTES / 8];
    struct side_kernels *k = p->memory.kernels;
    if (k->native || !(k->own.dev->info.capabilities & AS_CAP_ASYNC))
        return AS_OK;
    enum as_status st = as_side_memory_make(&p->lead, k, sizeof line, err);
    return st ? st : k->own.dev->memory->write(k->own.dev, p->lead.device, 0, line, sizeof line, err);
}

enum as_status as_passer_prepare(struct passer *p, struct side_kernels *kernels, const struct passer_desc *desc,
                                 struct as_error *err)
{
    const uint64_t n = desc->bytes / desc->stride;
    *p = (struct passer){
        .work = {.lines = n, .step = desc->stride / 8, .mask = UINT64_MAX, .value = desc->random},
        .want = desc->random ? 0 : desc->stride / SIDE_LINE * (n * (n - 1) / 2), /* line 0; sum of all lines */
    };
    enum as_status st = as_side_memory_make(&p->memory, kernels, desc->bytes, err);
    if (!st && !kernels)
        st = residual_fill(p->memory.host, desc, n, err);
    if (!st && kernels)
        st = fill_device(p, desc, err);
    return st || !kernels ? st : make_lead(p, err);
}

enum as_status as_passer_run(struct passer *p, double *seconds, struct as_error *err)
{
    struct as_timing timing;
    if (p->memory.host) {
        uint64_t ns;
        p->found = as_side_pass_here(p->memory.host, &p->work, &ns);
        *seconds = (double)ns * 1e-9;
        return AS_OK;
    }
    enum as_status st = AS_OK;
    const struct side_work lead = {.lines = LEAD_LOADS, .mask = UINT64_MAX, .value = 1};
    if (p->lead.device)
        st = as_side_submit(&p->lead, true, &lead, err);
    if (!st)
        st = as_side_launch(&p->memory, true, &p->work, &timing, err);
    *seconds = st ? 0 : as_timing_seconds(&timing);
    return st;
}

bool as_passer_check(struct passer *p, char *why, size_t why_size)
{
    struct as_error err;
    if (!p->memory.host && as_side_sum(&p->memory, true, &p->work, &p->found, &err)) {
        snprintf(why, why_size, "the result of the pass cannot be read: %s", err.text);
        return false;
    }
    snprintf(why, why_size, "the pass found %" PRIu64 ", %" PRIu64 " is right", p->found, p->want);
    return p->found == p->want;
}

void as_passer_finish(struct passer *p)
{
    as_side_memory_free(&p->lead);
    as_side_memory_free(&p->memory);
}
