/* The rule contract: what a rule is, and what rules share. A rule reads the valid cells of one device and adds facts.
 */
#ifndef AS_FACTS_RULE_H
#define AS_FACTS_RULE_H

#include "facts/facts.h"
#include "quantity/quantity.h"

#include <math.h>

struct as_fact_list {
    struct as_fact *v;
    size_t n, cap;
};

struct as_rule;

/* One rule at one device, in one process state: rules see the cells of assay's own environment, and once more those of
 * each state alone. What only these give becomes a fact of that state. */
struct as_rule_context {
    const struct as_rule *rule;
    const char *device;
    const struct as_device_info *info; /* NULL when the run does not say */
    /* Usable ones of the device: valid, with a finite median above 0, of counts also 0; of main memory where they claim
     * to be (probe/main_memory.h). */
    const struct as_cell *const *cells;
    size_t n;
    const struct as_cell *const *in_states; /* likewise, of the device in process states (axis "state") */
    size_t in_states_n;
    const char *state;         /* that the cells are of; NULL: assay's own environment */
    const struct as_cell *all; /* of the run; NULL unknown */
    size_t all_n;
    const struct as_device_info *devices; /* of the run */
    size_t devices_n;
    struct as_fact_list *facts;
    struct as_error *err;
    enum as_status status; /* the first failure; rules go on and need not look */
};

struct as_rule {
    const char *name;
    void (*derive)(struct as_rule_context *c);
    const char *text; /* how the fact follows from the cells */
    const char *refuted_by;
};

/* The rules of a probe are `const struct as_rule as_rules_<name>[]` in its rule.c, those that join probes
 * `as_rules_joint_<what>[]` in src/facts/joint_<what>.c; each table ends with a NULL name. The build finds the files
 * and makes this table of tables: those of probes in the order of the report, then the joint ones, which may read the
 * facts of the device that are in c->facts by then. Ends with NULL. */
extern const struct as_rule *const as_rule_tables[];

/* Adds a fact and returns it, with the device, rule and NANs filled in; NULL when out of memory (noted in c), or where
 * a field has no such value. Valid until the next is added. Fields of the id that by (NULL: none) does not give are the
 * cell's axes, and a unit that neither it nor the relation gives is the cell's. cell may be NULL. */
struct as_fact *as_fact_add(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                            const struct as_fact_fields *by);
/* The same, whose number is the cell's median and whose evidence is the cell. */
struct as_fact *as_fact_add_cell(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell,
                                 const struct as_fact_fields *by);
/* The same, whose number is the median of a over that of b, whose evidence they are, and which is supported where the
 * ratio is above 1. Fields are those of a. None is added (NULL) for cells of one probe that differ in size. */
struct as_fact *as_fact_add_ratio(struct as_rule_context *c, enum as_relation relation, const struct as_cell *a,
                                  const struct as_cell *b, const struct as_fact_fields *by);
/* In the format "{value}" stands for the fact's number with interval and unit, "{op}" for its field of that name. Where
 * a ratio is too open to state (as_fact_is_open), "{tied}" stands for "cannot be compared", else for "are statistically
 * tied", and "{wide}" ends the sentence with "the intervals are too wide", else for nothing. */
