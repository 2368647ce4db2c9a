/* Files that commands write: delivered to stdout or a path, and opened. */
#ifndef AS_CLI_DELIVER_H
#define AS_CLI_DELIVER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Would text that is written to the path ("-": stdout) reach a terminal? */
bool as_is_terminal(const char *path);
/* Escapes text for a terminal; files and programs get it raw. */
void as_make_readable(struct as_buf *b);
/* To stdout or a file, which is named on stderr. b is finished. Returns an exit code. */
int as_deliver(struct as_buf *b, const char *path);
/* Opens a file with the desktop's browser. AS_UNSUPPORTED: there is none. */
enum as_status as_open_in_browser(const char *path, struct as_error *err);

#endif
