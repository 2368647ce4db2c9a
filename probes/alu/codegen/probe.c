/* codegen: instructions that compilers emit for atomics and arithmetic. See method.md. */
#include "codegen.h"

#include "device/cpu/features.h"
#include "device/device.h"
#include "device/shared_host.h"

#include <math.h>

static const char *const op_words[] = {"atomic_add", "atomic_min", "atomic_max", "atomic_exchange", "add", "mul",
                                       "fma",        "div",        "popcount",   "mulhi",           NULL};
static const char *const type_words[] = {"u32", "u64", "f32", "f64", NULL};
static const char *const order_words[] = {"relaxed", "seq_cst", "none", NULL};
static const char *const scope_words[] = {"system", "device", "group", "none", NULL};
static const char *const result_words[] = {"kept", "dropped", NULL};
static const char *const target_words[] = {"build", "v3", NULL};
static const char *const kind_words[] = {[KIND_NATIVE] = "native",
                                         [KIND_LOOP] = "compare-and-swap loop",
                                         [KIND_CALL] = "call",
                                         [KIND_EMULATED] = "emulated"};

/* bits by enum codegen_type */
enum { U32 = 1 << TYPE_U32, U64 = 1 << TYPE_U64, F32 = 1 << TYPE_F32, F64 = 1 << TYPE_F64 };
static const struct {
    unsigned types;
    bool atomic, in_dialect;
} ops[OPS] = {
    [OP_ATOMIC_ADD] = {U32 | U64 | F32 | F64, true, true},
    [OP_ATOMIC_MIN] = {U32, true, true},
    [OP_ATOMIC_MAX] = {U32, true, true},
    [OP_ATOMIC_EXCHANGE] = {U32, true, true},
    [OP_ADD] = {F32 | F64, false, true},
    [OP_MUL] = {F32 | F64, false, true},
    [OP_FMA] = {F32 | F64, false, true},
    [OP_DIV] = {U32 | U64 | F32 | F64, false, true},
    [OP_POPCOUNT] = {U32 | U64, false, false},
    [OP_MULHI] = {U64, false, false},
};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "all", "the operation; mulhi: the upper half of a product"),
    AS_WORD_AXIS("type", type_words, "all", "of its operands"),
    AS_WORD_AXIS("order", order_words, "all", "of memory; none: not atomic"),
    AS_WORD_AXIS("scope", scope_words, "all", "of an atomic; a CPU has the whole system only"),
    AS_WORD_AXIS("result", result_words, "all", "whether an atomic's old value is used"),
    AS_WORD_AXIS("target", target_words, "all", "CPU: this build's target, or x86-64-v3"),
    {0},
};
static const char *const quick[] = {
    "op=atomic_add,atomic_min,atomic_exchange type=all order=relaxed,seq_cst scope=system,device result=kept "
    "target=build",
    "op=fma,div type=f32,f64 order=none scope=none result=kept target=all",
    NULL,
};
static const char *const full[] = {"op=all type=all order=all scope=all result=all target=all", NULL};

struct state {
    struct as_trial_context *tc;
    struct codegen_case what;
    struct codegen_device *device; /* NULL on a CPU */
    union codegen_data got;
    bool noted;
};

static struct codegen_case case_of(const struct as_axes *a)
{
    enum codegen_op op = (enum codegen_op)as_word_index(a, "op", op_words);
    return (struct codegen_case){.op = op,
                                 .type = (enum codegen_type)as_word_index(a, "type", type_words),
                                 .atomic = ops[op].atomic,
                                 .seq_cst = as_word_is(a, "order", "seq_cst"),
                                 .dropped = as_word_is(a, "result", "dropped"),
                                 .v3 = as_word_is(a, "target", "v3")};
}

/* Combinations without meaning: an order without an atomic, or a type without the operation. */
static bool is_empty(const struct codegen_case *c, const struct as_axes *a, bool cpu)
{
    bool no_order = as_word_is(a, "order", "none"), no_scope = as_word_is(a, "scope", "none");
    if (!(ops[c->op].types & 1u << c->type) || c->atomic == no_order || c->atomic == no_scope)
        return true;
    if (c->dropped && !c->atomic)
        return true;
    return c->v3 && (c->atomic || !cpu);
}

