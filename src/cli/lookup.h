/* Resolves user-given names of runs, probes and files. */
#ifndef AS_CLI_LOOKUP_H
#define AS_CLI_LOOKUP_H

#include "cli/cli.h"
#include "refs/refs.h"

/* A run by any name that people give: a run of the store ("3", "last", a uuid; NULL: the last), "FILE.db:RUN",
 * "FILE.db" (its last run), or an exported JSON file. */
struct as_named_run {
    struct as_store *store; /* open for reading */
    char *run;              /* its name in there; owned */
    char folder[512];       /* of an export's own store; "" none */
    char file[544];
};
enum as_status as_named_run_open(const struct as_args *args, const char *name, struct as_named_run *out,
                                 struct as_error *err);
void as_named_run_close(struct as_named_run *n);
/* The same, loaded with devices and facts; the caller's (as_report_run_finish). */
enum as_status as_named_report(const struct as_args *args, const char *name, struct as_report_run *out,
                               struct as_error *err);

/* Such a run with its cells and their samples. */
struct as_source {
    char name[160];
    struct as_run run;
    struct as_buf against_earlier; /* what as_store_against_earlier says */
    struct as_cell *cells;
    size_t n;
};
enum as_status as_source_load(const struct as_args *args, const char *name, struct as_source *out,
                              struct as_error *err);
void as_source_finish(struct as_source *s);
/* The text of an export from a file or a pipe, read once. A store in its place is refused (AS_USAGE). */
enum as_status as_read_export(const char *path, struct as_buf *text, struct as_error *err);

/* The figures that --refs names, for pages and terminal: refs to show beside facts and chip to show in the data sheet.
 * Either may be empty (n 0), and both name one chip where there is a set of its name as well ("mi300a"). The caller
 * finishes both. */
/* The built-in set about one of the run's chips (as_refs_about); without one refs stay empty. */
enum as_status as_published_by_itself(const struct as_report_run *run, struct as_refs *refs, struct as_error *err);
enum as_status as_published(const char *name, struct as_refs *refs, struct as_refs *chip, struct as_error *err);

/* AS_NOTFOUND with the nearest probe among those that this build knows. */
enum as_status as_unknown_probe(const char *name, struct as_error *err);
/* Splits "[RUN] [PROBE]": one word is a probe when there is a probe of this name, else a run. */
enum as_status as_run_and_probe(const struct as_args *args, const char **run, const char **probe, struct as_error *err);
/* Adds "; did you mean" to an error about a run that is not there, when its name is nearly one of a probe. */
void as_hint_probe(const char *name, struct as_error *err);

#endif
