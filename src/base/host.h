/* The machine that this runs on. */
#ifndef AS_BASE_HOST_H
#define AS_BASE_HOST_H

#include <stdint.h>

uint64_t as_host_page(void); /* bytes of a page of its memory, of the smallest kind */

#endif
