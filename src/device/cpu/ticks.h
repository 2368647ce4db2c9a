/* The fastest counter of this CPU, and the spin-wait hint. The counter's rate is fixed, independent of the core clock;
 * reads are ordered with surrounding instructions. */
#ifndef AS_DEVICE_CPU_TICKS_H
#define AS_DEVICE_CPU_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
static inline uint64_t as_ticks(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
}
static inline void as_pause(void)
{
    __asm__ volatile("pause" ::: "memory");
}
#elif defined(__aarch64__)
static inline uint64_t as_ticks(void)
{
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t) : : "memory");
    return t;
}
static inline void as_pause(void)
{
    /* yield is a no-op on most cores; isb waits about as long as pause does */
    __asm__ volatile("isb" ::: "memory");
}
#endif

#endif
