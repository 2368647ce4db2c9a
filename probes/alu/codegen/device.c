/* The experiment on a device that counts its machine code: two kernels of one program, run by one thread. */
#include "codegen.h"

#include "lib/kernel_timer/kernel_timer.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_codegen[];

struct codegen_device {
    struct as_device *dev;
    struct codegen_case what;
    struct as_buffers own;
    struct as_kernel *few, *many;
    struct as_memory *memory, *data;
};

/* Opcodes that a device counts as native; NULL: no known device has one. */
static const char *wanted_word(const struct codegen_case *c)
{
    static const char *const words[OPS][TYPES] = {
        [OP_ADD] = {NULL, NULL, "add.f32", "add.f64"},
        [OP_MUL] = {NULL, NULL, "mul.f32", "mul.f64"},
        [OP_FMA] = {NULL, NULL, "fma.f32", "fma.f64"},
    };
    return c->atomic ? "atomic.global" : words[c->op][c->type];
}

static void codegen_make_defines(const struct codegen_case *c, const char *scope, char *out, size_t size)
{
    static const struct {
        const char *value, *element, *add, *has, *fused;
    } types[TYPES] = {{"u32", "atomic_u32", "ATOMIC_ADD", "1", "FMA_F32"},
                      {"u64", "atomic_u64", "ATOMIC_ADD_U64", "HAVE_ATOMIC_ADD_U64", "FMA_F32"},
                      {"f32", "atomic_f32", "ATOMIC_ADD_F32", "HAVE_ATOMIC_ADD_F32", "FMA_F32"},
                      {"f64", "atomic_f64", "ATOMIC_ADD_F64", "HAVE_ATOMIC_ADD_F64", "FMA_F64"}};
    static const struct {
        const char *word, *dialect;
    } scopes[] = {{"group", "SCOPE_GROUP"}, {"device", "SCOPE_DEVICE"}, {"system", "SCOPE_SYSTEM"}};
    const char *dialect = "0";
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (strcmp(scopes[i].word, scope) == 0)
            dialect = scopes[i].dialect;
    bool own = c->atomic && (c->seq_cst || strcmp(scope, "device") != 0);
    snprintf(out, size,
             "-DOP=%d -DVALUE=%s -DELEMENT=%s -DADD=%s -DHAS_ADD=%s -DFMA=%s -DORDER=%s -DSCOPE=%s -DDROPPED=%d "
             "-DNEEDS_ORDER=%d -DNEEDS_SEQ_CST=%d -DNEEDS_SYSTEM=%d -DNEEDS_F64=%d",
             (int)c->op, types[c->type].value, c->atomic ? types[c->type].element : "u32", types[c->type].add,
             c->op == OP_ATOMIC_ADD ? types[c->type].has : "1", types[c->type].fused,
             c->seq_cst ? "ORDER_SEQ_CST" : "ORDER_RELAXED", dialect, c->dropped, own, c->seq_cst,
             strcmp(scope, "system") == 0, c->type == TYPE_F64);
}

static enum as_status find_kernels(struct codegen_device *g, struct as_error *err)
{
    struct as_kernel *lacking = NULL;
    struct as_error not_there = {0};
    g->few = as_buffers_kernel(&g->own, "few", err);
    g->many = as_buffers_kernel(&g->own, "many", err);
    if (g->few || !g->own.program || g->dev->program->kernel(g->dev, g->own.program, "lacking", &lacking, &not_there))
        return g->own.status;
    g->dev->program->kernel_destroy(g->dev, lacking);
    return as_fail(err, AS_UNSUPPORTED, "this device's dialect has no such operation of this type, order and scope");
}

enum as_status as_codegen_device_create(struct as_trial_context *tc, const struct codegen_case *c,
                                        struct codegen_device **out, struct as_error *err)
{
    struct codegen_device *g = *out = calloc(1, sizeof *g);
    char defines[320];
    struct as_program_desc desc = {.name = "codegen", .source = as_kernel_codegen, .defines = defines};
    if (!g)
        return as_nomem(err, sizeof *g, "codegen");
    g->dev = tc->dev;
    g->what = *c;
    codegen_make_defines(c, as_axes_text(tc->axes, "scope"), defines, sizeof defines);
    as_buffers_open(&g->own, g->dev, &desc, err);
    enum as_status st = find_kernels(g, err);
    if (st)
        return st;
    g->memory = as_buffers_memory(&g->own, NULL, as_codegen_type_bytes(c->type), err);
    g->data = as_buffers_memory(&g->own, NULL, CODEGEN_WORDS * as_codegen_type_bytes(c->type), err);
    if (!g->own.status && wanted_word(c))
        as_expect_code(tc, g->many, c->atomic ? "atomic.global" : wanted_word(c), CODEGEN_MANY);
    return g->own.status;
}

void as_codegen_device_destroy(struct codegen_device *g)
{
    if (!g)
        return;
    as_buffers_finish(&g->own);
    free(g);
}

/* Occurrences of one opcode per operation: the difference of the two kernels. */
static enum as_status codegen_count(struct codegen_device *g, const char *word, double *out, struct as_error *err)
{
    uint64_t few = 0, many = 0;
    enum as_status st = g->dev->program->count(g->dev, g->few, word, &few, err);
    if (!st)
        st = g->dev->program->count(g->dev, g->many, word, &many, err);
    *out = ((double)many - (double)few) / CODEGEN_MORE;
    return st;
}

static enum as_status count_all(struct codegen_device *g, struct codegen_found *found, struct as_error *err)
{
    const char *word = wanted_word(&g->what);
    *found = (struct codegen_found){.calls = NAN};
    enum as_status st = codegen_count(g, "any", &found->instructions, err);
    if (!st && word)
        st = codegen_count(g, word, &found->wanted, err);
    if (!st && g->what.atomic)
        st = codegen_count(g, "swap.global", &found->swaps, err);
    if (st)
        return st;
    /* A single-instruction division has no opcode of its own, and counts as native. */
    if (!word && found->instructions == 1)
        found->wanted = 1;
    static const char *const others[] = {
        [KIND_LOOP] = "swap.global", [KIND_CALL] = "", [KIND_EMULATED] = "other instructions"};
    enum codegen_kind kind = as_codegen_kind_of(found);
    as_copy_text(found->by, sizeof found->by, kind != KIND_NATIVE ? others[kind] : word ? word : "one instruction");
    return AS_OK;
}

enum as_status as_codegen_device_run(struct codegen_device *g, struct codegen_found *found, union codegen_data *got,
                                     struct as_error *err)
{
    size_t bytes = as_codegen_type_bytes(g->what.type);
    struct as_arg args[] = {as_memory_arg(g->memory), as_memory_arg(g->data)};
    const struct as_launch l = {
        .kernel = g->many, .args = args, .args_n = 2, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    struct as_timing unused;
    enum as_status st = count_all(g, found, err);
    as_codegen_start(&g->what, got);
    if (!st)
        st = g->dev->memory->write(g->dev, g->memory, 0, got, bytes, err);
    if (!st)
        st = g->dev->memory->write(g->dev, g->data, 0, got, CODEGEN_WORDS * bytes, err);
    if (!st)
        st = g->dev->queue->launch(g->dev, &l, &unused, err);
    if (!st)
        st = g->dev->memory->read(g->dev, g->data, 0, got, CODEGEN_WORDS * bytes, err);
    if (!st) /* the first word of data is padding */
        st = g->dev->memory->read(g->dev, g->memory, 0, got, bytes, err);
    return st;
}
