/* Compiled device code in the user's cache folder. A cache only saves time: whatever is wrong with it, it has nothing.
 */
#ifndef AS_DEVICE_CODE_CACHE_H
#define AS_DEVICE_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True with the bytes (the caller's, free) where it has them whole. $ASSAY_CACHE=off: it never has. */
bool as_code_cache_get(uint64_t key, unsigned char **code, size_t *bytes);
/* Whether what is put there can be found again. */
bool as_code_cache_usable(void);
void as_code_cache_put(uint64_t key, const unsigned char *code, size_t bytes);

#endif
