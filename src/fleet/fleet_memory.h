/* The memory of messages between nodes: pageable and pinned memory of the host, and memory of a device. The two latter
 * come from the rank's device, by the roles of its allocators. */
#ifndef AS_FLEET_FLEET_MEMORY_H
#define AS_FLEET_FLEET_MEMORY_H

#include "device/device.h"
#include "mpi/mpi.h"

enum as_link_memory_kind {
    AS_LINK_PAGEABLE,
    AS_LINK_PINNED,
    AS_LINK_DEVICE,
    AS_LINK_MEMORIES
}; /* in the order of the words of axis `memory` of probe node_link */
struct as_link_buffer {
    unsigned char *address;   /* as MPI takes it */
    struct as_memory *memory; /* of the device; NULL: the C library's */
};
/* Of a rank. A rank is a process that measures: it may load drivers. */
struct as_link_memory {
    struct as_opened opened;
    bool is_open;
    struct as_link_buffer out[AS_LINK_MEMORIES], in[AS_LINK_MEMORIES];
    char why[AS_LINK_MEMORIES][320]; /* why the kind cannot be used; "" it can */
};
/* Opens the device before MPI starts, which then finds it. device: "cuda", of which the rank takes the one of its
 * number on the host, or "cuda:1"; NULL: the first API that has GPUs. What cannot be used has a reason. */
void as_link_memory_open(struct as_link_memory *m, const char *device, int local);
/* Whether this MPI sends the device's memory. */
void as_link_memory_check_gpu_aware(struct as_link_memory *m, const struct as_mpi *mpi);
/* Buffers of both directions. */
enum as_status as_link_memory_alloc(struct as_link_memory *m, enum as_link_memory_kind kind, uint64_t bytes,
                                    struct as_error *err);
/* Between a buffer and the host's memory. */
enum as_status as_link_memory_write(struct as_link_memory *m, const struct as_link_buffer *to, const void *from,
                                    uint64_t bytes, struct as_error *err);
enum as_status as_link_memory_read(struct as_link_memory *m, const struct as_link_buffer *from, void *to,
                                   uint64_t bytes, struct as_error *err);
void as_link_memory_close(struct as_link_memory *m);

#endif
