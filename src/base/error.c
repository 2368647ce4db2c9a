#include "base/error.h"

#include "base/plain.h"
#include "base/utf8.h"

#include <stdatomic.h>
#include <string.h>

static atomic_size_t memory_failures, memory_errors;

void as_memory_failed(void)
{
    memory_failures++;
}

size_t as_memory_failures(void)
{
    return memory_failures;
}

size_t as_memory_errors(void)
{
    return memory_errors;
}

static void error_set_text(struct as_error *err, const char *text, size_t len)
{
    if (len >= sizeof err->text)
        len = as_utf8_boundary(text, sizeof err->text - 1);
    memcpy(err->text, text, len);
    err->text[len] = '\0';
}

/* The names are in parentheses since they are also macros for the static analyser. */
enum as_status(as_fail)(struct as_error *err, enum as_status code, const char *fmt, ...)
{
    memory_errors += code == AS_NOMEM;
    if (!err)
        return code;
    /* not directly into err->text, which may be among the arguments */
    char text[sizeof err->text + 8];
    va_list ap;
    va_start(ap, fmt);
    int n = as_plain_vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0)
        text[0] = '\0';
    err->code = code;
    error_set_text(err, text, strlen(text));
    return code;
}

enum as_status as_fail_in(struct as_error *err, const char *prefix)
{
    if (!err)
        return AS_FAILED;
    return as_fail(err, err->code, "%s: %s", prefix, err->text);
}

const char *as_status_word(enum as_status code)
{
    static const char *const words[] = {
        [AS_OK] = "ok",
        [AS_FAILED] = "failed",
        [AS_USAGE] = "usage",
        [AS_UNSUPPORTED] = "unsupported",
        [AS_NOMEM] = "out of memory",
        [AS_IO] = "io",
        [AS_FORMAT] = "format",
        [AS_BUSY] = "busy",
        [AS_TIMEOUT] = "timeout",
        [AS_INTERRUPTED] = "interrupted",
        [AS_NOTFOUND] = "not found",
    };
    size_t i = (size_t)code;
    return i < sizeof words / sizeof *words ? words[i] : "unknown";
}

enum as_status(as_nomem)(struct as_error *err, size_t bytes, const char *what)
{
    return as_fail(err, AS_NOMEM, "out of memory for %zu bytes of %s", bytes, what);
}
