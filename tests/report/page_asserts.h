/* Assertions about texts in a page. */
#ifndef AS_TEST_LOOK_H
#define AS_TEST_LOOK_H

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static inline void assert_has(const struct as_buf *page, const char *what)
{
    if (!strstr(as_buf_get(page), what))
        fail_msg("the page has no \"%s\"", what);
}

static inline void assert_hasnt(const struct as_buf *page, const char *what)
{
    const char *at = strstr(as_buf_get(page), what);
    if (at)
        fail_msg("the page has \"%s\": ...%.120s", what, at);
}

#endif
