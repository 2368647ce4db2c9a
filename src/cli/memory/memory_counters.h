/* Counters of a program's memory: of its processes, of the system and of the GPUs. */
#ifndef AS_CLI_MEMORY_COUNTERS_H
#define AS_CLI_MEMORY_COUNTERS_H

#include "base/error.h"
#include "sensor/used_memory.h"

#include <stdbool.h>
#include <stddef.h>

enum memory_scope { MEMORY_PROGRAM, MEMORY_SYSTEM, MEMORY_DEVICE, MEMORY_SCOPES };
extern const char *const memory_scope_titles[MEMORY_SCOPES];

enum { MEMORY_COUNTERS_MAX = 256 };
struct memory_counter {
    enum memory_scope scope;
    char name[48];
    const char *counts; /* what it includes */
};
struct memory_counters {
    const char *root; /* prefix of all paths, "" except in tests; outlives this */
    size_t n;
    struct memory_counter v[MEMORY_COUNTERS_MAX];
    int node[MEMORY_COUNTERS_MAX]; /* of the counters of NUMA nodes */
    size_t first_node, first_device;
    struct as_used_memory devices;
};
struct memory_reading {
    double seconds;                    /* since the program started */
    double bytes[MEMORY_COUNTERS_MAX]; /* NAN: not read */
    double rss_high;                   /* the largest RSS of one process so far, by the kernel; NAN unknown */
    size_t processes;
};
enum { MEMORY_RSS, MEMORY_PSS }; /* the first of the counters */

/* AS_UNSUPPORTED without /proc. Close it in any case. */
enum as_status as_memory_counters_open(const char *root, struct memory_counters *c, struct as_error *err);
/* program: its process ID, and its descendants are counted too; 0: only system and devices. The kernel walks the page
 * tables for the PSS, so it is read only on request. */
void as_memory_counters_read(const struct memory_counters *c, long program, bool with_pss, struct memory_reading *out);
void as_memory_counters_close(struct memory_counters *c);

#endif
