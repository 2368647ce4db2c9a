#include "toucher.h"

#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PAGE = 4096, CALIBRATIONS = 3, CALIBRATED = 64 };

static void touch_here(const struct side_memory *m, const struct side_work *w)
{
    const uint64_t sum = as_side_touch_here(m->host, w);
    if (!w->value)
        m->host[1] = sum; /* a word outside all touches */
}

static enum as_status residual_run(const struct side_memory *m, const struct side_work *w, double *seconds,
                                   struct as_error *err)
{
    struct as_timing timing;
    enum as_status st = AS_OK;
    const double start = as_now();
    if (m->host)
        touch_here(m, w);
    else
        st = as_side_launch(m, false, w, &timing, err);
    *seconds = as_now() - start;
    return st;
}

static enum as_status run_idle(struct toucher *t, uint64_t lines, double *seconds, struct as_error *err)
{
    const struct side_work w = {.lines = lines, .step = SIDE_LINE / 8, .mask = PAGE / 8 - 1, .value = t->write ? 1 : 0};
    return residual_run(&t->page, &w, seconds, err);
}

/* Times idle runs without loads and with many. */
static enum as_status time_idle(struct toucher *t, uint64_t lines, bool *apart, struct as_error *err)
{
    double empty = INFINITY, full = INFINITY;
    enum as_status st = AS_OK;
    for (int i = 0; i < CALIBRATIONS && !st; i++) {
        double s = NAN;
        st = run_idle(t, 0, &s, err);
        empty = fmin(empty, s);
        if (!st)
            st = run_idle(t, lines, &s, err);
        full = fmin(full, s);
    }
    t->launch_s = empty;
    t->line_s = fmax(full - empty, 0) / (double)lines;
    *apart = full >= 2 * empty;
    return st;
}

/* Increases the loads until they show against the launch time. */
static enum as_status residual_calibrate(struct toucher *t, struct as_error *err)
{
    bool apart = false;
    enum as_status st = AS_OK;
    for (uint64_t lines = t->idle_lines; !apart && !st && lines <= CALIBRATED * t->idle_lines; lines *= 2)
        st = time_idle(t, lines, &apart, err);
    return st;
}

enum as_status as_toucher_prepare(struct toucher *t, struct side_kernels *kernels, uint64_t bytes, uint64_t idle_lines,
                                  bool write, struct as_error *err)
{
    const struct side_work first = {.lines = bytes / SIDE_LINE, .step = SIDE_LINE / 8, .mask = UINT64_MAX, .value = 1};
    double unused;
    *t = (struct toucher){.write = write, .work = first, .idle_lines = first.lines ? first.lines : idle_lines};
    enum as_status st = as_side_memory_make(&t->page, kernels, PAGE, err);
    if (!st)
        st = as_side_memory_make(&t->memory, kernels, bytes < PAGE ? PAGE : bytes, err);
    if (!st)
        st = residual_run(&t->memory, &first, &unused, err); /* populates the memory */
    if (!st)
        st = residual_calibrate(t, err);
    return st;
}

enum as_status as_toucher_run(struct toucher *t, double *seconds, struct as_error *err)
{
    if (t->work.lines == 0)
        return run_idle(t, t->idle_lines, seconds, err);
    t->work.value = t->write ? t->work.value + 1 : 0;
    return residual_run(&t->memory, &t->work, seconds, err);
}

enum as_status as_toucher_idle(struct toucher *t, double seconds, struct as_error *err)
{
    const double most = (double)CALIBRATED * (double)t->idle_lines;
    const double lines = t->line_s > 0 ? (seconds - t->launch_s) / t->line_s : 0;
    double unused;
    return run_idle(t, (uint64_t)fmin(fmax(lines, 0), most), &unused, err);
}

static bool check_sum(struct toucher *t, char *why, size_t why_size)
{
    /* all loads read what the first touch stored */
    const uint64_t n = t->work.lines, want = n + n * (n - 1) / 2;
    struct as_error err;
    uint64_t sum = 0;
    bool read = true;
    if (t->memory.host)
        sum = t->memory.host[1];
    else
        read = !as_side_sum(&t->memory, false, &t->work, &sum, &err);
    snprintf(why, why_size, "the other side loaded a sum of %" PRIu64 ", %" PRIu64 " is right", sum, want);
    return read && sum == want;
}

static enum as_status read_last(const struct side_memory *m, uint64_t at, uint64_t *last, struct as_error *err)
{
    struct as_device *dev = m->kernels->own.dev;
    return dev->memory->read(dev, m->device, at * SIDE_LINE, last, sizeof *last, err);
}

static bool check_last(struct toucher *t, char *why, size_t why_size)
{
    const uint64_t at = t->work.lines - 1, want = t->work.value + at;
    struct as_error err;
    uint64_t last = 0;
    bool read = true;
    if (t->memory.host)
        last = t->memory.host[at * (SIDE_LINE / 8)];
    else
        read = !read_last(&t->memory, at, &last, &err);
    snprintf(why, why_size, "the last line that the other side stored to has %" PRIu64 ", %" PRIu64 " is right", last,
             want);
    return read && last == want;
}

bool as_toucher_check(struct toucher *t, char *why, size_t why_size)
{
    if (t->work.lines == 0)
        return true;
    return t->write ? check_last(t, why, why_size) : check_sum(t, why, why_size);
}

void as_toucher_finish(struct toucher *t)
{
    as_side_memory_free(&t->memory);
    as_side_memory_free(&t->page);
}
