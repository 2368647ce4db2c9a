/* Formats numbers for display. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plain digits if few zeros are needed, else an exponent. */
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

/* Exact if few digits suffice (1.125 MiB, 362.5 KiB), else three digits; "64" even if it is rounded. */
static void add_size_number(struct as_buf *b, double v)
{
    if (v >= 10 && v < 1000 && fabs(v - round(v)) < 0.05)
        v = round(v);
    if (v == floor(v) || v >= 1000)
        as_buf_printf(b, "%.0f", v);
    else if (v < 10 && v * 1000 == floor(v * 1000))
        as_buf_printf(b, "%.*f", v * 10 == floor(v * 10) ? 1 : v * 100 == floor(v * 100) ? 2 : 3, v);
    else if (v * 10 == floor(v * 10))
        as_buf_printf(b, "%.1f", v);
    else
        as_format_number(b, v, 3);
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
    add_size_number(b, v);
    as_buf_printf(b, " %s", unit[u]);
}

static bool format_reads_alike(const char *a, const char *b)
{
    char *a_end, *b_end;
    const double a_number = strtod(a, &a_end), b_number = strtod(b, &b_end);
    return a_number == b_number && strcmp(a_end, b_end) == 0;
}

void as_format_sizes(struct as_buf *a, uint64_t a_bytes, struct as_buf *b, uint64_t b_bytes)
{
    struct as_buf texts[2] = {AS_BUF_INIT, AS_BUF_INIT};
    as_format_size(&texts[0], a_bytes);
    as_format_size(&texts[1], b_bytes);
    if (a_bytes != b_bytes && format_reads_alike(as_buf_get(&texts[0]), as_buf_get(&texts[1]))) {
        as_buf_clear(&texts[0]);
        as_buf_clear(&texts[1]);
        as_buf_printf(&texts[0], "%llu B", (unsigned long long)a_bytes);
        as_buf_printf(&texts[1], "%llu B", (unsigned long long)b_bytes);
    }
    as_buf_str(a, as_buf_get(&texts[0]));
    as_buf_str(b, as_buf_get(&texts[1]));
    a->failed |= texts[0].failed;
    b->failed |= texts[1].failed;
    as_buf_finish(&texts[0]);
    as_buf_finish(&texts[1]);
}

/* Largest prefix first within a unit; the last is also used for smaller values. */
static const struct as_scale scales[] = {
    {"ns", "s", 1e-9},
    {"ns", "ms", 1e-6},
    {"ns", "µs", 1e-3},
    {"ns", "ns", 1},
    {"us", "s", 1e-6},
    {"us", "ms", 1e-3},
    {"us", "µs", 1},
    {"s", "s", 1},
    {"s", "ms", 1e3},
    {"s", "µs", 1e6},
    {"s", "ns", 1e9},
    {"GB/s", "TB/s", 1e-3},
    {"GB/s", "GB/s", 1},
    {"GB/s", "MB/s", 1e3},
    {"GB/s", "kB/s", 1e6},
    {"Hz", "GHz", 1e-9},
    {"Hz", "MHz", 1e-6},
    {"Hz", "kHz", 1e-3},
    {"Hz", "Hz", 1},
    {"B", "TiB", 0x1p-40},
    {"B", "GiB", 0x1p-30},
    {"B", "MiB", 0x1p-20},
    {"B", "KiB", 0x1p-10},
    {"B", "B", 1},
    {"FLOP/s", "TFLOP/s", 1e-12},
    {"FLOP/s", "GFLOP/s", 1e-9},
    {"FLOP/s", "MFLOP/s", 1e-6},
    {"FLOP/s", "kFLOP/s", 1e-3},
    {"FLOP/s", "FLOP/s", 1},
    {"OP/s", "TOP/s", 1e-12},
    {"OP/s", "GOP/s", 1e-9},
    {"OP/s", "MOP/s", 1e-6},
    {"OP/s", "kOP/s", 1e-3},
    {"OP/s", "OP/s", 1},
    {"pages/s", "M pages/s", 1e-6},
    {"pages/s", "k pages/s", 1e-3},
    {"pages/s", "pages/s", 1},
    {"updates/s", "G updates/s", 1e-9},
    {"updates/s", "M updates/s", 1e-6},
    {"updates/s", "k updates/s", 1e-3},
    {"updates/s", "updates/s", 1},
    {"x", "×", 1},
};

const struct as_scale *as_scale_of(double v, const char *unit)
{
    const struct as_scale *found = NULL;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (strcmp(scales[i].unit, unit) != 0)
            continue;
        found = &scales[i];
        if (fabs(v) * found->factor >= 1)
            break;
    }
    return found;
}

