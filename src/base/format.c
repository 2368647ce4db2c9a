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
    else if (v < 10 && v * 1000 == floor(v * 1000)) /* few digits say it exactly: 1.125 MiB */
        as_buf_printf(b, "%.*f %s", v * 10 == floor(v * 10) ? 1 : v * 100 == floor(v * 100) ? 2 : 3, v, unit[u]);
    else if (v * 10 == floor(v * 10)) /* 362.5 KiB; not 215.25 */
        as_buf_printf(b, "%.1f %s", v, unit[u]);
    else {
        as_format_number(b, v, 3);
        as_buf_printf(b, " %s", unit[u]);
    }
}

/* Falling within a unit; the last of each also takes what is smaller. In text 1380 ns is read as easily as 1.38 us. */
static const struct as_scale scales[] = {
    {"ns", "s", "s", 1e-9, false},
    {"ns", "ms", "ms", 1e-6, false},
    {"ns", "us", "µs", 1e-3, true},
    {"ns", "ns", "ns", 1, false},
    {"us", "s", "s", 1e-6, false},
    {"us", "ms", "ms", 1e-3, true},
    {"us", "us", "µs", 1, false},
    {"s", "s", "s", 1, false},
    {"s", "ms", "ms", 1e3, false},
    {"s", "us", "µs", 1e6, false},
    {"s", "ns", "ns", 1e9, false},
    {"GB/s", "TB/s", "TB/s", 1e-3, false},
    {"GB/s", "GB/s", "GB/s", 1, false},
    {"GB/s", "MB/s", "MB/s", 1e3, false},
    {"GB/s", "kB/s", "kB/s", 1e6, false},
    {"Hz", "GHz", "GHz", 1e-9, false},
    {"Hz", "MHz", "MHz", 1e-6, false},
    {"Hz", "kHz", "kHz", 1e-3, false},
    {"Hz", "Hz", "Hz", 1, false},
    {"B", "TiB", "TiB", 0x1p-40, false},
    {"B", "GiB", "GiB", 0x1p-30, false},
    {"B", "MiB", "MiB", 0x1p-20, false},
    {"B", "KiB", "KiB", 0x1p-10, false},
    {"B", "B", "B", 1, false},
    {"ops/s", "Tops/s", "Tops/s", 1e-12, false},
    {"ops/s", "Gops/s", "Gops/s", 1e-9, false},
    {"ops/s", "Mops/s", "Mops/s", 1e-6, false},
    {"ops/s", "kops/s", "kops/s", 1e-3, false},
    {"ops/s", "ops/s", "ops/s", 1, false},
    {"pages/s", "M pages/s", "M pages/s", 1e-6, false},
    {"pages/s", "k pages/s", "k pages/s", 1e-3, false},
    {"pages/s", "pages/s", "pages/s", 1, false},
    {"x", "x", "×", 1, false},
};

const struct as_scale *as_scale_of(double v, const char *unit, bool typeset)
{
    const struct as_scale *found = NULL;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (strcmp(scales[i].unit, unit) != 0)
            continue;
        found = &scales[i];
        if (fabs(v) * found->factor >= (found->late && !typeset ? 10 : 1))
            break;
    }
    return found;
}

bool as_unit_is_of_cycles(const char *unit)
{
    static const char each[] = "/cycle";
    const size_t n = strlen(unit), m = sizeof each - 1;
    return strcmp(unit, "cycles") == 0 || (n > m && strcmp(unit + n - m, each) == 0);
}

bool as_unit_is_count(const char *unit)
{
    static const char *const counts[] = {"updates", "events", "instructions", "numbers", "found"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(counts[i], unit) == 0)
            return true;
    return false;
}

int as_unscaled_digits(double v, int digits)
{
    const int whole = fabs(v) >= 1e3 && fabs(v) < 1e6 ? (int)log10(fabs(v)) + 1 : 0;
    return whole > digits ? whole : digits;
}

void as_format_count(struct as_buf *b, double v)
{
    const double tenths = round(v * 10);
    if (fabs(v) < 1e15)
        as_buf_printf(b, fmod(tenths, 10) == 0 ? "%.0f" : "%.1f", tenths / 10);
    else
        as_format_number(b, v, 3);
}

void as_format_value(struct as_buf *b, double v, const char *unit)
{
    as_format_value_to(b, v, unit, 3);
}

void as_format_value_to(struct as_buf *b, double v, const char *unit, int digits)
{
    if (!isfinite(v)) {
        as_format_number(b, v, digits);
        return;
    }
    if (strcmp(unit, "B") == 0 && v >= 0 && v < 0x1p63) {
        as_format_size(b, (uint64_t)(v + 0.5));
        return;
    }
    if (strcmp(unit, "x") == 0 || strcmp(unit, "%") == 0) {
        as_format_number(b, v, digits);
        as_buf_str(b, unit);
        return;
    }
    if (as_unit_is_count(unit)) {
        as_format_count(b, v);
        as_buf_printf(b, " %s", unit);
        return;
    }
    const struct as_scale *scale = v != 0 ? as_scale_of(v, unit, false) : NULL;
    as_format_number(b, scale ? v * scale->factor : v, scale ? digits : as_unscaled_digits(v, digits));
    if (*unit) {
        as_buf_char(b, ' ');
        as_buf_terminal(b, scale ? scale->shown : unit); /* a stored one may be anything */
    }
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
