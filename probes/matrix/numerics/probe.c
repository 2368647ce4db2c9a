/* numerics: numerics of matrix instructions. See method.md. */
#include "lib/mma/discovery/find.h"
#include "lib/mma/instructions/fragments.h"
#include "lib/mma/rate/trial.h"
#include "lib/ops/code.h"

#include <math.h>
#include <stdio.h>

/* In the order of enum as_property. */
static const char *const property_words[AS_PROPERTIES + 1] = {
    "product",  "accumulator", "kept",     "cut",     "aligned", "step", "sums",      "start",
    "rounding", "subnormal",   "overflow", "special", "nan",     "zero", "explained", NULL};
static const struct as_axis axes[] = {
    AS_MATRIX_AXIS("all"),
    AS_COLUMNS_AXIS,
    AS_WORD_AXIS("property", property_words, "all",
                 "what is found: widths in bits, products added at once, rounding, ends of the range"),
    {0},
};
static const char *const quick[] = {
    "instruction=wgmma_f16_f32,wgmma_bf16_f32,wgmma_tf32_f32,wgmma_e4m3_f32,wgmma_e5m2_f32,wgmma_f16,wgmma_s8_s32,"
    "mma_m16n8k16_f16_f32,mma_m16n8k8_tf32_f32,mma_m16n8k32_e4m3_f32,mma_m8n8k4_f64,simdgroup_m8n8k8_f16_f32 n=8 "
    "property=product,accumulator,kept,aligned,step,rounding,subnormal,overflow,explained",
    NULL};
static const char *const full[] = {"instruction=all n=8 property=all", "instruction=all n=0 property=all", NULL};

struct state {
    struct as_fragments fragments; /* first: the record's finish takes it */
    struct as_matrix_found found;
    double seconds;
    enum as_property property;
};

static enum as_property numerics_property_of(const struct as_axes *a)
{
    return (enum as_property)as_word_index(a, "property", property_words);
}

static bool is_of_integers(enum as_property p)
{
    return p == AS_PROPERTY_OVERFLOW || p == AS_PROPERTY_EXPLAINED;
}

static enum as_applies numerics_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    unsigned n;
    const struct as_matrix *m = as_matrix_asked(a, &n);
    if (!m)
        return AS_PRUNED;
    bool integers = as_matrix_format(m, AS_MATRIX_C)->kind != AS_NUMBER_FLOAT;
    if (integers && !is_of_integers(numerics_property_of(a)))
        return AS_PRUNED;
    enum as_applies can = as_matrix_applies(m, info, err);
    if (can == AS_APPLIES && m->sparse)
        return as_inapplicable(err, "%s is sparse: see the dense instruction", m->name);
    if (can == AS_APPLIES && integers && as_matrix_format(m, AS_MATRIX_C)->bits > 53)
        return as_inapplicable(err, "%s accumulates in more than 53 bits; the models compute in f64", m->name);
    return can;
}

/* If the machine code lacks the instruction, the results describe something else. */
static void judge_code(struct state *s, struct as_trial_context *tc)
{
    const char *names = s->fragments.matrix->code;
    struct as_instructions list;
    char text[160];
    const struct as_core *core = s->fragments.core;
    if (core && !as_core_counted(core->symbol, "_multiply", &list, text, sizeof text)) {
        as_judge_code(tc, AS_GATE_NA, text);
        return;
    }
    if (!core && !as_code_named(tc->dev, s->fragments.kernel, &list)) {
        as_expect_code(tc, s->fragments.kernel, "matrix", 1);
        return;
    }
    uint64_t n = as_code_count(&list, names);
    snprintf(text, sizeof text, "%llu of %s", (unsigned long long)n, names);
    as_judge_code(tc, n ? AS_GATE_PASS : AS_GATE_FAIL, text);
}

static void numerics_note(const struct state *s, struct as_trial_context *tc)
{
    const struct as_property_found *explained = &s->found.property[AS_PROPERTY_EXPLAINED];
    as_note(tc, "found", s->found.property[s->property].text);
    as_note(tc, "compared", explained->text);
    as_note_number(tc, "explained", explained->value);
    as_note_number(tc, "format_bits", s->fragments.unit.c->fraction + 1.0);
    as_note_number(tc, "digits", s->found.how.digits ? s->found.how.digits : s->fragments.unit.c->fraction);
}