static const struct {
    const char *text;
    double factor;
} prefixes[] = {{"", 1},     {"n", 1e-9},    {"µ", 1e-6},    {"u", 1e-6},    {"m", 1e-3},
                {"k", 1e3},  {"M", 1e6},     {"G", 1e9},     {"T", 1e12},    {"P", 1e15},
                {"E", 1e18}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

double as_unit_factor(const char *from, const char *to)
{
    if (strcmp(from, to) == 0)
        return 1;
    for (size_t i = 0; i < PREFIXES; i++)
        for (size_t k = 0; k < PREFIXES; k++) {
            const size_t a = strlen(prefixes[i].text), b = strlen(prefixes[k].text);
            if (strncmp(from, prefixes[i].text, a) == 0 && strncmp(to, prefixes[k].text, b) == 0 && from[a] &&
                strcmp(from + a, to + b) == 0)
                return prefixes[i].factor / prefixes[k].factor;
        }
    return 0;
}

/* Whether a part of a name is like "s8", "u32" or "b1". */
static bool is_integer_type(const char *part, size_t len)
{
    size_t digits = len > 1 ? strspn(part + 1, "0123456789") : 0;
    return len > 1 && strchr("siub", *part) && digits + 1 == len;
}

const char *as_rate_unit(const char *unit, const char *type)
{
    if (strcmp(unit, AS_UNIT_RATE) != 0)
        return unit;
    for (const char *part = type; *part;) {
        const size_t len = strcspn(part, "_");
        if (is_integer_type(part, len))
            return "OP/s";
        part += len + (part[len] == '_');
    }
    return "FLOP/s";
}

bool as_unit_is_of_cycles(const char *unit)
{
    static const char each[] = "/cycle";
    const size_t n = strlen(unit), m = sizeof each - 1;
    return strcmp(unit, "cycles") == 0 || (n > m && strcmp(unit + n - m, each) == 0);
}

bool as_unit_is_count(const char *unit)
{
    static const char *const counts[] = {"updates", "events", "instructions", "numbers", "found",
                                         "answer",  "bits",   "products",     "sums",    "cases"};
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
    if (fabs(v - round(v)) < 1e-3 && fabs(v) < 1e15)
        as_buf_printf(b, "%.0f", v);
    else if (fabs(v) < 1e3)
        as_buf_printf(b, "%.1f", v);
    else
        as_format_number(b, v, 3);
}

static bool is_close(const char *unit)
{
    return strcmp(unit, "x") == 0 || strcmp(unit, "%") == 0;
}

/* A whole count below SMALL_COUNT has no digits that are not known. */
enum { USUAL_DIGITS = 3, SMALL_COUNT = 1000 };

static void format_add_number(struct as_buf *b, double v, const char *unit, const struct as_scale *scale, int digits)
{
    if (strcmp(unit, "B") == 0 && scale && v >= 0 && isfinite(v))
        add_size_number(b, v * scale->factor);
    else if (as_unit_is_count(unit) && fabs(v) < SMALL_COUNT && v == round(v))
        as_format_count(b, v);
    else
        as_format_number(b, scale && !is_close(unit) ? v * scale->factor : v, digits);
}

/* For a number of which nothing says how precise it is. */
static int format_usual_digits(double v, const char *unit, int digits)
{
    const bool is_whole = !is_close(unit) && !as_scale_of(v, unit) && isfinite(v);
    return is_whole ? as_unscaled_digits(v, digits) : digits;
}

static void format_add_unit(struct as_buf *b, const char *unit, const struct as_scale *scale)
{
    if (!*unit)
        return;
    if (!is_close(unit))
        as_buf_char(b, ' ');
    as_buf_terminal(b,
                    scale && !is_close(unit) ? scale->shown : unit); /* escaped, since a stored unit may be any text */
}

void as_format_value(struct as_buf *b, double v, const char *unit)
{
    if (as_unit_is_count(unit) && isfinite(v)) { /* exact */
        as_format_count(b, v);
        format_add_unit(b, unit, NULL);
        return;
    }
    as_format_value_to(b, v, unit, format_usual_digits(v, unit, USUAL_DIGITS));
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
    const struct as_scale *scale = v != 0 ? as_scale_of(v, unit) : NULL;
    format_add_number(b, v, unit, scale, digits);
    format_add_unit(b, unit, scale);
}

double as_range_end(double v, const char *unit)
{
    static const double beyond = 1.005;
    if (strcmp(unit, "B") != 0 || !(v >= 1024))
        return v;
    const double power = exp2(floor(log2(v)));
    return v <= beyond * power ? power : v;
}

void as_format_range(struct as_buf *b, double lo, double hi, double v, const char *unit, int digits)
{
    const int each[] = {format_usual_digits(lo, unit, digits), format_usual_digits(hi, unit, digits)};
    as_format_range_to(b, lo, hi, v, unit, each);
}

void as_format_ends(struct as_buf *b, struct as_buf ends[2])
{
    const char *const from = as_buf_get(&ends[0]), *const to = as_buf_get(&ends[1]);
    if (strcmp(from, to) == 0)
        as_buf_str(b, from);
    else
        as_buf_printf(b, "%s to %s", from, to);
    for (int i = 0; i < 2; i++) {
        b->failed |= ends[i].failed;
        as_buf_finish(&ends[i]);
    }
}

void as_format_range_to(struct as_buf *b, double lo, double hi, double v, const char *unit, const int digits[2])
{
    lo = as_range_end(lo, unit);
    hi = as_range_end(hi, unit);
    const bool is_size = strcmp(unit, "B") == 0; /* a capacity's range reads the same with and without a value */
    const double typical = !is_size && isfinite(v) && v != 0 ? v : hi;
    const bool apart = is_size && lo > 0 && isfinite(hi) && as_scale_of(lo, unit) != as_scale_of(hi, unit);
    if (apart || (lo > 0 && hi >= 500 * lo)) { /* no prefix fits both */
        as_format_value_to(b, lo, unit, digits[0]);
        as_buf_str(b, " to ");
        as_format_value_to(b, hi, unit, digits[1]);
        return;
    }
    const struct as_scale *scale = isfinite(typical) && typical != 0 ? as_scale_of(typical, unit) : NULL;
    struct as_buf ends[2] = {AS_BUF_INIT, AS_BUF_INIT};
    format_add_number(&ends[0], lo, unit, scale, digits[0]);
    format_add_number(&ends[1], hi, unit, scale, digits[1]);
    as_format_ends(b, ends);
    format_add_unit(b, unit, scale);
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
        as_buf_str(b, us < 999.5 ? " µs" : " ms");
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
