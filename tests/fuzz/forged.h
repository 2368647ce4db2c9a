/* Forged data: well-formed exports and stores with invented content. The input chooses the change and the
 * cell of a stored sample, so that a fuzzer explores meanings rather than syntax. */
#ifndef AS_TESTS_LIES_H
#define AS_TESTS_LIES_H

#include "fuzz.h"

#include <jansson.h>
#include <stdbool.h>

/* The rest of the input; 0 forever after its end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

/* Not twice in one expression: the order of evaluation is unspecified, and an input must have one meaning. */
static inline unsigned fuzz_byte(struct fuzz_bytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

double forged_number(struct fuzz_bytes *b);      /* finite: extremes, zero, negative, denormal, ordinary */
const char *forged_text(struct fuzz_bytes *b);   /* markup, escapes, long ones, ... as UTF-8 */
const char *forged_broken(struct fuzz_bytes *b); /* the same, also invalid UTF-8 */
json_t *forged_value(struct fuzz_bytes *b);      /* any JSON value */
/* Replaces, duplicates or removes a node of a tree. */
void forged_in_tree(json_t *tree, struct fuzz_bytes *b);

/* Sets a member; takes ownership of value. */
void forged_set(json_t *j, const char *name, json_t *value);
/* Recomputes the cell's numbers from its samples. */
void forged_settle(json_t *cell);

/* An unchanged export of some cells of a sample; owned by the caller. */
json_t *forged_sample(struct fuzz_bytes *b);
/* Forges an export; a byte gives the number of changes. */
void forged_in_export(json_t *root, struct fuzz_bytes *b);
/* Forges tables of a store, subject only to the schema's checks. */
void forged_in_store(const char *path, struct fuzz_bytes *b);
/* The same for what a resumed run loads: plan, trials, and the samples for judging. */
void forged_in_unfinished(const char *path, struct fuzz_bytes *b);

#endif
