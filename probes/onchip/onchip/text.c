/* Experiments with a program per size: a table in constant memory, a loop of code. */
#include "onchip.h"

#include <stdio.h>

extern const char as_kernel_onchip[];

/* One order for all trials, since another order needs another program. */
static const uint64_t CONSTANT_SEED = UINT64_C(0x6f6e63686970);
enum { BLOCK = 64 }; /* operations per OPS64 */

enum as_status as_onchip_constant_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err)
{
    struct as_buf head = AS_BUF_INIT;
    char defines[32];
    uint64_t words = o->size / 4;
    as_cycle_init(&o->cycle, AS_PATTERN_RANDOM, o->size / o->stride, o->stride, 4096, CONSTANT_SEED);
    as_buf_printf(&head, "CONSTANT u32 table[%llu] = {", (unsigned long long)words);
    for (uint64_t line = 0; line < o->cycle.lines; line++) {
        uint64_t next = as_cycle_next(&o->cycle, line) * o->stride;
        as_buf_printf(&head, "%llu", (unsigned long long)next);
        for (uint64_t k = 1; k < o->stride / 4; k++)
            as_buf_str(&head, ",0");
        as_buf_str(&head, line + 1 < o->cycle.lines ? ",\n" : "};\n");
    }
    snprintf(defines, sizeof defines, "-DWHAT=%d", (int)o->what);
    enum as_status st = as_buf_check(&head, err);
    if (!st)
        st =
            as_kernel_timer_prepare(&o->timer, tc->dev, "onchip", as_buf_get(&head), as_kernel_onchip, defines, 1, err);
    as_buf_finish(&head);
    if (!st)
        st = as_kernel_timer_keep_kernel(&o->timer, "walk", &o->kernel, err);
    if (st)
        return st;
    as_expect_code(tc, o->kernel, "load.const", ONCHIP_STEPS);
    as_note_number(tc, "elements", (double)o->cycle.lines);
    o->before = (uint32_t)((o->cycle.lines + ONCHIP_STEPS - 1) / ONCHIP_STEPS);
    return AS_OK;
}

static enum as_status build_code(struct onchip *o, struct as_trial_context *tc, uint64_t blocks, uint64_t *code_bytes,
                                 struct as_error *err)
{
    struct as_buf head = AS_BUF_INIT;
    char defines[32];
    as_buf_str(&head, "#define CODE_BODY");
    for (uint64_t i = 0; i < blocks; i++)
        as_buf_str(&head, " OPS64");
    as_buf_str(&head, "\n");
    snprintf(defines, sizeof defines, "-DWHAT=%d", (int)o->what);
    enum as_status st = as_buf_check(&head, err);
    if (!st)
        st =
            as_kernel_timer_prepare(&o->timer, tc->dev, "onchip", as_buf_get(&head), as_kernel_onchip, defines, 1, err);
    as_buf_finish(&head);
    if (!st)
        st = as_kernel_timer_keep_kernel(&o->timer, "run", &o->kernel, err);
    struct as_kernel_info info = {0};
    if (!st)
        st = tc->dev->program->kernel_info(tc->dev, o->kernel, tc->dev->info.warp, 0, &info, err);
    *code_bytes = info.code_bytes;
    o->ops = blocks * BLOCK;
    return st;
}

/* Two programs of different length give the bytes per operation. */
enum as_status as_onchip_code_prepare(struct onchip *o, struct as_trial_context *tc, struct as_error *err)
{
    enum { FEW = 8, MANY = 24 };
    uint64_t few, many, bytes;
    if (!tc->dev->program->kernel_info)
        return as_fail(err, AS_UNSUPPORTED, "the backend does not report the size of a kernel's code");
    enum as_status st = build_code(o, tc, FEW, &few, err);
    if (!st) {
        as_kernel_timer_finish(&o->timer);
        st = build_code(o, tc, MANY, &many, err);
    }
    if (st)
        return st;
    if (many <= few)
        return as_fail(err, AS_UNSUPPORTED, "the backend does not report the size of a kernel's code");
    double block = (double)(many - few) / (MANY - FEW);
    uint64_t blocks = (uint64_t)((double)o->size / block + 0.5);
    as_kernel_timer_finish(&o->timer);
    st = build_code(o, tc, blocks ? blocks : 1, &bytes, err);
    if (st)
        return st;
    as_expect_code(tc, o->kernel, "fma.f32", o->ops);
    as_note_number(tc, "code_bytes", (double)bytes);
    as_note_number(tc, "operations", (double)o->ops);
    o->before = 2;
    return AS_OK;
}
