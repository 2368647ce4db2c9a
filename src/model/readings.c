#include "model/readings.h"

#include "base/text.h"
#include "model/fields.h"

#include <math.h>

void as_readings_clear(struct as_readings *r)
{
    *r = (struct as_readings){.throttle = -1, .counted_w = NAN};
    r->link_errors = r->link_errors_new = NAN;
    r->link_replays = r->link_replays_new = NAN;
    r->pcie_replays = r->pcie_replays_new = NAN;
    for (size_t i = 0; i < as_readings_fields.n; i++) {
        const struct as_field *f = &as_readings_fields.v[i];
        if (f->kind == AS_FIELD_REAL)
            *(double *)(void *)((char *)r + f->offset) = NAN;
    }
}

static void readings_part(struct as_buf *out, size_t start)
{
    as_buf_str(out, out->len > start ? ", " : "");
}

void as_readings_text(const struct as_readings *r, struct as_buf *out)
{
    size_t start = out->len;
    if (!r->sensor[0])
        return;
    if (isfinite(r->power_w)) {
        as_format_number(out, r->power_w, 3);
        as_buf_str(out, " W");
    }
    if (isfinite(r->temperature_after)) {
        readings_part(out, start);
        if (isfinite(r->temperature_before) && r->temperature_before != r->temperature_after)
            as_buf_printf(out, "%.0f to ", r->temperature_before);
        as_buf_printf(out, "%.0f C", r->temperature_after);
    }
    if (isfinite(r->clock_hz)) {
        readings_part(out, start);
        as_format_value(out, r->clock_hz, "Hz");
    }
    if (isfinite(r->memory_clock_hi)) {
        readings_part(out, start);
        as_buf_str(out, "memory at ");
        as_format_value(out, r->memory_clock_hi, "Hz");
    }
    if (r->throttle > 0 && r->throttle & ~(int)AS_THROTTLE_HARMLESS) {
        readings_part(out, start);
        as_buf_str(out, "throttled by ");
        as_throttle_text(r->throttle & ~(int)AS_THROTTLE_HARMLESS, out);
    }
    if (r->pcie_generation > 0 && r->pcie_width > 0) {
        readings_part(out, start);
        as_buf_printf(out, "PCIe %.0f.0 x%.0f", r->pcie_generation, r->pcie_width);
    }
    static const struct {
        size_t offset;
        const char *what;
    } counts[] = {{offsetof(struct as_readings, ecc_corrected), "ECC errors corrected"},
                  {offsetof(struct as_readings, ecc_uncorrected), "ECC errors not corrected"},
                  {offsetof(struct as_readings, users), "other processes on the device"}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        double n = *(const double *)(const void *)((const char *)r + counts[i].offset);
        if (n > 0) {
            readings_part(out, start);
            as_buf_printf(out, "%.0f %s", n, counts[i].what);
        }
    }
}
