/* The command line: one table of subcommands, one file for each. */
#ifndef AS_CLI_CLI_H
#define AS_CLI_CLI_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>

/* The one exit-code contract. */
enum as_exit {
    AS_EXIT_OK = 0,
    AS_EXIT_FAILED = 1,
    AS_EXIT_USAGE = 2,
    AS_EXIT_REGRESSION = 3,
    AS_EXIT_UNTRUSTED = 4,
    AS_EXIT_NOTHING = 5,
};

/* An option, described once: parsing, --help and the man page read this record. */
struct as_option {
    const char *name;  /* "budget"; without the dashes */
    char letter;       /* 'o', 0 when none */
    const char *value; /* "TIME"; NULL for a flag */
    const char *help;  /* one line; names default and range */
};
struct as_args;
struct as_command {
    const char *name;
    const char *args;    /* "[SUITE|PROBE]..." */
    const char *summary; /* one line */
    const char *about;   /* paragraphs for --help and the man page */
    const char *example; /* lines, "assay run quick" */
    const struct as_option *options; /* ends with a NULL name */
    int min_args, max_args;          /* max -1: any number */
    int (*run)(const struct as_command *command, const struct as_args *args);
};
#endif
