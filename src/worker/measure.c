/* The loop that makes samples. */
#include "worker/measure.h"
#include "plan/plan.h"

#include "base/text.h"
#include "device/arena.h"
#include "device/device.h"
#include "device/shared_host.h"
#include "os/cpus.h"
#include "sensor/watch.h"
#include "worker/conditions.h"
#include "worker/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample of 2 ms is long against the timer (tens of ns) and short against a trial. */
static const double SAMPLE_S = 2e-3, TOO_LONG = 2;
/* Samples agree when they differ by less than this fraction of the requested precision over this many seconds. */
static const double AGREE = 0.1, LONG_S = 15e-3;
static const double CLOCK_EVERY_S = 1e-3; /* a clock reading costs tens of microseconds */

enum {
    CLOCKS_MAX = 512,
    KNOWN_MAX = 1024,
    /* maximum samples per trial while some lack contention; further time goes to other trials */
    CONTENDED_SAMPLES_MAX = 2 * AS_SAMPLES_ALONE,
};

struct sampler {
    struct as_device *dev;
    const struct as_probe *probe;
    void *state;
    struct as_trial_context tc;
    double *x, *seconds; /* value and length of each sample */
    struct as_reference *reference;
    struct as_reference_reading *readings; /* before each sample and after the last; where a host core works */
    double *core_hz, *weight;              /* of each sample, from these */
    double *counted;                       /* buffer for the values of some samples */
    struct as_sample_number *further;      /* AS_SAMPLE_NUMBERS of each sample */
    size_t n;
    double clock[CLOCKS_MAX];
    size_t clock_n;
    double clock_at; /* when it was read last */
    bool tells;      /* samples tell their clock: that of an idle device before them is another */
    uint64_t key;    /* of the cell */
    uint64_t reps;
    double share_s;
    double share_end, hard_end; /* times of the device: stop when there are enough samples; stop with fewer */
    double precision;
    size_t fewest; /* samples */
    struct as_watch watch;
};

static double now_of(const struct as_device *dev)
{
    return dev->device->now ? dev->device->now((struct as_device *)dev) : as_now();
}

static void measure_read_clock(struct sampler *m)
{
    double hz;
    if (m->tells || !m->dev->device->clock || m->clock_n == CLOCKS_MAX || now_of(m->dev) - m->clock_at < CLOCK_EVERY_S)
        return;
    if (!m->dev->device->clock(m->dev, &hz, NULL) && isfinite(hz) && hz > 0)
        m->clock[m->clock_n++] = hz;
    m->clock_at = now_of(m->dev);
}

static bool reads_reference(const struct sampler *m)
{
    return m->tc.host_work && as_reference_applies(m->dev);
}

static enum as_status take_sample(struct sampler *m, struct as_sample *s, struct as_error *err)
{
    *s = (struct as_sample){.value = NAN, .clock_hz = NAN};
    enum as_status st = m->probe->sample(m->state, m->reps, s, err);
    if (st)
        return st;
    if (!isfinite(s->value))
        return as_fail(err, AS_FAILED, "probe '%s' returned a sample that is not a number", m->probe->name);
    m->tells = isfinite(s->clock_hz) && s->clock_hz > 0;
    if (m->tells && m->clock_n < CLOCKS_MAX)
        m->clock[m->clock_n++] = s->clock_hz;
    return AS_OK;
}

/* Calibrated repetitions of the cells of this process; their next trials start from them. An evicted cell calibrates
 * again. One thread measures per process. */
static struct known_reps {
    uint64_t key, reps;
} known_reps[KNOWN_MAX];

static uint64_t clamp_reps(const struct sampler *m, double reps)
{
    return reps > (double)m->tc.max_reps   ? m->tc.max_reps
           : reps < (double)m->tc.min_reps ? m->tc.min_reps
                                           : (uint64_t)reps;
}

