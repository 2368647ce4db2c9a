/* The machine around the scripted device: a clock that hops, a neighbour on the core and slow episodes come and go in
 * the device's own time, which passes with the work, so that work and reference loop see the same at the same moment.
 */
#include "device/null/null.h"

#include <math.h>

static const double READING_S = 30e-6; /* the reference loop's length */

static double draw_stay(struct as_rng *r, double mean)
{
    return mean > 0 ? -mean * log(1 - as_rng_double(r)) : INFINITY;
}

static double draw_clock(struct as_null_device *n)
{
    const struct as_null_script *s = &n->script;
    return s->clocks_n ? s->clocks[as_rng_below(&n->machine.rng, s->clocks_n)] : s->clock_hz;
}

/* On-times average length_s; off-times average what gives the requested share of the time. */
static void null_machine_toggle(struct as_null_phase *v, const struct as_null_disturbance *c, double now,
                                struct as_rng *r)
{
    v->on = !v->on;
    v->until = now + draw_stay(r, v->on ? c->length_s : c->length_s * (1 - c->share) / c->share);
}

static struct as_null_phase first_phase(const struct as_null_disturbance *c, struct as_rng *r)
{
    struct as_null_phase v = {.on = as_rng_double(r) >= c->share, .until = INFINITY}; /* toggled below */
    if (c->share > 0)
        null_machine_toggle(&v, c, 0, r);
    else
        v.on = false;
    return v;
}

void as_null_machine_start(struct as_null_device *n, uint64_t seed)
{
    struct as_null_machine *m = &n->machine;
    *m = (struct as_null_machine){.running = true};
    as_rng_seed(&m->rng, as_hash(&(uint64_t[]){n->script.seed, seed}, 2 * sizeof(uint64_t)));
    as_rng_seed(&n->rng, as_rng_u64(&m->rng));
    m->hz = draw_clock(n);
    m->hop_at = draw_stay(&m->rng, n->script.hop_s);
    m->neighbour = first_phase(&n->script.neighbour, &m->rng);
    m->episode = first_phase(&n->script.episode, &m->rng);
    n->process_factor = as_null_noise(n, n->script.process_sd);
}

static void null_machine_change(struct as_null_device *n)
{
    struct as_null_machine *m = &n->machine;
    if (m->now >= m->hop_at) {
        m->hz = draw_clock(n);
        m->hop_at = m->now + draw_stay(&m->rng, n->script.hop_s);
    }
    if (m->now >= m->neighbour.until)
        null_machine_toggle(&m->neighbour, &n->script.neighbour, m->now, &m->rng);
    if (m->now >= m->episode.until)
        null_machine_toggle(&m->episode, &n->script.episode, m->now, &m->rng);
}

static double next_change(const struct as_null_machine *m)
{
    return fmin(m->hop_at, fmin(m->neighbour.until, m->episode.until));
}

/* Seconds that this work takes; `seconds` is its time at the script's clock. The machine advances meanwhile. */
double as_null_play(struct as_null_device *n, double seconds, double beta)
{
    struct as_null_machine *m = &n->machine;
    const double began = m->now;
    while (seconds > 0) {
        const double slower = (m->neighbour.on ? n->script.neighbour.factor : 1) *
                              (m->episode.on ? n->script.episode.factor : 1) * pow(n->script.clock_hz / m->hz, beta);
        const double left = seconds * slower, change = next_change(m);
        if (m->now + left < change) {
            m->now += left;
            break;
        }
        seconds -= fmax(change - m->now, 0) / slower;
        m->now = change;
        null_machine_change(n);
    }
    return m->now - began;
}

double as_null_machine_clock(struct as_null_device *n)
{
    struct as_null_machine *m = &n->machine;
    const struct as_null_script *s = &n->script;
    const bool seen = m->neighbour.on && as_rng_double(&n->rng) < s->seen;
    const double hz = m->hz * as_null_noise(n, s->reading_sd);
    m->preemptions += seen && s->reading == 0;
    as_null_play(n, READING_S, 0);
    return seen && s->reading > 0 ? hz * s->reading : hz;
}
