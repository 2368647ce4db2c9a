/* fusion: gain from bias, or bias and GELU, in the epilogue of a GEMM instead of in separate kernels. See method.md. */
#include "lib/arms/arms.h"
#include "lib/buffers/buffers.h"
#include "lib/gemm/gemm.h"

#include "base/text.h"

#include <math.h>

static const char *const operation_words[] = {"bias", "bias_gelu", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("path", as_gemm_path_words, "wgmma_pair,tensor,mma,tiled", "the GEMM path, see probe matmul"),
    AS_WORD_AXIS("type", as_gemm_type_words, "f16", "type of operands and results, see probe matmul"),
    AS_COUNT_AXIS("size", 16, 32768, "1024,2048,4096,8192", "rows and columns of all three matrices"),
    AS_WORD_AXIS("operation", operation_words, "all",
                 "bias: one fused operation; bias_gelu: two, which are two kernels when not fused"),
    {0},
};
static const char *const quick[] = {"path=wgmma_pair,tensor,tiled type=f16 size=1024,4096 operation=bias_gelu", NULL};
static const char *const full[] = {
    "path=wgmma_pair,wgmma,tensor,mma,tiled type=f16 size=512,1024,2048,4096,8192 operation=all",
    "path=wgmma_pair,mma type=bf16,tf32 size=1024,8192 operation=all", NULL};

enum { SEPARATE = 2, GROUPS = 16 /* per compute unit */ };
static const double SAMPLE_S = 5e-3;

enum { FUSED, APART, ARMS };

struct trial {
    struct as_gemm fused, plain;
    struct as_arms blocks;
    uint64_t reps;                       /* of the sample */
    struct as_kernel *kernels[SEPARATE]; /* the separate operations */
    struct as_arg args[SEPARATE][4];
    struct as_launch launches[SEPARATE];
    size_t n;
};

static struct as_gemm_desc fusion_desc_of(const struct as_axes *a)
{
    struct as_gemm_desc d = as_gemm_asked(a);
    d.epilogue = as_word_is(a, "operation", "bias") ? AS_GEMM_BIAS : AS_GEMM_GELU;
    return d;
}

/* Bias and GELU need a float type, in f32. */
static enum as_applies fusion_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_gemm_desc d = fusion_desc_of(a);
    if (d.path == AS_GEMM_LIBRARY || d.type == AS_GEMM_S8 || d.type == AS_GEMM_F64)
        return AS_PRUNED;
    return as_gemm_applies(info, &d, err);
}

static double fusion_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const struct as_gemm_desc d = fusion_desc_of(a);
    return 60 + 2 * as_gemm_flop(&d) * (info->is_host_cpu ? 1e-9 : 1e-11);
}

static enum as_status prepare_separate(struct trial *v, struct as_error *err)
{
    static const char *const names[SEPARATE] = {"add_bias", "take_gelu"};
    struct as_device *dev = v->plain.dev;
    const struct as_gemm_desc *d = &v->plain.desc;
    const struct as_arg result = as_memory_arg(v->plain.d);
    const struct as_arg bias = as_memory_arg(v->fused.bias);
    const struct as_arg columns = as_u32_arg(d->n);
    const struct as_arg count = as_u64_arg(d->m * d->n);
    const struct as_arg args[SEPARATE][4] = {{result, bias, columns, count}, {result, count}};
    const size_t args_n[SEPARATE] = {4, 2};
    enum as_status st = AS_OK;
    v->n = v->fused.desc.epilogue == AS_GEMM_GELU ? 2 : 1;
    for (size_t i = 0; i < v->n && !st; i++) {
        st = as_buffers_keep_kernel(&v->fused.own, v->fused.plain, names[i], &v->kernels[i], err);
        for (size_t k = 0; k < args_n[i]; k++)
            v->args[i][k] = args[i][k];
        v->launches[i] =
            (struct as_launch){.kernel = v->kernels[i],
                               .args = v->args[i],
                               .args_n = args_n[i],
                               .workgroups = (size_t)GROUPS * (dev->info.compute_units ? dev->info.compute_units : 1),
                               .workgroup_size = 256};
    }
    return st;
}

