/* attention: decomposed into GEMMs through memory, or in one fused kernel. See method.md. */
#include "attention.h"

#include <math.h>

static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "path", as_attention_path_words, "all",
        "decomposed: GEMM, softmax, GEMM, through memory; scalar: fused, vector ALU; flash: fused, matrix units "
        "(mma.sync; AMD: MFMA, WMMA); split: flash on ranges of keys, combined by a second kernel; flash_wgmma, "
        "split_wgmma: both by wgmma"),
    AS_COUNT_AXIS("length", 128, 65536, "512,1024,2048,4096,8192", "queries, and keys, per head"),
    AS_COUNT_AXIS("heads", 1, 256, "16", "heads of dimension 128"),
    {0},
};
static const char *const quick[] = {"path=all length=512,4096 heads=16", NULL};
static const char *const full[] = {"path=all length=512,1024,2048,4096,8192 heads=1,16", NULL};

static const double SAMPLE_S = 5e-3;

static struct as_attention_desc attention_desc_of(const struct as_axes *a)
{
    return (struct as_attention_desc){.path = (enum as_attention_path)as_word_index(a, "path", as_attention_path_words),
                                      .length = as_axes_u64(a, "length"),
                                      .heads = as_axes_u64(a, "heads")};
}

static enum as_applies attention_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    const struct as_attention_desc d = attention_desc_of(a);
    return as_attention_applies(info, &d, err);
}

static double attention_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const struct as_attention_desc d = attention_desc_of(a);
    return 60 + as_attention_flop(&d) * (info->is_host_cpu ? 4e-9 : 1e-11);
}

static enum as_status attention_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_attention_desc d = attention_desc_of(tc->axes);
    struct as_attention *a = state;
    d.seed = (uint32_t)tc->seed;
    tc->sample_s = SAMPLE_S;
    enum as_status st = as_attention_prepare(a, tc->dev, &d, err);
    if (st)
        return st;
    tc->footprint = 4 * a->q->bytes + (a->scores ? a->scores->bytes : 0) + (a->partial ? a->partial->bytes : 0);
    if (a->parts > 1)
        as_note_number(tc, "parts", a->parts);
    if (a->scores)
        as_note(tc, "products", as_gemm_path_words[a->score.desc.path]);
    if (a->flash)
        as_expect_code(tc, a->kernels[0], "matrix", as_attention_flash_steps(&tc->dev->info, a->desc.path));
    return AS_OK;
}

static enum as_status attention_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_attention *a = state;
    double seconds;
    enum as_status st = as_attention_run(a, reps, &seconds, err);
    if (st)
        return st;
    *out = (struct as_sample){
        .value = as_attention_flop(&a->desc) * (double)reps / seconds, .seconds = seconds, .clock_hz = NAN};
    return AS_OK;
}

static bool attention_check(void *state, char *why, size_t size)
{
    return as_attention_check(state, why, size);
}

const struct as_probe as_probe_attention = {
    .name = "attention",
    .title = "Attention",
    .question = "How much faster is fused attention than GEMM, softmax, GEMM?",
    .metric = "throughput",
    .unit = AS_UNIT_RATE,
    .counts = "4 x length x length x 128 operations per head: the two products, without softmax",
    .needs = AS_CAP_SOURCE,
    .own_power = true,
    AS_CELLS(axes, quick, full, attention_applies),
    .patience = attention_patience,
    AS_TRIAL(struct as_attention, attention_prepare, attention_sample, attention_check, as_attention_finish),
};
