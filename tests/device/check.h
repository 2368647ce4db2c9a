/* Shared by the tests of this folder. */
#ifndef AS_TESTS_DEVICE_CHECK_H
#define AS_TESTS_DEVICE_CHECK_H

#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Asserts a status and a part of the message. */
static inline void check_fails(enum as_status got, enum as_status want, const struct as_error *err, const char *part)
{
    if (got != want)
        fail_msg("status is %s, not %s: %s", as_status_word(got), as_status_word(want), err->text);
    assert_int_equal(err->code, want);
    if (!strstr(err->text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, err->text);
}

static inline void check_ok(enum as_status got, const struct as_error *err)
{
    if (got)
        fail_msg("%s: %s", as_status_word(got), err->text);
}

#endif