static enum as_status fusion_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct as_gemm_desc d = fusion_desc_of(tc->axes);
    struct trial *v = state;
    d.seed = (uint32_t)tc->seed;
    tc->sample_s = SAMPLE_S;
    tc->footprint = as_gemm_bytes(&d);
    as_arms_start(&v->blocks, ARMS, (size_t)tc->trial, tc->seed);
    enum as_status st = as_gemm_prepare(&v->fused, tc->dev, &d, err);
    d.epilogue = AS_GEMM_PLAIN;
    if (!st)
        st = as_gemm_prepare(&v->plain, tc->dev, &d, err);
    if (!st)
        st = prepare_separate(v, err);
    if (st)
        return st;
    uint64_t cache = as_info_last_cache(&tc->dev->info);
    if (cache)
        as_note(tc, "result_in_cache", v->plain.d->bytes <= cache ? "yes" : "no");
    as_gemm_note(&v->fused, tc);
    as_gemm_expect(&v->fused, tc);
    as_gemm_expect(&v->plain, tc);
    return AS_OK;
}

/* The plain GEMM, then the separate kernels; each reps times. */
static enum as_status run_separate(struct trial *v, uint64_t reps, double *seconds, struct as_error *err)
{
    struct as_device *dev = v->plain.dev;
    struct as_timing t;
    enum as_status st = as_gemm_run(&v->plain, reps, &t, err);
    *seconds = st ? NAN : as_timing_seconds(&t);
    for (size_t i = 0; i < v->n && !st; i++) {
        v->launches[i].reps = reps;
        st = dev->queue->launch(dev, &v->launches[i], &t, err);
        *seconds += st ? 0 : as_timing_seconds(&t);
    }
    return st;
}

static enum as_status fusion_measure(void *user, size_t arm, double *seconds, struct as_error *err)
{
    struct trial *v = user;
    struct as_timing t;
    if (arm == APART)
        return run_separate(v, v->reps, seconds, err);
    const enum as_status st = as_gemm_run(&v->fused, v->reps, &t, err);
    *seconds = st ? NAN : as_timing_seconds(&t);
    return st;
}

static enum as_status fusion_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct trial *v = state;
    double seconds[ARMS] = {NAN, NAN};
    v->reps = reps;
    const enum as_status st = as_arms_run(&v->blocks, fusion_measure, v, seconds, err);
    *out = (struct as_sample){
        .value = seconds[APART] / seconds[FUSED], .seconds = seconds[APART] + seconds[FUSED], .clock_hz = NAN};
    return st;
}

/* The samples applied the operations in place repeatedly; one more run in order gives the expected result. */
static bool fusion_check(void *state, char *why, size_t size)
{
    struct trial *v = state;
    struct as_gemm separate = v->plain;
    struct as_error err = {0};
    double unused;
    separate.desc.epilogue = v->fused.desc.epilogue;
    if (run_separate(v, 1, &unused, &err)) {
        as_copy_text(why, size, err.text);
        return false;
    }
    return as_gemm_check(&separate, why, size) && as_gemm_check(&v->fused, why, size);
}

static void fusion_finish(void *state)
{
    struct trial *v = state;
    as_gemm_finish(&v->plain);
    as_gemm_finish(&v->fused);
}

const struct as_probe as_probe_fusion = {
    .name = "fusion",
    .title = "Fused epilogues",
    .question = "How much longer does a GEMM take with bias and GELU in separate kernels?",
    .metric = "ratio",
    .unit = "x",
    .counts = "time of the plain GEMM and of the kernels after it, over the time of the fused kernel",
    .needs = AS_CAP_SOURCE,
    .own_power = true,
    AS_CELLS(axes, quick, full, fusion_applies),
    .patience = fusion_patience,
    AS_TRIAL(struct trial, fusion_prepare, fusion_sample, fusion_check, fusion_finish),
};
