/* Measuring from the command line, shared by run, resume and replay. */
#ifndef AS_CLI_SESSION_H
#define AS_CLI_SESSION_H

#include "cli/cli.h"
#include "cli/output/progress.h"
#include "run/run.h"

struct as_session {
    struct as_progress progress;
    struct as_live live;
    bool sheet; /* the lines of the data sheet are followed */
    bool json;
    int output;       /* AS_EXIT_FAILED once stdout could not be written, which ends the run */
    double elapsed_s; /* of the run, without waiting for another run */
    struct as_table_style style;
    struct as_buf buf;
    struct as_buf command;
    const char *store; /* --store as given, or NULL; repeated in suggested commands */
};
/* Handles SIGINT, SIGTERM and SIGHUP: the first stops after the current trial, by making the result non-zero. */
const volatile sig_atomic_t *as_session_stop_by_signals(void);
/* What of a run appears while it is measured. */
enum as_session_shows {
    AS_SESSION_PROGRESS,
    AS_SESSION_SHEET, /* progress, and the lines of the data sheet as they come */
};
/* Reads --json, --quiet, --no-wait and --colour, handles SIGINT, SIGTERM and SIGHUP, and sets event, user, stop,
 * wait and command of options. */
enum as_status as_session_begin(struct as_session *s, const struct as_args *args, enum as_session_shows shows,
                                struct as_run_options *options, struct as_error *err);
/* Prints to stderr how the run ended and how to continue; returns the exit code. status and err are the engine's. */
int as_session_end(struct as_session *s, const struct as_command *command, enum as_status status,
                   const struct as_error *err, const struct as_run_result *result);
/* Exit code for the cells of a finished run. */
int as_session_code(const struct as_run_result *result);
/* Prints the summary of a run to stdout (nothing with --json) and writes the page to report (NULL: no page). */
int as_session_views(const struct as_session *s, struct as_store *store, const struct as_run_result *result,
                     const char *report, int code);

#endif
