/* A dependency chain of known length in cycles. */
#ifndef AS_BASE_CHAIN_H
#define AS_BASE_CHAIN_H

#include <stdint.h>

enum { AS_CHAIN_LINKS = 100 };

/* AS_CHAIN_LINKS dependent additions per loop, one cycle each on every x86-64 and aarch64 core.
 * Adds registers: some cores fold chains of constants at register rename. loops > 0. */
static inline void as_add_chain(uint64_t loops)
{
    uint64_t a = 1, b = 3;
#if defined(__x86_64__)
    __asm__ volatile("1:\n\t.rept 100\n\tadd %2, %0\n\t.endr\n\tdec %1\n\tjnz 1b"
                     : "+r"(a), "+r"(loops)
                     : "r"(b)
                     : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1:\n\t.rept 100\n\tadd %0, %0, %2\n\t.endr\n\tsubs %1, %1, #1\n\tb.ne 1b"
                     : "+r"(a), "+r"(loops)
                     : "r"(b)
                     : "cc");
#else
    for (uint64_t i = 0; i < loops * AS_CHAIN_LINKS; i++) {
        a += b;
        __asm__ volatile("" : "+r"(a));
    }
#endif
}

#endif
