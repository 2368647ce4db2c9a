/* Errors: a fallible function returns enum as_status and takes struct as_error *err last.
 * One statement sets the message and returns the code:
 *     return as_fail(err, AS_UNSUPPORTED, "cuda: %s", reason);
 * Messages are lower case, without a full stop, name the subject in quotes and say what the user can do.
 * err may be NULL: then only the code is returned. */
#ifndef AS_BASE_ERROR_H
#define AS_BASE_ERROR_H

#include <stddef.h>

enum as_status {
    AS_OK = 0,
    AS_FAILED,      /* something that should work did not: assay's or the driver's fault */
    AS_USAGE,       /* the user asked for something that does not exist or makes no sense */
    AS_UNSUPPORTED, /* this machine, device or backend cannot do it; the text says why */
    AS_NOMEM,       /* out of memory (host or device) */
    AS_IO,          /* reading or writing failed: path and errno in the text */
    AS_FORMAT,      /* what was read is damaged, foreign or from a newer version */
    AS_BUSY,        /* held by another process: store locked, another run measuring */
    AS_TIMEOUT,     /* it did not end in time */
    AS_INTERRUPTED, /* a signal asked to stop */
    AS_NOTFOUND,    /* no such run, cell, probe, device */
};

struct as_error {
    enum as_status code;
    char text[512]; /* always terminated; truncated at a UTF-8 boundary when too long */
};

/* Sets err (if not NULL) and returns code. */
enum as_status as_fail(struct as_error *err, enum as_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text that is already there; returns err->code. */
enum as_status as_fail_in(struct as_error *err, const char *prefix);

/* "failed", "usage", "unsupported", ...: the word for a code. Never NULL. */
const char *as_status_word(enum as_status code);

/* Out of memory in one call: as_fail(err, AS_NOMEM, "out of memory for %zu bytes of %s"). */
enum as_status as_nomem(struct as_error *err, size_t bytes, const char *what);

/* How often a piece of text or a number was lost for lack of memory since the process began. A caller that assembles
 * output compares this before and after: output with a lost part is an error. */
void as_memory_failed(void);
size_t as_memory_failures(void);
/* How often as_fail was told AS_NOMEM, with the same use: what failed meanwhile may have failed for that. */
size_t as_memory_errors(void);

#ifdef __clang_analyzer__
/* Tells the static analyser, which sees one file at a time, that the two never return AS_OK. */
static inline enum as_status as_known_status(enum as_status returned, enum as_status known)
{
    (void)returned;
    return known;
}
#define as_fail(err, code, ...) as_known_status(as_fail(err, code, __VA_ARGS__), code)
#define as_nomem(err, bytes, what) as_known_status(as_nomem(err, bytes, what), AS_NOMEM)
#endif

#endif
