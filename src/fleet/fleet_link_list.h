/* Links between nodes as they are stored: the cells of probe node_link, for people. */
#ifndef AS_FLEET_FLEET_LINK_LIST_H
#define AS_FLEET_FLEET_LINK_LIST_H

#include "model/number.h"

struct as_table_style; /* report/terminal/terminal.h */

/* What is measured of links: those of a kind are compared. */
struct as_link_kind {
    char what[16];   /* word of the axis */
    char memory[16]; /* likewise */
    uint64_t size;
    bool together; /* several pairs at once */
    bool of_pair;  /* or of all ranks */
    bool lower_is_better;
};
struct as_fleet_link {
    size_t kind; /* index */
    int rank[2]; /* of a pair, or the first and last of all */
    char host[2][64];
    struct as_number number; /* unit: a string literal; value NAN: none */
    char why[160];           /* why it has no number */
};
struct as_fleet_links {
    struct as_link_kind *kinds; /* owned; in the order of the cells */
    size_t kinds_n, kinds_cap;
    struct as_fleet_link *v; /* owned */
    size_t n, cap;
    int ranks;         /* as far as the cells tell */
    double started_at; /* of their run, as_wall(); 0: none */
    bool is_complete;  /* the run was neither killed nor interrupted, or it was resumed */
};
void as_fleet_links_finish(struct as_fleet_links *l);
/* Keeps in *have the better of two runs and frees the other: one with numbers, a complete one, the later one; of two
 * that were killed the one with more numbers. */
void as_fleet_links_prefer(struct as_fleet_links *have, struct as_fleet_links *other);
/* "ns" or "GB/s" */
const char *as_link_unit(const char *unit);
/* Adds a link of a kind; one between ranks that cannot be is left out. */
enum as_status as_fleet_links_put(struct as_fleet_links *l, const struct as_link_kind *kind,
                                  const struct as_fleet_link *link, struct as_error *err);
/* Adds a cell of probe node_link; its hosts are in its detail. */
enum as_status as_fleet_links_add(struct as_fleet_links *l, const struct as_cell *cell, struct as_error *err);
/* The hosts of a trial, and how many messages were under way at once (0: one), as JSON: the cell's detail. */
void as_fleet_link_detail(const char *from, const char *to, int window, struct as_buf *out);
/* In a merged file: a line of JSON for each link. */
enum as_status as_fleet_links_write(const struct as_fleet_links *l, struct as_buf *out, struct as_error *err);
bool as_fleet_link_is_line(const char *line);
/* Adds the link of a line: of several runs, the latest one's stay. */
enum as_status as_fleet_links_read_line(struct as_fleet_links *l, const char *line, struct as_error *err);
/* "latency, 8 B", "bandwidth, 256 KiB, concurrent pairs" */
void as_link_kind_text(const struct as_link_kind *kind, struct as_buf *out);
/* "rank 0 (node01) and 1 (node02)" */
void as_fleet_link_ends(const struct as_fleet_link *link, struct as_buf *out);

/* Of the pairs of a kind that have a number. */
struct as_link_summary {
    size_t n, without;          /* pairs with a number, and without */
    double median, best, worst; /* NAN without pairs */
    size_t worst_at;            /* index of the link */
};
enum as_status as_link_summarize(const struct as_fleet_links *l, size_t kind, struct as_link_summary *out,
                                 struct as_error *err);
/* A line per kind, and the slowest pair; each pair where there are at most `each`. */
enum as_status as_fleet_links_text(const struct as_fleet_links *l, size_t each, const struct as_table_style *style,
                                   struct as_buf *out, struct as_error *err);

#endif
