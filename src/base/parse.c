/* Parses numbers from users and files. */
#include "base/plain.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_space(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* Reads digits at *s; false if there are none or the number is too large. */
static bool read_digits(const char **s, uint64_t *out)
{
    const char *at = *s;
    uint64_t v = 0;
    for (; is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    bool any = at != *s;
    *s = at;
    *out = v;
    return any;
}

enum as_status as_parse_u64(const char *s, uint64_t *out, struct as_error *err)
{
    const char *at = s;
    uint64_t v;
    const bool negative = s[0] == '-' && is_digit(s[1]);
    if (!is_digit(*s) && !negative)
        return as_fail(err, AS_USAGE, "\"%s\" is not a whole number", s);
    if (negative || !read_digits(&at, &v))
        return as_fail(err, AS_USAGE, "\"%s\" is not within 0 to %llu", s, (unsigned long long)UINT64_MAX);
    if (*at)
        return as_fail(err, AS_USAGE, "\"%s\" is not a whole number", s);
    *out = v;
    return AS_OK;
}

static bool size_unit(const char *s, uint64_t *unit)
{
    static const char prefix[] = "kmgtpe";
    if (*s == '\0' || strcasecmp(s, "b") == 0) {
        *unit = 1;
        return true;
    }
    const char *p = strchr(prefix, tolower((unsigned char)*s));
    if (!p)
        return false;
    size_t power = (size_t)(p - prefix) + 1;
    bool binary = s[1] == '\0' || strcasecmp(s + 1, "i") == 0 || strcasecmp(s + 1, "ib") == 0;
    if (!binary && strcasecmp(s + 1, "b") != 0)
        return false;
    *unit = 1;
    for (size_t i = 0; i < power; i++)
        *unit *= binary ? 1024 : 1000;
    return true;
}

static uint64_t parse_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* num / 10^digits of a unit in bytes; false if not a whole number */
static bool fraction_of(uint64_t num, uint64_t scale, uint64_t unit, uint64_t *bytes)
{
    if (num == 0) {
        *bytes = 0;
        return true;
    }
    uint64_t g = parse_gcd(num, scale);
    num /= g, scale /= g;
    if (unit % scale != 0)
        return false;
    *bytes = unit / scale * num; /* less than a unit: no overflow */
    return true;
}

enum as_status as_parse_size(const char *s, uint64_t *bytes, struct as_error *err)
{
    const char *at = skip_space(s);
    uint64_t whole, num = 0, scale = 1, unit, part;
    if (!is_digit(*at))
        return as_fail(err, AS_USAGE, "\"%s\" is not a size: write it as 64KiB, 1.5MiB, 1GB or in bytes", s);
    if (!read_digits(&at, &whole))
        return as_fail(err, AS_USAGE, "the size \"%s\" is too large", s);
    if (*at == '.') {
        for (at++; is_digit(*at) && scale < UINT64_MAX / 100; at++, scale *= 10)
            num = num * 10 + (uint64_t)(*at - '0');
        while (*at == '0')
            at++;
        if (scale == 1)
            return as_fail(err, AS_USAGE, "\"%s\" is not a size: digits are missing after the point", s);
    }
    at = skip_space(at);
    if (is_digit(*at) || !size_unit(at, &unit))
        return as_fail(err, AS_USAGE, "\"%s\" is not a size: the unit is one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB",
                       s);
    if (!fraction_of(num, scale, unit, &part))
        return as_fail(err, AS_USAGE, "the size \"%s\" is not a whole number of bytes", s);
    if (whole > (UINT64_MAX - part) / unit)
        return as_fail(err, AS_USAGE, "the size \"%s\" is too large", s);
    *bytes = whole * unit + part;
    return AS_OK;
}

/* Parses a decimal number at s; *end is after it. False if there is none or it is not finite. */
static bool read_double(const char *s, const char **end, double *out)
{
    const char *at = s + (*s == '-' || *s == '+');
    /* strtod also accepts hexadecimal, "inf" and "nan", which are typing errors here */
    if (!is_digit(*at) && !(*at == '.' && is_digit(at[1])))
        return false;
    if (*at == '0' && (at[1] == 'x' || at[1] == 'X'))
        return false;
    char *after;
    *out = as_plain_strtod(s, &after);
    *end = after;
    return isfinite(*out);
}

enum as_status as_parse_double(const char *s, double *out, struct as_error *err)
{
    const char *end;
    double v;
    if (!read_double(s, &end, &v) || *end)
        return as_fail(err, AS_USAGE, "\"%s\" is not a number", s);
    *out = v;
    return AS_OK;
}

enum as_status as_parse_duration(const char *s, double *seconds, struct as_error *err)
{
    static const struct {
        const char *name;
        double seconds;
    } unit[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"m", 60}, {"min", 60}, {"h", 3600}};
    const char *end;
    double v;
    if (read_double(s, &end, &v) && v >= 0) {
        end = skip_space(end);
        if (!*end && v > 0)
            return as_fail(err, AS_USAGE, "\"%s\" is ambiguous: write %ss or %sm", s, s, s);
        for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
            if (strcmp(end, unit[i].name) == 0 && isfinite(v * unit[i].seconds)) {
                *seconds = v * unit[i].seconds;
                return AS_OK;
            }
    }
    return as_fail(err, AS_USAGE, "\"%s\" is not a duration: write it as 60s, 10m or 1h", s);
}

enum as_status as_parse_percent(const char *s, double *fraction, struct as_error *err)
{
    const char *end;
    double v;
    if (read_double(s, &end, &v) && v >= 0) {
        end = skip_space(end);
        if ((!*end && v < 1) || strcmp(end, "%") == 0) {
            *fraction = *end ? v / 100 : v;
            return AS_OK;
        }
        if (!*end) /* 1 could mean 1% or 100% */
            return as_fail(err, AS_USAGE, "\"%s\" is ambiguous: write %s%% or %.4g", s, s, v / 100);
    }
    return as_fail(err, AS_USAGE, "\"%s\" is not a share: write it as 1%% or 0.01", s);
}
