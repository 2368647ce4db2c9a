#include "base/prometheus.h"

#include <math.h>
#include <string.h>

void as_prometheus_head(struct as_buf *out, const char *family, const char *help)
{
    as_buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", family, help, family);
}

void as_prometheus_sample(struct as_buf *out, const char *family, const struct as_metric_label *labels, size_t n,
                          double value)
{
    as_buf_str(out, family);
    for (size_t i = 0; i < n; i++) {
        as_buf_printf(out, "%c%s=\"", i ? ',' : '{', labels[i].name);
        as_buf_metric_label(out, labels[i].value);
        as_buf_char(out, '"');
    }
    as_buf_str(out, n ? "} " : " ");
    if (isfinite(value))
        as_buf_printf(out, "%.6g\n", value);
    else
        as_buf_str(out, "NaN\n");
}

void as_prometheus_state(struct as_buf *out, const char *family, const char *node, const char *label,
                         const char *const *states, const char *now)
{
    for (; *states; states++) {
        const struct as_metric_label labels[] = {{"node", node}, {label, *states}};
        as_prometheus_sample(out, family, labels, 2, strcmp(*states, now) == 0);
    }
}
