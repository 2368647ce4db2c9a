/* Time and randomness. */
#ifndef AS_BASE_CLOCK_H
#define AS_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

double as_now(void);           /* seconds, CLOCK_MONOTONIC (raw where there is one) */
uint64_t as_now_ns(void);      /* the same in nanoseconds */
double as_wall(void);          /* seconds since 1970, UTC */
void as_sleep(double seconds); /* returns early on a signal */
/* Hint for spin loops: leaves execution resources to the SMT sibling. */
static inline void as_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
/* "2026-11-21T09:05:00Z" into out (at least 21 bytes) */
void as_format_wall(double wall, char *out, size_t size);

/* xoshiro256** (Blackman, Vigna 2018), seeded by splitmix64 */
struct as_rng {
    uint64_t s[4];
};
void as_rng_seed(struct as_rng *r, uint64_t seed);
uint64_t as_rng_u64(struct as_rng *r);
uint64_t as_rng_below(struct as_rng *r, uint64_t n); /* uniform in [0, n), n > 0, without bias (Lemire 2019) */
double as_rng_double(struct as_rng *r);              /* uniform in [0, 1) */
double as_rng_normal(struct as_rng *r);              /* mean 0, standard deviation 1 */
void as_rng_shuffle(struct as_rng *r, void *items, size_t n, size_t elem);
uint64_t as_rng_entropy(void); /* a seed from the system */

/* XXH3 64-bit of bytes; as_hash_hex writes 16 hexadecimal digits and a NUL */
uint64_t as_hash(const void *bytes, size_t n);
void as_hash_hex(uint64_t h, char out[17]);

#endif
