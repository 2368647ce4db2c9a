/* The lines of the data sheet while a run is measured: from its cells as they are, by the same table and rules as the
 * sheet of a finished run. */
#ifndef AS_CLI_LIVE_H
#define AS_CLI_LIVE_H

#include "report/report.h"
#include "run/run.h"

struct as_live_line {
    size_t device; /* index into run.devices */
    const struct as_quantity *of;
    char title[32], label[48], shown[64]; /* as of its row */
    char number[64];                      /* value and half interval; "": none any more */
    bool listed;                          /* as text, and as what it was last written so */
    char listed_number[64];
    double listed_value;
    struct as_interval listed_ci;
    bool said, said_wide; /* as it was last written as JSON */
    double said_value;
    struct as_interval said_ci;
};
struct as_live {
    struct as_report_run run;   /* being measured; the engine's cells */
    struct as_live_line *lines; /* owned; by device, then in the order of the table */
    size_t n;
    double next_at; /* elapsed_s of the next look */
    bool unicode;
};
/* What changed with an event. Appends a line of text per new line of the sheet to text, and an NDJSON object per line
 * that is new, has narrowed by half, or has moved by a fifth or out of its interval to json; of these, text repeats a
 * line that has moved. Either may be NULL. When the run ends,
 * each line that is not as it was last written gets an object, so that the last one of a line is what the run's sheet
 * has. Looks at most every 0.4 s, and rarely enough to take no more than 2% of the time. *changed: lines were made
 * anew.
 */
enum as_status as_live_event(struct as_live *l, const struct as_event *e, struct as_buf *text, struct as_buf *json,
                             bool *changed, struct as_error *err);
/* The lines as a block of at most `most` lines of a terminal, each with a newline: groups with their lines beside each
 * other. */
struct as_live_size {
    unsigned rows, widest; /* lines of the terminal; columns of the widest */
    size_t hidden;         /* lines of the sheet that have no space */
};
struct as_live_size as_live_block(const struct as_live *l, unsigned width, unsigned most, struct as_buf *out);
/* "Memory latency, 64 MiB": a cell by the quantity that it gives, else by its probe, with the values of the axes in
 * which others of this name differ. l NULL: by its probe and size. */
void as_live_name(const struct as_live *l, const struct as_cell *cell, struct as_buf *out);
void as_live_finish(struct as_live *l);

#endif
