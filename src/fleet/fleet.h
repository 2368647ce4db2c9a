/* Many machines beside each other: the lines of their data sheets by quantity and kind of device, and which of like
 * devices and nodes lie outside what the others show. A fleet owns copies of all that it is given. */
#ifndef AS_FLEET_FLEET_H
#define AS_FLEET_FLEET_H

#include "fleet/fleet_link_list.h"
#include "report/sheet/machine_runs.h"
#include "report/terminal/terminal.h"
#include "stats/outliers.h"

struct as_fleet_node {
    char name[96]; /* the host's; where two have the same, with the file's */
    char *source;  /* owned: the file */
    char suite[64];
    size_t runs;   /* that its numbers rest on */
    char why[200]; /* why it has no numbers: "no complete run"; "" it has some */
    size_t devices;
    size_t numbers; /* of its devices that are compared */
};
struct as_fleet_kind {
    char name[160]; /* the backend and the model, "cuda NVIDIA H200": twins of a device by another API are another kind
                     */
    size_t devices;
    bool is_links; /* no devices: the links of each node to others */
};
struct as_fleet_device {
    uint32_t node, kind;
    char id[32];
    bool has_grown; /* a counter of its links, during the run */
    char *counts; /* owned: counters that are not zero, "12 PCIe replays, 3 since the link's first trial"; NULL none */
};
/* A quantity of one kind of device. */
struct as_fleet_line {
    const struct as_quantity *of;
    char label[96]; /* "Memory read, 2 threads" */
    uint32_t kind;
    char unit[16];
    struct as_observation *obs; /* owned: logarithms */
    uint32_t *device;           /* owned: of each observation */
    float (*ci)[2];   /* owned: for a page, of each the ends of its interval as shares of the value: -0.001, 0.002 */
    double specified; /* in the unit; NAN: of no device, or they differ */
    bool has_specified;
    size_t n, cap;
};
struct as_fleet {
    struct as_fleet_node *nodes; /* owned */
    size_t nodes_n, nodes_cap;
    struct as_fleet_device *devices; /* owned */
    size_t devices_n, devices_cap;
    struct as_fleet_kind *kinds; /* owned */
    size_t kinds_n, kinds_cap;
    struct as_fleet_line *lines; /* owned */
    size_t lines_n, lines_cap;
    bool for_page;               /* set before nodes are added: keeps the intervals that as_fleet_page shows */
    struct as_fleet_links links; /* of one run: see as_fleet_links_prefer */
    /* (optional) gets each node's sheet instead of the fleet, which then has no numbers */
    enum as_status (*each)(void *user, const struct as_fleet_node *node, struct as_machine_sheet *m,
                           struct as_error *err);
    void *user;
};
void as_fleet_finish(struct as_fleet *f);
/* Adds a node with its numbers. */
enum as_status as_fleet_add(struct as_fleet *f, const char *source, struct as_machine_sheet *m, struct as_error *err);
/* Forgets the numbers of all nodes. */
void as_fleet_forget(struct as_fleet *f);
/* Adds a node without numbers. */
enum as_status as_fleet_add_missing(struct as_fleet *f, const char *source, const char *why, struct as_error *err);
/* A file of the sheets of many nodes, written as they are read. */
struct as_fleet_merged {
    struct as_writer file;
    size_t sheets;
};
/* Adds the nodes of a file: a store, with the host of its last run, or data sheets as JSON, one after the other; of a
 * folder, all of its stores (*.db). What cannot be read becomes a node without numbers; AS_NOMEM is the only failure.
 * merged: gets the sheets, one per line, instead of f, which then has names and links alone; a write error fails the
 * whole merge. NULL: f gets the numbers. Links are added by as_fleet_links_write, once all is read.
 */
enum as_status as_fleet_read(struct as_fleet *f, const char *path, struct as_fleet_merged *merged,
                             struct as_error *err);
/* Of a folder; nodes that left only their state there are without numbers, with the reason. */
enum as_status as_fleet_read_folder(struct as_fleet *f, const char *folder, struct as_fleet_merged *merged,
                                    struct as_error *err);

