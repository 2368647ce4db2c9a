/* The verbs of `assay fleet`. */
#ifndef AS_CLI_FLEET_VERBS_H
#define AS_CLI_FLEET_VERBS_H

#include "cli/cli.h"
#include "cli/options/run_request.h"
#include "fleet/fleet.h"

int as_fleet_verb_show(const struct as_command *command, const struct as_args *args);
int as_fleet_verb_merge(const struct as_command *command, const struct as_args *args);
int as_fleet_verb_run(const struct as_command *command, const struct as_args *args);
int as_fleet_verb_resume(const struct as_command *command, const struct as_args *args);
int as_fleet_verb_links(const struct as_command *command, const struct as_args *args);
/* Reads the files that were named; AS_USAGE: none is. */
enum as_status as_fleet_read_words(const struct as_args *args, struct as_fleet *f, struct as_fleet_merged *merged,
                                   struct as_error *err);
/* Of show: the nodes against the policy of --policy. Returns the exit code. */
int as_fleet_show_policy(const struct as_command *command, const struct as_args *args);
/* AS_USAGE: an option of the following is wrong; asked before hours of measuring. */
enum as_status as_fleet_show_check(const struct as_args *args, struct as_error *err);
/* Judges and prints the nodes, as the options say, and finishes f. Returns the exit code. */
int as_fleet_show_nodes(const struct as_command *command, const struct as_args *args, struct as_fleet *f);

/* What a fleet measures: the arguments of `assay run`, as they are kept beside each node's state. */
struct as_fleet_request {
    char **argv; /* owned */
    int argc;
    struct as_args args;
    struct as_run_request run;
};
/* Options of `fleet run` that belong to the request. */
#define AS_FLEET_REQUEST_OPTIONS "device", "set", "precision", "budget", "trials", "seed", "isolate"
/* As a JSON array of strings. */
void as_fleet_request_write(const struct as_args *args, struct as_buf *json);
/* AS_USAGE: wrong names or values. Undone by as_fleet_request_finish, also where this fails. */
enum as_status as_fleet_request_read(const char *json, struct as_fleet_request *out, struct as_error *err);
void as_fleet_request_finish(struct as_fleet_request *r);

#endif
