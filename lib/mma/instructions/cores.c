#include "cores.h"

#include "base/clock.h"
#include "device/cpu/features.h"
#include "layout.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "lib/ops/code.h"
#include "lib/ops/native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)
#include "device/cpu/ticks.h"
#include "device/shared_host.h"
#else
#define as_ticks() ((uint64_t)0)
#endif

const struct as_core *as_core_find(const char *name)
{
    for (const struct as_core *c = as_cores; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const struct as_core_body *as_core_body(const struct as_core *core, unsigned chains)
{
    const struct as_core_body *last = NULL;
    for (const struct as_core_body *b = core->bodies; b < core->bodies + AS_CORE_BODIES && b->name; b++) {
        if (b->chains == chains)
            return b;
        last = b;
    }
    return chains ? NULL : last;
}

/* ---- what applies ---- */

bool as_core_has(const struct as_core *core, char *text, size_t size)
{
    return as_cpu_has_vectors(core->needs, core->bits, text, size);
}

static bool is_first_of_cpus(const struct as_matrix *m)
{
    const struct as_matrix *first = as_matrices;
    while (first->name && first->dialect != AS_DIALECT_HOST)
        first++;
    return m == first;
}

enum as_applies as_core_applies(const struct as_matrix *m, const struct as_device_info *info, struct as_error *err)
{
    char missing[200];
    const struct as_core *core = m->dialect == AS_DIALECT_HOST ? as_core_find(m->name) : NULL;
    if (!as_info_shares_host(info)) {
        as_fail(err, AS_UNSUPPORTED, "this device's times are simulated, without core instructions");
        return is_first_of_cpus(m) ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (!as_cores[0].name) {
        as_fail(err, AS_UNSUPPORTED, "this build has no matrix kernels for this CPU architecture");
        return is_first_of_cpus(m) ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (!core)
        return as_pruned(err, "%s is not an instruction of this CPU architecture", m->name);
    if (!as_core_has(core, missing, sizeof missing))
        return as_inapplicable(err, "this CPU lacks %s", missing);
    return AS_APPLIES;
}

bool as_core_counted(const char *symbol, const char *which, struct as_instructions *out, char *why, size_t size)
{
    bool counted = as_native_counted(symbol, which, out);
    if (!counted)
        snprintf(why, size, "%s",
                 as_native_codes_why[0] ? as_native_codes_why : "these kernels' instructions were not counted");
    return counted;
}

/* No compiler was involved, so the count is exact. */
enum as_gate_state as_core_code_gate(const struct as_matrix *m, const struct as_core_body *body, double *each,
                                     char *text, size_t size)
{
    struct as_instructions half, whole;
    const struct as_code_want want = {m->code, 1};
    const unsigned steps = body->chains * (body->steps - body->steps / 2);
    if (!as_core_counted(body->name, "_half", &half, text, size) ||
        !as_core_counted(body->name, "_whole", &whole, text, size))
        return AS_GATE_NA;
    bool good = as_code_agrees(&half, &whole, steps, &want, 1, 0, each, text, size);
    return good && fabs(*each - 1) < 1e-6 ? AS_GATE_PASS : AS_GATE_FAIL;
}

/* ---- kernels ---- */

static void cores_multiply(const struct as_host_call *call)
{
    const struct as_core *core = as_pointer_in(call->args[4]);
    core->multiply(call->args[0], call->args[1], call->args[2], *(const uint32_t *)call->args[3]);
}

/* Runs the turns in parts, each beside a chain of additions that calibrates cycles in ticks: preemption of one part
 * does not change the fastest. */
enum { PARTS = 8, ADD_TURNS = 512 };

struct part {
    uint64_t turns, work, half, whole; /* ticks */
};

static uint64_t ticks_of(as_native_run *run, struct as_native_operands *x)
{
    uint64_t start = as_ticks();
    run(x->states, x->others, ADD_TURNS);
    return as_ticks() - start;
}

/* Cycles of all turns, from the fastest part of each; at least 1. */
static double cycles_of(const struct part *parts, unsigned n, uint64_t turns, double adds)
{
    double work = 1e30, half = 1e30, whole = 1e30;
    for (const struct part *p = parts; p < parts + n; p++) {
        double each = (double)p->work / (double)p->turns;
        work = each < work ? each : work;
        half = (double)p->half < half ? (double)p->half : half;
        whole = (double)p->whole < whole ? (double)p->whole : whole;
    }
    double one = (whole - half) / (ADD_TURNS * adds), cycles = one > 0 ? work * (double)turns / one : 0;
    return cycles > 1 ? cycles : 1;
}

static void run_body(const struct as_host_call *call, as_core_run *run)
{
    struct as_record *record = (struct as_record *)call->args[0] + call->thread;
    const struct as_native *adds = as_native_find("iadd64", AS_NATIVE_SCALAR);
    const struct as_native_body *tick = adds ? as_native_body(adds, 1) : NULL;
    const struct as_core *core = as_pointer_in(call->args[5]);
    const struct as_core_body *body = as_pointer_in(call->args[6]);
    const uint64_t turns = *(const uint32_t *)call->args[4];
    const struct as_matrix *m = as_matrix_find(core->name);
    const size_t bytes = body->chains * as_image_bytes(m, AS_MATRIX_C, 0);
    unsigned char *ends = (unsigned char *)call->args[3] + call->thread * bytes;
    struct as_native_operands x = {0};
    struct part parts[PARTS];
    const unsigned n = turns < PARTS ? 1 : PARTS;
    uint64_t nanos = 0;
    memset(ends, 0, bytes);
    for (unsigned i = 0; i < n; i++) {
        parts[i] = (struct part){.turns = turns * (i + 1) / n - turns * i / n};
        uint64_t nanos_before = as_now_ns(), start = as_ticks();
        run(call->args[1], call->args[2], ends, parts[i].turns);
        parts[i].work = as_ticks() - start;
        nanos += as_now_ns() - nanos_before;
        parts[i].half = tick ? ticks_of(tick->half, &x) : 0;
        parts[i].whole = tick ? ticks_of(tick->whole, &x) : 0;
    }
    double cycles = tick ? cycles_of(parts, n, turns, tick->steps - tick->steps / 2) : 0;
    *record = (struct as_record){.cycles = (uint64_t)cycles,
                                 .nanos = nanos,
                                 .unit = 1 + call->thread,
                                 .has = AS_HAS_CYCLES | AS_HAS_UNIT,
                                 .end = (uint64_t)cycles};
}

static void half_body(const struct as_host_call *call)
{
    const struct as_core_body *body = as_pointer_in(call->args[6]);
    run_body(call, body->half);
}

static void whole_body(const struct as_host_call *call)
{
    const struct as_core_body *body = as_pointer_in(call->args[6]);
    run_body(call, body->whole);
}

const struct as_host_kernel as_core_kernels[] = {
    {"multiply", cores_multiply}, {"half_body", half_body}, {"whole_body", whole_body}, {NULL, NULL}};

enum as_status as_core_prepare(const struct as_core *core, struct as_kernel_timer *timer, struct as_device *dev,
                               size_t workgroups, struct as_error *err)
{
    char missing[200];
    if (!core)
        return as_fail(err, AS_UNSUPPORTED,
                       "this build has no kernels of this matrix instruction for this CPU architecture");
    if (!as_core_has(core, missing, sizeof missing))
        return as_fail(err, AS_UNSUPPORTED, "this CPU lacks %s", missing);
    return as_kernel_timer_prepare_host(timer, dev, core->name, as_core_kernels, workgroups, err);
}
