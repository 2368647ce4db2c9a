/* What the rules share. Inside facts only. */
#ifndef AS_FACTS_RULES_H
#define AS_FACTS_RULES_H

#include "facts/facts.h"

#include <math.h>

struct fact_list {
    struct as_fact *v;
    size_t n, cap;
};

struct rule;

/* One rule at one device. */
struct rule_context {
    const struct rule *rule;
    const char *device;
    const struct as_device_info *info; /* NULL when the run does not say */
    const struct as_cell *const
        *cells; /* usable ones of the device: valid, with a finite median above 0, of counts also 0 */
    size_t n;
    struct fact_list *facts;
    struct as_error *err;
    enum as_status status; /* the first failure; rules go on and need not look */
};

struct rule {
    const char *name;
    void (*derive)(struct rule_context *c);
    const char *text;
    const char *refuted_by;
};

extern const struct rule fact_rules[];
extern const size_t fact_rules_n;

/* Visits the devices of a run, those without a usable cell too, in the order of the run's list. */
typedef enum as_status (*device_fn)(struct rule_context *c, void *user);
enum as_status facts_each_device(const struct as_fact_input *in, device_fn visit, void *user, struct as_error *err);

/* Adds a fact and returns it, with the device, rule and NANs filled in; NULL when out of memory (noted in c). Valid
 * until the next is added. The id may hold text of axes: what is no letter, digit, dot, dash or underscore becomes "_".
 */
struct as_fact *fact_add(struct rule_context *c, const char *object, const char *unit, const char *id_fmt, ...)
    __attribute__((format(printf, 4, 5)));
