/* Prometheus text format 0.0.4, as node_exporter's textfile collector reads it. All samples of a family must follow its
 * head, and no two may have the same labels. */
#ifndef AS_BASE_PROMETHEUS_H
#define AS_BASE_PROMETHEUS_H

#include "base/buf.h"

struct as_metric_label {
    const char *name, *value; /* the value is escaped */
};
void as_prometheus_head(struct as_buf *out, const char *family, const char *help);
/* value: NAN where unknown. */
void as_prometheus_sample(struct as_buf *out, const char *family, const struct as_metric_label *labels, size_t n,
                          double value);
/* A sample per state, the last label's value: 1 for the one that the node is in, else 0. states: NULL-terminated. */
void as_prometheus_state(struct as_buf *out, const char *family, const char *node, const char *label,
                         const char *const *states, const char *now);

#endif
