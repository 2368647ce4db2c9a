/* Autotuning: keeps the times of the variants of some work for later trials of the same work by this worker. Then one
 * disturbed trial does not decide a run, and less time goes to tuning. Evicts the oldest entry. Not thread-safe. */
#ifndef AS_LIB_AUTOTUNE_AUTOTUNE_H
#define AS_LIB_AUTOTUNE_AUTOTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_AUTOTUNE_MOST = 16, AS_AUTOTUNE_KEPT = 16 };
struct as_autotune {
    uint64_t key;
    double seconds[AS_AUTOTUNE_MOST][AS_AUTOTUNE_KEPT]; /* the latest times of each candidate */
    size_t tries[AS_AUTOTUNE_MOST];
    size_t rounds; /* for the caller; 0 at first */
};
/* Entry for this work; key hashes everything that identifies it, including the device. Never NULL. */
struct as_autotune *as_autotune_of(uint64_t key, bool *known);
/* candidate below AS_AUTOTUNE_MOST. */
void as_autotune_add(struct as_autotune *c, size_t candidate, double seconds);
/* The kept times of a candidate, at most AS_AUTOTUNE_KEPT; returns their number. */
size_t as_autotune_times(const struct as_autotune *c, size_t candidate, const double **seconds);
/* Minimum time, since disturbance only adds time; INFINITY if untried. */
double as_autotune_least(const struct as_autotune *c, size_t candidate);
/* Candidate with the minimum time among the first n; 0 if none was tried. */
size_t as_autotune_best(const struct as_autotune *c, size_t n);

#endif
