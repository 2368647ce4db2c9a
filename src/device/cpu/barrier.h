/* A barrier that spins, then sleeps: fast with one CPU per thread, and safe if threads share a CPU. */
#ifndef AS_DEVICE_CPU_MEET_H
#define AS_DEVICE_CPU_MEET_H

#include "base/clock.h"
#include "device/cpu/ticks.h"
#include "os/wait.h"

#include <stdalign.h>
#include <stdbool.h>

struct as_barrier {
    alignas(128) _Atomic uint32_t arrived; /* on its own cache line, so that arrivals do not disturb waiters */
    alignas(128) _Atomic uint32_t phase;
    _Atomic uint32_t sleepers;
    uint32_t threads;
    uint64_t spin_ns;
};

/* Spins until word differs from `seen`, for at most ns nanoseconds. True if it changed. */
static inline bool as_spin_while(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    if (atomic_load_explicit(word, memory_order_acquire) != seen)
        return true;
    if (ns == 0)
        return false;
    uint64_t start = as_now_ns();
    do {
        for (int i = 0; i < 64; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != seen)
                return true;
            as_pause();
        }
    } while (as_now_ns() - start < ns);
    return false;
}

static inline void as_barrier_wait(struct as_barrier *m)
{
    if (m->threads < 2)
        return;
    uint32_t phase = atomic_load_explicit(&m->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel) + 1 == m->threads) {
        atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
        atomic_store(&m->phase, phase + 1);
        if (atomic_load(&m->sleepers))
            as_word_wake_all(&m->phase);
        return;
    }
    if (as_spin_while(&m->phase, phase, m->spin_ns))
        return;
    atomic_fetch_add(&m->sleepers, 1);
    while (atomic_load(&m->phase) == phase)
        as_word_wait(&m->phase, phase);
    atomic_fetch_sub(&m->sleepers, 1);
}

#endif
