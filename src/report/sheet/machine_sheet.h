/* The data sheets of all devices of a run, whether they come from a store or from 'assay export --format sheet'. */
#ifndef AS_REPORT_MACHINE_SHEET_H
#define AS_REPORT_MACHINE_SHEET_H

#include "report/sheet/sheet.h"
#include "stats/between.h"

/* The states between which a line goes from run to run, the lower one first. */
struct as_line_states {
    size_t n; /* 2; 0: it has one level */
    struct as_joined of[2];
    size_t runs[2];
};
/* What is shown of a run's number besides. */
struct as_line_run {
    double counted;       /* its value as it was counted; NAN: it was not */
    size_t trials, tried; /* as in as_number */
};
/* What each run has of a row of the sheet. */
struct as_line_runs {
    struct as_estimated *v;   /* owned; at the clock of the machine sheet */
    struct as_line_run *of;   /* owned: of each */
    size_t *run;              /* owned: of each, its index among the machine's runs */
    enum as_run_place *place; /* owned: of each, whether the line changed with it; NULL unless looked for */
    size_t n;
    unsigned df;                /* of the row's interval; 0 unknown */
    struct as_interval another; /* 95%: another run lies within; NAN until rows are joined, and of capacities */
    struct as_line_states states;
};
struct as_device_sheet {
    char id[32]; /* "cuda:0" */
    char name[128];
    char bus_id[24]; /* "0000:01:00.0"; "" unknown */
    struct as_sheet sheet;
    struct as_line_runs *runs; /* owned: of each row of the sheet */
};
enum { AS_MACHINE_RUNS_MAX = 64 };
struct as_machine_sheet {
    char host[64], suite[64];
    bool virtual_machine;
    bool bounds;               /* its numbers are those of a policy, which nothing measured */
    double clock_hz;           /* reference clock of the CPU's numbers; NAN unknown */
    char (*run)[40];           /* owned: UUIDs of the runs that it rests on */
    size_t runs, again;        /* again: those of them that measured some cells of another again */
    struct as_device_sheet *v; /* owned */
    size_t n;
};
enum as_status as_machine_sheet_make(const struct as_report_run *run, struct as_machine_sheet *out,
                                     struct as_error *err);
/* The JSON of a machine whose data sheet is built in; NULL: none has this name. */
const char *as_machine_json(const char *name);
/* Does the text look like the JSON of a data sheet, rather than that of a whole run? */
bool as_machine_sheet_is(const char *text, size_t len);
/* AS_FORMAT, naming device and line: malformed JSON, another version, or an invalid line: unknown or duplicate
 * quantity, value not above 0, wrong unit, or an interval without the value. */
enum as_status as_machine_sheet_read(const char *text, size_t len, struct as_machine_sheet *out, struct as_error *err);
/* Adds the lines of another run, carried over to the clock of `into`; what only that run has joins in the order of the
 * table. AS_USAGE: the run is there already, a line is in another unit, or there are more than AS_MACHINE_RUNS_MAX. */
enum as_status as_machine_sheet_merge(struct as_machine_sheet *into, const struct as_machine_sheet *run,
                                      struct as_error *err);
/* A copy with runs and their places, before rows are joined. */
enum as_status as_machine_sheet_copy(const struct as_machine_sheet *m, struct as_machine_sheet *out,
                                     struct as_error *err);
/* What lines vary by between runs, for each group of lines that vary alike. */
enum { AS_LINE_GROUPS = 7 };
struct as_machine_priors {
    double variance[AS_LINE_GROUPS]; /* of logarithms */
    double stored[AS_LINE_GROUPS];   /* the same before any line of the machine was looked at */
};
/* From the kind of machine, and from the lines of both sheets that have several runs. */
enum as_status as_machine_priors_make(const struct as_machine_sheet *a, const struct as_machine_sheet *b,
                                      struct as_machine_priors *out, struct as_error *err);
/* A line of a machine; row NULL: it has none. */
struct as_line_side {
    struct as_sheet_row *row;
    struct as_line_runs *runs;
};
/* NULL: none has this id. */
struct as_device_sheet *as_machine_sheet_device(const struct as_machine_sheet *m, const char *id);
/* Is it one of the runs that m joins? */
bool as_machine_sheet_has_run(const struct as_machine_sheet *m, const char *uuid);
/* The runs of a line as one number, and its states; in order of time or against it. value NAN: of a capacity, or no run
 * has an interval. With states, the value is that of the more frequent one and the intervals span both. A prior that
 * other lines of the group raised counts no further than the line's own runs allow. */
struct as_joined as_line_number(const char *device, const struct as_machine_priors *priors, const struct as_quantity *q,
                                const struct as_estimated *runs, size_t n, struct as_line_states *states);
/* Makes the rows numbers of the machines: the runs of each joined as by as_line_number, so that the interval covers
 * what varies between runs, of which both sides' runs tell. A capacity has no value: its interval is the range of those
 * of its runs. One of a and b has a row; device: its id. */
void as_line_join(const char *device, const struct as_machine_priors *priors, struct as_line_side *a,
                  struct as_line_side *b);
/* Where another run lies, in every view: "1.2%", "31 to 60 ns", "27 or 121 ns", "not yet known"; "" of a capacity. */
void as_line_another(const struct as_sheet_row *row, const struct as_line_runs *runs, struct as_buf *out);
/* The same of all rows of one machine. */
enum as_status as_machine_sheet_join(struct as_machine_sheet *m, struct as_error *err);
/* Finds the runs with which lines changed, where the latest run was merged first; in at most 5% of machines that did
 * not change any. Not of capacities. */
enum as_status as_machine_sheet_changes(struct as_machine_sheet *m, struct as_error *err);
/* How many of a line's runs, the latest first, have been made since it last changed. */
size_t as_line_since_change(const struct as_line_runs *line);
/* Does what the CPUs of the host do beside it change the line? */
bool as_line_is_of_host(const char *device, const struct as_quantity *q);
/* tau^2 of a line before its own runs are looked at, with the prior's degrees of freedom. */
struct as_between as_machine_prior(const struct as_machine_priors *priors, const char *device,
                                   const struct as_quantity *q);
/* The factor that carries a number of that row over from one clock to another: 1 where one is not known, or the row
 * does not follow the core's clock. */
double as_machine_sheet_carry(const struct as_sheet_row *row, double from_hz, double to_hz);
/* The same of any number: time is proportional to 1 / clock ^ exponent; NAN: not, or not known. */
double as_clock_carry(double exponent, bool more_is_better, double from_hz, double to_hz);
/* Does carrying over change a number of the row that is printed with three digits? */
bool as_machine_sheet_is_carried(const struct as_sheet_row *row, double from_hz, double to_hz);
/* Was the run measured in a virtual machine? */
bool as_machine_is_virtual(const struct as_run *run);
/* Does it go to and fro between states on some hosts, as core to core does with the pair of cores? */
bool as_cell_has_states(const struct as_cell *c);
bool as_line_has_states(const char *device, const struct as_quantity *q);
/* tau^2 of a measurement that is no line, by the kind of work; one run alone is known. */
struct as_between as_cell_between(const struct as_cell *c, bool virtual_machine);
void as_machine_sheet_finish(struct as_machine_sheet *m);
void as_device_sheet_finish(struct as_device_sheet *d);
void as_line_runs_finish(struct as_line_runs *line);
/* For those who fill one: room for so many devices and for one run; and that every row is of one run. */
enum as_status as_machine_sheet_reserve(struct as_machine_sheet *m, size_t devices, struct as_error *err);
enum as_status as_device_sheet_add_run(struct as_device_sheet *d, struct as_error *err);

#endif
