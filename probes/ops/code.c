#include "code.h"

#include <math.h>
#include <stdio.h>
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

static bool is_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Around its steps a compiler computes addresses with the same instructions, in a short body in other ways. */
enum { STRAY = 2 };

/* A tenth of an instruction: what copies registers now and then is not of the operation. */
static const double LEAST = 0.1;

static void write_parts(const struct part *parts, size_t n, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && parts[i].each >= LEAST && at < size; i++) {
        int length = snprintf(text + at, size - at, "%s%.3g %s", i ? ", " : "", parts[i].each, parts[i].name);
        at += length > 0 ? (size_t)length : 0;
    }
}

bool as_op_code_agrees(const struct as_instructions *half, const struct as_instructions *whole, unsigned steps,
                       const char *wanted, char *text, size_t size)
{
    struct part parts[AS_INSTRUCTIONS_MAX];
    double all = 0, right = 0;
    char made[120];
    for (size_t i = 0; i < whole->n; i++) {
        const char *name = whole->list[i].name;
        double more = (double)whole->list[i].n - (double)as_instructions_of(half, name);
        parts[i] = (struct part){name, more / steps};
        all += more / steps;
        right += !wanted || is_word(wanted, name) ? more / steps : 0;
    }
    qsort(parts, whole->n, sizeof *parts, by_number);
    write_parts(parts, whole->n, made, sizeof made);
    bool good = right * steps >= steps - STRAY && all * steps >= steps - STRAY;
    if (good)
        snprintf(text, size, "each step is %s", made);
    else if (!made[0])
        snprintf(text, size, "the compiler left nothing of the steps");
    else
        snprintf(text, size, "each step is %s, wanted is %s", made, wanted ? wanted : "one instruction or more");
    return good;
}