/* Adds a device's number to the line of its quantity and label; AS_OK too where its interval is unknown. */
enum as_status as_fleet_add_number(struct as_fleet *f, const struct as_quantity *of, const char *label,
                                   const char *unit, uint32_t kind, uint32_t device, const struct as_estimated *number,
                                   struct as_error *err);
/* Once all nodes are read: adds each node's links as a line, the median of its pairs. */
enum as_status as_fleet_use_links(struct as_fleet *f, struct as_error *err);

/* Orders lines by kind, then as in the table of quantities. */
void as_fleet_sort(struct as_fleet *f);

/* What is asked of a judgement. */
struct as_fleet_asked {
    double ignored; /* deviations up to this share do not count */
    double fdr;     /* false discovery rate: the expected share of false findings */
};
#define AS_FLEET_WHOLE_NODE UINT32_MAX
struct as_fleet_finding {
    size_t line;     /* index */
    uint32_t node;   /* index */
    uint32_t device; /* index; AS_FLEET_WHOLE_NODE: all of the node's devices of this kind together */
    struct as_deviation deviation;
    double value, others; /* the number, and the median of those it is compared with */
    bool worse;
};
/* A line whose devices form two clusters. */
struct as_fleet_split {
    size_t line;
    double mode[2]; /* their centres, the lower first */
    size_t n[2];
};
/* What a line could have found of one device, and what limits that. */
enum as_fleet_limit { AS_FLEET_BY_IGNORED, AS_FLEET_BY_DEVICES, AS_FLEET_BY_PRECISION, AS_FLEET_BY_SCATTER };
struct as_fleet_reach {
    double spread, error, df; /* of the usual device: by what it is judged, and its own standard error */
    double least;             /* smallest deviation that would be a finding, as a share; NAN: too few devices */
    enum as_fleet_limit limit;
};
/* "--min-deviation", "few devices", "precision" (further runs narrow it) or "scatter" (of the devices) */
const char *as_fleet_limit_word(enum as_fleet_limit limit);
struct as_fleet_judged {
    struct as_fleet_finding *v; /* owned; the worst first, then what is better than the rest */
    size_t n, worse;
    struct as_fleet_split *splits; /* owned */
    size_t splits_n;
    size_t tests;
    bool *compared;               /* owned: of each node, whether anything of it could be compared */
    struct as_fleet_reach *reach; /* owned: of each line */
};
/* Judges all lines. Where devices form two clusters, each is judged within its own. */
enum as_status as_fleet_judge(const struct as_fleet *f, const struct as_fleet_asked *asked, struct as_fleet_judged *out,
                              struct as_error *err);
void as_fleet_judged_finish(struct as_fleet_judged *j);
/* What is said of the fleet, its findings and what is missing; the lines' spread where `all`. */
enum as_status as_fleet_text(const struct as_fleet *f, const struct as_fleet_judged *j, bool all,
                             const struct as_table_style *style, struct as_buf *out, struct as_error *err);
/* Nodes without numbers. */
size_t as_fleet_missing(const struct as_fleet *f);
/* "12 nodes, 96 x cuda NVIDIA H200; 2592 comparisons: 2 slower than the rest" */
void as_fleet_summary(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out);
/* One file without network, of a fleet for_page. */
enum as_status as_fleet_page(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out,
                             struct as_error *err);
/* A line of JSON per node: its verdict and findings; where `all`, then one per line of the data sheet. */
void as_fleet_json(const struct as_fleet *f, const struct as_fleet_judged *j, bool all, struct as_buf *out);
/* JUnit: a test case per node. Prometheus text: the state of each node, and each finding. */
void as_fleet_junit(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out);
void as_fleet_prometheus(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out);
/* "slow": a finding of it is worse; "unknown": without numbers, or too few like devices to compare; else "ok". */
const char *as_fleet_verdict(const struct as_fleet_judged *j, uint32_t node);
/* "memory read of cuda:3 is 4.1% (3.2 to 5.0%) below the median of the others, 4.31 TB/s" */
void as_fleet_say(const struct as_fleet *f, const struct as_fleet_finding *found, struct as_buf *out);

#endif
