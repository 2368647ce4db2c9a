/* Names: nearest match, copying. */
#include "base/text.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned as_edit_distance(const char *a, const char *b)
{
    enum { LENGTH_MAX = 64 };
    unsigned rows[3][LENGTH_MAX + 1];
    size_t na = strnlen(a, LENGTH_MAX), nb = strnlen(b, LENGTH_MAX);
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = min_of(best, min_of(above[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min_of(best, above2[j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *as_nearest(const char *word, const char *const *names)
{
    size_t len = strlen(word);
    unsigned enough = (unsigned)(len < 3 ? 1 : len > 30 ? 10 : len / 3);
    const char *best = NULL;
    if (len == 0)
        return NULL;
    for (size_t i = 0; names[i]; i++) {
        unsigned d = as_edit_distance(word, names[i]);
        if (len >= 3 && strncmp(names[i], word, len) == 0)
            d = min_of(d, 1); /* a prefix counts as nearly the name */
        if (d <= enough && d < strlen(names[i])) {
            best = names[i];
            if (d == 0)
                break;
            enough = d - 1; /* only a nearer name replaces it */
        }
    }
    return best;
}

char *as_copy_text(char *dst, size_t size, const char *src)
{
    if (size == 0)
        return dst;
    size_t len = src ? strlen(src) : 0;
    if (len >= size)
        len = as_utf8_boundary(src, size - 1);
    memmove(dst, src ? src : "", len);
    dst[len] = '\0';
    return dst;
}

char *as_copy_clean(char *dst, size_t size, const char *src)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t used = 0, left;
    if (size == 0)
        return dst;
    src += strspn(src, " ");
    for (left = strlen(src); left;) {
        uint32_t cp;
        size_t n = as_utf8_decode(src, left, &cp), add = n ? n : sizeof replacement - 1, step = n ? n : 1;
        if (used + add >= size)
            break;
        memcpy(dst + used, n ? src : replacement, add);
        used += add;
        src += step;
        left -= step;
    }
    while (used && dst[used - 1] == ' ')
        used--;
    dst[used] = '\0';
    return dst;
}

char *as_strdup(const char *s)
{
    return s ? strdup(s) : NULL;
}
