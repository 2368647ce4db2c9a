/* The rule contract: what a rule is, and what rules share. A rule reads the valid cells of one device and adds facts. */
#ifndef AS_FACTS_RULE_H
#define AS_FACTS_RULE_H

#include "facts/facts.h"

#include <math.h>

struct as_fact_list {
    struct as_fact *v;
    size_t n, cap;
};

struct as_rule;

/* One rule at one device. */
struct as_rule_context {
    const struct as_rule *rule;
    const char *device;
    const struct as_device_info *info; /* NULL when the run does not say */
    const struct as_cell *const
        *cells; /* usable ones of the device: valid, with a finite median above 0, of counts also 0 */
    size_t n;
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

extern const struct as_rule fact_rules[];
extern const size_t fact_rules_n;

/* Visits the devices of a run, those without a usable cell too, in the order of the run's list. */
typedef enum as_status (*as_device_fn)(struct as_rule_context *c, void *user);
enum as_status as_facts_each_device(const struct as_fact_input *in, as_device_fn visit, void *user,
                                    struct as_error *err);

/* Adds a fact and returns it, with the device, rule and NANs filled in; NULL when out of memory (noted in c). Valid
 * until the next is added. The id may hold text of axes: what is no letter, digit, dot, dash or underscore becomes "_".
 */
struct as_fact *as_fact_add(struct as_rule_context *c, const char *object, const char *unit, const char *id_fmt, ...)
    __attribute__((format(printf, 4, 5)));
void as_fact_say(struct as_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_fact_number(struct as_fact *f, double value, struct as_interval ci);
/* The first cell's median over the second's. */
void as_fact_ratio(struct as_fact *f, const struct as_cell *a, const struct as_cell *b);
/* Cells beyond the room are left out. */
void as_fact_evidence(struct as_fact *f, const struct as_cell *cell);
#define AS_NO_INTERVAL ((struct as_interval){NAN, NAN})
/* The same as as_format_with_interval into out. */
const char *as_fact_value_text(double v, struct as_interval ci, const char *unit, char *out, size_t size);

/* The cells of a probe that differ in one axis only, by rising value of it. */
struct as_curve {
    const struct as_cell **cells;
    double *x, *y;
    struct as_interval *ci;
    size_t n;
};
/* All curves of a probe over an axis; cells without the axis, or with a value of it that the curve already has, are
 * left out. *curves and what is in it are freed by curves_free. */
void as_curves_make(struct as_rule_context *c, const char *probe, const char *axis, struct as_curve **curves,
                    size_t *n);
void as_curves_free(struct as_curve *curves, size_t n);
/* The cells from first to last, thinned where they are too many. */
void as_curve_evidence(struct as_fact *f, const struct as_curve *curve, size_t first, size_t last);
/* A number among the notes of a cell, NAN when it has none of that name. */
double as_cell_note(const struct as_cell *cell, const char *name);
bool as_cell_has_note(const struct as_cell *cell, const char *name); /* a number or not */

/* The cells of a probe, in the order of the run; *out is the caller's (free), NULL when there are none. */
size_t as_cells_of(struct as_rule_context *c, const char *probe, const struct as_cell ***out);
/* Has the cell this value of an axis? A cell without the axis has every value. */
bool as_cell_is(const struct as_cell *cell, const char *axis, const char *text);
/* Are all axes but one the same? */
bool as_cells_alike(const struct as_cell *a, const struct as_cell *b, const char *but);
/* The same number for cells that are. */
uint64_t as_cell_hash_but(const struct as_cell *cell, const char *but);
/* Names in a sentence, each once: what has no room is counted. */
struct as_names {
    size_t room;        /* letters */
    struct as_buf text; /* "a, b" */
    struct as_buf all;  /* lines */
    size_t more;
};
#define AS_NAMES(letters) ((struct as_names){.room = (letters), .text = AS_BUF_INIT, .all = AS_BUF_INIT})
void as_names_add(struct as_names *names, const char *name);
const char *as_names_text(struct as_names *names); /* "a, b and 3 more"; no names are added after it */
void as_names_finish(struct as_names *names);
/* Two cells of a probe that differ in one axis only. */
struct as_pair {
    const struct as_cell *a, *b;
};
/* All pairs in which the axis is a_text in one and b_text in the other; *pairs is the caller's (free). */
void as_pairs_make(struct as_rule_context *c, const char *probe, const char *axis, const char *a_text,
                   const char *b_text, struct as_pair **pairs, size_t *n);
/* Does the allocator's name say pages larger than the base page? */
bool as_allocator_is_huge(const char *name);
/* What a fact about an allocator is about: "allocator:cuMemAlloc", for the object of fact_add. */
void as_allocator_object(const char *allocator, char *out, size_t size);
/* How the documents of the device's API call the LOCAL memory of a group. */
const char *as_local_name(const struct as_rule_context *c);
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
/* Does a claim lie in the interval, give or take a share of it? */
bool as_claim_fits(double claimed, struct as_interval ci, double share);

/* Passes over the data from which copying it first takes less time than direct access, by the bandwidths of the copy,
 * of direct access and of the device's own memory. False where direct access is as fast as the device's own memory, or
 * may be. */
bool as_passes_to_pay(const struct as_cell *copy, const struct as_cell *direct, const struct as_cell *own,
                      double *passes, struct as_interval *ci);
/* Can a copy between host and device have gone over the bus that the driver tells of? */
bool as_copy_crosses_bus(const struct as_rule_context *c, const struct as_cell *copy);

/* The rules, by file */
void rule_cache_levels(struct as_rule_context *c);
void rule_tlb(struct as_rule_context *c);
void rule_instruments(struct as_rule_context *c);
void rule_memory_bandwidth(struct as_rule_context *c);
void rule_cache_bandwidth(struct as_rule_context *c);
void rule_nontemporal(struct as_rule_context *c);
void rule_clock(struct as_rule_context *c);
void rule_first_touch(struct as_rule_context *c);
void rule_allocators(struct as_rule_context *c);
void rule_core_to_core(struct as_rule_context *c);
void rule_launch(struct as_rule_context *c);
void rule_concurrency(struct as_rule_context *c);
void rule_copy(struct as_rule_context *c);
void rule_direct_access(struct as_rule_context *c);
void rule_link(struct as_rule_context *c);
void rule_link_latency(struct as_rule_context *c);
void rule_roofline(struct as_rule_context *c);
void rule_alu(struct as_rule_context *c);
void rule_alu_code(struct as_rule_context *c);
void rule_alu_each(struct as_rule_context *c);
void rule_power(struct as_rule_context *c);
void rule_pipes(struct as_rule_context *c);
void rule_atomics(struct as_rule_context *c);
void rule_atomics_lost(struct as_rule_context *c);
void rule_codegen(struct as_rule_context *c);
void rule_matmul(struct as_rule_context *c);
void rule_matmul_peak(struct as_rule_context *c);
void rule_matmul_power(struct as_rule_context *c);
void rule_fusion(struct as_rule_context *c);
void rule_attention(struct as_rule_context *c);
void rule_clockstate(struct as_rule_context *c);
void rule_numerics(struct as_rule_context *c);
void rule_layout(struct as_rule_context *c);
void rule_onchip(struct as_rule_context *c);
void rule_onchip_units(struct as_rule_context *c);
void rule_listed(struct as_rule_context *c);
void rule_fault(struct as_rule_context *c);
void rule_accounting(struct as_rule_context *c);
void rule_translation(struct as_rule_context *c);
void rule_page_events(struct as_rule_context *c);

#endif
