/* matmul_peak: operations per cycle and compute unit of each matrix instruction. See method.md. */
#include "lib/mma/rate/trial.h"

#include <math.h>

static const struct as_axis axes[] = {
    AS_MATRIX_AXIS("all"),
    AS_COLUMNS_AXIS,
    AS_COUNT_AXIS("chains", 0, 16, "0",
                  "independent accumulators per lane; 0: four if registers suffice, one for asynchronous instructions",
                  .zero = "usual"),
    AS_COUNT_AXIS("warps", 0, 32, "0",
                  "warps (waves) per compute unit; 0: 16, 8 where each lane holds many elements, two warpgroups for "
                  "asynchronous instructions",
                  .zero = "usual"),
    AS_OPERANDS_WORDS_AXIS("random"),
    {0},
};
static const char *const quick[] = {
    "instruction=wgmma_f16_f32,wgmma_bf16_f32,wgmma_tf32_f32,wgmma_e4m3_f32,wgmma_s8_s32,mma_m16n8k16_f16_f32,"
    "mma_m16n8k8_tf32_f32,mma_m16n8k32_s8_s32,mma_m8n8k4_f64",
    NULL};
static const char *const full[] = {
    "instruction=all", "instruction=wgmma_f16_f32,wgmma_rs_f16_f32,wgmma_e4m3_f32 n=8,16,32,64,96,128,192,256",
    "instruction=wgmma_f16_f32 n=64,128 chains=1,2,4 warps=4,8,12,16",
    "instruction=mma_m16n8k16_f16_f32 chains=1,2,4,8 warps=1,4,8,16,32", NULL};

struct state {
    struct as_peak_trial trial; /* first: what checks and finishes a trial takes it */
    struct as_trial_context *tc;
    double cycles; /* sum over the samples */
    unsigned samples;
};

static enum as_status matmul_peak_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    struct as_peak_desc d;
    as_peak_desc(tc->axes, &d);
    s->tc = tc;
    enum as_status st = as_peak_trial_prepare(tc, &d, &s->trial, err);
    double documented = as_matrix_documented(d.matrix, tc->dev->info.arch);
    if (documented > 0)
        as_peak_limit(tc, documented);
    return st;
}

static enum as_status matmul_peak_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_peak_trial *v = &s->trial;
    enum as_status st = as_peak_trial_measure(v, reps, err);
    s->cycles += v->last.cycles;
    s->samples++;
    *out = (struct as_sample){
        .value = v->last.operations / v->last.cycles, .seconds = v->last.seconds, .clock_hz = v->last.clock_hz};
    return st;
}

/* Of one chain in one group of lanes each instruction waits for the result of the one before. */
static bool matmul_peak_check(void *state, char *why, size_t size)
{
    struct state *s = state;
    const double latency = s->samples ? s->cycles / s->samples : NAN;
    if (s->trial.peak.desc.chains == 1 && s->trial.peak.teams == 1 && latency > 0)
        as_note_number(s->tc, "latency", latency);
    return as_peak_trial_check(&s->trial, why, size);
}

static const struct as_metric further[] = {{"latency", "cycles", true,
                                            "cycles from one instruction to the next that adds to its result: of "
                                            "measurements with one chain in one group of lanes",
                                            NULL},
                                           {0}};

const struct as_probe as_probe_matmul_peak = {
    .name = "matmul_peak",
    .title = "Peak of matrix instructions",
    .question = "How many operations per cycle does a compute unit do with each matrix instruction?",
    .metric = "throughput",
    .unit = "ops/cycle",
    .counts = "a multiply-add is two, skipped zeros of sparse A included; slowest compute unit, no loop, operands stay "
              "in place",
    .further = further,
    AS_CELLS(axes, quick, full, as_peak_trial_applies),
    .about = as_matrix_about,
    .patience = as_peak_patience,
    AS_TRIAL(struct state, matmul_peak_prepare, matmul_peak_sample, matmul_peak_check, as_peak_trial_finish),
};
