/* matmul_rate: rate of a matrix instruction on the whole device, with random numbers and zeros, in bursts and
 * sustained. See method.md. */
#include "lib/mma/rate/trial.h"

#include "lib/checks/checks.h"

static const char *const hold_words[] = {"burst", "sustained", NULL};
static const struct as_axis axes[] = {
    AS_MATRIX_AXIS("wgmma_f16_f32,mma_m16n8k16_f16_f32,simdgroup_m8n8k8_f16_f32"),
    AS_COLUMNS_AXIS,
    AS_OPERANDS_WORDS_AXIS("all"),
    AS_WORD_AXIS(
        "hold", hold_words, "all",
        "burst: 1 ms of work after 30 ms of idling; sustained: without idling, long enough for the power limit to act"),
    {0},
};
static const char *const quick[] = {
    "instruction=wgmma_f16_f32,mma_m16n8k16_f16_f32,simdgroup_m8n8k8_f16_f32 operands=all hold=all", NULL};
static const char *const full[] = {
    "instruction=wgmma_f16_f32,wgmma_tf32_f32,wgmma_e4m3_f32,wgmma_s8_s32,mma_m16n8k16_f16_f32,mma_m8n8k4_f64,"
    "mma_m16n8k32_s8_s32,simdgroup_m8n8k8_f16_f32,simdgroup_m8n8k8_bf16_f32,simdgroup_m8n8k8_f32 operands=all hold=all",
    NULL};

static const struct as_metric further[] = {
    {"power_w", "W", true, "power of the whole board, by the device's sensor", NULL}, {0}};

static const double BURST_S = 1e-3, REST_S = 30e-3;
/* The power limit acts within tens of milliseconds, and the sensor averages over the last hundred. */
static const double SUSTAINED_S = 0.4;

static bool matmul_rate_desc_of(const struct as_axes *a, struct as_peak_desc *d)
{
    const bool good = as_peak_desc(a, d);
    d->long_bodies = d->rate_only = true;
    return good;
}

static enum as_applies matmul_rate_applies(const struct as_device_info *info, const struct as_axes *a,
                                           struct as_error *err)
{
    struct as_peak_desc d;
    return matmul_rate_desc_of(a, &d) ? as_peak_applies(info, &d, err) : AS_PRUNED;
}

static enum as_status matmul_rate_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_peak_desc d;
    matmul_rate_desc_of(tc->axes, &d);
    bool burst = as_word_is(tc->axes, "hold", "burst");
    tc->sample_s = burst ? BURST_S : SUSTAINED_S;
    enum as_status st = as_peak_trial_prepare(tc, &d, state, err);
    ((struct as_peak_trial *)state)->rest_s = burst ? REST_S : 0;
    const struct as_device_info *info = &tc->dev->info;
    double documented = as_matrix_documented(d.matrix, info->arch);
    if (documented > 0 && info->clock_max_hz > 0)
        as_peak_limit(tc, documented * info->compute_units * info->clock_max_hz);
    return st;
}

static enum as_status matmul_rate_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_peak_trial *v = state;
    enum as_status st = as_peak_trial_measure(v, reps, err);
    *out = (struct as_sample){.value = v->last.rate, .seconds = v->last.seconds, .clock_hz = v->last.clock_hz};
    return st;
}

const struct as_probe as_probe_matmul_rate = {
    .name = "matmul_rate",
    .title = "Rate of matrix instructions",
    .question = "What rate do a device's matrix instructions reach, and how do operands and the power limit change it?",
    .metric = "rate",
    .unit = AS_UNIT_RATE,
    .counts = "all compute units; a multiply-add is two, skipped zeros of sparse A included; operands stay in place",
    .further = further,
    .own_power = true,
    AS_CELLS(axes, quick, full, matmul_rate_applies),
    .about = as_matrix_about,
    .patience = as_peak_patience,
    AS_TRIAL(struct as_peak_trial, matmul_rate_prepare, matmul_rate_sample, as_peak_trial_check, as_peak_trial_finish),
};
