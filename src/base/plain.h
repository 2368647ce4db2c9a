/* Formats and reads numbers in the C locale, whatever the program's locale. Internal to src/base. */
#ifndef AS_BASE_PLAIN_H
#define AS_BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>

int as_plain_vsnprintf(char *dst, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
double as_plain_strtod(const char *s, char **end);

#endif
