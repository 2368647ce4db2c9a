/* By which pages the system backs memory of this process. */
#ifndef AS_DEVICE_BACKING_H
#define AS_DEVICE_BACKING_H

#include <stdint.h>

/* Bytes of the pages behind a range; huge_page: of a transparent huge page, 0 if there are none. A mixture counts as
 * base pages. 0: nothing has been touched yet, or unknown. */
uint64_t as_backing_page(const void *at, uint64_t bytes, uint64_t huge_page);
/* Asks for base pages in the whole pages of a range before their first touch, whatever the system's policy. A system
 * without huge pages refuses, and needs no advice. */
void as_backing_want_base_pages(void *at, uint64_t bytes);

#endif
