/* Terminal text: tables, bars and small plots. Widths are in columns, not bytes.
 */
#ifndef AS_REPORT_TERMINAL_H
#define AS_REPORT_TERMINAL_H

#include "probe/probe.h"
#include "report/model/overview.h"
#include "report/model/view_table.h"
#include "report/report.h"
#include "report/sheet/machine_runs.h"

/* Columns that s takes: wide characters count 2, combining ones 0. s is escaped already. */
unsigned as_text_width(const char *s);
/* Bytes of the longest beginning of s that takes at most width columns, at least one character. */
size_t as_text_prefix(const char *s, unsigned width);
/* Appends s, cut to width columns with a mark at its end when it is longer. */
void as_text_cut(struct as_buf *b, const char *s, unsigned width, int unicode);
/* Appends text filled to width, each line after the first with a margin; column: where the first line stands. */
void as_text_fill(struct as_buf *b, const char *s, unsigned width, unsigned margin, unsigned column);
/* The same, where the first line may stand left of the margin. */
void as_text_hang(struct as_buf *b, const char *s, unsigned width, unsigned margin, unsigned column);
/* Appends text with the lines that are longer than width broken, at spaces where it has some; what follows stands under
 * the line's second column, if it has one. Colours take no columns. */
void as_text_fit(struct as_buf *b, const char *text, unsigned width);
/* Appends Markdown with its paragraphs and list entries filled to width. */
void as_text_markdown(struct as_buf *b, const char *text, unsigned width);

/* A line of lead and text, both escaped here, filled to the width. */
void as_text_line(struct as_buf *b, const char *lead, const char *text, unsigned margin, unsigned column,
                  const struct as_table_style *style);

void as_paint_on(struct as_buf *b, enum as_paint paint, const struct as_table_style *style);
void as_paint_off(struct as_buf *b, enum as_paint paint, const struct as_table_style *style);
/* "Title" on a line of its own, with an empty line before it. */
void as_text_title(struct as_buf *b, const char *title, const struct as_table_style *style);

/* A table: a head, then cells in order of rows. A failed allocation shows in as_table_write. */
enum { AS_TABLE_COLUMNS_MAX = 32 };
struct as_table {
    size_t columns;
    bool right[AS_TABLE_COLUMNS_MAX]; /* numbers stand at the right */
    bool spare[AS_TABLE_COLUMNS_MAX]; /* left out where words would have to be broken to show it */
    struct as_table_cell {
        char *text;
        unsigned char paint;
        bool heading; /* over all columns */
    } * cells;        /* the head first; owned */
    size_t n, cap;
    bool headings; /* there are rows that are one, and the others stand to the right of them */
    bool remark;   /* texts of the last column stand below their rows where they do not fit beside them */
    enum as_status status;
};
/* heads: one a column, ">name" for a column that stands at the right, "?name" or "?>name" for one that can be spared,
 * "/name" for remarks, last; ends with NULL. */