void as_fact_say(struct as_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_fact_number(struct as_fact *f, double value, struct as_interval ci);
/* The fact's number is that of the best of several cells, of which n others have no number: n > 0 makes it
 * inconclusive, and "{value}" a bound, "at least 4.01 ops/cycle". After as_fact_number, before as_fact_say. */
void as_fact_left_out(struct as_fact *f, const struct as_cell *best, size_t n);
/* The first cell's median over the second's. */
void as_fact_ratio(struct as_fact *f, const struct as_cell *a, const struct as_cell *b);
/* Each cell once; ignored beyond AS_EVIDENCE_MAX cells. */
void as_fact_evidence(struct as_fact *f, const struct as_cell *cell);
/* What to do about a fact. as_fact_gain gives the ratio of two ways to do the same, in one direction whichever is
 * better, so that runs compare; as_fact_side tells which is: 1 the ratio lies above 1, -1 below, 0 inconclusive. In the
 * format of as_fact_act "{gain}" stands for the ratio, or its inverse if below 1, with interval. */
void as_fact_gain(struct as_fact *f, double ratio, struct as_interval ci);
int as_fact_side(const struct as_fact *f);
void as_fact_act(struct as_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes the gain back where a control whose ratio should be 1 deviates by as much. */
void as_fact_gain_beside(struct as_fact *f, struct as_interval control);
#define AS_NO_INTERVAL ((struct as_interval){NAN, NAN})
/* The same as as_format_with_interval into out. */
const char *as_fact_value_text(double v, struct as_interval ci, const char *unit, char *out, size_t size);
/* A value, what it is per ("" or " per load"), and its interval in one parenthesis with a note ("" for none):
 * "10.8 ns per load (10.7 to 11.0 ns; 21 cycles)". */
const char *as_noted_text(double v, struct as_interval ci, const char *unit, const char *per, const char *note,
                          char *out, size_t size);
/* Is its interval too wide for any number to be stated? */
bool as_fact_is_open(const struct as_fact *f);
bool as_ratio_is_open(double ratio, struct as_interval ci);

/* Of a ratio that a sentence states without expecting it on either side of 1: it is below, above, or within 5% of 1,
 * and the fact is supported; else inconclusive. */
enum as_fact_stands { AS_STANDS_OPEN, AS_STANDS_BELOW, AS_STANDS_ALIKE, AS_STANDS_ABOVE };
#define AS_ALIKE_WITHIN 5 /* percent */
enum as_fact_stands as_fact_compare(struct as_fact *f);
const char *as_fact_noted_text(const struct as_fact *f, const char *per, const char *note, char *out, size_t size);
/* The same of a ratio's inverse: below 1 a ratio is hard to read. */
const char *as_fact_inverse_text(const struct as_fact *f, const char *per, const char *note, char *out, size_t size);
/* Of a ratio that nobody expects on one side of 1: decided is supported. After its sentence, which may tell the sides
 * apart. */
void as_fact_expects_nothing(struct as_fact *f);
/* By the verdict: the ratio and above, the inverse and below, or where it is inconclusive the ratio alone, or that the
 * intervals are too wide. */
const char *as_fact_ratio_text(const struct as_fact *f, const char *above, const char *below, const char *note,
                               char *out, size_t size);
/* "22.6 to 45.3 MiB" */
const char *as_fact_range_text(struct as_interval range, const char *unit, char *out, size_t size);

/* The cells of a probe that differ in one axis only, by rising value of it. */
struct as_curve {
    const struct as_cell **cells;
    double *x, *y;
    struct as_interval *ci;
    size_t n;
};
/* All curves of a probe over an axis; cells without the axis, or with a value of it that the curve already has, are
 * left out. *curves and what is in it are freed by as_curves_free. */
void as_curves_make(struct as_rule_context *c, const char *probe, const char *axis, struct as_curve **curves,
                    size_t *n);
void as_curves_free(struct as_curve *curves, size_t n);
/* The cells from first to last, thinned where they are too many. */
void as_curve_evidence(struct as_fact *f, const struct as_curve *curve, size_t first, size_t last);
/* Plateaus of latency over size. Neighbours whose intervals overlap are one, unless a reported cache ends between
 * them. Returns how many; of more than max the first. info: NULL unknown. */
size_t as_levels_of(const struct as_curve *curve, const struct as_device_info *info, struct as_plateau *out,
                    size_t max);
/* How the curve shows that plateau i of n ends. */
enum as_level_end {
    AS_END_CLEAR,      /* by its intervals it lies below the next */
    AS_END_UNRESOLVED, /* below a later one, but not below the next, which is too noisy: where it ends is unknown */
    AS_END_NONE,       /* below no later one: nothing but its sizes shows that it is a level */
    AS_END_BEYOND,     /* it is the last: the curve ends within it */
};
enum as_level_end as_level_end_of(const struct as_curve *curve, const struct as_plateau *p, size_t i, size_t n);
/* Keeps only the sizes (bytes) of a level above `beyond`. False, and unchanged, where none is. */
bool as_level_keep(const struct as_curve *curve, double beyond, struct as_plateau *p);
/* Assigns caches to knees, both in rising order, so that the sizes agree best: minimises the sum of log distances over
 * all ways to pair as many as possible. Returns that sum; cache[i] is SIZE_MAX for a knee without a cache. */
enum { AS_LEVELS_MAX = 8 };
double as_levels_pair(const double *knee, size_t knees, const struct as_cache *const *caches, size_t caches_n,
                      size_t *cache);
/* Are the peaks of memory of an application's cell those of its arrays? A driver may count managed memory in steps of
 * its own and keep it for later, and may have had static variables before. */
bool as_app_peak_counts(const struct as_rule_context *c, const struct as_cell *cell);
/* Has the cell a note of this name with this text? */
bool as_cell_note_is(const struct as_cell *cell, const char *name, const char *text);
/* A number among the notes of a cell, NAN when it has none of that name. */
double as_cell_note(const struct as_cell *cell, const char *name);
bool as_cell_has_note(const struct as_cell *cell, const char *name); /* a number or not */

/* The cells of a probe, in the order of the run; *out is the caller's (free), NULL when there are none. */
size_t as_cells_of(struct as_rule_context *c, const char *probe, const struct as_cell ***out);
/* The cell of this id, NULL where the rules do not see it. */
const struct as_cell *as_rule_cell(const struct as_rule_context *c, int64_t id);
/* "Copy (engine, malloc to hipMalloc, 512 MiB)", the first letter small in a sentence: what a cell times. */
void as_describe_pass(const struct as_cell *cell, bool in_sentence, struct as_buf *out);
/* The subject of quantities that the rules see; its list of facts moves when one is added. */
struct as_quantity_subject as_rule_subject(const struct as_rule_context *c);
/* The one cell that gives the quantity of this name; NULL where none does. */
const struct as_cell *as_rule_quantity_cell(const struct as_rule_context *c, const char *name);
/* Has the cell this value of an axis? A cell without the axis has every value. */
bool as_cell_is(const struct as_cell *cell, const char *axis, const char *text);
/* Are all axes but one the same? */
bool as_cells_alike(const struct as_cell *a, const struct as_cell *b, const char *but);
/* The same number for cells that are. */
uint64_t as_cell_hash_but(const struct as_cell *cell, const char *but);
/* Names in a sentence, each once: those beyond so many letters are counted. */
struct as_names {
    size_t letters;
    struct as_buf text; /* "a, b" */
    struct as_buf all;  /* lines */
    size_t more;
};
#define AS_NAMES(letters_) ((struct as_names){.letters = (letters_), .text = AS_BUF_INIT, .all = AS_BUF_INIT})
void as_names_add(struct as_names *names, const char *name);
const char *as_names_text(struct as_names *names); /* "a, b and 3 more"; no names are added after it */
void as_names_finish(struct as_names *names);
/* Two cells of a probe that differ in one axis only. */
struct as_pair {
    const struct as_cell *a, *b;
};
/* All pairs in which the axis is a_text in one and b_text in the other, of an allocator its role; *pairs is the
 * caller's (free). */
void as_pairs_make(struct as_rule_context *c, const char *probe, const char *axis, const char *a_text,
                   const char *b_text, struct as_pair **pairs, size_t *n);
/* The next of the device's cells of a probe, from *at on, that the run planned and that have no number yet, or none
 * that is evidence: left out by the budget, interrupted or contended. NULL: there is no further one. */
const struct as_cell *as_cells_left_out(const struct as_rule_context *c, const char *probe, size_t *at);
/* The best of the cells that have this value of an axis; NULL: none has. */
const struct as_cell *as_cells_best(const struct as_cell *const *cells, size_t n, const char *axis, const char *text);
/* Keeps of the cells those that no other one of the same kind surpasses; kind: the axes by which kinds differ, ends
 * with NULL. Returns how many. */
size_t as_cells_keep_best(const struct as_cell **cells, size_t n, const char *const *kind,
                          bool (*surpasses)(const struct as_cell *a, const struct as_cell *b));
bool as_cell_is_larger(const struct as_cell *a, const struct as_cell *b); /* by the axis size */
bool as_cell_is_faster(const struct as_cell *a, const struct as_cell *b); /* by the median */
double as_cell_size(const struct as_cell *cell);                          /* 0 without the axis */
/* The clocks of those cells that have one, and by which factor they may be off. Returns how many. */
size_t as_cells_clocks(const struct as_cell *const *cells, size_t n, double *hz, double *off);
/* Sorts v. The interval of its median; of fewer than six values their range. */
struct as_interval as_spread_interval(double *v, size_t n);

typedef bool (*as_takes_fn)(const struct as_cell *cell, const void *what);
/* A sentence with the names of those cells that `is` takes; NULL where there are none. */
struct as_fact *as_fact_list(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                             void (*name_of)(const struct as_cell *cell, struct as_buf *out), const void *what,
                             as_takes_fn is, enum as_relation relation, const char *sentence);
/* Of a cell of a matrix instruction. */
void as_instruction_name(const struct as_cell *cell, struct as_buf *out);

/* May its number stand for main memory (probe/main_memory.h)? */
bool as_cell_holds_memory(const struct as_rule_context *c, const struct as_cell *cell);
/* Is its allocator one whose pages are larger than the base page? */
bool as_cell_on_huge_pages(const struct as_cell *cell);
/* What a fact about an allocator is about: "allocator:cuMemAlloc", the object for as_fact_add. */
void as_allocator_object(const char *allocator, char *out, size_t size);
/* Of a cell of page faults: does a touch of present pages, which is subtracted or measured as the control, take as long
 * as what is left? That says more about the touch than about the fault. */
bool as_fault_is_drowned(const struct as_rule_context *c, const struct as_cell *cell);
/* Was a block of so many bytes allocated faster than any memory could be populated? Then its pages come at first use. A
 * pool has them already. */
bool as_is_promise(const char *device, const char *allocator, double bytes, double ns);
/* The API's terms for a compute unit ("SM"), a workgroup, its shared memory and a queue ("stream"). */
const char *as_unit_name(const struct as_rule_context *c);
const char *as_workgroup_name(const struct as_rule_context *c);
const char *as_shared_memory_name(const struct as_rule_context *c);
const char *as_queue_name(const struct as_rule_context *c);
/* The same term at the beginning of a sentence. */
enum { AS_TERM_SIZE = 40 };
const char *as_capital(const char *term, char out[AS_TERM_SIZE]);
/* The value of an axis as text ("" without it) and as a number (NAN). */
const char *as_cell_axis(const struct as_cell *cell, const char *axis);
double as_cell_axis_number(const struct as_cell *cell, const char *axis);
/* Has the axis the same value in both, or is it in neither? */
bool as_cells_same(const struct as_cell *a, const struct as_cell *b, const char *axis);
/* In ns, GB/s, ...: a cell's interval, or its median twice where it has none. */
struct as_interval as_cell_interval(const struct as_cell *cell);
/* Of the ratio of the two medians. */
struct as_interval as_cells_ratio(const struct as_cell *a, const struct as_cell *b);
/* Supported where all of the interval is above, refuted where all is below. */
enum as_fact_verdict as_verdict_above(struct as_interval ci, double bound);
/* Of a control whose ratio has to be 1: supported within 2%, refuted where the interval leaves 1 out. */
enum as_fact_verdict as_verdict_control(struct as_interval ci);
/* Does a claim lie in the interval, give or take a share of it? */
bool as_claim_fits(double claimed, struct as_interval ci, double share);

/* Threads of a warp; NAN on CPUs, where a compute unit may be an SMT thread. */
double as_warp_of(const struct as_rule_context *c);
/* Of cells whose array CPU and device update: does this side have threads, do both? */
bool as_cell_works(const struct as_cell *cell, const char *threads);
bool as_cell_both_work(const struct as_cell *cell);
const char *as_array_text(const struct as_cell *cell, char out[64]); /* "1024 elements of u64" */

/* What the driver says that the bus carries, in GB/s, in the directions of the cell; NAN: not known. */
double as_claimed_bus(const struct as_rule_context *c, const struct as_cell *cell);
/* Can a copy between host and device have gone over the bus that the driver tells of? */
bool as_copy_is_of_managed(const struct as_rule_context *c,
                           const struct as_cell *copy); /* beside a device's own memory */
bool as_copy_crosses_bus(const struct as_rule_context *c, const struct as_cell *copy);
/* The other end of a link: "device 3", "host", "host memory node 1", "all other devices". */
const char *as_peer_text(const struct as_cell *cell, char *out, size_t size);
/* as_fact_add_cell for the link of the cell. */
struct as_fact *as_fact_add_peer(struct as_rule_context *c, enum as_relation relation, const struct as_cell *cell);

/* Facts of a probe in which CPU threads (axis from: their NUMA node) use memory elsewhere: of a node (axis node), or of
 * a device's allocator after either side's first touch (axes allocator and touch). */
struct as_ends {
    const char *probe;
    bool lower_is_better;
    /* field what: "own" or "other"; fields allocator and touch; likewise, against pageable memory of the host, and of
     * that against the device's own */
    enum as_relation nodes, device, cost;
    /* Parts of sentences: before the number of nodes, with the operation between where cells have one; before an
     * allocator's name; before that of pageable memory. */
    const char *own, *other, *in, *against;
};
/* Of the largest size, and of the operation's best number of threads. A ratio only where it is surely beyond 5%. */
void as_facts_of_ends(struct as_rule_context *c, const struct as_ends *e);

/* "357 thousand", "3.51 million"; exact below 1000: of counts that differ from sample to sample. */
const char *as_rounded_count(double n, char *out, size_t size);

#endif
