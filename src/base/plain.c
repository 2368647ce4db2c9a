#include "base/plain.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

static _Atomic(locale_t) plain_locale;

/* Created once and kept; (locale_t)0 on failure: then the program's own locale is used. */
static locale_t plain_c_locale(void)
{
    locale_t have = atomic_load(&plain_locale);
    if (have)
        return have;
    locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!made)
        return made;
    if (atomic_compare_exchange_strong(&plain_locale, &have, made))
        return made;
    freelocale(made); /* another thread was first */
    return have;
}

int as_plain_vsnprintf(char *dst, size_t size, const char *fmt, va_list ap)
{
    locale_t c = plain_c_locale();
    locale_t before = c ? uselocale(c) : c;
    int n = vsnprintf(dst, size, fmt, ap);
    if (before)
        uselocale(before);
    return n;
}

double as_plain_strtod(const char *s, char **end)
{
    locale_t c = plain_c_locale();
    return c ? strtod_l(s, end, c) : strtod(s, end);
}
