/* Published figures of machines, to stand beside what was measured: never as measured. They come from CSV files, those
 * in refs/ that are built in, or a user's own; everything in them is hostile until checked, and escaped on the way out.
 */
#ifndef AS_FACTS_REFS_H
#define AS_FACTS_REFS_H

#include "facts/facts.h"

struct as_ref {
    char chip[32];
    char device[8];  /* whose figure: "cpu", "device" (what a CPU drives), or "any" */
    char fact[256];  /* ids of facts that it may stand beside, globs (fnmatch) apart by blanks; "" when there is none */
    char metric[96]; /* what the number is */
    char axes[96];   /* of which point: "op=ffma32 ilp=2", apart by blanks; "" when the metric says it all */
    char qualifier[12]; /* "about", "at least", "at most", "below"; "" when the source gives the number as it is */
    double lo, hi;      /* the figure; a source that gives a range has two ends */
    char unit[16];
    char conditions[128];
    char source[96];  /* who says so, with section and figure */
    uint64_t line;    /* of the source's text; 0: it has no lines */
    char printed[64]; /* how the source writes the figure; "" where that is the value */
};
struct as_refs {
    char name[64];    /* "mi300a", or the file */
    struct as_ref *v; /* owned */
    size_t n;
};

/* The text of a CSV file: a header with the names of the columns (chip, device, fact, metric, axes, qualifier, value,
 * unit, conditions, source, line, printed), then one figure a line; value is a number, or two with " to " between.
 * Refused whole, with the line. */
enum as_status as_refs_parse(const char *name, const char *text, size_t len, struct as_refs *out, struct as_error *err);
/* Those that are built in, by name; else the file of this name. */
enum as_status as_refs_load(const char *name, struct as_refs *out, struct as_error *err);
const char *as_refs_name(size_t i); /* of those that are built in; NULL after the last */
void as_refs_finish(struct as_refs *refs);
/* "M1 Max; A14": each chip once, in the order of the figures. */
void as_refs_chips(const struct as_refs *refs, struct as_buf *out);
/* How much of their source all figures share, up to the comma before what differs: bytes of "Author, title" in "Author,
 * title, section". */
size_t as_refs_source(const struct as_refs *refs);

/* Is it a figure of the side of a machine that this device ("hip:0") is on: the CPU, or what a CPU drives? */
bool as_ref_is_of_side(const struct as_ref *ref, const char *device);
/* Does the figure stand beside this fact: one of its ids, the same unit, the same side of the machine? */
bool as_ref_is_beside(const struct as_ref *ref, const struct as_fact *fact);
/* "57 ns", "100 ns to 108 ns", "at least 1.17 cycles": all digits, as a published figure is not ours to round. */
void as_ref_value(const struct as_ref *ref, bool typeset, struct as_buf *out);
/* "bandwidth, malloc", "raw latency, op=ffma32 warps=4" */
void as_ref_what(const struct as_ref *ref, struct as_buf *out);
/* A JSON object of refs->v[i], with the facts that it stands beside; and the array of all of them. */
void as_ref_to_json(const struct as_refs *refs, size_t i, const struct as_fact *facts, size_t n, struct as_buf *out);
void as_refs_to_json(const struct as_refs *refs, const struct as_fact *facts, size_t n, struct as_buf *out);

#endif
