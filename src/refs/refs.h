/* Published figures of machines, to stand beside what was measured: never as measured. They come from CSV files, those
 * in refs/ that are built in, or a user's own; everything in them is hostile until checked, and escaped on the way out.
 */
#ifndef AS_REFS_REFS_H
#define AS_REFS_REFS_H

#include "base/buf.h"
#include "device/info.h"

struct as_ref {
    char chip[32];
    char device[8];     /* whose figure: "cpu", "device" (what a CPU drives), or "any" */
    char fact[256];     /* ids of facts that it may stand beside, globs of * and ?, separated by blanks; "" for none */
    char metric[96];    /* what the number is */
    char axes[160];     /* of which point: "op=ffma32 ilp=2", separated by blanks; "" where the metric is enough */
    char qualifier[12]; /* "about", "at least", "at most", "below"; "" when the source gives the number as it is */
    double lo, hi;      /* the figure; a source that gives a range has two ends */
    char unit[16];
    char conditions[128];
    char source[128]; /* who says so, with section and figure */
    uint64_t line;    /* of the source's text; 0: it has no lines */
    char printed[64]; /* how the source writes the figure; "" where that is the value */
    /* Of figures for lines of the data sheet, else "" and 0: */
    char match[256]; /* names of devices as drivers report them, globs separated by '|'; "": only by the chip's name */
    char group[24];  /* the line: "Memory" */
    char quantity[64]; /* and its label, or several separated by '|': "read|write" */
    char kind[12];     /* "specified" by the vendor, or "measured" by others */
    char url[224];
    uint64_t units; /* compute units of the chip that the figure is of; 0: the figure holds for any number of them */
};
struct as_refs {
    char name[64];    /* "mi300a", or the file */
    struct as_ref *v; /* owned */
    size_t n;
};

/* The text of a CSV file: a header with the names of the columns, then one figure per line; value is a number, or two
 * with " to " between. Refused whole, with the line. The columns of figures beside facts are chip, device, fact,
 * metric, axes, qualifier, value, unit, conditions, source, line, printed; of figures for the data sheet match, chip,
 * device, units, group, quantity, kind, value, unit, conditions, source, url. */
enum as_status as_refs_parse(const char *name, const char *text, size_t len, struct as_refs *out, struct as_error *err);
/* Those that are built in, by name; else a chip's figures for the data sheet; else the file of this name. */
enum as_status as_refs_load(const char *name, struct as_refs *out, struct as_error *err);
/* The name of the built-in set that is about this chip, by the name that the driver reports, or by a CPU's generation:
 * virtual machines report less. NULL: none is. */
const char *as_refs_about(const struct as_device_info *info);
const char *as_refs_name(size_t i); /* of those that are built in; NULL after the last */
void as_refs_finish(struct as_refs *refs);
/* The built-in figures for the data sheet of a device, by the name that its driver reports; none for an unknown one. A
 * figure of a whole chip is left out where the device has fewer compute units; bandwidth of a CPU's socket counts once
 * per socket that the device has. */
enum as_status as_refs_of_device(const struct as_device_info *info, struct as_refs *out, struct as_error *err);
/* The same of a chip: "h100sxm", or the first that begins with such a word: "h100"; case and blanks do not count. None:
 * not found. */
enum as_status as_refs_of_chip(const char *chip, struct as_refs *out, struct as_error *err);
/* Appends the chips whose names begin with most of this one: "H100 SXM; H100 PCIe". Nothing: there are none. */
enum as_status as_refs_chips_like(const char *name, struct as_buf *out, struct as_error *err);
/* A copy of the figures of the side of a machine that this device ("hip:0") is on. */
enum as_status as_refs_of_side(const struct as_refs *refs, const char *device, struct as_refs *out,
                               struct as_error *err);
/* Is it a figure of this line of the data sheet, by its label? */
bool as_ref_has_quantity(const struct as_ref *ref, const char *label);
/* The first figure of a kind ("specified", "measured") for a line of the data sheet in this unit; NULL: none. */
const struct as_ref *as_refs_find_line(const struct as_refs *refs, const char *kind, const char *group,
                                       const char *label, const char *unit);
/* "M1 Max; A14": each chip once, in the order of the figures. */
void as_refs_chips(const struct as_refs *refs, struct as_buf *out);
/* How much of their source all figures share, up to the comma before what differs: bytes of "Author, title" in "Author,
 * title, section". */
size_t as_refs_source(const struct as_refs *refs);

/* Is it a figure of the side of a machine that this device ("hip:0") is on: the CPU, or what a CPU drives? */
bool as_ref_is_of_side(const struct as_ref *ref, const char *device);
/* The value of an axis of a figure; "" where it has none. */
void as_ref_axis(const struct as_ref *ref, const char *name, char *out, size_t size);
/* "57 ns", "100 ns to 108 ns", "at least 1.17 cycles": all digits, as a published figure is not ours to round. */
void as_ref_value(const struct as_ref *ref, bool typeset, struct as_buf *out);
/* "bandwidth, malloc", "raw latency, op=ffma32 warps=4" */
void as_ref_what(const struct as_ref *ref, struct as_buf *out);
#endif