/* The repetitions of an earlier trial may be too many by now. Two samples must agree on that, since one may be
 * disturbed. *seconds is the shorter one. */
static enum as_status look_at_known(struct sampler *m, double target, double *seconds, struct as_error *err)
{
    enum as_status st = AS_OK;
    *seconds = INFINITY;
    for (int i = 0; i < 2 && !st && *seconds > TOO_LONG * target; i++) {
        struct as_sample s;
        st = take_sample(m, &s, err);
        *seconds = fmin(*seconds, s.seconds);
    }
    if (!st && *seconds > TOO_LONG * target)
        m->reps = clamp_reps(m, (double)m->reps * target / *seconds);
    return st;
}

/* Repetitions suffice only where two samples agree: one may wait for what a process does once, or for a neighbour. */
static enum as_status take_shorter(struct sampler *m, struct as_sample *s, struct as_error *err)
{
    const double first_s = s->seconds;
    const enum as_status st = now_of(m->dev) < m->hard_end ? take_sample(m, s, err) : AS_OK;
    s->seconds = fmin(s->seconds, first_s);
    return st;
}

/* Repetitions are raised until a sample is long enough for the timer; calibration samples are discarded. They may
 * exceed the trial's share of the budget: a sample that is far too short measures only the timer's overhead. */
static enum as_status measure_calibrate(struct sampler *m, struct as_error *err)
{
    double target = m->tc.sample_s > 0 ? m->tc.sample_s : SAMPLE_S;
    struct known_reps *known = &known_reps[m->key % KNOWN_MAX];
    enum as_status st = AS_OK;
    double seconds = 0;
    m->reps = m->tc.min_reps;
    if (known->key == m->key && m->tc.min_reps < m->tc.max_reps) {
        m->reps = clamp_reps(m, (double)known->reps);
        st = look_at_known(m, target, &seconds, err);
    }
    while (!st && seconds < 0.6 * target && m->reps < m->tc.max_reps && now_of(m->dev) < m->hard_end) {
        struct as_sample s;
        st = take_sample(m, &s, err);
        if (!st && s.seconds >= 0.6 * target)
            st = take_shorter(m, &s, err);
        seconds = s.seconds;
        if (st || seconds >= 0.6 * target)
            break;
        double grow = seconds > 0 ? target / seconds : 1000;
        /* A first sample is slow (cold caches, page faults), so growth is bounded and rechecked. */
        grow = grow > 1000 ? 1000 : grow < 1.2 ? 1.2 : grow;
        m->reps = clamp_reps(m, ceil((double)m->reps * grow));
    }
    *known = (struct known_reps){.key = m->key, .reps = m->reps};
    return st;
}

/* Long device samples that agree need no more: the remaining scatter is between trials. Cells at the power limit need
 * time to settle. */
static int measure_agree(const struct sampler *m)
{
    double lo = INFINITY, hi = -INFINITY, seconds = 0;
    if (m->fewest > 1 || m->tc.host_work || m->probe->own_power || m->n < AS_SAMPLES_MIN)
        return 0;
    for (size_t i = 0; i < m->n; i++) {
        lo = fmin(lo, m->x[i]);
        hi = fmax(hi, m->x[i]);
        seconds += m->seconds[i];
    }
    return seconds >= LONG_S && hi - lo <= AGREE * m->precision * fabs(lo);
}

/* The fewest samples of a trial. */
static size_t needed(const struct sampler *m)
{
    return m->fewest > AS_SAMPLES_MIN ? m->fewest : AS_SAMPLES_MIN;
}

/* The stopping rule costs a sort, so it runs after every 10% more samples. It uses samples without contention, or all
 * if those are too few. */
