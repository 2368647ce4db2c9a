/* Progress of a run as text for stderr. Has no side effects: events carry the time, output goes to a buffer. */
#ifndef AS_CLI_PROGRESS_H
#define AS_CLI_PROGRESS_H

#include "run/run.h"

struct as_progress {
    unsigned width; /* columns; 0: not a terminal, only notes and the last line are written */
    bool unicode, quiet;
    bool shown;      /* the progress line is on the terminal */
    double drawn_at; /* its elapsed_s */
};
/* Appends the text for this event. */
void as_progress_event(struct as_progress *p, const struct as_event *e, struct as_buf *out);
/* The last line: "run 3 complete: 40 cells: 38 ok, 2 wide; took 58 s". */
void as_progress_end(struct as_progress *p, const struct as_run_result *result, double seconds, struct as_buf *out);
/* "38 ok, 2 wide" */
void as_progress_counts(const size_t by_status[AS_CELL_STATUS_N], struct as_buf *out);

#endif