static enum as_applies codegen_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    struct codegen_case c = case_of(a);
    bool cpu = as_info_runs_native(info);
    if (is_empty(&c, a, cpu) || (cpu && c.atomic && !as_word_is(a, "scope", "system")))
        return AS_PRUNED;
    if (cpu && c.v3 && !as_codegen_native_of(&c, true))
        as_fail(err, AS_UNSUPPORTED, "the compiler does not support x86-64-v3 for this CPU");
    else if (!cpu && !as_info_shares_host(info))
        as_fail(err, AS_UNSUPPORTED, "a simulated device has no machine code");
    else if (!cpu && !(info->capabilities & AS_CAP_CODE))
        as_fail(err, AS_UNSUPPORTED, AS_CODE_NOT_COUNTED);
    else if (!cpu && !ops[c.op].in_dialect)
        as_fail(err, AS_UNSUPPORTED, "the kernel dialect has no such operation");
    else if (!cpu && c.type == TYPE_F64 && !(info->capabilities & AS_CAP_FP64))
        as_fail(err, AS_UNSUPPORTED, "the device has no f64");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static bool has_v3(void)
{
#if defined(__x86_64__)
    char why[80];
    return as_cpu_has(AS_CPU_AVX2 | AS_CPU_FMA | AS_CPU_BMI2 | AS_CPU_POPCNT, why, sizeof why);
#else
    return false;
#endif
}

static enum as_status codegen_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    s->what = case_of(tc->axes);
    tc->min_reps = tc->max_reps = 1;
    if (!as_info_runs_native(&tc->dev->info))
        return as_codegen_device_create(tc, &s->what, &s->device, err);
    if (s->what.v3 && !has_v3())
        return as_fail(err, AS_UNSUPPORTED, "this CPU lacks instructions of x86-64-v3");
#if defined(__OPTIMIZE__)
    as_note(tc, "compiler", __VERSION__ ", optimised");
#else
    as_note(tc, "compiler", __VERSION__ ", not optimised");
#endif
    return AS_OK;
}

static void codegen_note(struct state *s, const struct codegen_found *found)
{
    enum codegen_kind kind = as_codegen_kind_of(found);
    as_note(s->tc, "kind", kind_words[kind]);
    as_note(s->tc, "by", found->by);
    as_note_number(s->tc, "native", kind == KIND_NATIVE);
    as_note_number(s->tc, "swaps", found->swaps);
    as_note_number(s->tc, "calls", found->calls);
    s->noted = true;
}

static enum as_status codegen_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct codegen_found found;
    double start = as_now();
    (void)reps; /* always 1 */
    enum as_status st = s->device ? as_codegen_device_run(s->device, &found, &s->got, err)
                                  : as_codegen_cpu(&s->what, &found, &s->got, err);
    if (st)
        return st;
    if (!s->noted)
        codegen_note(s, &found);
    *out = (struct as_sample){.value = found.instructions, .seconds = as_now() - start, .clock_hz = NAN};
    return AS_OK;
}

static bool codegen_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    union codegen_data want;
    as_codegen_expect(&s->what, &want);
    return as_codegen_same(&s->what, &s->got, &want, why, why_size);
}

static void codegen_finish(void *state)
{
    struct state *s = state;
    as_codegen_device_destroy(s->device);
}

const struct as_probe as_probe_codegen = {
    .name = "codegen",
    .title = "What compilers emit",
    .question = "Which operations are a single machine instruction, and which are loops, calls or sequences?",
    .metric = "instructions",
    .unit = "instructions",
    .lower_is_better = true,
    .counts = "machine instructions per operation",
    AS_CELLS(axes, quick, full, codegen_applies),
    .patience_s = 30, /* the driver compiles the kernels first */
    AS_TRIAL(struct state, codegen_prepare, codegen_sample, codegen_check, codegen_finish),
};
