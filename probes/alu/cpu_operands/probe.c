/* cpu_operands: latency of CPU instructions from each input operand to each output, their throughput, and the ports
 * that two of them share. See method.md. */
#include "device/shared_host.h"
#include "lib/ops/pairs.h"

static const struct as_axis axes[] = {
    AS_WORD_AXIS("instruction", as_pair_forms, "all", "the instruction with the kinds of its operands"),
    AS_WORD_AXIS(
        "what", as_pair_whats, "all",
        "2to1: latency from operand 2 to operand 1 (or registers and flags by name; base and index: of an address; "
        "mem: memory); throughput: independent instructions; another instruction: both in turn, for the ports that "
        "they share"),
    {0},
};
static const char *const quick[] = {"instruction=add_r64_r64,adc_r64_r64,imul_r64_r64,mul_r64,lea_b_is_d8_r64,"
                                    "vfmadd231ps_ymm_ymm_ymm,mov_r64_m64 what=all",
                                    "instruction=add_x_x_x,madd_x_x_x_x,fmadd_d_d_d_d,fmla_v_v_v,ldr_x_m what=all",
                                    NULL};
static const char *const full[] = {"instruction=all what=all", NULL};

static const struct as_native lanes = {.lanes = 1};

struct state {
    struct as_native_trial native; /* first: the record's finish takes it */
    const struct as_pair_kernel *kernel;
};

static enum as_applies operands_applies(const struct as_device_info *info, const struct as_axes *a,
                                        struct as_error *err)
{
    const char *form = as_axes_text(a, "instruction");
    const struct as_pair_kernel *k = as_pair_find(form, as_axes_text(a, "what"));
    char missing[120];
    if (!as_info_only_host_kernels(info))
        return as_pruned(err, "its instructions are assembly, for a CPU");
    if (!as_info_shares_host(info))
        return as_inapplicable(err, "this device's times are simulated, without core cycles");
    if (!as_pair_kernels[0].form)
        return as_inapplicable(err, "no instructions are listed for this CPU architecture");
    if (!k)
        return as_pruned(err, "this CPU architecture has no %s with '%s'", form, as_axes_text(a, "what"));
    return as_cpu_has(k->needs, missing, sizeof missing) ? AS_APPLIES
                                                         : as_inapplicable(err, "this CPU lacks %s", missing);
}

static void operands_judge_code(const struct as_pair_kernel *k, struct as_trial_context *tc)
{
    char text[96];
    const enum as_gate_state gate = as_pair_code_gate(k, text, sizeof text);
    as_judge_code(tc, gate, text);
}

static enum as_status operands_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->kernel = as_pair_find(as_axes_text(tc->axes, "instruction"), as_axes_text(tc->axes, "what"));
    as_note(tc, "assembly", s->kernel->text);
    if (s->kernel->link[0])
        as_note(tc, "link", s->kernel->link);
    if (s->kernel->at_most)
        as_note_number(tc, AS_NOTE_AT_MOST, 1);
    if (as_pair_is_mixture(s->kernel)) {
        as_note_number(tc, "first", s->kernel->counts[0]);
        as_note_number(tc, "second", s->kernel->counts[1]);
    }
    operands_judge_code(s->kernel, tc);
    return as_native_prepare_body(&s->native, tc, &lanes, &s->kernel->body, err);
}

static enum as_status operands_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_chains_time t;
    const enum as_status st = as_native_measure(&s->native, reps, &t, err);
    if (st)
        return st;
    *out =
        (struct as_sample){.value = as_pair_value(s->kernel, t.cycles), .seconds = t.seconds, .clock_hz = t.clock_hz};
    return AS_OK;
}

/* The table is checked when assay is built: what a chain computes does not change how long it takes. */
static bool operands_check(void *state, char *why, size_t size)
{
    (void)state, (void)why, (void)size;
    return true;
}

static void operands_finish(void *state)
{
    struct state *s = state;
    as_native_finish(&s->native);
}

const struct as_probe as_probe_cpu_operands = {
    .name = "cpu_operands",
    .title = "CPU instructions by operand",
    .question = "How long does each output of an instruction wait for each input, and which instructions share ports?",
    .metric = "cycles",
    .unit = "cycles",
    .lower_is_better = true,
    .counts =
        "cycles per instruction, less a link's where one is noted (note 'at_most': an upper bound); of a mixture, "
        "per step of the notes 'first' and 'second'",
    AS_CELLS(axes, quick, full, operands_applies),
    AS_TRIAL(struct state, operands_prepare, operands_sample, operands_check, operands_finish),
};
