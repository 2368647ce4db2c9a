/* matmul_peak: operations per cycle and compute unit of each matrix instruction. See method.md. */
#include "lib/mma/instructions/layout.h"
#include "lib/mma/rate/trial.h"

#include <stdio.h>

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

/* Twice the operations for nearly the same operands: shared memory may be the limit, even with all columns. */
static void limit_sparse(struct as_trial_context *tc, const struct as_matrix *m, unsigned n)
{
    const double rate = as_matrix_shared_rate(m, n);
    if (!(rate < tc->limit))
        return;
    tc->limit = rate;
    snprintf(tc->limit_why, sizeof tc->limit_why, "an instruction reads %zu bytes of shared memory at 128 per cycle",
             as_matrix_shared_bytes(m, n));
}

static enum as_status matmul_peak_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_peak_trial *v = state;
    struct as_peak_desc d;
    as_peak_desc(tc->axes, &d);
    enum as_status st = as_peak_trial_prepare(tc, &d, v, err);
    if (st)
        return st;
    const struct as_matrix *m = v->peak.desc.matrix;
    const double units = tc->dev->info.compute_units ? tc->dev->info.compute_units : 1;
    as_note_number(tc, "teams", (double)(v->peak.teams * v->peak.workgroups) / units); /* of a compute unit */
    as_note_number(tc, "operations", 2.0 * m->m * v->peak.desc.n * m->k);
    const double documented = as_matrix_documented(m, tc->dev->info.arch);
    if (documented > 0)
        as_peak_limit(tc, documented);
    if (m->sparse)
        limit_sparse(tc, m, v->peak.desc.n);
    return AS_OK;
}

static enum as_status matmul_peak_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_peak_trial *v = state;
    enum as_status st = as_peak_trial_measure(v, reps, err);
    *out = (struct as_sample){
        .value = v->last.operations / v->last.cycles, .seconds = v->last.seconds, .clock_hz = v->last.clock_hz};
    return st;
}

const struct as_probe as_probe_matmul_peak = {
    .name = "matmul_peak",
    .title = "Peak of matrix instructions",
    .question = "How many operations per cycle does a compute unit do with each matrix instruction?",
    .metric = "throughput",
    .unit = "ops/cycle",
    .counts = "a multiply-add is two, skipped zeros of sparse A included; slowest compute unit, no loop, operands stay "
              "in place",
    AS_CELLS(axes, quick, full, as_peak_trial_applies),
    .about = as_matrix_about,
    .patience = as_peak_patience,
    AS_TRIAL(struct as_peak_trial, matmul_peak_prepare, matmul_peak_sample, as_peak_trial_check, as_peak_trial_finish),
};
