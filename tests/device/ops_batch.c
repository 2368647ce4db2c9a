#include "ops_batch.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_record[];

static unsigned steps_of(const struct ops_batch_part *part)
{
    return part->steps ? part->steps : OPS_BATCH_STEPS;
}

static const char *const kernels[] = {"walk", "half_body", "whole_body", "once"};

/* With bodies of OPS_BATCH_STEPS the kernel "walk" equals the half body; with others nobody runs it here. */
static void add_without_walk(const struct ops_batch_part *part, struct as_buf *out)
{
    static const char half[] = "\n#define HALF_BODY TWELVE\n", walk[] = "\nCHAINS_KERNEL(walk, TURNS(TWELVE))\n",
                      half_kernel[] = "\nCHAINS_KERNEL(half_body, TURNS(HALF_BODY))\n";
    struct as_buf text = AS_BUF_INIT;
    as_op_source(&part->sequence, part->ilp, steps_of(part), false, &text);
    const char *all = as_buf_get(&text), *at = strstr(all, walk);
    if (!at || (!strstr(all, half) && !part->steps) || !strstr(all, half_kernel))
        fail_msg("%s: the walk is not the half body", part->name);
    as_buf_printf(out, "%.*s\n", (int)(at - all), all);
    as_buf_str(out, at + sizeof walk - 1);
    as_buf_finish(&text);
}

void ops_batch_source(const struct ops_batch_part *part, size_t n, bool walk, struct as_buf *out)
{
    as_buf_str(out, as_kernel_record);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            as_buf_printf(out, "#undef %s\n#define %s %s_%zu\n", kernels[k], kernels[k], kernels[k], i);
        for (size_t k = 0; k < AS_OP_PARTS; k++)
            as_buf_printf(out, "#undef LINK%zu\n#undef PASS%zu\n", k, k);
        if (walk)
            as_op_source(&part[i].sequence, part[i].ilp, steps_of(&part[i]), false, out);
        else
            add_without_walk(&part[i], out);
    }
}

static enum as_status count_kernel(const struct ops_batch *b, const unsigned char *code, size_t bytes,
                                   const char *kernel, size_t i, struct as_instructions *out, struct as_error *err)
{
    char name[40];
    *out = (struct as_instructions){.n = 0};
    snprintf(name, sizeof name, "%s_%zu", kernel, i);
    return b->count(code, bytes, name, out, err);
}

/* Describes a step in text, and the reason if it is not as expected. */
static bool step_holds(const struct ops_batch *b, const unsigned char *code, size_t bytes, size_t i, char *text,
                       size_t size)
{
    const struct ops_batch_part *p = &b->part[i];
    struct as_error err = {0};
    struct as_instructions half, whole;
    double each;
    enum as_status st = count_kernel(b, code, bytes, "half_body", i, &half, &err);
    if (!st)
        st = count_kernel(b, code, bytes, "whole_body", i, &whole, &err);
    if (!st && b->barrier && as_instructions_of(&whole, b->barrier) != OPS_BATCH_BARRIERS)
        st = as_fail(&err, AS_FAILED, "%llu barriers", (unsigned long long)as_instructions_of(&whole, b->barrier));
    const unsigned steps = p->ilp * steps_of(p) / 2;
    if (!st && as_op_code_agrees(&half, &whole, steps, &p->sequence, b->dialect, &each, text, size))
        return !p->without ||
               as_instructions_of(&whole, p->without) < as_instructions_of(&half, p->without) + steps / 2;
    if (st)
        snprintf(text, size, "%s", err.text);
    return false;
}

static void check_together(struct ops_batch *b)
{
    struct as_buf source = AS_BUF_INIT;
    struct as_error err = {0};
    unsigned char *code = NULL;
    size_t bytes = 0;
    ops_batch_source(b->part, b->n, false, &source);
    const struct as_program_desc desc = {.name = b->part[0].name, .source = as_buf_get(&source), .defines = b->defines};
    if (b->compile(&desc, b->arch, &code, &bytes, &err))
        fail_msg("%s to %s for %s: %s", b->part[0].name, b->part[b->n - 1].name, b->arch, err.text);
    for (size_t i = 0; i < b->n; i++) {
        char text[600];
        if (step_holds(b, code, bytes, i, text, sizeof text) == b->part[i].fails) {
            print_error("%s for %s: %s\n", b->part[i].name, b->arch, text);
            b->wrong++;
        } else if (getenv("ASSAY_SHOW")) {
            print_message("%s for %s: %s\n", b->part[i].name, b->arch, text);
        }
    }
    as_buf_finish(&source);
    free(code);
    b->n = 0;
}

bool ops_batch_has_all(const struct ops_batch *b, const struct as_op_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++)
        if (!(sequence->part[i].op->dialects & 1u << b->dialect))
            return false;
    return true;
}

void ops_batch_add(struct ops_batch *b, const struct ops_batch_part *part)
{
    b->part[b->n++] = *part;
    b->seen++;
    if (b->n == b->together)
        check_together(b);
}

void ops_batch_finish(struct ops_batch *b, size_t least)
{
    if (b->n)
        check_together(b);
    assert_true(b->seen > least);
    assert_int_equal(b->wrong, 0);
}
