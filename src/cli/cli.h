/* The command line: one table of subcommands, one file per subcommand. */
#ifndef AS_CLI_CLI_H
#define AS_CLI_CLI_H

#include "base/buf.h"
#include "base/error.h"
#include "report/report.h"
#include "store/store.h"

#include <stdbool.h>

/* Exit codes of all subcommands. */
enum as_exit {
    AS_EXIT_OK = 0,
    AS_EXIT_FAILED = 1, /* assay itself failed, or was interrupted */
    AS_EXIT_USAGE = 2,
    AS_EXIT_REGRESSION = 3,
    AS_EXIT_PARTLY = 4, /* measured, but not all: cells were rejected, failed, crashed or timed out */
    AS_EXIT_NOTHING = 5,
};

/* An option, described once: parsing, --help and the man page read this record. */
struct as_option {
    const char *name;  /* "budget"; without the dashes */
    char letter;       /* 'o', 0 when none */
    const char *value; /* "TIME"; NULL for a flag */
    const char *help;  /* one line; names default and range */
    bool many;         /* may be given more than once; a value "LIST" may too, which joins the lists */
};
/* Options shared by several subcommands. */
#define AS_OPTION_STORE                                                                                                \
    {                                                                                                                  \
        "store", 0, "FILE", "the store (default: $ASSAY_STORE, else assay/assay.db in the user's data folder)", false  \
    }
#define AS_OPTION_JSON                                                                                                 \
    {                                                                                                                  \
        "json", 0, NULL, "write only JSON to stdout, one object per line", false                                       \
    }
#define AS_OPTION_COLOUR                                                                                               \
    {                                                                                                                  \
        "colour", 0, "WHEN", "colours on stdout: auto, always or never (default: auto, on a terminal)", false          \
    }
#define AS_OPTION_REFS                                                                                                 \
    {                                                                                                                  \
        "refs", 0, "NAME", "published figures beside the facts: a name of 'assay list refs', or a CSV file", false     \
    }
#define AS_OPTION_REFS_SHEET                                                                                           \
    {                                                                                                                  \
        "refs", 0, "NAME",                                                                                             \
            "published figures beside the measured ones: a chip ('h100', 'mi300x'), a name of 'assay list refs', or "  \
            "a CSV file",                                                                                              \
            false                                                                                                      \
    }
#define AS_OPTION_END                                                                                                  \
    {                                                                                                                  \
        NULL, 0, NULL, NULL, false                                                                                     \
    }

struct as_command;
struct as_args;
typedef int (*as_command_fn)(const struct as_command *command, const struct as_args *args);
struct as_command {
    const char *name;
    const char *args;                /* "[SUITE|PROBE]..." */
    const char *summary;             /* one line */
    const char *about;               /* paragraphs for --help and the man page */
    const char *example;             /* lines, "assay run quick" */
    const struct as_option *options; /* ends with a NULL name */
    int min_args, max_args;          /* max -1: any number */
    bool ends_options;               /* what follows the first argument is not an option of assay */
    as_command_fn run;
};
extern const struct as_command *const as_commands[]; /* in the order of the help; ends with NULL */
const struct as_command *as_command_find(const char *name);

/* Parsed arguments. Strings live as long as argv and the arguments. */
struct as_given {
    const struct as_option *option;
    const char *value; /* NULL for flags */
    char *joined;      /* owned: the value, where a list was given several times; NULL */
};
struct as_args {
    int argc; /* of the whole program, for provenance */
    char **argv;
    const char **word; /* positional arguments; owned */
    size_t words;
    struct as_given *given; /* owned */
    size_t given_n;
    bool help; /* --help was given: nothing else was checked */
};
/* Parses argv[first..]. Unknown options are refused with the nearest name. */
enum as_status as_args_parse(const struct as_command *command, int argc, char **argv, int first, struct as_args *out,
                             struct as_error *err);
void as_args_finish(struct as_args *args);
const char *as_args_value(const struct as_args *args, const char *option); /* NULL when not given */
bool as_args_flag(const struct as_args *args, const char *option);
/* All values of a repeatable option. *list is NULL-terminated and the caller's (free). */
enum as_status as_args_values(const struct as_args *args, const char *option, const char ***list, size_t *n,
                              struct as_error *err);
const char *as_args_word(const struct as_args *args, size_t i); /* NULL when there are fewer */
/* The value of an option as a number; *out is unchanged when it was not given. Errors name the option. */
typedef enum as_status (*as_parse_fn)(const char *text, double *out, struct as_error *err);
struct as_args_range {
    as_parse_fn parse;
    double lo, hi;
    const char *words; /* the same as text: "0.01% to 100%" */
};
enum as_status as_args_number(const struct as_args *args, const char *option, const struct as_args_range *range,
                              double *out, struct as_error *err);
enum as_status as_args_u64(const struct as_args *args, const char *option, uint64_t lo, uint64_t hi, uint64_t *out,
                           struct as_error *err);
/* The command line, quoted for a shell. */
void as_args_command(const struct as_args *args, struct as_buf *out);
/* Appends " --store FILE" to a suggested command; nothing for NULL, the default store. */
void as_args_add_store(const char *store, struct as_buf *out);

/* Prints the error to stderr ("assay: ...") and returns its exit code. */
int as_cli_fail(const struct as_error *err);
/* The same for wrong usage of a command; also names its help. */
int as_cli_misuse(const struct as_command *command, const struct as_error *err);
/* AS_NOMEM if part of the output was lost. */
enum as_status as_cli_check_memory(struct as_error *err);
/* Writes b to stdout and finishes b. Returns code, or AS_EXIT_FAILED if writing or memory failed (a closed pipe prints
 * no message). */
int as_cli_print(struct as_buf *b, int code);
/* The same of text for people: no line is longer than the terminal, or than COLUMNS says. JSON stays as it is. */
int as_cli_print_text(struct as_buf *b, int code);
/* Terminals without UTF-8 get "us". */
void as_cli_without_micro(struct as_buf *b);
/* Prints a note to stderr, escaped for the terminal. */
void as_cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The table style of stdout: width of the terminal (or $COLUMNS, else 100), colour (--colour, $NO_COLOR), UTF-8. */
enum as_status as_cli_style(const struct as_args *args, struct as_table_style *style, struct as_error *err);
bool as_cli_utf8(void);
/* Columns of the terminal behind fd; 0 if fd is not a terminal. */
unsigned as_cli_columns(int fd);
unsigned as_cli_rows(int fd); /* likewise */

/* Opens the store that --store names. */
enum as_status as_cli_store(const struct as_args *args, enum as_store_mode mode, struct as_store **store,
                            struct as_error *err);
/* The same for writing; fails if the store does not exist. */
enum as_status as_cli_existing_store(const struct as_args *args, struct as_store **store, struct as_error *err);

/* Help. command NULL: of assay itself. */
void as_help_text(const struct as_command *command, struct as_buf *out);
void as_help_man(struct as_buf *out);
/* The completion script for "bash", "zsh" or "fish". */
enum as_status as_help_completion(const char *shell, struct as_buf *out, struct as_error *err);
void as_help_short(struct as_buf *out);

#endif
