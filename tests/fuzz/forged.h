/* Lies: exports and stores that are well formed and say what no machine measured. Bytes choose what is said of which
 * cell of a stored sample, so that a fuzzer steers through meanings and not through punctuation. */
#ifndef AS_TESTS_LIES_H
#define AS_TESTS_LIES_H

#include "fuzz.h"

#include <jansson.h>
#include <stdbool.h>

/* What is left of the input; 0 for ever at its end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

/* Not twice in one expression: which comes first is the compiler's choice, and an input has to mean one thing. */
static inline unsigned fuzz_byte(struct fuzz_bytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

double forged_number(struct fuzz_bytes *b);      /* finite: extremes, zero, negative, denormal, ordinary */
const char *forged_text(struct fuzz_bytes *b);   /* markup, escapes, long ones, ... as UTF-8 */
const char *forged_broken(struct fuzz_bytes *b); /* the same, also what is no UTF-8 */
json_t *forged_value(struct fuzz_bytes *b);      /* any JSON value */
/* Replaces, doubles or removes something in the depth of a tree. */
void forged_in_tree(json_t *tree, struct fuzz_bytes *b);

/* Sets a member; value is taken over. */
void forged_set(json_t *j, const char *name, json_t *value);
/* The cell's numbers become those of its samples. */
void forged_settle(json_t *cell);

/* An export of some cells of a sample, as it is; the caller's. */
json_t *forged_sample(struct fuzz_bytes *b);
/* Lies in it, so many times as a byte says. */
void forged_in_export(json_t *root, struct fuzz_bytes *b);
/* Lies in the tables of a store, past all checks but those of its schema. */
void forged_in_store(const char *path, struct fuzz_bytes *b);
/* The same in what a resumed run loads: its plan, its trials, and the samples that it judges by. */
void forged_in_unfinished(const char *path, struct fuzz_bytes *b);

#endif
