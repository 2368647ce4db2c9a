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
    AS_FAILED,      /* an unexpected failure of assay or a driver */
    AS_USAGE,       /* the request is invalid or names something that does not exist */
    AS_UNSUPPORTED, /* this machine, device or backend cannot do it; the text has the reason */
    AS_NOMEM,       /* out of memory (host or device) */
    AS_IO,          /* reading or writing failed; the text has path and errno */
    AS_FORMAT,      /* the input is damaged, in another format or from a newer version */
    AS_BUSY,        /* held by another process: store locked, another run measuring */
    AS_TIMEOUT,     /* the time limit was exceeded */
    AS_INTERRUPTED, /* a signal asked to stop */
    AS_NOTFOUND,    /* no such run, cell, probe, device */
};

struct as_error {
    enum as_status code;
    char text[512]; /* always terminated; truncated at a UTF-8 boundary if too long */
};

/* Sets err (if not NULL) and returns code. */
enum as_status as_fail(struct as_error *err, enum as_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the current text; returns err->code. */
enum as_status as_fail_in(struct as_error *err, const char *prefix);

/* "failed", "usage", "unsupported", ...: the word for a code. Never NULL. */
const char *as_status_word(enum as_status code);

/* Out of memory in one call: as_fail(err, AS_NOMEM, "out of memory for %zu bytes of %s"). */
enum as_status as_nomem(struct as_error *err, size_t bytes, const char *what);

/* Number of pieces of text lost since the process started because memory ran out. A caller that assembles
 * output compares the count before and after, since incomplete output is an error. */
void as_memory_failed(void);
size_t as_memory_failures(void);
/* Number of times that as_fail got AS_NOMEM, compared in the same way: other failures in between may result from it. */
size_t as_memory_errors(void);

#ifdef __clang_analyzer__
/* Tells the static analyser, which sees one file at a time, that both never return AS_OK. */
static inline enum as_status as_known_status(enum as_status returned, enum as_status known)
{
    (void)returned;
    return known;
}
#define as_fail(err, code, ...) as_known_status(as_fail(err, code, __VA_ARGS__), code)
#define as_nomem(err, bytes, what) as_known_status(as_nomem(err, bytes, what), AS_NOMEM)
#endif

#endif
