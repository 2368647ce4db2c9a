/* Compiled device code in the user's cache folder. Any error is a miss. */
#ifndef AS_DEVICE_CODE_CACHE_H
#define AS_DEVICE_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True with the bytes (the caller's, free) on an intact hit. $ASSAY_CACHE=off: always a miss. */
bool as_code_cache_get(uint64_t key, unsigned char **code, size_t *bytes);
/* Whether entries can be stored and found. */
bool as_code_cache_usable(void);
/* Claims a program for this process, so that only one of several compiles it; false if another holds it. *claim is
 * for as_code_cache_release, -1 if claims do not work. */
bool as_code_cache_claim(uint64_t key, int *claim);
void as_code_cache_release(int claim);
void as_code_cache_put(uint64_t key, const unsigned char *code, size_t bytes);

#endif
