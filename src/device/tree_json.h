/* The machine tree of a device whose driver tells little of it: nodes as JSON (see as_device_ops.topology), one behind
 * another. A node that was opened is closed by the caller with "}", its children with "]" before that. */
#ifndef AS_DEVICE_TREE_JSON_H
#define AS_DEVICE_TREE_JSON_H

#include "base/buf.h"

#include <stdint.h>

/* {"type":type,"name":name with a comma before it where a sibling stands in front; further members may follow. */
void as_tree_open(struct as_buf *b, const char *type, const char *name);
/* The member "children", whose nodes follow. */
void as_tree_children(struct as_buf *b);
/* A whole node; of size 0 there is none. line: bytes, 0 unknown. */
void as_tree_memory(struct as_buf *b, const char *type, const char *name, uint64_t size, uint64_t line);
/* The core with that name and so many lanes, left open among its children. */
void as_tree_core(struct as_buf *b, const char *name, unsigned compute_units, unsigned lanes);

#endif
