/* A probe's role in a view that reads several: declared in its section.json, each role by one probe
 * (probes/registry.py). */
#ifndef AS_PROBE_VIEW_ROLE_H
#define AS_PROBE_VIEW_ROLE_H

#include "model/cell.h"

#include <string.h>

enum as_view_role {
    AS_VIEW_OPERATION_THROUGHPUT,
    AS_VIEW_OPERATION_LATENCY,
    AS_VIEW_OPERATION_SEQUENCES,  /* several operations in one loop, which reveal the pipes */
    AS_VIEW_INSTRUCTION_OPERANDS, /* CPU instructions from each operand to each */
    AS_VIEW_ROOFLINE,             /* rate over arithmetic intensity */
    AS_VIEW_MATRIX_INSTRUCTIONS,  /* their rate with operands in place */
    AS_VIEW_GEMM,
    AS_VIEW_MATRIX_ARITHMETIC, /* how matrix units round and add */
    AS_VIEW_OPERAND_LAYOUT,    /* which lane holds which element */
    AS_VIEW_FUSED_EPILOGUES,
    AS_VIEW_ATTENTION,
    AS_VIEW_LINK_BANDWIDTH, /* between a device and the memory of the host or of another device */
    AS_VIEW_LINK_LATENCY,
    AS_VIEW_LATENCY, /* of memory that a device uses itself */
    AS_VIEW_BANDWIDTH,
    AS_VIEW_HOST_LATENCY, /* of CPU threads in memory of a NUMA node or of a device's allocators */
    AS_VIEW_HOST_BANDWIDTH,
    AS_VIEW_ROLES
};

extern const char *const as_view_probes[]; /* [AS_VIEW_ROLES]: the name of the probe with each role */

static inline bool as_has_role(const struct as_cell *cell, enum as_view_role role)
{
    return strcmp(cell->probe, as_view_probes[role]) == 0;
}

#endif
