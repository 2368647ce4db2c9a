/* The runs of a machine in a store, and its data sheet over all of them. */
#ifndef AS_REPORT_MACHINE_RUNS_H
#define AS_REPORT_MACHINE_RUNS_H

#include "report/sheet/machine_sheet.h"
#include "store/store.h"

/* What changed of a device since the run before that had it: "driver of cuda:0 570, then 580"; "" nothing. */
struct as_device_change {
    char device[32], text[400];
};
/* A complete run of the machine. */
struct as_machine_run {
    int64_t id;
    double started_at, clock_hz, load; /* reference clock and load average of the host, NAN unknown */
    char suite[64];
    bool is_again;        /* it measured some cells of another again */
    char host_state[400]; /* what changed of host and assay since the run before: "kernel 6.1, then 6.2"; "" nothing */
    struct as_device_change *devices; /* owned; of each of its devices */
    size_t devices_n;
    char conditions[200]; /* what else is known of it: a reboot before, another process on a device; "" */
    double others_cpus;   /* as_run_others_cpus */
    size_t merged;        /* its index in as_line_runs.run; SIZE_MAX: it could not be read */
};
struct as_machine_runs {
    struct as_machine_sheet sheet; /* lines of all runs that were merged, at the clock of the latest */
    struct as_machine_sheet now;   /* of AS_MACHINE_EVER: the same as AS_MACHINE_NOW has in sheet */
    struct as_machine_run *v;      /* owned; in order of time */
    size_t n;
    size_t merged;                /* runs that the sheet was made of; those of changed devices may have left no line */
    size_t older;                 /* complete runs before those, which are not read */
    size_t unread;                /* earlier runs that could not be read */
    char unread_why[200];         /* why the last of them could not */
    struct as_report_run fullest; /* the one in the sheet that has most cells, the latest of several; not compared with
                                     earlier runs */
    struct as_quantity_joined *joined; /* owned; the lines of AS_MACHINE_NOW for other views of a run */
    size_t joined_n;
    char since[400]; /* why earlier runs are not in the sheet; "" all are */
};
enum as_machine_which {
    AS_MACHINE_NOW,  /* runs of the latest one's state; a device whose driver changed starts anew by itself, and a line
                        that changed by itself too; runs that lie outside the others alone are left out
                       of a line; remarks say so. Rows are joined */
    AS_MACHINE_EVER, /* all runs of the host. Rows are the latest run's, and places are set */
};
/* All complete runs of the host of the store's last run, at most the latest AS_MACHINE_RUNS_MAX. chip: whose figures
 * the sheet shows, NULL its own devices'. AS_NOTFOUND: none is complete. */
enum as_status as_machine_runs_load(struct as_store *store, enum as_machine_which which, const struct as_refs *chip,
                                    struct as_machine_runs *out, struct as_error *err);
void as_machine_runs_finish(struct as_machine_runs *m);
/* Which of the merged runs a device's lines rest on (device NULL: of any device); returns how many. */
size_t as_machine_runs_used(const struct as_machine_runs *m, const struct as_device_sheet *device,
                            bool used[AS_MACHINE_RUNS_MAX]);
/* What lines that rest on one run assume. what_assumes: what the view shows of it, "± assumes". */
void as_machine_runs_assumed(const struct as_machine_runs *m, const char *what_assumes, struct as_buf *out);
/* The run with that index in as_line_runs.run. */
const struct as_machine_run *as_machine_run_merged(const struct as_machine_runs *m, size_t index);

#endif