static int measure_enough(struct sampler *m, size_t *ask_at)
{
    if (m->n < AS_SAMPLES_ALONE && measure_agree(m))
        return 1;
    if (m->n < *ask_at)
        return 0;
    size_t n = 0;
    if (reads_reference(m))
        as_reference_weigh(m->reference, m->readings, m->n, m->core_hz, m->weight);
    for (size_t i = 0; i < m->n; i++)
        if (!reads_reference(m) || m->weight[i] > 0)
            m->counted[n++] = m->x[i];
    if (n < needed(m)) {
        if (m->n < CONTENDED_SAMPLES_MAX)
            return 0;
        n = m->n;
        memcpy(m->counted, m->x, n * sizeof *m->counted);
    }
    *ask_at = m->n + 1 + m->n / 10;
    size_t warm = as_warmup_end(m->counted, n);
    return as_precise_enough(m->counted + warm, n - warm, m->precision);
}

static enum as_status add_sample(struct sampler *m, struct as_error *err)
{
    struct as_sample s;
    if (reads_reference(m) && m->n == 0)
        m->reference->read(m->reference, m->dev, &m->readings[0]);
    enum as_status st = take_sample(m, &s, err);
    if (st)
        return st;
    m->x[m->n] = s.value;
    memcpy(m->further + AS_SAMPLE_NUMBERS * m->n, s.further, sizeof s.further);
    m->seconds[m->n++] = s.seconds;
    if (reads_reference(m))
        m->reference->read(m->reference, m->dev, &m->readings[m->n]);
    return AS_OK;
}

static enum as_status measure_collect(struct sampler *m, struct as_error *err)
{
    const bool fixed = m->tc.samples > 0;
    const size_t most = fixed && m->tc.samples < AS_SAMPLES_MAX ? m->tc.samples : AS_SAMPLES_MAX;
    size_t ask_at = AS_SAMPLES_ALONE;
    double last = 0;
    while (m->n < most) {
        double now = now_of(m->dev);
        int over = !fixed && now + last > m->share_end;
        if (over && (m->n >= m->fewest || (m->n > 0 && now > m->hard_end)))
            break;
        measure_read_clock(m);
        enum as_status st = add_sample(m, err);
        if (st == AS_TIMEOUT && m->n >= AS_SAMPLES_MIN)
            break;
        if (st)
            return st;
        last = now_of(m->dev) - now;
        if (!fixed && measure_enough(m, &ask_at))
            break;
    }
    measure_read_clock(m);
    return AS_OK;
}

/* A check that had no memory has found nothing wrong. */
static enum as_status run_check(struct sampler *m, struct as_trial *out, struct as_error *err)
{
    const size_t before = as_memory_errors();
    if (!m->probe->check) {
        out->checksum = AS_GATE_NA;
        as_copy_text(out->checksum_text, sizeof out->checksum_text, "this probe has no output to check");
        return AS_OK;
    }
    out->checksum =
        m->probe->check(m->state, out->checksum_text, sizeof out->checksum_text) ? AS_GATE_PASS : AS_GATE_FAIL;
    if (out->checksum == AS_GATE_PASS || as_memory_errors() == before)
        return AS_OK;
    out->checksum = AS_GATE_NA;
    return as_fail(err, AS_NOMEM, "the results cannot be checked: %s", out->checksum_text);
}

static double *copy_of(const double *x, size_t n)
{
    double *copy = calloc(n ? n : 1, sizeof *copy);
    if (copy && n)
        memcpy(copy, x, n * sizeof *copy);
    return copy;
}

/* Their medians over the samples that count. */
static void note_further(struct sampler *m, size_t warm)
{
    for (size_t k = 0; k < AS_SAMPLE_NUMBERS; k++) {
        const char *name = NULL;
        size_t n = 0;
        for (size_t i = warm; i < m->n; i++) {
            const struct as_sample_number *one = &m->further[AS_SAMPLE_NUMBERS * i + k];
            if (!one->name || !isfinite(one->value))
                continue;
            name = one->name;
            m->counted[n++] = one->value;
        }
        if (n)
            as_note_number(&m->tc, name, as_median(m->counted, n));
    }
}

