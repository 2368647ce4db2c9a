/* The preludes, embedded as text; and extraction of errors from compiler logs. */
#include "device/dialect/dialect.h"

#include "base/text.h"

#include <string.h>

extern const char as_prelude_opencl[];
extern const char as_prelude_host[];
extern const char as_prelude_cuda[];
extern const char as_prelude_hip[];
extern const char as_prelude_metal[];

static const char *const preludes[AS_DIALECT_N] = {
    [AS_DIALECT_OPENCL] = as_prelude_opencl, [AS_DIALECT_HOST] = as_prelude_host,   [AS_DIALECT_CUDA] = as_prelude_cuda,
    [AS_DIALECT_HIP] = as_prelude_hip,       [AS_DIALECT_METAL] = as_prelude_metal,
};

static const char *const words[AS_DIALECT_N] = {
    [AS_DIALECT_OPENCL] = "opencl", [AS_DIALECT_HOST] = "host",   [AS_DIALECT_CUDA] = "cuda",
    [AS_DIALECT_HIP] = "hip",       [AS_DIALECT_METAL] = "metal",
};

const char *as_dialect_word(enum as_dialect d)
{
    return words[d];
}

enum as_dialect as_dialect_find(const char *word)
{
    size_t d = 0;
    while (d < AS_DIALECT_N && strcmp(words[d], word) != 0)
        d++;
    return (enum as_dialect)d;
}

bool as_dialect_has_shared_load(enum as_dialect d)
{
    return d == AS_DIALECT_CUDA || d == AS_DIALECT_HIP;
}

const char *as_dialect_prelude(enum as_dialect d)
{
    return preludes[d];
}

void as_dialect_source(enum as_dialect d, const char *source, struct as_buf *out)
{
    as_buf_str(out, preludes[d]);
    as_buf_str(out, "#line 1\n");
    as_buf_str(out, source);
}

void as_dialect_complaint(const char *log, char *out, size_t size)
{
    const char *from = log ? strstr(log, "error") : NULL;
    while (from && from > log && from[-1] != '\n')
        from--;
    as_copy_clean(out, size, from ? from : log ? log : "");
    for (char *c = out; (c = strpbrk(c, "\n\r\t"));)
        *c = ' ';
    size_t n = strlen(out);
    while (n && out[n - 1] == ' ')
        out[--n] = '\0';
    if (n == 0)
        as_copy_text(out, size, "the compiler says nothing");
}
