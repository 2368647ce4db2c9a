/* What an advice begins with, which lists and tables show alone. */
#ifndef TESTS_FACTS_FIRST_SENTENCE_H
#define TESTS_FACTS_FIRST_SENTENCE_H

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_SENTENCE_MAX = 160 /* characters, also in tests/report/claims.py */ };

/* In characters of UTF-8; a sentence ends with a dot before a capital letter or a quoted name. */
static inline size_t first_sentence(const char *text)
{
    size_t n = 0;
    for (const char *at = text; *at; at++) {
        if (strncmp(at, ". ", 2) == 0 &&
            (isupper((unsigned char)at[2]) || isdigit((unsigned char)at[2]) || at[2] == '\''))
            break;
        n += ((unsigned char)*at & 0xC0) != 0x80;
    }
    return n;
}

#endif