static enum as_status measure_keep(struct sampler *m, struct as_trial *out, struct as_error *err)
{
    const size_t warm = as_warmup_end(m->x, m->n);
    out->warmup = warm;
    out->n = m->n - warm;
    out->samples = copy_of(m->x + warm, out->n);
    out->sample_s = as_median(m->seconds + warm, out->n);
    note_further(m, warm);
    out->sampling_s = 0;
    for (size_t i = warm; i < m->n; i++)
        out->sampling_s += m->seconds[i];
    if (reads_reference(m)) {
        as_reference_weigh(m->reference, m->readings, m->n, m->core_hz, m->weight);
        as_reference_end_trial(m->reference, &m->readings[m->n]);
        out->core_hz = copy_of(m->core_hz + warm, out->n);
        out->weight = copy_of(m->weight + warm, out->n);
    }
    if (out->samples && (!reads_reference(m) || (out->core_hz && out->weight)))
        return AS_OK;
    return as_nomem(err, out->n * sizeof *out->samples, "samples");
}

static enum as_status run_phases(struct sampler *m, double started, struct as_trial *out, struct as_error *err)
{
    enum as_status st = as_probe_prepare(m->probe, &m->tc, &m->state, err);
    if (!st)
        st = as_trial_take_bound(&m->tc, m->probe, err);
    if (!st)
        st = as_trial_check_pages(&m->tc, err);
    double prepared = now_of(m->dev);
    out->prepare_s = prepared - started;
    m->share_end = prepared + m->share_s;
    m->hard_end = prepared + fmax(2 * m->share_s, AS_FEWEST_S);
    out->footprint = m->tc.footprint;
    out->claims_memory = m->tc.claims_memory;
    out->limit = m->tc.limit;
    as_copy_text(out->limit_why, sizeof out->limit_why, m->tc.limit_why);
    out->code = m->tc.code;
    as_copy_text(out->code_text, sizeof out->code_text, m->tc.code_text);
    if (!st)
        st = measure_calibrate(m, err);
    if (!st) {
        as_watch_mark(&m->watch);
        st = measure_collect(m, err);
    }
    as_watch_end(&m->watch, &out->readings); /* before the check, which lets the device idle */
    out->reps = m->reps;
    if (!st) {
        as_clock_range(m->clock, m->clock_n, &out->clock_hz, &out->clock_lo, &out->clock_hi);
        out->limit = as_trial_bound_at(&m->tc, m->probe, out->clock_hz);
        st = run_check(m, out, err);
    }
    return st;
}

/* An uncorrectable memory error invalidates the trial. */
static enum as_status check_ecc(const struct as_readings *r, struct as_error *err)
{
    if (!(r->ecc_uncorrected > 0))
        return AS_OK;
    return as_fail(err, AS_FAILED,
                   "%.0f uncorrectable ECC errors during the trial: the device's memory is failing, replace it",
                   r->ecc_uncorrected);
}

static struct sampler make_sampler(struct as_device *dev, const struct as_trial_order *order, double started)
{
    struct sampler m = {.dev = dev,
                        .probe = as_probe_find(order->probe),
                        .share_s = order->share_s,
                        .precision = order->precision,
                        .fewest = order->alone ? AS_SAMPLES_ALONE : 1};
    m.tc =
        (struct as_trial_context){.dev = dev,
                                  .axes = &order->axes,
                                  .seed = order->seed,
                                  .trial = order->number,
                                  .deadline = dev->device->now ? INFINITY : started + order->share_s,
                                  .limit = NAN,
                                  .host_work = (dev->info.capabilities & AS_CAP_HOST_KERNELS) || dev->info.is_host_cpu,
                                  .min_reps = 1,
                                  .max_reps = UINT64_C(1) << 40};
    as_copy_text(m.tc.code_text, sizeof m.tc.code_text,
                 dev->info.capabilities & AS_CAP_CODE ? "this probe requires no particular instruction"
                                                      : AS_CODE_NOT_COUNTED);
    return m;
}

