/* The topology that AMD's driver exports for ROCm (KFD): nodes of CPUs and GPUs, with text files of properties. */
#ifndef AS_DEVICE_KFD_H
#define AS_DEVICE_KFD_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The number after a name at the start of a line, "level 3"; false if there is none. */
bool as_kfd_property(const char *text, const char *name, uint64_t *out);
/* Reads the file below a node: "caches/0/properties". root: prefix of all paths, "" except in tests. */
bool as_kfd_read(const char *root, unsigned node, const char *file, struct as_buf *out);
/* The node of a GPU, and its properties in out; for a partitioned GPU, its first node. False if there is none. */
bool as_kfd_find(const char *root, const char *bus_id, unsigned *node, struct as_buf *out);

#endif
