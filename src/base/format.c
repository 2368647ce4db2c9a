/* Numbers for people. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plain digits in a range that people read without counting zeros, else with an exponent. */
void as_format_number(struct as_buf *b, double v, int digits)
{
    if (!isfinite(v)) {
        as_buf_str(b, isnan(v) ? "-" : v > 0 ? "inf" : "-inf");
        return;
    }
    if (v == 0) {
        as_buf_char(b, '0');
        return;
    }
    digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    int exponent = atoi(strchr(text, 'e') + 1); /* after rounding: 9.996 with three digits is 10.0 */
    if (exponent < -5 || exponent > 14)
        as_buf_printf(b, "%.*e", digits - 1, v);
    else if (exponent < digits - 1)
        as_buf_printf(b, "%.*f", digits - 1 - exponent, v);
    else {
        double step = pow(10, exponent - (digits - 1));
        as_buf_printf(b, "%.0f", round(v / step) * step);
    }
}

void as_format_size(struct as_buf *b, uint64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t u = 0;
    while (u + 1 < sizeof unit / sizeof *unit && bytes >> 10 * (u + 1))
        u++;
    uint64_t one = (uint64_t)1 << 10 * u;
    double v = (double)bytes / (double)one;
    if (v >= 1023.5 && u + 1 < sizeof unit / sizeof *unit && bytes % one) /* 1023.9 KiB is 1 MiB, not 1024 KiB */
        v = 1, u++;
    else if (bytes % one == 0)
        v = (double)(bytes / one);
    if (v == floor(v) || v >= 1000)
        as_buf_printf(b, "%.0f %s", v, unit[u]);
    else if (v * 1000 == floor(v * 1000)) /* few decimals say it exactly: 1.125 MiB */
        as_buf_printf(b, "%.*f %s", v * 10 == floor(v * 10) ? 1 : v * 100 == floor(v * 100) ? 2 : 3, v, unit[u]);
    else {
        as_format_number(b, v, 3);
        as_buf_printf(b, " %s", unit[u]);
    }
}

struct scale {
    const char *unit, *shown;
    double from, factor; /* from this absolute value of the unit on; shown = value * factor */
};

/* Falling within a unit; the last of each also takes what is smaller. */
static const struct scale scales[] = {
    {"ns", "s", 1e9, 1e-9},
    {"ns", "ms", 1e6, 1e-6},
    {"ns", "us", 1e4, 1e-3},
    {"ns", "ns", 0, 1},
    {"us", "s", 1e6, 1e-6},
    {"us", "ms", 1e4, 1e-3},
    {"us", "us", 0, 1},
    {"s", "s", 1, 1},
    {"s", "ms", 1e-3, 1e3},
    {"s", "us", 1e-6, 1e6},
    {"s", "ns", 0, 1e9},
    {"GB/s", "TB/s", 1e3, 1e-3},
    {"GB/s", "GB/s", 1, 1},
    {"GB/s", "MB/s", 1e-3, 1e3},
    {"GB/s", "kB/s", 0, 1e6},
    {"Hz", "GHz", 1e9, 1e-9},
    {"Hz", "MHz", 1e6, 1e-6},
    {"Hz", "kHz", 1e3, 1e-3},
    {"Hz", "Hz", 0, 1},
    {"ops/s", "Tops/s", 1e12, 1e-12},
    {"ops/s", "Gops/s", 1e9, 1e-9},
    {"ops/s", "Mops/s", 1e6, 1e-6},
    {"ops/s", "kops/s", 1e3, 1e-3},
    {"ops/s", "ops/s", 0, 1},
    {"pages/s", "M pages/s", 1e6, 1e-6},
    {"pages/s", "k pages/s", 1e3, 1e-3},
};

bool as_unit_is_count(const char *unit)
{
    static const char *const counts[] = {"updates", "events", "instructions"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i], unit) == 0)
            return true;
    return false;
}

void as_format_value(struct as_buf *b, double v, const char *unit)
{
    if (!isfinite(v)) {
        as_format_number(b, v, 3);
        return;
    }
    if (strcmp(unit, "B") == 0 && v >= 0 && v < 0x1p63) {
        as_format_size(b, (uint64_t)(v + 0.5));
        return;
    }
    if (strcmp(unit, "x") == 0 || strcmp(unit, "%") == 0) {
        as_format_number(b, v, 3);
        as_buf_str(b, unit);
        return;
    }
    if (as_unit_is_count(unit) && fabs(v) < 1e15) {
        as_buf_printf(b, v == floor(v) ? "%.0f %s" : "%.1f %s", v, unit);
        return;
    }
    const char *shown = unit;
    for (size_t i = 0; v != 0 && i < sizeof scales / sizeof *scales; i++)
        if (strcmp(scales[i].unit, unit) == 0 && fabs(v) >= scales[i].from) {
            v *= scales[i].factor;
            shown = scales[i].shown;
            break;
        }
    as_format_number(b, v, 3);
    if (*shown)
        as_buf_printf(b, " %s", shown);
}

void as_format_duration(struct as_buf *b, double seconds)
{
    if (!isfinite(seconds) || seconds < 0) {
        as_buf_char(b, '-');
    } else if (seconds < 0.9995) {
        double us = seconds * 1e6;
        if (us < 999.5)
            as_format_number(b, us, us < 10 ? 2 : 3);
        else
            as_format_number(b, us / 1000, 3);
        as_buf_str(b, us < 999.5 ? " us" : " ms");
    } else if (seconds < 59.5) {
        as_buf_printf(b, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
    } else if (seconds < 3599.5) {
        long s = lround(seconds);
        as_buf_printf(b, s % 60 ? "%ld min %ld s" : "%ld min", s / 60, s % 60);
    } else {
        double minutes = round(seconds / 60);
        as_buf_printf(b, "%.0f h %.0f min", floor(minutes / 60), fmod(minutes, 60));
    }
}
