/* matmul: square GEMM by every path of a device. See method.md. */
#include "lib/gemm/gemm.h"

#include "base/clock.h"

#include <math.h>

static const char *const operand_words[] = {"random", "zero", NULL};
static const char *const hold_words[] = {"burst", "sustained", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("path", as_gemm_path_words, "all",
                 "vendor library; matrix units by wgmma (clusters of two or single), tensor (Metal 4), mma or wmma "
                 "(CUDA); vector ALU, "
                 "blocked (dot, four bytes at a time, or tiled) or naive"),
    AS_WORD_AXIS("type", as_gemm_type_words, "f32",
                 "operand type; accumulators are s32 for s8, f64 for f64, else f32; results of 16 and 8-bit types are "
                 "rounded to 16 bits"),
    AS_COUNT_AXIS("size", 16, 32768, "1024", "rows and columns of all three matrices"),
    AS_WORD_AXIS(
        "operands", operand_words, "random",
        "random: between -1 and 1, integers over the full range; zero: no bit toggles, which takes less power"),
    AS_WORD_AXIS("hold", hold_words, "burst",
                 "burst: five GEMMs or more after a pause ten times as long; sustained: without a pause, after half a "
                 "second of it"),
    {0},
};
static const char *const quick[] = {
    "path=all type=f32,f16 size=1024 hold=burst",
    "path=library,wgmma_pair,wgmma,tensor,mma type=f16,e4m3 size=8192 hold=burst",
    NULL,
};
static const char *const full[] = {
    "path=all type=all size=512,1024,2048,4096,8192,16384",
    "path=library,wgmma_pair,wgmma type=f16,e4m3,s8,tf32 size=8192 operands=all hold=all",
    NULL,
};

static const struct as_metric further[] = {
    {"power_w", "W", true, "power of the whole board, by the device's sensor", NULL}, {0}};

enum { PAUSE = 10 /* times a sample's time */, BURST = 5 /* GEMMs, minimum */ };
static const double WARM_S = 0.5, SUSTAINED_S = 0.2, BURST_S = 2e-3;
/* Fewer GEMMs suffice if BURST of them take longer: the power limit acts within tens of milliseconds. */
static const double BURST_MOST_S = 0.1;
/* The pause ends when the clock has recovered, no longer rises, or after this time. The first pause follows other work:
 * operands, the library's choice of algorithm, an earlier measurement. */
static const double PAUSE_FIRST_S = 0.05, PAUSE_MOST_S = 0.25, CLOCK_EVERY_S = 0.05, RECOVERED = 0.99, RISES = 1.005;

struct trial {
    struct as_gemm gemm; /* first: the record's finish takes it */
    bool sustained;
    double seconds; /* of the last sample */
};

static struct as_gemm_desc matmul_desc_of(const struct as_axes *a)
{
    struct as_gemm_desc d = as_gemm_asked(a);
    d.zero = as_word_is(a, "operands", "zero");
    return d;
}

static enum as_applies matmul_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_gemm_desc d = matmul_desc_of(a);
    return as_gemm_applies(info, &d, err);
}

/* A library of hundreds of megabytes is loaded, kernels compile, a CPU generates operands. */
static double matmul_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const struct as_gemm_desc d = matmul_desc_of(a);
    return 60 + as_gemm_flop(&d) * (as_runs_on_host(info) ? 1e-9 : 1e-11);
}

static enum as_status matmul_warm_up(struct trial *v, struct as_error *err)
{
    double end = as_now() + WARM_S;
    enum as_status st = AS_OK;
    while (!st && as_now() < end) {
        struct as_timing t;
        st = as_gemm_run(&v->gemm, 1, &t, err);
    }
    return st;
}

static double clock_now(struct as_device *dev)
{
    double hz = NAN;
    return dev->device->clock && !dev->device->clock(dev, &hz, NULL) ? hz : NAN;
}

/* Before a burst, power and clock recover. */
static void matmul_rest(const struct trial *v)
{
    struct as_device *dev = v->gemm.dev;
    const double start = as_now(), highest = as_runs_on_host(&dev->info) ? 0 : dev->info.clock_max_hz;
    as_sleep(fmin(fmax(PAUSE * v->seconds, v->seconds > 0 ? 0 : PAUSE_FIRST_S), PAUSE_MOST_S));
    double before = 0, hz = highest > 0 ? clock_now(dev) : NAN;
    while (hz < RECOVERED * highest && hz > RISES * before && as_now() - start < PAUSE_MOST_S) {
        before = hz;
        as_sleep(CLOCK_EVERY_S);
        hz = clock_now(dev);
    }
}

/* Chooses the number of GEMMs in a burst. The first run loads the code; a second one is timed unless it would take
 * long. A burst that is long enough needs no calibration, each sample of which would cost another pause. */
static enum as_status count_burst(struct trial *v, struct as_trial_context *tc, struct as_error *err)
{
    struct as_timing t;
    enum as_status st = as_gemm_run(&v->gemm, 1, &t, err);
    if (!st && as_timing_seconds(&t) < BURST_MOST_S)
        st = as_gemm_run(&v->gemm, 1, &t, err);
    if (st)
        return st;
    const double fit = BURST_MOST_S / as_timing_seconds(&t);
    tc->min_reps = fit >= BURST ? BURST : fit >= 1 ? (uint64_t)fit : 1;
    if ((double)tc->min_reps * as_timing_seconds(&t) >= BURST_S)
        tc->max_reps = tc->min_reps;
    return AS_OK;
}

static enum as_status matmul_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_gemm_desc d = matmul_desc_of(tc->axes);
    struct trial *v = state;
    d.seed = (uint32_t)tc->seed;
    v->sustained = as_word_is(tc->axes, "hold", "sustained");
    tc->footprint = as_gemm_bytes(&d);
    tc->sample_s = v->sustained ? SUSTAINED_S : BURST_S;
    enum as_status st = as_gemm_prepare(&v->gemm, tc->dev, &d, err);
    if (st)
        return st;
    as_gemm_note(&v->gemm, tc);
    as_gemm_expect(&v->gemm, tc);
    return v->sustained ? matmul_warm_up(v, err) : count_burst(v, tc, err);
}

static enum as_status matmul_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *v = state;
    struct as_timing t;
    if (!v->sustained)
        matmul_rest(v);
    enum as_status st = as_gemm_run(&v->gemm, reps, &t, err);
    if (st)
        return st;
    v->seconds = as_timing_seconds(&t);
    *out = (struct as_sample){.value = as_gemm_flop(&v->gemm.desc) * (double)reps / v->seconds, .seconds = v->seconds};
    out->clock_hz = clock_now(v->gemm.dev); /* still the clock of the burst, as the device has not idled since */
    return AS_OK;
}

static bool matmul_check(void *state, char *why, size_t size)
{
    const struct trial *v = state;
    return as_gemm_check(&v->gemm, why, size);
}

const struct as_probe as_probe_matmul = {
    .name = "matmul",
    .title = "Matrix multiplication (GEMM)",
    .question = "What GEMM rate does each path reach?",
    .metric = "throughput",
    .unit = AS_UNIT_RATE,
    .counts = "2 x size x size x size operations (multiply and add), whatever the path executes",
    .further = further,
    .own_power = true,
    AS_CELLS(axes, quick, full, matmul_applies),
    .patience = matmul_patience,
    AS_TRIAL(struct trial, matmul_prepare, matmul_sample, matmul_check, as_gemm_finish),
};