static enum as_status make_room(struct sampler *m, struct as_error *err)
{
    const size_t n = AS_SAMPLES_MAX;
    m->x = calloc(n, sizeof *m->x);
    m->seconds = calloc(n, sizeof *m->seconds);
    m->counted = calloc(n, sizeof *m->counted);
    m->core_hz = calloc(n, sizeof *m->core_hz);
    m->weight = calloc(n, sizeof *m->weight);
    m->readings = calloc(n + 1, sizeof *m->readings);
    m->further = calloc(AS_SAMPLE_NUMBERS * n, sizeof *m->further);
    return m->x && m->seconds && m->counted && m->core_hz && m->weight && m->readings && m->further
               ? AS_OK
               : as_nomem(err, n * sizeof *m->x, "samples");
}

static void free_room(struct sampler *m)
{
    as_buf_finish(&m->tc.detail);
    free(m->x);
    free(m->seconds);
    free(m->counted);
    free(m->core_hz);
    free(m->weight);
    free(m->readings);
    free(m->further);
}

enum as_status as_measure_trial(struct as_device *dev, struct as_sensing *sensing, struct as_reference *reference,
                                const struct as_trial_order *order, struct as_trial *out, struct as_error *err)
{
    as_watch_settle(sensing);
    double started = now_of(dev);
    struct sampler m = make_sampler(dev, order, started);
    *out = as_outcome_empty(order->number);
    enum as_status st = AS_OK;
    struct as_error why = {0};
    const enum as_status refused = as_plan_check(order->probe, &order->axes, &dev->info, &why);
    if (refused) {
        as_outcome_set(out, refused, why.text);
        return AS_OK;
    }
    m.reference = reference;
    as_trial_offer_power(&m.tc, sensing);
    if ((st = make_room(&m, err)))
        goto done;
    as_watch_begin(&m.watch, sensing, 0);
    m.key = as_cell_key(order->probe, as_probe_metric(m.probe, &order->axes).name, &order->axes);
    as_arenas_begin(dev, m.key, order->seed);
    if (dev->device->begin)
        dev->device->begin(dev, order->seed);
    dev->code = (struct as_code_identity){0};
    enum as_status trial = run_phases(&m, started, out, &why);
    if (!trial)
        trial = check_ecc(&out->readings, &why);
    as_probe_finish(m.probe, m.state);
    if (trial == AS_NOMEM)
        as_outcome_add_limit(&dev->info, why.text, sizeof why.text);
    if (trial)
        as_outcome_set(out, trial, why.text);
    else
        st = measure_keep(&m, out, err);
    as_outcome_note_code(&m.tc, &dev->code);
    as_outcome_note_demand(&m.tc, &m.watch.demand);
    as_trial_note_readings(&m.tc, &out->readings);
    if (m.probe->crosses_link)
        as_trial_note_links(&m.tc, &out->readings);
    if (reads_reference(&m) && as_thread_pin_limit())
        as_note(&m.tc, "placement", as_thread_pin_limit());
    as_buf_str(&m.tc.detail, m.tc.detail.len ? "}" : "{}");
    out->detail = as_buf_take(&m.tc.detail);
    out->duration_s = now_of(dev) - started;
done:
    free_room(&m);
    return st;
}

void as_measure_compile(struct as_device *compiler, const struct as_trial_order *order)
{
    struct sampler m = make_sampler(compiler, order, as_now());
    struct as_error why = {0};
    if (as_plan_check(order->probe, &order->axes, &compiler->info, &why))
        return;
    m.tc.deadline = INFINITY;
    (void)as_probe_prepare(m.probe, &m.tc, &m.state, &why);
    as_probe_finish(m.probe, m.state);
    as_buf_finish(&m.tc.detail);
}
