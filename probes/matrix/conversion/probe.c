/* conversion: rounding and overflow of a device's conversion instructions. See
 * method.md. */
#include "device/dialect/dialect.h"
#include "find.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const char as_method_conversion[], as_kernel_convert[];

/* d: u32, x: bits of f32 */
#define PTX_16(text) "{ u16 h; asm(\"" text "\" : \"=h\"(h) : \"f\"(__uint_as_float(x)), \"f\"(0.0f)); d = h; }"
#define GCN_8(name) "d = (u32)__builtin_amdgcn_cvt_pk_" name "_f32(__uint_as_float(x), 0.0f, 0, 0) & 0xffu;"
#define MSL_8(format) "d = pack<" format ">(float4(as_type<f32>(x))).as_storage_type()[0];"
#define MSL_16(type) "{ u16 h = as_type<u16>((" type ")as_type<f32>(x)); d = h; }"
static const struct conversion {
    const char *word, *format;
    enum as_dialect dialect;
    unsigned least;   /* CUDA: minimum architecture */
    const char *only; /* prefix of the architecture's name */
    const char *text;
    unsigned needs; /* capabilities */
} conversions[] = {
    {"f32_e4m3", "e4m3", AS_DIALECT_CUDA, 89, "", PTX_16("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;"), 0},
    {"f32_e5m2", "e5m2", AS_DIALECT_CUDA, 89, "", PTX_16("cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;"), 0},
    {"f32_f16", "f16", AS_DIALECT_CUDA, 80, "", PTX_16("cvt.rn.f16.f32 %0, %1;"), 0},
    {"f32_bf16", "bf16", AS_DIALECT_CUDA, 80, "", PTX_16("cvt.rn.bf16.f32 %0, %1;"), 0},
    {"f32_tf32", "tf32", AS_DIALECT_CUDA, 80, "",
     "asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(d) : \"f\"(__uint_as_float(x)));", 0},
    {"f32_e4m3fnuz", "e4m3fnuz", AS_DIALECT_HIP, 0, "gfx942", GCN_8("fp8"), 0},
    {"f32_e5m2fnuz", "e5m2fnuz", AS_DIALECT_HIP, 0, "gfx942", GCN_8("bf8"), 0},
    {"f32_e4m3", "e4m3", AS_DIALECT_METAL, 0, "", MSL_8("metal_fp8_e4m3_format"), AS_CAP_TENSOR_FP8},
    {"f32_e5m2", "e5m2", AS_DIALECT_METAL, 0, "", MSL_8("metal_fp8_e5m2_format"), AS_CAP_TENSOR_FP8},
    {"f32_f16", "f16", AS_DIALECT_METAL, 0, "", MSL_16("f16"), AS_CAP_FP16},
    {"f32_bf16", "bf16", AS_DIALECT_METAL, 0, "", MSL_16("bf16"), AS_CAP_BF16},
};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };
static const char *const words[] = {"f32_e4m3", "f32_e5m2",     "f32_f16",      "f32_bf16",
                                    "f32_tf32", "f32_e4m3fnuz", "f32_e5m2fnuz", NULL};
static const char *const property_words[CONVERSION_PROPERTIES + 1] = {"rounding",  "overflow",  "infinity", "nan",
                                                                      "subnormal", "explained", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", words, "all", "the conversion: from, to"),
    AS_WORD_AXIS("property", property_words, "all", "what is found: rounding, overflow, infinity, NaN, subnormals"),
    {0},
};
static const char *const quick[] = {"op=f32_e4m3,f32_e5m2,f32_f16,f32_bf16,f32_e4m3fnuz,f32_e5m2fnuz property=all",
                                    NULL};
static const char *const full[] = {"op=all property=all", NULL};

enum { GROUP_THREADS = 128 };
struct state {
    struct as_kernel_timer timer; /* first: the record's finish takes it */
    struct conversion_found found;
    enum conversion_property property;
    double seconds;
};

/* NULL: the dialect has no function of that name. */
static const struct conversion *conversion_of(const struct as_device_info *info, const struct as_axes *a)
{
    const enum as_dialect dialect = as_dialect_find(info->dialect);
    for (const struct conversion *c = conversions; c < conversions + CONVERSIONS; c++)
        if (c->dialect == dialect && as_word_is(a, "op", c->word))
            return c;
    return NULL;
}

