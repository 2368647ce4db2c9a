/* Links between nodes as they are stored: the cells of probe node_link, for people. */
#ifndef AS_FLEET_FLEET_LINK_LIST_H
#define AS_FLEET_FLEET_LINK_LIST_H

#include "model/number.h"
#include "report/terminal/terminal.h"

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
    int ranks; /* as far as the cells tell */
};
void as_fleet_links_finish(struct as_fleet_links *l);
/* Adds a cell of probe node_link; its hosts are in its detail. */
enum as_status as_fleet_links_add(struct as_fleet_links *l, const struct as_cell *cell, struct as_error *err);
/* The hosts of a trial as JSON, which become the cell's detail. */
void as_fleet_link_detail(const char *from, const char *to, struct as_buf *out);
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
