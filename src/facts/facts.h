/* Facts: sentences about the machine, derived by rules from the cells of one run, with evidence. A rule reads valid
 * cells (AS_CELL_OK) only; inconclusive facts say so. Reads plain data: no store, no device. */
#ifndef AS_FACTS_FACTS_H
#define AS_FACTS_FACTS_H

#include "device/info.h"
#include "facts/relations.h"
#include "model/cell.h"

enum as_fact_verdict { AS_SUPPORTED, AS_REFUTED, AS_UNDECIDED };
enum { AS_FACT_VERDICTS_N = 3 };
const char *as_fact_verdict_word(enum as_fact_verdict v);
/* The same for people: a sentence that reports a refuted expectation is itself true. */
const char *as_fact_verdict_text(enum as_fact_verdict v);

enum { AS_EVIDENCE_MAX = 48 };

/* Axes that say how much a measurement covers: "size", "pages", "elements". */
enum { AS_EXTENTS = 3 };
extern const char *const as_fact_extents[AS_EXTENTS];

struct as_fact {
    enum as_relation relation;
    char values[192]; /* of its fields: see as_fact_field */
    uint8_t at[AS_FACT_FIELDS_N];
    size_t values_n;
    char id[128]; /* stable name, made from relation and fields: "cache.L2.size"; to be shown, not to be taken apart */
    char device[32];           /* whose fact */
    char state[AS_STATE_SIZE]; /* of the processes in which its cells were measured; "": as assay was started */
    char object[64]; /* the part of the machine it belongs to, for the map: "core", "L1", "L2", "L3", "memory", "TLB",
                        "launch", "allocator:malloc", "link:cpu-cpu", ... */
    const char *matter; /* what many such facts are counted under where not all are shown; NULL: the object */
    char sentence[448];
    char act[240]; /* what to do, and what it gains: "Pin host memory for copies: 7.34x (6.15 to 7.92x) ..."; ""
                      nothing. Before the colon stands what is to be done, alike where facts call for the same */
    double gain;   /* ratio of two ways to do the same, of which act, if any, names the better; NAN: there is none */
    struct as_interval gain_ci;
    enum as_fact_verdict verdict;
    double value; /* NAN when the fact is no number */
    struct as_interval ci;
    int bound;                         /* as as_number.bound */
    size_t trials, tried;              /* as in as_number; 0: it is not the number of one cell */
    char unit[16];                     /* "B", "ns", "GB/s", "FLOP/s", "Hz", "x" (ratio) */
    double claimed;                    /* what the OS or driver says, NAN when it says nothing */
    const char *rule;                  /* how it was derived */
    const char *refuted_by;            /* what would refute it */
    int64_t evidence[AS_EVIDENCE_MAX]; /* ids of cells */
    size_t evidence_n;
    double most[AS_EXTENTS]; /* the largest value of each of these axes in the evidence; 0: none has the axis */
};

struct as_fact_input {
    const struct as_run *run;
    const struct as_cell *cells; /* of the run; samples are not needed */
    size_t cells_n;
    const struct as_device_info *devices; /* of the run */
    size_t devices_n;
};
/* *facts is the caller's (free). Order: by device, then by rule. */
enum as_status as_facts_derive(const struct as_fact_input *in, struct as_fact **facts, size_t *n, struct as_error *err);
/* The fact with this id and device, NULL when there is none. Rules and views that look for a relation use as_fact_of.
 */
const struct as_fact *as_fact_find(const struct as_fact *facts, size_t n, const char *device, const char *id);
/* How many times better the better of its two ways is at least: the end of its gain's interval nearest to 1. 1 where
 * that includes no effect, or there is no gain. */
double as_fact_effect(const struct as_fact *f);
/* Of cells of the probe roofline: does the first say more than the second (NULL: none) of what the vector ALU can
 * do at most with numbers of a type? Those of the type come first, then the faster. */
bool as_is_higher_roof(const struct as_cell *a, const struct as_cell *b, const char *type);
/* "1.46 ns (1.45 to 1.48 ns)"; the value alone without an interval, or where its ends read as the value does. */
void as_format_with_interval(struct as_buf *out, double v, struct as_interval ci, const char *unit);
/* JSON array. */
void as_facts_to_json(const struct as_fact *facts, size_t n, struct as_buf *out);

#endif
