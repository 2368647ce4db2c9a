/* Output files: written to stdout or a path, and opened. */
#ifndef AS_CLI_DELIVER_H
#define AS_CLI_DELIVER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Whether output to the path ("-": stdout) goes to a terminal. */
bool as_is_terminal(const char *path);
/* Escapes text for a terminal; files and pipes get it unchanged. */
void as_make_readable(struct as_buf *b);
/* Writes b to stdout or to a file, which is named on stderr, and finishes b. Returns an exit code. */
int as_deliver(struct as_buf *b, const char *path);
/* Opens a file in the desktop's browser. AS_UNSUPPORTED: no browser. */
enum as_status as_open_in_browser(const char *path, struct as_error *err);

#endif
