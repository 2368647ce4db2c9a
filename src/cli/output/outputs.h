/* Output files, checked before a command does any work. */
#ifndef AS_CLI_OUTPUTS_H
#define AS_CLI_OUTPUTS_H

#include "cli/cli.h"

/* Whether the file can be written without damage to an input. AS_USAGE: path is an input of the command (by any
 * name, link or mount), its store or the store's journal, a database, or a folder. AS_IO: it cannot be written. "-" is
 * stdout. */
enum as_status as_check_output(const struct as_args *args, const char *path, struct as_error *err);
/* The same for every output option given and for stdout if it is a file; no two may name the same file. */
enum as_status as_check_outputs(const struct as_args *args, struct as_error *err);

#endif
