/* The machine map: a device's tree of cores, caches and memory, laid out in columns and drawn with what was measured.
 */
#ifndef AS_REPORT_MAP_H
#define AS_REPORT_MAP_H

#include "report/model/same_hardware.h"
#include "report/report.h"

/* Rows of the map. Caches are their own level. */
enum {
    AS_MAP_CORE = 0,
    AS_MAP_CACHE_MAX = 5,
    AS_MAP_MEMORY = 6,
    AS_MAP_LOCAL = 7, /* shared memory of one compute unit */
    AS_MAP_ROWS = 8,
    AS_MAP_BOX,  /* machine, package, die, NUMA node: an outline around others */
    AS_MAP_MORE, /* stands for identical siblings that are not drawn */
};

extern const int as_map_order[AS_MAP_ROWS]; /* rows from the core down, as they are drawn */

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
    char unit[16]; /* the driver's name of a compute unit ("SM"); "" if unknown */
};

/* The tree of a device from its topology (JSON, may be NULL), else from its info. found_l1: an L1 was measured, so each
 * compute unit has one even if the driver does not list it. */
enum as_status as_map_tree_make(const struct as_device_info *info, const char *topology, bool found_l1,
                                struct as_map_tree *out, struct as_error *err);
void as_map_tree_finish(struct as_map_tree *t);
/* Chooses what is drawn in about `budget` columns: identical siblings are drawn once or a few times. */
enum as_status as_map_layout(struct as_map_tree *t, unsigned budget, struct as_error *err);

/* ---- the numbers ---- */

enum as_map_kind { AS_MAP_HOLDS, AS_MAP_LATENCY, AS_MAP_BANDWIDTH, AS_MAP_KINDS };
enum as_map_known { AS_MAP_UNKNOWN, AS_MAP_REJECTED, AS_MAP_UNDECIDED, AS_MAP_CLAIMED, AS_MAP_MEASURED };

struct as_map_number {
    enum as_map_known known;
    const struct as_quantity *of; /* whose value it is; NULL: a fact's, reported or several merged ones */
    int64_t cell;                 /* of the quantity: that it rests on; 0: several */
    const struct as_fact *fact;   /* source; NULL: a cell, or as above */
    struct as_number number;      /* of the quantity, but for its unit */
    double value, high;           /* high: the largest of several, else the value */
    double claimed;               /* beside a measured one, what the driver reports; 0 nothing */
    char unit[16];                /* "B", "Hz", "ns", "GB/s"; "cycles" where no clock is known */
    char note[64];                /* annotation, "" for none */
    bool is_way;                  /* the note has the directions of a link */
};
/* A link to the memory of the host or of other devices. */
struct as_map_link {
    char name[40], about[96];
    char object[32]; /* of its facts; "" if several ends are merged */
    struct as_map_number number[AS_MAP_KINDS];
};
enum { AS_MAP_LINKS_MAX = 8 };
struct as_map_numbers {
    struct as_map_number row[AS_MAP_ROWS][AS_MAP_KINDS];
    struct as_map_link link[AS_MAP_LINKS_MAX];
    size_t links_n;
    char counts[96]; /* of errors and replays on all links of the device, "9 PCIe replays, 2 new"; "" none */
};
/* Values of each row and link of a device: from facts, else as reported by the driver. */
void as_map_numbers_find(const struct as_report_run *run, const struct as_device_info *info,
                         struct as_map_numbers *out);
/* Has anything been measured of any row or link? */
bool as_map_has_numbers(const struct as_map_numbers *n);
/* Is the reported size shown, since the measured interval has it? */
bool as_map_shows_claim(const struct as_map_number *n);
/* As text for the page: "32 KiB", "368–371 GB/s"; "not measured" or "rejected" where there is no number. */
void as_map_number_text(struct as_buf *b, const struct as_map_number *n);
/* "1" of "cuda:1", as facts about links name it */
const char *as_map_number_of(const struct as_device_info *info);
/* The fact of a link in a direction ("to", "from", "both") or of its latency ("load", "atomic"), NULL when there is
 * none. end: "host-0", "1", "every". */
const struct as_fact *as_map_link_fact(const struct as_report_run *run, const char *device, const char *end,
                                       const char *what);

/* Of identical devices (as_hardware_is_alike) the first AS_MAP_ALIKE_MAX are drawn, on a narrow map the first; more
 * than those are in a table. before: number of identical devices before this one. */
enum { AS_MAP_ALIKE_MAX = 2 };
size_t as_map_alike_before(const struct as_report_run *run, size_t index);

/* How many devices the map draws. */
size_t as_map_devices(const struct as_report_run *run);
/* One SVG with all devices of a run. width: 1040 has the numbers beside the drawing, below 600 they go under it;
 * AS_MAP_BESIDE: as wide as its devices are beside each other, each with its numbers under it. */
enum { AS_MAP_BESIDE = 0 };
enum as_status as_map_svg(const struct as_report_run *run, unsigned width, const char *css_class, const char *id,
                          struct as_buf *out, struct as_error *err);

/* The row that an object of a fact belongs to ("L2", "memory", "core"), -1 for none. */
int as_map_row(const char *object);
/* Bytes of a compute unit's shared memory, or what a workgroup may have of it where no driver says more; 0 unknown. */
uint64_t as_map_shared(const struct as_device_info *info);

#endif
