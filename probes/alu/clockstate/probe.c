/* clockstate: one GEMM launched three hundred times after idling: which rates occur, and when the rate becomes steady.
 * See method.md. */
#include "lib/gemm/gemm.h"
#include "series.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum { LAUNCHES = 300 };
static const double REST_S = 0.2;
/* Longer GEMMs would make a series last many seconds. */
static const double LONGEST_S = 10e-3;
/* FLOP/s that any device reaches, to exclude GEMMs that take too long. */
static const double CORES_RATE = 5e9, DEVICE_RATE = 1e12;

static const struct as_axis axes[] = {
    AS_WORD_AXIS("path", as_gemm_path_words, "tiled", "the GEMM path, see probe matmul"),
    AS_WORD_AXIS("type", as_gemm_type_words, "f32", "operand type, see probe matmul"),
    AS_COUNT_AXIS("size", 16, 16384, "256", "rows and columns of all three matrices"),
    {0},
};
static const char *const quick[] = {"path=wgmma,tiled type=f16 size=512,1024,2048,4096", "path=tiled type=f32 size=256",
                                    NULL};
static const char *const full[] = {"path=library,wgmma,mma,tiled type=f16 size=512,1024,2048,4096,8192",
                                   "path=library,tiled,naive type=f32 size=128,256,512,1024", NULL};

struct trial {
    struct as_gemm gemm;
    struct as_series series;
};

static enum as_applies clockstate_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const struct as_gemm_desc d = as_gemm_asked(a);
    enum as_applies can = as_gemm_applies(info, &d, err);
    double slowest = as_runs_on_host(info) ? CORES_RATE : d.path < AS_GEMM_DOT ? 100 * DEVICE_RATE : DEVICE_RATE;
    if (can != AS_APPLIES || as_gemm_flop(&d) <= slowest * LONGEST_S)
        return can;
    return as_inapplicable(err, "%d GEMMs of this size, one by one, would take many seconds", LAUNCHES);
}

/* Idles, then launches one GEMM at a time and waits for each. */
static enum as_status run_series(struct trial *v, struct as_error *err)
{
    const double flop = as_gemm_flop(&v->gemm.desc);
    enum as_status st = AS_OK;
    as_sleep(REST_S);
    double start = as_now();
    for (size_t i = 0; i < LAUNCHES && !st; i++) {
        struct as_timing t;
        st = as_gemm_run(&v->gemm, 1, &t, err);
        if (!st) {
            v->series.rate[i] = flop / as_timing_seconds(&t);
            v->series.ended[i] = as_now() - start;
        }
    }
    v->series.n = st ? 0 : LAUNCHES;
    return st;
}

static void clockstate_note(struct as_trial_context *tc, const struct as_series_found *f)
{
    as_note_number(tc, "launches", LAUNCHES);
    as_note_number(tc, "modes", (double)f->modes);
    if (f->modes == 2) {
        as_note_number(tc, "mode_low", f->mode[0]);
        as_note_number(tc, "mode_high", f->mode[1]);
        as_note_number(tc, "mode_share", f->share);
    }
    as_note_number(tc, "series_median", f->median);
    as_note_number(tc, "series_from", f->ci.lo);
    as_note_number(tc, "series_to", f->ci.hi);
    as_note_number(tc, "p5", f->low);
    as_note_number(tc, "p95", f->high);
    as_note_number(tc, "first", f->first);
    if (f->settles) {
        as_note_number(tc, "steady_after", (double)f->launches);
        as_note_number(tc, "steady_s", f->seconds);
    } else {
        as_note(tc, "steady", "not within the series");
    }
}

static enum as_status clockstate_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_gemm_desc d = as_gemm_asked(tc->axes);
    struct as_series_found found;
    struct trial *v = state;
    v->series = (struct as_series){.rate = calloc(LAUNCHES, sizeof(double)), .ended = calloc(LAUNCHES, sizeof(double))};
    if (!v->series.rate || !v->series.ended)
        return as_nomem(err, LAUNCHES * 2 * sizeof(double), "a series of launches");
    d.seed = (uint32_t)tc->seed;
    tc->footprint = as_gemm_bytes(&d);
    tc->min_reps = tc->max_reps = 1;
    enum as_status st = as_gemm_prepare(&v->gemm, tc->dev, &d, err);
    struct as_timing unused;
    if (!st) /* the library chooses an algorithm, the driver loads the kernel */
        st = as_gemm_run(&v->gemm, 1, &unused, err);
    if (!st)
        st = run_series(v, err);
    if (st)
        return st;
    if (!as_series_find(&v->series, &found))
        return as_nomem(err, LAUNCHES * sizeof(double), "a series of launches");
    clockstate_note(tc, &found);
    as_gemm_note(&v->gemm, tc);
    as_gemm_expect(&v->gemm, tc);
    return AS_OK;
}

static enum as_status clockstate_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *v = state;
    (void)reps;
    enum as_status st = run_series(v, err);
    if (st)
        return st;
    *out = (struct as_sample){
        .value = as_median(v->series.rate, v->series.n), .seconds = v->series.ended[LAUNCHES - 1], .clock_hz = NAN};
    return AS_OK;
}

static bool clockstate_check(void *state, char *why, size_t size)
{
    const struct trial *v = state;
    return as_gemm_check(&v->gemm, why, size);
}

static void clockstate_finish(void *state)
{
    struct trial *v = state;
    as_gemm_finish(&v->gemm);
    free(v->series.rate);
    free(v->series.ended);
}

const struct as_probe as_probe_clockstate = {
    .name = "clockstate",
    .title = "Single launches and the clock",
    .question = "Do single launches after idling have one mode or two, and how long until they are steady?",
    .metric = "rate of single launches",
    .unit = AS_UNIT_RATE,
    .counts =
        "2 x size x size x size operations over the time of one launch and wait; median of 300 after 0.2 s of idling",
    .own_power = true,
    AS_CELLS(axes, quick, full, clockstate_applies),
    .patience_s = 60, /* loading a library of hundreds of megabytes, compiling kernels */
    AS_TRIAL(struct trial, clockstate_prepare, clockstate_sample, clockstate_check, clockstate_finish),
};
