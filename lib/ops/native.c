#include "native.h"
#include "lib/buffers/buffers.h"

#include "code.h"
#include "device/cpu/features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include "device/cpu/ticks.h"
#include "device/shared_host.h"
#else
#define as_ticks() ((uint64_t)0)
#endif

const char *const as_native_width_words[] = {"scalar", "128", "256", "512", "sve", NULL};

const struct as_native *as_native_find(const char *op, enum as_native_width width)
{
    for (const struct as_native *n = as_natives; n->op; n++)
        if (n->width == width && strcmp(n->op, op) == 0)
            return n;
    return NULL;
}

unsigned as_native_lanes(const struct as_native *n)
{
    return n->lanes ? n->lanes : as_cpu_features().sve_bytes / n->lane_bytes;
}

const struct as_native_body *as_native_body(const struct as_native *n, unsigned chains)
{
    const struct as_native_body *last = NULL;
    for (const struct as_native_body *b = n->bodies; b < n->bodies + AS_NATIVE_BODIES && b->name; b++) {
        if (b->chains == chains && !(b->apart && chains == 1))
            return b;
        last = b;
    }
    return chains ? NULL : last;
}

/* ---- what applies ---- */

/* Is there an instruction in any width? */
static bool native_is_known(const char *op)
{
    for (unsigned w = 0; w < AS_NATIVE_WIDTHS; w++)
        if (as_native_find(op, (enum as_native_width)w))
            return true;
    return false;
}

/* Refused before looking at the operation, since the CPU does not lack it. */
static bool any_body_has(unsigned chains, struct as_error *err)
{
    unsigned seen = 1; /* bit 0: the default body */
    struct as_buf counts = AS_BUF_INIT;
    for (const struct as_native *n = as_natives; n->op; n++)
        for (const struct as_native_body *b = n->bodies; b < n->bodies + AS_NATIVE_BODIES && b->name; b++)
            seen |= 1u << b->chains;
    for (unsigned i = 0; i <= AS_NATIVE_CHAINS; i++)
        if (seen & 1u << i)
            as_buf_printf(&counts, "%s%u", i ? ", " : "", i);
    const bool has = chains <= AS_NATIVE_CHAINS && (seen & 1u << chains);
    if (!has)
        as_fail(err, AS_UNSUPPORTED, "axis 'ilp': '%u' is not one of %s", chains, as_buf_get(&counts));
    as_buf_finish(&counts);
    return has;
}

/* An operation that the architecture lacks is reported once; missing widths follow from it. */
static enum as_applies native_none(const struct as_native_desc *d, struct as_error *err)
{
    if (d->width != AS_NATIVE_SCALAR)
        return as_pruned(err, "this CPU architecture has no %s of width %s", d->op->name,
                         as_native_width_words[d->width]);
    return as_inapplicable(err, "%s",
                           !as_natives[0].op
                               ? "this build has no native kernels of operations for this CPU architecture"
                           : native_is_known(d->op->name) ? "this CPU architecture has only vector instructions for it"
                                                          : "this CPU architecture has no instruction for it");
}

enum as_applies as_native_apply(const struct as_device_info *info, const struct as_native_desc *desc,
                                struct as_error *err)
{
    char missing[120];
    if (!as_info_shares_host(info))
        return as_inapplicable(err, "this device's times are simulated, without core cycles");
    const struct as_native *n = as_native_find(desc->op->name, desc->width);
    if (as_natives[0].op && !any_body_has(desc->chains, err))
        return AS_PRUNED;
    if (!n)
        return native_none(desc, err);
    if (!as_native_body(n, desc->chains))
        return AS_PRUNED;
    if (!as_cpu_has(n->needs, missing, sizeof missing))
        return as_inapplicable(err, "this CPU lacks %s", missing);
    return AS_APPLIES;
}

/* ---- the code gate ---- */

static int by_symbol(const void *key, const void *code)
{
    return strcmp(key, ((const struct as_native_code *)code)->symbol);
}

