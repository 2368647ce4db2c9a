/* Inside src/report: the sections of the page and their number formatting. Every section appends to the buffer and
 * escapes foreign text; lack of memory is checked once, at the end. */
#ifndef AS_REPORT_PAGE_H
#define AS_REPORT_PAGE_H

#include "probe/probe.h"
#include "report/model/view_table.h"
#include "report/report.h"
#include "report/sheet/runs_compare.h"

/* Built-in texts: style, script, the Vega bundle and the compiled figures (both empty when charts were not built), and
 * the hashes by which the page's policy admits style and scripts. */
extern const char as_page_css[], as_page_js[], as_page_vega[], as_page_figures[];
extern const unsigned as_page_css_size, as_page_js_size, as_page_vega_size, as_page_figures_size;
extern const char *const as_page_hash_css, *const as_page_hash_js, *const as_page_hash_vega;

/* The compiled figure of a probe within as_page_figures, NULL when there is none. */
const char *as_figure_find(const char *name, size_t *len);

/* A further run against the first. */
struct as_page_against {
    struct as_comparing cells;
    struct as_sheets_compared sheets;
};
enum { AS_PAGE_DIFFER_MAX = 16 };
struct as_page {
    const struct as_report_run *runs;
    size_t n;
    struct as_buf *out;
    struct as_error *err;
    double tolerance;                       /* of what differs between runs */
    struct as_page_against *against;        /* owned: of each run after the first */
    const char *differ[AS_PAGE_DIFFER_MAX]; /* of two runs: probes in whose numbers they differ */
    size_t differ_n;
    const char *const *probes; /* those that the page shows */
    size_t probes_n;
};

/* A value in its unit, scaled: three significant digits; NAN is an en dash. HTML-safe. */
void as_page_value(struct as_buf *b, double v, const char *unit);
/* A measured number, by model/number.h. */
void as_page_number(struct as_buf *b, const struct as_number *n);
/* The same of a number that is round, for an axis: "50 TFLOP/s". */
void as_page_tick(struct as_buf *b, double v, const char *unit);
/* Can a picture have a logarithmic axis from lo to hi? No machine's numbers are further apart. */
bool as_page_drawable(double lo, double hi);
/* "1.45 to 1.47 ns", both ends on the scale that v is shown on; a dash when there is none. */
void as_page_cell_value(struct as_buf *b, const struct as_cell *cell); /* median, or the answer */
void as_page_cell_interval(struct as_buf *b, const struct as_cell *cell);
/* Of a number whose text does not say it already (as_number_has_interval), else "one trial" or a dash. */
void as_page_interval(struct as_buf *b, const struct as_number *n);
/* How a number is shown. A size with a wide interval has no useful midpoint: the reported size is shown if it lies in
 * the interval, else both ends. */
enum as_said { AS_SAID_VALUE, AS_SAID_CLAIMED, AS_SAID_BRACKET };
enum as_said as_page_said(const struct as_number *n, double claimed);
/* The value of a fact as as_page_said chose: "32 KiB" or "16–64 KiB". */
void as_page_fact_value(struct as_buf *b, const struct as_fact *f);
/* "16–64 KiB", "512 KiB–2 MiB": the unit twice only where the two are shown on different scales */
void as_page_range(struct as_buf *b, double low, double high, const char *unit);
/* What the device's API calls shared memory, in one word: "shared", "LDS". info: NULL where the run does not say. */
const char *as_page_local_name(const struct as_device_info *info, char out[static 24]);
/* An axis value as people write it: 32 KiB for sizes, the text otherwise. */
void as_page_axis(struct as_buf *b, const struct as_axis *axis, const struct as_axis_value *v);
/* All axes of a cell, "op triad, threads 2". */
void as_page_axes(struct as_buf *b, const struct as_probe *probe, const struct as_axes *axes);
/* A word that can be an id: letters, digits, '-'; everything else becomes '-'. */
void as_page_slug(struct as_buf *b, const char *s);
/* "run 7" as HTML */
void as_page_run_name(struct as_buf *b, const struct as_run *run);
/* Has any run a measured cell of it? */
bool as_page_has_probe(const struct as_page *p, const char *probe);

/* Were the pictures built in? */
bool as_page_has_charts(void);
/* <title>, and the head of the body: the machines of the runs by name, and a line for each run. */
void as_page_title(struct as_page *p);
void as_page_header(struct as_page *p);

/* The id of a fact's entry: "f12" in the first run, "f12-1" in the second. Returns id. */
enum { AS_PAGE_FACT_ID = 48 };
const char *as_page_fact_id(const struct as_page *p, const struct as_report_run *rr, const struct as_fact *f,
                            char id[static AS_PAGE_FACT_ID]);

/* Sections, in the order of the page. */
enum as_status as_page_verdict(struct as_page *p); /* of two runs */
enum as_status as_page_maps(struct as_page *p);    /* folded on a page of several runs; so are facts and advice */
enum as_status as_page_sheets(struct as_page *p);  /* folded on a page of two runs */
/* Does the device compute on the host's CPUs? */
bool as_page_is_of_cpu(const struct as_device_info *info);
/* Of one run with devices of both kinds: their sheets are sections beside each other. */
bool as_page_has_sheets_beside(const struct as_page *p);
enum as_status as_page_sheets_of(struct as_page *p, bool cpus);
/* On a page of one run, where the sheet of a device has few lines: the main operations, nothing where the run has none;
 * and its most telling facts. Returns how many. */
struct as_sheet;
enum as_status as_page_main_operations(struct as_page *p, const char *device, const struct as_sheet *sheet);
size_t as_page_main_facts(struct as_page *p, const char *device);
/* The pictures of the probes that lead, in their order. */
bool as_page_has_curves(const struct as_page *p);
void as_page_curves(struct as_page *p);
void as_page_facts(struct as_page *p);
/* The facts that rest on a probe's cells, folded; NULL: those that stand with no probe of the page. */
void as_page_facts_of(struct as_page *p, const char *probe);
bool as_page_has_advice(const struct as_page *p); /* any that is known */
void as_page_advice(struct as_page *p);
bool as_page_has_refs(const struct as_page *p);
void as_page_refs(struct as_page *p);
bool as_page_has_backend_pairs(const struct as_page *p);
void as_page_backend_pairs(struct as_page *p);
bool as_page_has_operations(const struct as_page *p);
enum as_status as_page_operations(struct as_page *p);
bool as_page_has_pipes(const struct as_page *p); /* any cell they follow from */
enum as_status as_page_pipes(struct as_page *p);
bool as_page_has_matrix(const struct as_page *p);
void as_page_matrix(struct as_page *p);
enum as_status as_page_probe(struct as_page *p, const char *name);
void as_page_gates(struct as_page *p);
enum as_status as_page_missing(struct as_page *p);
void as_page_provenance(struct as_page *p);

/* The roofline of every device whose arithmetic was measured. */
void as_page_roofline(struct as_page *p);
bool as_page_has_roofline(const struct as_page *p); /* any that can be drawn */
/* The table of one probe: one run, or runs beside each other. */
enum as_status as_page_table(struct as_page *p, const char *probe);
/* A table's model on the page: class and label (for screen readers) of the table. */
void as_view_page(const struct as_view_table *t, const char *class, const char *label, struct as_buf *out);
/* The same without the enclosing elements, from <thead> on. */
void as_view_page_rows(const struct as_view_table *t, struct as_buf *out);
/* Cells with numbers as columns for the pictures: {"latency":{...},...} */
enum as_status as_page_data(struct as_page *p, const char *const *probes, size_t n);

#endif
