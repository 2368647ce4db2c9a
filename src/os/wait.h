/* Sleeping until a word changes, and until a time. */
#ifndef AS_OS_WAIT_H
#define AS_OS_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns when woken, when *word is not `seen` (any more), or for no reason: look at the word again. */
void as_word_wait(_Atomic uint32_t *word, uint32_t seen);
void as_word_wake_all(_Atomic uint32_t *word);

/* A condition variable whose waits end by a clock that nobody sets. */
int as_condition_init(pthread_cond_t *condition);
/* A point of that clock, so many seconds from now. */
double as_condition_after(double seconds);
bool as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end); /* false: it has passed */

#endif