void fact_say(struct as_fact *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fact_number(struct as_fact *f, double value, struct as_interval ci);
/* The first cell's median over the second's. */
void fact_ratio(struct as_fact *f, const struct as_cell *a, const struct as_cell *b);
/* Cells beyond the room are left out. */
void fact_evidence(struct as_fact *f, const struct as_cell *cell);
#define NO_INTERVAL ((struct as_interval){NAN, NAN})
/* The same as as_format_with_interval into out. */
const char *fact_value_text(double v, struct as_interval ci, const char *unit, char *out, size_t size);

/* The cells of a probe that differ in one axis only, by rising value of it. */
struct curve {
    const struct as_cell **cells;
    double *x, *y;
    struct as_interval *ci;
    size_t n;
};
/* All curves of a probe over an axis; cells without the axis, or with a value of it that the curve already has, are
 * left out. *curves and what is in it are freed by curves_free. */
void curves_make(struct rule_context *c, const char *probe, const char *axis, struct curve **curves, size_t *n);
void curves_free(struct curve *curves, size_t n);
/* The cells from first to last, thinned where they are too many. */
void curve_evidence(struct as_fact *f, const struct curve *curve, size_t first, size_t last);
/* A number among the notes of a cell, NAN when it has none of that name. */
double cell_note(const struct as_cell *cell, const char *name);
bool cell_has_note(const struct as_cell *cell, const char *name); /* a number or not */

/* The cells of a probe, in the order of the run; *out is the caller's (free), NULL when there are none. */
size_t cells_of(struct rule_context *c, const char *probe, const struct as_cell ***out);
/* Has the cell this value of an axis? A cell without the axis has every value. */
bool cell_is(const struct as_cell *cell, const char *axis, const char *text);
/* Are all axes but one the same? */
bool cells_alike(const struct as_cell *a, const struct as_cell *b, const char *but);
/* The same number for cells that are. */
uint64_t cell_hash_but(const struct as_cell *cell, const char *but);
/* Names in a sentence, each once: what has no room is counted. */
struct names {
    size_t room;        /* letters */
    struct as_buf text; /* "a, b" */
    struct as_buf all;  /* lines */
    size_t more;
};
#define NAMES(letters) ((struct names){.room = (letters), .text = AS_BUF_INIT, .all = AS_BUF_INIT})
void names_add(struct names *names, const char *name);
const char *names_text(struct names *names); /* "a, b and 3 more"; no names are added after it */
void names_finish(struct names *names);
/* Two cells of a probe that differ in one axis only. */
struct pair {
    const struct as_cell *a, *b;
};
/* All pairs in which the axis is a_text in one and b_text in the other; *pairs is the caller's (free). */
void pairs_make(struct rule_context *c, const char *probe, const char *axis, const char *a_text, const char *b_text,
                struct pair **pairs, size_t *n);
/* Does the allocator's name say pages larger than the base page? */
bool allocator_is_huge(const char *name);
/* What a fact about an allocator is about: "allocator:cuMemAlloc", for the object of fact_add. */
void allocator_object(const char *allocator, char *out, size_t size);
/* What the device's API calls shared memory: "LDS". For other words: as_info_words(c->info). */
const char *local_name(const struct rule_context *c);
/* The value of an axis as text ("" without it) and as a number (NAN). */
const char *cell_axis(const struct as_cell *cell, const char *axis);
double cell_axis_number(const struct as_cell *cell, const char *axis);
/* Has the axis the same value in both, or is it in neither? */
bool cells_same(const struct as_cell *a, const struct as_cell *b, const char *axis);
/* In ns, GB/s, ...: a cell's interval, or its median twice where it has none. */
struct as_interval cell_interval(const struct as_cell *cell);
/* Of the ratio of the two medians. */
struct as_interval cells_ratio(const struct as_cell *a, const struct as_cell *b);
/* Supported where all of the interval is above, refuted where all is below. */
enum as_fact_verdict verdict_above(struct as_interval ci, double bound);
/* Does a claim lie in the interval, give or take a share of it? */
bool claim_fits(double claimed, struct as_interval ci, double share);

/* Passes over the data from which copying it first takes less time than direct access, by the bandwidths of the copy,
 * of direct access and of the device's own memory. False where direct access is as fast as the device's own memory, or
 * may be. */
bool passes_to_pay(const struct as_cell *copy, const struct as_cell *direct, const struct as_cell *own, double *passes,
                   struct as_interval *ci);
/* Can a copy between host and device have gone over the bus that the driver tells of? */
bool copy_crosses_bus(const struct rule_context *c, const struct as_cell *copy);

/* The rules, by file */
void rule_cache_levels(struct rule_context *c);
void rule_tlb(struct rule_context *c);
void rule_instruments(struct rule_context *c);
void rule_memory_bandwidth(struct rule_context *c);
void rule_cache_bandwidth(struct rule_context *c);
void rule_nontemporal(struct rule_context *c);
void rule_clock(struct rule_context *c);
void rule_first_touch(struct rule_context *c);
void rule_allocators(struct rule_context *c);
void rule_core_to_core(struct rule_context *c);
void rule_launch(struct rule_context *c);
void rule_concurrency(struct rule_context *c);
void rule_copy(struct rule_context *c);
void rule_direct_access(struct rule_context *c);
void rule_link(struct rule_context *c);
void rule_link_latency(struct rule_context *c);
void rule_roofline(struct rule_context *c);
void rule_alu(struct rule_context *c);
void rule_alu_code(struct rule_context *c);
void rule_alu_each(struct rule_context *c);
void rule_power(struct rule_context *c);
void rule_pipes(struct rule_context *c);
void rule_atomics(struct rule_context *c);
void rule_atomics_lost(struct rule_context *c);
void rule_codegen(struct rule_context *c);
void rule_matmul(struct rule_context *c);
void rule_matmul_peak(struct rule_context *c);
void rule_matmul_power(struct rule_context *c);
void rule_fusion(struct rule_context *c);
void rule_attention(struct rule_context *c);
void rule_clockstate(struct rule_context *c);
void rule_numerics(struct rule_context *c);
void rule_layout(struct rule_context *c);
void rule_onchip(struct rule_context *c);
void rule_onchip_units(struct rule_context *c);
void rule_listed(struct rule_context *c);
void rule_fault(struct rule_context *c);
void rule_accounting(struct rule_context *c);
void rule_translation(struct rule_context *c);
void rule_page_events(struct rule_context *c);

#endif
