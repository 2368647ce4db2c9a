#include "sequence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_functions[], as_kernel_lanes[], as_kernel_ops[], as_kernel_part[];

enum { TWELVE = 12, STATES = 3 /* of a chain with WEAVE */, NAME = 48 };

/* ---- parsing ---- */

static unsigned sequence_usual(const struct as_op *op)
{
    return op->two ? 2 : 3;
}

struct as_op_sequence as_op_alone(const struct as_op *op, unsigned operands)
{
    struct as_op_sequence s = {.n = 1};
    s.part[0] = (struct as_op_part){.op = op, .count = 1, .operands = operands ? operands : sequence_usual(op)};
    return s;
}

void as_op_sequence_pass(struct as_op_sequence *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->part[i].passes = s->part[i].op->passes;
}

const char *as_op_part_link(const struct as_op_part *part)
{
    return part->passes ? NULL : part->op->link;
}

/* A repeated operation increments its count. */
static enum as_status sequence_add(struct as_op_sequence *s, unsigned long count, const char *name,
                                   struct as_error *err)
{
    const struct as_op *op = as_op_find(name);
    size_t i = 0;
    if (!op)
        return as_fail(err, AS_UNSUPPORTED, "no dialect has %s", name);
    while (i < s->n && s->part[i].op != op)
        i++;
    if (i == AS_OP_PARTS || count == 0 || count > AS_OP_CHAINS - as_op_sequence_count(s))
        return as_fail(err, AS_USAGE, "a sequence has up to %d operations, up to %d of them different", AS_OP_CHAINS,
                       AS_OP_PARTS);
    s->n += i == s->n;
    s->part[i] =
        (struct as_op_part){.op = op, .count = s->part[i].count + (unsigned)count, .operands = sequence_usual(op)};
    return AS_OK;
}

enum as_status as_op_sequence_parse(const char *text, struct as_op_sequence *out, struct as_error *err)
{
    *out = (struct as_op_sequence){0};
    for (const char *at = text;;) {
        char *behind = NULL, name[NAME];
        unsigned long count = strtoul(at, &behind, 10);
        bool counted = isdigit((unsigned char)*at) && *behind == '*';
        at = counted ? behind + 1 : at;
        size_t length = strcspn(at, "+");
        if (length == 0 || length >= sizeof name)
            return as_fail(err, AS_USAGE, "'%s' is not a sequence of operations", text);
        memcpy(name, at, length);
        name[length] = 0;
        enum as_status st = sequence_add(out, counted ? count : 1, name, err);
        if (st || !at[length])
            return st;
        at += length + 1;
    }
}

unsigned as_op_sequence_count(const struct as_op_sequence *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->part[i].count;
    return n;
}

unsigned as_op_sequence_weight(const struct as_op_sequence *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->part[i].count * s->part[i].op->weight;
    return n;
}

unsigned as_op_sequence_steps(const struct as_op_sequence *s, unsigned ilp, unsigned body)
{
    const unsigned each = ilp * as_op_sequence_weight(s), steps = each ? body / each : 0;
    return steps < AS_OP_STEPS_LEAST ? AS_OP_STEPS_LEAST : steps / AS_OP_STEPS_LEAST * AS_OP_STEPS_LEAST;
}

unsigned as_op_sequence_slots(const struct as_op_sequence *s, unsigned ilp)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->part[i].count * ilp * (s->part[i].op->weave ? STATES : 1);
    return n;
}

/* ---- the program ---- */

/* Text of one operation with its number in place of each $. */
static void write_numbered(struct as_buf *out, const char *text, size_t number)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "$");
        as_buf_add(out, at, length);
        at += length;
        if (*at) {
            as_buf_printf(out, "%zu", number);
            at++;
        }
    }
}

static void sequence_write_parts(const struct as_op_sequence *s, unsigned ilp, struct as_buf *out)
{
    unsigned slot = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct as_op_part *p = &s->part[i];
        write_numbered(out, p->op->head, i);
        as_buf_printf(out, "#define WEAVE%zu %d\n#define PASSES%zu %d\n#define OPERANDS%zu %u\n#define SLOT%zu %u\n", i,
                      p->op->weave, i, p->passes, i, p->operands, i, slot);
        write_numbered(out, as_kernel_part, i);
        slot += p->count * ilp * (p->op->weave ? STATES : 1);
    }
    as_buf_printf(out, "#define SLOTS %u\n", slot);
}

/* "NAME0END(0) NAME1END(0) NAME1END(1)": for every chain, the operations interleaved. */
static void write_chains(const struct as_op_sequence *s, unsigned ilp, const char *name, const char *end,
                         struct as_buf *out)
{
    unsigned taken[AS_OP_PARTS] = {0};
    for (unsigned left = as_op_sequence_count(s) * ilp; left > 0;)
        for (size_t i = 0; i < s->n; i++)
            if (taken[i] < s->part[i].count * ilp) {
                as_buf_printf(out, " %s%zu%s(%u)", name, i, end, taken[i]++);
                left--;
            }
}

static void write_each(const struct as_op_sequence *s, const char *name, struct as_buf *out)
{
    as_buf_printf(out, "#define %s_ALL", name);
    for (size_t i = 0; i < s->n; i++)
        as_buf_printf(out, " %s%zu", name, i);
    as_buf_str(out, "\n");
}

static void write_steps(const struct as_op_sequence *s, unsigned ilp, struct as_buf *out)
{
    as_buf_str(out, "#define TWELVE");
    for (unsigned step = 0; step < TWELVE; step++) {
        char end[8];
        snprintf(end, sizeof end, "_%u", step);
        write_chains(s, ilp, "S", end, out);
    }
    as_buf_str(out, "\n");
}

static void write_body(const char *name, unsigned steps, struct as_buf *out)
{
    as_buf_printf(out, "#define %s", name);
    for (unsigned i = 0; i < steps / TWELVE; i++)
        as_buf_str(out, " TWELVE");
    as_buf_str(out, "\n");
}

static bool sequence_has_lanes(const struct as_op_sequence *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->part[i].op->group_reference)
            return true;
    return false;
}

void as_op_source(const struct as_op_sequence *s, unsigned ilp, unsigned whole, bool one_kernel, struct as_buf *out)
{
    sequence_write_parts(s, ilp, out);
    write_each(s, "TAKE", out);
    write_each(s, "ONE_RESULT", out);
    as_buf_str(out, "#define START_ALL");
    write_chains(s, ilp, "START", "", out);
    as_buf_str(out, "\n#define STORE_ALL");
    write_chains(s, ilp, "STORE", "", out);
    as_buf_str(out, "\n");
    write_steps(s, ilp, out);
    as_buf_printf(out, "#define ONE_KERNEL %d\n", one_kernel);
    write_body("HALF_BODY", whole / 2, out);
    write_body("WHOLE_BODY", whole, out);
    as_buf_str(out, as_kernel_functions);
    if (sequence_has_lanes(s))
        as_buf_str(out, as_kernel_lanes);
    as_buf_str(out, as_kernel_ops);
}
