/* Which way to do a piece of work is the fastest is tried out. What came of it is kept for the worker's later trials of
 * the same work: one disturbed trial then does not decide a run, and time goes to sampling. The oldest entry makes room
 * for a new one. One thread measures in a process. */
#ifndef AS_PROBES_CHOICE_H
#define AS_PROBES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_CHOICE_MOST = 16, AS_CHOICE_KEPT = 16 };
struct as_choice {
    uint64_t key;
    double seconds[AS_CHOICE_MOST][AS_CHOICE_KEPT]; /* the latest times of each candidate */
    size_t tries[AS_CHOICE_MOST];
    size_t rounds; /* for the user; 0 at first */
};
/* The entry of this work; key is a hash of all that tells it from other work, the device among it. Never NULL. */
struct as_choice *as_choice_of(uint64_t key, bool *known);
/* candidate below AS_CHOICE_MOST. */
void as_choice_add(struct as_choice *c, size_t candidate, double seconds);
/* The kept times of a candidate, at most AS_CHOICE_KEPT; returns how many. */
size_t as_choice_times(const struct as_choice *c, size_t candidate, const double **seconds);
/* INFINITY where it was not tried: what disturbs makes slower, so the least time is right. */
double as_choice_least(const struct as_choice *c, size_t candidate);
/* The candidate of the least time of the first n; 0 where none was tried. */
size_t as_choice_best(const struct as_choice *c, size_t n);

#endif
