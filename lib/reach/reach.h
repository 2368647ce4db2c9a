/* Memory that CPU threads of one node use: of a NUMA node, or of another device's allocator, which the CPU reaches
 * through its own page tables. */
#ifndef AS_LIB_REACH_REACH_H
#define AS_LIB_REACH_REACH_H

#include "device/arena.h"
#include "lib/chase/chase.h"
#include "os/memory.h"
#include "probe/probe.h"

#define AS_TOUCH_AXIS AS_WORD_AXIS("touch", as_reach_touch_words, "cpu", "who touches the memory first: CPU or device")
/* The axes of both ends: first in a probe's list. A probe without `from` and `node` means node 0 of the host. */
#define AS_REACH_AXES                                                                                                  \
    AS_COUNT_AXIS("from", 0, AS_NODES_MAX - 1, "all", "NUMA node of the CPU threads", .domain = AS_DOMAIN_NODE),       \
        AS_COUNT_AXIS("node", 0, AS_NODES_MAX - 1, "all", "NUMA node of the memory (0 for a device's allocators)",     \
                      .domain = AS_DOMAIN_NODE),                                                                       \
        AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"), AS_TOUCH_AXIS
extern const char *const as_reach_touch_words[];

/* Is this pair of ends a cell? On the CPU: threads and memory of any node of several. On a device: CPUs of any node,
 * and memory that both sides can reach. */
enum as_applies as_reach_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err);

/* Has the node of the axis `from` so many CPUs that this process may use? */
bool as_reach_has_cpus(const struct as_axes *a, double threads);

struct as_reach {
    struct as_device *dev, *cpu; /* whose memory it is; who uses it */
    struct as_opened opened;     /* the CPU beside another device */
    struct as_memory *memory;
    void *at;  /* its host address */
    int *cpus; /* of the node: OS index of each, as many as threads may be used */
    unsigned cpus_n;
    bool by_device; /* the device touched it first */
};
/* Reads the axes; bytes: of the block. After a failure the caller still finishes r. */
enum as_status as_reach_prepare(struct as_reach *r, struct as_trial_context *tc, uint64_t bytes, struct as_error *err);
/* Once the memory was touched: notes its NUMA node, and fails where the system reports another than was requested. */
enum as_status as_reach_look(const struct as_reach *r, struct as_trial_context *tc, struct as_error *err);
/* Prepares a trial in which a CPU of the node, another in each trial, chases through desc->size bytes of the memory;
 * the desc's memory and CPU are filled in. Finish both after a failure, too, the chase first. */
enum as_status as_reach_prepare_chase(struct as_reach *r, struct as_chase *chase, struct as_trial_context *tc,
                                      struct as_chase_desc *desc, struct as_error *err);
void as_reach_finish(struct as_reach *r); /* accepts a zeroed one; after the users of the memory */

#endif
