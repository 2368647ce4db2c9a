/* Internal header of src/api: the structs behind the handles, and conversion of internal records to public ones. */
#ifndef AS_API_INTERNAL_H
#define AS_API_INTERNAL_H

#include "assay.h"
#include "model/cell.h"
#include "store/store.h"

struct assay_store {
    struct as_store *store;
    unsigned users; /* calls in progress, during which a callback must not close it */
};

/* Copies an internal error to `error` and returns the code for status; after AS_OK the content of err is
 * ignored. error may be NULL. */
int as_api_code(enum as_status status, const struct as_error *err, struct assay_error *error);
/* AS_USAGE: a required argument is NULL. */
enum as_status as_api_null(const char *call, const char *argument, struct as_error *err);

/* A public view of a cell: strings and samples belong to the cell, axes to the view. */
struct as_api_cell {
    struct assay_cell cell;
    struct assay_axis axes[AS_AXES_MAX];
};
void as_api_cell_view(const struct as_cell *from, struct as_api_cell *to);

#endif
