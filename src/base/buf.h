/* A growable byte string. After a failed allocation it stays valid and keeps `failed` set (sticky), so a long
 * sequence of appends is checked once at its end. Numbers are always written with a decimal point, in any
 * locale. The caller owns the struct, the buffer owns data. */
#ifndef AS_BASE_BUF_H
#define AS_BASE_BUF_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct as_buf {
    char *data; /* NUL-terminated; NULL while empty */
    size_t len; /* without the NUL */
    size_t cap;
    bool failed;
};

#define AS_BUF_INIT                                                                                                    \
    {                                                                                                                  \
        0                                                                                                              \
    }

void as_buf_finish(struct as_buf *b); /* frees; b is then as initialised */
void as_buf_clear(struct as_buf *b);  /* length 0, keeps the memory and resets failed */
void as_buf_add(struct as_buf *b, const char *bytes, size_t n);
void as_buf_str(struct as_buf *b, const char *s); /* NULL appends nothing */
void as_buf_char(struct as_buf *b, char c);
void as_buf_repeat(struct as_buf *b, char c, size_t n);
void as_buf_printf(struct as_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void as_buf_vprintf(struct as_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* The string, "" if empty. Valid until the next change. */
const char *as_buf_get(const struct as_buf *b);
/* Detaches the string (the caller frees it); NULL if out of memory. b is then as initialised. */
char *as_buf_take(struct as_buf *b);
/* AS_NOMEM if an append failed, else AS_OK. */
enum as_status as_buf_check(const struct as_buf *b, struct as_error *err);

/* Escaping of text from files, drivers and devices. All treat NULL as "". */
void as_buf_html(struct as_buf *b, const char *s);           /* & < > " ' ; control characters become U+FFFD */
void as_buf_json_str(struct as_buf *b, const char *s);       /* with quotes; '<' as \u003c; invalid UTF-8 as U+FFFD */
void as_buf_json_text(struct as_buf *b, const char *json);   /* valid JSON; its control characters as \uNNNN */
void as_buf_terminal(struct as_buf *b, const char *s);       /* control characters and escapes shown as \xNN */
void as_buf_terminal_lines(struct as_buf *b, const char *s); /* the same, keeping line ends and tabs */
void as_buf_markdown(struct as_buf *b, const char *s);       /* one line without markup, HTML or cell separators */
void as_buf_metric_label(struct as_buf *b, const char *s);   /* in quotes of the Prometheus format */
void as_buf_c_comment(struct as_buf *b, const char *s); /* characters that could end or continue a comment become _ */
void as_buf_csv(struct as_buf *b, const char *s);       /* quoted where needed (RFC 4180); leading = + - @ get a ' */

/* open() with O_CLOEXEC, retried on EINTR, since a lookup on a network file system can take long. */
int as_open(const char *path, int flags, unsigned mode);
/* Without the blanks at the start of lines: to the INI reader such a line continues the one before. */
void as_buf_unindented(struct as_buf *b, const char *text);
/* Reads a whole file (at most max bytes) into b. Works for /proc and pipes. AS_NOTFOUND: no such file. */
enum as_status as_buf_read_file(struct as_buf *b, const char *path, size_t max, struct as_error *err);
/* Whether the bytes start with the header of an SQLite database. */
bool as_is_database(const char *bytes, size_t n);
/* AS_USAGE if path is a regular file with that header. */
enum as_status as_check_no_database(const char *path, struct as_error *err);
/* Writes all of b to path ("-" is stdout); regular files are replaced by renaming a temporary file. Errors of
 * write, flush and close are reported (a full disk, /dev/full). A database is never replaced (AS_USAGE). */
enum as_status as_write_file(const char *path, const char *data, size_t len, struct as_error *err);

/* Appends to a regular file of at most 64 MiB, with the same guarantees. */
enum as_status as_append_file(const char *path, const char *data, size_t len, struct as_error *err);

/* The same in parts, for output too large for memory. */
struct as_writer {
    int fd;
    const char *name;   /* for messages */
    char *target, *tmp; /* for regular files; owned, NULL for others */
    unsigned mode;      /* permissions of the replaced file; 0: by umask */
};
/* path is unchanged until as_writer_close. */
enum as_status as_writer_open(struct as_writer *w, const char *path, struct as_error *err);
enum as_status as_writer_add(struct as_writer *w, const char *data, size_t len, struct as_error *err);
/* After a failure (status) a regular file stays unchanged. Returns the first failure. */
enum as_status as_writer_close(struct as_writer *w, enum as_status status, struct as_error *err);

/* Grows *items (elements of size elem) to hold at least need elements; *cap is updated. Checks overflow. */
enum as_status as_grow(void **items, size_t *cap, size_t need, size_t elem, struct as_error *err);

#endif
