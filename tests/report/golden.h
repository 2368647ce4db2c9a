/* A view as it was last looked at: one file per view under golden/, compared whole. UPDATE_GOLDEN=1 writes them anew;
 * look at the difference before it is committed. */
#ifndef AS_TEST_GOLDEN_H
#define AS_TEST_GOLDEN_H

#include "base/buf.h"

/* Fails where text is not what the file of this name holds. */
void assert_golden(const char *name, const struct as_buf *text);
/* A section of a page, without what is inside its pictures; empty where there is none. */
struct as_buf golden_section(const struct as_buf *page, const char *id);

#endif
