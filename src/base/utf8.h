/* UTF-8 as it comes: decoding that never trusts its input. */
#ifndef AS_BASE_UTF8_H
#define AS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of s[0..n): its length, 0 when the bytes are no shortest-form UTF-8 of a scalar value. */
size_t as_utf8_decode(const char *s, size_t n, uint32_t *cp);
/* The largest length <= n of s that does not cut a character in two. s has at least n + 1 bytes. */
size_t as_utf8_boundary(const char *s, size_t n);
/* Control characters: C0, DEL, C1, bidirectional controls. */
bool as_utf8_is_control(uint32_t cp);

#endif
