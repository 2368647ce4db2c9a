/* Output files, checked before a command does any work. */
#ifndef AS_CLI_OUTPUTS_H
#define AS_CLI_OUTPUTS_H

#include "cli/cli.h"

/* Can the file be written, without loss of what the command reads? AS_USAGE: path is an input of the command (by any
 * name, link or mount), its store or the store's journal, a database, or a folder. AS_IO: it cannot be written. "-" is
 * stdout. */
enum as_status as_check_output(const struct as_args *args, const char *path, struct as_error *err);
/* The same for every output option that was given, and for stdout where it is a file; no two may name one file. */
enum as_status as_check_outputs(const struct as_args *args, struct as_error *err);

#endif
