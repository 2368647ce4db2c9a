#include "base/clock.h"

#include "os/facts.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#ifdef CLOCK_MONOTONIC_RAW
#define STEADY CLOCK_MONOTONIC_RAW /* not slewed by NTP, which would falsify durations */
#else
#define STEADY CLOCK_MONOTONIC
#endif

uint64_t as_now_ns(void)
{
    struct timespec t;
    clock_gettime(STEADY, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double as_now(void)
{
    struct timespec t;
    clock_gettime(STEADY, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double as_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void as_sleep(double seconds)
{
    if (!(seconds > 0))
        return;
    const double most = 1e9; /* about thirty years: never overflows time_t */
    if (seconds > most)
        seconds = most;
    double whole = floor(seconds);
    struct timespec t = {.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)};
    nanosleep(&t, NULL);
}

void as_format_wall(double wall, char *out, size_t size)
{
    if (size == 0)
        return;
    const double year_10000 = 253402300800.0;
    struct tm tm;
    bool good = wall >= 0 && wall < year_10000;
    time_t whole = good ? (time_t)wall : 0;
    if (!good || !gmtime_r(&whole, &tm) || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        out[0] = '\0';
        if (size > 1)
            memcpy(out, "-", 2);
    }
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void as_rng_seed(struct as_rng *r, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++)
        r->s[i] = splitmix64(&seed);
}

static uint64_t clock_rotl(uint64_t x, unsigned k)
{
    return x << k | x >> (64 - k);
}

uint64_t as_rng_u64(struct as_rng *r)
{
    uint64_t *s = r->s;
    uint64_t out = clock_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = clock_rotl(s[3], 45);
    return out;
}

uint64_t as_rng_below(struct as_rng *r, uint64_t n)
{
    __extension__ typedef unsigned __int128 u128;
    if (n <= 1)
        return 0;
    u128 m = (u128)as_rng_u64(r) * n;
    if ((uint64_t)m < n) {
        uint64_t reject = -n % n;
        while ((uint64_t)m < reject)
            m = (u128)as_rng_u64(r) * n;
    }
    return (uint64_t)(m >> 64);
}

double as_rng_double(struct as_rng *r)
{
    return (double)(as_rng_u64(r) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method; the second value is dropped, so that there is no state besides the generator's. */
double as_rng_normal(struct as_rng *r)
{
    double u, v, s;
    do {
        u = 2 * as_rng_double(r) - 1;
        v = 2 * as_rng_double(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

static void swap_bytes(char *a, char *b, size_t n)
{
    char tmp[64];
    while (n > 0) {
        size_t k = n < sizeof tmp ? n : sizeof tmp;
        memcpy(tmp, a, k);
        memcpy(a, b, k);
        memcpy(b, tmp, k);
        a += k, b += k, n -= k;
    }
}

void as_rng_shuffle(struct as_rng *r, void *items, size_t n, size_t elem)
{
    char *base = items;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)as_rng_below(r, i);
        if (j != i - 1)
            swap_bytes(base + j * elem, base + (i - 1) * elem, elem);
    }
}

uint64_t as_rng_entropy(void)
{
    uint64_t seed;
    if (as_system_random(&seed, sizeof seed))
        return seed;
    /* without an entropy source (an old kernel, a strict sandbox), mixes time and process id */
    seed = as_now_ns() ^ (uint64_t)(as_wall() * 1e9) ^ (uint64_t)getpid() << 40;
    return splitmix64(&seed);
}

uint64_t as_hash(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

void as_hash_hex(uint64_t h, char out[17])
{
    for (int i = 15; i >= 0; i--, h >>= 4)
        out[i] = "0123456789abcdef"[h & 15];
    out[16] = '\0';
}
