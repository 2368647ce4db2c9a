/* What facts and advice share beside the rule contract. Inside facts only. */
#ifndef AS_FACTS_ENGINE_H
#define AS_FACTS_ENGINE_H

#include "facts/rule.h"

/* Calls back for each device of a run, those without a usable cell too, in the order of the run's list. */
typedef enum as_status (*as_device_fn)(struct as_rule_context *c, void *user);
enum as_status as_facts_each_device(const struct as_fact_input *in, as_device_fn visit, void *user,
                                    struct as_error *err);

/* Passes over the data from which copying it first takes less time than direct access, by the bandwidths of the copy,
 * of direct access and of the device's own memory. False where direct access is as fast as the device's own memory, or
 * may be. */
bool as_passes_to_pay(const struct as_cell *copy, const struct as_cell *direct, const struct as_cell *own,
                      double *passes, struct as_interval *ci);
/* "if you read it 2 times or more": whole passes from which a copy surely takes less time, "even if you read it once".
 */
const char *as_passes_text(struct as_interval passes, const char *reads, char *out, size_t size);

#endif
