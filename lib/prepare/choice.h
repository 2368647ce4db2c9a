/* Autotuning: the times of the variants of some work, kept for the worker's later trials of the same work. One
 * disturbed trial then does not decide a run, and less time goes to tuning. Evicts the oldest entry. Not thread-safe.
 */
#ifndef AS_LIB_PREPARE_CHOICE_H
#define AS_LIB_PREPARE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_CHOICE_MOST = 16, AS_CHOICE_KEPT = 16 };
struct as_choice {
    uint64_t key;
    double seconds[AS_CHOICE_MOST][AS_CHOICE_KEPT]; /* the latest times of each candidate */
    size_t tries[AS_CHOICE_MOST];
    size_t rounds; /* for the caller; 0 at first */
};
/* Entry for this work; key hashes everything that identifies it, including the device. Never NULL. */
struct as_choice *as_choice_of(uint64_t key, bool *known);
/* candidate below AS_CHOICE_MOST. */
void as_choice_add(struct as_choice *c, size_t candidate, double seconds);
/* The kept times of a candidate, at most AS_CHOICE_KEPT; returns how many. */
size_t as_choice_times(const struct as_choice *c, size_t candidate, const double **seconds);
/* Minimum time, since disturbance only adds time; INFINITY if untried. */
double as_choice_least(const struct as_choice *c, size_t candidate);
/* Candidate with the minimum time among the first n; 0 if none was tried. */
size_t as_choice_best(const struct as_choice *c, size_t n);

#endif
