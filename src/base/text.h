/* Numbers, sizes and names as text: parsing input of users and files, formatting for display.
 * Independent of the locale. */
#ifndef AS_BASE_TEXT_H
#define AS_BASE_TEXT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "1KiB" "4 MiB" "64k" (= KiB) "1GB" (decimal) "123": bytes. Fractions such as "1.5MiB" must be whole bytes. */
enum as_status as_parse_size(const char *s, uint64_t *bytes, struct as_error *err);
enum as_status as_parse_u64(const char *s, uint64_t *out, struct as_error *err);
enum as_status as_parse_double(const char *s, double *out, struct as_error *err); /* finite numbers only */
/* "60s" "500ms" "10m" "1h" "2.5" (seconds) */
enum as_status as_parse_duration(const char *s, double *seconds, struct as_error *err);
/* "1%" or "0.01" as a fraction; from 1 on, the percent sign is required */
enum as_status as_parse_percent(const char *s, double *fraction, struct as_error *err);

/* 32 KiB, 1.5 MiB, 4 GiB: exact where possible, else three digits */
void as_format_size(struct as_buf *b, uint64_t bytes);
/* Two different sizes that a sentence compares: in bytes where they would read the same ("8.00 GiB", "8 GiB"). */
void as_format_sizes(struct as_buf *a, uint64_t a_bytes, struct as_buf *b, uint64_t b_bytes);
/* 1.46, 23.4, 112, 1380: `digits` significant digits, thousands not grouped; NAN gives "-" */
void as_format_number(struct as_buf *b, double v, int digits);
/* How a value of a unit is displayed: multiplied by factor, in the unit `shown`. */
struct as_scale {
    const char *unit, *shown;
    double factor;
};
/* NULL for a unit displayed without scaling. */
const struct as_scale *as_scale_of(double v, const char *unit);
/* The factor that converts `from` to `to`, which may differ only in their prefix ("MB/s", "GB/s"); 0 otherwise. */
double as_unit_factor(const char *from, const char *to);
/* The unit of a probe whose cells are rates of float or integer operations, depending on their axes. */
#define AS_UNIT_RATE "ops/s"
/* The unit of a rate of a type or instruction: "FLOP/s" ("f16", "wgmma_bf16_f32") or "OP/s" ("s8",
 * "mma_m8n8k16_u8_s32"); any other unit as it is. */
const char *as_rate_unit(const char *unit, const char *type);
/* A value in its unit, scaled for display: (112.3,"ns") 112 ns; (15321,"ns") 15.3 µs; (153.2,"GB/s") 153 GB/s */
void as_format_value(struct as_buf *b, double v, const char *unit);
/* The same with `digits` significant digits; sizes and counts have their own rules. */
void as_format_value_to(struct as_buf *b, double v, const char *unit, int digits);
/* The end of a range as it is printed: sizes are measured at powers of two and a little beyond, which is no precision
 * of the range. */
double as_range_end(double v, const char *unit);
/* "8.80 to 9.30 µs": both ends with the prefix of v, unless one is at least 500 times the other. */
void as_format_range(struct as_buf *b, double lo, double hi, double v, const char *unit, int digits);
/* The same with as many digits for each end. */
void as_format_range_to(struct as_buf *b, double lo, double hi, double v, const char *unit, const int digits[2]);
/* "8.80 to 9.30", or one of two texts that are the same; finishes both. */
void as_format_ends(struct as_buf *b, struct as_buf ends[2]);
/* Digits for a number in a unit without a larger one: 4096 operations per cycle are not 4100. */
int as_unscaled_digits(double v, int digits);
/* 3548974; a median of counts as 12.5, or with three digits */
void as_format_count(struct as_buf *b, double v);
/* Whether a number in this unit is a count of events ("updates"), which is exact and may be 0. */
bool as_unit_is_count(const char *unit);
bool as_unit_is_of_cycles(const char *unit); /* "cycles", "ops/cycle", ... */
/* 850 ms, 42 s, 3 min 20 s */
void as_format_duration(struct as_buf *b, double seconds);

/* Edit distance with transpositions (optimal string alignment) of at most 64 bytes of each. */
unsigned as_edit_distance(const char *a, const char *b);
/* The nearest of names (NULL-terminated) if it is near enough to be a typing error, else NULL. */
const char *as_nearest(const char *word, const char *const *names);
/* Copies with truncation at a UTF-8 boundary; always terminates; returns dst. */
char *as_copy_text(char *dst, size_t size, const char *src);
/* The same without surrounding blanks; invalid UTF-8 becomes U+FFFD. For text from drivers and compilers. */
char *as_copy_clean(char *dst, size_t size, const char *src);
char *as_strdup(const char *s); /* NULL for NULL */

#endif
