/* Shared by the fuzzers. A fuzzer defines LLVMFuzzerTestOneInput; it is driven by libFuzzer's coverage, else by
 * standalone.c over its corpus and mutations of it. */
#ifndef AS_TESTS_FUZZ_H
#define AS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts the program if a promise is broken, regardless of NDEBUG. */
static inline void fuzz_require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* The input as a terminated text of its exact size, so that a read past its end is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        exit(1);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

#endif
