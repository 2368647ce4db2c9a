/* The machine map: a device's tree of cores, caches and memory, laid out in columns and drawn with what was measured.
 */
#ifndef AS_REPORT_MAP_H
#define AS_REPORT_MAP_H

#include "report/report.h"

/* Rows of the map, from the core down. Caches are their own level. */
enum {
    AS_MAP_CORE = 0,
    AS_MAP_CACHE_MAX = 5,
    AS_MAP_MEMORY = 6,
    AS_MAP_ROWS = 7,
    AS_MAP_BOX,  /* machine, package, die, NUMA node: an outline around others */
    AS_MAP_MORE, /* stands for siblings that are alike and not drawn */
};

struct as_map_node {
    int level; /* a row, or one of the two above */
    char label[40];
    uint64_t size;            /* bytes, 0 unknown */
    unsigned threads;         /* of a core */
    unsigned more;            /* AS_MAP_MORE: how many there are in all */
    int row;                  /* AS_MAP_MORE: the row it is written in */
    size_t child, last, next; /* index, 0 none; last: the last child as built */
    bool shown;
    unsigned col, cols; /* after layout */
};

struct as_map_tree {
    struct as_map_node *nodes; /* nodes[0] is not used, nodes[1] is the root */
    size_t n, cap;
    unsigned cols;
    unsigned rows; /* bit per row that has a node */
};

/* The tree of a device from its topology (JSON, may be NULL), else from what its info says. */
enum as_status as_map_tree_make(const struct as_device_info *info, const char *topology, struct as_map_tree *out,
                                struct as_error *err);
void as_map_tree_finish(struct as_map_tree *t);
/* Decides what is drawn, in about `budget` columns: siblings that are alike are drawn once or a few times. */
enum as_status as_map_layout(struct as_map_tree *t, unsigned budget, struct as_error *err);

/* One SVG with all devices of a run. width: 1040 has the numbers beside the drawing, below 600 they go under it. */
enum as_status as_map_svg(const struct as_report_run *run, unsigned width, const char *css_class, const char *id,
                          struct as_buf *out, struct as_error *err);

/* The row that an object of a fact belongs to ("L2", "memory", "core"), -1 for none. */
int as_map_row(const char *object);

#endif
