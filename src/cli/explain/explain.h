/* Describes one stored cell in full. */
#ifndef AS_CLI_EXPLAIN_H
#define AS_CLI_EXPLAIN_H

#include "model/fragment.h"
#include "probe/probe.h"
#include "report/report.h"
#include "store/store.h"

struct as_explained {
    struct as_cell cell; /* with samples */
    struct as_run run;
    struct as_trial *trials;
    size_t trials_n;
};
enum as_status as_explain_load(struct as_store *store, int64_t id, struct as_explained *out, struct as_error *err);
void as_explain_finish(struct as_explained *e);
enum as_status as_explain_cell(const struct as_explained *e, const struct as_table_style *style, struct as_buf *out,
                               struct as_error *err);
void as_explain_fragment(const struct as_fragment *f, const struct as_table_style *style, struct as_buf *out);
/* Nothing for a cell without bins. */
void as_explain_bins(const struct as_cell *c, const struct as_table_style *style, struct as_buf *out);
/* Describes a word of a probe's axes, with its values in the last run of the store (may be NULL). */
enum as_status as_explain_word(struct as_store *store, const struct as_probe *probe, const struct as_word *word,
                               const struct as_table_style *style, struct as_buf *out, struct as_error *err);
/* AS_USAGE with the nearest word. */
enum as_status as_unknown_word(const struct as_probe *probe, const char *name, struct as_error *err);
/* A word of the data sheet or of messages: a status, a term of the documents, a quantity by name, level, group or
 * label, or a value of an axis. False: it is none. */
bool as_explain_term(const char *name, const struct as_table_style *style, struct as_buf *out);
/* The values that an axis of the probe may take, in words. all: however many there are. */
void as_explain_axis_range(const struct as_probe *p, const struct as_axis *a, bool all, struct as_buf *out);
/* The probes that have an axis of this name, with its values. False: none has. */
bool as_explain_axis(const char *name, const struct as_table_style *style, struct as_buf *out);
/* The ID of a fact, also one that no run has; with what the last run of the store (may be NULL) says. False: no such
 * ID. */
bool as_explain_fact(struct as_store *store, const char *id, const struct as_table_style *style, struct as_buf *out);
/* Names probes and quantities that have most of the words of name, also by synonyms. False: none has. */
bool as_explain_nearest(const char *name, const struct as_table_style *style, struct as_buf *out);
/* Fills names with those that are terms or quantities, for suggestions; returns how many. */
size_t as_explain_terms(const char **names, size_t most);
/* A name and its text, already escaped. */
void as_explain_member(struct as_buf *out, const char *name, const char *text, const struct as_table_style *style);
/* "latency cpu size=1 MiB", escaped. */
void as_explain_axes(const struct as_cell *c, struct as_buf *out);

#endif
