/* Sets of logical CPUs, and thread affinity. */
#ifndef AS_OS_CPUS_H
#define AS_OS_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* The maximum of any kernel, since a kernel with more CPUs than the set rejects it. */
enum { AS_CPUS_MAX = 8192, AS_CPUS_WORD = 64 };
struct as_cpus {
    uint64_t words[AS_CPUS_MAX / AS_CPUS_WORD];
};

/* CPUs outside the range are in no set. */
static inline bool as_cpus_has(const struct as_cpus *set, int cpu)
{
    return cpu >= 0 && cpu < AS_CPUS_MAX && (set->words[cpu / AS_CPUS_WORD] >> cpu % AS_CPUS_WORD & 1);
}

static inline void as_cpus_add(struct as_cpus *set, int cpu)
{
    if (cpu >= 0 && cpu < AS_CPUS_MAX)
        set->words[cpu / AS_CPUS_WORD] |= UINT64_C(1) << cpu % AS_CPUS_WORD;
}

static inline void as_cpus_remove(struct as_cpus *set, int cpu)
{
    if (cpu >= 0 && cpu < AS_CPUS_MAX)
        set->words[cpu / AS_CPUS_WORD] &= ~(UINT64_C(1) << cpu % AS_CPUS_WORD);
}

static inline int as_cpus_count(const struct as_cpus *set)
{
    int n = 0;
    for (int i = 0; i < AS_CPUS_MAX / AS_CPUS_WORD; i++)
        n += __builtin_popcountll(set->words[i]);
    return n;
}

/* The next CPU of the set after cpu (-1: the first); -1 if there is none. */
static inline int as_cpus_next(const struct as_cpus *set, int cpu)
{
    for (cpu++; cpu < AS_CPUS_MAX; cpu = (cpu / AS_CPUS_WORD + 1) * AS_CPUS_WORD) {
        const uint64_t rest = set->words[cpu / AS_CPUS_WORD] >> cpu % AS_CPUS_WORD;
        if (rest)
            return cpu + __builtin_ctzll(rest);
    }
    return -1;
}

/* CPUs that the calling thread may run on; false if unknown. */
bool as_thread_cpus(struct as_cpus *out);
/* Restricts the calling thread to these CPUs as far as as_thread_pin_limit permits; false if the system refuses
 * them. */
bool as_thread_keep_on(const struct as_cpus *set);
/* NULL if threads can be pinned to CPUs, else why not. Constant for the life of the process. */
const char *as_thread_pin_limit(void);
int as_thread_cpu(void); /* CPU of the calling thread now; -1 unknown */
int as_online_cpus(void);

#endif
