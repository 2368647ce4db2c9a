/* Resolves user-given names of runs, probes and files. */
#ifndef AS_CLI_LOOKUP_H
#define AS_CLI_LOOKUP_H

#include "cli/cli.h"
#include "refs/refs.h"

/* A run by any accepted name: a run of the store ("3", "last", a UUID; NULL: that of as_default_run), "FILE.db:RUN",
 * "FILE.db" (its last run), or an exported JSON file. */
struct as_named_run {
    struct as_store *store; /* open for reading */
    char *run;              /* its name in the store; owned */
    char folder[512];       /* of an export's temporary store; "" if none */
    char file[544];
};
enum as_status as_named_run_open(const struct as_args *args, const char *name, struct as_named_run *out,
                                 struct as_error *err);
void as_named_run_close(struct as_named_run *n);
/* The same, loaded with devices and facts. Owned by the caller (as_report_run_finish). */
enum as_status as_named_report(const struct as_args *args, const char *name, struct as_report_run *out,
                               struct as_error *err);

/* The run that a command takes where none is named: the last that has cells of the probe; probe NULL: the last complete
 * one of a suite, not of single probes or cells. Where there is none, the last. Notes which, unless it is the last. */
struct as_run_name {
    char text[24];
};
/* The latest run of the store that is not in progress, of whatever kind: what is exported without a name. */
enum as_status as_last_run(struct as_store *store, struct as_run_name *out, struct as_error *err);
enum as_status as_default_run(struct as_store *store, const char *probe, struct as_run_name *out, struct as_error *err);

/* Reads an export from a file or a pipe. AS_USAGE: the file is a store. */
enum as_status as_read_export(const char *path, struct as_buf *text, struct as_error *err);

/* The figures named by --refs: refs to show beside facts, and chip to show in the data sheet.
 * Either may be empty (n 0); both are set for a chip that has a set of the same name ("mi300a"). The caller
 * finishes both. */
/* The built-in set about one of the run's chips (as_refs_about); refs stay empty if there is none. */
enum as_status as_published_by_itself(const struct as_report_run *run, struct as_refs *refs, struct as_error *err);
enum as_status as_published(const char *name, struct as_refs *refs, struct as_refs *chip, struct as_error *err);

/* AS_NOTFOUND, suggesting the nearest probe of this build. */
enum as_status as_unknown_probe(const char *name, struct as_error *err);
/* Splits "[RUN] [PROBE]": a single word is a probe if one has this name, else a run. */
enum as_status as_run_and_probe(const struct as_args *args, const char **run, const char **probe, struct as_error *err);
/* Splits "[RUN] LINES", where LINES names quantities of the data sheet and no probe: "L2", "memory read". lines stays
 * empty where the words say something else. */
void as_run_and_lines(const struct as_args *args, const char **run, struct as_buf *lines);
/* Adds "; did you mean" to the error about a missing run if its name resembles a probe's. */
void as_hint_probe(const char *name, struct as_error *err);

#endif
