#include "base/buf.h"

#include "base/plain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void as_buf_finish(struct as_buf *b)
{
    free(b->data);
    *b = (struct as_buf)AS_BUF_INIT;
}

void as_buf_clear(struct as_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

/* Reserves n more bytes and the NUL. */
static bool reserve(struct as_buf *b, size_t n)
{
    if (b->failed)
        return false;
    if (b->data && n < b->cap - b->len)
        return true;
    if (n > SIZE_MAX / 2 - b->len - 1) {
        b->failed = true;
        return false;
    }
    size_t need = b->len + n + 1, cap = b->cap < 32 ? 32 : b->cap;
    while (cap < need)
        cap *= 2;
    char *data = realloc(b->data, cap);
    if (!data) {
        as_memory_failed();
        b->failed = true;
        return false;
    }
    data[b->len] = '\0';
    b->data = data;
    b->cap = cap;
    return true;
}

void as_buf_add(struct as_buf *b, const char *bytes, size_t n)
{
    if (n == 0 || !reserve(b, n))
        return;
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void as_buf_str(struct as_buf *b, const char *s)
{
    if (s)
        as_buf_add(b, s, strlen(s));
}

void as_buf_char(struct as_buf *b, char c)
{
    as_buf_add(b, &c, 1);
}

void as_buf_repeat(struct as_buf *b, char c, size_t n)
{
    if (n == 0 || !reserve(b, n))
        return;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void as_buf_unindented(struct as_buf *b, const char *text)
{
    while (*text) {
        text += strspn(text, " \t");
        const size_t n = strcspn(text, "\n");
        as_buf_add(b, text, n + (text[n] == '\n'));
        text += n + (text[n] == '\n');
    }
}

void as_buf_vprintf(struct as_buf *b, const char *fmt, va_list ap)
{
    char small[256];
    va_list again;
    va_copy(again, ap);
    int n = as_plain_vsnprintf(small, sizeof small, fmt, ap);
    if (n < 0) { /* the library may need memory to format a number */
        as_memory_failed();
        b->failed = true;
    } else if ((size_t)n < sizeof small) {
        as_buf_add(b, small, (size_t)n);
    } else if (reserve(b, (size_t)n)) {
        as_plain_vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void as_buf_printf(struct as_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(b, fmt, ap);
    va_end(ap);
}

const char *as_buf_get(const struct as_buf *b)
{
    return b->data ? b->data : "";
}

char *as_buf_take(struct as_buf *b)
{
    reserve(b, 0); /* returns "" for an empty buffer, not NULL */
    char *data = b->failed ? NULL : b->data;
    if (b->failed)
        free(b->data);
    *b = (struct as_buf)AS_BUF_INIT;
    return data;
}

enum as_status as_buf_check(const struct as_buf *b, struct as_error *err)
{
    if (b->failed)
        return as_fail(err, AS_NOMEM, "out of memory for a text of more than %zu bytes", b->len);
    return AS_OK;
}

enum as_status as_grow(void **items, size_t *cap, size_t need, size_t elem, struct as_error *err)
{
    if (need <= *cap)
        return AS_OK;
    size_t most = elem ? SIZE_MAX / 2 / elem : SIZE_MAX / 2;
    if (need > most)
        return as_fail(err, AS_NOMEM, "out of memory for %zu items of %zu bytes", need, elem);
    size_t next = *cap < 8 ? 8 : *cap;
    while (next < need)
        next = next > most / 2 ? need : next * 2;
    if (next > most)
        next = need;
    void *grown = realloc(*items, next * (elem ? elem : 1));
    if (!grown)
        return as_nomem(err, next * elem, "a list");
    *items = grown;
    *cap = next;
    return AS_OK;
}
