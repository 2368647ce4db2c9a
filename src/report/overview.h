/* A run in short: how many cells ended how, the best number of each group of cells, and why cells are missing. Cells
 * are looked at one at a time and 40 bytes of each are kept until the end, so that a run of a million fits. */
#ifndef AS_REPORT_OVERVIEW_H
#define AS_REPORT_OVERVIEW_H

#include "model/cell.h"

enum { AS_OVERVIEW_POINTS = 32, AS_OVERVIEW_GROUPS = 200, AS_MISSING_REASONS = 12, AS_MISSING_PROBES = 32 };

/* Cells that are shown as one line: of one probe, device and unit, and of one value of the probe's first word axis
 * where it has few values ("triad"). */
struct as_overview_group {
    const char *probe, *device, *word; /* as long as the overview lives */
    size_t valid, rejected;
    struct as_cell *shown; /* the best valid cell, or of what is counted the highest; where none is valid the only
                              cell; NULL: there are several; owned */
    double least;          /* lowest valid number of what is counted, where they differ; else NAN */
    double size[AS_OVERVIEW_POINTS], number[AS_OVERVIEW_POINTS]; /* valid cells like the one shown, by size */
    size_t points;
    bool varies[AS_AXES_MAX]; /* does this axis of the cell have other values, in the probe on the device? */
};

/* Cells that are missing or rejected for one reason. */
struct as_missing {
    struct as_missing_reason {
        struct as_cell first;
        char probes[AS_MISSING_PROBES][32]; /* which have it */
        size_t cells, probes_n;
    } * reasons;    /* owned */
    size_t n, more; /* more: cells for further reasons */
};
enum as_status as_missing_add(struct as_missing *m, const struct as_cell *cell, struct as_error *err);
void as_missing_finish(struct as_missing *m);

struct as_overview_probe {
    char name[32];
    size_t cells, measured;
};

struct as_overview {
    size_t cells, by_status[AS_CELL_STATUS_N];
    struct as_missing missing;
    struct as_overview_group *groups; /* in order of their first cells; filled by as_overview_end */
    size_t groups_n;
    struct overview_work *work; /* until as_overview_end, and names of groups */
};

/* The cell behind a handle; *out is the caller's (as_cell_finish). */
typedef enum as_status (*as_cell_fetch)(void *user, int64_t handle, struct as_cell *out, struct as_error *err);

enum as_status as_overview_begin(struct as_overview *o, struct as_error *err);
/* handle: by which end will fetch the cell. Only what as_store_each_brief reads is looked at. */
enum as_status as_overview_add(struct as_overview *o, const struct as_cell *cell, int64_t handle, struct as_error *err);
/* Finds the groups; nothing can be added after it. */
enum as_status as_overview_end(struct as_overview *o, as_cell_fetch fetch, void *user, struct as_error *err);
void as_overview_finish(struct as_overview *o);

/* The probes in order of their first cells; valid until as_overview_finish. */
const struct as_overview_probe *as_overview_probes(const struct as_overview *o, size_t *n);
/* Handles of the measured cells of all probes but those that left_out marks, in order; before as_overview_end. */
enum as_status as_overview_handles(const struct as_overview *o, const bool *left_out, int64_t **handles, size_t *n,
                                   struct as_error *err);
#endif
