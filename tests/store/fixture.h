/* A folder with a store, for one test. */
#ifndef AS_TESTS_STORE_FIXTURE_H
#define AS_TESTS_STORE_FIXTURE_H

#include "sample.h"
#include "store/sql.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64], path[96];
    const struct as_schema *schema; /* schema with which the store is opened; NULL: this build's */
    struct as_store *store;
    struct as_error err;
};

int set_up(void **state); /* f->path: does not exist yet */
int tear_down(void **state);

void check(const struct fixture *f, enum as_status status);
void must_open(struct fixture *f, enum as_store_mode mode); /* closes the open store */
void must_close(struct fixture *f);
/* Opening gives this error, whose text has the path and `part`. */
void refused(struct fixture *f, enum as_store_mode mode, enum as_status code, const char *part);

/* A hash of all that the store holds; 0: no store, or an empty one. Fails if it is not sound. */
uint64_t content_of(struct fixture *f, enum as_store_mode mode);

/* This build's schema plus one step, until the next call. The step rebuilds a table to which others refer, adds the
 * column 'planted', and writes to each page with trials. */
const struct as_schema *planted_schema(const char *step);
const char *planted_step(void);

void write_text(const char *path, const void *bytes, size_t n);
void run_sql(const char *path, const char *sql);
int64_t ask(const char *path, const char *sql); /* the single number that the query returns */

/* Runs `part` in a separate process as an unprivileged user. */
void as_plain_user(struct fixture *f, void (*part)(struct fixture *));
/* Exit of the child if part fails; 2: this machine cannot do it, skip. */
#define REQUIRE(condition, text)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, text);                                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* A run of n cells and two sentinels, without measurements. */
struct as_cell *begin(struct fixture *f, struct as_run *run, uint64_t seed, size_t n);
/* Trial `number` of a cell, with 6 + number samples, stored with the cell. trials holds the earlier ones. */
void trial(struct fixture *f, struct as_cell *cell, struct as_trial *trials, int number, struct as_rng *rng);
/* The second is excluded. */
void three_trials(struct fixture *f, struct as_cell *cell, struct as_trial *trials, struct as_rng *rng);
/* A finished run with every kind of cell: the first of 8 has three trials, one of them left out. */
void finished_run(struct fixture *f, uint64_t seed);

/* All fields of two records except those of kind AS_FIELD_OTHER. */
void same_record(const struct as_fields *fields, const void *a, const void *b);

#endif
