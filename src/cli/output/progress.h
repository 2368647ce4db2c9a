/* Progress of a run as text for stderr. Has no side effects: events carry the time, output goes to a buffer. */
#ifndef AS_CLI_PROGRESS_H
#define AS_CLI_PROGRESS_H

#include "cli/output/live.h"
#include "run/run.h"

struct as_progress {
    unsigned width, height; /* of the terminal as it is now; 0: none on which text can be replaced: only notes, new
                               lines of the data sheet and the last line are written */
    bool unicode, quiet;
    bool shown;      /* the progress line is on the terminal, and above it */
    unsigned above;  /* so many lines of the data sheet */
    size_t hidden;   /* lines of the data sheet that had no space */
    double drawn_at; /* its elapsed_s */
};
/* Appends the text for this event: the data sheet so far in place where changed, with the progress line beneath. live
 * may be NULL: no data sheet. lines: new lines of the data sheet as text, for what is no terminal. */
void as_progress_event(struct as_progress *p, const struct as_event *e, const struct as_live *live, bool changed,
                       const struct as_buf *lines, struct as_buf *out);
/* The last line: "run 3 complete: 40 cells: 38 ok, 2 imprecise; took 58 s". */
void as_progress_end(struct as_progress *p, const struct as_run_result *result, double seconds, struct as_buf *out);
/* How much of the run is done, of 1: by time if the time left is known, else by cells. */
double as_progress_share(const struct as_event *e);
/* "38 ok, 2 imprecise" */
void as_progress_counts(const size_t by_status[AS_CELL_STATUS_N], struct as_buf *out);

#endif
