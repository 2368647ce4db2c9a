#include "base/utf8.h"

size_t as_utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least; /* smaller values are overlong */
    } form[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *u = (const unsigned char *)s;
    if (n == 0)
        return 0;
    for (size_t len = 1; len <= sizeof form / sizeof *form; len++) {
        if ((u[0] & form[len - 1].mask) != form[len - 1].lead)
            continue;
        if (len > n)
            return 0;
        uint32_t v = u[0] & (unsigned char)~form[len - 1].mask;
        for (size_t i = 1; i < len; i++) {
            if ((u[i] & 0xc0) != 0x80)
                return 0;
            v = v << 6 | (u[i] & 0x3f);
        }
        if (v < form[len - 1].least || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
            return 0;
        *cp = v;
        return len;
    }
    return 0;
}

size_t as_utf8_boundary(const char *s, size_t n)
{
    size_t end = n;
    /* a character has at most three continuation bytes; anything longer is invalid and may be cut anywhere */
    while (end > 0 && n - end < 3 && ((unsigned char)s[end] & 0xc0) == 0x80)
        end--;
    return ((unsigned char)s[end] & 0xc0) == 0x80 ? n : end;
}

bool as_utf8_is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}