static enum as_applies conversion_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const struct conversion *c = conversion_of(info, a);
    enum as_dialect dialect = as_dialect_find(info->dialect);
    if (dialect != AS_DIALECT_CUDA && dialect != AS_DIALECT_HIP && dialect != AS_DIALECT_METAL) {
        as_fail(err, AS_UNSUPPORTED, "this device's dialect has no conversion instructions");
        return as_word_is(a, "op", words[0]) ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (!c)
        return AS_PRUNED;
    if (as_arch_number(info) < c->least)
        as_fail(err, AS_UNSUPPORTED, "%s needs an architecture from sm_%u on, this is %s", c->word, c->least,
                info->arch);
    else if (strncmp(info->arch, c->only, strlen(c->only)) != 0)
        as_fail(err, AS_UNSUPPORTED, "%s is an instruction of %s, this is %s", c->word, c->only, info->arch);
    else if (c->needs & ~info->capabilities)
        as_fail(err, AS_UNSUPPORTED, "this system's compiler cannot build a kernel with %s", c->format);
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static enum as_status conversion_convert(void *ctx, size_t n, const uint32_t *from, uint32_t *to, struct as_error *err)
{
    struct as_kernel_timer *t = ctx;
    struct as_device *dev = t->dev;
    size_t workgroups = (n + GROUP_THREADS - 1) / GROUP_THREADS, bytes = workgroups * GROUP_THREADS * sizeof *from;
    struct as_memory *in, *out;
    enum as_status st = as_kernel_timer_keep_memory(t, bytes, &in, err);
    if (!st)
        st = as_kernel_timer_keep_memory(t, bytes, &out, err);
    if (!st)
        st = dev->memory->write(dev, in, 0, from, n * sizeof *from, err);
    if (st)
        return st;
    const struct as_arg args[] = {as_memory_arg(in), as_memory_arg(out)};
    st = as_kernel_timer_once(t, "convert", args, 2, workgroups, GROUP_THREADS, err);
    return st ? st : dev->memory->read(dev, out, 0, to, n * sizeof *to, err);
}

static enum as_status conversion_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const struct conversion *c = conversion_of(&tc->dev->info, tc->axes);
    struct as_buf head = AS_BUF_INIT;
    s->property = (enum conversion_property)as_word_index(tc->axes, "property", property_words);
    tc->min_reps = tc->max_reps = 1;
    as_buf_printf(&head, "#define CONVERT(d, x) %s\n", c->text);
    enum as_status st = as_buf_check(&head, err);
    if (!st)
        st = as_kernel_timer_prepare(&s->timer, tc->dev, c->word, as_buf_get(&head), as_kernel_convert, NULL, 1, err);
    as_buf_finish(&head);
    const struct converter by = {as_number_format(c->format), conversion_convert, &s->timer};
    double start = as_now();
    if (!st)
        st = as_conversion_find(&by, &s->found, err);
    s->seconds = as_now() - start;
    if (st)
        return st;
    const bool past = s->property == CONVERSION_OVERFLOW || s->property == CONVERSION_INFINITY;
    as_note(tc, "found", s->found.text[s->property]);
    if (past && s->found.value[s->property] == CONVERSION_LARGEST)
        as_note_number(tc, "result", as_number_largest(by.to));
    return AS_OK;
}

static enum as_status conversion_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    const struct state *s = state;
    (void)reps, (void)err;
    *out = (struct as_sample){.value = s->found.value[s->property], .seconds = s->seconds, .clock_hz = NAN};
    return AS_OK;
}

/* prepare fails already if representable numbers change */
static bool conversion_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "representable numbers convert exactly; %s", s->found.text[CONVERSION_EXPLAINED]);
    return true;
}

static const char *const rounding[] = {
    "truncated", "to nearest, ties to even", "to nearest, ties away from zero", "toward -inf", "toward +inf", NULL};
static const char *const becomes[] = {"infinity", "largest finite number", "NaN", "wraps", "another number", NULL};
static const char *const subnormal[] = {"preserved", "flushed to zero", NULL};
static const struct as_own_metric own_metrics[] = {
    {"property",
     "rounding",
     {"found", AS_UNIT_ANSWER, false, "rounding of a number between two of the format", rounding}},
    {"property", "overflow", {"found", AS_UNIT_ANSWER, false, "result for a number beyond the range", becomes}},
    {"property", "infinity", {"found", AS_UNIT_ANSWER, false, "result for infinity", becomes}},
    {"property", "nan", {"found", AS_UNIT_ANSWER, false, "result for NaN", becomes}},
    {"property", "subnormal", {"found", AS_UNIT_ANSWER, false, "numbers in the format's subnormal range", subnormal}},
    {"property", "explained", {"found", "%", false, "numbers that convert as these answers say", NULL}},
    {0},
};

const struct as_probe as_probe_conversion = {
    .name = "conversion",
    .title = "Conversions to short formats",
    .question = "How does a conversion to a short format round and overflow?",
    .metric = "found",
    .unit = AS_UNIT_ANSWER,
    .own_metrics = own_metrics,
    .counts = "an answer in words; for 'explained' the percentage of matching numbers",
    .needs = AS_CAP_SOURCE,
    .untimed = true,
    AS_CELLS(axes, quick, full, conversion_applies),
    .patience_s = 30, /* the driver compiles the kernel first */
    AS_TRIAL(struct state, conversion_prepare, conversion_sample, conversion_check, as_kernel_timer_finish),
};