bool as_native_counted(const char *name, const char *which, struct as_instructions *out)
{
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s%s", name, which);
    *out = (struct as_instructions){0};
    const struct as_native_code *c =
        bsearch(symbol, as_native_codes, as_native_codes_n, sizeof *as_native_codes, by_symbol);
    for (uint32_t i = 0; c && i < c->n && out->n < AS_INSTRUCTIONS_MAX; i++) {
        struct as_instruction *one = &out->list[out->n++];
        snprintf(one->name, sizeof one->name, "%s", as_native_names[as_native_counts[c->first + i].name]);
        one->n = as_native_counts[c->first + i].n;
    }
    return c != NULL;
}

enum as_gate_state as_native_code_gate(const struct as_native *native, const struct as_native_body *body, char *text,
                                       size_t size)
{
    struct as_instructions half, whole;
    if (!as_native_counted(body->name, "_half", &half) || !as_native_counted(body->name, "_whole", &whole)) {
        snprintf(text, size, "%s",
                 as_native_codes_why[0] ? as_native_codes_why : "these kernels' instructions were not counted");
        return AS_GATE_NA;
    }
    unsigned steps = body->chains * (body->steps - body->steps / 2);
    double each;
    const struct as_op op = {.name = native->op, .sass = native->wanted, .weight = 1};
    const struct as_op_sequence alone = as_op_alone(&op, 3);
    if (!as_op_code_agrees(&half, &whole, steps, &alone, AS_DIALECT_HOST, &each, text, size))
        return AS_GATE_FAIL;
    if (fabs(each - body->instructions) < 1e-6) /* no compiler was involved, so the count is exact */
        return AS_GATE_PASS;
    snprintf(text, size, "each step is %.3g instructions, not %u", each, body->instructions);
    return AS_GATE_FAIL;
}

/* ---- a measurement ---- */

/* Interleaved, so that all run at the same core clock. LEAST_TURNS: enough for the counter to resolve. */
enum { ROUNDS = 9, TIMED = 4, LEAST_TURNS = 256, TRIES = 4 };
enum { HALF, WHOLE, TICK_HALF, TICK_WHOLE };

/* args: 0 ticks (ROUNDS times TIMED of u64), 1 the address of the trial. reps: turns of a body. */
static void time_rounds(const struct as_host_call *call)
{
    const struct as_native_trial *v;
    uint64_t *ticks = call->args[0];
    struct as_native_operands x, adds = {0};
    memcpy(&v, call->args[1], sizeof v);
    as_native_run *const runs[TIMED] = {v->body->half, v->body->whole, v->tick->half, v->tick->whole};
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < TIMED; i++) {
            x = v->start; /* a result may not be a valid operand */
            uint64_t start = as_ticks();
            runs[i](i < TICK_HALF ? x.states : adds.states, x.others, call->reps);
            ticks[r * TIMED + i] = as_ticks() - start;
        }
}

static const struct as_host_kernel host_kernels[] = {{"time_rounds", time_rounds}, {NULL, NULL}};

static double native_quickest(const uint64_t *ticks, int body)
{
    uint64_t least = UINT64_MAX;
    for (int r = 0; r < ROUNDS; r++)
        least = ticks[r * TIMED + body] < least ? ticks[r * TIMED + body] : least;
    return (double)least;
}

/* Cycles per step of all chains: a chained addition takes one. Interruptions only make a round longer.
 */
static enum as_status evaluate(const struct as_native_trial *v, const uint64_t *ticks, uint64_t turns,
                               struct as_chains_time *out, struct as_error *err)
{
    double whole = native_quickest(ticks, WHOLE), tick_steps = v->tick->steps - v->tick->steps / 2;
    double step = (whole - native_quickest(ticks, HALF)) / (v->body->steps - v->body->steps / 2);
    double one = (native_quickest(ticks, TICK_WHOLE) - native_quickest(ticks, TICK_HALF)) / tick_steps;
    if (!(one > 0) || !(step > 0))
        return as_fail(err, AS_UNSUPPORTED,
                       "%llu turns of a body take no longer than those of half of it by the tick counter of this CPU",
                       (unsigned long long)turns);
    out->cycles = step / one;
    out->raw = whole / v->body->steps / one;
    return AS_OK;
}

