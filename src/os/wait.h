/* Sleeps until a word changes or until a time. */
#ifndef AS_OS_WAIT_H
#define AS_OS_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns when woken, if *word differs from `seen`, or spuriously: check the word again. */
void as_word_wait(_Atomic uint32_t *word, uint32_t seen);
void as_word_wake_all(_Atomic uint32_t *word);

/* A condition variable whose timeouts use a clock that is never set. */
int as_condition_init(pthread_cond_t *condition);
/* A time on that clock, `seconds` from now. */
double as_condition_after(double seconds);
bool as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end); /* false on timeout */

#endif