void as_table_init(struct as_table *t, const char *const *heads);
void as_table_finish(struct as_table *t);
void as_table_add(struct as_table *t, const char *text, enum as_paint paint); /* text is escaped here */
void as_table_addf(struct as_table *t, enum as_paint paint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A heading row over all columns. */
void as_table_heading(struct as_table *t, const char *text);
/* Does the table leave out this column, which has text, for want of width? */
bool as_table_leaves_out(const struct as_table *t, size_t column, const struct as_table_style *style);
/* If too wide, text in the widest columns wraps, and ranges break between their numbers if nothing else helps. */
enum as_status as_table_write(const struct as_table *t, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err);

/* The data sheets of the run's devices, nothing of one without a number: device NULL those of all, where identical GPUs
 * are folded; AS_TEXT_EVERY each in full; else that device's. */
#define AS_TEXT_EVERY "all"
enum as_status as_text_sheet(const struct as_report_run *run, const char *device, const struct as_table_style *style,
                             struct as_buf *out, struct as_error *err);
/* As as_text_sheet, of sheets already made. *no_room: as in as_text_device_sheet; may be NULL. */
struct as_text_sheet {
    const struct as_device_sheet *of;
    const char *seen;  /* what disturbed it, "" nothing */
    bool main_results; /* they follow */
};
enum as_status as_text_sheets(const struct as_report_run *run, const struct as_text_sheet *v, size_t n,
                              const char *device, const struct as_table_style *style, struct as_buf *out, bool *no_room,
                              struct as_error *err);
enum { AS_TEXT_ALIKE_MAX = 64 }; /* identical GPUs that are compared with one */
/* The lines in which identical GPUs v[1..n) differ from v[0] by over 1% and beyond their joint intervals; n is from 2
 * to AS_TEXT_ALIKE_MAX. */
enum as_status as_text_alike(const struct as_report_run *run, const struct as_text_sheet *const *v, size_t n,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err);

/* The data sheet of one device; run: what is known of the device. d->runs NULL: of one run, else rows are
 * joined, and the table says where another run lies, unless there is no room: then *no_room is set, which may be NULL.
 * seen: what disturbed it, "" nothing. */
enum as_status as_text_device_sheet(const struct as_device_sheet *d, const struct as_report_run *run, const char *seen,
                                    const struct as_table_style *style, struct as_buf *out, bool *no_room,
                                    struct as_error *err);
/* Below a sheet of few lines: what the run is about; nothing where it is one small probe, which is printed whole. */
enum { AS_TEXT_WHOLE_MAX = 40 }; /* measurements */
enum as_status as_text_main_results(const struct as_report_run *run, const char *device, const struct as_sheet *sheet,
                                    const struct as_table_style *style, struct as_buf *out, struct as_error *err);
/* The data sheet of a machine: what it rests on, then devices as by as_text_sheet, and what is worth knowing of the
 * last run. */
enum as_status as_text_machine(const struct as_machine_runs *m, const char *device, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err);

/* What limits the run's devices, one line each. */
void as_text_caveats(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out);
/* Which probes of a run are too large for the short page; left_out is not NULL. */
void as_text_left_out(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out);
/* What is worth knowing of the machine, with the title: faults, then the rest by device; false: nothing is. */
bool as_text_worth(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out);
/* "opencl:0 drives the same hardware as cuda:0": false where it does not, and its sheet is to be printed. */
bool as_text_same_hardware(const struct as_report_run *run, const char *device, const struct as_table_style *style,
                           struct as_buf *out);

/* Values as one line of block characters, lowest to highest, on a logarithmic scale where they span more than a
 * decade; NAN leaves a gap. */
void as_text_spark(struct as_buf *b, const double *v, size_t n, int unicode);
/* A bar of length share * width. */
void as_text_bar(struct as_buf *b, double share, unsigned width, int unicode);

/* A small plot of up to AS_PLOT_SERIES_MAX series over a common x axis of sizes, which is logarithmic; y is too when
 * the values span more than a decade. */
enum { AS_PLOT_SERIES_MAX = 6 };
struct as_series {
    const char *name; /* escaped already */
    const double *x, *y;
    const bool *hollow; /* rejected points; NULL: none are */
    size_t n;
};
void as_text_plot(struct as_buf *b, const struct as_series *series, size_t n, const char *unit,
                  const struct as_table_style *style);

/* An axis value as people write it. */
void as_text_axis(struct as_buf *b, const struct as_axis_value *v, const struct as_probe *probe);
/* Why cells are not ok, one line for cells with the same reason and a count of those beyond `most` lines; nothing when
 * all are. */
enum as_status as_text_missing(const struct as_missing *missing, size_t most, const struct as_table_style *style,
                               struct as_buf *out, struct as_error *err);
/* A table's model in the terminal. */
enum as_status as_view_terminal(const struct as_view_table *t, const struct as_table_style *style, struct as_buf *out,
                                struct as_error *err);
/* The operations of a run under a title; op: NULL all. Nothing where the run has none. */
enum as_status as_text_operations(const struct as_report_run *run, const char *op, const struct as_table_style *style,
                                  struct as_buf *out, struct as_error *err);
/* CPU instructions of a run under a title; nothing where it has none. */
enum as_status as_text_instructions(const struct as_report_run *run, const struct as_table_style *style,
                                    struct as_buf *out, struct as_error *err);
/* Latency and bandwidth of each agent in each memory; nothing where there is one of either. */
enum as_status as_text_access(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out,
                              struct as_error *err);
/* Bandwidth and latency of every pair of GPUs, and in one line; nothing where none has a number. */
enum as_status as_text_pairs(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err);
void as_text_pairs_summary(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out);
/* Where two backends on one device disagree; nothing when there are no such devices. */
enum as_status as_text_backend_pairs(const struct as_report_run *run, const struct as_table_style *style,
                                     struct as_buf *out, struct as_error *err);

#endif
