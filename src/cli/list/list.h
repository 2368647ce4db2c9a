/* Shared by the lists of 'assay list'. */
#ifndef AS_CLI_LIST_H
#define AS_CLI_LIST_H

#include "cli/cli.h"
#include "report/terminal/terminal.h"

struct as_listing {
    const struct as_args *args;
    const struct as_table_style *style;
    bool json;
    struct as_buf *out;
};

/* Closes the object in line, moves it to out and opens the next one. */
void as_list_json_line(struct as_buf *line, struct as_buf *out);
/* Sets of published figures, or with a name the figures of that set. */
enum as_status as_list_refs(const struct as_listing *l, struct as_error *err);
/* Roles of allocators, with each backend's allocator. */
enum as_status as_list_roles(const struct as_listing *l, struct as_error *err);
/* The lines of the data sheet that the text means, of a run or, with run NULL, of the machine. AS_NOTFOUND: none has a
 * number. */
enum as_status as_list_lines(const struct as_args *args, const char *run, const char *text,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err);

#endif
