/* A run in short: how many cells of which probe ended how, and why cells are missing. Cells are looked at one at a time
 * and 16 bytes of each are kept, so that a run of a million fits. */
#ifndef AS_REPORT_OVERVIEW_H
#define AS_REPORT_OVERVIEW_H

#include "model/cell.h"

enum { AS_MISSING_REASONS = 12, AS_MISSING_PROBES = 32 };

/* Cells that are missing or rejected for one reason. */
struct as_missing {
    struct as_missing_reason {
        struct as_cell first;
        char probes[AS_MISSING_PROBES][32]; /* which have it */
        size_t cells, probes_n;
    } * reasons; /* owned */
    size_t n;
    struct as_missing_reason more; /* cells for further reasons, together */
};
enum as_status as_missing_add(struct as_missing *m, const struct as_cell *cell, struct as_error *err);
void as_missing_finish(struct as_missing *m);

struct as_overview_probe {
    char name[32];
    size_t cells, measured, valid;
};

enum { AS_OVERVIEW_WAITING_MAX = 4096 };
struct as_overview {
    size_t cells, by_status[AS_CELL_STATUS_N];
    struct as_missing missing;
    struct as_overview_probe *probes; /* in order of their first cells; owned */
    size_t probes_n, probes_cap;
    struct as_overview_handle {
        int64_t handle;
        size_t probe;
    } * measured;                             /* of the cells with a number, and of
                                               * AS_OVERVIEW_WAITING_MAX that wait for a trial, in order; owned */
    size_t measured_n, measured_cap, waiting; /* of these, cells that wait for a trial */
};

/* handle: by which the caller finds the cell again. Reads only what as_store_each_brief provides. */
enum as_status as_overview_add(struct as_overview *o, const struct as_cell *cell, int64_t handle, struct as_error *err);
void as_overview_finish(struct as_overview *o);
#endif
