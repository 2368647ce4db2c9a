/* Decoding of untrusted UTF-8. */
#ifndef AS_BASE_UTF8_H
#define AS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of s[0..n) and returns its length; 0 unless the bytes are the shortest UTF-8 form of a scalar
 * value. */
size_t as_utf8_decode(const char *s, size_t n, uint32_t *cp);
/* The largest length <= n that does not split a character of s. s has at least n + 1 bytes. */
size_t as_utf8_boundary(const char *s, size_t n);
/* Control characters: C0, DEL, C1, bidirectional controls. */
bool as_utf8_is_control(uint32_t cp);

#endif
