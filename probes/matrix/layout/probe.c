/* layout: register layout of matrix instructions. See method.md. */
#include "layout_unit.h"
#include "lib/mma/rate/trial.h"

#include <math.h>
#include <stdio.h>

static const char *const operand_words[] = {[AS_MATRIX_A] = "a", [AS_MATRIX_B] = "b", [AS_MATRIX_C] = "c", NULL};
static const struct as_axis axes[] = {
    AS_MATRIX_AXIS("all"),
    AS_COLUMNS_AXIS,
    AS_WORD_AXIS("operand", operand_words, "all",
                 "a and b are multiplied, c is the result (and the accumulator, in the same layout)"),
    {0},
};
static const char *const quick[] = {"instruction=wgmma_f16_f32,wgmma_rs_f16_f32,wgmma_e4m3_f32,wgmma_tf32_f32,mma_"
                                    "m16n8k16_f16_f32,mma_m16n8k8_tf32_f32,"
                                    "mma_m16n8k32_s8_s32,mma_m8n8k4_f64,simdgroup_m8n8k8_f16_f32 n=8 operand=all",
                                    NULL};
/* 256 columns have millions of pairs of slots, which take a minute; 8 and 16 show the same layout. */
static const char *const full[] = {"instruction=all n=8,16 operand=all", "instruction=wgmma_f16_f32 n=64 operand=c",
                                   NULL};

struct state {
    struct layout_unit unit;
    struct as_slots found;
    struct as_slots_difference difference;
    enum as_matrix_operand which;
    double seconds;
};

static enum as_matrix_operand operand_of(const struct as_axes *a)
{
    return (enum as_matrix_operand)as_word_index(a, "operand", operand_words);
}

/* Metal's 8-bit floats, of which no lane can hold a tensor. */
static bool is_in_memory(const struct as_matrix *m)
{
    return m->needs & AS_CAP_TENSOR_FP8;
}

static enum as_applies layout_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    unsigned n;
    const struct as_matrix *m = as_matrix_asked(a, &n);
    if (!m)
        return AS_PRUNED;
    enum as_applies can = as_matrix_applies(m, info, err);
    if (can != AS_APPLIES)
        return can;
    if (!is_in_memory(m))
        return AS_APPLIES;
    as_fail(err, AS_UNSUPPORTED, "A and B are read from memory: no lane holds their elements");
    return AS_INAPPLICABLE;
}

static void note_text(struct as_trial_context *tc, const char *name, struct as_buf *text)
{
    as_note(tc, name, as_buf_get(text));
    as_buf_clear(text);
}

/* What the places of an unspecified layout are compared with; nothing if the layout is documented. */
static void note_comparison(const struct state *s, struct as_trial_context *tc)
{
    if (s->unit.loaded[s->which])
        as_note(tc, "compared_with",
                s->unit.fragments.matrix->load ? "its load instruction" : "get_multidimensional_index");
}

/* operands in memory have no lanes */
static enum as_status layout_note(struct state *s, struct as_trial_context *tc, struct as_error *err)
{
    const struct as_matrix *m = s->unit.fragments.matrix;
    struct as_buf text = AS_BUF_INIT;
    as_note_number(tc, "rows", as_matrix_rows(m, s->which));
    as_note_number(tc, "columns", as_matrix_cols(m, s->which, s->unit.fragments.n));
    static const char *const held[] = {
        [AS_HELD_REGISTERS] = "registers", [AS_HELD_SHARED] = "shared memory", [AS_HELD_SPREAD] = "one broadcast word"};
    as_note(tc, "held", held[m->held[s->which].held]);
    note_comparison(s, tc);
    if (s->difference.first[0])
        as_note(tc, "first", s->difference.first);
    unsigned rows = 0, columns = 0;
    enum as_status st = AS_OK;
    if (m->held[s->which].held == AS_HELD_REGISTERS)
        st = as_layout_base(&s->unit, s->which, &s->found, &rows, &columns, err);
    if (!st && rows) {
        as_note_number(tc, "base_rows", rows);
        as_note_number(tc, "base_columns", columns);
    }
    if (!st && m->held[s->which].held != AS_HELD_SHARED) {
        as_layout_bits(&s->unit, s->which, &s->found, &text);
        note_text(tc, "bits", &text);
        as_layout_lanes(&s->unit, s->which, &s->found, &text);
        note_text(tc, "lanes", &text);
        as_layout_places(&s->unit, s->which, &s->found, &text);
        note_text(tc, "places", &text);
    }
    as_buf_finish(&text);
    return st;
}

static enum as_status layout_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    struct as_slots documented = {.a = NULL};
    s->which = operand_of(tc->axes);
    tc->min_reps = tc->max_reps = 1;
    unsigned n;
    const struct as_matrix *m = as_matrix_asked(tc->axes, &n);
    enum as_status st = as_layout_open(&s->unit, tc->dev, m, n, err);
    double start = as_now();
    if (!st)
        st = as_layout_documented(&s->unit, &documented, err);
    if (!st)
        st = as_slots_find(&s->unit.unit, &s->found, err);
    if (!st)
        st = as_slots_compare(&s->found, &documented, &s->difference, err);
    s->seconds = as_now() - start;
    as_slots_finish(&documented);
    return st ? st : layout_note(s, tc, err);
}

static enum as_status layout_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    const struct state *s = state;
    (void)reps, (void)err;
    *out = (struct as_sample){.value = (double)s->difference.unequal[s->which], .seconds = s->seconds, .clock_hz = NAN};
    return AS_OK;
}

/* prepare fails already if the slots do not form one matrix multiplication */
static bool layout_check(void *state, char *why, size_t why_size)
{
    const struct state *s = state;
    snprintf(why, why_size, "every element of %u x %u x %u has one place", s->found.m, s->found.n, s->found.k);
    return true;
}

static void layout_finish(void *state)
{
    struct state *s = state;
    as_slots_finish(&s->found);
    as_layout_close(&s->unit);
}

const struct as_probe as_probe_layout = {
    .name = "layout",
    .title = "Fragments of matrix instructions",
    .question = "In which register of which lane does a matrix instruction expect each element?",
    .metric = "numbers elsewhere",
    .unit = "numbers",
    .lower_is_better = true,
    .counts = "elements of the operand whose place differs from the documentation, or from where its load instruction "
              "puts them",
    AS_CELLS(axes, quick, full, layout_applies),
    .about = as_matrix_about,
    .patience_s = 60, /* the driver compiles the kernel first; large operands have thousands of slots */
    AS_TRIAL(struct state, layout_prepare, layout_sample, layout_check, layout_finish),
};
