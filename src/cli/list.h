/* What the lists of 'assay list' share. */
#ifndef AS_CLI_LIST_H
#define AS_CLI_LIST_H

#include "cli/cli.h"
#include "report/terminal.h"

struct as_listing {
    const struct as_args *args;
    const struct as_table_style *style;
    bool json;
    struct as_buf *out;
};

/* Ends the object that line holds, moves it to out and begins the next one. */
void as_list_json_line(struct as_buf *line, struct as_buf *out);
/* Published figures: the sets of them, or the figures of the one that is named behind. */
enum as_status as_list_refs(const struct as_listing *l, struct as_error *err);
/* Roles of allocators, with the name that each backend has for them. */
enum as_status as_list_roles(const struct as_listing *l, struct as_error *err);

#endif
