/* Compiled cubins in the user's cache folder. A cache only saves time: whatever is wrong with it, it has nothing. */
#ifndef AS_DEVICE_CUDA_CACHE_H
#define AS_DEVICE_CUDA_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True with the bytes (the caller's, free) where it has them whole. $ASSAY_CACHE=off: it never has. */
bool as_cu_cache_get(uint64_t key, unsigned char **cubin, size_t *bytes);
void as_cu_cache_put(uint64_t key, const unsigned char *cubin, size_t bytes);

#endif