static enum as_status numerics_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->property = numerics_property_of(tc->axes);
    tc->min_reps = tc->max_reps = 1;
    unsigned n;
    const struct as_matrix *m = as_matrix_asked(tc->axes, &n);
    enum as_status st = as_fragments_open(&s->fragments, tc->dev, m, n, err);
    if (st)
        return st;
    double start = as_now();
    st = as_arithmetic_find(&s->fragments.unit, tc->seed, &s->found, err);
    s->seconds = as_now() - start;
    if (st)
        return st;
    judge_code(s, tc);
    numerics_note(s, tc);
    if (!s->found.property[s->property].seen)
        return as_fail(err, AS_UNSUPPORTED, "%s", s->found.property[s->property].text);
    return AS_OK;
}

static enum as_status numerics_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    const struct state *s = state;
    (void)reps, (void)err;
    *out = (struct as_sample){.value = s->found.property[s->property].value, .seconds = s->seconds, .clock_hz = NAN};
    return AS_OK;
}

/* prepare fails already if products of small integers are not exact */
static bool numerics_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "products of small integers are exact; by the model found, %s",
             s->found.property[AS_PROPERTY_EXPLAINED].text);
    return true;
}

/* In the order of as_property_value. */
static const char *const rounding[] = {"truncated",
                                       "to nearest, ties to even",
                                       "to nearest, ties away from zero",
                                       "toward -inf",
                                       "toward +inf",
                                       "in another way",
                                       NULL};
static const char *const alignment[] = {"by the product's leading bit", "by the sum of its factors' exponents", NULL};
static const char *const start[] = {"with the first products", "to each step's sum", "last", "in another way", NULL};
static const char *const overflow[] = {"infinity", "largest finite number", "NaN", "wraps", "another number", NULL};
static const char *const nan_code[] = {"canonical", "the accumulator's", NULL};
static const char *const zero[] = {"IEEE 754 default", "always +0", "another rule", NULL};
#define PROPERTY(word, unit, counts)                                                                                   \
    {                                                                                                                  \
        "property", word,                                                                                              \
        {                                                                                                              \
            "found", unit, false, counts, NULL                                                                         \
        }                                                                                                              \
    }
#define ANSWER(word, counts, answers)                                                                                  \
    {                                                                                                                  \
        "property", word,                                                                                              \
        {                                                                                                              \
            "found", AS_UNIT_ANSWER, false, counts, answers                                                            \
        }                                                                                                              \
    }
static const struct as_own_metric own_metrics[] = {
    PROPERTY("product", "bits", "fraction bits of a product that survive"),
    PROPERTY("accumulator", "bits", "significant bits of the accumulator, including the leading one"),
    PROPERTY("kept", "bits", "fraction bits of a summand kept below the leading bit of the largest"),
    ANSWER("cut", "rounding of aligned summands", rounding),
    ANSWER("aligned", "alignment of a product", alignment),
    PROPERTY("step", "products", "products that are added at once; 1: one after another"),
    PROPERTY("sums", "sums", "partial sums that take the products in turn; 1: a single sum"),
    ANSWER("start", "position of the accumulator", start),
    ANSWER("rounding", "rounding of a sum", rounding),
    PROPERTY("subnormal", "cases", "how many of a, b, accumulator and result keep subnormals"),
    ANSWER("overflow", "result beyond the range", overflow),
    PROPERTY("special", "cases", "cases of infinities and NaNs as in IEEE 754"),
    ANSWER("nan", "code of a NaN", nan_code),
    ANSWER("zero", "sign of zero", zero),
    PROPERTY("explained", "%", "results of random problems that the model found reproduces"),
    {0},
};

const struct as_probe as_probe_numerics = {
    .name = "numerics",
    .title = "Arithmetic of matrix instructions",
    .question = "With which precision, order and rounding does a matrix instruction add, and how does it overflow?",
    .metric = "found",
    .unit = AS_UNIT_ANSWER,
    .own_metrics = own_metrics,
    .counts = "the property found: a width, a number of products, or an answer in words",
    .untimed = true,
    AS_CELLS(axes, quick, full, numerics_applies),
    .about = as_matrix_about,
    .patience_s = 60, /* the driver compiles the kernel first; models add on the host */
    AS_TRIAL(struct state, numerics_prepare, numerics_sample, numerics_check, as_fragments_close),
};
