/* Further metrics of a cell: the scatter of each over similar cells, and the estimate from a cell's trials. */
#ifndef AS_MODEL_JUDGE_METRICS_H
#define AS_MODEL_JUDGE_METRICS_H

#include "model/judge.h"

/* Counts and what else is no time or rate: no other work changes them, and what all samples span is what is known. */
bool as_judge_is_exact(const struct as_judge *j, const struct as_cell *cell);
/* The process of a trial: its worker if processes differ. */
int as_judge_process_of(const struct as_judge *j, const struct as_cell *cell, const struct as_trial *v);

/* Fits the scatter of every metric of the cells of a kind; of[i]: number of the kind of cells[i], AS_NO_KIND: none. */
static const size_t AS_NO_KIND = (size_t)-1;
enum as_status as_judge_learn_metrics(struct as_judge *j, const struct as_cell *cells, const struct as_trials *trials,
                                      const size_t *of, size_t n, struct as_error *err);
void as_judge_forget_metrics(struct as_judge *j);

/* Sets the metrics of a cell of this kind from its trials. */
enum as_status as_judge_set_metrics(const struct as_judge *j, size_t kind, struct as_cell *cell,
                                    const struct as_trials *t, struct as_error *err);

#endif
