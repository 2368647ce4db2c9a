/* Scripted durations and faults. */
#include "device/null/null.h"

#include <fnmatch.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void as_null_trial(struct as_null_device *n)
{
    n->trial_factor = n->process_factor * as_null_noise(n, n->script.trial_sd);
    n->clock_halved = false;
    n->last_run = NULL;
    for (size_t i = 0; i < n->script.faults_n; i++)
        if (!n->script.faults[i].of_worker)
            n->script.faults[i].seen = 0;
}

double as_null_noise(struct as_null_device *n, double sd)
{
    double factor = 1 + sd * as_rng_normal(&n->rng);
    return factor > 0.01 ? factor : 0.01; /* nothing takes no time, or less */
}

double as_null_device_factor(const struct as_null_device *n)
{
    return n->index < n->script.factors_n ? n->script.factors[n->index] : 1;
}

static double mode_factor(struct as_null_device *n)
{
    const struct as_null_script *s = &n->script;
    double total = 0;
    for (size_t i = 0; i < s->modes_n; i++)
        total += s->modes[i].share;
    double at = as_rng_double(&n->rng) * total;
    for (size_t i = 0; i < s->modes_n; i++) {
        at -= s->modes[i].share;
        if (at < 0)
            return s->modes[i].factor;
    }
    return 1;
}

static double drift_factor(const struct as_null_device *n)
{
    const struct as_null_script *s = &n->script;
    double seconds = as_null_now(n) - n->opened;
    bool now = s->drift && seconds >= s->drift_from_s && seconds < s->drift_to_s &&
               n->launches >= s->drift_from_launch && n->launches < s->drift_to_launch;
    return now ? s->drift_factor : 1;
}

/* Seconds that a launch takes longer because the other side evicted what it reads. */
static double evicted_seconds(struct as_null_device *n, const struct as_launch *launch)
{
    const struct as_null_shared *c = &n->script.shared;
    const double footprint = launch->work.footprint;
    if (c->size == 0)
        return 0;
    if (strcmp(launch->kernel->host->name, c->touch) == 0) {
        const double lost = n->buffer > 0 ? (footprint + n->buffer - (double)c->size) / n->buffer : 0;
        n->evicted = fmax(n->evicted, fmin(fmax(lost, 0), 1));
    } else if (strcmp(launch->kernel->host->name, c->pass) == 0) {
        const double more = launch->work.accesses * c->ns * 1e-9 * n->evicted;
        n->evicted *= 1 - c->restores;
        n->buffer = footprint;
        return more;
    }
    return 0;
}

/* Turns around at the ends, so that drift stays drift however many launches there are. */
static double null_model_walk(struct as_null_device *n)
{
    if (n->script.walk_sd == 0)
        return 1;
    n->wander += n->script.walk_sd * as_rng_normal(&n->rng);
    n->wander = fabs(n->wander) > M_LN2 ? copysign(2 * M_LN2, n->wander) - n->wander : n->wander;
    return exp(n->wander);
}

double as_null_seconds(struct as_null_device *n, const struct as_launch *launch)
{
    const struct as_null_script *s = &n->script;
    const struct as_work *w = &launch->work;
    double once = 1e-9 * s->launch_ns, beta = 0;
    if (w->bytes > 0 || w->accesses > 0) {
        size_t i = 0;
        while (i + 1 < s->levels_n && (double)s->levels[i].size < w->footprint)
            i++;
        beta = s->levels_n ? s->levels[i].beta : 0;
        once = s->levels_n ? w->accesses * s->levels[i].ns * 1e-9 + w->bytes / (s->levels[i].gbs * 1e9) : once;
    }
    once += launch->kernel ? evicted_seconds(n, launch) : 0;
    double factor = null_model_walk(n) * as_null_noise(n, s->sd) * n->trial_factor * mode_factor(n) * drift_factor(n);
    const double seconds = (double)launch->reps * once * factor * (n->clock_halved ? 2 : 1);
    return n->machine.running ? as_null_play(n, seconds, beta) : seconds;
}

const struct as_null_copy *as_null_copy_between(const struct as_null_device *n, const char *from, const char *to)
{
    for (size_t i = 0; i < n->script.copies_n; i++)
        if (strcmp(n->script.copies[i].from, from) == 0 && strcmp(n->script.copies[i].to, to) == 0)
            return &n->script.copies[i];
    return NULL;
}

double as_null_now(const struct as_null_device *n)
{
    return n->script.has_machine ? n->machine.now : as_now();
}

double as_null_clock(struct as_null_device *n)
{
    if (n->machine.running)
        return as_null_machine_clock(n);
    return n->script.clock_hz * (n->clock_halved ? 0.5 : 1) * as_null_noise(n, 0.00025);
}

/* Counts a match of the fault; true if it triggers now. */
static bool null_model_counts(struct as_null_fault *f)
{
    f->seen++;
    return f->launch ? f->seen == f->launch : f->seen >= f->from;
}

static bool is_like(const char *name, const char *pattern)
{
    return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

const struct as_null_fault *as_null_strike(struct as_null_device *n, const char *kernel, const char *probe,
                                           double footprint)
{
    struct as_null_fault *first = NULL;
    for (size_t i = 0; i < n->script.faults_n; i++) {
        struct as_null_fault *f = &n->script.faults[i];
        bool matches = !f->of_allocations && is_like(kernel, f->kernel) && is_like(probe, f->probe) &&
                       footprint >= (double)f->min_footprint && footprint <= (double)f->max_footprint;
        if (matches && null_model_counts(f) && !first)
            first = f;
    }
    return first;
}

const struct as_null_fault *as_null_strike_allocation(struct as_null_device *n, const char *allocator, uint64_t bytes)
{
    struct as_null_fault *first = NULL;
    for (size_t i = 0; i < n->script.faults_n; i++) {
        struct as_null_fault *f = &n->script.faults[i];
        bool matches = f->of_allocations && is_like(allocator, f->allocator) && bytes >= f->min_footprint &&
                       bytes <= f->max_footprint;
        if (matches && null_model_counts(f) && !first)
            first = f;
    }
    return first;
}

enum as_status as_null_act(const struct as_null_fault *fault, const char *where, struct as_error *err)
{
    if (!fault)
        return AS_OK;
    if (fault->action == AS_NULL_CRASH) {
        signal(SIGSEGV, SIG_DFL); /* like a driver crash: uncaught */
        raise(SIGSEGV);
    }
    if (fault->action == AS_NULL_HANG)
        for (;;)
            pause();
    if (fault->action == AS_NULL_EXIT)
        _exit(1);
    if (fault->action == AS_NULL_FAIL)
        return as_fail(err, AS_FAILED, "%s failed, as the script says", where);
    if (fault->action == AS_NULL_OOM)
        return as_fail(err, AS_NOMEM, "%s ran out of memory, as the script says", where);
    return AS_OK;
}
