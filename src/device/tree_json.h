/* The machine tree of a device whose driver reports little: nodes as JSON (see as_device_ops.topology), written
 * in order. The caller closes an open node with "}", after closing its children with "]". */
#ifndef AS_DEVICE_TREE_JSON_H
#define AS_DEVICE_TREE_JSON_H

#include "base/buf.h"

#include <stdint.h>

/* {"type":type,"name":name, after a comma if a sibling precedes; further members may follow. */
void as_tree_open(struct as_buf *b, const char *type, const char *name);
/* Opens the member "children"; its nodes follow. */
void as_tree_children(struct as_buf *b);
/* A complete node; none for size 0. line: bytes, 0 unknown. */
void as_tree_memory(struct as_buf *b, const char *type, const char *name, uint64_t size, uint64_t line);
/* A core with its lanes; its list of children stays open. */
void as_tree_core(struct as_buf *b, const char *name, unsigned compute_units, unsigned lanes);

#endif