static enum as_status native_sample(struct as_native_trial *v, uint64_t turns, struct as_chains_time *out,
                                    struct as_error *err)
{
    struct as_timing t;
    uint64_t ticks[ROUNDS * TIMED];
    struct as_arg args[] = {as_memory_arg(v->ticks), as_u64_arg((uint64_t)(uintptr_t)v)};
    struct as_launch l = {
        .kernel = v->kernel, .args = args, .args_n = 2, .workgroups = 1, .workgroup_size = 1, .reps = turns};
    enum as_status st = v->dev->queue->launch(v->dev, &l, &t, err);
    if (!st)
        st = v->dev->memory->read(v->dev, v->ticks, 0, ticks, sizeof ticks, err);
    *out = (struct as_chains_time){
        .seconds = as_timing_seconds(&t), .clock_hz = NAN, .operations = v->body->chains * as_native_lanes(v->native)};
    return st ? st : evaluate(v, ticks, turns, out, err);
}

/* If all rounds of the shorter body are preempted, it is the longer one. */
enum as_status as_native_measure(struct as_native_trial *v, uint64_t turns, struct as_chains_time *out,
                                 struct as_error *err)
{
    enum as_status st = AS_UNSUPPORTED;
    for (int i = 0; i < TRIES && st == AS_UNSUPPORTED; i++)
        st = native_sample(v, turns, out, err);
    return st;
}

static void native_tell(const struct as_native_trial *v, struct as_trial_context *tc)
{
    char text[160];
    enum as_gate_state gate = as_native_code_gate(v->native, v->body, text, sizeof text);
    as_note_number(tc, "steps", v->body->steps);
    as_note_number(tc, "lanes", as_native_lanes(v->native));
    as_note(tc, "assembly", v->native->text);
    if (v->native->link && !v->body->apart)
        as_note(tc, "link", v->native->link);
    if (v->native->values)
        as_note(tc, "values", v->native->values);
    if (gate != AS_GATE_NA)
        as_note(tc, "instructions", text);
    as_judge_code(tc, gate, text);
}

static enum as_status native_build(struct as_native_trial *v, struct as_error *err)
{
    const struct as_program_desc program = {.name = v->body->name, .host = host_kernels};
    as_buffers_open(&v->own, v->dev, &program, err);
    v->ticks = as_buffers_memory(&v->own, NULL, ROUNDS * TIMED * sizeof(uint64_t), err);
    v->kernel = as_buffers_kernel(&v->own, "time_rounds", err);
    return v->own.status;
}

static enum as_status native_ready(struct as_native_trial *v, struct as_trial_context *tc, struct as_error *err)
{
    const struct as_native *adds = as_native_find("iadd64", AS_NATIVE_SCALAR);
    v->dev = tc->dev;
    v->seed = tc->seed;
    v->tick = adds ? as_native_body(adds, 1) : NULL;
    if (!v->body || !v->tick || tc->dev->info.allocators_n == 0)
        return as_fail(err, AS_UNSUPPORTED, "this build has no native kernel for this operation or instruction");
    tc->host_work = true;
    tc->min_reps = LEAST_TURNS;
    return native_build(v, err);
}

enum as_status as_native_prepare_body(struct as_native_trial *v, struct as_trial_context *tc,
                                      const struct as_native *native, const struct as_native_body *body,
                                      struct as_error *err)
{
    static const float one = 1; /* of all lanes: no instruction is slower for it */
    v->native = native;
    v->body = body;
    for (size_t i = 0; i < sizeof v->start / sizeof one; i++)
        memcpy((unsigned char *)&v->start + i * sizeof one, &one, sizeof one);
    return native_ready(v, tc, err);
}

enum as_status as_native_prepare(struct as_native_trial *v, struct as_trial_context *tc,
                                 const struct as_native_desc *desc, struct as_error *err)
{
    struct as_rng rng;
    v->op = desc->op;
    v->native = as_native_find(desc->op->name, desc->width);
    v->body = v->native ? as_native_body(v->native, desc->chains) : NULL;
    enum as_status st = native_ready(v, tc, err);
    if (st)
        return st;
    as_rng_seed(&rng, tc->seed);
    as_native_draw(v->native, v->op, &rng, &v->start);
    native_tell(v, tc);
    return AS_OK;
}

void as_native_finish(struct as_native_trial *v)
{
    as_buffers_finish(&v->own);
}
