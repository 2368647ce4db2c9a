#include "code.h"

#include "base/text.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

struct part {
    const char *name;
    double each; /* of a step */
};

static int by_number(const void *x, const void *y)
{
    const struct part *a = x, *b = y;
    return a->each != b->each ? (a->each < b->each) - (a->each > b->each) : strcmp(a->name, b->name);
}

static bool code_is_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

bool as_code_named(struct as_device *dev, struct as_kernel *kernel, struct as_instructions *out)
{
    return dev->program->instructions && (dev->info.capabilities & AS_CAP_CODE) &&
           !dev->program->instructions(dev, kernel, out, NULL);
}

uint64_t as_code_count(const struct as_instructions *list, const char *names)
{
    uint64_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += code_is_word(names, list->list[i].name) ? list->list[i].n : 0;
    return n;
}

/* Address computations around the steps use the same instructions and differ between the bodies: a few, and more with
 * more operands to load. */
enum { STRAY = 2, LOADS_STRAY = 2 };

/* A tenth of an instruction: occasional register moves do not belong to the operation. */
static const double LEAST = 0.1;

/* The most frequent instructions, as far as they meet the expectation; nothing if none is left. */
enum { PARTS_LONG = 100 };
static void code_write_parts(const struct part *parts, size_t n, struct as_buf *out)
{
    for (size_t i = 0; i < n && parts[i].each >= LEAST && out->len < PARTS_LONG; i++)
        as_buf_printf(out, "%s%.3g %s", i ? ", " : "each step is ", parts[i].each, parts[i].name);
}

enum { WANTS = 2 * AS_OP_PARTS };

static const char *code_names_of(const struct as_op *op, enum as_dialect dialect)
{
    return dialect == AS_DIALECT_HIP ? op->amd : op->sass;
}

static size_t wants_of(const struct as_op_sequence *sequence, enum as_dialect dialect, struct as_code_want wants[WANTS])
{
    size_t n = 0;
    for (size_t i = 0; i < sequence->n; i++) {
        const struct as_op_part *p = &sequence->part[i];
        wants[n++] = (struct as_code_want){code_names_of(p->op, dialect), p->count};
        const char *link = as_op_part_link(p);
        if (link)
            wants[n++] = (struct as_code_want){code_names_of(as_op_find(link), dialect), p->count};
    }
    return n;
}

/* Several operations may accept the same instruction, which counts for one of them only. There are enough if every
 * subset of requirements finds as many as it needs (Hall's theorem). */
static bool code_enough(const struct part *parts, size_t n, const struct as_code_want *wants, size_t wants_n,
                        unsigned steps, unsigned stray)
{
    for (unsigned choice = 1; choice < 1u << wants_n; choice++) {
        double have = 0, need = 0;
        for (size_t w = 0; w < wants_n; w++)
            need += choice >> w & 1 ? (double)wants[w].count * steps - stray : 0;
        for (size_t i = 0; i < n; i++) {
            bool right = false;
            for (size_t w = 0; w < wants_n && !right; w++)
                right = choice >> w & 1 && (!wants[w].names || code_is_word(wants[w].names, parts[i].name));
            have += right && parts[i].each > 0 ? parts[i].each * steps : 0;
        }
        if (have < need)
            return false;
    }
    return true;
}

static void write_wants(const struct as_code_want *wants, size_t n, struct as_buf *out)
{
    for (size_t w = 0; w < n; w++)
        as_buf_printf(out, "%s%u %s", w ? ", " : ", expected ", wants[w].count,
                      wants[w].names ? wants[w].names : "of any kind");
}

bool as_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                    const struct as_code_want *wants, size_t wants_n, unsigned stray, double *each, char *text,
                    size_t size)
{
    struct part parts[AS_INSTRUCTIONS_MAX];
    struct as_buf made = AS_BUF_INIT;
    *each = 0;
    for (size_t i = 0; i < whole->n; i++) {
        const char *name = whole->list[i].name;
        double more = (double)whole->list[i].n - (double)as_instructions_of(half, name);
        parts[i] = (struct part){name, more / steps};
        *each += more / steps;
    }
    qsort(parts, whole->n, sizeof *parts, by_number);
    bool good = code_enough(parts, whole->n, wants, wants_n, steps, stray);
    code_write_parts(parts, whole->n, &made);
    if (!made.len)
        as_buf_str(&made, "the compiler removed the steps");
    else if (!good)
        write_wants(wants, wants_n, &made);
    as_copy_text(text, size, as_buf_get(&made));
    as_buf_finish(&made);
    return good;
}

bool as_op_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                       const struct as_op_sequence *sequence, enum as_dialect dialect, double *each, char *text,
                       size_t size)
{
    struct as_code_want wants[WANTS];
    size_t n = wants_of(sequence, dialect, wants);
    unsigned stray = STRAY + as_op_sequence_slots(sequence, 1) / LOADS_STRAY;
    return as_code_agrees(half, whole, steps, wants, n, stray, each, text, size);
}
