/* Measuring from the command line: what run, resume and replay share. */
#ifndef AS_CLI_SESSION_H
#define AS_CLI_SESSION_H

#include "cli/cli.h"
#include "cli/progress.h"
#include "run/run.h"

struct as_session {
    struct as_progress progress;
    bool json;
    int output;       /* AS_EXIT_FAILED once stdout could not be written, which ends the run */
    double elapsed_s; /* of the run, without waiting for another one */
    struct as_table_style style;
    struct as_buf buf;
    struct as_buf command;
    const char *store; /* as given, NULL: not given; repeated in suggested commands */
};
/* Reads --json, --quiet, --no-wait and --colour, takes over SIGINT, SIGTERM and SIGHUP, and sets event, user, stop,
 * wait and command of options. */
enum as_status as_session_begin(struct as_session *s, const struct as_args *args, struct as_run_options *options,
                                struct as_error *err);
/* Says on stderr how it ended and how to go on; the exit code of the whole. status and err: of the engine. */
int as_session_end(struct as_session *s, const struct as_command *command, enum as_status status,
                   const struct as_error *err, const struct as_run_result *result);
/* Exit code for the cells of a run that ended. */
int as_session_code(const struct as_run_result *result);
/* Prints the short page of a run to stdout (nothing with --json) and writes the page to report (NULL: none). */
int as_session_views(const struct as_session *s, struct as_store *store, const struct as_run_result *result,
                     const char *report, int code);

#endif
