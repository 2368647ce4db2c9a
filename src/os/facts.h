/* Facts about the machine from the system. */
#ifndef AS_OS_FACTS_H
#define AS_OS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Random bytes of the system, 256 at most; false if it has no source of them. */
bool as_system_random(void *bytes, size_t n);

/* Time of a file's last change in nanoseconds. */
int64_t as_file_changed_ns(const struct stat *info);

/* A fact for the provenance that no file of the system has: {"host", "model", "Mac16,10"}. */
struct as_system_fact {
    const char *section, *name;
    char text[192];
};
enum { AS_SYSTEM_FACTS_MAX = 16 };
size_t as_system_facts(struct as_system_fact out[AS_SYSTEM_FACTS_MAX]);

/* Whether the CPU has a feature of the Arm architecture ("FEAT_I8MM"); only for systems that report features this way.
 */
bool as_system_has(const char *feature);

/* Memory of the machine and of this process in bytes; false if the system's files have it. */
struct as_system_memory {
    uint64_t total, free;
    uint64_t available; /* free, or reclaimable without writing */
    uint64_t resident;  /* of this process */
};
bool as_system_memory(struct as_system_memory *out);

/* Cores of one kind, 0 the fastest; false if there is no such kind, or if files and hwloc have it. Caches in bytes, 0
 * unknown. */
struct as_core_kind {
    char name[32]; /* "Performance" */
    unsigned cores, threads;
    uint64_t l1i, l1d, l2, l3;
    unsigned cores_per_l2, line;
};
bool as_system_core_kind(unsigned kind, struct as_core_kind *out);

#endif
