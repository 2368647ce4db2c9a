/* Numbers of a cell besides its value: answers in words, and further metrics.
 *
 * Answers: a cell in AS_UNIT_ANSWER has a list of texts, and its value is a 1-based index into them: "to nearest even".
 *
 * Further metrics: what trials measure besides the cell's number, such as the mean and the 95th percentile of a
 * fault's latency. A trial notes each under its name (as_note_number), or samples carry it (as_sample.further);
 * the cell has the estimate over its trials. */
#ifndef AS_MODEL_METRICS_H
#define AS_MODEL_METRICS_H

#include "model/cell.h"

#include <jansson.h>

enum { AS_METRICS_MAX = 24 };

/* Memory traffic measured by sensors while a cell is sampled (sensor/demand.h); any cell may have them. Terminated
 * by a NULL name. */
extern const struct as_metric as_demand_metrics[];
bool as_is_demand_metric(const char *name);

struct as_metric_value {
    char name[32];
    char unit[16];
    int lower_is_better;
    char counts[160]; /* what the number counts, in words */
    size_t trials;    /* with a value */
    double value;
    struct as_interval ci; /* 95% */
};

/* Text of answer number v; NULL if the cell has no answers or v is out of range. May point into out. */
const char *as_cell_answer(const struct as_cell *cell, double v, char out[64]);
enum as_status as_cell_set_answers(struct as_cell *cell, const char *const *answers, struct as_error *err);
/* Validates answers read from a store or export. */
bool as_answers_valid(const json_t *list);

/* Reads the cell's further metrics, at most AS_METRICS_MAX; returns their number. Skips malformed ones. */
size_t as_cell_metrics(const struct as_cell *cell, struct as_metric_value out[AS_METRICS_MAX]);
/* Finds the metric of this name; false if the cell has none. */
bool as_cell_metric(const struct as_cell *cell, const char *name, struct as_metric_value *out);
/* The cell's power over all of its trials: of the GPU by its own domain, else of the whole board. */
bool as_cell_power(const struct as_cell *cell, struct as_metric_value *out);
/* Writes them as a JSON array, as in exports. */
void as_cell_metrics_to_json(const struct as_cell *cell, struct as_buf *out);
/* Replaces the cell's further metrics. */
enum as_status as_cell_set_metrics(struct as_cell *cell, const struct as_metric_value *v, size_t n,
                                   struct as_error *err);
/* Validates further metrics read from a store or export. */
bool as_metrics_valid(const json_t *list);

/* A number in the notes of a trial or cell; NAN if missing. */
double as_detail_number(const char *detail, const char *name);
/* The text under the name in a cell's notes, the caller's; NULL if missing. */
char *as_cell_note_text(const struct as_cell *cell, const char *name);
/* Adds or replaces it; the cell has notes. */
enum as_status as_cell_set_note(struct as_cell *cell, const char *name, const char *text, struct as_error *err);

#endif
